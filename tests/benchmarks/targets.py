"""What the project promises of its speed and memory, and how each promise is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import polars as pl
from benchmarks.data import Rows
from benchmarks.measure import Peak, Timing, import_seconds, numpy_sorts_fast
from benchmarks.runs import Run, time_all, weigh_all

Sized = Callable[[Rows], Rows]

# Time and memory per row of 50 times the rows; sorting alone grows by ln(50M) / ln(1M) = 1.28.
LINEAR = 1.2
WHOLE_CURVE = "curve from Parquet"
# By how much a ratio may miss its target on a busy machine before a test fails.
SLACK = 1.5


class Range(NamedTuple):
    """A number found, and the least and the most of it in any round."""

    middle: float
    least: float
    most: float

    def shown(self, unit: str) -> str:
        """Return it in words."""
        middle = f"{self.middle:.3g}{_spaced(unit)}"
        if self.least == self.most:
            return middle
        return f"{middle} ({self.least:.3g} to {self.most:.3g})"


@dataclass(frozen=True)
class Found:
    """All that was measured."""

    times: dict[Run, Timing]
    peaks: dict[Run, Peak]
    imports: Timing


Reading = Callable[[Found], Range | None]


@dataclass(frozen=True)
class Target:
    """A number asked for, and how to read it off what was found.

    Nothing is asked of what stands beside others to compare; nothing is found if a peer cannot run.
    """

    work: str
    asked: float | None
    read: Reading
    at_least: bool = False
    unit: str = "x"

    def verdict(self, found: Found) -> dict[str, str]:
        """Return what was asked, what was found, and whether that is met, in words."""
        number = self.read(found)
        shown = "not measured" if number is None else number.shown(self.unit)
        if self.asked is None:
            return {"work": self.work, "asked": "", "found": shown, "met": ""}
        asked = f"{'>=' if self.at_least else '<='} {self.asked:g}{_spaced(self.unit)}"
        met = number is not None and self._met(number.middle, self.asked)
        return {"work": self.work, "asked": asked, "found": shown, "met": "yes" if met else "no"}

    def _met(self, number: float, asked: float) -> bool:
        return number >= asked if self.at_least else number <= asked

    def regressed(self, found: Found) -> bool:
        """Return whether a number is off by more than a busy machine explains."""
        number = self.read(found)
        if number is None or self.asked is None:
            return self.asked is not None
        allowed = self.asked / SLACK if self.at_least else self.asked * SLACK
        return not self._met(number.middle, allowed)


class Kinds:
    """The rows that targets speak of, in full or in a smaller size."""

    def __init__(self, sized: Sized) -> None:
        millions = Rows(5_000_000, segments=100)
        self.hundred = sized(millions)
        self.float32 = sized(replace(millions, score="Float32"))
        self.string = sized(replace(millions, key="string"))
        self.many = sized(replace(millions, segments=100_000))
        self.uniform = sized(replace(millions, score="uniform"))
        self.ten_thousand = sized(replace(millions, segments=10_000))
        self.uniform_ten_thousand = sized(replace(self.ten_thousand, score="uniform"))
        self.decimals = sized(replace(millions, score="2 decimals"))
        self.thousand = sized(Rows(1_000_000, segments=1_000))
        self.twenty_thousand = sized(Rows(1_000_000, segments=20_000))
        self.small = sized(Rows(1_000, segments=1))
        self.weighed = sized(replace(millions, rows=20_000_000))
        self.few = sized(replace(millions, rows=1_000_000))
        self.most = sized(replace(millions, rows=50_000_000))


def timed_together(kinds: Kinds) -> list[list[Run]]:
    """Return the runs, in groups that are timed in turn."""

    def runs(rows: Rows, *contenders: str) -> list[Run]:
        return [Run(rows, name) for name in contenders]

    peers = ("scikit-learn loop", "scikit-learn loop, curve", "polars_ds", "DuckDB")
    weighted = ("ap weighted", "curve weighted", "scikit-learn loop, weighted")
    inputs = ("ap from pandas", "curve from pandas", "ap from Parquet")
    verbs = ("counts", "operating points", "summary", "four measures", "both areas")
    verbs += ("four measures, no intervals", "ap, interval")
    verbs += ("seven areas", "compare", "cluster")
    bare = (
        "bare ap",
        "bare curve",
        "bare weighted",
        "bare curve weighted",
        "bare operating points",
        "bare summary",
        "bare compare",
        "bare cluster",
    )
    from_pandas = ("bare ap from pandas", "bare curve from pandas")
    areas = ("ap", "bare ap", "sort")
    told_apart = ("ap", "bare ap, told apart", "sort")
    return [
        [
            *runs(kinds.hundred, "ap", "curve", "corners", *weighted, *inputs, *peers),
            *runs(kinds.hundred, *verbs, *bare, *from_pandas, "sort", "NumPy sort"),
            *runs(kinds.uniform, *told_apart),
            *runs(kinds.ten_thousand, *areas),
            *runs(kinds.uniform_ten_thousand, *told_apart),
            *runs(kinds.decimals, "ap", "bare counts first"),
            *runs(kinds.float32, "ap", "sort"),
            *runs(kinds.string, "ap", "bare ap"),
            *runs(kinds.many, "ap", "bare ap"),
        ],
        runs(kinds.thousand, "ap", "bare ap", "groupby.apply", "fairlearn", "ranx", *peers),
        runs(kinds.twenty_thousand, "ap", "groupby.apply", *peers),
        runs(kinds.small, "ap", "bare ap", "ap, no keys", "curve", "scikit-learn once"),
        [Run(rows, name) for rows in (kinds.few, kinds.most) for name in ("ap", "curve", "sort")],
    ]


def weighed(kinds: Kinds) -> list[Run]:
    """Return the runs whose memory is promised."""
    names = ("ap from Parquet", "corners from Parquet", "curve from Parquet")
    sizes = (kinds.few, kinds.weighed, kinds.most)
    bare = Run(kinds.weighed, "bare curve from Parquet")
    return [*(Run(rows, name) for rows in sizes for name in names), bare]


def measure(kinds: Kinds, rounds: int, folder: Path) -> Found:
    """Measure all that targets ask for."""
    times: dict[Run, Timing] = {}
    for group in timed_together(kinds):
        times |= time_all(group, rounds, folder)
    peaks = weigh_all(weighed(kinds), min(rounds, 3), folder)
    return Found(times, peaks, import_seconds(4 * rounds))


def targets(kinds: Kinds) -> list[Target]:
    """Return all targets."""
    most = Target
    least = partial(Target, at_least=True)
    million = partial(Run, kinds.hundred)
    ap, curve = million("ap"), million("curve")
    loop, weighted_loop = million("scikit-learn loop"), million("scikit-learn loop, weighted")
    weighted, weighted_curve = million("ap weighted"), million("curve weighted")

    bare_ap, bare_curve = million("bare ap"), million("bare curve")

    def bare(work: str, run: Run) -> Target:
        return Target(f"... a bare plan: {work}", None, _ratio(run, ap))

    def both_bare(over: Run, under: Run) -> Target:
        return Target("... both as bare plans", None, _ratio(over, under))

    def bare_over_sort(rows: Rows, plan: str = "bare ap") -> Target:
        return Target("... a bare plan over the sort", None, _pair(rows, plan, "sort"))

    return [
        # Where NumPy sorts fast, with AVX-512, the loop is faster itself.
        least("scikit-learn loop over AP", 5 if numpy_sorts_fast() else 6, _ratio(loop, ap)),
        least("polars_ds over AP", 2.2, _ratio(million("polars_ds"), ap)),
        most("AP over a bare sort of the scores", 1.5, _ratio(ap, million("sort"))),
        bare_over_sort(kinds.hundred),
        most("the same, uniform scores", 1.5, _pair(kinds.uniform, "ap", "sort")),
        bare_over_sort(kinds.uniform, "bare ap, told apart"),
        most("the same, 10,000 segments", 1.5, _pair(kinds.ten_thousand, "ap", "sort")),
        bare_over_sort(kinds.ten_thousand),
        most("the same, both", 1.5, _pair(kinds.uniform_ten_thousand, "ap", "sort")),
        bare_over_sort(kinds.uniform_ten_thousand, "bare ap, told apart"),
        most("the same, Float32 scores", 2.2, _pair(kinds.float32, "ap", "sort")),
        least("groupby.apply over AP, 1,000 segments", 40, _apply_over_ap(kinds.thousand)),
        Target(
            "... groupby.apply over a bare plan",
            None,
            _pair(kinds.thousand, "groupby.apply", "bare ap"),
        ),
        least("groupby.apply over AP, 20,000 segments", 400, _apply_over_ap(kinds.twenty_thousand)),
        most("AP, 100,000 segments over 100", 1.3, _ratio(Run(kinds.many, "ap"), ap)),
        both_bare(Run(kinds.many, "bare ap"), bare_ap),
        most("AP, scores of two decimals over all", 0.6, _ratio(Run(kinds.decimals, "ap"), ap)),
        bare("scores of two decimals, counted first", Run(kinds.decimals, "bare counts first")),
        most("AP, string keys over integer keys", 1.5, _ratio(Run(kinds.string, "ap"), ap)),
        both_bare(Run(kinds.string, "bare ap"), bare_ap),
        most("full curve over AP", 2.2, _ratio(curve, ap)),
        both_bare(bare_curve, bare_ap),
        most("corners over AP", 1.4, _ratio(million("corners"), ap)),
        most("weighted AP over AP", 1.6, _ratio(weighted, ap)),
        bare("weighted AP", million("bare weighted")),
        most("weighted curve over curve", 1.4, _ratio(weighted_curve, curve)),
        both_bare(million("bare curve weighted"), bare_curve),
        least("weighted scikit-learn loop over weighted AP", 4, _ratio(weighted_loop, weighted)),
        most("counts over AP", 1.8, _ratio(million("counts"), ap)),
        most("operating points over curve", 1.3, _ratio(million("operating points"), curve)),
        both_bare(million("bare operating points"), bare_curve),
        most("summary over AP", 2.5, _ratio(million("summary"), ap)),
        bare("summary", million("bare summary")),
        most(
            "summary with ROC AUC, Brier, log loss over AP",
            2.5,
            _ratio(million("four measures, no intervals"), ap),
        ),
        Target(
            "... with their intervals, over AP with its own",
            None,
            _ratio(million("four measures"), million("ap, interval")),
        ),
        most("AP and ROC AUC on one evaluation over AP", 1.3, _ratio(million("both areas"), ap)),
        most("seven areas over AP", 2.5, _ratio(million("seven areas"), ap)),
        most("comparison of two models over AP", 5, _ratio(million("compare"), ap)),
        bare("comparison", million("bare compare")),
        most("AP with clusters over AP", 4, _ratio(million("cluster"), ap)),
        bare("clusters", million("bare cluster")),
        most(
            "AP of 1,000 rows with a key, one call", 2, _call_of(Run(kinds.small, "ap")), unit="ms"
        ),
        Target("... a bare plan", None, _call_of(Run(kinds.small, "bare ap")), unit="ms"),
        most("import over Polars, the best", 30, _import, unit="ms"),
        most("peak memory over the columns read, AP", 4, _peak(kinds.weighed, "ap from Parquet")),
        most("peak, corners", 4, _peak(kinds.weighed, "corners from Parquet")),
        most("peak, full curve with the curve itself", 4.5, _peak(kinds.weighed, WHOLE_CURVE)),
        Target("... a bare plan", None, _peak(kinds.weighed, "bare curve from Parquet")),
        most("peak, full curve without it", 4, _peak(kinds.weighed, WHOLE_CURVE, result=False)),
        most("time per row, 50 over 1 million rows, AP", LINEAR, _time_growth(kinds, "ap")),
        most("time per row, full curve", LINEAR, _time_growth(kinds, "curve")),
        most("time per row, bare sort, to compare", None, _time_growth(kinds, "sort")),
        most(
            "memory per row, 50 over 1 million rows, AP",
            LINEAR,
            _memory_growth(kinds, "ap from Parquet"),
        ),
        most("memory per row, full curve", LINEAR, _memory_growth(kinds, WHOLE_CURVE)),
        most("AP, pandas over Polars input", 1.3, _ratio(million("ap from pandas"), ap)),
        both_bare(million("bare ap from pandas"), bare_ap),
        most(
            "full curve, pandas over Polars input", 1.5, _ratio(million("curve from pandas"), curve)
        ),
        both_bare(million("bare curve from pandas"), bare_curve),
    ]


def verdicts(kinds: Kinds, found: Found) -> pl.DataFrame:
    """Return each target: what was asked, what was found, and whether that is met."""
    return pl.DataFrame([target.verdict(found) for target in targets(kinds)])


# --- what is read off ----------------------------------------------------------------------


def _ratio(over: Run, under: Run) -> Reading:
    def read(found: Found) -> Range | None:
        a, b = found.times[over].seconds, found.times[under].seconds
        if not (a and b):
            return None
        rounds = [x / y for x, y in zip(a, b, strict=True)]
        return Range(median(a) / median(b), min(rounds), max(rounds))

    return read


def _pair(rows: Rows, over: str, under: str) -> Reading:
    return _ratio(Run(rows, over), Run(rows, under))


def _apply_over_ap(rows: Rows) -> Reading:
    return _pair(rows, "groupby.apply", "ap")


def _call_of(run: Run) -> Reading:
    def read(found: Found) -> Range:
        milliseconds = [1000 * seconds for seconds in found.times[run].seconds]
        return Range(median(milliseconds), min(milliseconds), max(milliseconds))

    return read


def _import(found: Found) -> Range:
    milliseconds = [1000 * seconds for seconds in found.imports.seconds]
    return Range(min(milliseconds), min(milliseconds), max(milliseconds))


def _peak(rows: Rows, contender: str, *, result: bool = True) -> Reading:
    def read(found: Found) -> Range:
        peak = found.peaks[Run(rows, contender)]
        return _exactly((peak.bytes - (0 if result else peak.result)) / peak.columns)

    return read


def _time_growth(kinds: Kinds, contender: str) -> Reading:
    ratio = _ratio(Run(kinds.most, contender), Run(kinds.few, contender))
    more_rows = kinds.most.rows / kinds.few.rows

    def read(found: Found) -> Range | None:
        times = ratio(found)
        return times and Range(*(number / more_rows for number in times))

    return read


def _memory_growth(kinds: Kinds, contender: str) -> Reading:
    def read(found: Found) -> Range:
        few, most = (found.peaks[Run(rows, contender)] for rows in (kinds.few, kinds.most))
        return _exactly(most.bytes / most.columns / (few.bytes / few.columns))

    return read


def _exactly(number: float) -> Range:
    return Range(number, number, number)


def _spaced(unit: str) -> str:
    return unit if unit == "x" else f" {unit}"
