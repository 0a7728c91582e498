"""Points inside an engine, and how they are computed with: a dialect of measures.

A point is a score of a segment, with its counts and running sums. If a segment is too large for one
task, its sums are those of its ranges of scores, added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals as nw
import polars as pl

from frame_prc._engines.engine import Frame, check_request
from frame_prc._engines.rows import Counted
from frame_prc._engines.running_sums import running_sums, within_range
from frame_prc._engines.spark_ranges import beside_ranges, read_back
from frame_prc._formulas import exact_parts, rounding_of
from frame_prc._inference.measure import OPENS, Dialect
from frame_prc._ranking.running_sums import TERMS_OF_COUNTS
from frame_prc._request.values import threshold_dtype
from frame_prc._rows.rules import SQUARES

# What a measure may replace by its own is kept under these names.
_KEPT = {name: f"at_{name}" for name in ("score", "pos", "neg", "tp", "fp", *SQUARES)}
_CLASSES = ("positives", "negatives")


def points_of(counted: Counted, *, hits: bool = False) -> Frame:
    """Return the points of all segments, of which `fresh` gives each measure its own.

    If ``hits`` are all that is wanted, there are fewer of them where rows stream past.
    """
    sums = running_sums(counted, monotone=False, places=False, hits=hits)
    names = _KEPT if counted.squares else {n: k for n, k in _KEPT.items() if n not in SQUARES}
    points = sums.select(
        *within_range(counted),
        *_CLASSES,
        "dropped",
        *(nw.col(n).alias(k) for n, k in names.items()),
        *(n for n in ("point", "own_scores", "lowest", "fp_above") if n in sums.columns),
    )
    if "lowest" in points.columns:
        points = _only_hits(points, counted)
    # Bins above all rows tell nothing.
    used = nw.col("at_score").is_null() | (nw.col("at_tp") + nw.col("at_fp") > 0)
    if counted.unchecked is None:
        points = points.filter(used)
    if not counted.squares:
        return points
    totals = {f"{of}_squares": f"at_{n}" for of, n in zip(_CLASSES, SQUARES, strict=True)}
    return InEngine(counted).with_sums(points, plain=totals)


def _only_hits(points: Frame, counted: Counted) -> Frame:
    """Leave out scores of single negatives, which then belong to the next, but at both ends."""
    score, pos, neg, tp, fp = (nw.col(_KEPT[n]) for n in ("score", "pos", "neg", "tp", "fp"))
    at_end = (tp + fp == pos + neg) | (score == nw.col("lowest"))
    kept = points.filter(score.is_null() | (pos > 0) | (neg != 1) | at_end)
    above = nw.col("fp_above") if counted.ranges else nw.lit(0)
    before = fp.shift(-1).over(*within_range(counted), order_by="at_score")
    found = kept.with_columns(before=before).with_columns(since=fp - nw.coalesce("before", above))
    return found.with_columns(at_neg=nw.col("since"), own_scores=nw.col("since") - neg + 1)


def fresh(points: Frame) -> Frame:
    """Return points with what a measure computes from."""
    return points.with_columns(
        nw.col("at_score").is_null().alias(OPENS),
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

    def with_amounts(self, points: Frame, fp: str = "fp", *, whole: bool = True) -> Frame:  # noqa: ARG002
        """Add the counts of each score."""
        return points.with_columns(gain=nw.col("at_pos"), losses=nw.col("at_neg"))

    def with_sums(
        self,
        points: Frame,
        *,
        exact: Mapping[str, str] | None = None,
        plain: Mapping[str, str] | None = None,
        onward: Sequence[str] = (),
    ) -> Frame:
        """Add windows over each segment, or over its ranges."""
        exact, plain = exact or {}, plain or {}
        parts = {
            f"{of}_{i}": part
            for of in exact.values()
            for i, part in enumerate(exact_parts(nw.col(of)))
        }
        ready, keys = points.with_columns(**parts) if parts else points, self.counted.keys
        if self.counted.ranges is None:
            return ready.with_columns(
                **_totals(exact, plain, keys),
                **{name: _up_to(name, keys, "at_score") for name in onward},
            )
        within = within_range(self.counted)
        summed = list(dict.fromkeys([*parts, *plain.values(), *onward]))
        of_ranges = ready.group_by(*within).agg(nw.col(*summed).sum())
        below = of_ranges.with_columns(
            **{f"whole_{name}": total for name, total in _totals(exact, plain, keys).items()},
            **{f"below_{name}": _up_to(name, keys, "range") for name in onward},
        ).select(
            *within,
            *(f"whole_{name}" for name in (*exact, *plain)),
            *(nw.col(f"below_{name}").shift(1).over(*keys, order_by="range") for name in onward),
        )
        upward = {name: _up_to(name, within, "at_score") for name in onward}
        here = ready.with_columns(**upward) if upward else ready
        joined = beside_ranges(here, read_back(below, keys), keys)
        return joined.with_columns(
            **{name: nw.col(f"whole_{name}") for name in (*exact, *plain)},
            **{
                name: nw.col(name).fill_null(0.0) + nw.col(f"below_{name}").fill_null(0.0)
                for name in onward
            },
        )

    def with_reached(self, points: Frame, marks: Mapping[str, str]) -> Frame:
        """Add the sums of the counts of the scores with each mark."""
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
        """Return the sum without the counts of the score."""
        return nw.col(running_sum) - nw.col("at_pos" if running_sum == "tp" else "at_neg")

    def rounding(self) -> float:
        """Return it for as many terms as a segment rarely has more."""
        return rounding_of(TERMS_OF_COUNTS) if self.counted.columns.weighted else 0.0

    def with_score(self, points: Frame) -> Frame:
        """Add the score as the caller has it."""
        return points.with_columns(score=self.counted.score)

    def with_held(self, points: Frame, table: pl.LazyFrame) -> Frame:  # noqa: ARG002 - here
        """Refuse a table, which is not where the rows are."""
        request = self.counted.columns.request
        check_request(self.counted.engine, request, {"at= as a frame": True})
        return points

    def squares_here(self) -> list[nw.Expr]:
        """Return the sums of squared weights at each score; without squares the counts."""
        names = SQUARES if self.squares else ("pos", "neg")
        return [nw.col(f"at_{of}").alias(n) for of, n in zip(names, ("pos", "neg"), strict=True)]


def _totals(
    exact: Mapping[str, str], plain: Mapping[str, str], keys: Sequence[str]
) -> dict[str, nw.Expr]:
    """Return sums over each segment, by name."""

    def whole(name: str) -> nw.Expr:
        return nw.col(name).sum().over(*keys)

    of_parts = {
        name: (whole(f"{of}_0") + whole(f"{of}_1")).clip(upper_bound=1.0)
        for name, of in exact.items()
    }
    return of_parts | {name: whole(of) for name, of in plain.items()}


def _up_to(name: str, keys: Sequence[str], order: str) -> nw.Expr:
    """Return the sum over a row and those before it in an order: those of lower scores."""
    return nw.col(name).cum_sum().over(*keys, order_by=order)
