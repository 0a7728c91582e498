"""The example of object detections."""

from __future__ import annotations

import contextlib
import io
import runpy

import polars as pl
from checkout import EXAMPLES
from kinds import assert_rows, every_kind

import frame_prc

METHODS = ["envelope", "11-point", "101-point"]
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}


def example():
    """Return the names of the example and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(EXAMPLES / "detection.py"), run_name="__main__")
    return names, printed.getvalue()


def test_example_prints_the_areas_of_its_classes():
    _, printed = example()
    rows = [line.strip("│ ").split("┆") for line in printed.splitlines() if line.startswith("│")]
    cells = [tuple(cell.strip() for cell in row) for row in rows]
    # Of three cats the first and the third detection find one, at precision 1 and 2/3.
    cat = [(1 + 2 / 3) / 3, (4 + 3 * 2 / 3) / 11, (34 + 33 * 2 / 3) / 101]
    assert cells[0] == ("class", *METHODS)
    assert cells[3:] == [
        ("cat", *(f"{area:.6f}" for area in cat)),
        ("dog", "1.0", "1.0", "1.0"),
        ("owl", "0.0", "0.0", "0.0"),
    ]


@every_kind
def test_never_found_objects_count_alike_as_rows_and_as_counts(kind):
    names, _ = example()
    detections, objects = names["DETECTIONS"], names["OBJECTS"]
    counts = names["with_never_found"](detections, objects)
    options = {"by": "class", "missing": "unretrieved", "method": METHODS}
    counted = frame_prc.auc(kind.make(counts), score="threshold", pos="pos", neg="neg", **options)
    never_found = {"cat": 1, "dog": 0, "owl": 1}
    rows = [name for name, number in never_found.items() for _ in range(number)]
    lost = pl.DataFrame({"class": rows, "matched": True, "score": None})
    found = pl.concat([detections, lost], how="vertical_relaxed")
    assert_rows(kind, counted, frame_prc.auc(found, "matched", "score", **options), **ROUNDED)
