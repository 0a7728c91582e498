"""The sentences of a report: they say that something is so only where a test shows it."""

from __future__ import annotations

import json

import polars as pl
import pytest
from report_cases import rows

TWO = ["weak", "good"]


def texts(frame, folder, *columns, **options):
    [path] = frame.prc.report(folder / "report.json", *columns, **options)
    return [finding["text"] for finding in json.loads(path.read_text())["findings"]]


def test_a_better_model_is_said_to_be_better(tmp_path):
    df = rows(2000, 1)
    test = df.prc.compare("truth", ["good", "weak"]).row(0, named=True)
    [text] = texts(df, tmp_path, "truth", TWO)
    assert text == (
        f"Over all rows, good is better than weak: {test['ap_a']:.3f} against {test['ap_b']:.3f}, "
        f"a difference of {test['difference']:.3f} (95 % interval {test['ci_low']:.3f} to "
        f"{test['ci_high']:.3f}, p < 0.001)."
    )


def test_a_model_that_is_not_shown_to_be_better_is_not_said_to_be(tmp_path):
    df = rows(60, 1).with_columns(other=pl.col("good") + pl.col("weak") / 50)
    [text] = texts(df, tmp_path, "truth", ["good", "other"])
    assert "but the data do not show that it is better" in text
    assert "is better than" not in text
    three = {"a": "weak", "b": "good", "c": pl.col("good") + pl.col("weak").reverse() / 100}
    [text] = texts(rows(2000, 1), tmp_path, "truth", three)
    assert text.startswith("Over all rows, ")
    assert " is better than a: " in text
    assert "also has a larger average precision than " in text


def test_segments_that_differ_are_named_with_their_direction(tmp_path):
    df = rows(4000, 5).with_columns(
        score=pl.when(pl.col("segment") == "s0002").then("weak").otherwise("good")
    )
    _, text, sizes = texts(df, tmp_path, "truth", "score", by="segment")
    assert "after correction for 5 segments, s0002 (" in text
    assert ") is worse" in text
    assert "The lowest calibrated average precisions are those of s0002 0." in text
    assert sizes == "None of the 5 segments is too small to say."


def test_equal_segments_are_not_said_to_differ(tmp_path):
    _, text, _ = texts(rows(3000, 5), tmp_path, "truth", "good", by="segment")
    assert "no segment is shown to differ from all rows." in text


def test_small_segments_are_named(tmp_path):
    df = pl.concat([rows(900, 2), rows(20, 1).with_columns(segment=pl.lit("tiny"))])
    *_, text = texts(df, tmp_path, "truth", "good", by="segment")
    assert text.startswith("1 of the 3 segments is too small to say: tiny (few positives: ")


@pytest.mark.parametrize("truth", [True, False])
def test_without_two_classes_nothing_is_said_of_models(tmp_path, truth):
    df = rows(100, 3).with_columns(truth=truth)
    models, segments, sizes = texts(df, tmp_path, "truth", TWO, by="segment")
    assert "is better than" not in models
    assert "differ" not in segments or "not shown" in segments or "no segment" in segments
    assert sizes.startswith("3 of the 3 segments are too small to say")


def test_a_model_below_chance_is_asked_about(tmp_path):
    df = rows(2000, 1).with_columns(bad=-pl.col("good"))
    [text] = texts(df, tmp_path, "truth", "bad")
    assert text.endswith("of a random ranking: is a lower score better?")
    [text] = texts(df, tmp_path, "truth", "bad", ascending=True)
    assert text.endswith(".")


def test_names_in_another_direction_are_isolated(tmp_path):
    df = rows(900, 2).with_columns(segment=pl.col("segment") + "\u202e\u05d0")
    *_, segments, _ = texts(df, tmp_path, "truth", "good", by="segment")
    assert "\u2068s0000\u202e\u05d0\u2069 0." in segments
