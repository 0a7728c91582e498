"""Points inside an engine: running sums over counts, and a dialect of measures.

A point is a score of a segment, with its counts and running sums. On Spark, where one task would
have to sort a large segment, there is a window for each of its ranges (see ``spark_ranges``).

In DuckDB rows stream past in ranking order: a window without ``PARTITION BY`` and ``ORDER BY``
takes rows as they come, holds none, and takes a fraction of the time. Its sums run through all
segments, and what a segment began with is taken off. Whole numbers are exact. Of weights, what each
addition rounds off (Knuth's two-sum) is added up too, the ``rest``: the two have 32 digits. Bins
and scores that are not floats are counted first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._engines import spark_ranges
from frame_prc._engines.engine import Frame, WindowSum, check_request, project
from frame_prc._engines.rows import Counted, Ranges, amount_names
from frame_prc._formulas import exact_parts, rounding_of
from frame_prc._inference.measure import OPENS, Dialect
from frame_prc._ranking.running_sums import TERMS_OF_COUNTS
from frame_prc._request.values import threshold_dtype
from frame_prc._rows.rules import SQUARES

# --- running sums ------------------------------------------------------------------------------

_SO_FAR = "OVER (ROWS UNBOUNDED PRECEDING)"
_FINE = 2.0**88
_TOTALS = ("positives", "negatives", "positives_squares", "negatives_squares")


def of_rows(counted: Counted) -> bool:
    """Return whether rows stream past as they are, not their counts."""
    is_single = not counted.columns.aggregated and counted.unchecked is not None
    return counted.engine.streams and is_single and counted.score_dtype.is_float()


def in_order(counted: Counted, rows: Frame, *, hits: bool, score: str = "score") -> Frame:
    """Sort rows, and add which of them end a ``point``.

    With ``hits``, a score of one negative belongs to the next point, but at a segment's ends.
    """
    keys = counted.segment
    order = [*(f"{key} NULLS FIRST" for key in keys), f"{score} DESC NULLS LAST"]
    ordered = _sorted(rows, ", ".join(order))
    kept, flags = "ends", [f"{_differs('lead', [*keys, score])} AS ends"]
    if hits:
        kept = "ends AND (pos > 0 OR at_end OR NOT starts)"
        at_end = [_differs(side, keys) for side in ("lag", "lead")]
        flags += [
            f"{_differs('lag', [*keys, score])} AS starts",
            f"({' OR '.join(at_end)} OR lead({score}) OVER () IS NULL) AS at_end",
        ]
    points = ["*", f"{kept} AS is_point", *(["CAST(ends AS BIGINT) AS own_scores"] if hits else [])]
    return project(project(ordered, "*", *flags), *points)


def with_point(ordered: Frame, name: str) -> Frame:
    """Add the number of the point that each row belongs to, in their order, from 0."""
    numbered = project(ordered, "*", f"count(*) FILTER (WHERE is_point) {_SO_FAR} AS ended")
    one = nw.when(nw.col("is_point")).then(1).otherwise(0)
    return numbered.with_columns((nw.col("ended") - one).alias(name))


def points_in_order(counted: Counted, *, hits: bool, places: bool) -> Frame:
    """Return a row per point with its running sums, with ``own_scores`` if of ``hits`` only."""
    keys = counted.segment
    ordered = in_order(counted, counted.rows if of_rows(counted) else counted.frame, hits=hits)
    amounts = amount_names(squares=counted.squares)
    numbers = ["dropped"] if counted.columns.request.missing == "drop" else []
    if hits:
        numbers.append("own_scores")
    rounding = amounts if counted.columns.weighted else ()
    sums = _Sums([*amounts, *numbers], rounding, zero_or_one=of_rows(counted))
    points = project(
        sums.added(ordered).filter(nw.col("is_point")),
        *counted.keys,
        "score",
        *sums.with_before(),
        f"{_differs('lag', keys)} AS opens",
        f"{_differs('lead', keys)} AS closes",
        "row_number() OVER () - 1 AS point",
    )
    opened = project(points, "*", *sums.openings(amounts))
    shown = [f"{sums.since(name, 'before')} AS {name}" for name in sums.names]
    running = dict(zip(amounts, ("tp", "fp", "tp_squares", "fp_squares"), strict=False))
    shown += [f"{sums.since(of, 'opening')} AS {name}" for of, name in running.items()]
    if "dropped" not in numbers:
        shown.append("CAST(0 AS BIGINT) AS dropped")
    if places:
        hit = f"CASE WHEN score IS NOT NULL THEN {sums.since('pos', 'before')} > 0 END"
        shown += [
            f"CASE WHEN NOT closes THEN lead({hit}) OVER () END AS next_hits",
            f"point + 1 - max(CASE WHEN opens THEN point END) {_SO_FAR} AS place",
            "opens AS first",
        ]
    at_ends = ("opens AS starts", "closes")
    summed = project(opened, *counted.keys, "score", "point", *at_ends, *shown)
    totals = zip(_TOTALS, running.values(), strict=False)
    shown = [f"{_of_first('closes', of)} AS {name}" for name, of in totals]
    # From the lowest score of a segment up, so that all points stream past its totals.
    return project(_sorted(summed, "point DESC"), "*", *shown)


def _of_first(first: str, value: str) -> str:
    """Return a value of the first row of a segment; its rows stream past together."""
    return f"last_value(CASE WHEN {first} THEN {value} END IGNORE NULLS) {_SO_FAR}"


def _sorted(points: Frame, order: str) -> Frame:
    ordered: Frame = nw.from_native(points.to_native().order(order))
    return ordered


def _summed_from_below(points: Frame, exact: Mapping[str, str], onward: Sequence[str]) -> Frame:
    """Add sums of columns from 0 to 1, which stream past from below; then turn points round."""
    # As integers they are exact to 2**-88. Without "closes" another measure takes windows.
    sums = {**exact, **{name: name for name in onward}}
    terms = {
        n: f'CAST(if(isfinite("{of}"), "{of}", 0) * {_FINE} AS HUGEINT)' for n, of in sums.items()
    }
    added = project(points, "*", *(f"sum({of}) {_SO_FAR} AS sum_{n}" for n, of in terms.items()))
    since = {n: f"sum_{n} - {_of_first('closes', f'sum_{n} - {of}')}" for n, of in terms.items()}
    shown = (f"CAST({of} AS DOUBLE) / {_FINE} AS {name}" for name, of in since.items())
    replaced = ", ".join([*onward, *(f"sum_{name}" for name in sums)])
    above = _sorted(project(added, f"* EXCLUDE ({replaced})", *shown), "point")
    totals = (f"least({_of_first('starts', name)}, 1.0) AS {name}" for name in exact)
    return project(above, f"* EXCLUDE ({', '.join(['closes', *exact])})", *totals)


@dataclass(frozen=True)
class _Sums:
    """Running sums through all segments, with a ``rest`` of those that round."""

    names: Sequence[str]
    rounding: Collection[str]
    zero_or_one: bool

    def added(self, frame: Frame) -> Frame:
        sums = [f"sum({name}) {_SO_FAR} AS sum_{name}" for name in self.rounding]
        whole = [name for name in self.names if name not in self.rounding]
        # What is 0 or 1 is counted in an eighth of the time that it takes to add it up.
        of_ones = f"count(*) FILTER (WHERE {{0}} > 0) {_SO_FAR} AS sum_{{0}}"
        added = (
            of_ones if self.zero_or_one else f"CAST(sum({{0}}) {_SO_FAR} AS BIGINT) AS sum_{{0}}"
        )
        counts = map(added.format, whole)
        summed = project(frame, "*", *sums, *counts)
        if not self.rounding:
            return summed
        before = (f"lag(sum_{name}, 1, 0) OVER () AS before_{name}" for name in self.rounding)
        off = {name: _rounded_off(f"before_{name}", name, f"sum_{name}") for name in self.rounding}
        rests = (f"sum({one}) {_SO_FAR} AS rest_{name}" for name, one in off.items())
        return project(project(summed, "*", *before), "*", *rests)

    def _parts(self, names: Sequence[str]) -> list[str]:
        rests = [f"rest_{name}" for name in names if name in self.rounding]
        return [*(f"sum_{name}" for name in names), *rests]

    def with_before(self) -> list[str]:
        parts = self._parts(self.names)
        return [*parts, *(f"lag({part}, 1, 0) OVER () AS {part}_before" for part in parts)]

    def openings(self, names: Sequence[str]) -> list[str]:
        """Return what the counts were before the last point so far that opens a segment."""
        parts = self._parts(names)
        return [f"{_of_first('opens', f'{one}_before')} AS {one}_opening" for one in parts]

    def since(self, name: str, earlier: str) -> str:
        now, then = f"sum_{name}", f"sum_{name}_{earlier}"
        if name not in self.rounding:
            return f"{now} - {then}"
        rounded, rest = f"({now} - {then})", f"(rest_{name} - rest_{name}_{earlier})"
        return f"{rounded} + ({_rounded_off(now, f'(-{then})', rounded)} + {rest})"


def _rounded_off(a: str, b: str, rounded: str) -> str:
    """Return what the rounded sum of two floats lacks (Knuth's two-sum)."""
    return f"({a} - ({rounded} - ({rounded} - {a})) + ({b} - ({rounded} - {a})))"


def _differs(side: str, names: Sequence[str]) -> str:
    """Return whether there is no row beside a row, or one that differs in some column."""
    beside = [f"{side}({name}) OVER () IS DISTINCT FROM {name}" for name in names]
    return f"({' OR '.join([f'{side}(1) OVER () IS NULL', *beside])})"


RETRIEVED = ~nw.col("score").is_null()


def within_range(counted: Counted) -> list[str]:
    """Return what a window is partitioned by: a range first, which differs most often."""
    return ["range", *counted.keys] if counted.ranges else counted.keys


def running_sums(counted: Counted, *, monotone: bool, places: bool, hits: bool = False) -> Frame:
    """Add ``tp``, ``fp``, ``positives`` and ``negatives`` to the counts.

    ``monotone`` corrects sums of weights that fall, or rise where nothing is added, in the last
    digit: DuckDB adds up each row's floats in another order. ``places`` adds ``first``,
    ``next_hits`` (whether the next score below has positives) and ``place``, which ascends while
    scores descend. What streams has ``point``, and of ``hits`` fewer of them, with ``own_scores``.
    """
    if counted.ranges is not None:
        return _running_in_ranges(counted, counted.ranges, places=places)
    if counted.each_row:
        return _over_rows(counted.single, counted)
    if counted.engine.streams:
        return points_in_order(counted, hits=hits, places=places)
    sums = _summed(counted.frame, counted, places=places)
    tp, fp = _where_it_grows("tp", "pos"), _where_it_grows("fp", "neg")
    rising = [tp, fp] if monotone and counted.columns.weighted else []
    highest = [one.cum_max(reverse=True).over(*counted.keys, order_by="score") for one in rising]
    # The largest running sum, not another sum: floats would differ in the last digit.
    return sums.with_columns(
        **dict(zip(("tp", "fp"), highest, strict=False)),
        positives=tp.max().over(*counted.keys),
        negatives=fp.max().over(*counted.keys),
        **({"first": nw.col("place") == 1} if places else {}),
    )


def _where_it_grows(running_sum: str, amount: str) -> nw.Expr:
    """Return a running sum in rows that add to it, else 0."""
    return nw.when(nw.col(amount) > 0).then(nw.col(running_sum)).otherwise(0)


def _summed(frame: Frame, counted: Counted, *, places: bool) -> Frame:
    """Add running sums from the highest score down; a null score comes last."""
    within = within_range(counted)

    def sum_down(name: str, dtype: Any) -> nw.Expr:
        return nw.col(name).cum_sum(reverse=True).over(*within, order_by="score").cast(dtype)

    sums = {"tp": sum_down("pos", counted.amount), "fp": sum_down("neg", counted.amount)}
    if not places:
        return frame.with_columns(**sums)
    ready = frame.with_columns(
        one=nw.lit(1, nw.Int64), hits=nw.when(RETRIEVED).then(nw.col("pos") > 0)
    )
    return ready.with_columns(
        **sums,
        place=sum_down("one", nw.Int64),
        next_hits=nw.col("hits").shift(1).over(*within, order_by="score"),
    )


def _over_rows(rows: Frame, counted: Counted) -> Frame:
    amounts = amount_names(squares=counted.squares)
    windows: list[WindowSum] = [(f"at_{name}", "ties", name) for name in amounts]
    windows += [("tp", "down", "pos"), ("fp", "down", "neg")]
    windows += [("positives", "whole", "pos"), ("negatives", "whole", "neg")]
    sums = counted.engine.windows(rows, within_range(counted), "score", windows)
    typed = sums.with_columns(
        nw.col("at_pos", "at_neg", "tp", "fp", "positives", "negatives").cast(counted.amount)
    )
    if not counted.columns.weighted:
        return typed
    # DuckDB adds up floats of both in different orders.
    return typed.with_columns(
        tp=nw.min_horizontal("tp", "positives"), fp=nw.min_horizontal("fp", "negatives")
    )


def _running_in_ranges(counted: Counted, ranges: Ranges, *, places: bool) -> Frame:
    within = within_range(counted)
    if counted.each_row:
        sums = _over_rows(ranges.rows, counted)
    else:
        sums = _summed(ranges.counts, counted, places=places).with_columns(
            positives=nw.col("tp").max().over(*within), negatives=nw.col("fp").max().over(*within)
        )
    sums = sums.rename({name: f"{name}_here" for name in ("positives", "negatives")})
    totals = spark_ranges.only_cut(_totals(ranges.rows, within), ranges.cuts)
    above = spark_ranges.sent_to_tasks(_above(totals, counted))
    return _through_segments(
        spark_ranges.beside_ranges(sums, above, counted.keys), counted, places=places
    )


def _through_segments(joined: Frame, counted: Counted, *, places: bool) -> Frame:
    whole = nw.col("highest").is_null()
    of_places = {
        "first": (nw.col("place") == 1) & (whole | (nw.col("range") == nw.col("highest"))),
        "next_hits": nw.coalesce("next_hits", "hits_below"),
    }
    return joined.with_columns(
        tp=_through_ranges("tp", "positives_here", counted),
        fp=_through_ranges("fp", "negatives_here", counted),
        tp_above=nw.col("tp_above").fill_null(0),
        fp_above=nw.col("fp_above").fill_null(0),
        positives=nw.coalesce("positives", "positives_here"),
        negatives=nw.coalesce("negatives", "negatives_here"),
        **(of_places if places else {}),
        # Equal to itself: a verb that reads it makes the totals read it too (see ``_totals``).
        dropped=nw.min_horizontal("dropped", "dropped_here"),
    )


def _through_ranges(name: str, here: str, counted: Counted) -> nw.Expr:
    """Add the total of the ranges above to a running sum inside its range.

    So that sums of floats never fall, they stay at or below the one at which the next begins.
    """
    running_sum, reached = nw.col(name), nw.col(f"{name}_reached")
    added = (running_sum + nw.col(f"{name}_above").fill_null(0)).cast(counted.amount)
    if not counted.columns.weighted:
        return added
    complete = (running_sum == nw.col(here)) & ~reached.is_null()
    return nw.when(complete).then(reached).otherwise(nw.min_horizontal(added, reached))


def _totals(rows: Frame, within: Sequence[str]) -> Frame:
    """Return the sums of each range, and whether there are positives at its highest score.

    Whatever part of a result needs these reads each column that the running sums read, scores too.
    Only then Spark sees that both read the same rows, and distributes them once.
    """
    score = nw.col("score")
    retrieved = {
        f"retrieved_{name}": nw.when(RETRIEVED).then(nw.col(name)) for name in ("pos", "neg")
    }
    totals = (
        rows.with_columns(**retrieved, highest_hit=nw.when(nw.col("pos") > 0).then(score))
        .group_by(*within)
        .agg(
            nw.col("pos", "neg", "dropped", *retrieved).sum(), nw.col("score", "highest_hit").max()
        )
    )
    hits = nw.when(RETRIEVED).then(nw.coalesce(nw.col("highest_hit") == score, nw.lit(False)))
    return totals.with_columns(hits=hits)


def _above(totals: Frame, counted: Counted) -> Frame:
    def in_order(column: nw.Expr) -> nw.Expr:
        return column.over(*counted.keys, order_by="range")

    def of_segment(column: nw.Expr) -> nw.Expr:
        return column.over(*counted.keys)

    downward = totals.with_columns(
        tp_reached=in_order(nw.col("pos").cum_sum(reverse=True)),
        fp_reached=in_order(nw.col("neg").cum_sum(reverse=True)),
        tp_retrieved=in_order(nw.col("retrieved_pos").cum_sum(reverse=True)),
        fp_retrieved=in_order(nw.col("retrieved_neg").cum_sum(reverse=True)),
        hits_below=in_order(nw.col("hits").shift(1)),
        highest=of_segment(nw.col("range").max()),
    )
    return downward.select(
        *within_range(counted),
        "hits_below",
        "highest",
        "tp_reached",
        "fp_reached",
        dropped_here=nw.col("dropped"),
        # Rows that are not retrieved are in the lowest range, which is above no other.
        tp_above=in_order(nw.col("tp_retrieved").shift(-1)).fill_null(0),
        fp_above=in_order(nw.col("fp_retrieved").shift(-1)).fill_null(0),
        positives=of_segment(nw.col("tp_reached").max()),
        negatives=of_segment(nw.col("fp_reached").max()),
    )


# --- points for measures -----------------------------------------------------------------------

# What a measure may replace by its own is kept under these names.
_KEPT = {name: f"at_{name}" for name in ("score", "pos", "neg", "tp", "fp", *SQUARES)}
_CLASSES = ("positives", "negatives")
_WEIGHTS = ("of_positive", "of_negative")


def points_of(counted: Counted, *, hits: bool = False) -> Frame:
    """Return the points of all segments, of which `fresh` gives each measure its own.

    If each row is a point, it has its ``part`` of its score, and its own columns after ``row_``.
    """
    sums = running_sums(counted, monotone=False, places=False, hits=hits)
    names = _KEPT if counted.squares else {n: k for n, k in _KEPT.items() if n not in SQUARES}
    own = {name: f"row_{name}" for name in columns_of_rows(counted)} if counted.each_row else {}
    if own:
        here = nw.col("at_pos") + nw.col("at_neg")
        sums = sums.with_columns(
            *(nw.col(name).alias(kept) for name, kept in own.items()),
            *(nw.col(names[n]).alias(n) for n in amount_names(squares=counted.squares)),
            part=nw.when(here > 0).then((nw.col("pos") + nw.col("neg")) / here).otherwise(0.0),
        )
    at_ends = ["starts", "closes"] if counted.unchecked is not None else []
    held = ("point", *at_ends, *_TOTALS[2:], "own_scores", "part", *own.values())
    points = sums.select(
        *within_range(counted),
        *_CLASSES,
        "dropped",
        *(nw.col(n).alias(k) for n, k in names.items()),
        *(n for n in held if n in sums.columns),
    )
    # Bins above all rows tell nothing.
    used = nw.col("at_score").is_null() | (nw.col("at_tp") + nw.col("at_fp") > 0)
    if counted.unchecked is None:
        points = points.filter(used)
    if not counted.squares:
        return points
    if _TOTALS[-1] not in points.columns:
        totals = {f"{of}_squares": f"at_{n}" for of, n in zip(_CLASSES, SQUARES, strict=True)}
        points = InEngine(counted).with_sums(points, plain=totals)
    of = Dialect.weights_of_rows(InEngine(counted))
    return points.with_columns(one.alias(name) for name, one in zip(_WEIGHTS, of, strict=True))


def columns_of_rows(counted: Counted) -> list[str]:
    alike = (*within_range(counted), "dropped")
    return [name for name in counted.single.columns if name not in alike]


def in_parts(name: str, counted: Counted) -> nw.Expr:
    return nw.col(name) * nw.col("part") if counted.each_row else nw.col(name)


def fresh(points: Frame) -> Frame:
    return points.with_columns(
        nw.col("at_score").is_null().alias(OPENS),
        gain=nw.col("at_pos"),
        losses=nw.col("at_neg"),
        tp=nw.col("at_tp"),
        fp=nw.col("at_fp"),
        score=nw.col("at_score"),
    )


class InEngine(Dialect):
    """Points inside an engine; a null score stands for the rows that are never retrieved."""

    lib = nw

    def __init__(self, counted: Counted) -> None:
        self.counted, self.squares, self.ascending = counted, counted.squares, counted.ascending
        self.score_dtype = counted.score_dtype
        self.threshold_dtype = threshold_dtype(counted.score_dtype)

    def weights_of_rows(self) -> list[Any]:
        return self.cols(*_WEIGHTS) if self.squares else super().weights_of_rows()

    def with_amounts(self, points: Frame, fp: str = "fp", *, whole: bool = True) -> Frame:  # noqa: ARG002
        return points

    def with_sums(
        self,
        points: Frame,
        *,
        exact: Mapping[str, str] | None = None,
        plain: Mapping[str, str] | None = None,
        onward: Sequence[str] = (),
    ) -> Frame:
        exact, plain = exact or {}, plain or {}
        if "closes" in points.columns and not plain:
            return _summed_from_below(points, exact, onward)
        added = [*plain.values(), *onward, *exact.values()]
        terms = {f"term_{of}": in_parts(of, self.counted).fill_null(0) for of in added}
        for of in exact.values():
            parts = exact_parts(terms.pop(f"term_{of}"))
            terms |= {f"term_{of}_{i}": part for i, part in enumerate(parts)}
        replaced = [name for name in (*plain, *onward) if name in points.columns]
        ready, keys = points.with_columns(**terms).drop(replaced), self.counted.keys
        whole: list[WindowSum] = [(name, "whole", f"term_{of}") for name, of in plain.items()]
        for i, (name, of) in product(range(2), exact.items()):
            whole.append((f"sum_{name}_{i}", "whole", f"term_{of}_{i}"))
        up: list[WindowSum] = [(name, "up", f"term_{name}") for name in onward]
        windows = partial(self.counted.engine.windows, score="at_score")
        if self.counted.ranges is None:
            summed = windows(ready, keys, sums=[*up, *whole])
        else:
            within = within_range(self.counted)
            of_ranges = ready.group_by(*within).agg(nw.col(*terms).sum())
            below = of_ranges.select(
                *within,
                *(nw.col(of).sum().over(*keys).alias(name) for name, _, of in whole),
                *(_below(of, keys).alias(f"below_{name}") for name, _, of in up),
            )
            here = windows(ready, within, sums=up)
            summed = spark_ranges.beside_ranges(
                here, spark_ranges.read_back(below, keys), keys
            ).with_columns(nw.col(name) + nw.col(f"below_{name}") for name in onward)
        return summed.drop(list(terms)).with_columns(
            (nw.col(f"sum_{name}_0") + nw.col(f"sum_{name}_1")).clip(upper_bound=1.0).alias(name)
            for name in exact
        )

    def with_reached(self, points: Frame, marks: Mapping[str, str]) -> Frame:
        sums = {"tp": "pos", "fp": "neg"}
        names = {f"{n}_{one}": (m, of) for m, n in marks.items() for one, of in sums.items()}
        if self.squares:
            names |= {
                f"squares_{one}": ("reached", of)
                for one, of in zip(("tp", "fp"), SQUARES, strict=True)
            }
        reached = points.with_columns(
            nw.when(nw.col(mark)).then(nw.col(f"at_{of}").cast(nw.Float64)).otherwise(0.0).alias(n)
            for n, (mark, of) in names.items()
        )
        return self.with_sums(reached, plain={name: name for name in names})

    def before(self, running_sum: str) -> nw.Expr:
        return nw.col(running_sum) - nw.col("at_pos" if running_sum == "tp" else "at_neg")

    def rounding(self) -> float:
        return rounding_of(TERMS_OF_COUNTS) if self.counted.columns.weighted else 0.0

    def with_score(self, points: Frame) -> Frame:
        return points.with_columns(score=self.counted.score)

    def with_held(self, points: Frame, table: pl.LazyFrame) -> Frame:  # noqa: ARG002 - here
        request = self.counted.columns.request
        check_request(self.counted.engine, request, {"at= as a frame": True})
        return points

    def squares_here(self) -> list[nw.Expr]:
        names = SQUARES if self.squares else ("pos", "neg")
        return [nw.col(f"at_{of}").alias(n) for of, n in zip(names, ("pos", "neg"), strict=True)]


def _below(name: str, keys: Sequence[str]) -> nw.Expr:
    """Return the sum over the ranges below each."""
    return nw.col(name).cum_sum().over(*keys, order_by="range") - nw.col(name)
