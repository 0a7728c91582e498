"""What intervals, clusters and paired comparisons cost inside DuckDB and Spark, and how it grows.

Run it as ``python tests/benchmarks/in_engines.py duckdb [ROWS...]``: it makes rows in 100 segments
with 2,000 clusters that cross them, as Parquet files, counts how often the queries of each verb
scan them, by DuckDB's own profile, and prints their time beside that of sorting the rows by segment
and score. With ``spark`` the time is beside that of a plan of two windows, as anybody would write
it, and the bytes that tasks write for others are counted. Times are those that pass and those of
the processor, which other programs disturb less. With several numbers of rows it fits how the
processor's time grows, and continues that to 10 billion rows.

``duckdb-on-disk`` gives DuckDB half of the memory that the rows take, at least 300 MB.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import linear_regression
from time import perf_counter, process_time
from typing import Any

import duckdb
import numpy as np
import polars as pl

import frame_prc
from frame_prc._engines import estimates

SEGMENTS, CLUSTERS, TURNS = 100, 2_000, 3
PART = 10_000_000  # rows that are made at once
BYTES = 41  # of a row
MANY = 10_000_000_000
BY = {"by": "segment"}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "average_precision": (frame_prc.average_precision, {"score": "old"}),
    "with an interval": (frame_prc.average_precision, {"score": "old", "ci": 0.95}),
    "with weights": (frame_prc.average_precision, {"score": "old", "ci": 0.95, "weight": "weight"}),
    "with clusters": (frame_prc.average_precision, {"score": "old", "ci": 0.95, "cluster": "day"}),
    "summary": (frame_prc.summary, {"score": "old"}),
    "compare_models": (frame_prc.compare_models, {"score": ["old", "new"]}),
}


def make(rows: int, seed: int = 1) -> pl.DataFrame:
    """Return scores of which nearly all are distinct."""
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.1
    return pl.DataFrame(
        {
            "segment": random.integers(0, SEGMENTS, rows),
            "day": random.integers(0, CLUSTERS, rows),
            "truth": truth,
            "old": random.normal(size=rows) + truth,
            "new": random.normal(size=rows) + 1.2 * truth,
            "weight": random.integers(1, 9, rows) / 4,
        }
    )


@contextmanager
def stored(rows: int) -> Iterator[str]:
    """Yield the name of Parquet files with as many rows."""
    with tempfile.TemporaryDirectory() as folder:
        for part in range(-(-rows // PART)):
            df = make(min(PART, rows - part * PART), part + 1)
            df.write_parquet(Path(folder) / f"rows-{part}.parquet")
        yield f"{folder}/*.parquet"


def fastest(call: Callable[[], object], turns: int = TURNS) -> tuple[float, float]:
    """Return the shortest of several turns, by the clock and by the processor."""
    times = []
    for _ in range(turns):
        start, busy = perf_counter(), process_time()
        call()
        times.append((perf_counter() - start, process_time() - busy))
    return min(clock for clock, _ in times), min(busy for _, busy in times)


def collected(result: Any) -> object:
    """Compute a result that is still a relation, or a Spark frame."""
    if isinstance(result, pl.DataFrame):
        return result
    return result.pl() if hasattr(result, "pl") else result.toArrow()


def scans(connection: duckdb.DuckDBPyConnection, call: Callable[[], object]) -> list[int]:
    """Return how often each query of a call scans the table, by DuckDB's own profile."""
    found, read = [], estimates.in_polars
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"

        def profiled(*asked: Any) -> pl.DataFrame:
            connection.execute("PRAGMA enable_profiling = 'json'")
            connection.execute(f"PRAGMA profiling_output = '{path}'")
            result = read(*asked)
            connection.execute("PRAGMA disable_profiling")
            found.append(path.read_text().count('"TABLE_SCAN"'))
            return result

        estimates.in_polars = profiled
        try:
            call()
        finally:
            estimates.in_polars = read
    return found


