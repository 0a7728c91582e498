"""What intervals, clusters and paired comparisons cost inside DuckDB and Spark.

Run it as ``python tests/benchmarks/in_engines.py duckdb [ROWS]``: it makes rows in 100 segments
with 2,000 clusters that cross them, counts how often the queries of each verb scan the table, by
DuckDB's own profile, and prints their time beside that of sorting the rows by segment and score.
With ``spark`` the time is beside that of a plan of two windows, as anybody would write it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
import polars as pl

import frame_prc
from frame_prc._engines import estimates

SEGMENTS, CLUSTERS, TURNS = 100, 2_000, 3
BY = {"by": "segment"}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "average_precision": (frame_prc.average_precision, {"score": "old"}),
    "with an interval": (frame_prc.average_precision, {"score": "old", "ci": 0.95}),
    "with weights": (frame_prc.average_precision, {"score": "old", "ci": 0.95, "weight": "weight"}),
    "with clusters": (frame_prc.average_precision, {"score": "old", "ci": 0.95, "cluster": "day"}),
    "summary": (frame_prc.summary, {"score": "old"}),
    "compare_models": (frame_prc.compare_models, {"score": ["old", "new"]}),
}


def make(rows: int) -> pl.DataFrame:
    """Return scores of which nearly all are distinct."""
    random = np.random.default_rng(1)
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


def fastest(call: Callable[[], object]) -> float:
    """Return the shortest time of several turns."""
    times = []
    for _ in range(TURNS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


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


def duckdb_times(rows: int) -> None:
    """Print the scans and the times of DuckDB."""
    connection = duckdb.connect()
    frame = make(rows)
    connection.execute("SET threads = 2")
    connection.sql("CREATE TABLE rows AS SELECT * FROM frame")
    del frame
    relation = connection.table("rows")

    def ordered() -> object:
        return connection.sql(
            "SELECT segment, old, truth FROM rows ORDER BY segment, old DESC"
        ).pl()

    bare = fastest(ordered)
    print(f"{rows:,} rows: SELECT ... ORDER BY takes {bare:.2f} s")
    for name, (verb, options) in CALLS.items():
        call = lambda verb=verb, options=options: collected(  # noqa: E731
            verb(relation, "truth", **BY, **options)
        )
        time = fastest(call)
        print(f"{name}: {time:.2f} s, {time / bare:.1f} times; scans {scans(connection, call)}")


def spark_times(rows: int) -> None:
    """Print the times of Spark, beside those of a plan of two windows per segment."""
    from pyspark.sql import Window, functions  # noqa: PLC0415 - only with Spark
    from spark_skew import session  # noqa: PLC0415 - only with Spark

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        make(rows).write_parquet(path)
        frame = session().read.parquet(str(path))
        ordered = Window.partitionBy("segment").orderBy(functions.desc("old"))
        whole = Window.partitionBy("segment")
        truth = functions.col("truth").cast("long")

        def two_windows() -> object:
            summed = frame.withColumn("tp", functions.sum(truth).over(ordered))
            both = summed.withColumn("positives", functions.sum(truth).over(whole))
            return both.groupBy("segment").agg({"tp": "sum", "positives": "max"}).toArrow()

        bare = fastest(two_windows)
        print(f"{rows:,} rows: a plan of two windows takes {bare:.2f} s")
        for name, (verb, options) in CALLS.items():
            time = fastest(
                lambda verb=verb, options=options: collected(verb(frame, "truth", **BY, **options))
            )
            print(f"{name}: {time:.2f} s, {time / bare:.1f} times")


if __name__ == "__main__":
    engine, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    (spark_times if engine == "spark" else duckdb_times)(number)
