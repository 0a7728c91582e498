"""A cluster of two worker processes on this machine that loses one in the middle of a query.

    cd tests/support
    python lost_executor.py FOLDER

It runs in a process of its own, because one process has one session of Spark. It fails if a result
differs from that of Polars, and prints how many executors there were and whether tasks ran again.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._engines import spark_ranges

ROWS, SEGMENTS, WORKERS = 60_000, 20, 2
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}
ATTEMPTS = 3  # to kill an executor before the query ends
PATIENCE = 120.0  # seconds


def main(folder: Path) -> None:
    """Compare queries that lose an executor with Polars."""
    source = folder / "rows.parquet"
    make(source)
    expected = frame_prc.average_precision(
        pl.read_parquet(source), "truth", "score", by="segment", weight="weight"
    )
    spark = session(folder)
    try:
        wait_for(lambda: registered(spark) == WORKERS)
        print(registered(spark), "executors")
        assert_frame_equal(evaluate(spark, source), expected, **ROUNDED)
        tasks = tasks_run(spark)
        for _ in range(ATTEMPTS):
            assert_frame_equal(evaluate_disturbed(spark, source, tasks // 2), expected, **ROUNDED)
            if has_repeated(spark):
                print("repeated tasks, equal results")
                break
    finally:
        spark.stop()


def make(path: Path) -> None:
    """Write rows of which one segment has most."""
    rng = np.random.default_rng(3)
    rare = rng.integers(1, SEGMENTS, ROWS)
    pl.DataFrame(
        {
            "segment": np.where(rng.random(ROWS) < 0.8, 0, rare),
            "truth": rng.random(ROWS) < 0.2,
            "score": rng.random(ROWS).round(6),
            "weight": rng.gamma(0.5, size=ROWS) + 1e-9,
        }
    ).write_parquet(path)


def session(folder: Path) -> Any:
    """Return a session with two executors, which keep their files in the folder."""
    import pyspark  # noqa: PLC0415 - an extra

    home = folder / "home"
    home.mkdir()
    for name in ("bin", "jars"):  # executors write next to these
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    os.environ["SPARK_HOME"] = str(home)
    settings = {
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "8",
        # Compiled, as outside the tests.
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.codegen.factoryMode": "FALLBACK",
        "spark.sql.files.maxPartitionBytes": "200k",
        # A lost executor is not coming back.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "100ms",
    }
    builder = pyspark.sql.SparkSession.builder.master(f"local-cluster[{WORKERS},1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def evaluate(spark: Any, source: Path) -> pl.DataFrame:
    """Return average precision per segment, computed on Spark."""
    frame = spark.read.parquet(str(source))
    table = frame_prc.average_precision(frame, "truth", "score", by="segment", weight="weight")
    return pl.DataFrame(pl.from_arrow(table.toArrow())).sort("segment")


def evaluate_disturbed(spark: Any, source: Path, tasks: int) -> pl.DataFrame:
    """Return the same, and kill an executor after so many tasks."""
    until = tasks_run(spark) + tasks
    results: list[pl.DataFrame] = []
    query = threading.Thread(target=lambda: results.append(evaluate(spark, source)))
    query.start()
    wait_for(lambda: tasks_run(spark) >= until or not query.is_alive())
    executor_processes(spark)[0].destroyForcibly()
    query.join()
    return results[0]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, but not for ever."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("the cluster does not go on")
        time.sleep(0.01)


def registered(spark: Any) -> int:
    """Return the number of executors."""
    tracker = spark.sparkContext._jsc.sc().statusTracker()  # noqa: SLF001 - has no Python interface
    return len(tracker.getExecutorInfos()) - 1  # and the driver


def stages(spark: Any) -> list[Any]:
    """Return what the session knows of each stage: its last attempt."""
    tracker = spark.sparkContext.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(None))
    numbers = {stage for job in jobs if job for stage in job.stageIds}
    return [stage for number in numbers if (stage := tracker.getStageInfo(number))]


def tasks_run(spark: Any) -> int:
    """Return how many tasks have succeeded since the session began."""
    return sum(stage.numCompletedTasks for stage in stages(spark))


def has_repeated(spark: Any) -> bool:
    """Return whether a task ran again, because it or its output was lost."""
    return any(stage.currentAttemptId > 0 or stage.numFailedTasks > 0 for stage in stages(spark))


def executor_processes(spark: Any) -> list[Any]:
    """Return Java's handles of the executors, which the driver started."""
    handles = spark._jvm.java.lang.ProcessHandle.current().children().toArray()  # noqa: SLF001
    backend = "CoarseGrainedExecutorBackend"
    return [handle for handle in handles if backend in handle.info().commandLine().orElse("")]


if __name__ == "__main__":
    # Cut the largest segment, although it is small.
    vars(spark_ranges).update(_RANGES=8, _SAMPLED=8, _FEWEST_SAMPLED=64)
    main(Path(sys.argv[1]))
