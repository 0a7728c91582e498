"""The way out of an error about an engine works, as it is written."""

from __future__ import annotations

import re

import engine_kinds
import polars as pl
import pytest
from engine_cases import ROWS
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import PrcError

pytestmark = engine_kinds.WARNINGS


@pytest.mark.parametrize(
    ("verb", "shared", "own"),
    [
        ("curve", {"by": "segment"}, {"gain": True}),
        ("curve", {}, {"recalls": 11}),
        ("auc", {"by": "segment", "weight": "weight"}, {"method": ["step", "gain"]}),
        ("auc", {}, {"ci": 0.9, "seed": 1}),
        ("average_precision", {}, {"ci": 0.9, "cluster": "week"}),
        ("average_precision", {"weight": "weight"}, {"ci": 0.9}),
        ("average_precision", {"by": "segment"}, {"by": [["segment"], []]}),
        (
            "average_precision",
            {"by": "segment", "weight": "weight"},
            {"over": "segment", "average": "samples"},
        ),
        ("operating_points", {}, {"recall": 0.5, "ci": 0.9, "seed": 1}),
        ("operating_points", {}, {"threshold": pl.DataFrame({"threshold": [0.1]})}),
        ("counts", {"by": "segment", "weight": "weight"}, {"squares": True}),
        ("summary", {"by": "segment"}, {}),
        ("compare_models", {"by": "segment"}, {"score": ["score", "other"]}),
    ],
    ids=str,
)
def test_its_two_lines_do_the_same(verb, shared, own):
    kind, function = engine_kinds.duckdb_kind(), getattr(frame_prc, verb)
    columns = {"truth": "truth", "score": "score"}
    options = {**columns, **shared, **own}
    frame = kind.make(ROWS)
    with pytest.raises(PrcError) as error:
        function(frame, **options)
    first, second = re.findall("`(.+?)`", str(error.value))
    # "..." stands for the parameters: what the rows are to counts, the keys and options to a verb.
    names = {"frame": frame, "frame_prc": frame_prc, "pl": pl, "verb": function}
    names |= {"given": columns | shared}
    exec(first.replace("...", "**given"), names)  # noqa: S102 - a text of ours
    counted = "threshold" in second
    kept = {name: shared[name] for name in ("by",) if name in shared} if counted else options
    names["given"] = kept | own
    found = eval(f"verb({second.replace('...', '**given')})", names)  # noqa: S307 - likewise
    assert_frame_equal(found, function(ROWS, **options), rel_tol=1e-12, abs_tol=1e-12)
