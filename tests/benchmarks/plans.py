"""Plans for average precision, side by side: ``python tests/benchmarks/plans.py``.

Each plan takes a lazy frame of ``segment`` (numbered from 0), ``score`` (from 0 to 1) and
``truth``, and returns ``segment`` and ``ap``. All are checked to agree, then timed in turn with a
bare sort of the scores. Prints one Markdown table: times as long as that sort.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.data import Rows
from benchmarks.measure import Timing, attempt, times

import frame_prc

Plan = Callable[[pl.LazyFrame], pl.LazyFrame]

MILLIONS = Rows(5_000_000, segments=100)
KINDS = [
    replace(MILLIONS, segments=segments, score=score)
    for score in ("Float64", "Float32", "2 decimals")
    for segments in (1, 100, 100_000)
]
TOLERANCE = 1e-9
_SEGMENT, _SCORE, _TRUTH = pl.col("segment"), pl.col("score"), pl.col("truth")
_TP, _RETRIEVED = pl.col("tp"), pl.col("retrieved")


# --- by ranks ------------------------------------------------------------------------------


def rank_formula(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Mean over the positives of their rank among positives over their rank among all."""
    found = _SCORE.filter(_TRUTH).rank("max", descending=True)
    retrieved = _SCORE.rank("max", descending=True).filter(_TRUTH)
    return rows.group_by("segment").agg(ap=(found / retrieved).mean())


# --- by sorted rows ------------------------------------------------------------------------


