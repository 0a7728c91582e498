"""Periods in order against those of a reference: the looks of a watch, with one error for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from math import exp, log
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.given_thresholds import RESULTS
from frame_prc._curves.logit_intervals import status_where
from frame_prc._inference.distributions import student_quantile
from frame_prc._inference.estimates import Estimates, measure_of, unbiased_variance, with_few_scores
from frame_prc._inference.intervals import check_method, unbiased
from frame_prc._inference.measure import Measure
from frame_prc._lazy import aggregated, join, left_join, parts_by
from frame_prc._lazy import over as within
from frame_prc._request.roles import THRESHOLD
from frame_prc._request.specs import NEITHER_BETTER, Interval, Measured, Target
from frame_prc._rows.checks import check, order_checks
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc._rows.rules import counted
from frame_prc._rows.table import Table, details, measure_and_sizes
from frame_prc.exceptions import DataError

if TYPE_CHECKING:
    from frame_prc._inference.random_effects import Series


# What a later call needs: the logit of a period and its variance, how much periods vary, the bound
# of a look, and the segment's error.
_SPREAD = ("dispersion", "degrees")
_OF_EARLIER = (*_SPREAD, "bound", "error")
_STATE = ("logit", "variance", "n_effective", *_OF_EARLIER)
_NUMBERS = ("reference", "limit", "z", "delay")
_OF_LOOKS = (*_NUMBERS, "n_periods", "conclusion", "since")
_A_STATE = "what monitor() returned before, with details=True, and all of it"
_NEW = {name: pl.lit(None, pl.Float64) for name in _OF_EARLIER}
_DROP = 0.05  # of the measure, whose delay is told
_NEXT_TO_END = 1e-9  # as a share of the range, for means of losses
_LAST_PART = 0.1  # of a measure of the reference
_MOST_TAIL = 0.99

Row = dict[str, Any]


@dataclass(frozen=True)
class Watched(Table):
    """One row per period and segment; ``over`` is the key of the periods.

    The first ``first`` of each segment are its reference, the next ``looks`` are watched; ``state``
    has the rows of earlier calls.
    """

    measured: Measured
    over: str
    first: int
    looks: int
    error: float
    window: int
    lond: bool
    delays: bool
    state: pl.DataFrame | None

    @property
    def outputs(self) -> Sequence[str]:
        # A table of one key has eight columns.
        is_usual = self.measured.name == AVERAGE_PRECISION
        sizes = measure_and_sizes(is_usual=is_usual)
        shown = (*sizes, "value", "reference", "limit", "conclusion")
        return (*shown, "since", *details("n_periods", "z", "delay", *_STATE, "plan"), "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        check_over(rows.columns, self.over)
        check_method(rows, Interval(0.95))
        over = rows.keys[rows.columns.result_keys.index(self.over)]
        others = [key for key in rows.keys if key != over]
        names = dict(zip(rows.columns.result_keys, rows.keys, strict=True))
        known = self._estimates(self._in_windows(rows, over, others, names))
        numbers = dict.fromkeys((*_NUMBERS, *_NEW), pl.Float64())
        texts = dict.fromkeys(("conclusion", "plan"), pl.String())
        of_rows = known.collect_schema()
        of_looks = {"since": of_rows[over], "n_periods": pl.Int64()}
        schema = pl.Schema({**of_rows, **numbers, **texts, **of_looks})

        def watched(frame: pl.DataFrame) -> pl.DataFrame:
            found = [*self._rows(frame, over, others, names)]
            return pl.DataFrame(found, schema=schema, orient="row")

        found = rows.in_python(known, watched, schema)
        return found.sort(rows.keys).with_columns(measure_of(self.measured).values("value"))

    def _estimates(self, rows: Rows) -> pl.LazyFrame:
        measure = measure_of(self.measured)
        # Models with few scores first: that a period is too small for an alarm is no reason then.
        table = with_few_scores(Estimates.of(rows, measure).keyed(), rows)
        m, dropped = pl.col("n_effective"), () if rows.n_dropped is None else DROPPED
        # Half a row from the ends, where a logit is infinite.
        end = 0.5 / (m + 1) if measure.of_hits else pl.lit(_NEXT_TO_END)
        inside = pl.max_horizontal(pl.min_horizontal(unbiased(), 1 - end), end)
        variance = unbiased_variance(measure) / (inside * (1 - inside)) ** 2
        left_out = pl.col("heavy_negatives") & (pl.col("status") == "ok")
        return table.select(
            *rows.keys, "n", "n_pos", *dropped, "n_effective",
            status=status_where(left_out, "few_negatives"),
            measure=pl.lit(measure.name),
            value=pl.col("estimate"),
            logit=pl.when(~left_out & (m > 0)).then((inside / (1 - inside)).log()),
            variance=variance,
        )  # fmt: skip

    def _in_windows(
        self, rows: Rows, over: str, others: Sequence[str], names: dict[str, str]
    ) -> Rows:
        """Return rows once for each period that they are evaluated in, their own and later."""
        if self.window == 1:
            return rows
        periods = self._periods(rows, names).sort(*others, over)
        numbered = periods.with_columns(place=within(pl.int_range(pl.len()), others))
        ends = numbered.select(*others, end=over, end_place="place", end_known="known")
        pairs = left_join(numbered, ends, others)
        later = pl.col("end_place") - pl.col("place")
        of_one_part = (pl.col("place") >= self.first) == (pl.col("end_place") >= self.first)
        found = pairs.filter(later.is_between(0, self.window - 1) & of_one_part)
        checked = rows.in_python(found, partial(self._complete, over), {}, adds=True)
        kept = checked.filter("present").select(*rows.keys, "end")
        frame = (
            left_join(rows.frame, kept, rows.keys)
            .with_columns(pl.col("end").alias(over))
            .drop("end")
        )
        return replace(rows.without_values(), frame=frame)

    def _periods(self, rows: Rows, names: dict[str, str]) -> pl.LazyFrame:
        present = rows.used().select(rows.keys).unique().with_columns(present=pl.lit(value=True))
        if self.state is None or not {*names} <= {*self.state.columns}:
            return present.with_columns(known=pl.lit(value=False))
        dtypes = present.collect_schema()
        columns = [pl.col(name).cast(dtypes[key]).alias(key) for name, key in names.items()]
        known = self.state.lazy().select(columns).with_columns(known=pl.lit(value=True))
        every = join(present, known, on=rows.keys, how="full", coalesce=True, nulls_equal=True)
        return every.with_columns(pl.col("present", "known").fill_null(value=False))

    def _complete(self, over: str, pairs: pl.DataFrame) -> pl.DataFrame:
        lacking = pairs.filter(~pl.col("present") & ~pl.col("end_known"))
        if lacking.height:
            raise DataError(
                f"window={self.window} needs the rows of period {lacking[over][0]}, which state= "
                "has and the frame has not",
                hint="give the rows of the last "
                f"{counted(self.window - 1, 'period')} of the state with the new ones",
            )
        return pairs

    # --- the watch -------------------------------------------------------------------------------

    def _rows(
        self, frame: pl.DataFrame, over: str, others: Sequence[str], names: dict[str, str]
    ) -> Iterator[Row]:
        frame = self._with_state(frame, over, names)
        dtype = frame.schema[over]
        check(frame.lazy(), order_checks("monitor()", self.over, pl.col(over), dtype))
        lacks = pl.col(over).is_null()
        if frame.schema[over].is_float():
            lacks |= pl.col(over).is_nan()
        for row in frame.filter(lacks).to_dicts():
            nothing = dict.fromkeys((*_OF_LOOKS, *_NEW))
            yield row | nothing | {"status": "no_period", "plan": self.plan}
        ordered = frame.filter(~lacks).sort(*others, over)
        parts = parts_by(ordered, others)
        watches = [_Watch(part.to_dicts(), over, self._series(part), self) for part in parts]
        for watch in watches:
            watch.share(self.error / len(watches))
        _lend([watch for watch in watches if watch.series.has_reference])
        if self.lond:
            _look_by_lond(watches, over, self)
        else:
            for watch in watches:
                watch.look()
        for watch in watches:
            yield from watch.finished()

    @property
    def plan(self) -> str:
        """What a later call must ask for too."""
        said = [f"{self.first} periods, {self.looks} looks", f"error {self.error:g}"]
        measured = self.measured
        said += [] if measured.at is None else [f"at {_told(measured.at)}"]
        held = None if measured.calibration is None else measured.calibration.prevalence
        said += [] if held is None else [f"prevalence {held:g}"]
        said += [f"window {self.window}"] if self.window > 1 else []
        return ", ".join(said + (["lond"] if self.lond else []))

    def _with_state(self, frame: pl.DataFrame, over: str, names: dict[str, str]) -> pl.DataFrame:
        if self.state is None:
            return frame.with_columns(**_NEW)
        measure = measure_of(self.measured)
        self._check_state(self.state, names)
        share = ((pl.col("value") - measure.lowest) / measure.span).alias("value")
        schema = {**frame.schema, **dict.fromkeys(_NEW, pl.Float64())}
        earlier = self.state.rename(names).with_columns(share)
        try:
            kept = earlier.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"state= cannot be read: {str(error).splitlines()[0]}", _A_STATE
            ) from error
        kept = kept.drop_nulls(over)
        if not kept.height:
            return frame.with_columns(**_NEW)
        others = [name for name in names.values() if name != over]
        last = aggregated(kept.lazy(), others, last=pl.col(over).max())
        is_later = pl.any_horizontal(
            pl.col("last").is_null(), pl.col(over).is_null(), pl.col(over) > pl.col("last")
        )
        later = left_join(frame.lazy(), last, others).filter(is_later).drop("last")
        return pl.concat([kept, later.with_columns(**_NEW).collect(engine="in-memory")])

    def _check_state(self, state: pl.DataFrame, names: dict[str, str]) -> None:
        needed = (*names, *_STATE, "measure", "plan", "value", "n", "n_pos", "conclusion", "status")
        for name in needed:
            if name not in state.columns:
                raise DataError(f"state= has no column {name!r}", _A_STATE)
        for name, asked in (("measure", self.measured.name), ("plan", self.plan)):
            others = [one for one in state[name].unique() if one != asked]
            if others:
                raise DataError(
                    f"state= has the {name} {others[0]!r}, and {asked!r} is asked for",
                    f"the {name} that it was made with",
                )
        if state.select(*names).is_duplicated().any():
            raise DataError("state= has a period twice", _A_STATE)
        keys = [name for name in names if name != self.over]
        known = state.drop_nulls(self.over)
        first = (pl.col("conclusion") == "reference").sum()
        for part in parts_by(known, keys):
            found = part.select(first).item()
            if found != min(self.first, part.height):
                raise DataError(
                    f"state= has {found} periods of reference where plan= has {self.first}",
                    _A_STATE,
                )

    def _series(self, part: pl.DataFrame) -> Series:
        from frame_prc._inference.random_effects import Series  # noqa: PLC0415 - needs NumPy

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
    rows: list[Row]
    over: str
    series: Series
    asked: Watched

    def __post_init__(self) -> None:
        for row in self.rows:
            row.update(dict.fromkeys(_OF_LOOKS))
            row["plan"] = self.asked.plan

    def share(self, error: float) -> None:
        """Set the error of this segment, unless an earlier call has."""
        known = [row["error"] for row in self.rows if row["error"] is not None]
        for row in self.rows:
            row["error"] = known[0] if known else error

    @property
    def error(self) -> float:
        return float(self.rows[0]["error"])

    @property
    def measure(self) -> Measure:
        return measure_of(self.asked.measured)

    def look(self) -> None:
        if self.series.has_reference:
            known = [
                row["bound"] for row in self.rows[self.asked.first :] if row["bound"] is not None
            ]
            for look in self.series.looks(self.error, self.asked.looks, known):
                self.set(*look)

    def set(self, place: int, z: float, periods: int, bound: float) -> None:
        row, series = self.rows[place], self.series
        limit = series.of_reference + series.worse * bound * series.deviation(place)
        size = abs(z) if series.sides > 1 else z
        row |= {"z": z, "bound": bound, "n_periods": periods}
        row["limit"] = self._shown(limit, self._bias(row))
        if size > bound:
            row |= {"conclusion": "alarm", "since": self.rows[series.since(place)][self.over]}
        elif self._is_out_of_reach(limit, row):
            status = self.measure.few if row["status"] == "ok" else row["status"]
            row |= {"conclusion": "undecided", "status": status}
        else:
            row["conclusion"] = "quiet"

    def _bias(self, row: Row) -> float:
        """Return by how much the value of a period is above the one that is compared."""
        return 0.0 if row["logit"] is None else float(row["value"]) - _share(row["logit"])

    def _shown(self, logit: float, bias: float) -> float:
        """Return a logit as a value that stands beside those of periods, which have a bias."""
        share = min(max(_share(logit) + bias, 0.0), 1.0)
        return self.measure.lowest + self.measure.span * share

    def _is_out_of_reach(self, limit: float, row: Row) -> bool:
        """Return whether a period alone can hardly be an alarm: all but its last part must go."""
        reference, worse, chance = self.series.of_reference, self.series.worse, self._chance
        if self.asked.measured.name == AVERAGE_PRECISION:
            chance = row["n_pos"] / row["n"]
        return _share(-worse * limit) - chance < _LAST_PART * (_share(-worse * reference) - chance)

    @cached_property
    def _chance(self) -> float:
        """What a random order has, if that is the same in all periods."""
        calibration = self.asked.measured.calibration
        if calibration is not None:
            return calibration.prevalence or 0.0
        chance = self.measure.chance
        known = None if chance.meta.root_names() else pl.select(chance).item()
        return 0.0 if known is None else float(known)

    def _say_why(self, not_judged: list[Row]) -> None:
        has_reference, ended = self.series.has_reference, False
        for row in not_judged:
            if row["logit"] is not None:
                row["status"] = "plan_ended" if has_reference else "no_reference"
                ended = has_reference
            elif row["status"] == "few_negatives":
                row.update({"status": "plan_ended"} if ended else {"conclusion": "undecided"})

    def finished(self) -> list[Row]:
        first, series = self.asked.first, self.series
        for row in self.rows[:first]:
            row["conclusion"] = "reference"
        self._say_why([row for row in self.rows[first:] if row["conclusion"] is None])
        if series.has_reference:
            biases = pl.Series([self._bias(row) for row in self.rows], dtype=pl.Float64).to_numpy()
            reference = self._shown(series.of_reference, series.mean_of_reference(biases))
            delay = self._delay()
            for row in self.rows:
                row |= {"reference": reference, "delay": delay}
        return self.rows

    def _delay(self) -> float | None:
        if self.asked.lond or not self.asked.delays:
            return None
        drop = _drop(self.series.of_reference, self.series.worse, self.measure)
        return self.series.delay(self.error, self.asked.looks, drop)


def _lend(watches: Sequence[_Watch]) -> None:
    """Let segments tell together how much periods vary; what a look was taken with is kept."""
    from frame_prc._inference.random_effects import Spread, spreads  # noqa: PLC0415 - needs NumPy

    found = spreads([watch.series for watch in watches]) if watches else []
    for watch, spread in zip(watches, found, strict=True):
        later = watch.rows[watch.asked.first :]
        known = [row for row in later if row["dispersion"] is not None][:1]
        kept = Spread(*(known[0][name] for name in _SPREAD)) if known else spread
        watch.series = replace(watch.series, spread=kept)
        for row in later:
            row |= dict(zip(_SPREAD, kept, strict=True))


def _look_by_lond(watches: Sequence[_Watch], over: str, asked: Watched) -> None:
    """Look at each period of each segment in turn; each alarm allows for more (Javanmard 2015)."""
    every = [
        (watch.rows[place][over], number, place, z)
        for number, watch in enumerate(watches)
        if watch.series.has_reference
        for place, z in watch.series.alone()[: asked.looks]
    ]
    alarms = 0
    for _, number, place, z in sorted(every, key=lambda one: one[:2]):
        watch = watches[number]
        level = asked.error / (asked.looks * len(watches)) * (alarms + 1)
        known = watch.rows[place]["bound"]
        if known is None:
            tail = min(2 / watch.series.sides * level, _MOST_TAIL)
            known = student_quantile(1 - tail, watch.series.degrees)
        watch.set(place, z, 1, known)
        alarms += watch.rows[place]["conclusion"] == "alarm"


def _told(at: Target) -> str:
    if at.table is None:
        return at.text
    shown = at.table.select(pl.exclude(RESULTS - {THRESHOLD}).cast(pl.String)).collect()
    rows = shown.select(sorted(shown.columns)).sort(pl.all())
    return f"{at.text} {sha256(rows.write_csv().encode()).hexdigest()[:8]}"


def _share(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def _drop(at: float, worse: float, measure: Measure) -> float:
    now = _share(at)
    least, most = min(0.001, now / 2), max(0.999, (1 + now) / 2)
    share = min(max(now + worse * _DROP / measure.span, least), most)
    return abs(log(share / (1 - share)) - at)
