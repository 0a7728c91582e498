"""Rows in ranking order that stream past, with running sums: how DuckDB ranks.

A window without ``PARTITION BY`` and ``ORDER BY`` takes rows as they come, and after ``ORDER BY``
DuckDB keeps their order: so its sums hold no rows, and take a fraction of the time of windows over
segments. They run through all segments, and what a segment began with is taken off. Whole numbers
are exact. Weights would lose digits beside the sums of other segments: so what each addition rounds
off, which is a float too (Knuth's two-sum), is added up in a second sum, the ``rest``. The two have
32 digits.

Bins and scores that are not floats, of which there are few, are counted first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw

from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted, amount_names
from frame_prc._engines.sql_text import project

_SO_FAR = "OVER (ROWS UNBOUNDED PRECEDING)"


def of_rows(counted: Counted) -> bool:
    """Return whether rows stream past as they are, not their counts."""
    is_single = not counted.columns.aggregated and counted.unchecked is not None
    return counted.engine.streams and is_single and counted.score_dtype.is_float()


def in_order(counted: Counted, rows: Frame, *, hits: bool, score: str = "score") -> Frame:
    """Sort rows, and add which of them end a ``point``.

    A point is a score. With ``hits``, negatives that have a score of their own have no point, but
    belong to the next one, except the first and the last retrieved of a segment.
    """
    keys = _keys(counted)
    order = [*(f"{key} NULLS FIRST" for key in keys), f"{score} DESC NULLS LAST"]
    ordered: Frame = nw.from_native(rows.to_native().order(", ".join(order)))
    kept, flags = "ends", [f"{_differs('lead', [*keys, score])} AS ends"]
    if hits:
        kept = "ends AND (pos > 0 OR at_end OR NOT starts)"
        at_end = [_differs(side, keys) for side in ("lag", "lead")]
        flags += [
            f"{_differs('lag', [*keys, score])} AS starts",
            f"({' OR '.join(at_end)} OR lead({score}) OVER () IS NULL) AS at_end",
        ]
    return project(project(ordered, "*", *flags), "*", f"{kept} AS is_point")


def with_point(ordered: Frame, name: str) -> Frame:
    """Add the number of the point that each row belongs to, in their order, from 0."""
    numbered = project(ordered, "*", _summed("CAST(is_point AS BIGINT)", "ended"))
    one = nw.when(nw.col("is_point")).then(1).otherwise(0)
    return numbered.with_columns((nw.col("ended") - one).alias(name))


def points_in_order(counted: Counted, *, hits: bool, places: bool) -> Frame:
    """Return a row per point, with its counts and running sums.

    ``point`` is its number. With ``hits``, ``own_scores`` is the number of scores that belong to
    it. ``places`` adds ``place`` and ``next_hits``, as in `running_sums`.
    """
    keys, weighted = _keys(counted), counted.columns.weighted
    ordered = in_order(counted, counted.rows if of_rows(counted) else counted.frame, hits=hits)
    amounts = {name: name for name in amount_names(squares=counted.squares)}
    numbers = {"dropped": "dropped"} if counted.columns.request.missing == "drop" else {}
    numbers |= {"own_scores": "CAST(ends AS BIGINT)"} if hits else {}
    sums = _Sums(amounts | numbers, amounts if weighted else ())
    points = project(
        sums.added(ordered).filter(nw.col("is_point")),
        *counted.keys,
        "score",
        *sums.with_before(),
        f"{_differs('lag', keys)} AS opens",
        f"{_differs('lead', keys)} AS closes",
        "row_number() OVER () - 1 AS point",
    )
    opened = project(points, "*", *sums.openings("opens", "point", ["pos", "neg"]))
    shown = [*counted.keys, "score", "point"]
    shown += [f"{sums.since(name, 'before')} AS {name}" for name in sums.values]
    shown += [f"{sums.since(of, 'opening')} AS {n}" for n, of in (("tp", "pos"), ("fp", "neg"))]
    if "dropped" not in numbers:
        shown.append("CAST(0 AS BIGINT) AS dropped")
    if places:
        hit = f"CASE WHEN score IS NOT NULL THEN {sums.since('pos', 'before')} > 0 END"
        shown += [
            f"CASE WHEN NOT closes THEN lead({hit}) OVER () END AS next_hits",
            f"point + 1 - max(CASE WHEN opens THEN point END) {_SO_FAR} AS place",
        ]
    return project(opened, *shown)


def summed_onward(points: Frame, counted: Counted, names: Sequence[str]) -> Frame:
    """Replace values from 0 to 1 by their sums over a point and the lower ones of its segment.

    What is undefined counts as 0.
    """
    others = [name for name in points.columns if name not in names]
    ordered: Frame = nw.from_native(points.to_native().order("point DESC"))
    sums = _Sums({n: f"(CASE WHEN {n} < 2 THEN {n} ELSE 0 END)" for n in names}, names)
    closes = f"{_differs('lag', _keys(counted))} AS closes"
    summed = project(sums.added(ordered), *others, *sums.with_before(), closes)
    opened = project(summed, "*", *sums.openings("closes", "-point", names))
    return project(opened, *others, *(f"{sums.since(n, 'opening')} AS {n}" for n in names))


@dataclass(frozen=True)
class _Sums:
    """Running sums of values through all segments: ``sum_NAME``, and ``rest_NAME`` if it rounds."""

    values: Mapping[str, str]
    rounding: Collection[str]

    def added(self, frame: Frame) -> Frame:
        """Add the sums to rows in order."""
        whole = [name for name in self.values if name not in self.rounding]
        sums = [_summed(self.values[name], f"sum_{name}") for name in whole]
        sums += [f"sum({self.values[name]}) {_SO_FAR} AS sum_{name}" for name in self.rounding]
        summed = project(frame, "*", *sums)
        if not self.rounding:
            return summed
        before = (f"lag(sum_{name}, 1, 0) OVER () AS before_{name}" for name in self.rounding)
        rests = (
            f"sum({_rounded_off(f'before_{name}', self.values[name], f'sum_{name}')}) {_SO_FAR} "
            f"AS rest_{name}"
            for name in self.rounding
        )
        kept = [*frame.columns, *(f"sum_{name}" for name in self.values)]
        return project(project(summed, "*", *before), *kept, *rests)

    def _parts(self, names: Iterable[str]) -> list[str]:
        rests = [f"rest_{name}" for name in names if name in self.rounding]
        return [*(f"sum_{name}" for name in names), *rests]

    def with_before(self) -> list[str]:
        """Return the sums, and those in the row before."""
        parts = self._parts([*self.values])
        return [*parts, *(f"lag({part}, 1, 0) OVER () AS {part}_before" for part in parts)]

    def openings(self, opens: str, place: str, names: Sequence[str]) -> list[str]:
        """Return what sums were before the last row so far that ``opens`` a segment."""
        return [
            f"arg_max(CASE WHEN {opens} THEN {part}_before END, {place}) {_SO_FAR} "
            f"AS {part}_opening"
            for part in self._parts(names)
        ]

    def since(self, name: str, earlier: str) -> str:
        """Return what was added to a sum since an ``earlier`` one."""
        now, then = f"sum_{name}", f"sum_{name}_{earlier}"
        if name not in self.rounding:
            return f"{now} - {then}"
        rounded, rest = f"({now} - {then})", f"(rest_{name} - rest_{name}_{earlier})"
        return f"{rounded} + ({_rounded_off(now, f'(-{then})', rounded)} + {rest})"


def _rounded_off(a: str, b: str, rounded: str) -> str:
    """Return what the rounded sum of two floats lacks (Knuth's two-sum)."""
    return f"({a} - ({rounded} - ({rounded} - {a})) + ({b} - ({rounded} - {a})))"


def _keys(counted: Counted) -> list[str]:
    return counted.keys if counted.columns.result_keys else []


def _summed(value: str, name: str) -> str:
    return f"CAST(sum({value}) {_SO_FAR} AS BIGINT) AS {name}"


def _differs(side: str, names: Sequence[str]) -> str:
    """Return whether there is no row beside a row, or one that differs in some column."""
    beside = [f"{side}({name}) OVER () IS DISTINCT FROM {name}" for name in names]
    return f"({' OR '.join([f'{side}(1) OVER () IS NULL', *beside])})"
