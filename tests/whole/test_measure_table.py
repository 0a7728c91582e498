"""Each cell of the table of measures in the reference: it has a number, or its reason is told."""

from __future__ import annotations

import math

import pytest
from measure_table import BEGIN, CELLS, END, NAMES, PAGE, YES, reason


@pytest.mark.thorough
def test_each_cell_of_the_table_is_as_it_says():
    page = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    every, _, some = page.partition("\n\n|")
    table, _, reasons = some.partition("Why not:")
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.split("\n") if "|" in line]
    of_names = {name.strip("`"): cells for names, *cells in rows for name in names.split(", ")}
    assert {*of_names} == {*NAMES}
    by_all = every.strip().removeprefix("All: ").rstrip(".").split(", ")
    assert {*head[1:], *by_all} == {*CELLS}
    assert all(math.isfinite(CELLS[column](name)) for column in by_all for name in NAMES)
    for name, cells in of_names.items():
        for column, said in zip(head[1:], cells, strict=True):
            if said == YES:
                assert math.isfinite(CELLS[column](name)), (name, column)
            else:
                assert f"{said} {reason(column, name)}" in reasons, (name, column)
