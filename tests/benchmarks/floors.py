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
_POS, _NEG = pl.col("pos"), pl.col("neg")
_PRECISION = _TP / _SEEN
# Averages of a segment that the influences of its rows are taken from.
_AVERAGED = ("precision", "precision_scaled", "lost")


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
    """Measures of each segment: a sort, counts, three areas, the best F1, two variances."""
    rows = _numbered(frame, by)
    hits = _sorted_keys(rows).filter("positive").with_row_index("found")
    counted = _with_sizes(hits, rows).with_columns(neg=pl.col("n") - pl.col("pos"))
    seen = pl.col("place").cast(pl.Int64) - pl.col("first") + 1
    found = pl.col("found").cast(pl.Int64) - pl.col("first_hit") + 1
    steps = counted.with_columns(tp=found, fp=seen - found, seen=seen)
    before = steps.with_columns(tp_a=_TP - 1, fp_a=_FP)
    areas = before.with_columns(gain=_gain_area(), f1=2 * _TP / (_SEEN + _POS))
    areas = areas.with_columns(**_growth()).with_columns(**_interpolated())
    odds = frame.select((~pl.col("truth")).sum() / pl.col("truth").sum()).item()
    scale = _POS / _NEG * odds
    scaled = {f"{n}_scaled": e for n, e in _influences(_TP, _TP + _FP * scale).items()}
    influences = areas.with_columns(**_influences(_TP, _SEEN), **scaled)
    precision, hit, miss = (pl.col(f"{name}_scaled") for name in ("precision", "hit", "miss"))
    lost = influences.with_columns(lost=precision * (1 - precision))
    means = {f"mean_{name}": pl.col(name).mean().over("segment") for name in _AVERAGED}
    own_mean, mean, lost_mean = (pl.col(name) for name in means)
    # Negatives of a segment lose together what its positives gain.
    of_negative = lost_mean * _POS / _NEG
    added = pl.when(_TP > 1).then(_FP.diff()).otherwise(_FP)
    squared = lost.with_columns(**means, added=added).with_columns(
        squares=(pl.col("hit") - own_mean) ** 2 + pl.col("added") * pl.col("miss") ** 2,
        squares_scaled=(hit - mean - lost_mean) ** 2
        + pl.col("added") * (miss * scale + of_negative) ** 2,
    )
    rest = (_NEG - _FP.max()).first() * of_negative.first() ** 2
    table = squared.group_by("segment").agg(
        pl.col("pos", "neg", "mean_precision", "mean_precision_scaled").first(),
        pl.col("gain", "interpolated", "shortfall", "squares").sum(),
        squares_scaled=pl.col("squares_scaled").sum() + rest,
        best=pl.struct("slot", "f1").get(pl.col("f1").arg_max()),
    )
    return table.sort("segment").collect()


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


def _gain_area() -> pl.Expr:
    """Return what a step adds to the area of the gain curve, from a recall gain of 0 on."""
    tp_a, fp_a = pl.col("tp_a"), pl.col("fp_a")
    over_a, over_b = ((_NEG * tp - _POS * fp) / tp for tp, fp in ((tp_a, fp_a), (_TP, _FP)))
    width = _POS / _NEG * (_POS / tp_a) / _TP
    return pl.when(_NEG * tp_a >= _POS * (_POS - tp_a)).then(width * (over_a + over_b) / _NEG / 2)


def _growth() -> dict[str, pl.Expr]:
    """Return by how much the retrieved rows grow in a step: ``x``, and ``ln(1 + x)``."""
    retrieved = pl.col("tp_a") + pl.col("fp_a")
    growth = (_SEEN - retrieved) / pl.when(retrieved > 0).then(retrieved)
    return {"growth": growth, "log_growth": growth.log1p(), "slope": 1 / (_SEEN - retrieved)}


def _interpolated() -> dict[str, pl.Expr]:
    """Return the areas below and above a step of the interpolated curve."""
    growth, log_growth, slope = (pl.col(name) for name in ("growth", "log_growth", "slope"))
    tp_a, fp_a = pl.col("tp_a"), pl.col("fp_a")
    areas = {"interpolated": (tp_a, slope), "shortfall": (fp_a, (_FP - fp_a) * slope)}
    return {
        name: pl.when(tp_a + fp_a > 0)
        .then(slope * (low * log_growth + share * (tp_a + fp_a) * (growth - log_growth)))
        .otherwise(share)
        / _POS
        for name, (low, share) in areas.items()
    }


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
