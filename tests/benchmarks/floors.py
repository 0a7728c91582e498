"""Floors: bare plans of the same steps, which the times of verbs can be compared with.

They leave out what a verb cannot: values are not checked, scores are taken as distinct, the key as
a small integer, and sums run on from one segment to the next. So their results are wrong, and only
their times mean something.
"""

from __future__ import annotations

import polars as pl

_SCORE_BITS = 62  # of a Float64 from 0 to 1, whose bits ascend as it does

_POSITIVE, _TP, _SEEN = pl.col("positive"), pl.col("tp"), pl.col("seen")
_PRECISION = _TP / _SEEN


def weighted(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Average precision with weights: a sort, a gather, two running sums."""
    weight = pl.col("weight")
    ranked = _ranked(frame, by, "score").with_columns(weight=frame["weight"])
    sums = ranked.with_columns(weight.gather("row")).with_columns(
        tp=pl.when("positive").then(weight).otherwise(0.0).cum_sum(), seen=weight.cum_sum()
    )
    areas = sums.filter("positive").group_by("segment")
    return areas.agg(area=(weight * _PRECISION).sum(), positives=weight.sum()).collect()


def clusters(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Variance by clusters: a sort, influences of rows, their sums in clusters of segments."""
    ranked = _with_influence(_ranked(frame, by, "score")).with_columns(user=frame["user"])
    sums = (
        ranked.with_columns(pl.col("user").gather("row"))
        .group_by("segment", "user")
        .agg(pl.col("influence").sum())
    )
    return _squared(sums, pl.col("influence") ** 2).collect()


def comparison(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Variance of a difference: two sorts, influences of rows, a sort to bring them together."""
    first, second = (_with_influence(_ranked(frame, by, name)) for name in ("score", "other"))
    row, place = pl.col("row").cast(pl.UInt64), pl.int_range(pl.len(), dtype=pl.UInt64)
    in_order = second.select(other=pl.col("influence").gather((row * 2**32 + place).sort() % 2**32))
    both = pl.concat([first, in_order], how="horizontal", parallel=False)
    both = both.with_columns(pl.col("other").gather("row"))
    return _squared(both, (pl.col("influence") - pl.col("other")) ** 2).collect()


def scorecards(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Measures of each segment: a sort, running sums, three areas, the best F1, two variances."""
    hits = _hits(frame, by).with_columns(fp=_SEEN - _TP)
    step, gain = _PRECISION, 1 - pl.col("fp") / _TP
    interpolated = 1 + pl.col("fp") / _TP * (_TP / (_TP + 1)).log()
    influence = _PRECISION + (1 / _SEEN).cum_sum(reverse=True)
    return (
        hits.with_columns(step=step, gain=gain, interpolated=interpolated)
        .with_columns(own=influence, calibrated=influence * step)
        .group_by("segment")
        .agg(
            pl.col("step", "gain", "interpolated").sum(),
            pl.col("own", "calibrated").pow(2).sum(),
            best=(_TP / (_SEEN + pl.len())).arg_max(),
        )
        .collect()
    )


def distinct(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Average precision of scores of which few are distinct: they are counted, then sorted."""
    counted = frame.lazy().group_by(*by, "score").agg(pl.len(), pos=pl.col("truth").sum())
    sums = counted.sort(*by, "score", descending=True).with_columns(
        tp=pl.col("pos").cum_sum(), seen=pl.col("len").cum_sum()
    )
    return sums.group_by(by).agg((pl.col("pos") * _PRECISION).sum()).collect()


# --- steps ---------------------------------------------------------------------------------


def _slot(score: str) -> pl.Expr:
    """Return integers that ascend as scores descend."""
    return 2**_SCORE_BITS - pl.col(score).reinterpret(dtype=pl.Int64)


def _ranked(frame: pl.DataFrame, by: list[str], score: str) -> pl.LazyFrame:
    """Return ``segment, positive, row`` in ranking order, from one sort of 64-bit integers."""
    rows = frame.height.bit_length()
    segments = int(frame[by[0]].max()).bit_length()
    dropped = segments + _SCORE_BITS + 1 + rows - 64
    key = pl.col(by[0]).cast(pl.UInt64) * 2 ** (63 - rows - segments)
    key = ((key + (_slot(score) // 2**dropped).cast(pl.UInt64)) * 2 + pl.col("truth")) * 2**rows
    row = pl.int_range(pl.len(), dtype=pl.UInt64)
    packed = pl.col("packed")
    return (
        frame.lazy()
        .select(packed=(key + row).sort())
        .select(
            (packed // 2 ** (64 - segments)).alias("segment").set_sorted(),
            (packed & 2**rows).cast(pl.Boolean).alias("positive"),
            (packed & (2**rows - 1)).cast(pl.UInt32).alias("row"),
        )
    )


def _with_influence(ranked: pl.LazyFrame) -> pl.LazyFrame:
    """Add what a unit of weight at each row changes."""
    sums = ranked.with_row_index("seen", 1).with_columns(tp=_POSITIVE.cast(pl.Int64).cum_sum())
    rate = pl.when("positive").then(1 / _SEEN).otherwise(0.0)
    below = rate.cum_sum(reverse=True)
    influence = pl.when("positive").then(_PRECISION + below).otherwise(-below)
    return sums.select("segment", "row", influence=influence)


def _squared(rows: pl.LazyFrame, squares: pl.Expr) -> pl.LazyFrame:
    return rows.group_by("segment").agg(squares.sum())


def _hits(frame: pl.DataFrame, by: list[str]) -> pl.LazyFrame:
    """Return ``segment, tp, seen`` of positives in ranking order."""
    key = (pl.col(by[0]).cast(pl.Int128) * 2**_SCORE_BITS + _slot("score")) * 2
    segment = pl.col("packed") // 2 ** (_SCORE_BITS + 1)
    return (
        frame.lazy()
        .select(packed=(key + pl.col("truth")).sort())
        .with_row_index("seen", 1)
        .filter(pl.col("packed") & 1 == 1)
        .with_row_index("tp", 1)
        .select("seen", "tp", segment=segment.cast(pl.Int64).set_sorted())
    )
