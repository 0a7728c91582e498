"""Tables of databases on the command line: results are those of a file with the same rows."""

from __future__ import annotations

import duckdb
import pytest
from command_line import result, said
from polars.testing import assert_frame_equal

TABLE = "duckdb:///rows.db::parts.rows"


@pytest.fixture(autouse=True)
def database(here):
    with duckdb.connect(str(here / "rows.db")) as connection:
        connection.sql("CREATE SCHEMA parts")
        connection.sql("CREATE TABLE parts.rows AS FROM 'rows.parquet'")
        connection.sql("CREATE TABLE flights (late BOOLEAN)")


@pytest.mark.parametrize(
    "line",
    [
        "summary {} -t late -s score -b region",
        "ap {} -t late -s score --ci 0.9 --columns region,average_precision,ci_low -b region",
        "points {} -t late -s score --recall 0.5 --memory 1GB",
        "counts {} -t late -s score",
    ],
)
def test_a_table_has_the_results_of_a_file(line):
    found, expected = (result(*line.format(of).split()) for of in (TABLE, "rows.parquet"))
    assert_frame_equal(found, expected, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ap duckdb:///rows.db::flight", "has no table 'flight'. Hint: did you mean 'flights'?"),
        (
            "ap duckdb:///rows.db::rows",
            "has no table 'rows'. Hint: the tables are 'flights', 'parts.rows'",
        ),
        (
            "ap duckdb:///row.db::flights",
            "there is no 'row.db'. Hint: a path follows, as in a table",
        ),
        (
            "ap duckdb:///rows.db",
            "names no table. Allowed: a table such as duckdb:///FILE::TABLE, or",
        ),
        ("ap duckdb:///rows.csv::rows", "'rows.csv' cannot be read by DuckDB"),
        (f"ap {TABLE} rows.csv", "a table is given beside others. Allowed: one table, or files"),
        (f"plot {TABLE} -o p.html", "this command does not read 'duckdb:///rows.db::parts.rows'."),
        (f"summary {TABLE} --details", "a table is given with --details. Allowed: calls without"),
        (
            "ap delta://.",
            "needs DuckDB's extension 'delta', which is not installed. Hint: in Python",
        ),
    ],
)
def test_what_is_not_read_is_one_error(here, monkeypatch, line, says):
    monkeypatch.setenv("HOME", str(here))  # where DuckDB would have extensions
    code, text = said(*line.split(), "-t", "late", "-s", "score")
    assert code == 2
    assert says in text
