"""Points inside an engine, and how they are computed with: a dialect of measures.

A point is a score of a segment, with its counts and running sums. If a segment is too large for one
task, its sums are those of its ranges of scores, added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._engines.engine import Frame, WindowSum, check_request
from frame_prc._engines.rows import Counted, amount_names
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
_WEIGHTS = ("of_positive", "of_negative")


def points_of(counted: Counted, *, hits: bool = False) -> Frame:
    """Return the points of all segments, of which `fresh` gives each measure its own.

    If ``hits`` are all that is wanted, there are fewer of them where rows stream past. If each row
    is a point, it has its ``part`` of its score, and its own columns after ``row_``.
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
    points = sums.select(
        *within_range(counted),
        *_CLASSES,
        "dropped",
        *(nw.col(n).alias(k) for n, k in names.items()),
        *(n for n in ("point", "own_scores", "part", *own.values()) if n in sums.columns),
    )
    # Bins above all rows tell nothing.
    used = nw.col("at_score").is_null() | (nw.col("at_tp") + nw.col("at_fp") > 0)
    if counted.unchecked is None:
        points = points.filter(used)
    if not counted.squares:
        return points
    totals = {f"{of}_squares": f"at_{n}" for of, n in zip(_CLASSES, SQUARES, strict=True)}
    summed, of = InEngine(counted).with_sums(points, plain=totals), Dialect.weights_of_rows
    return summed.with_columns(
        one.alias(name) for name, one in zip(_WEIGHTS, of(InEngine(counted)), strict=True)
    )


def columns_of_rows(counted: Counted) -> list[str]:
    """Return the columns of single rows that differ within a segment."""
    alike = (*within_range(counted), "dropped")
    return [name for name in counted.single.columns if name not in alike]


def in_parts(name: str, counted: Counted) -> nw.Expr:
    """Return a column of points, of which each row has its part, to be added up."""
    return nw.col(name) * nw.col("part") if counted.each_row else nw.col(name)


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

    def weights_of_rows(self) -> list[Any]:
        """Return the columns that have them."""
        return self.cols(*_WEIGHTS) if self.squares else super().weights_of_rows()

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
            summed = beside_ranges(here, read_back(below, keys), keys).with_columns(
                nw.col(name) + nw.col(f"below_{name}") for name in onward
            )
        return summed.drop(list(terms)).with_columns(
            (nw.col(f"sum_{name}_0") + nw.col(f"sum_{name}_1")).clip(upper_bound=1.0).alias(name)
            for name in exact
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


def _below(name: str, keys: Sequence[str]) -> nw.Expr:
    """Return the sum over the ranges below each."""
    return nw.col(name).cum_sum().over(*keys, order_by="range") - nw.col(name)
