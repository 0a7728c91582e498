"""Frames of other engines: made from Polars frames, and read back in the documented order."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, get_args

import optional
import polars as pl
import polars.selectors as cs
import postgres_server
import pytest
from kinds import KINDS, Kind

from frame_prc._request.specs import METHODS, Criterion

# For ``pytestmark``.
WARNINGS = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    # PySpark 4.0 leaves the socket open that results come through.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
    # Ibis 12 uses names of DuckDB 2.0 and options of pandas 3 that will go.
    pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]
IBIS = ["Ibis on PostgreSQL", "Ibis on SQLite", "Ibis on DuckDB"]
KEYS = ["model", "segment", "week"]
# The engines that start without a server are in the first layer.
QUICK = ("DuckDB", "Ibis on DuckDB")


def layered(*engines: str) -> list[Any]:
    """Return engines as parameters, all but the quick ones in the second layer."""
    return [
        pytest.param(engine, marks=() if engine in QUICK else pytest.mark.thorough)
        for engine in engines
    ]


def on_engines(*engines: str) -> pytest.MarkDecorator:
    """Run a test on these engines, in place of those of the fixture ``kind``."""
    return pytest.mark.parametrize("kind", layered(*engines), indirect=True)


# Rows of one segment in the order of the parameters; tests give targets and methods in order.
_CRITERION = pl.col("target").str.extract("^([a-z_]+)").cast(pl.Enum(get_args(Criterion)))
_VALUE = pl.col("target").str.extract(r"=\(?([^,)]+)").cast(pl.Float64)
ORDERED = {"method": [pl.col("method").cast(pl.Enum(METHODS))], "target": [_CRITERION, _VALUE]}


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort a result as Polars results are: by the keys, then by threshold descending."""
    keys = [name for name in rows.columns if name in KEYS]
    ordered = [value for name in ORDERED if name in rows.columns for value in ORDERED[name]]
    if ordered:
        return rows.sort(*keys, *ordered)
    points = [name for name in ("threshold", "tp", "fp") if name in rows.columns]
    if not keys + points:
        return rows
    return rows.sort(
        *keys,
        *points,
        descending=[name == "threshold" for name in keys + points],
        nulls_last=[name in points for name in keys + points],
    )


def _read(collect: Callable[[Any], pl.DataFrame]) -> Callable[[Any], pl.DataFrame]:
    """Return what reads a result; one with an interval or a test is a Polars frame already."""
    return lambda result: result if isinstance(result, pl.DataFrame) else collect(result)


@cache  # a connection takes as long as a small query
def duckdb_kind() -> Kind:
    duckdb = optional.require_module("duckdb")
    optional.require_module("narwhals")
    # A connection of its own: what runs on the default one alone would not be noticed.
    connection = duckdb.connect()
    atexit.register(duckdb_kind.cache_clear)  # DuckDB counts what is left at the end
    return Kind("DuckDB", lambda df: connection.from_arrow(df.to_arrow()), _read(lambda r: r.pl()))


def spark_kind() -> Kind:
    optional.require_module("narwhals")
    spark = spark_session()

    def make(df: pl.DataFrame) -> Any:
        # Spark Connect reads no dtypes from a table without rows.
        found = spark.createDataFrame((df.clear(1) if df.is_empty() else df).to_arrow())
        return found.filter("false") if df.is_empty() else found

    return Kind("Spark", make, _read(lambda r: in_order(pl.from_arrow(r.toArrow()))))


@cache
def spark_session() -> Any:
    """Return the one session of a test run, on two cores; spark/ has the rest of its settings.

    With ``SPARK_REMOTE=local[2]`` it is one of Spark Connect.
    """
    optional.require_module("pyspark")
    optional.require_program("java")
    builder = optional.require_module("pyspark.sql").SparkSession.builder.appName("frame_prc")
    if "SPARK_REMOTE" not in os.environ:
        return builder.master("local[2]").getOrCreate()
    session = builder.getOrCreate()
    assert type(session).__module__.startswith("pyspark.sql.connect")
    return session


@contextmanager
def shared_spark_session() -> Iterator[None]:
    """Let code that starts and stops a session have that of the tests: another takes a minute."""
    session, number = spark_session(), "spark.sql.shuffle.partitions"
    before = session.conf.get(number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(session), "stop", lambda _: None)
        try:
            yield
        finally:
            session.conf.set(number, before)


# DuckDB is imported, or its absence noted, when it is its turn.
DUCKDB = Kind("DuckDB", lambda df: duckdb_kind().make(df), _read(lambda r: r.pl()))
every_kind_and_duckdb = pytest.mark.parametrize(
    "kind", [*KINDS, *([] if optional.is_left_out("DuckDB") else [DUCKDB])], ids=str
)


# --- Ibis --------------------------------------------------------------------------------------


@cache
def ibis_kind(backend: str) -> Kind:
    """Return the kind of Ibis tables on "PostgreSQL", "SQLite" or "DuckDB"."""
    optional.require_module("narwhals")
    connection = _CONNECTIONS[backend](optional.require_module("ibis"))
    atexit.register(connection.disconnect)
    stores = _stored_in_sqlite if backend == "SQLite" else lambda df: df
    names = (f"rows {number}" for number in count())

    def make(df: pl.DataFrame) -> Any:
        if backend == "PostgreSQL":
            return _copied(connection, next(names), df)
        return connection.create_table(next(names), stores(df).to_arrow(), temp=True)

    rows = _read(lambda result: pl.from_arrow(result.to_pyarrow()))
    return Kind(f"Ibis on {backend}", make, rows, stores=stores)


def _in_postgres(ibis: Any) -> Any:
    optional.require_module("psycopg")
    host = postgres_server.postgres_socket()
    return ibis.postgres.connect(host=host, user="tests", database="postgres")


def _in_duckdb(ibis: Any) -> Any:
    optional.require_module("duckdb")
    return ibis.duckdb.connect()


_CONNECTIONS = {
    "PostgreSQL": _in_postgres,
    "SQLite": lambda ibis: ibis.sqlite.connect(),
    "DuckDB": _in_duckdb,
}


def _copied(connection: Any, name: str, df: pl.DataFrame) -> Any:
    """Return a temporary table with these rows; Ibis would insert them one by one."""
    schema = optional.require_module("ibis").Schema.from_polars(df.schema)
    table = connection.create_table(name, schema=schema, temp=True)
    with connection.con.cursor() as cursor, cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
        for row in df.iter_rows():
            copy.write_row(row)
    connection.con.commit()
    return table


def _stored_in_sqlite(df: pl.DataFrame) -> pl.DataFrame:
    """Return rows as SQLite has them: floats of 64 bits for all that are not whole, and no NaN."""
    return df.cast({cs.float() | cs.decimal(): pl.Float64}).with_columns(cs.float().fill_nan(None))
