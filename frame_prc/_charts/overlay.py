"""The curve behind those of a panel: of all rows, or the mean of all segments."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

from frame_prc._charts.data import EvaluatedSegments
from frame_prc._charts.options import ChartOptions
from frame_prc._charts.summary_data import split_keys
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.curve import AT_RECALL
from frame_prc._formulas import calibrated_precision
from frame_prc._lazy import left_join
from frame_prc.exceptions import OptionError

OverlayKind: TypeAlias = Literal["pooled", "mean"]

NOTES: dict[OverlayKind, str] = {
    "pooled": "all rows at the segment's prevalence.",
    "mean": "the mean of all segments at the segment's prevalence.",
}

_RECALLS = [0.005, *(i / 100 for i in range(1, 101))]
_TP, _FP, _FN, _TN = map(pl.col, ("tp", "fp", "fn", "tn"))


def overlay_kind(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> OverlayKind | None:
    """Return which curve is drawn behind; by default, that of all rows where lines stand alone."""
    if options.overlay is None:
        return None
    _, own = split_keys(segments.keys)
    per_panel = lines.group_by("panel").agg(pl.struct(own).n_unique() if own else pl.lit(2))
    fits = per_panel.height > 1 and per_panel[:, 1].max() == 1 and segments.can_be_pooled
    if options.overlay == "auto":
        return "pooled" if fits and per_panel.height == lines.height else None
    if not fits:
        raise OptionError(
            f"overlay={options.overlay!r} has no segment to stand behind",
            "a panel for each of several segments, of rows or counts",
            "facet= takes the keys that get a panel per value",
        )
    return options.overlay


def overlay_rows(
    segments: EvaluatedSegments, lines: pl.DataFrame, kind: OverlayKind | None
) -> pl.DataFrame:
    """Return ``panel, series, recall, precision`` of the curves behind.

    Precision is what the ranking of each segment would have at the prevalence of the panel.
    """
    if kind is None:
        return pl.DataFrame()
    models, _ = split_keys(segments.keys)
    points = segments.at_recalls(_RECALLS, pooled=kind == "pooled")
    odds = (pl.col("n") - pl.col("n_pos")) / pl.col("n_pos")
    defined = segments.table.drop_nulls(AVERAGE_PRECISION).select("line", *models, odds=odds)
    targets = left_join(defined, lines.select("line", "panel", "series"), ["line"])
    height = calibrated_precision(_TP, _FP, _TP + _FN, _FP + _TN, pl.col("odds"))
    crossed = left_join(targets, points, models).with_columns(precision=height.fill_nan(None))
    curves = crossed.group_by("panel", "series", recall=AT_RECALL, maintain_order=True)
    return curves.agg(pl.col("precision").mean().round_sig_figs(5)).drop_nulls()
