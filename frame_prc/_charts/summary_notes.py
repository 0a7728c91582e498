"""The sentences above a summary, which explain its marks."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from frame_prc._charts.data import EvaluatedSegments
from frame_prc._charts.summary_data import SummaryData, Times, quantity, without_interval
from frame_prc._charts.summary_marks import UNDEFINED, clipped, difference_domain
from frame_prc._charts.text import cluster_text, count_text, few_of, percent_text, prevalence_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import FEW_OF_POSITIVES
from frame_prc._rows.rows import DROPPED


def notes(
    data: SummaryData, level: float, segments: EvaluatedSegments, times: Times | None
) -> list[str]:
    """Return sentences that explain the chart."""
    return [
        *_on_intervals(data, level, segments.cluster, "line" if times is None else "ribbon"),
        *_on_chance(data.dots, segments, "Ticks" if times is None else "Dashed"),
        *(["Sorted by difference."] if times is None and data.by_difference else []),
        *_on_few(data, segments, "Hollow (few)" if times is None else "Hollow"),
        *_on_clipping(data.differences, over_time=times is not None),
        *(_on_what_is_not_drawn(data.dots, times) if times is not None else []),
        *_on_rows(data.dots, segments),
    ]


def _on_intervals(data: SummaryData, level: float, cluster: str | None, mark: str) -> Iterator[str]:
    if "ci_low" in data.dots.columns:
        assumed = "" if cluster is None else f", {cluster_text(cluster)}"
        yield f"{quantity(data.dots)} with {percent_text(level)} intervals{assumed}."
    drawn = [data.dots.drop_nulls(AVERAGE_PRECISION)]
    if not data.differences.is_empty():
        drawn.append(data.differences.drop_nulls("difference"))
    if any(without_interval(rows).height for rows in drawn):
        yield f"Hollow dots without a {mark} have no interval."


def _on_chance(dots: pl.DataFrame, segments: EvaluatedSegments, marks: str) -> Iterator[str]:
    if REFERENCE in dots.columns:
        shown = "".join(
            f", {prevalence_text(value)}" for value in dots[REFERENCE].drop_nulls().head(1)
        )
        yield f"{marks}: the prevalence that all segments are calibrated to{shown}."
    elif segments.given.columns.weighted:
        yield f"{marks}: prevalence, close to the average precision of a random ranking."
    else:
        yield f"{marks}: average precision of a random ranking."
    if "below_chance" in dots["status"]:
        yield "An interval below chance is worse than random: is a lower score better?"


def _on_few(data: SummaryData, segments: EvaluatedSegments, marks: str) -> Iterator[str]:
    if data.dots["status"].is_in(FEW_OF_POSITIVES).any():
        few = few_of(segments.cluster, weighted=segments.given.columns.weighted)
        yield f"{marks}: fewer than {few}, intervals may cover less than stated."
    if "few_negatives" in data.dots["status"]:
        yield f"{marks}: so few negatives for what they stand for that the value may be too high."


def _on_clipping(differences: pl.DataFrame, *, over_time: bool) -> Iterator[str]:
    if "ci_low" not in differences.columns:
        return
    rows = clipped(differences, difference_domain(differences))
    if rows.filter(pl.col("cut_low") | pl.col("cut_high")).height:
        arrows = "Arrows: intervals that go on beyond the axis."
        yield "Wide intervals of differences are cut off." if over_time else arrows


def _on_what_is_not_drawn(dots: pl.DataFrame, times: Times) -> Iterator[str]:
    undefined = dots.filter(pl.col(AVERAGE_PRECISION).is_null(), pl.col("time").is_not_null())
    if undefined.height:
        reasons = ", ".join(undefined["status_text"].unique(maintain_order=True))
        yield f"{UNDEFINED}: no average precision ({reasons})."
    without_time = dots.filter(pl.col("time").is_null()).unique("name")
    if without_time.height:
        sums = without_time.select(pl.col("n_pos", "n").sum()).row(0)
        positives, size = map(count_text, sums)
        yield f"Not drawn: {size} rows ({positives} positive) without a {times.title}."


def _on_rows(dots: pl.DataFrame, segments: EvaluatedSegments) -> Iterator[str]:
    dropped = any(dots[name].sum() > 0 for name in DROPPED if name in dots.columns)
    columns = segments.given.columns
    # In long data a row is of one model.
    if columns.several_models and columns.model is None and dropped:
        yield "Rows with a missing value are left out for all models."
    if segments.error is not None:
        yield f"From thinned curves, off by at most {segments.error:.2g}."