def two_column_sort(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by segment and score, then running sums in windows."""
    ranked = rows.sort("segment", "score", descending=[False, True])
    return _area_of_rows(ranked.with_columns(truth=_TRUTH.cast(pl.Int64)))


def score_sort(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by the score alone, then running sums in windows over rows of mixed segments."""
    ranked = rows.sort("score", descending=True)
    return _area_of_rows(ranked.with_columns(truth=_TRUTH.cast(pl.Int64)))


def _area_of_rows(ranked: pl.LazyFrame) -> pl.LazyFrame:
    next_score = _SCORE.shift(-1).over("segment")
    points = ranked.with_columns(
        tp=_TRUTH.cum_sum().over("segment"),
        retrieved=_TRUTH.cum_count().over("segment"),
        ends_tie=next_score.is_null() | (next_score != _SCORE),
    )
    return _area_of_points(points.filter("ends_tie"))


def counts_first(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Count positives and rows at each score, then sort the counts by two columns."""
    counts = rows.group_by("segment", "score").agg(pos=_TRUTH.cast(pl.Int64).sum(), n=pl.len())
    ranked = counts.sort("segment", "score", descending=[False, True])
    points = ranked.with_columns(
        tp=pl.col("pos").cum_sum().over("segment"),
        retrieved=pl.col("n").cast(pl.Int64).cum_sum().over("segment"),
    )
    return _area_of_points(points)


def _area_of_points(points: pl.LazyFrame) -> pl.LazyFrame:
    """Sum ``(R_n - R_(n-1)) * P_n``, given ``tp`` and ``retrieved`` at each score, best first."""
    gain = _TP - _TP.shift(1, fill_value=0).over("segment")
    steps = points.select("segment", "tp", step=gain * _TP / _RETRIEVED)
    return steps.group_by("segment").agg(ap=pl.col("step").sum() / _TP.max())


# --- by one integer key --------------------------------------------------------------------


def packed_int128(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort segment, score and truth packed in one Int128, wide enough for any score."""
    bits, slot = _slots(rows)
    return _area_of_keys(rows, slot, bits, pl.Int128)


def packed_int64(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The same in an Int64, after a look at the range of the scores."""
    _, slot = _slots(rows)
    bounds = rows.select(least=slot.min(), most=slot.max()).collect()
    least, most = bounds.row(0)
    room = (most - least).bit_length()
    last = rows.select(_SEGMENT.max()).collect().item()
    if last.bit_length() + room + 2 > 63:
        raise OverflowError("segment, score and truth have more bits than an Int64")
    return _area_of_keys(rows, slot - least, room, pl.Int64)


def packed_counts(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Count each Int128 key first, and sort the counts: few where scores repeat."""
    bits, slot = _slots(rows)
    counts = _keys(rows, slot, bits, pl.Int128).group_by("key").agg(n=pl.len().cast(pl.Int64))
    seen = counts.sort("key").with_columns(seen=pl.col("n").cum_sum())
    found = seen.filter(_odd(pl.Int128)).with_columns(found=pl.col("n").cum_sum())
    return _area_of_hits(found, bits, pl.Int128)


def in_segment_sort(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort score and truth, packed in one Int64, inside each group, not over all rows."""
    _, slot = _slots(rows)
    key = (slot * 2 + _TRUTH.cast(pl.Int64)).alias("key")
    grouped = rows.group_by("segment").agg(key.sort())
    ranked = grouped.explode("key").select("segment", score="key", truth=pl.col("key") & 1)
    # A tie is all keys with the same slot: truth, its lowest bit, is left out.
    return _area_of_rows(ranked.with_columns(score=_SCORE // 2))


def packed_all_rows(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort Int128 keys, then windows over all rows, and not over the positives alone."""
    bits, slot = _slots(rows)
    size = 2 ** (bits + 1)
    key = _packed(slot, size, pl.Int128)
    ranked = (
        rows.select(key)
        .sort("key")
        .select(
            segment=(pl.col("key") // _lit(size, pl.Int128)).cast(pl.Int64),
            score=pl.col("key") // _lit(2, pl.Int128),
            truth=(pl.col("key") & _lit(1, pl.Int128)).cast(pl.Int64),
        )
    )
    return _area_of_rows(ranked)


def _slots(rows: pl.LazyFrame) -> tuple[int, pl.Expr]:
    """Return the width in bits, and the integer of each score, the highest score first.

    The bits of a float of 0 or more, read as an integer, ascend as it does.
    """
    dtype = rows.collect_schema()["score"]
    raw = pl.Int32 if dtype == pl.Float32 else pl.Int64
    highest = 0x3F800000 if dtype == pl.Float32 else 0x3FF0000000000000  # the bits of 1.0
    slot = highest - _SCORE.reinterpret(dtype=raw).cast(pl.Int64)
    return highest.bit_length(), slot


def _packed(slot: pl.Expr, size: int, dtype: type[pl.DataType]) -> pl.Expr:
    within = slot.cast(dtype) * _lit(2, dtype) + _TRUTH.cast(dtype)
    return (_SEGMENT.cast(dtype) * _lit(size, dtype) + within).alias("key")


def _area_of_keys(
    rows: pl.LazyFrame, slot: pl.Expr, bits: int, dtype: type[pl.DataType]
) -> pl.LazyFrame:
    """Sort keys, and go on with the positives alone: last in each tie, they know how many rows."""
    keys = _keys(rows, slot, bits, dtype).sort("key").with_row_index("seen")
    return _area_of_hits(keys.filter(_odd(dtype)).with_row_index("found"), bits, dtype)


def _keys(rows: pl.LazyFrame, slot: pl.Expr, bits: int, dtype: type[pl.DataType]) -> pl.LazyFrame:
    """Return a key for each row, and an odd one before all others to open each segment."""
    size = 2 ** (bits + 2)
    opening = rows.select(_SEGMENT.unique()).select(
        key=_SEGMENT.cast(dtype) * _lit(size, dtype) + _lit(1, dtype)
    )
    return pl.concat([rows.select(_packed(slot + 1, size, dtype)), opening])


def _area_of_hits(odd: pl.LazyFrame, bits: int, dtype: type[pl.DataType]) -> pl.LazyFrame:
    """Take the steps at the last positive of each tie; what opens a segment says what was before.

    ``found`` and ``seen`` are how many positives and rows there are up to each, in all segments.
    """
    size, key = 2 ** (bits + 2), pl.col("key")
    sums = odd.filter((key != key.shift(-1)).fill_null(value=True)).select(
        (key & _lit(size - 1, dtype) == _lit(1, dtype)).alias("opens"),
        (key // _lit(size, dtype)).cast(pl.Int64).alias("segment"),
        pl.col("found", "seen").cast(pl.Int64),
    )
    points = sums.select(
        "segment", "opens", tp=_since_opening("found"), retrieved=_since_opening("seen")
    )
    step = (_TP - _TP.shift(1)) * _TP / _RETRIEVED
    steps = points.with_columns(step=step).filter(~pl.col("opens"))
    return steps.group_by("segment").agg(ap=pl.col("step").sum() / _TP.max())


def _odd(dtype: type[pl.DataType]) -> pl.Expr:
    return pl.col("key") & _lit(1, dtype) == _lit(1, dtype)


def _since_opening(running: str) -> pl.Expr:
    return pl.col(running) - pl.when("opens").then(running).forward_fill()


def _lit(value: int, dtype: type[pl.DataType]) -> pl.Expr:
    return pl.lit(value, dtype=dtype)


# --- outside Polars ------------------------------------------------------------------------


def numpy_apart(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort positives and negatives apart in NumPy, and search the ones in the others."""

    def area(part: pl.DataFrame) -> float:
        truth, score = part["truth"].to_numpy(), part["score"].to_numpy()
        positives, negatives = np.sort(score[truth]), np.sort(score[~truth])
        found = len(positives) - np.searchsorted(positives, positives)
        wrong = len(negatives) - np.searchsorted(negatives, positives)
        return float(np.mean(found / (found + wrong))) if len(positives) else np.nan

    parts = rows.collect().partition_by("segment", as_dict=True)
    areas = {"segment": [key[0] for key in parts], "ap": [area(part) for part in parts.values()]}
    return pl.LazyFrame(areas)


def ours(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The plan of frame_prc, with all that it checks, given a frame in memory to look at."""
    table = frame_prc.average_precision(rows.collect(), "truth", "score", by="segment")
    return table.lazy().select("segment", ap="average_precision")


def ours_lazy(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The plan of frame_prc without a look at the values."""
    table = frame_prc.average_precision(rows, "truth", "score", by="segment")
    return table.select("segment", ap="average_precision")


PLANS: dict[str, Plan] = {
    "rank formula in agg": rank_formula,
    "sort by two columns, windows": two_column_sort,
    "sort by score, windows": score_sort,
    "counts first, then sort": counts_first,
    "sort inside each group, Int64": in_segment_sort,
    "packed Int128, counts first": packed_counts,
    "packed Int128, all rows in windows": packed_all_rows,
    "packed Int128, positives alone": packed_int128,
    "packed Int64 after a look, positives alone": packed_int64,
    "NumPy, classes apart": numpy_apart,
    "frame_prc, in memory": ours,
    "frame_prc, lazy": ours_lazy,
}


# --- the comparison ------------------------------------------------------------------------


def main() -> None:
    """Read the command line, compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--quick", action="store_true", help="few rows, to see that all works")
    asked = parser.parse_args()
    sized = [rows.smaller() if asked.quick else rows for rows in KINDS]
    columns = [compare(rows, 1 if asked.quick else asked.rounds) for rows in sized]
    print(f"| plan | {' | '.join(map(str, sized))} |")
    print("| --- " * (1 + len(sized)) + "|")
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


def compare(rows: Rows, rounds: int) -> dict[str, str]:
    """Return, for each plan, how many times as long as a bare sort it takes, and the spread."""
    frame = rows.frame().select("segment", "score", "truth")
    runs = {name: partial(_run, plan, frame) for name, plan in PLANS.items()}
    _check_agreement(runs)
    taken = times({"bare sort": frame["score"].sort, **runs}, rounds)
    print(f"{rows}: done", file=sys.stderr, flush=True)
    return {name: _shown(timing, taken["bare sort"]) for name, timing in taken.items()}


def _run(plan: Plan, frame: pl.DataFrame) -> pl.DataFrame:
    return plan(frame.lazy()).collect()


def _check_agreement(runs: dict[str, Callable[[], pl.DataFrame]]) -> None:
    expected = _areas(runs["rank formula in agg"]())
    for name, run in runs.items():
        result, why = attempt(run)
        if why:
            continue  # the table says so
        found = _areas(result)
        worst = (found - expected).abs().max() if len(found) == len(expected) else np.inf
        if not worst <= TOLERANCE:
            raise ValueError(f"{name} differs from the rank formula by {worst}")


def _areas(table: pl.DataFrame) -> pl.Series:
    # Without positives some give null, some NaN, since the sums are 0 of 0, and some no row.
    return table.sort("segment")["ap"].fill_nan(None).drop_nulls()


def _shown(timing: Timing, floor: Timing) -> str:
    if timing is floor:
        return f"{timing.median:.3g} s"
    if timing.note:
        return "does not fit"
    ratios = [a / b for a, b in zip(timing.seconds, floor.seconds, strict=True)]
    return f"{timing.median / floor.median:.2g} ({min(ratios):.2g} to {max(ratios):.2g})"


if __name__ == "__main__":
    main()
