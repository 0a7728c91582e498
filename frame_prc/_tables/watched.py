"""Periods in order against those of a reference: the looks of a watch, with one error for all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._inference.estimates import Estimates, unbiased_variance
from frame_prc._inference.intervals import check_method
from frame_prc._inference.measure import Measure
from frame_prc._inference.measures import measure_of
from frame_prc._lazy import in_python, join, left_join
from frame_prc._lazy import over as within
from frame_prc._request.specs import NEITHER_BETTER, Interval, Measured
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc._rows.table import Table
from frame_prc.exceptions import DataError

if TYPE_CHECKING:
    from frame_prc._inference.watch import Series


class Look(NamedTuple):
    """The largest difference of a look, over how many periods it is, and its bound."""

    z: float
    periods: int
    bound: float


# What a later call needs to go on: the logit of a period, its variance, and its bound.
_STATE = ("logit", "variance", "n_effective", "bound")
_NUMBERS = ("value", "reference", "limit", "z", "delay", *_STATE)
_OF_LOOKS = ("reference", "limit", "z", "delay", "n_periods", "conclusion")
_DROP = 0.05  # of the measure, whose delay is told

Row = dict[str, Any]


@dataclass(frozen=True)
class Watched(Table):
    """One row per period and segment.

    ``over`` is the key of the periods, of which each segment's first ``first`` ones are the
    reference, and the next ``looks`` are watched. The ``state`` has the rows of earlier calls.
    """

    measured: Measured
    over: str
    first: int
    looks: int
    error: float
    window: int
    lond: bool
    state: pl.DataFrame | None

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        shown = ("measure", "n", "n_pos", "value", "reference", "limit", "conclusion", "n_periods")
        return (*shown, "z", "delay", *_STATE, "status")

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        return ("measure", "n", "n_periods", "z", "delay", *_STATE)

    @property
    def measure_names(self) -> Sequence[str]:
        """The measure."""
        return (self.measured.name,)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table."""
        check_over(rows.columns, self.over)
        check_method(rows, Interval(0.95))
        over = rows.keys[rows.columns.result_keys.index(self.over)]
        others = [key for key in rows.keys if key != over]
        known = self._estimates(self._in_windows(rows, over, others))
        numbers = {
            name: pl.Float64()
            for name in _NUMBERS
            if name not in ("logit", "variance", "n_effective")
        }
        schema = known.collect_schema()
        added = pl.Schema({**schema, **numbers, "conclusion": pl.String(), "n_periods": pl.Int64()})
        names = dict(zip(rows.columns.result_keys, rows.keys, strict=True))

        def watched(frame: pl.DataFrame) -> pl.DataFrame:
            found = [*self._rows(frame, over, others, names)]
            return pl.DataFrame(found, schema=added, orient="row")

        found = in_python(known, watched, added, in_memory=rows.in_memory)
        return found.sort(rows.keys)

    def _estimates(self, rows: Rows) -> pl.LazyFrame:
        """Return what is known of each period."""
        measure = measure_of(self.measured)
        table = Estimates.of(rows, measure).keyed()
        m, dropped = pl.col("n_effective"), () if rows.n_dropped is None else DROPPED
        # Half a row from the ends, where a logit is infinite.
        end = 0.5 / (m + 1)
        unbiased = pl.col(ESTIMATE) - pl.col("bias").fill_null(0.0)
        inside = pl.max_horizontal(pl.min_horizontal(unbiased, 1 - end), end)
        variance = unbiased_variance(measure) / (inside * (1 - inside)) ** 2
        return table.select(
            *rows.keys, "n", "n_pos", *dropped, "status", "n_effective",
            measure=pl.lit(measure.name),
            value=pl.col(ESTIMATE),
            logit=pl.when(variance.is_not_null()).then((inside / (1 - inside)).log()),
            variance=variance,
        )  # fmt: skip

    def _in_windows(self, rows: Rows, over: str, others: Sequence[str]) -> Rows:
        """Return rows once for each period that they are evaluated in: their own, and later ones.

        What is watched is not evaluated together with the reference.
        """
        if self.window == 1:
            return rows
        periods = rows.used().select(rows.keys).unique().sort(*others, over)
        numbered = periods.with_columns(place=within(pl.int_range(pl.len()), others))
        ends = numbered.select(*others, end=over, end_place="place")
        pairs = (
            join(numbered, ends, on=[*others], how="inner", nulls_equal=True)
            if others
            else join(numbered, ends, how="cross")
        )
        later = pl.col("end_place") - pl.col("place")
        of_one_part = (pl.col("place") >= self.first) == (pl.col("end_place") >= self.first)
        is_in = later.is_between(0, self.window - 1) & of_one_part
        kept = pairs.filter(is_in).select(*rows.keys, "end")
        frame = (
            left_join(rows.frame, kept, rows.keys)
            .with_columns(pl.col("end").alias(over))
            .drop("end")
        )
        return replace(rows.without_values(), frame=frame)

    # --- the watch -------------------------------------------------------------------------------

    def _rows(
        self, frame: pl.DataFrame, over: str, others: Sequence[str], names: dict[str, str]
    ) -> Iterator[Row]:
        """Yield the rows of the table, in the order of the keys."""
        frame = self._with_state(frame, over, names)
        for row in frame.filter(pl.col(over).is_null()).to_dicts():
            yield row | dict.fromkeys(_OF_LOOKS) | {"status": "no_period"}
        ordered = frame.filter(pl.col(over).is_not_null()).sort(*others, over)
        parts = ordered.partition_by(others, maintain_order=True) if others else [ordered]
        watches = [_Watch(part.to_dicts(), self._series(part), self) for part in parts]
        if self.lond:
            _look_by_lond(watches, over, self)
        else:
            for watch in watches:
                watch.look(self.error / len(watches))
        for watch in watches:
            yield from watch.finished(self.error / len(watches))

    def _with_state(self, frame: pl.DataFrame, over: str, names: dict[str, str]) -> pl.DataFrame:
        """Return the periods of earlier calls, and those after them."""
        if self.state is None:
            return frame.with_columns(bound=pl.lit(None, pl.Float64))
        measure = measure_of(self.measured)
        lacking = [
            name
            for name in (*names, *_STATE, "measure", "value", "n", "n_pos", "conclusion", "status")
            if name not in self.state.columns
        ]
        if lacking:
            raise DataError(
                f"state= has no column {lacking[0]!r}",
                "what monitor() returned before, with details=True",
            )
        self._check_state(names)
        share = ((pl.col("value") - measure.lowest) / measure.span).alias("value")
        earlier = self.state.rename(names).with_columns(share)
        kept = earlier.select(
            pl.col(name).cast(dtype)
            for name, dtype in {**frame.schema, "bound": pl.Float64()}.items()
        )
        is_later = (pl.col(over) > kept[over].max()) | pl.col(over).is_null()
        later = frame.filter(is_later) if kept[over].count() else frame
        kept = kept.drop_nulls(over)
        return pl.concat([kept, later.with_columns(bound=pl.lit(None, pl.Float64))])

    def _check_state(self, names: dict[str, str]) -> None:
        """Refuse the periods of another measure or another plan."""
        assert self.state is not None  # noqa: S101 - for the type checker
        others = {*self.state["measure"].unique()} - {self.measured.name}
        if others:
            raise DataError(
                f"state= has the measure {others.pop()!r}, and {self.measured.name!r} is asked for",
                "a state of the same measure",
            )
        keys = [name for name in names if name != self.over]
        counted = {"first": (pl.col("conclusion") == "reference").sum(), "all": pl.len()}
        known = self.state.drop_nulls(self.over)
        sizes = (known.group_by(keys) if keys else known.with_columns(one=1).group_by("one")).agg(
            **counted
        )
        for first, size in sizes.select("first", "all").iter_rows():
            if first != min(self.first, size):
                raise DataError(
                    f"state= has {first} periods of reference, and plan= names {self.first}",
                    "the plan that the state was made with",
                )

    def _series(self, part: pl.DataFrame) -> Series:
        from frame_prc._inference.watch import Series  # noqa: PLC0415 - needs NumPy

        logits, variances, rows = (
            part[name].fill_null(float("nan")).to_numpy()
            for name in ("logit", "variance", "n_effective")
        )
        measure = measure_of(self.measured)
        neither = self.measured.name in NEITHER_BETTER
        worse = -1.0 if measure.higher_is_better and not neither else 1.0
        sides = 2 if neither else 1
        return Series(logits, variances, rows, self.first, self.window, worse, sides)


