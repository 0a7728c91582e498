"""Values that are checked as they are read, and values that are no error."""

from __future__ import annotations

import polars as pl
import pytest
from error_cases import INF, ROWS
from kinds import VERBS, every_kind, every_polars_kind

import frame_prc
from frame_prc import ColumnError, DataError
from frame_prc._rows import checks as _gate

# --- what is said, and when --------------------------------------------------------------------


@every_kind
def test_class_without_a_score_column_is_said_once_the_rows_are_read(kind):
    with pytest.raises(DataError, match=r"2 rows of a class without a score column: 's'.*'n'"):
        kind.rows(kind.make(ROWS).prc.one_vs_rest("region", {"n": "score"}))


@every_polars_kind
def test_counts_just_below_the_limit_are_no_error(kind):
    rows = pl.DataFrame({"score": [2, 1], "hits": [2**55, 2**55 - 8], "misses": [0, 2**55]})
    table = kind.rows(
        kind.make(rows).prc.average_precision(score="score", pos="hits", neg="misses")
    )
    assert table["n_pos"].item() == 2**56 - 8


@every_kind
@pytest.mark.parametrize("scores", [[0.0, -0.0], [-0.0, 0.0]])
def test_an_error_names_both_zeros_alike(kind, scores):
    df = pl.DataFrame({"truth": [False, False], "score": scores, "number": scores})
    with pytest.raises(DataError, match=r"which holds 0\.0\. "):
        kind.rows(frame_prc.counts(kind.make(df), "number", "score", pos_label=1))


@every_polars_kind
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("largest", [float("-inf"), -1e300, 1e300, float("inf")])
def test_a_score_that_the_gate_refuses_breaks_nothing_beside_it(kind, verb, largest, monkeypatch):
    # Both run at once: which comes first is luck, and the error has to be that of the gate.
    monkeypatch.setattr(_gate, "_raise_problem", lambda *_: None)
    df = pl.DataFrame({"truth": [True, False, True], "score": [largest, float("nan"), None]})
    kind.rows(getattr(frame_prc, verb)(kind.make(df), "truth", "score", **VERBS[verb]))


@every_kind
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (
            1e154,
            r"'weight' adds up to 3e\+154. Allowed: a total below 1e\+70. Hint: divide all by",
        ),
        (
            1e-160,
            "'weight' has 3 rows with 1e-160. Allowed: 0, or numbers of at least 1e-70. Hint: div",
        ),
    ],
)
def test_weights_whose_squares_are_no_numbers_are_refused(kind, weight, says):
    df = pl.DataFrame({"truth": [True, False, True], "score": [3, 2, 1], "weight": weight})
    with pytest.raises(DataError, match=says):
        kind.rows(
            frame_prc.average_precision(kind.make(df), "truth", "score", weight="weight", ci=0.9)
        )


@every_kind
@pytest.mark.parametrize("truth", ["pos", "neg"])
def test_counts_are_not_taken_for_rows(kind, truth):
    counts = pl.DataFrame({"threshold": [0.5, 0.4], "pos": [0, 1], "neg": [1, 0]})
    says = f"truth= names '{truth}' and score= 'threshold'.*score='threshold', pos='pos', neg='neg'"
    with pytest.raises(ColumnError, match=says):
        frame_prc.average_precision(kind.make(counts), truth, "threshold")
    renamed = kind.make(counts.rename({"threshold": "score"}))
    assert kind.rows(frame_prc.average_precision(renamed, truth, "score"))["n_pos"].item() == 1


@pytest.mark.parametrize("weight", [1e-320, 1e308])
def test_the_expression_is_null_where_weights_are_refused(weight):
    df = pl.DataFrame({"truth": [1, 0], "score": [1, 2], "weight": [weight, 1.0]})
    found = df.select(frame_prc.average_precision_expr("truth", "score", "weight"))
    assert found.item() is None


# --- what cannot be shown on every kind --------------------------------------------------------


@every_polars_kind
@pytest.mark.parametrize(
    ("asked", "name"),
    [({"truth": "late", "weight": "w"}, "w"), ({"pos": "hits", "neg": "misses"}, "misses")],
)
def test_missing_amount_is_counted_like_a_missing_score(kind, asked, name):
    rows = ROWS.with_columns(pl.when(pl.col("score") != 0.4).then(pl.col(name)))
    with pytest.raises(DataError, match=f"values are missing: '{name}' has 2 rows with null"):
        kind.rows(kind.make(rows).prc.curve(score="score", **asked))


@every_polars_kind
@pytest.mark.parametrize(("name", "offered"), [("late", False), ("w", False), ("score", True)])
def test_rows_are_kept_as_unretrieved_only_for_want_of_a_score(kind, name, offered):
    rows = ROWS.with_columns(pl.when(pl.col("score") != 0.4).then(pl.col(name)))
    with pytest.raises(DataError, match="missing='drop'") as raised:
        kind.rows(kind.make(rows).prc.curve("late", "score", weight="w"))
    assert ("missing='unretrieved'" in str(raised.value)) == offered


# --- what is no error --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("rows", "statuses", "points"),
    [
        pytest.param(ROWS.head(0), [], 0, id="no rows"),
        pytest.param(ROWS.head(1), ["no_negatives"], 2, id="one row"),
        pytest.param(ROWS.filter("late"), ["no_negatives"] * 2, 4, id="no negatives"),
        pytest.param(ROWS.filter(~pl.col("late")), ["no_positives"] * 2, 4, id="no positives"),
        pytest.param(ROWS.with_columns(region=None), ["ok"], 4, id="null key"),
        pytest.param(ROWS.with_columns(score=INF), ["ok"] * 2, 4, id="infinite score"),
        pytest.param(ROWS.with_columns(w=0.0), [], 0, id="no weight"),
    ],
)
def test_odd_rows_are_results(kind, rows, statuses, points):
    prc = kind.make(rows.with_columns(pl.col("region").cast(pl.String))).prc
    asked = {"truth": "late", "score": "score", "by": "region", "weight": "w"}
    assert kind.rows(prc.average_precision(**asked))["status"].to_list() == statuses
    assert kind.rows(prc.curve(**asked)).height == points
    assert kind.rows(prc.counts(**asked)).height == points - len(statuses)


@every_kind
@pytest.mark.parametrize("missing", ["raise", "drop", "unretrieved"])
def test_no_rows_at_all_are_one_empty_segment(kind, missing):
    prc = kind.make(ROWS.head(0)).prc
    table = kind.rows(prc.average_precision("late", "score", missing=missing))
    assert table.select("n", "status").rows() == [(0, "empty")]
    assert kind.rows(prc.curve("late", "score", missing=missing)).is_empty()


@every_kind
def test_label_is_not_looked_for_where_there_are_no_rows(kind):
    frame = kind.make(ROWS.head(0))
    table = kind.rows(frame.prc.average_precision("answer", "score", pos_label="yes"))
    assert table["status"].to_list() == ["empty"]
