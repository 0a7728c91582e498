"""The influence of single rows, and of the clusters they are in.

The number of a row is in its rank key, so one sort ranks the rows, and other columns are gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from frame_prc._execution import has_numpy
from frame_prc._formulas import FEWEST_TOLD, effective_number, library, rounded_to_digits
from frame_prc._inference.measure import Measure
from frame_prc._lazy import aggregated, beside, cached, in_order
from frame_prc._ranking.keys import KeyRange, range_of
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.sorted_rows import gathered, group_totals, put
from frame_prc._rows.rows import Rows, units_of
from frame_prc._rows.rules import SQUARES, SUMS

# The weight of the positives and of the negatives of a row, or of a cluster.
_CLASSES = ("pos", "neg")
_MOST_CELLS = 2**62  # so that the number of a cluster and that of its segment fit Int64


def numbered(rows: Rows) -> Rows:
    """Return rows in a fixed order; ``row`` is the number of each among those that count."""
    return rows.keep("numbered", lambda: _numbered(rows))


def _numbered(rows: Rows) -> Rows:
    if rows.usable is None:
        frame = rows.frame.with_row_index("row")
    else:
        number = rows.usable.cum_sum().cast(pl.UInt32) - rows.usable.cast(pl.UInt32)
        frame = rows.frame.with_columns(row=number)
    return replace(rows, frame=cached(frame))


@dataclass(frozen=True)
class RowInfluence:
    """The influences of ranked, numbered rows on a measure; ``found`` are those of the scores."""

    ranking: Ranking
    measure: Measure
    found: pl.LazyFrame | None = None

    @classmethod
    def of_models(
        cls, rankings: Sequence[Ranking], measures: Sequence[Measure]
    ) -> list[RowInfluence]:
        areas = list(map(cls, rankings, measures))
        found = rankings[0].rows.windowed_together(*(area.windows() for area in areas))
        return [replace(area, found=frame) for area, frame in zip(areas, found, strict=True)]

    def windows(self) -> pl.LazyFrame:
        return self.measure.influences(self.ranking)

    @cached_property
    def steps(self) -> pl.LazyFrame:
        rows = self.ranking.rows
        return rows.once(rows.windowed(self.windows()) if self.found is None else self.found)

    def in_ranking_order(self, place: int) -> pl.LazyFrame:
        """Return the number, the class, the segment and the influence of each row that counts."""
        ranking, table = self.ranking, _of_rows_after(self.steps, self.measure)
        what = "steps of rows", self.measure.points.only_hits
        steps = ranking.keep_points(
            what, lambda: ranking.rows.once(_with_steps(ranking, self.measure))
        )
        ranked = gathered(steps, "step", table, at_once=ranking.rows.many_in_memory)
        segment = pl.col("segment").set_sorted().alias(f"segment_{place}")
        return ranked.with_columns(ranking.key.unpacked()).select(
            "row",
            "positive",
            segment,
            **{
                name: pl.when("positive").then(of_positive).otherwise(of_negative)
                for name, (of_positive, of_negative) in _of_rows(self.measure, place).items()
            },
        )

    def in_order_of_rows(self, place: int, names: Sequence[str]) -> pl.LazyFrame:
        ranked = self.in_ranking_order(place).select("row", *names)
        if self.ranking.rows.many_in_memory:
            found = ranked.collect()
            row = found["row"].fill_null(0)  # only rows that the checks refuse have none
            return pl.LazyFrame([put(one, row) for one in found[names]])
        # A sort of integers that hold both the number of a row and its place in the ranking is
        # faster than one of two columns.
        number, ranked_at = pl.col("row").cast(pl.UInt64), pl.int_range(pl.len(), dtype=pl.UInt64)
        return ranked.select(pl.col(names).gather((number * 2**32 + ranked_at).sort() % 2**32))


def _of_rows(measure: Measure, place: int) -> dict[str, tuple[str, ...]]:
    """Return the columns of rows, and those of steps that tell them of positives and negatives."""
    found: dict[str, tuple[str, ...]] = {f"influence_{place}": ("on_positive", "on_negative")}
    return found | ({f"below_{place}": measure.below} if measure.below else {})


def _with_steps(ranking: Ranking, measure: Measure) -> pl.LazyFrame:
    key, is_step = ranking.key, pl.col("is_step")
    steps = measure.points.last_rows(key) & ~key.unretrieved()
    ranked = ranking.in_order.select(key.row_and_class(), key.opens(), is_step=steps)
    # The first row of all gets -1, which is in range too.
    above = is_step.cum_sum().cast(pl.Int64) - is_step - 1
    stepped = ranked.select("row_and_class", "opens", step=above)
    # Rows that the checks refuse have no key, and stay, so that each row has its place.
    return stepped.filter(pl.col("opens").ne_missing(pl.lit(value=True))).drop("opens")


def _of_rows_after(steps: pl.LazyFrame, measure: Measure) -> pl.LazyFrame:
    """Return the influences of the rows between each step and the next, including the next."""
    names = ["on_positive", "on_negative", *measure.below]
    is_last = pl.col("opens").shift(-1, fill_value=True)
    below = pl.when("opens").then(pl.col(names)).forward_fill()
    return steps.select("segment", pl.when(is_last).then(below).otherwise(pl.col(names).shift(-1)))


# --- rows and clusters ---------------------------------------------------------------------


def with_influences(
    rows: Rows, areas: Sequence[RowInfluence], *, plain: bool = False
) -> pl.LazyFrame:
    """Return numbered rows that count with their influences, times their weight.

    In strata they are less the means of these, and may be beside the ``plain`` ones.
    """
    first, *others = areas
    names = [*rows.carried(squares=False), *units_of(rows.columns)]
    of_others = []
    for place, other in enumerate(others, 1):
        own = [*_of_rows(other.measure, place)]
        if other.ranking.segments.keys != first.ranking.segments.keys:
            own.append(f"segment_{place}")
        of_others.append(partial(other.in_order_of_rows, place, own))
    ranked, *unordered = rows.together([partial(first.in_ranking_order, 0), *of_others])
    if names:
        unordered.insert(0, rows.used().select(names))
    if unordered:
        ranked = gathered(ranked, "row", beside(unordered), at_once=rows.many_in_memory)
    names = [f"influence_{i}" for i in range(len(areas))]
    weight = pl.col("weight") if rows.columns.weighted else pl.lit(1.0)
    pos, neg = (
        pl.when(one).then(weight).otherwise(0.0) for one in ("positive", ~pl.col("positive"))
    )
    of_rows = [name for i, one in enumerate(areas) for name in _of_rows(one.measure, i)]
    of_weight = [pl.col(of_rows) * weight] if rows.columns.weighted else []
    found = ranked.with_columns(*of_weight, pos=pos, neg=neg)
    if not rows.stratified:
        return found
    kept = {f"plain_{name}": pl.col(name) for name in names} if plain else {}
    return found.with_columns(**{name: _within_stratum(name, rows) for name in names}, **kept)


def _within_stratum(influence: str, rows: Rows) -> pl.Expr:
    """Return an influence less the mean of its stratum, so that squares add up to the variance.

    Of n rows, or clusters, that is ``n / (n - 1)`` times the sum of squared deviations (Cochran
    1977, 5A.9). The mean of clusters is taken off their rows in equal parts.
    """
    stratum, cluster = ["segment_0", "strata"], ["segment_0", "cluster"]
    units = pl.col("cluster").n_unique() if rows.clustered else pl.len()
    n = units.over(stratum).cast(pl.Float64)
    in_unit = pl.len().over(cluster) if rows.clustered else pl.lit(1.0)
    deviation = pl.col(influence) - pl.col(influence).sum().over(stratum) / (n * in_unit)
    return pl.when(n > 1).then((n / (n - 1)).sqrt() * deviation).otherwise(influence)


def cluster_sums(
    frame: pl.LazyFrame, segments: Sequence[str], sums: Sequence[str], ranking: Ranking
) -> pl.LazyFrame:
    """Return sums over the rows of each cluster and segment, sorted, to the same last digit."""
    values = pl.col(*sums, *_CLASSES)
    clusters = _cluster_range(ranking)
    if clusters is None or len(segments) > 1:
        keys = [*segments, "cluster"]
        return frame.group_by(keys).agg(values).with_columns(values.list.sum()).sort(keys)
    # Grouping by one integer takes Polars two thirds of the time that two columns take.
    segment = pl.col(*segments)
    cell = segment * clusters.size + clusters.number("cluster")
    cells = frame.group_by(cell=cell).agg(values).with_columns(values.list.sum()).sort("cell")
    # A range reads the number of a key from a column of this name.
    ranged = cells.with_columns(segment=pl.col("cell") % clusters.size)
    return ranged.select(
        (pl.col("cell") // clusters.size).alias(*segments),
        clusters.key("cluster"),
        *sums,
        *_CLASSES,
    )


def cluster_totals(
    frame: pl.LazyFrame,
    sums: Sequence[str],
    ranking: Ranking,
    totals: Mapping[str, pl.Expr],
    cells: Callable[[], pl.LazyFrame],
) -> pl.LazyFrame:
    """Return aggregates of the sums of clusters, which ``cells`` returns, for each ``segment``.

    Clusters numbered from a narrow range have a sum for every number: 0 may not change an
    aggregate.
    """
    clusters = _cluster_range(ranking)
    if clusters is not None and has_numpy():
        group = clusters.number("cluster").alias("group")
        rows = frame.select(pl.col("segment").alias("stretch"), group, *sums, *_CLASSES).collect()
        found = group_totals(rows, clusters.size, totals)
        if found is not None:
            return found.lazy().rename({"stretch": "segment"})
    return cells().group_by("segment").agg(**totals)


def _cluster_range(ranking: Ranking) -> KeyRange | None:
    """Return the range of many clusters in memory, if one integer can tell them and segments."""
    rows = ranking.rows
    column = rows.columns.cluster
    if column is None or rows.values is None or not rows.many_in_memory:
        return None
    found = range_of(column.dtype, rows.values["cluster"])
    # Segments may be numbered by their keys, whose range may be wide.
    is_narrow = found is not None and found.size * (ranking.segments.count + 1) < _MOST_CELLS
    return found if is_narrow else None


def effective(amount: pl.Expr) -> pl.Expr:
    return effective_number(in_order(amount), in_order(amount**2))


# --- what weights tell of a variance -----------------------------------------------------------

# The effective number of rows of each class where few of them are heavy, otherwise null.
OF_HEAVY = ("of_heavy_positives", "of_heavy_negatives")
# What the variance of each class is multiplied by, less 1, as few rows tell it: the heavier ones.
MORE_BY_WEIGHTS = ("more_by_positives", "more_by_negatives")
# By simulation: where fewer rows make up the squares, and Kish's number is more than so many times
# theirs, 95 % intervals covered 81 to 86 %. Without the latter, few rows of lognormal weights would
# be among them, whose intervals cover 93 to 95 %.
_FEW_HEAVY, _MANY_TIMES = 10.0, 8.0
_DIGITS = 9  # the last ones of sums over groups differ between calls


def of_heavy(rows: Rows) -> pl.LazyFrame:
    if rows.elsewhere is not None:
        sums: pl.LazyFrame = rows.elsewhere.sums_of_weights(rows)
    elif rows.has_counts:
        weights = rows.used().select(*rows.keys, *rows.carried(squares=True))
        sums = aggregated(weights, rows.keys, **sums_of_weights(pl.col))
    else:
        sums = _of_plain_rows(rows)
    return sums.select(*rows.keys, **of_sums_of_weights())


def of_sums_of_weights() -> dict[str, pl.Expr]:
    powers = [
        [pl.col(one) for one in (weight, squares, f"{weight}_fourths")]
        for weight, squares in zip(SUMS, SQUARES, strict=True)
    ]
    told = {name: told_by_weights(*of) for name, of in zip(OF_HEAVY, powers, strict=True)}
    more = {n: more_by_weights(*of) for n, of in zip(MORE_BY_WEIGHTS, powers, strict=True)}
    return told | more


def _of_plain_rows(rows: Rows) -> pl.LazyFrame:
    """Return these sums, by class first: three sums over rows in place of six."""
    weight = pl.col("weight") if rows.columns.weighted else pl.lit(1.0)
    powers = rows.used().select(
        *rows.keys, positive=rows.is_positive(), weight=weight, squares=weight * weight
    )
    powers = powers.with_columns(fourths=pl.col("squares") * pl.col("squares"))
    told = ("weight", "squares", "fourths")
    by_class = aggregated(powers, [*rows.keys, "positive"], pl.col(told).sum())
    own = {"pos": pl.col("positive"), "neg": ~pl.col("positive")}
    names = {
        name: pl.col(of).filter(own[weight]).sum()
        for weight, squared in zip(SUMS, SQUARES, strict=True)
        for name, of in zip((weight, squared, f"{weight}_fourths"), told, strict=True)
    }
    return aggregated(by_class, rows.keys, **names)


def sums_of_weights(col: Any) -> dict[str, Any]:
    """Return sums of weights, squares and fourth powers; within a row weights count as equal."""
    found: dict[str, Any] = {}
    for weight, squared in zip(SUMS, SQUARES, strict=True):
        own = col(weight).cast(library(col(weight)).Float64)
        of_row = library(own).when(own > 0).then(col(squared) / own).otherwise(0.0)
        found |= {
            weight: own.sum(),
            squared: col(squared).sum(),
            f"{weight}_fourths": (col(squared) * of_row * of_row).sum(),
        }
    return found


def told_by_weights(weight: pl.Expr, squares: pl.Expr, fourths: pl.Expr) -> pl.Expr:
    number, heavy = effective_number(weight, squares), effective_number(squares, fourths)
    few = (heavy < _FEW_HEAVY) & (number > _MANY_TIMES * heavy)
    return pl.when(few).then(_told(heavy))


def more_by_weights(weight: pl.Expr, squares: pl.Expr, fourths: pl.Expr) -> pl.Expr:
    """Return how much more a variance is taken to be than with the effective number of rows.

    Of normal rows that differ by weight ``(sum w^2)^2 / sum w^4`` tell as much of the variance
    (Satterthwaite 1946, doi 10.2307/3002019). The quantile of ``intervals`` for n rows squared is
    on average ``n / (n - 3)`` times that of a normal. By simulation half as many do where weights
    differ more than exponential ones, of which the effective number of rows is three times this.
    """
    number, heavy = effective_number(weight, squares), effective_number(squares, fourths)
    heavy *= (3 * heavy / number).clip(0.5, 1.0)
    more = _spread_of_student(_told(heavy)) / _spread_of_student(_told(number)) - 1
    # Where few are heavy the effective number of rows is theirs.
    has_many = told_by_weights(weight, squares, fourths).is_null()
    return pl.when(has_many).then(more.fill_nan(0.0).clip(lower_bound=0.0)).otherwise(0.0)


def _told(rows: pl.Expr) -> pl.Expr:
    told: pl.Expr = rounded_to_digits(rows.clip(lower_bound=FEWEST_TOLD), _DIGITS)
    return told


def _spread_of_student(rows: pl.Expr) -> pl.Expr:
    return rows / (rows - 3)
