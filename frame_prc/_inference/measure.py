"""A measure: a number of each segment, and how much one more row at each score changes it.

The change is the measure's influence on that row. Multiplied by the rows' weights influences add up
to 0, and the squares of these products add up to the variance of the measure (the infinitesimal
jackknife: Efron 1981, doi 10.2307/2335442). Intervals, clusters, differences, heterogeneity and
means rest on value and influence alone, so each is written once, for any measure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, FEW_OF_POSITIVES, SHORTFALL
from frame_prc._formulas import effective_number, sizes
from frame_prc._inference.dialect import Dialect, InPolars
from frame_prc._ranking.places import in_parts
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import TIES, Points, running, single_rows
from frame_prc._request.specs import Calibration
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows

IS_FEW = "is_few"  # a column of whether a measure finds that it rests on too few rows
POSITIVES, NEGATIVES = pl.col("positives"), pl.col("negatives")
# The status of a measure that rows of a single class have too, from that of their sizes.
OF_ANY_CLASS = pl.col("status").replace(["no_positives", "no_negatives"], "ok")
# That of one that a segment with rows of both classes may lack.
_LACKS = pl.col(ESTIMATE).is_null() & (pl.col("status") == "ok")
UNDEFINED_IF_NULL = pl.when(_LACKS).then(pl.lit("undefined")).otherwise("status")


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of each segment, computed as its share of the range of values that it may have.

    ``points`` are the scores at which its influence changes: rows between two of them have that of
    the next. It may be ``scored``: need the scores themselves, not only their order.
    ``of_both_classes`` says that negatives limit what is known of it as positives do; ``counted``,
    that it rests on other rows than positives; ``of_decisions``, that a row is either predicted
    positive or not.
    """

    calibration: Calibration | None = None
    points: ClassVar[Points]
    scored: ClassVar[bool] = False
    of_both_classes: ClassVar[bool] = False
    counted: ClassVar[bool] = False
    of_decisions: ClassVar[bool] = False
    # Columns of its points that say how much of a positive, and of a negative, it is divided by.
    below: ClassVar[tuple[str, ...]] = ()

    @property
    def is_share(self) -> bool:
        """Whether it is a share of rows at a threshold."""
        return False

    @property
    def of_hits(self) -> bool:
        """Whether it is a share of hits among the rows that it rests on."""
        return True

    @property
    def lowest(self) -> float:
        """The lowest value that it may have."""
        return 0.0

    @property
    def span(self) -> float:
        """The highest value that it may have, less the lowest."""
        return 1.0 - self.lowest

    @property
    def share_of_negatives(self) -> float:
        """The share of the negatives that it rests on."""
        return 1.0

    @property
    def higher_is_better(self) -> bool:
        """Whether the best segment has the highest value."""
        return True

    @property
    def is_of_rows(self) -> bool:
        """Whether the rows alone tell it, and no prevalence or threshold of others."""
        return self.calibration is None

    def of_model(self, name: str | None) -> Self:  # noqa: ARG002 - of models with their own
        """Return the measure of one of several models."""
        return self

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its column."""

    @property
    @abstractmethod
    def is_defined(self) -> pl.Expr:
        """Whether the rows of a segment, of ``positives, negatives``, have it."""

    def terms(self, of: Dialect) -> dict[str, Any]:  # noqa: ARG002 - of a dialect, in general
        """Return what is added up over the scores of a segment beside its variance, by name."""
        return {}

    @property
    def term_names(self) -> Sequence[str]:
        """The names of these."""
        return ()

    @property
    def rests_on(self) -> pl.Expr:
        """The effective number of rows that it rests on, of ``pos, neg``: sums of squares."""
        return effective_number(POSITIVES, pl.col("pos"))

    @property
    def few(self) -> str:
        """The status of too few of the rows that it rests on."""
        return FEW_OF_POSITIVES[0]

    @property
    def status(self) -> pl.Expr:
        """The status of its segments, from that of their sizes."""
        return pl.col("status")

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

    @abstractmethod
    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        """Return the points that its sums need, in parts of whole segments."""

    def sums_at(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return what is added up over the points of each segment."""
        return sums_of(self.influences_of(points, InPolars(ranking)), ranking, self)

    @abstractmethod
    def influences_of(self, points: Any, of: Dialect) -> Any:
        """Return points of any dialect with the influence of their rows, from their sums."""

    def bias(self, of: Dialect) -> Any:
        """Return what each of these scores adds to how much too high the measure is on average."""
        return of.lib.lit(0.0)

    def of_segments(self, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
        """Return the keys and sizes of each segment, and the measure, without its variance."""
        ranking = rank(rows, bins, squares=True, scored=self.scored)
        found = spreads(ranking, self)
        sized = found.select("segment", *sizes(POSITIVES, NEGATIVES), ESTIMATE)
        return ranking.segments.with_keys(ranking.with_dropped(sized))

    @property
    def chance(self) -> pl.Expr:
        """What a random order of the labels has in a table of segments, if that is known."""
        return pl.lit(None, pl.Float64)

    @property
    def kept(self) -> Sequence[str]:
        """What is kept of a segment beside its sizes and the measure."""
        return []

    def values(self, *shares: str) -> list[pl.Expr]:
        """Return shares of its range as values of it."""
        shown = shares if self._is_moved else ()
        return [(self.span * pl.col(name) + self.lowest).alias(name) for name in shown]

    def lengths(self, *shares: str) -> list[pl.Expr]:
        """Return differences of shares of its range as those of values, and so their errors."""
        shown = shares if self._is_moved else ()
        return [(self.span * pl.col(name)).alias(name) for name in shown]

    @property
    def _is_moved(self) -> bool:
        return (self.lowest, self.span) != (0.0, 1.0)


@dataclass(frozen=True)
class TiedMeasure(Measure):
    """A measure whose influence may change at each score."""

    points = TIES
    summed_points: ClassVar[Points] = TIES

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return all scores, with the influence of their rows."""
        found: pl.LazyFrame = self.influences_of(retrieved(ranking, TIES), InPolars(ranking))
        return found

    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        """Return its ``summed_points``, which several measures may share."""
        return parts_at(ranking, self.summed_points)

    def sums_at(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return what is added up over the points of each segment."""
        return super().sums_at(self.thinned(points, ranking), ranking)

    def thinned(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:  # noqa: ARG002
        """Return the scores whose rows, with those since the one before, have one influence."""
        return points


def retrieved(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Return points that some threshold reaches, with the running sums."""
    if are_single(ranking, points):
        return single_rows(ranking)
    return running(ranking, points).filter(ranking.key.retrieved())


def parts_at(ranking: Ranking, points: Points) -> list[pl.LazyFrame]:
    """Return such points in parts of whole segments; single rows stay together."""
    rows, at_once = ranking.rows, not are_single(ranking, points)
    found = rows.windowed(retrieved(ranking, points))
    return in_parts(found, at_once=rows.many_in_memory and at_once)


def are_single(ranking: Ranking, points: Points) -> bool:
    """Return whether points are single rows."""
    return points.each_row and not ranking.carried


def spreads(ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    """Return the measure of each segment, and its variance if rows are independent.

    The ranking must be one with squares. It is computed now if many rows are in memory.

    Returns
    -------
    LazyFrame
        ``segment, positives, negatives, estimate, shortfall, variance``; ``n_effective`` and
        ``n_negative``, the effective numbers of positives and of negatives: the square of the sum
        of their weights over the sum of the squares; ``row_odds``, negatives over positives by
        these numbers; ``bias``, null below two positives; ``of_negatives``, what negatives add
        to the variance. If calibrated, also ``reference_prevalence, reference_odds``.
    """
    return spreads_at(measure.parts(ranking), ranking, measure)


def spreads_at(parts: Iterable[pl.LazyFrame], ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    """Return the same from the points that its sums need, in parts of whole segments."""
    sums = [measure.sums_at(part, ranking) for part in parts]
    plans = [spreads_of(one, ranking, measure) for one in sums]
    return ranking.rows.windowed_in_parts(plans)[0]


def sums_of(influences: pl.LazyFrame, ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    """Return what is added up over the scores of each segment, from their influences."""
    points: pl.LazyFrame = with_terms(influences, InPolars(ranking), measure)
    return (
        points.group_by("segment")
        .agg(pl.col(constants(measure)).first(), pl.col(sums_over_scores(measure)).sum())
        # Always true. Where no aggregate is used, Polars 1.41 streams a group more than once.
        .filter(POSITIVES.is_not_null())
        .sort("segment")
    )


def constants(measure: Measure) -> list[str]:
    """Return the columns that all points of a segment have alike."""
    return ["positives", "negatives", ESTIMATE, SHORTFALL, *measure.kept]


def sums_over_scores(measure: Measure) -> list[str]:
    """Return the columns of points that are added up over a segment."""
    return ["variance", "of_negatives", "pos", "neg", "bias", *measure.term_names]


def with_terms(influences: Any, of: Dialect, measure: Measure) -> Any:
    """Add what is added up over a segment to points with influences."""
    of_positives, of_negatives = (
        of.lib.col(one) * of.lib.col(f"on_{of_class}") ** 2
        for one, of_class in (("pos", "positive"), ("neg", "negative"))
    )
    return influences.with_columns(of.squares_here()).with_columns(
        variance=of_positives + of_negatives,
        of_negatives=of_negatives,
        bias=measure.bias(of),
        **measure.terms(of),
    )


def spreads_of(sums: pl.LazyFrame, ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    """Return the same from the sums over the scores of each segment."""
    numbers = {
        "n_effective": measure.rests_on,
        # Of rows the sum may lack the negatives below the last positive, which move nothing.
        "n_negative": effective_number(NEGATIVES, pl.col("neg"))
        if ranking.squares
        else NEGATIVES.cast(pl.Float64),
    }
    defined = pl.when(measure.is_defined).then(
        pl.col(ESTIMATE, SHORTFALL, "variance", "n_effective")
    )
    return (
        sums.with_columns(**numbers)
        .with_columns(
            defined,
            row_odds=pl.col("n_negative") / pl.col("n_effective"),
            bias=pl.when(_is_jackknifed(ranking)).then("bias"),
        )
        .drop("pos", "neg", *measure.term_names)
    )


def _is_jackknifed(ranking: Ranking) -> pl.Expr:
    """Return whether a row of each class can be left out, and what a row weighs is known."""
    is_known = ranking.squares or not ranking.rows.columns.weighted
    return (pl.col("n_effective") > 1) & (NEGATIVES > 0) & pl.lit(is_known)
