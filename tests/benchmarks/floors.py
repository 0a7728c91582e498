"""Floors: bare plans of the same steps, which the times of verbs can be compared with.

Sums are those within segments, as they must be, and results agree with those of the verbs to some
digits. Left out is what a verb cannot leave out: values are not checked, scores are taken as
distinct, of which a key keeps the first bits, and the key of a segment is a small integer; only
areas and curves number strings.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import polars as pl

_SCORE_BITS = 62  # of a Float64 from 0 to 1, whose bits ascend as it does

_POSITIVE, _TP, _FP, _SEEN = (pl.col(name) for name in ("positive", "tp", "fp", "seen"))
_WEIGHT, _ROW, _INFLUENCE = pl.col("weight"), pl.col("row"), pl.col("influence")
_PRECISION = _TP / _SEEN


def of_pandas(
    plan: Callable[[pl.DataFrame, list[str]], pl.DataFrame], frame: pd.DataFrame, by: list[str]
) -> pd.DataFrame:
    """Run a plan on a frame of pandas, from the columns that it reads back to pandas."""
    return plan(pl.from_pandas(frame[[*by, "truth", "score"]]), by).to_pandas()


def areas(frame: pl.DataFrame | pl.LazyFrame, by: list[str]) -> pl.DataFrame:
    """Average precision: keys, a sort of them, and the places of the positives."""
    rows = _numbered(frame, by)
    return _areas(rows, _sorted_keys(rows))


def areas_told_apart(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Average precision, with a look at whether scores, of which keys lack bits, came together."""
    rows = _numbered(frame, by)
    ordered = _sorted_keys(rows, told_apart=True)
    return _areas(rows, ordered)


def _areas(rows: pl.LazyFrame, ordered: pl.LazyFrame) -> pl.DataFrame:
    hits = ordered.filter("positive").with_row_index("found")
    counted = _with_sizes(hits, rows)
    seen = pl.col("place").cast(pl.Int64) - pl.col("first") + 1
    tp = pl.col("found").cast(pl.Int64) - pl.col("first_hit") + 1
    return counted.group_by("segment").agg(area=(tp / seen).mean()).sort("segment").collect()


def curve(frame: pl.DataFrame | pl.LazyFrame, by: list[str]) -> pl.DataFrame:
    """All points: keys, a sort of them, and eight columns."""
    bits = 2**_SCORE_BITS - pl.col("slot").cast(pl.Int64)
    return (
        _points(frame, by)
        .select(
            "segment",
            "tp",
            threshold=bits.reinterpret(dtype=pl.Float64),
            fp=_SEEN - _TP,
            fn=pl.col("pos") - _TP,
            tn=pl.col("n") - pl.col("pos") - _SEEN + _TP,
            precision=_PRECISION,
            recall=_TP / pl.col("pos"),
        )
        .collect()
    )


