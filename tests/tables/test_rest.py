"""Comparisons of a segment with the other segments."""

from __future__ import annotations

import polars as pl
import pytest
from comparisons import ROWS, TEST, compared
from kinds import every_kind
from polars.testing import assert_frame_equal

from frame_prc import OptionError
from frame_prc._tables import others as _rest

# --- segments and others -----------------------------------------------------------------------


SMALL_SEGMENT = pl.DataFrame(
    {
        "region": ["tiny"] * 4 + ["rest"] * 60,
        "truth": [1, 1, 0, 0] + [1, 0, 0] * 20,
        "score": [0.9, 0.8, 0.2, 0.1] + [row * 37 % 61 / 61 for row in range(60)],
        "user": [*range(64)],
    }
)


@every_kind
@pytest.mark.parametrize("against", ["rest", "overall"])
@pytest.mark.parametrize("cluster", [None, "user"])
def test_two_positives_of_average_precision_1_show_no_difference(kind, against, cluster):
    asked = {"by": "region", "against": against, "cluster": cluster, "adjust": "holm"}
    tiny = compared(kind, SMALL_SEGMENT, "score", **asked).row(1, named=True)
    assert (tiny["region"], tiny["n_pos"], tiny["value_a"]) == ("tiny", 2, 1.0)
    assert tiny["value_b"] < 0.7
    assert tiny["difference"] == pytest.approx(1 - tiny["value_b"], rel=1e-12)
    assert tiny["ci_low"] < 0 < tiny["ci_high"]
    assert tiny["p_value"] > 0.1
    assert tiny["status"] == ("few_clusters" if cluster else "few_positives")


@every_kind
def test_a_segment_that_moves_as_the_whole_does_is_not_tested(kind):
    df = pl.DataFrame(
        {"g": list("aaaaaaab"), "truth": [0, 0, 1, 1, 1, 1, 1, 0], "s": [8, 9, 4, 3, 2, 7, 2, 1]}
    )
    asked = {"by": "g", "against": "overall", "measure": "average_precision"}
    row = compared(kind, df, "s", **asked).row(0, named=True)
    assert row["difference"] == 0
    assert [row[name] for name in TEST[3:]] == [None] * 4


@every_kind
@pytest.mark.parametrize("against", ["rest", "overall"])
def test_an_empty_segment_is_compared_with_what_there_is(kind, against):
    df = pl.DataFrame(
        {"g": list("abbbc"), "truth": [1, 1, 0, 1, 0], "s": [None, 0.9, 0.5, 0.2, 0.3]}
    )
    row = compared(kind, df, "s", by="g", against=against, missing="drop").row(0, named=True)
    # The two positives of b are first and last of the four rows left.
    assert (row["n"], row["value_a"], row["value_b"]) == (0, None, pytest.approx((1 + 2 / 4) / 2))
    assert row["status"] == "empty"


@every_kind
def test_rests_are_the_same_in_blocks_of_any_size(kind, monkeypatch):
    asked = {"by": "region", "against": "rest", "cluster": "user", "weight": "weight"}
    whole = compared(kind, ROWS, ["new", "old"], **asked)
    monkeypatch.setattr(_rest, "_ROWS_IN_BLOCK", 1)
    in_blocks = compared(kind, ROWS, ["new", "old"], **asked)
    assert_frame_equal(in_blocks, whole, rel_tol=1e-12, abs_tol=1e-12)


@every_kind
def test_more_work_than_anyone_waits_for_is_refused(kind, monkeypatch):
    monkeypatch.setattr(_rest, "_MOST_ROWS", 47)
    says = "against='rest' .* 48 rows: 3 segments times 16 rows.* Allowed: up to 47.*'others'"
    with pytest.raises(OptionError, match=says):
        compared(kind, ROWS, "old", by="region", against="rest")
    monkeypatch.setattr(_rest, "_MOST_ROWS", 48)
    assert compared(kind, ROWS, "old", by="region", against="rest").height == 3
