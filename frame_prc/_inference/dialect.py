"""How points are computed with: in Polars, or inside an engine, so a measure is written once.

Points are the scores of segments, each with running sums ``tp, fp`` and the totals ``positives,
negatives`` of its segment. Narwhals uses the names of Polars, so that formulas are the same; sums
over a segment are not, as an engine may have to add them up in parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._curves.given_thresholds import GivenThresholds
from frame_prc._formulas import exact_parts, rounding
from frame_prc._lazy import segment_join
from frame_prc._ranking.ranking import Ranking

# The opening row, or the one of a null score, which stands for the rows that are never retrieved.
OPENS = "opens"


class Dialect(ABC):
    """What points are computed with.

    ``lib`` is the library of expressions. ``squares`` is whether there are sums of squared weights.
    """

    lib: Any
    squares: bool
    ascending: bool
    score_dtype: pl.DataType
    threshold_dtype: pl.DataType

    def cols(self, *names: str) -> list[Any]:
        """Return columns."""
        return [self.lib.col(name) for name in names]

    def when_retrieved(self, value: Any) -> Any:
        """Return a value where rows are retrieved."""
        return self.lib.when(~self.lib.col(OPENS)).then(value)

    def weights_of_rows(self) -> list[Any]:
        """Return the weight of a positive and of a negative if all of a class had the same.

        There are as many of them as effective rows.
        """
        if not self.squares:
            return [self.lib.lit(1.0), self.lib.lit(1.0)]
        col = self.lib.col
        return [col(f"{name}_squares") / col(name) for name in ("positives", "negatives")]

    @abstractmethod
    def with_amounts(self, points: Any, fp: str = "fp", *, whole: bool = True) -> Any:
        """Add ``gain, losses``: the positives and negatives at a score, and since the one before.

        Negatives are those of a running sum; ``whole`` says whether the opening row has the rest.
        """

    @abstractmethod
    def with_sums(
        self,
        points: Any,
        *,
        exact: Mapping[str, str] | None = None,
        plain: Mapping[str, str] | None = None,
        onward: Sequence[str] = (),
    ) -> Any:
        """Add sums over each segment.

        ``exact`` names columns whose exact sum is at most 1, ``plain`` others, and ``onward`` those
        that are replaced by their sum over a score and all lower ones.
        """

    @abstractmethod
    def with_reached(self, points: Any, marks: Mapping[str, str]) -> Any:
        """Add the sums over the scores with each mark: ``NAME_tp, NAME_fp``.

        With squares also those of squares where rows are ``reached``: ``squares_tp, squares_fp``.
        """

    @abstractmethod
    def before(self, running_sum: str) -> Any:
        """Return a running sum at the score before."""

    @abstractmethod
    def rounding(self) -> Any:
        """Return by how much sums may be rounded, relative to their size."""

    @abstractmethod
    def with_score(self, points: Any) -> Any:
        """Add the ``score`` as the caller has it; null in the opening row."""

    @abstractmethod
    def with_held(self, points: Any, table: pl.LazyFrame) -> Any:
        """Add the threshold ``held`` that a table has for each segment; null where it has none."""

    @abstractmethod
    def squares_here(self) -> list[Any]:
        """Return the sums of squared weights at each score: ``pos, neg``."""


@dataclass(frozen=True)
class InPolars(Dialect):
    """Points in ranking order; each segment begins with a row that ``opens`` it."""

    ranking: Ranking
    lib = pl

    @property
    def squares(self) -> bool:  # type: ignore[override]
        """Whether there are sums of squared weights."""
        return self.ranking.squares

    @property
    def ascending(self) -> bool:  # type: ignore[override]
        """Whether a lower score means more likely positive."""
        return self.ranking.rows.ascending

    @property
    def score_dtype(self) -> pl.DataType:  # type: ignore[override]
        """The dtype of scores."""
        return self.ranking.rows.score_dtype

    @property
    def threshold_dtype(self) -> pl.DataType:  # type: ignore[override]
        """The dtype of thresholds."""
        return self.ranking.threshold_dtype

    def with_amounts(
        self, points: pl.LazyFrame, fp: str = "fp", *, whole: bool = True
    ) -> pl.LazyFrame:
        """Add the differences of running sums."""
        # Points come in ranking order, and windows over a sorted column are faster.
        return points.with_columns(pl.col("segment").set_sorted()).with_columns(
            gain=added("tp", pl.col("positives")),
            losses=added(fp, pl.col("negatives") if whole else None),
        )

    def with_sums(
        self,
        points: pl.LazyFrame,
        *,
        exact: Mapping[str, str] | None = None,
        plain: Mapping[str, str] | None = None,
        onward: Sequence[str] = (),
    ) -> pl.LazyFrame:
        """Add windows over each segment."""
        exact, plain = exact or {}, plain or {}
        # Each is a column, since Polars computes windows of columns much faster than expressions.
        parted = points.with_columns(part for name in exact.values() for part in _parts(name))
        return parted.with_columns(
            **{name: _total_of_parts(of) for name, of in exact.items()},
            **{name: pl.col(of).sum().over("segment") for name, of in plain.items()},
            # Rows are sorted by segment, so "explode", which stacks the groups, keeps their place.
            **{
                name: pl.col(name).cum_sum(reverse=True).over("segment", mapping_strategy="explode")
                for name in onward
            },
        )

    def with_reached(self, points: pl.LazyFrame, marks: Mapping[str, str]) -> pl.LazyFrame:
        """Add the running sums at the last score with each mark."""
        names = {f"{name}_{sums}": (m, sums) for m, name in marks.items() for sums in ("tp", "fp")}
        if self.squares:
            names |= {f"squares_{one}": ("reached", f"{one}_squares") for one in ("tp", "fp")}
        return points.with_columns(
            pl.when(mark)
            .then(pl.col(of).cast(pl.Float64))
            .max()
            .over("segment")
            .fill_null(0.0)
            .alias(name)
            for name, (mark, of) in names.items()
        )

    def before(self, running_sum: str) -> pl.Expr:
        """Return the sum in the row before."""
        return pl.col(running_sum).shift(1)

    def rounding(self) -> pl.Expr | float:
        """Return it by the number of terms."""
        return rounding(weighted=self.ranking.rows.columns.weighted)

    def with_score(self, points: pl.LazyFrame) -> pl.LazyFrame:
        """Add the score, from its slot."""
        return self.ranking.with_score(points)

    def with_held(self, points: pl.LazyFrame, table: pl.LazyFrame) -> pl.LazyFrame:
        """Join it by the keys."""
        held = GivenThresholds(table, "at").one_each(self.ranking)
        return segment_join(points.drop("held", strict=False), held)

    def squares_here(self) -> list[pl.Expr]:
        """Return the differences of running sums; without squares the counts themselves."""
        if not self.squares:
            return [pl.col("gain").alias("pos"), pl.col("losses").alias("neg")]
        pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
        return [added("tp_squares", pos).alias("pos"), added("fp_squares", neg).alias("neg")]


def added(running_sum: str, total: pl.Expr | None = None) -> pl.Expr:
    """Return what each score adds to a running sum; the opening row has the rest of the total."""
    unretrieved = 0 if total is None else total - pl.col(running_sum).max().over("segment")
    return pl.when(OPENS).then(unretrieved).otherwise(pl.col(running_sum).diff())


def _parts(name: str) -> list[pl.Expr]:
    """Return the parts of a term that add up exactly."""
    return [part.alias(f"{name}_{i}") for i, part in enumerate(exact_parts(pl.col(name)))]


def _total_of_parts(name: str) -> pl.Expr:
    """Return the exact sum of the terms of a segment, at most 1, from their parts."""
    coarse, fine = (pl.col(f"{name}_{i}").sum() for i in range(2))
    # One window, so that rows get a single column, which needs no more work on each of them.
    return (coarse + fine).clip(upper_bound=1.0).over("segment")
