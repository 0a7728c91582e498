"""Rows in ranking order that stream past, with running sums: how DuckDB ranks.

A window without ``PARTITION BY`` and ``ORDER BY`` takes rows as they come, and after ``ORDER BY``
DuckDB keeps their order: so its sums hold no rows, and take a fraction of the time of windows over
segments. They run through all segments, and are exact because they count rows. Weights have a
window for each segment, as their digits would vanish beside the sums of other segments; and so
have bins and integers, which are grouped by score first, since there are few scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw

from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted
from frame_prc._engines.sql_text import project

_SO_FAR = "OVER (ROWS UNBOUNDED PRECEDING)"
_UNITS = 2.0**60
_TOTALS = {"pos": "tp", "neg": "fp", "dropped": "left_out"}


def streams(counted: Counted) -> bool:
    """Return whether rows are ranked as they stream past: each counts as 1, or not at all."""
    columns = counted.columns
    of_rows = not (columns.weighted or columns.aggregated) and counted.unchecked is not None
    return counted.engine.streams and of_rows and counted.score_dtype.is_float()


def in_order(counted: Counted, rows: Frame, *, hits: bool, score: str = "score") -> Frame:
    """Sort rows, and add running sums through all segments, and which rows end a ``point``.

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
    sums = [_summed(name, total) for name, total in _TOTALS.items()]
    return project(project(ordered, "*", *flags, *sums), "*", f"{kept} AS is_point")


def with_point(ordered: Frame, name: str) -> Frame:
    """Add the number of the point that each row belongs to, in their order, from 0."""
    numbered = project(ordered, "*", _summed("CAST(is_point AS BIGINT)", "ended"))
    one = nw.when(nw.col("is_point")).then(1).otherwise(0)
    return numbered.with_columns((nw.col("ended") - one).alias(name))


def points_in_order(counted: Counted, ordered: Frame, *, hits: bool, places: bool) -> Frame:
    """Return a row per point, with its counts and running sums, of rows from `in_order`.

    ``point`` is its number. With ``hits``, ``own_scores`` is the number of scores that belong to
    it. ``places`` adds ``place`` and ``next_hits``, as in `running_sums`.
    """
    keys, totals = _keys(counted), dict(_TOTALS)
    if hits:
        ordered = project(ordered, "*", _summed("CAST(ends AS BIGINT)", "scores"))
        totals["own_scores"] = "scores"
    points = project(
        ordered.filter(nw.col("is_point")),
        *counted.keys,
        "score",
        "tp",
        "fp",
        *(f"{total} - lag({total}, 1, 0) OVER () AS {name}" for name, total in totals.items()),
        f"{_differs('lag', keys)} AS opens",
        f"{_differs('lead', keys)} AS closes",
        "row_number() OVER () - 1 AS point",
    )
    before = {"tp": "tp - pos", "fp": "fp - neg"} | ({"place": "point"} if places else {})
    # They rise from row to row, so the highest so far is that of the last segment that opened.
    added = [f"max(CASE WHEN opens THEN {of} END) {_SO_FAR} AS {n}_0" for n, of in before.items()]
    if places:
        below = "lead(CASE WHEN score IS NOT NULL THEN pos > 0 END) OVER ()"
        added.append(f"CASE WHEN NOT closes THEN {below} END AS next_hits")
    found = project(points, "*", *added)
    if places:
        found = found.with_columns(place=nw.col("point") - nw.col("place_0") + 1)
    return found.with_columns(tp=nw.col("tp") - nw.col("tp_0"), fp=nw.col("fp") - nw.col("fp_0"))


def summed_onward(points: Frame, counted: Counted, names: Sequence[str]) -> Frame:
    """Replace values from 0 to 1 by their sums over a point and the lower ones of its segment.

    Whole numbers of 2**-60 add up exactly through all segments. What is undefined counts as 0.
    """
    others = [name for name in points.columns if name not in names]
    ordered: Frame = nw.from_native(points.to_native().order("point DESC"))
    scaled = [
        f"CAST(CASE WHEN {n} < 2 THEN {n} * {_UNITS!r} ELSE 0 END AS BIGINT) AS {n}" for n in names
    ]
    flagged = project(ordered, *others, *scaled, f"{_differs('lag', _keys(counted))} AS first")
    sums = project(flagged, "*", *(f"sum({name}) {_SO_FAR} AS {name}_sum" for name in names))
    before = (f"max(CASE WHEN first THEN {n}_sum - {n} END) {_SO_FAR}" for n in names)
    own = project(
        sums, *others, *(f"{n}_sum - {b} AS {n}" for n, b in zip(names, before, strict=True))
    )
    return own.with_columns(nw.col(*names).cast(nw.Float64) / _UNITS)


def _keys(counted: Counted) -> list[str]:
    return counted.keys if counted.columns.result_keys else []


def _summed(value: str, name: str) -> str:
    return f"CAST(sum({value}) {_SO_FAR} AS BIGINT) AS {name}"


def _differs(side: str, names: Sequence[str]) -> str:
    """Return whether there is no row beside a row, or one that differs in some column."""
    beside = [f"{side}({name}) OVER () IS DISTINCT FROM {name}" for name in names]
    return f"({' OR '.join([f'{side}(1) OVER () IS NULL', *beside])})"
