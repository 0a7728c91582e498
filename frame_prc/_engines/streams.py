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

from collections.abc import Mapping, Sequence
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
    keys = _keys(counted)
    ordered = in_order(counted, counted.rows if of_rows(counted) else counted.frame, hits=hits)
    numbers = {"dropped": "dropped"} | ({"own_scores": "CAST(ends AS BIGINT)"} if hits else {})
    amounts = {name: name for name in amount_names(squares=counted.squares)}
    both = _Sums(amounts, rounds=counted.columns.weighted), _Sums(numbers, rounds=False)
    for sums in both:
        ordered = sums.added(ordered)
    points = project(
        ordered.filter(nw.col("is_point")),
        *counted.keys,
        "score",
        *(column for sums in both for column in (*sums.columns, *sums.before())),
        f"{_differs('lag', keys)} AS opens",
        f"{_differs('lead', keys)} AS closes",
        "row_number() OVER () - 1 AS point",
    )
    opened = project(points, "*", *both[0].opening("opens", "point", ("pos", "neg")))
    shown = [*counted.keys, "score", "point"]
    shown += [f"{sums.since(name, 'before')} AS {name}" for sums in both for name in sums.values]
    shown += [f"{both[0].since(of, 'opening')} AS {n}" for n, of in (("tp", "pos"), ("fp", "neg"))]
    if places:
        below = "lead(CASE WHEN score IS NOT NULL THEN {} > 0 END) OVER ()"
        below = below.format(both[0].since("pos", "before"))
        shown += [
            f"CASE WHEN NOT closes THEN {below} END AS next_hits",
            f"point + 1 - max(CASE WHEN opens THEN point END) {_SO_FAR} AS place",
        ]
    return project(opened, *shown)


def summed_onward(points: Frame, counted: Counted, names: Sequence[str]) -> Frame:
    """Replace values from 0 to 1 by their sums over a point and the lower ones of its segment.

    What is undefined counts as 0.
    """
    others = [name for name in points.columns if name not in names]
    ordered: Frame = nw.from_native(points.to_native().order("point DESC"))
    sums = _Sums({n: f"CASE WHEN {n} < 2 THEN {n} ELSE 0 END" for n in names}, rounds=True)
    summed = project(
        sums.added(ordered),
        *others,
        *(column for column in (*sums.columns, *sums.before())),
        f"{_differs('lag', _keys(counted))} AS closes",
    )
    opened = project(summed, "*", *sums.opening("closes", "-point", names))
    return project(opened, *others, *(f"{sums.since(n, 'opening')} AS {n}" for n in names))


@dataclass(frozen=True)
class _Sums:
    """Running sums of values through all segments, ``NAME_so_far``; floats also have a rest."""

    values: Mapping[str, str]
    rounds: bool

    @property
    def columns(self) -> list[str]:
        """The columns of the sums."""
        parts = ("so_far", "rest") if self.rounds else ("so_far",)
        return [f"{name}_{part}" for name in self.values for part in parts]

    def added(self, frame: Frame) -> Frame:
        """Add the sums to rows in order."""
        if not self.rounds:
            return project(frame, "*", *(_summed(of, f"{n}_so_far") for n, of in self.values.items()))
        sums = (f"sum({of}) {_SO_FAR} AS {n}_so_far" for n, of in self.values.items())
        before = (f"lag({name}_so_far, 1, 0) OVER () AS {name}_before" for name in self.values)
        rests = (
            f"sum({_rounded_off(f'{name}_before', f'({of})', f'{name}_so_far')}) {_SO_FAR} AS {name}_rest"
            for name, of in self.values.items()
        )
        columns = [*frame.columns, *(f"{name}_so_far" for name in self.values)]
        return project(project(project(frame, "*", *sums), "*", *before), *columns, *rests)

    def before(self) -> list[str]:
        """Return the sums in the row before."""
        return [f"lag({column}, 1, 0) OVER () AS {column}_before" for column in self.columns]

    def opening(self, opens: str, place: str, names: Sequence[str]) -> list[str]:
        """Return what sums were before the last row so far that ``opens`` a segment."""
        return [
            f"arg_max(CASE WHEN {opens} THEN {c}_before END, {place}) {_SO_FAR} AS {c}_opening"
            for c in self.columns
            if c.rsplit("_", 1)[0].removesuffix("_so") in names
        ]

    def since(self, name: str, earlier: str) -> str:
        """Return what was added to a sum since an earlier one."""
        a, b = f"{name}_so_far", f"{name}_so_far_{earlier}"
        if not self.rounds:
            return f"{a} - {b}"
        rest = f"({name}_rest - {name}_rest_{earlier})"
        return f"({a} - {b}) + ({_rounded_off(a, f'(-{b})', f'({a} - {b})')} + {rest})"


def _rounded_off(a: str, b: str, rounded: str) -> str:
    """Return the difference of a sum of floats from their rounded sum (Knuth's two-sum)."""
    return f"(({a} - ({rounded} - ({rounded} - {a}))) + ({b} - ({rounded} - {a})))"


def _keys(counted: Counted) -> list[str]:
    return counted.keys if counted.columns.result_keys else []


def _summed(value: str, name: str) -> str:
    return f"CAST(sum({value}) {_SO_FAR} AS BIGINT) AS {name}"


def _differs(side: str, names: Sequence[str]) -> str:
    """Return whether there is no row beside a row, or one that differs in some column."""
    beside = [f"{side}({name}) OVER () IS DISTINCT FROM {name}" for name in names]
    return f"({' OR '.join([f'{side}(1) OVER () IS NULL', *beside])})"
