"""Exact average precision on Spark, with and without a segment that has most rows.

Run it as ``python tests/benchmarks/spark_skew.py engines [FOLDER]``: it makes 20 million rows in
200 segments, the first with 80 % of them, as a Parquet file in the folder, evaluates it on two
cores with a driver of 2 GB, compares with Polars, and prints for every stage the rows that its
largest task reads from a shuffle. The same rows go through DuckDB for comparison.

With ``windows`` for ``engines`` it makes 2 million rows in 1,000 segments, once even and once with
80 % of them in the first, and takes turns with a plan of two windows per segment, as anybody would
write it. Each turn plans anew. It prints the processor time of tasks and the time that passed, how
often the source was read, all with the call, and the largest share of the giant segment that any
task sorts; and the time of MLlib's evaluator, which has one number for all rows.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import polars as pl
from polars.testing import assert_frame_equal
from py4j.protocol import Py4JJavaError
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import DataFrame, SparkSession, Window, functions

import frame_prc

ROWS, SEGMENTS, GIANT = 20_000_000, 200, 0.8
FEWER_ROWS, MORE_SEGMENTS, TURNS = 2_000_000, 1_000, 5
_MOST_STAGES, _MOST_TASKS = 200, 10_000


def make(path: Path, rows: int, segments: int, giant: float) -> None:
    """Write scores of a rare class; nearly all are distinct."""
    rng = np.random.default_rng(1)
    segment = np.where(rng.random(rows) < giant, 0, rng.integers(1, segments, rows))
    truth = rng.random(rows) < 0.1
    score = 1 / (1 + np.exp(3 - 1.5 * rng.normal(size=rows) - 1.2 * truth))
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


def engines(folder: Path) -> None:
    """Measure and print."""
    path = folder / "skew.parquet"
    if not path.exists():
        make(path, ROWS, SEGMENTS, GIANT)
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


# --- beside two windows ------------------------------------------------------------------------


def windows(folder: Path) -> None:
    """Take turns with a plan of two windows per segment, and print."""
    spark = session()
    for name, giant in (("even", 0.0), ("skewed", GIANT)):
        path = folder / f"{name}.parquet"
        if not path.exists():
            make(path, FEWER_ROWS, MORE_SEGMENTS, giant)
        frame = spark.read.parquet(str(path))
        plans = {"two windows": two_windows, "frame_prc": in_frame_prc}
        seconds = [
            {"plan": name, **timed(spark, plan, frame)}
            for _ in range(TURNS)
            for name, plan in plans.items()
        ]
        grouped = pl.DataFrame(seconds).group_by("plan", maintain_order=True)
        print(name, grouped.agg(pl.all().min()), grouped.agg(pl.all().median()), flush=True)
        print(f"MLlib, all rows as one segment: {evaluator_seconds(frame):.1f} s", flush=True)
    print(f"most of the giant in one sorting task: {largest_share(frame):.1%}")


def in_frame_prc(frame: DataFrame) -> DataFrame:
    """Return average precision per segment."""
    return frame_prc.average_precision(frame, "truth", "score", by="segment")


def two_windows(frame: DataFrame) -> DataFrame:
    """Return the same by one window per segment for running sums and one for totals."""
    counts = frame.groupBy("segment", "score").agg(
        functions.expr("sum(CAST(truth AS BIGINT)) AS pos"),
        functions.expr("sum(CAST(NOT truth AS BIGINT)) AS neg"),
    )
    segment = Window.partitionBy("segment")
    down = segment.orderBy(functions.desc("score"))
    sums = counts.select(
        "segment",
        "pos",
        functions.sum("pos").over(down).alias("tp"),
        functions.sum("neg").over(down).alias("fp"),
        functions.sum("pos").over(segment).alias("positives"),
    )
    area = functions.expr("sum(pos / positives * tp / (tp + fp)) AS average_precision")
    return sums.groupBy("segment").agg(area)


def evaluator_seconds(frame: DataFrame) -> float:
    """Return how long MLlib's evaluator takes for one area of all rows, without bins."""
    started = perf_counter()
    labelled = frame.selectExpr("score", "CAST(truth AS DOUBLE) AS label")
    names = {"rawPredictionCol": "score", "labelCol": "label", "metricName": "areaUnderPR"}
    BinaryClassificationEvaluator(**names, numBins=0).evaluate(labelled)
    return perf_counter() - started


def timed(
    spark: SparkSession, plan: Callable[[DataFrame], DataFrame], frame: DataFrame
) -> dict[str, float]:
    """Return what it takes to call, plan, run and collect."""
    before, started = totals(spark), perf_counter()
    table = plan(frame)
    called = perf_counter() - started
    table.toArrow()
    passed, after = perf_counter() - started, totals(spark)
    return {
        "call_seconds": called,
        "seconds": passed,
        "task_cpu_seconds": after["cpu"] - before["cpu"],
        "tasks": after["tasks"] - before["tasks"],
        "scans": (after["read"] - before["read"]) / FEWER_ROWS,
    }


def totals(spark: SparkSession) -> dict[str, float]:
    """Return what all tasks so far took and read: processor time, rows of files, shuffled bytes."""
    store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001 - has no Python interface
    tracker = spark.sparkContext.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(None))
    found = {"cpu": 0.0, "tasks": 0.0, "read": 0.0, "shuffled": 0.0}
    for stage in {stage for job in jobs if job for stage in job.stageIds}:
        try:
            attempt = store.lastStageAttempt(stage)
        except Py4JJavaError:  # skipped
            continue
        found["cpu"] += attempt.executorCpuTime() / 1e9
        found["tasks"] += attempt.numCompleteTasks()
        found["read"] += attempt.inputRecords()
        found["shuffled"] += attempt.shuffleWriteBytes()
    return found


def largest_share(frame: DataFrame) -> float:
    """Return the largest share of the giant segment in one partition of a curve.

    The points of a curve are where the windows leave them: in the task that sorted them.
    """
    curve = frame_prc.curve(frame, "truth", "score", by="segment", start=None)
    task = functions.spark_partition_id().alias("task")
    points = curve.filter("segment = 0").groupBy(task).count().toArrow()["count"].to_numpy()
    return float(points.max() / points.sum())


def main(measure: Callable[[Path], None], folders: list[str]) -> None:
    """Measure in a given folder, or in one that is removed."""
    if folders:
        measure(Path(folders[0]))
        return
    with tempfile.TemporaryDirectory() as made:
        measure(Path(made))


if __name__ == "__main__":
    main({"engines": engines, "windows": windows}[sys.argv[1]], sys.argv[2:])
