"""Each cell of the table of measures in the reference: it has a number, or its reason is told."""

from __future__ import annotations

import math

from measure_table import BEGIN, CELLS, END, NAMES, PAGE, YES, reason


def test_each_cell_of_the_table_is_as_it_says():
    table, _, reasons = PAGE.read_text().partition(BEGIN)[2].partition(END)[0].partition("Why not:")
    _, _, *rows = [line.strip("| ").split(" | ") for line in table.split("\n") if "|" in line]
    of_names = {name.strip("`"): cells for names, *cells in rows for name in names.split(", ")}
    assert {*of_names} == {*NAMES}
    for name, cells in of_names.items():
        for (column, value), said in zip(CELLS.items(), cells, strict=True):
            if said == YES:
                assert math.isfinite(value(name)), (name, column)
            else:
                assert f"{said} {reason(column, name)}" in reasons, (name, column)
