"""Exact average precision on Spark where one segment has most rows, and what each task reads.

Run it as ``python tests/benchmarks/spark_skew.py [FOLDER]``: it makes 20 million rows in 200
segments, the first with 80 % of them, as a Parquet file in the folder, evaluates it on two cores
with a driver of 2 GB, compares with Polars, and prints for every stage the rows that its largest
task reads from a shuffle. The same rows go through DuckDB for comparison.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import polars as pl
from polars.testing import assert_frame_equal
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

import frame_prc

ROWS, SEGMENTS, GIANT = 20_000_000, 200, 0.8
_MOST_STAGES, _MOST_TASKS = 200, 10_000


def make(path: Path) -> None:
    """Write scores of a rare class; nearly all are distinct."""
    rng = np.random.default_rng(1)
    segment = np.where(rng.random(ROWS) < GIANT, 0, rng.integers(1, SEGMENTS, ROWS))
    truth = rng.random(ROWS) < 0.1
    score = 1 / (1 + np.exp(3 - 1.5 * rng.normal(size=ROWS) - 1.2 * truth))
    df = pl.DataFrame({"segment": segment.astype(np.int32), "truth": truth, "score": score})
    df.write_parquet(path, row_group_size=500_000)


def session() -> SparkSession:
    """Return a session on two cores, with a driver of 2 GB."""
    settings = {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "64",
        # Otherwise Spark merges partitions of counts, before they are ranked, up to 64 MB: these
        # pack so well that four tasks would be left.
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def reads(spark: SparkSession) -> pl.DataFrame:
    """Return, for each stage that ran, what its tasks read from shuffles."""
    store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - has no Python interface
    stages = []
    for number in range(_MOST_STAGES):
        try:
            attempt = store.lastStageAttempt(number)
        except Py4JJavaError:  # skipped: its shuffle was there already
            continue
        tasks = store.taskList(number, attempt.attemptId(), _MOST_TASKS)
        rows = [
            tasks.apply(i).taskMetrics().get().shuffleReadMetrics().recordsRead()
            for i in range(tasks.size())
        ]
        if sum(rows) > 0:
            seconds = attempt.executorRunTime() / 1000
            found = {"stage": number, "tasks": len(rows), "rows": sum(rows), "most": max(rows)}
            stages.append({**found, "task_seconds": seconds})
    return pl.DataFrame(stages).with_columns(share=pl.col("most") / (GIANT * ROWS))


def main(folder: Path) -> None:
    """Measure and print."""
    path = folder / "skew.parquet"
    if not path.exists():
        make(path)
    started = perf_counter()
    scan = pl.scan_parquet(path)
    expected = frame_prc.average_precision(scan, "truth", "score", by="segment").collect()
    print(f"Polars: {perf_counter() - started:.0f} s", flush=True)

    started = perf_counter()
    relation = duckdb.read_parquet(str(path))
    table = frame_prc.average_precision(relation, "truth", "score", by="segment").pl()
    print(f"DuckDB: {perf_counter() - started:.0f} s", flush=True)
    assert_frame_equal(table, expected, rel_tol=1e-12, abs_tol=0)

    spark = session()
    started = perf_counter()
    frame = spark.read.parquet(str(path))
    table = frame_prc.average_precision(frame, "truth", "score", by="segment").toArrow()
    print(f"Spark: {perf_counter() - started:.0f} s", flush=True)
    assert_frame_equal(pl.from_arrow(table).sort("segment"), expected, rel_tol=1e-12, abs_tol=0)
    print("what tasks read from shuffles, and the most as a share of the giant's rows:")
    print(reads(spark))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
