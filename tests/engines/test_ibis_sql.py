"""The SQL that Ibis writes for warehouses that are not at hand: compiled, and kept to be read.

After a change that is meant, ``UPDATE_SQL=1 pytest tests/engines/test_ibis_sql.py`` writes the
files anew; read what changed in them.
"""

from __future__ import annotations

import os
import re
from itertools import product
from typing import Any

import optional
import polars as pl
import pytest
from checkout import TESTS

import frame_prc

FOLDER = TESTS / "engines" / "golden"
COLUMNS = {"region": "string", "late": "boolean", "score": "float64"}
DIALECTS = ["bigquery", "snowflake", "trino", "clickhouse", "databricks"]
PLANS = {
    "average_precision": (frame_prc.average_precision, {}),
    "curve": (frame_prc.curve, {"keep": "corners"}),
    "binned_counts": (frame_prc.counts, {"thresholds": [0.0, 0.25, 0.5, 0.75]}),
}


def compiled(plan: str, dialect: str) -> str:
    """Return a plan in the SQL of a warehouse; its table is an empty one in DuckDB."""
    ibis = optional.require_module("ibis")
    optional.require_module("duckdb")
    flights: Any = ibis.duckdb.connect().create_table("flights", schema=COLUMNS)
    verb, options = PLANS[plan]
    result = verb(flights, "late", "score", by="region", **options)
    return str(ibis.to_sql(result.unbind(), dialect=dialect)) + "\n"


# Larger plans, of which only the functions are kept.
LARGE = {
    "average_precision": (frame_prc.average_precision, {"weight": "w", "ci": 0.95}),
    "summary": (frame_prc.summary, {"measures": ["log_loss", "mcc"], "at": {"threshold": 0.5}}),
    "reliability": (frame_prc.reliability, {}),
}
FUNCTIONS = {"ABS", "CAST", "COALESCE", "FLOOR", "GREATEST", "LEAST", "MAX", "MIN", "POWER"}
FUNCTIONS |= {"SQRT", "SUM"}
# Read in the manual of each. "EXCEPT" and "EXCLUDE" follow an asterisk; "Nullable" is a type.
FUNCTIONS_OF = {
    "bigquery": {"NULLIF", "IF", "IS_INF", "IS_NAN", "LOG", "ieee_divide", "EXCEPT"},
    "snowflake": {"NULLIF", "IFF", "LOG", "EXCLUDE"},
    "trino": {"NULLIF", "IF", "INFINITY", "IS_INFINITE", "IS_NAN", "LOG", "NAN"},
    "clickhouse": {"nullIf", "LN", "Nullable", "isInfinite", "isNaN", "isNotNull", "isNull"}
    | {"EXCEPT"},
    "databricks": {"NULLIF", "IF", "ISNAN", "LN", "TRY_DIVIDE"},
}
WORDS = {
    "AND",
    "AS",
    "BY",
    "ELSE",
    "FROM",
    "IN",
    "NOT",
    "ON",
    "OR",
    "OVER",
    "SELECT",
    "THEN",
    "WHEN",
}
WORDS |= {"JOIN", "WHERE"}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")
def test_plans_compile_to_the_sql_that_is_kept(plan, dialect):
    sql, path = compiled(plan, dialect), FOLDER / f"{plan}.{dialect}.sql"
    if os.environ.get("UPDATE_SQL"):
        path.write_text(sql, encoding="utf-8")
    assert sql == path.read_text(encoding="utf-8"), "see the docstring of this file"


def asked_for(plan: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the expressions that a verb computes of a few rows."""
    ibis = optional.require_module("ibis")
    optional.require_module("duckdb")
    backend = ibis.duckdb.connect()
    rows = pl.DataFrame({"region": ["a", "b"] * 8, "late": [True, False, False, True] * 4})
    rows = rows.with_columns(
        (pl.int_range(16) * factor % 17 / 17).alias(name)
        for name, factor in {"score": 5, "new": 3, "w": 2}.items()
    ).with_columns(day=pl.int_range(16) % 5)
    flights: Any = backend.create_table("flights", rows.to_arrow())
    found, compute = [], type(flights).to_polars
    monkeypatch.setattr(
        type(flights), "to_polars", lambda table: found.append(table) or compute(table)
    )
    verb, options = LARGE[plan]
    roles = {"by": "region", "cluster": "day", "score": "score"}
    verb(flights, "late", **roles | options)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("plan", LARGE)
@pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")
def test_plans_use_functions_that_a_warehouse_has(plan, monkeypatch):
    ibis, sqlglot = optional.require_module("ibis"), optional.require_module("sqlglot")
    expressions = asked_for(plan, monkeypatch)
    assert expressions
    for expression, dialect in product(expressions, DIALECTS):
        sql = str(ibis.to_sql(expression.unbind(), dialect=dialect))
        sqlglot.parse_one(sql, dialect=dialect)
        found = {*re.findall(r"\b([A-Za-z_]\w*)\s*\(", sql)} - WORDS
        assert found <= FUNCTIONS | FUNCTIONS_OF[dialect], found - FUNCTIONS - FUNCTIONS_OF[dialect]


@pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")
def test_databricks_asks_whether_a_number_is_infinite(monkeypatch):
    ibis = optional.require_module("ibis")
    from frame_prc._engines.ibis_spelling import spelled  # noqa: PLC0415 - imports Ibis

    backend = ibis.duckdb.connect()
    table: Any = backend.create_table("numbers", schema={"number": "float64"})
    monkeypatch.setattr(type(backend), "name", "databricks")
    sql = ibis.to_sql(spelled(table.select(table.number.isinf())).unbind(), dialect="databricks")
    assert "ABS(" in sql
    assert "FALSE" not in sql
