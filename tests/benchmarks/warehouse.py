"""Counts and exact average precision inside PostgreSQL, beside DuckDB: equal results, and times.

Run it as ``python tests/benchmarks/warehouse.py [ROWS]``: it starts a PostgreSQL server of its own,
fills a table with 20 million rows in 100 segments, evaluates it there by Ibis, the same rows in
DuckDB by Ibis and in Polars, and fails if results differ. It prints the seconds of each, and how
often PostgreSQL plans to scan the table. Nothing else may run on the machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import ibis
import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from postgres_server import postgres_socket

import frame_prc

ROWS, SEGMENTS = 20_000_000, 100
SETTINGS = {"work_mem": "1GB", "max_parallel_workers_per_gather": "2", "jit": "off"}
ASKED = {"truth": "truth", "score": "score", "by": "segment"}
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "counts at 101 thresholds": lambda rows: frame_prc.counts(rows, **ASKED, thresholds=101),
    "average precision": lambda rows: frame_prc.average_precision(rows, **ASKED),
}


def main(rows: int) -> None:
    """Compare the engines on the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the server is another user
        parquet, csv = Path(folder) / "rows.parquet", Path(folder) / "rows.csv"
        df = _rows(rows)
        df.write_parquet(parquet)
        df.write_csv(csv)
        tables = {"DuckDB": ibis.duckdb.connect().read_parquet(parquet), "PostgreSQL": _loaded(csv)}
        for question, ask in QUESTIONS.items():
            expected = _timed(f"{question}: Polars", lambda ask=ask: ask(df))
            for engine, table in tables.items():
                found = _timed(
                    f"{question}: {engine}", lambda ask=ask, table=table: ask(table).to_polars()
                )
                assert_frame_equal(_in_order(found), expected, check_dtypes=False, rel_tol=1e-12)
            scans = _scans(ask(tables["PostgreSQL"]))
            print(f"{question}: PostgreSQL plans {scans} scan(s) of the table")


def _timed(what: str, ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    start = perf_counter()
    result = ask()
    print(f"{what} {perf_counter() - start:.1f} s", flush=True)
    return result


def _in_order(result: pl.DataFrame) -> pl.DataFrame:
    """Return rows in the order of Polars: by segment, then by threshold, the highest first."""
    keys = [name for name in ("segment", "threshold") if name in result.columns]
    return result.sort(keys, descending=[name == "threshold" for name in keys])


def _rows(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.1
    score = 1 / (1 + np.exp(2 - rng.normal(size=rows) - 1.5 * truth))
    return pl.DataFrame(
        {"segment": rng.integers(0, SEGMENTS, rows), "truth": truth, "score": score}
    )


def _loaded(csv: Path) -> Any:
    """Return the table of a new server with these rows."""
    connection = ibis.postgres.connect(host=postgres_socket(), user="tests", database="postgres")
    start = perf_counter()
    for name, value in SETTINGS.items():
        connection.raw_sql(f"SET {name} = '{value}'").close()
    connection.raw_sql(
        'CREATE UNLOGGED TABLE "rows" (segment bigint, truth boolean, score float8)'
    ).close()
    connection.raw_sql(f"COPY \"rows\" FROM '{csv}' (FORMAT csv, HEADER)").close()
    connection.raw_sql('ANALYZE "rows"').close()
    connection.con.commit()
    print(f"PostgreSQL loads the rows in {perf_counter() - start:.1f} s", flush=True)
    return connection.table("rows")


def _scans(result: Any) -> int:
    """Return how often a query plan scans the table."""
    connection = result.get_backend()
    with connection.raw_sql(f"EXPLAIN {ibis.to_sql(result)}") as plan:
        return sum("Scan on rows" in line for (line,) in plan.fetchall())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
