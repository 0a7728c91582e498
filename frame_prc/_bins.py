"""Bins: scores between two thresholds taken as one, counted in a single pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from frame_prc._columns import check_numeric, find_column
from frame_prc._request import IntoColumn
from frame_prc._rows import Rows
from frame_prc._scale import Scale
from frame_prc.exceptions import DataError

_SCORE, _LEVEL, _CODE = pl.col("score"), pl.col("level"), pl.col("code")

MOST_THRESHOLDS = 1_000_000
_CLASSES = 4  # negative, positive, dropped, and one to spare
_CODES = 2**22  # more than there are pairs of a level and a class
_NARROW_KEYS = (
    pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.Date,
)  # fmt: skip
_NO_KEY = 2**40  # above every key of 32 bits


@dataclass(frozen=True)
class Bins:
    """Ascending thresholds; a score is in the bin of the highest one that it reaches.

    ``evenly`` says that they are the numbers 0/k, 1/k, ..., k/k, whose bin needs no search.
    """

    thresholds: list[float]
    evenly: bool = False

    def level(self, score: pl.Expr) -> pl.Expr:
        """Return the place of each score's bin, as Int32; null where it reaches none."""
        score = score.cast(pl.Float64)
        reached = self._even_level(score) if self.evenly else self._searched_level(score)
        return pl.when(score >= self.thresholds[0]).then(reached)

    def _searched_level(self, score: pl.Expr) -> pl.Expr:
        thresholds = pl.lit(pl.Series(self.thresholds, dtype=pl.Float64))
        return thresholds.search_sorted(score, side="right").cast(pl.Int32) - 1

    def _even_level(self, score: pl.Expr) -> pl.Expr:
        """Round to the nearest threshold, and step down from it if the score is below."""
        last = len(self.thresholds) - 1
        nearest = (score.clip(0.0, 1.0) * last).round()
        # A column, for by a scalar Polars divides inexactly, and thresholds are exact quotients.
        threshold = nearest / (score * 0.0 + last).fill_nan(float(last))
        # Not strict: a NaN is for the gate to name.
        return nearest.cast(pl.Int32, strict=False) - (score < threshold).cast(pl.Int32)

    def table(self, score_dtype: pl.DataType) -> pl.LazyFrame:
        """Return ``level``, and the bounds of its bin: from ``score`` to ``below``."""
        dtype = score_dtype if score_dtype.is_float() else pl.Float64()
        ends = {"score": self.thresholds, "below": [*self.thresholds[1:], float("inf")]}
        table = pl.LazyFrame(ends, schema=dict.fromkeys(ends, dtype))
        return table.with_row_index("level")


def count_bins(rows: Rows, bins: Bins) -> Rows:
    """Return rows that each hold the counts of a bin, with its level in place of the score.

    Rows that are left out as missing are in ``n_dropped``, with no level.
    """
    level = bins.level(_SCORE).fill_null(len(bins.thresholds))
    amounts = rows.counted or rows.columns.weighted
    counted = _summed(rows, level) if amounts else _tallied(rows, level)
    reached = pl.when(len(bins.thresholds) > _LEVEL).then(_LEVEL).cast(pl.UInt32).alias("score")
    dropped = [] if rows.n_dropped is None else ["n_dropped"]
    return replace(
        rows,
        frame=counted.select(*rows.keys, reached, "pos", "neg", *dropped),
        counted=True,
        usable=None,
        n_dropped=pl.col("n_dropped") if dropped else None,
        values=None,
    )


def _tallied(rows: Rows, level: pl.Expr) -> pl.LazyFrame:
    """Count rows by key, level and class: one group per combination, and nothing else to add."""
    positive = pl.col("truth").cast(pl.Int64)
    kind = positive if rows.usable is None else pl.when(rows.usable).then(positive).otherwise(2)
    coded = rows.frame.with_columns(code=level.cast(pl.Int64) * _CLASSES + kind)
    counted = _by_code(coded, rows).with_columns(pl.col("len").cast(pl.Int64))
    amounts = {
        name: pl.when(value == _CODE % _CLASSES).then("len").otherwise(0).sum()
        for name, value in (("neg", 0), ("pos", 1), ("n_dropped", 2))
    }
    return counted.group_by(*rows.keys, level=_CODE // _CLASSES).agg(**amounts)


def _by_code(coded: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Count rows by key and code; one integer of both groups twice as fast as two columns."""
    if rows.only_key_dtype not in _NARROW_KEYS:
        return coded.group_by(*rows.keys, "code").agg(pl.len())
    number = pl.col("key_0").to_physical().cast(pl.Int64).fill_null(_NO_KEY)
    counted = coded.group_by(both=number * _CODES + _CODE).agg(pl.len())
    number, code = pl.col("both") // _CODES, pl.col("both") % _CODES
    key = pl.when(number < _NO_KEY).then(number).cast(rows.only_key_dtype)
    return counted.select(key.alias("key_0"), code.alias("code"), "len")


def _summed(rows: Rows, level: pl.Expr) -> pl.LazyFrame:
    """Add up counts or weights by key and level."""
    sums = rows.class_sums()
    if rows.usable is not None:
        sums = [pl.when(rows.usable).then(amount).otherwise(0) for amount in sums]
    dropped = [] if rows.n_dropped is None else [rows.n_dropped.sum().alias("n_dropped")]
    return rows.frame.group_by(*rows.keys, level=level).agg(
        *(amount.sum().alias(name) for amount, name in zip(sums, ("pos", "neg"), strict=True)),
        *dropped,
    )


def quantile_thresholds(lf: pl.LazyFrame, score: IntoColumn, number: int) -> list[float]:
    """Return thresholds between which about equally many scores lie.

    Scores are counted by the first ten bits of their mantissa, so one pass and a small table do.
    """
    column = find_column(lf, "score", score)
    check_numeric("score", column)
    scale, grain = Scale.of(pl.Float32()), 2**13
    scores = lf.select(score=column.expression.cast(pl.Float64)).drop_nans().drop_nulls()
    grains = scale.slot(_SCORE.cast(pl.Float32)) // grain
    table = scores.group_by(grain=grains).agg(pl.len(), least=_SCORE.min()).sort("grain")
    # From the highest score down; what begins in one share of the rows has one threshold.
    rows = pl.col("len").cast(pl.Int64)
    share = (rows.cum_sum() - rows) * number // rows.sum()
    found = table.group_by(share=share).agg(pl.col("least").min()).collect()["least"].sort()
    if found.is_empty():
        raise DataError(f"score= column {column.name!r} has no values", "at least one score")
    return found.to_list()
