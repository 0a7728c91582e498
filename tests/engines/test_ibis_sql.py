"""The SQL that Ibis writes for warehouses that are not at hand: compiled, and kept to be read.

After a change that is meant, ``UPDATE_SQL=1 pytest tests/engines/test_ibis_sql.py`` writes the
files anew; read what changed in them.
"""

from __future__ import annotations

import os
from typing import Any

import optional
import pytest
from checkout import TESTS

import frame_prc

FOLDER = TESTS / "engines" / "golden"
COLUMNS = {"region": "string", "late": "boolean", "score": "float64"}
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


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "trino", "clickhouse"])
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")
def test_plans_compile_to_the_sql_that_is_kept(plan, dialect):
    sql, path = compiled(plan, dialect), FOLDER / f"{plan}.{dialect}.sql"
    if os.environ.get("UPDATE_SQL"):
        path.write_text(sql, encoding="utf-8")
    assert sql == path.read_text(encoding="utf-8"), "see the docstring of this file"