@dataclass
class _Watch:
    """The periods of a segment, with the results of looks."""

    rows: list[Row]
    series: Series
    asked: Watched

    def __post_init__(self) -> None:
        for row in self.rows:
            row.update(dict.fromkeys(_OF_LOOKS))

    @property
    def measure(self) -> Measure:
        return measure_of(self.asked.measured)

    def look(self, error: float) -> None:
        """Look at each period with bounds of its own."""
        if self.series.has_reference:
            known = [
                row["bound"] for row in self.rows[self.asked.first :] if row["bound"] is not None
            ]
            found = self.series.looks(error, self.asked.looks, known)
            for place, z, periods, bound in found:
                self.set(place, Look(z, periods, bound))

    def set(self, place: int, look: Look) -> None:
        """Write down what a look shows."""
        row, series = self.rows[place], self.series
        limit = series.of_reference + series.worse * look.bound * series.deviation(place)
        size = abs(look.z) if series.sides > 1 else look.z
        row |= {"z": look.z, "bound": look.bound, "n_periods": look.periods}
        row["limit"] = _value(limit, self.measure)
        row["conclusion"] = "alarm" if size > look.bound else "quiet"

    def finished(self, error: float) -> list[Row]:
        """Return the rows, with what all of them have."""
        first, series = self.asked.first, self.series
        for row in self.rows[:first]:
            row["conclusion"] = "reference"
        later = [row for row in self.rows[first:] if row["conclusion"] is None]
        for row in later:
            ended = "no_reference" if not series.has_reference else "plan_ended"
            row["status"] = ended if row["variance"] is not None else row["status"]
        if series.has_reference:
            drop = _drop(series.of_reference, series.worse, self.measure)
            of_all = {
                "reference": _value(series.of_reference, self.measure),
                "delay": series.delay(error, self.asked.looks, drop),
            }
            for row in self.rows:
                row.update(of_all)
        return self.rows