def operating_points(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Points of four targets: all points, and for each target that with the highest value."""
    pos, n = pl.col("pos"), pl.col("n")
    values = {
        "recall": pl.when(_TP / pos >= 0.8).then(_PRECISION),
        "precision": pl.when(_PRECISION >= 0.5).then(_TP),
        "f1": 2 * _TP / (_SEEN + pos),
        "predicted_rate": pl.when(0.1 * n >= _SEEN).then(_SEEN),
    }
    rated = _points(frame, by).with_columns(**values)
    point = pl.struct("slot", "tp", "seen", "pos", "n")
    best = {name: point.get(pl.col(name).arg_max()) for name in values}
    return rated.group_by("segment").agg(**best).sort("segment").collect()


def weighted(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Average precision with weights: a sort, a gather, two running sums."""
    ranked = _ranked(frame, by, "score").with_columns(weight=frame["weight"])
    ranked = ranked.with_columns(_WEIGHT.gather("row"))
    lost = pl.when("positive").then(0.0).otherwise(_WEIGHT)
    hits = ranked.with_columns(fp=_within(lost.cum_sum())).filter("positive")
    sums = hits.with_columns(tp=_within(_WEIGHT.cum_sum()))
    area = sums.with_columns(step=_WEIGHT * _TP / (_TP + _FP))
    totals = area.group_by("segment").agg(pl.col("step", "weight").sum())
    return totals.select("segment", area=pl.col("step") / _WEIGHT).collect()


def weighted_curve(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """All points with weights: a sort, two gathers, two running sums, and eight columns."""
    given = _ranked(frame, by, "score").with_columns(
        weight=frame["weight"], threshold=frame["score"]
    )
    ranked = given.with_columns(pl.col("weight", "threshold").gather("row"))
    won = pl.when("positive").then(_WEIGHT).otherwise(0.0)
    sums = ranked.with_columns(tp=_within(won.cum_sum()), fp=_within((_WEIGHT - won).cum_sum()))
    totals = sums.group_by("segment").agg(pos=_TP.last(), neg=_FP.last())
    points = sums.join(totals, on="segment", how="left", maintain_order="left")
    return points.select(
        "segment",
        "threshold",
        "tp",
        "fp",
        fn=pl.col("pos") - _TP,
        tn=pl.col("neg") - _FP,
        precision=_TP / (_TP + _FP),
        recall=_TP / pl.col("pos"),
    ).collect()


def clusters(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Variance by clusters: a sort, influences of rows, their sums in clusters of segments."""
    ranked = _with_influence(frame, by, "score").with_columns(user=frame["user"])
    sums = (
        ranked.with_columns(pl.col("user").gather("row"))
        .group_by("segment", "user")
        .agg(_INFLUENCE.sum())
    )
    return _squared(sums, _INFLUENCE**2).collect()


def comparison(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Variance of a difference: two sorts, influences of rows, a sort to bring them together."""
    first, second = (_with_influence(frame, by, name) for name in ("score", "other"))
    row, place = _ROW.cast(pl.UInt64), pl.int_range(pl.len(), dtype=pl.UInt64)
    in_order = second.select(other=_INFLUENCE.gather((row * 2**32 + place).sort() % 2**32))
    both = pl.concat([first, in_order], how="horizontal", parallel=False)
    both = both.with_columns(pl.col("other").gather("row"))
    return _squared(both, (_INFLUENCE - pl.col("other")) ** 2).collect()


def scorecards(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Measures of each segment: a sort, running sums, three areas, the best F1, two variances."""
    hits = _hits(_ranked(frame, by, "score"))
    total = pl.len().over("segment")
    gain, interpolated = 1 - _FP / _TP, 1 + _FP / _TP * (_TP / (_TP + 1)).log()
    rated = hits.with_columns(
        gain=gain, interpolated=interpolated, f1=2 * _TP / (_SEEN + total), scaled=_TP + 2 * _FP
    )
    own, scaled = (_influences(_TP, seen) for seen in (_SEEN, pl.col("scaled")))
    scaled = {f"{name}_scaled": each for name, each in scaled.items()}
    influences = rated.with_columns(**own, **scaled)
    squares = {
        end: (pl.col(f"hit{end}") - pl.col(f"precision{end}").mean()) ** 2
        + (_SEEN - _SEEN.shift(1, fill_value=0) - 1) * pl.col(f"miss{end}") ** 2
        for end in ("", "_scaled")
    }
    measures = ("gain", "interpolated", "precision", "precision_scaled")
    return (
        influences.group_by("segment")
        .agg(
            pl.col(measures).sum(),
            variance=squares[""].sum(),
            variance_scaled=squares["_scaled"].sum(),
            best=pl.col("f1").arg_max(),
        )
        .collect()
    )


def distinct(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Average precision of scores of which few are distinct: they are counted, then sorted."""
    counted = frame.lazy().group_by(*by, "score").agg(pl.len(), pos=pl.col("truth").sum())
    ranked = counted.sort(*by, "score", descending=True).with_columns(
        tp=pl.col("pos").cum_sum().over(by), seen=pl.col("len").cum_sum().over(by)
    )
    return ranked.group_by(by).agg((pl.col("pos") * _PRECISION).sum()).collect()


# --- steps ---------------------------------------------------------------------------------


def _within(running: pl.Expr) -> pl.Expr:
    """Return a running sum within each segment of sorted rows."""
    return running.over("segment", mapping_strategy="explode")


def _slot(score: str) -> pl.Expr:
    """Return integers that ascend as scores descend."""
    return 2**_SCORE_BITS - pl.col(score).reinterpret(dtype=pl.Int64)


def _points(frame: pl.DataFrame | pl.LazyFrame, by: list[str]) -> pl.LazyFrame:
    """Return all points with ``segment, slot, tp, seen, pos, n``: the running counts and sizes."""
    rows = _numbered(frame, by)
    found = pl.col("positive").cast(pl.Int64).cum_sum()
    counted = _with_sizes(_sorted_keys(rows).with_columns(found=found), rows)
    seen = pl.col("place").cast(pl.Int64) - pl.col("first") + 1
    return counted.with_columns(seen=seen, tp=pl.col("found") - pl.col("first_hit"))


def _numbered(frame: pl.DataFrame | pl.LazyFrame, by: list[str]) -> pl.LazyFrame:
    """Return ``segment, score, truth``; the segment is the key, or the number of a string."""
    rows, key = frame.lazy(), pl.col(by[0])
    if rows.collect_schema()[by[0]].is_integer():
        return rows.select("score", "truth", segment=key)
    numbers = rows.group_by(key).agg().sort(key).with_row_index("number")
    joined = rows.join(numbers, on=by[0], how="left", maintain_order="none")
    segment = pl.col("number").cast(pl.Int64)
    return joined.select("score", "truth", segment=segment).collect().lazy()


def _sorted_keys(rows: pl.LazyFrame, *, told_apart: bool = False) -> pl.LazyFrame:
    """Return ``place, segment, slot, positive`` from a sort of keys with first bits of scores.

    With ``told_apart``, there must be no two keys with the same bits of a score.
    """
    segments = int(rows.select(pl.col("segment").max()).collect().item()).bit_length()
    dropped = 2 ** max(segments + _SCORE_BITS + 1 - 64, 0)
    size = 2 ** (64 - segments)
    slot, packed = (_slot("score") // dropped).cast(pl.UInt64), pl.col("packed")
    key = pl.col("segment").cast(pl.UInt64) * (size // 2) + slot
    ordered = rows.select(packed=(key * 2 + pl.col("truth")).sort())
    if told_apart:
        ordered = ordered.collect().lazy()
        came_together = (packed ^ packed.shift(-1)) < 2
        assert not ordered.select(came_together.any()).collect().item()
    return ordered.with_row_index("place").select(
        "place",
        segment=(packed // size).cast(pl.Int64).set_sorted(),
        slot=packed % size // 2 * dropped,
        positive=(packed & 1).cast(pl.Boolean),
    )


def _with_sizes(ranked: pl.LazyFrame, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the sizes of the segment of each row, and where its rows and positives begin."""
    sizes = pl.len().cast(pl.Int64), pl.col("truth").sum().cast(pl.Int64)
    table = rows.group_by("segment").agg(n=sizes[0], pos=sizes[1]).sort("segment")
    begins = table.with_columns(
        first=pl.col("n").cum_sum() - pl.col("n"), first_hit=pl.col("pos").cum_sum() - pl.col("pos")
    )
    return ranked.join(begins, on="segment", how="left", maintain_order="left")


def _ranked(frame: pl.DataFrame, by: list[str], score: str) -> pl.LazyFrame:
    """Return ``segment, positive, row`` in ranking order, from one sort of 64-bit integers."""
    rows = frame.height.bit_length()
    segments = int(frame[by[0]].max()).bit_length()
    dropped = segments + _SCORE_BITS + 1 + rows - 64
    key = pl.col(by[0]).cast(pl.UInt64) * 2 ** (63 - rows - segments)
    key = ((key + (_slot(score) // 2**dropped).cast(pl.UInt64)) * 2 + pl.col("truth")) * 2**rows
    packed = pl.col("packed")
    return (
        frame.lazy()
        .with_row_index("number")
        .select(packed=(key + pl.col("number").cast(pl.UInt64)).sort())
        .select(
            (packed // 2 ** (64 - segments)).alias("segment").set_sorted(),
            (packed & 2**rows).cast(pl.Boolean).alias("positive"),
            (packed & (2**rows - 1)).cast(pl.UInt32).alias("row"),
        )
    )


def _hits(ranked: pl.LazyFrame) -> pl.LazyFrame:
    """Return ``segment, tp, fp, seen`` of positives in ranking order, counted in each segment."""
    place, first = pl.col("place").cast(pl.Int64), pl.col("place").min().cast(pl.Int64)
    numbered = ranked.with_row_index("place")
    begins = numbered.group_by("segment").agg(first=first)
    hits = numbered.filter("positive").with_columns(
        tp=_within(pl.int_range(1, pl.len() + 1)), row=place
    )
    joined = hits.join(begins, on="segment", how="left", maintain_order="left")
    seen = joined.with_columns(seen=place - pl.col("first") + 1)
    return seen.with_columns(fp=_SEEN - _TP).select("segment", "tp", "fp", "seen")


def _influences(tp: pl.Expr, seen: pl.Expr) -> dict[str, pl.Expr]:
    """Return the precision at each hit, and what a unit of weight changes, times the positives."""
    precision, rate = tp / seen, 1 / seen
    raised = _within((rate * (1 - precision)).cum_sum(reverse=True))
    lowered = _within((rate * precision).cum_sum(reverse=True))
    return {"precision": precision, "hit": precision + raised, "miss": -lowered}


def _with_influence(frame: pl.DataFrame, by: list[str], score: str) -> pl.LazyFrame:
    """Return ``segment, row`` and what a unit of weight at each row changes."""
    ranked = _ranked(frame, by, score)
    hits = _hits(ranked).with_columns(**_influences(_TP, _SEEN))
    total = pl.len().over("segment")
    steps = hits.select(
        owner="segment",
        hit=(pl.col("hit") - pl.col("precision").mean().over("segment")) / total,
        miss=pl.col("miss") / total,
    )
    place = _POSITIVE.cast(pl.UInt32).cum_sum() - _POSITIVE.cast(pl.UInt32)
    last = pl.lit(frame["truth"].sum() - 1, dtype=pl.UInt32)
    joined = pl.concat(
        [ranked.with_columns(place=place.clip(upper_bound=last)), steps],
        how="horizontal_extend",
        parallel=False,
    )
    owner, hit, miss = (pl.col(name).gather("place") for name in ("owner", "hit", "miss"))
    # Rows below all positives of their segment change nothing.
    influence = pl.when("positive").then(hit).when(owner == pl.col("segment")).then(miss)
    return joined.select("segment", "row", influence=influence.otherwise(0.0))


def _squared(rows: pl.LazyFrame, squares: pl.Expr) -> pl.LazyFrame:
    return rows.group_by("segment").agg(squares.sum())
