"""A measure: a number of each segment, and how much one more row at each score changes it.

The change is the measure's influence on that row. Times the rows' weights influences add up to 0,
and their squares to the variance (the infinitesimal jackknife: Efron 1981, doi 10.2307/2335442).
Intervals, clusters, differences, heterogeneity and means rest on value and influence alone.

Points are the scores of segments, each with running sums ``tp, fp`` and the totals ``positives,
negatives`` of its segment; formulas are those of Polars and of Narwhals alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import polars as pl

from frame_prc._curves.given_thresholds import GivenThresholds
from frame_prc._curves.logit_intervals import FEW_OF_POSITIVES, FEW_POSITIVES, status_where
from frame_prc._formulas import effective_number, exact_parts, rounding, sizes
from frame_prc._lazy import segment_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import TIES, Points, rows_of_classes, running
from frame_prc._request.specs import Calibration
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows

# --- in Polars, or inside an engine ------------------------------------------------------------

# The opening row, or the one of a null score, which stands for the rows that are never retrieved.
OPENS = "opens"


class Dialect:
    """What points are computed with: here Polars; what engines do in their own way is overridden.

    Points are in ranking order; each segment begins with a row that ``opens`` it.
    """

    lib: Any = pl

    def __init__(self, ranking: Ranking) -> None:
        self.ranking, rows = ranking, ranking.rows
        self.squares, self.ascending = ranking.squares, rows.ascending
        self.score_dtype, self.threshold_dtype = rows.score_dtype, ranking.threshold_dtype

    def cols(self, *names: str) -> list[Any]:
        return [self.lib.col(name) for name in names]

    def when_retrieved(self, value: Any) -> Any:
        return self.lib.when(~self.lib.col(OPENS)).then(value)

    def weights_of_rows(self) -> list[Any]:
        """Return the weight of a positive and of a negative if all of a class weighed the same."""
        if not self.squares:
            return [self.lib.lit(1.0), self.lib.lit(1.0)]
        col = self.lib.col
        return [col(f"{name}_squares") / col(name) for name in ("positives", "negatives")]

    def with_amounts(self, points: Any, fp: str = "fp", *, whole: bool = True) -> Any:
        """Add ``gain, losses``: the positives and negatives at a score, and since the one before.

        ``whole`` says whether the opening row has the rest of the negatives.
        """
        # Points come in ranking order, and windows over a sorted column are faster.
        return points.with_columns(pl.col("segment").set_sorted()).with_columns(
            gain=added("tp", pl.col("positives")),
            losses=added(fp, pl.col("negatives") if whole else None),
        )

    def with_sums(
        self,
        points: Any,
        *,
        exact: Mapping[str, str] | None = None,
        plain: Mapping[str, str] | None = None,
        onward: Sequence[str] = (),
    ) -> Any:
        """Add sums over each segment: ``exact`` ones, of at most 1, ``plain`` and ``onward`` ones.

        The latter replace a column by its sum over a score and all lower ones.
        """
        exact, plain = exact or {}, plain or {}
        # Each is a column, since Polars computes windows of columns much faster than expressions.
        parted = points.with_columns(
            part.alias(f"{name}_{i}")
            for name in exact.values()
            for i, part in enumerate(exact_parts(pl.col(name)))
        )
        return parted.with_columns(
            **{name: _total_of_parts(of) for name, of in exact.items()},
            **{name: pl.col(of).sum().over("segment") for name, of in plain.items()},
            # Rows are sorted by segment, so "explode", which stacks the groups, keeps their place.
            **{
                name: pl.col(name).cum_sum(reverse=True).over("segment", mapping_strategy="explode")
                for name in onward
            },
        )

    def with_reached(self, points: Any, marks: Mapping[str, str]) -> Any:
        """Add the sums over scores with each mark, ``NAME_tp, NAME_fp``; of squares if reached."""
        names = {f"{name}_{sums}": (m, sums) for m, name in marks.items() for sums in ("tp", "fp")}
        if self.squares:
            names |= {f"squares_{one}": ("reached", f"{one}_squares") for one in ("tp", "fp")}
        return points.with_columns(
            pl.when(mark)
            .then(pl.col(of).cast(pl.Float64))
            .max()
            .over("segment")
            .fill_null(0.0)
            .alias(name)
            for name, (mark, of) in names.items()
        )

    def before(self, running_sum: str) -> Any:
        return pl.col(running_sum).shift(1)

    def rounding(self) -> Any:
        return rounding(weighted=self.ranking.rows.columns.weighted)

    def with_score(self, points: Any) -> Any:
        return self.ranking.with_score(points)

    def with_held(self, points: Any, table: pl.LazyFrame) -> Any:
        """Add the threshold ``held`` that a table has for each segment; null where it has none."""
        held = GivenThresholds(table, "at").one_each(self.ranking)
        return segment_join(points.drop("held", strict=False), held)

    def squares_here(self) -> list[Any]:
        if not self.squares:
            return [pl.col("gain").alias("pos"), pl.col("losses").alias("neg")]
        pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
        return [added("tp_squares", pos).alias("pos"), added("fp_squares", neg).alias("neg")]


def added(running_sum: str, total: pl.Expr | None = None) -> pl.Expr:
    """Return what each score adds to a running sum; the opening row has the rest of the total."""
    unretrieved = 0 if total is None else total - pl.col(running_sum).max().over("segment")
    return pl.when(OPENS).then(unretrieved).otherwise(pl.col(running_sum).diff())


def _total_of_parts(name: str) -> pl.Expr:
    coarse, fine = (pl.col(f"{name}_{i}").sum() for i in range(2))
    # One window, so that rows get a single column, which needs no more work on each of them.
    return (coarse + fine).clip(upper_bound=1.0).over("segment")


# --- measures ----------------------------------------------------------------------------------

# The parts of the bias, by class, and what clusters multiply the variance of each class by.
BIAS = ("bias_of_positives", "bias_of_negatives")
TIMES_OF_CLUSTERS = ("times_of_positives", "times_of_negatives")
POSITIVES, NEGATIVES = pl.col("positives"), pl.col("negatives")
# The status of a measure that rows of a single class have too, from that of their sizes.
OF_ANY_CLASS = pl.col("status").replace(["no_positives", "no_negatives"], "ok")
# That of one that a segment with rows of both classes may lack.
UNDEFINED_IF_NULL = status_where(pl.col("estimate").is_null(), "undefined")


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of each segment, computed as its share of the range of values that it may have.

    ``points`` are the scores at which its influence changes. ``scored`` measures need the scores
    themselves; ``of_both_classes`` says that negatives limit what is known as positives do,
    ``counted`` that it rests on other rows than positives, and ``of_decisions`` that rows are
    predicted positive or not.
    """

    calibration: Calibration | None = None
    points: ClassVar[Points]
    scored: ClassVar[bool] = False
    of_both_classes: ClassVar[bool] = False
    counted: ClassVar[bool] = False
    of_decisions: ClassVar[bool] = False
    # Whether it is a mean of precisions: these vary more, and are higher, than is estimated.
    of_precisions: ClassVar[bool] = False
    # The effective number of rows below which it rests on few.
    fewest: ClassVar[float] = FEW_POSITIVES
    # Columns of its points that say how much of a positive, and of a negative, it is divided by.
    below: ClassVar[tuple[str, ...]] = ()

    @property
    def is_share(self) -> bool:
        return False

    @property
    def of_hits(self) -> bool:
        """Whether it is a share of hits among the rows that it rests on."""
        return True

    @property
    def lowest(self) -> float:
        return 0.0

    @property
    def span(self) -> float:
        """The highest value that it may have, less the lowest."""
        return 1.0 - self.lowest

    @property
    def weighed(self) -> tuple[bool, bool]:
        """Whether it rests on the positives, and on the negatives, if few of a class are heavy."""
        return True, False

    @property
    def share_of_negatives(self) -> float:
        return 1.0

    @property
    def higher_is_better(self) -> bool:
        return True

    @property
    def is_of_rows(self) -> bool:
        """Whether the rows alone tell it, and no prevalence or threshold of others."""
        return self.calibration is None

    def of_model(self, name: str | None) -> Self:  # noqa: ARG002 - of models with their own
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
        return ()

    @property
    def rests_on(self) -> pl.Expr:
        """The effective number of rows that it rests on, of ``pos, neg``: sums of squares."""
        return effective_number(POSITIVES, pl.col("pos"))

    @property
    def variance(self) -> pl.Expr:
        """The variance if rows are independent, of ``variance``: the sum of their squares."""
        return pl.col("variance")

    @property
    def variance_of_clusters(self) -> pl.Expr:
        """The variance, of ``variance``: that of clusters, beside ``variance_by_rows``."""
        return pl.col("variance")

    @property
    def most_bias(self) -> pl.Expr:
        """The bias that clusters may make of ``bias``, that of rows."""
        return pl.col("bias")

    @property
    def few(self) -> str:
        return FEW_OF_POSITIVES[0]

    @property
    def status(self) -> pl.Expr:
        return pl.col("status")

    @abstractmethod
    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return running sums where the influence changes, with ``on_positive, on_negative``.

        Each segment begins with a row that opens it, and has ``estimate, shortfall`` in all its
        rows.
        """

    @abstractmethod
    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        """Return the points that its sums need; of single rows, a part for each class."""

    def sums_at(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        return sums_of(self.influences_of(points, Dialect(ranking)), ranking, self)

    def sums_of_parts(self, parts: Sequence[pl.LazyFrame], ranking: Ranking) -> pl.LazyFrame:
        [points] = parts
        return self.sums_at(points, ranking)

    @abstractmethod
    def influences_of(self, points: Any, of: Dialect) -> Any:
        """Return points of any dialect with the influence of their rows, from their sums."""

    def bias(self, of: Dialect) -> tuple[Any, Any]:
        """Return what each score adds to how much too high the measure is on average, by class."""
        return of.lib.lit(0.0), of.lib.lit(0.0)

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        """Return ``segment, positives, negatives, estimate``, and what is kept, of each segment."""
        return spreads(ranking, self)

    def of_segments(self, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
        ranking = rank(rows, bins, at=self.calibration)
        sized = self.valued(ranking).select("segment", *sizes(POSITIVES, NEGATIVES), "estimate")
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
    points = TIES
    summed_points: ClassVar[Points] = TIES

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        found: pl.LazyFrame = self.influences_of(retrieved(ranking, TIES), Dialect(ranking))
        return found

    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        return parts_at(ranking, self.summed_points)

    def sums_at(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        return super().sums_at(self.thinned(points, ranking), ranking)

    def thinned(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:  # noqa: ARG002
        """Return the scores whose rows, with those since the one before, have one influence."""
        return points


def retrieved(ranking: Ranking, points: Points) -> pl.LazyFrame:
    return running(ranking, points).filter(ranking.retrieved())


def parts_at(ranking: Ranking, points: Points) -> list[pl.LazyFrame]:
    rows = ranking.rows
    if are_single(ranking, points):
        return rows.windowed_together(*rows_of_classes(ranking))
    return [rows.windowed(retrieved(ranking, points))]


def are_single(ranking: Ranking, points: Points) -> bool:
    return points.each_row and not ranking.carried


def spreads(
    ranking: Ranking, measure: Measure, parts: Sequence[pl.LazyFrame] | None = None
) -> pl.LazyFrame:
    """Return ``positives, negatives, estimate, shortfall, variance`` if rows are independent.

    Also ``n_effective, n_negative``, the effective numbers of rows, ``row_odds``, negatives over
    positives by these, ``bias``, null below two positives, and ``of_negatives``, their part of the
    variance. The ranking must be one with squares.
    """
    sums = measure.sums_of_parts(parts or measure.parts(ranking), ranking)
    return ranking.rows.windowed(spreads_of(sums, ranking, measure))


def sums_of(influences: pl.LazyFrame, ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    points: pl.LazyFrame = with_terms(influences, Dialect(ranking), measure)
    return (
        points.group_by("segment")
        .agg(pl.col(constants(measure)).first(), pl.col(sums_over_scores(measure)).sum())
        # Always true. Where no aggregate is used, Polars 1.41 streams a group more than once.
        .filter(POSITIVES.is_not_null())
        .sort("segment")
    )


def constants(measure: Measure) -> list[str]:
    return ["positives", "negatives", "estimate", "shortfall", *measure.kept]


def sums_over_scores(measure: Measure) -> list[str]:
    return ["variance", "of_negatives", "pos", "neg", *BIAS, *measure.term_names]


def with_terms(influences: Any, of: Dialect, measure: Measure) -> Any:
    col = of.lib.col
    of_positives, of_negatives = (
        col(one) * col(f"on_{of_class}") * col(f"on_{of_class}")
        for one, of_class in (("pos", "positive"), ("neg", "negative"))
    )
    return influences.with_columns(of.squares_here()).with_columns(
        variance=of_positives + of_negatives,
        of_negatives=of_negatives,
        **dict(zip(BIAS, measure.bias(of), strict=True)),
        **measure.terms(of),
    )


def spreads_of(sums: pl.LazyFrame, ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    numbers = {
        "n_effective": measure.rests_on,
        # Of rows the sum may lack the negatives below the last positive, which move nothing.
        "n_negative": effective_number(NEGATIVES, pl.col("neg"))
        if ranking.squares
        else NEGATIVES.cast(pl.Float64),
    }
    if not ranking.rows.clustered:
        numbers["variance"] = measure.variance
    is_known = ranking.squares or not ranking.rows.columns.weighted
    can_leave_out = (pl.col("n_effective") > 1) & (NEGATIVES > 0) & pl.lit(is_known)
    defined = pl.when(measure.is_defined).then(
        pl.col("estimate", "shortfall", "variance", "n_effective")
    )
    return (
        sums.with_columns(**numbers)
        .with_columns(
            defined,
            row_odds=pl.col("n_negative") / pl.col("n_effective"),
            bias=pl.when(can_leave_out).then(pl.sum_horizontal(BIAS)),
        )
        .drop("pos", "neg", *measure.term_names)
    )
