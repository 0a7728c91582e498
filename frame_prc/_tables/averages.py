"""Means of a measure over a key, and models compared over its segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from frame_prc._curves.areas import SIZES, UNDEFINED, sized_areas
from frame_prc._curves.logit_intervals import INTERVAL
from frame_prc._inference.estimates import (
    Estimates,
    measure_of,
    with_few_scores,
    with_few_scores_of_pairs,
)
from frame_prc._inference.intervals import (
    FEW_SEGMENTS,
    SPREAD,
    limits_of_difference,
    limits_of_mean,
    t_test,
    with_deviations,
)
from frame_prc._lazy import aggregated, concat, in_order, key_names, left_join, mean_in_order
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Adjust, Draws, How, Interval, Measured, Top
from frame_prc._request.values import Bins
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import Rows, dropped, of_model, side_by_side
from frame_prc._rows.table import Table, details
from frame_prc._tables.areas import DETAILED_INTERVAL
from frame_prc._tables.compare import adjusted, p_values_of

SEGMENTS = "n_segments"
# A mean of which a larger share has no negatives says so, and one that lacks a larger share of
# the segments with the rows for it: those that are left out are mostly not like the others.
_MOST_OF_ONE_CLASS, _MOST_UNDEFINED = 0.1, 0.05

_ESTIMATE, _N, _N_POS = pl.col("estimate"), pl.col("n"), pl.col("n_pos")


@dataclass(frozen=True)
class Averages(Table):
    """The mean over one key, within segments by the other keys; ``"micro"`` pools their rows."""

    over: str
    how: How
    measured: Measured
    interval: Interval | None = None
    bins: Bins | None = None
    top: Top | None = None

    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        return {"top": self.top is not None}

    @property
    def outputs(self) -> Sequence[str]:
        interval = () if self.interval is None else DETAILED_INTERVAL
        segments = (SEGMENTS, *details(UNDEFINED, *SIZES[:2]))
        counts = SIZES[:2] if self.how == "micro" else segments
        return (*counts, *details("prevalence"), self.measured.name, *interval, "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        check_over(rows.columns, self.over)
        if self.how == "micro":
            return self._named(self._values(without_key(rows, self.over)))
        values = _with_classes(self._values(rows), self.measured)
        means = _mean(values, rows, self.over, self.how, interval=self.interval)
        if self.interval is not None:
            means = limits_of_mean(means, "estimate", self.interval, rows)
            means = with_few_scores(means, rows, self.bins)
        return self._named(means)

    def _values(self, rows: Rows) -> pl.LazyFrame:
        measure = measure_of(self.measured)
        if rows.elsewhere is not None:
            return Estimates.of(rows, measure, self.bins).keyed()
        if self.top is None:
            return measure.of_segments(rows, self.bins)
        ranking = rank(rows, self.bins, at=measure.calibration)
        areas = sized_areas(ranking, measure.calibration, self.top)
        return areas.rename({self.measured.name: "estimate"})

    def _named(self, table: pl.LazyFrame) -> pl.LazyFrame:
        measure, limits = measure_of(self.measured), () if self.interval is None else INTERVAL
        of_values = measure.values("estimate", *limits[1:]) + measure.lengths(*limits[:1])
        return table.with_columns(of_values).rename({"estimate": self.measured.name})

    def keyed(self, rows: Rows) -> Rows:
        return without_key(rows, self.over)


def kept_keys(rows: Rows, over: str) -> dict[str, str]:
    """Return the other keys: their internal names, and their names once ``over`` is gone."""
    names = zip(rows.keys, rows.columns.result_keys, strict=True)
    kept = [key for key, name in names if name != over]
    return dict(zip(kept, key_names(len(kept)), strict=True))


def without_key(rows: Rows, over: str) -> Rows:
    kept = kept_keys(rows, over)
    gone = [key for key in rows.keys if key not in kept]
    dtypes = {name: dtype for name, dtype in rows.columns.key_dtypes.items() if name != over}
    frame = rows.frame.drop(gone).rename(kept)
    columns = replace(rows.columns, key_dtypes=dtypes)
    # The first key of the values may be the one that is gone.
    return replace(rows.without_values(), frame=frame, columns=columns)


def _mean(
    table: pl.LazyFrame, rows: Rows, over: str, how: How, *, interval: Interval | None
) -> pl.LazyFrame:
    kept = kept_keys(rows, over)
    share = {"mean": pl.lit(1.0), "weighted": _N_POS, "rows": _N}[how].cast(pl.Float64)
    shared = with_deviations(table, list(kept), _ESTIMATE, share).with_columns(
        weighted=pl.col("shares") * _ESTIMATE,
        of_one_class=pl.col("shares") * pl.col("of_one_class"),
    )
    sums = aggregated(
        shared,
        list(kept),
        pl.col("n", "n_pos", *dropped(rows.columns.request.missing)).sum(),
        in_order(pl.col(*SPREAD, "weighted", "of_one_class")),
        middle=_ESTIMATE.median(),
        n_segments=_ESTIMATE.count().cast(pl.Int64),
        n_undefined=_ESTIMATE.null_count().cast(pl.Int64),
        n_lacking=(_ESTIMATE.is_null() & pl.col("has_classes")).sum(),
    )
    mean = pl.when(pl.col("shares") > 0).then(pl.col("weighted") / pl.col("shares"))
    means = sums.with_columns(
        mean.alias("estimate"),
        prevalence=pl.when(_N > 0).then(_N_POS / _N),
        status=status_of_mean(1 if interval is None else FEW_SEGMENTS),
    )
    return means.rename(kept).sort(list(kept.values()))


def _with_classes(table: pl.LazyFrame, measured: Measured) -> pl.LazyFrame:
    """Add whether a segment of a ranking has no negatives, and whether it has the rows it needs."""
    is_idle = (pl.col("status") == "no_negatives") & pl.lit(not measure_of(measured).scored)
    has_classes = pl.col("status").is_in(["ok", "undefined"])
    return table.with_columns(of_one_class=is_idle.cast(pl.Float64), has_classes=has_classes)


def status_of_mean(fewest: int) -> pl.Expr:
    of_one_class = pl.col("of_one_class") > _MOST_OF_ONE_CLASS * pl.col("shares")
    lacks = pl.col("n_lacking") > _MOST_UNDEFINED * (pl.col("n_lacking") + pl.col(SEGMENTS))
    few = pl.when(pl.col(SEGMENTS) < fewest).then(pl.lit("few_segments"))
    found = few.when(of_one_class).then(pl.lit("no_negatives"))
    return found.when(lacks).then(pl.lit("undefined")).otherwise(pl.lit("ok"))


# --- models compared over segments that are a sample -------------------------------------------

_MODELS = ("model", "baseline")
_COUNTS = (SEGMENTS, UNDEFINED)
_AREAS = ("value_a", "value_b")
_VALUE_A, _VALUE_B, _DIFFERENCE = (pl.col(name) for name in ("value_a", "value_b", "difference"))


@dataclass(frozen=True)
class PairedDifferences(Table):
    """One row per pair of models, within segments by the keys other than ``over``.

    ``pairs`` are places of ``models``; ``resampling`` is of sign flips, if any are drawn.
    """

    level: float
    models: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    over: str
    resampling: Draws | None
    adjust: Adjust | None
    measured: Measured
    runs_inside = True

    @property
    def outputs(self) -> Sequence[str]:
        measure = () if self.measured.is_usual else ("measure",)
        areas = details(UNDEFINED, *_AREAS)
        test = ("difference", *measure, *DETAILED_INTERVAL, *p_values_of(self.adjust))
        return (*_MODELS, SEGMENTS, *areas, *test, "status")

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        return adjusted(self.adjust)

    def keyed(self, rows: Rows) -> Rows:
        return without_key(side_by_side(rows), self.over)

    def of(self, rows: Rows) -> pl.LazyFrame:
        alone, rows = rows, side_by_side(rows)
        check_over(rows.columns, self.over)
        kept = kept_keys(rows, self.over)
        found = _with_classes(self._values(rows), self.measured)
        areas = rows.once(found.drop(set(rows.keys) - set(kept)).rename(kept))
        keys, measure = [*kept.values()], measure_of(self.measured)
        counted = dropped(rows.columns.request.missing)
        tables = [
            _differences(areas, a, b, keys, counted).with_columns(
                pl.lit(place).alias("pair"),
                model=pl.lit(self.models[a]),
                baseline=pl.lit(self.models[b]),
            )
            for place, (a, b) in enumerate(self.pairs)
        ]
        sums = concat(tables).sort(*keys, "pair").with_columns(status=status_of_mean(FEW_SEGMENTS))
        limited = limits_of_difference(sums, "difference", self.level, rows)
        tested = rows.in_python(limited, self._tested, {"p_value": pl.Float64()}, adds=True)
        tested = with_few_scores_of_pairs(tested, alone)
        values, lengths = measure.values(*_AREAS), measure.lengths("difference", *INTERVAL)
        return tested.with_columns(*values, *lengths, measure=pl.lit(measure.name))

    def _tested(self, table: pl.DataFrame) -> pl.DataFrame:
        if self.resampling is None:
            rows = table.select("difference", "std_error", "degrees").iter_rows()
            found = [t_test(*row) for row in rows]
        else:
            from frame_prc._inference import permutations  # noqa: PLC0415 - needs NumPy

            differences = table["differences"].to_list()
            found = [permutations.p_value_of_signs(one, self.resampling) for one in differences]
        return table.with_columns(pl.Series("p_value", found, dtype=pl.Float64))

    def _values(self, rows: Rows) -> pl.LazyFrame:
        measure = measure_of(self.measured)
        if rows.elsewhere is not None:
            estimates: list[Estimates] = rows.elsewhere.side_by_side(rows, measure)
            tables = [one.keyed() for one in estimates]
        else:
            tables = [
                measure.of_model(name).of_segments(of_model(rows, place))
                for place, name in enumerate(self.models)
            ]
        first, *others = (
            table.rename({"estimate": f"value_{i}"}) for i, table in enumerate(tables)
        )
        for i, other in enumerate(others, 1):
            first = left_join(first, other.select(*rows.keys, f"value_{i}"), rows.keys)
        return first


def _differences(
    areas: pl.LazyFrame, a: int, b: int, keys: Sequence[str], counted: Sequence[str]
) -> pl.LazyFrame:
    both = areas.with_columns(value_a=f"value_{a}", value_b=f"value_{b}").with_columns(
        difference=_VALUE_A - _VALUE_B
    )
    return aggregated(
        with_deviations(both, keys, _DIFFERENCE, pl.lit(1.0)),
        keys,
        in_order(pl.col(*SPREAD, "of_one_class")),
        *(pl.col(name).sum() for name in counted),
        mean_in_order(pl.col(*_AREAS, "difference")),
        differences=_DIFFERENCE.drop_nulls().implode(),
        n_segments=_DIFFERENCE.count().cast(pl.Int64),
        n_undefined=_DIFFERENCE.null_count().cast(pl.Int64),
        n_lacking=(_DIFFERENCE.is_null() & pl.col("has_classes")).sum(),
    )
