"""A measure: a number of each segment, and how much one more row at each score changes it.

The change is the measure's influence on that row. Multiplied by the rows' weights influences add up
to 0, and the squares of these products add up to the variance of the measure (the infinitesimal
jackknife: Efron 1981, doi 10.2307/2335442). Intervals, clusters, differences, heterogeneity and
means rest on value and influence alone, so each is written once, for any measure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, SHORTFALL
from frame_prc._formulas import effective_number, exact_parts, sizes
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import Points
from frame_prc._request.specs import Calibration
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows

OPENS = pl.col("opens")
POSITIVES, NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class Measure(ABC):
    """A measure from 0 to 1 of the ranking of each segment.

    ``points`` are the scores at which its influence changes: rows between two of them have that of
    the next. ``of_both_classes`` says that negatives limit what is known of it as positives do.
    """

    calibration: Calibration | None = None
    points: ClassVar[Points]
    of_both_classes: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its column."""

    @property
    @abstractmethod
    def needs_negatives(self) -> bool:
        """Whether it is undefined without negatives."""

    @abstractmethod
    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores at which the influence changes, with that of their rows.

        Each segment begins with a row that opens it, which stands for the rows below all scores.

        Returns
        -------
        LazyFrame
            Running sums (see :func:`frame_prc._ranking.running_sums.running`), ``gain, losses``,
            the positives and negatives at each score, ``on_positive, on_negative``, and, the same
            for all rows of a segment, ``estimate`` and ``shortfall``, which is 1 minus it.
        """

    def bias(self, ranking: Ranking) -> pl.Expr:  # noqa: ARG002 - of a ranking, in general
        """Return what each of these scores adds to how much too high the measure is on average."""
        return pl.lit(0.0)

    def of_segments(self, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
        """Return the keys and sizes of each segment, and the measure, without its variance."""
        ranking = rank(rows, bins, squares=True, scored=False)
        found = spreads(rows.windowed(self.influences(ranking)), ranking, self)
        sized = found.select("segment", *sizes(POSITIVES, NEGATIVES), ESTIMATE)
        return ranking.segments.with_keys(ranking.with_dropped(sized))

    @property
    @abstractmethod
    def chance(self) -> pl.Expr:
        """What a random order of the labels has in a table of segments with their sizes."""

    @property
    def kept(self) -> list[str]:
        """What is kept of a segment beside its sizes and the measure."""
        return []


def spreads(influences: pl.LazyFrame, ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    """Return the measure of each segment, and its variance if rows are independent.

    The ranking must be one with squares.

    Returns
    -------
    LazyFrame
        ``segment, positives, negatives, estimate, shortfall, variance``; ``n_effective`` and
        ``n_negative``, the effective numbers of positives and of negatives: the square of the sum
        of their weights over the sum of the squares; ``row_odds``, negatives over positives by
        these numbers; ``bias``, null below two positives. If calibrated, also
        ``reference_prevalence, reference_odds``.
    """
    squares = (
        pl.col("pos") * pl.col("on_positive") ** 2 + pl.col("neg") * pl.col("on_negative") ** 2
    )
    first = ["positives", "negatives", ESTIMATE, SHORTFALL, *measure.kept]
    added = ["variance", "pos", "neg", "bias"]
    numbers = {
        "n_effective": effective_number(POSITIVES, pl.col("pos")),
        # Of rows the sum may lack the negatives below the last positive, which move nothing.
        "n_negative": effective_number(NEGATIVES, pl.col("neg"))
        if ranking.squares
        else NEGATIVES.cast(pl.Float64),
    }
    has_classes = POSITIVES > 0
    if measure.needs_negatives:
        has_classes &= NEGATIVES > 0
    defined = pl.when(has_classes).then(pl.col(ESTIMATE, SHORTFALL, "variance", "n_effective"))
    return (
        influences.with_columns(_squares(ranking))
        .with_columns(variance=squares, bias=measure.bias(ranking))
        .group_by("segment")
        .agg(pl.col(first).first(), pl.col(added).sum())
        # Always true. Where no aggregate is used, Polars 1.41 streams a group more than once.
        .filter(POSITIVES.is_not_null())
        .sort("segment")
        .with_columns(**numbers)
        .with_columns(
            defined,
            row_odds=pl.col("n_negative") / pl.col("n_effective"),
            bias=pl.when(_is_jackknifed(ranking)).then("bias"),
        )
        .drop("pos", "neg")
    )


def weights_of_rows(ranking: Ranking) -> tuple[pl.Expr, pl.Expr]:
    """Return the weight of a positive and of a negative if all of a class had the same.

    There are as many of them as effective rows.
    """
    if not ranking.squares:
        return pl.lit(1.0), pl.lit(1.0)
    pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
    return pos / POSITIVES, neg / NEGATIVES


def _is_jackknifed(ranking: Ranking) -> pl.Expr:
    """Return whether a row of each class can be left out, and what a row weighs is known."""
    is_known = ranking.squares or not ranking.rows.columns.weighted
    return (pl.col("n_effective") > 1) & (NEGATIVES > 0) & pl.lit(is_known)


def _squares(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums of squared weights at each score, of positives and of negatives."""
    if not ranking.squares:
        return [pl.col("gain").alias("pos"), pl.col("losses").alias("neg")]
    pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
    return [added("tp_squares", pos).alias("pos"), added("fp_squares", neg).alias("neg")]


def added(running_sum: str, total: pl.Expr | None = None) -> pl.Expr:
    """Return what each score adds to a running sum; the opening row has the rest of the total."""
    unretrieved = 0 if total is None else total - pl.col(running_sum).max().over("segment")
    return pl.when(OPENS).then(unretrieved).otherwise(pl.col(running_sum).diff())


# --- exact sums of a segment -----------------------------------------------------------------


def parts(name: str) -> list[pl.Expr]:
    """Return the parts of a term that add up exactly."""
    return [part.alias(f"{name}_{i}") for i, part in enumerate(exact_parts(pl.col(name)))]


def total_of_parts(name: str) -> pl.Expr:
    """Return the exact sum of the terms of a segment, at most 1, from their parts."""
    coarse, fine = (pl.col(f"{name}_{i}").sum() for i in range(2))
    # One window, so that rows get a single column, which needs no more work on each of them.
    return (coarse + fine).clip(upper_bound=1.0).over("segment")