def duckdb_times(rows: int, *, on_disk: bool) -> dict[str, float]:
    """Print the scans and the times of DuckDB; return those of the processor."""
    with stored(rows) as files, duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        if on_disk:
            connection.execute(f"SET memory_limit = '{max(rows * BYTES // 2, 300_000_000)}B'")
            connection.execute(f"SET temp_directory = '{Path(files).parent / 'spilled'}'")
        relation = connection.read_parquet(files)
        ordered = relation.project("segment, old, truth").order("segment, old DESC")
        # Without a result in Python, which would take more than the sort.
        bare = fastest(lambda: ordered.aggregate("count(old), max(truth)").fetchall())
        print(f"{rows:,} rows: ORDER BY takes {bare[0]:.2f} s, {bare[1]:.2f} of the processor")
        busy = {"ORDER BY": bare[1]}
        for name, (verb, options) in CALLS.items():
            call = lambda verb=verb, options=options: collected(  # noqa: E731
                verb(relation, "truth", **BY, **options)
            )
            clock, busy[name] = fastest(call, 1 if on_disk else TURNS)
            scanned = "" if on_disk else f"; scans {scans(connection, call)}"
            print(f"{name}: {_beside(clock, busy[name], bare)}{scanned}", flush=True)
    return busy


def _beside(clock: float, busy: float, bare: tuple[float, float]) -> str:
    ratios = f"{clock / bare[0]:.1f} times, of the processor {busy / bare[1]:.1f} times"
    return f"{clock:.2f} s ({busy:.2f} of the processor), {ratios}"


def spark_times(rows: int) -> dict[str, float]:
    """Print the times of Spark, beside those of a plan of two windows per segment."""
    from pyspark.sql import Window, functions  # noqa: PLC0415 - only with Spark
    from spark_skew import session, totals  # noqa: PLC0415 - only with Spark

    spark = session()

    def measured(call: Callable[[], object]) -> tuple[float, float, float]:
        before, start = totals(spark), perf_counter()
        call()
        clock, after = perf_counter() - start, totals(spark)
        return clock, after["cpu"] - before["cpu"], (after["shuffled"] - before["shuffled"]) / 1e6

    with stored(rows) as files:
        frame = spark.read.parquet(files)
        ordered = Window.partitionBy("segment").orderBy(functions.desc("old"))
        whole = Window.partitionBy("segment")
        truth = functions.col("truth").cast("long")

        def two_windows() -> object:
            summed = frame.withColumn("tp", functions.sum(truth).over(ordered))
            both = summed.withColumn("positives", functions.sum(truth).over(whole))
            return both.groupBy("segment").agg({"tp": "sum", "positives": "max"}).toArrow()

        two_windows()  # compiles
        clock, cpu, shuffled = measured(two_windows)
        bare, busy = (clock, cpu), {"two windows": cpu}
        print(
            f"{rows:,} rows: two windows take {clock:.1f} s, {cpu:.1f} of tasks, {shuffled:.0f} MB"
        )
        for name, (verb, options) in CALLS.items():
            clock, busy[name], shuffled = measured(
                lambda verb=verb, options=options: collected(verb(frame, "truth", **BY, **options))
            )
            print(f"{name}: {_beside(clock, busy[name], bare)}, {shuffled:.0f} MB", flush=True)
    return busy


def show_growth(sizes: list[int], busy: list[dict[str, float]]) -> None:
    """Print the power of the number of rows by which processor time grows, and for many rows."""
    for name in busy[0]:
        logs = [log(found[name]) for found in busy]
        power, start = linear_regression([log(size) for size in sizes], logs)
        hours = exp(start + power * log(MANY)) / 3600
        print(f"{name}: grows by the power {power:.2f}; {MANY:,} rows take {hours:.1f} core hours")


MEASURES: dict[str, Callable[[int], dict[str, float]]] = {
    "duckdb": partial(duckdb_times, on_disk=False),
    "duckdb-on-disk": partial(duckdb_times, on_disk=True),
    "spark": spark_times,
}

if __name__ == "__main__":
    sizes = [int(number) for number in sys.argv[2:]] or [1_000_000, 3_000_000, 10_000_000]
    found = [MEASURES[sys.argv[1]](size) for size in sizes]
    if sizes[1:]:
        show_growth(sizes, found)