def _look_by_lond(watches: Sequence[_Watch], over: str, asked: Watched) -> None:
    """Look at each period of each segment in turn; each alarm allows for more (Javanmard 2015).

    The expected share of false alarms among all is at most the error.
    """
    every = [
        (watch.rows[place][over], number, place, z)
        for number, watch in enumerate(watches)
        if watch.series.has_reference
        for place, z in watch.series.alone()[: asked.looks]
    ]
    alarms, normal = 0, NormalDist()
    for _, number, place, z in sorted(every, key=lambda one: one[:2]):
        watch = watches[number]
        level = asked.error / (asked.looks * len(watches)) * (alarms + 1)
        known = watch.rows[place]["bound"]
        bound = -normal.inv_cdf(level / watch.series.sides) if known is None else known
        watch.set(place, Look(z, 1, bound))
        alarms += watch.rows[place]["conclusion"] == "alarm"


def _share(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def _value(logit: float, measure: Measure) -> float:
    """Return a value of a measure from its logit."""
    return measure.lowest + measure.span * _share(logit)


def _drop(at: float, worse: float, measure: Measure) -> float:
    """Return by how much a logit changes if the measure becomes worse by so much."""
    share = min(max(_share(at) + worse * _DROP / measure.span, 0.001), 0.999)
    return abs(log(share / (1 - share)) - at)
