"""Exact average precision and curves for rows that do not fit in memory, in several passes.

Run it as ``python examples/bigger_than_memory.py [ROWS.parquet [FOLDER]]``. An exact result needs
sorted rows, and Polars sorts in memory, so each pass reads only a part of the rows:

- by segments, if every segment fits in memory: each pass takes some whole segments and streams the
  result of any verb to a file;
- by scores, if one segment holds most of the rows: each pass takes one range of scores. The rows
  above and below the range are added as two rows of counts per segment.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
TRUTH, SCORE, SEGMENT = "late", "boosting", "carrier"


def curves_by_segments(rows: pl.LazyFrame, folder: Path, passes: int) -> list[Path]:
    """Write the curves of whole segments, some of the segments in each pass."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"curves_{number}.parquet" for number in range(passes)]
    for number, path in enumerate(paths):
        share = rows.filter(pl.col(SEGMENT).hash(seed=0) % passes == number)
        frame_prc.curve(share, TRUTH, SCORE, by=SEGMENT).sink_parquet(path)
    return paths


def average_precision_by_scores(rows: pl.LazyFrame, passes: int) -> pl.DataFrame:
    """Return the exact average precision of each segment, one range of scores in each pass."""
    edges = frame_prc.quantile_thresholds(rows, SCORE, passes)
    ranges = frame_prc.counts(rows, TRUTH, SCORE, by=SEGMENT, thresholds=edges).collect()
    parts = [_added_in_range(rows, ranges, edges, number) for number in range(len(edges))]
    area = pl.col("average_precision")
    defined = pl.when(area.count() > 0).then(area.sum())
    return pl.concat(parts).group_by(SEGMENT).agg(defined.alias("average_precision")).sort(SEGMENT)


def _added_in_range(
    rows: pl.LazyFrame, ranges: pl.DataFrame, edges: list[float], number: int
) -> pl.DataFrame:
    """Return what the scores in one range contribute to the average precision of each segment."""
    low = edges[number]
    if number + 1 < len(edges):
        within = pl.col(SCORE).is_between(low, edges[number + 1], closed="left")
    else:
        within = pl.col(SCORE) >= low
    amounts = {"pos": pl.col(TRUTH).cast(pl.Int64), "neg": (~pl.col(TRUTH)).cast(pl.Int64)}
    part = rows.filter(within).select(SEGMENT, threshold=pl.col(SCORE).cast(pl.Float64), **amounts)
    above = _at(edges[min(number + 1, len(edges) - 1)], ranges.filter(pl.col("threshold") > low))
    below = _at(edges[max(number - 1, 0)], ranges.filter(pl.col("threshold") < low))
    table = frame_prc.average_precision(
        pl.concat([part, above.lazy(), below.lazy()]),
        score="threshold",
        pos="pos",
        neg="neg",
        by=SEGMENT,
    )
    return _without(table.collect(), above, below)


def _at(threshold: float, ranges: pl.DataFrame) -> pl.DataFrame:
    """Return all counts of some ranges, moved to one threshold."""
    sums = ranges.group_by(SEGMENT).agg(pl.col("pos", "neg").sum())
    return sums.select(SEGMENT, pl.lit(threshold).alias("threshold"), "pos", "neg")


def _without(table: pl.DataFrame, above: pl.DataFrame, below: pl.DataFrame) -> pl.DataFrame:
    """Subtract what the counts above and below the range contribute."""
    found = table.join(above, on=SEGMENT, how="left").join(
        below, on=SEGMENT, how="left", suffix="_below"
    )
    pos, neg = pl.col("pos").fill_null(0), pl.col("neg").fill_null(0)
    first = pl.when(pos > 0).then(pos / pl.col("n_pos") * (pos / (pos + neg))).otherwise(0.0)
    last = pl.col("pos_below").fill_null(0) / pl.col("n")
    return found.select(SEGMENT, average_precision=pl.col("average_precision") - first - last)


def main(path: Path = FLIGHTS, folder: Path = Path("out")) -> None:
    """Print average precision in passes over scores, and write curves in passes over segments."""
    rows = pl.scan_parquet(path)
    with pl.Config(tbl_rows=-1):
        print(average_precision_by_scores(rows, passes=4))
    for written in curves_by_segments(rows, folder, passes=4):
        print(f"curves in {written}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
