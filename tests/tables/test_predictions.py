"""Predictions passed as scores: models whose scores have no more than two values."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from kinds import every_kind

import frame_prc
from frame_prc import Draws

N = 240
# A score with many values, one with two, one with a single value, and one with three.
ROWS = pl.DataFrame(
    {
        "region": [("n", "s")[k % 2] for k in range(N)],
        "truth": [k * 7 % 11 < 4 for k in range(N)],
        "score": [k * 7919 % 601 + 100 * (k * 7 % 11 < 4) for k in range(N)],
    }
).with_columns(
    predicted=(pl.col("score") > 350).cast(pl.Int64),
    constant=pl.lit(0.5),
    three=(pl.col("score") > 350).cast(pl.Int64) + (pl.col("score") > 500),
)


def statuses(kind, df, verb, score, **asked):
    table = kind.rows(getattr(frame_prc, verb)(kind.make(df), "truth", score, **asked))
    keys = [name for name in ("model", "baseline", "level", "region") if name in table.columns]
    return {tuple(row[key] for key in keys): row["status"] for row in table.to_dicts()}


@every_kind
@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("average_precision", {"ci": 0.95}),
        ("average_precision", {"ci": 0.95, "ci_method": "boyd"}),
        ("average_precision", {"ci": 0.95, "thresholds": [-1.0, 0.0, 1.0]}),
        ("auc", {"ci": 0.95}),
        ("auc", {"ci": 0.95, "recall_range": (0, 0.5), "bootstrap": Draws(50, seed=1)}),
        ("summary", {}),
    ],
)
@pytest.mark.parametrize("by", [None, "region"])
def test_the_status_says_so_where_there_is_an_interval(kind, verb, asked, by):
    asked = asked | ({} if by is None else {"by": by})
    found = statuses(kind, ROWS, verb, ["score", "predicted", "constant", "three"], **asked)
    wanted = {"predicted": "few_scores", "constant": "few_scores", "three": "ok"}
    if "thresholds" not in asked:
        wanted["score"] = "ok"
    for key, status in found.items():
        assert status == wanted.get(key[0], status)


@every_kind
def test_all_segments_count_together(kind):
    # Each region has two scores, but not the same ones.
    shifted = ROWS.with_columns(pl.col("predicted") + 2 * (pl.col("region") == "n"))
    asked = {"by": "region", "ci": 0.95}
    assert {*statuses(kind, shifted, "average_precision", "predicted", **asked).values()} == {"ok"}
    levels = statuses(kind, ROWS, "summary", "predicted", by="region", overall=True)
    assert set(levels.values()) == {"few_scores"}
    assert len(levels) == 4


@every_kind
def test_every_other_reason_comes_first(kind):
    asked = {"by": "region", "ci": 0.95}
    first = ROWS.filter((pl.int_range(pl.len()) < 20) | (pl.col("region") == "n"))
    found = statuses(kind, first, "average_precision", "predicted", **asked)
    assert found == {("n",): "few_scores", ("s",): "few_positives"}
    hits = ROWS.filter((pl.int_range(pl.len()) < 20) | (pl.col("region") == "n") | pl.col("truth"))
    found = statuses(kind, hits, "average_precision", "predicted", **asked)
    assert found == {("n",): "few_scores", ("s",): "few_negatives"}


@every_kind
def test_rows_that_do_not_count_have_no_score(kind):
    weighted = ROWS.with_columns(w=pl.lit(1.0)).vstack(
        ROWS[:1].with_columns(w=pl.lit(0.0), predicted=pl.lit(7, pl.Int64))
    )
    asked = {"weight": "w", "ci": 0.95}
    assert statuses(kind, weighted, "average_precision", "predicted", **asked) == {(): "few_scores"}
    lost = pl.when(pl.int_range(pl.len()) > 5).then("predicted")
    for missing in ("drop", "unretrieved"):
        asked = {"missing": missing, "ci": 0.95}
        df = ROWS.with_columns(predicted=lost)
        found = statuses(kind, df, "average_precision", "predicted", **asked)
        assert found == {(): "few_scores"}


@every_kind
@pytest.mark.parametrize("thresholds", [[2], [1, 2]])
def test_so_do_few_thresholds(kind, thresholds):
    found = statuses(kind, ROWS, "average_precision", "three", thresholds=thresholds, ci=0.95)
    assert found == {(): "few_scores"}


@every_kind
def test_a_comparison_says_so_of_either_model(kind):
    models = ["score", "predicted", "three"]
    found = statuses(kind, ROWS, "compare_models", models)
    assert found == {
        ("predicted", "score"): "few_scores",
        ("three", "score"): "ok",
        ("three", "predicted"): "few_scores",
    }
    table = kind.rows(frame_prc.compare_models(kind.make(ROWS), "truth", models))
    assert table["p_value"].null_count() == 0


# Whatever says how sure a ranking is, or plans by it.
SURE = {
    "band": {"recalls": [0.5]},
    "operating_points": {"recall": 0.8, "ci": 0.95},
    "shrunk": {"by": "group"},
    "heterogeneity": {"by": "group"},
    "monitor": {"by": "group", "over": "group", "plan": (2, 6)},
    "sample_size": {"width": 0.1},
    "average": {"by": "group", "over": "group", "how": "mean", "ci": 0.95},
}


@every_kind
@pytest.mark.parametrize("verb", SURE)
def test_so_does_every_verb_that_says_how_sure_a_ranking_is(kind, verb):
    rows = pl.concat([ROWS] * 4).with_columns(group=pl.int_range(4 * N) // (N // 2))
    # A watch of a model that is little better than chance is of few positives.
    rows = rows.with_columns(three=pl.col("three") + 2 * pl.col("truth").cast(pl.Int64))

    def said(score):
        found = getattr(frame_prc, verb)(kind.make(rows), "truth", score, **SURE[verb])
        return {*kind.rows(found)["status"]}

    assert said("predicted") == {"few_scores"}
    assert said("constant") <= {"few_scores", "few_segments", "no_std_error"}
    assert said("three") == {"ok"}


@every_kind
def test_counts_of_predictions_are_predictions(kind):
    counts = frame_prc.counts(ROWS, "truth", "predicted")
    table = frame_prc.average_precision(
        kind.make(counts), score="threshold", pos="pos", neg="neg", ci=0.95
    )
    assert kind.rows(table)["status"].to_list() == ["few_scores"]


def test_pictures_say_so():
    pytest.importorskip("altair")
    chart = frame_prc.plot(ROWS, "truth", ["predicted", "three"], ci=0.95).to_json()
    assert re.search(r"predicted: AP [^\"]*, few scores", chart)
    assert not re.search(r"three: AP [^\"]*, few scores", chart)


def test_the_report_says_which_model_it_is_and_believes_its_tests(tmp_path):
    asked = {"by": "region", "title": "Predictions"}
    [path] = ROWS.prc.report(tmp_path / "report.json", "truth", ["score", "predicted"], **asked)
    document = json.loads(path.read_text())
    [remark] = [text for text in document["evaluated"]["warnings"] if "two different" in text]
    assert remark.startswith("predicted has no more than two different scores, like")
    [better] = [f["text"] for f in document["findings"] if f["about"] == "model"]
    assert better.startswith("score ranks better: predicted ")
    [path] = ROWS.prc.report(tmp_path / "other.json", "truth", ["score", "three"], by="region")
    assert "two different" not in path.read_text()
