"""Frames of other engines: made from Polars frames, and read back in the documented order."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

import optional
import polars as pl
import pytest
from kinds import KINDS, Kind

# For ``pytestmark``.
PYSPARK_WARNINGS = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    # PySpark 4.0 leaves the socket open that results come through.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
]
KEYS = ["model", "segment", "week"]


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort a result as Polars results are: by the keys, then by threshold descending."""
    keys = [name for name in rows.columns if name in KEYS]
    points = [name for name in ("threshold", "tp", "fp") if name in rows.columns]
    if not keys + points:
        return rows
    return rows.sort(
        *keys,
        *points,
        descending=[name == "threshold" for name in keys + points],
        nulls_last=[name in points for name in keys + points],
    )


@cache  # a connection takes as long as a small query
def duckdb_kind() -> Kind:
    duckdb = optional.require_module("duckdb")
    optional.require_module("narwhals")
    # A connection of its own: what runs on the default one alone would not be noticed.
    connection = duckdb.connect()
    atexit.register(duckdb_kind.cache_clear)  # DuckDB counts what is left at the end
    return Kind("DuckDB", lambda df: connection.from_arrow(df.to_arrow()), lambda r: r.pl())


def spark_kind() -> Kind:
    optional.require_module("narwhals")
    spark = spark_session()
    return Kind(
        "Spark",
        lambda df: spark.createDataFrame(df.to_arrow()),
        lambda result: in_order(pl.from_arrow(result.toArrow())),
    )


@cache
def spark_session() -> Any:
    """Return the one session of a test run, on two cores; spark/ has the rest of its settings."""
    optional.require_module("pyspark")
    optional.require_program("java")
    sql = optional.require_module("pyspark.sql")
    return sql.SparkSession.builder.master("local[2]").appName("frame_prc").getOrCreate()


# DuckDB is imported, or its absence noted, when it is its turn.
DUCKDB = Kind("DuckDB", lambda df: duckdb_kind().make(df), lambda result: result.pl())
every_kind_and_duckdb = pytest.mark.parametrize(
    "kind", [*KINDS, *([] if optional.is_left_out("DuckDB") else [DUCKDB])], ids=str
)
