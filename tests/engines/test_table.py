"""The table of what runs inside engines: each of its cells, on each engine."""

from __future__ import annotations

import engine_kinds
import engine_table
import pytest
from engine_kinds import IBIS, on_engines
from engine_table import CALLS, PAGE, cell, rows

pytestmark = engine_kinds.WARNINGS

ASKED = [
    (verb, needed | asked)
    for verb, (needed, others) in CALLS.items()
    for asked in [{}, *others.values()]
]


def test_the_guide_has_the_table():
    page = PAGE.read_text()
    assert engine_table.written(page) == page


# Spark takes long for each plan, and is asked for estimates elsewhere.
@on_engines("DuckDB", *IBIS[:2])
@pytest.mark.parametrize(("verb", "options"), ASKED, ids=str)
def test_each_cell_is_that_of_duckdb(kind, verb, options):
    expected = cell(engine_kinds.duckdb_kind().make(rows()), verb, options)
    assert cell(kind.make(rows()), verb, options) == expected
