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
    _, text, spread, sizes = texts(df, tmp_path, "truth", "score", by="segment")
    assert spread.startswith("The calibrated average precision ranges from s0002 (0.")
    assert "sampling does not explain it (p < 0.001)." in spread
    assert "after correction for 5 segments, s0002 (" in text
    assert ") is worse" in text
    assert "The lowest calibrated average precisions are those of s0002 0." in text
    assert sizes == "None of the 5 segments is too small to judge."


def test_equal_segments_are_not_said_to_differ(tmp_path):
    _, text, spread, _ = texts(rows(3000, 5), tmp_path, "truth", "good", by="segment")
    assert "segments are not shown to differ (p = " in spread
    assert "no segment is shown to differ from the others." in text


def test_segments_in_which_the_better_model_is_worse_are_named(tmp_path):
    df = rows(6000, 5)
    swapped = pl.col("segment") == "s0003"
    good, weak = (pl.when(swapped).then(a).otherwise(b).alias(b) for a, b in (TWO, reversed(TWO)))
    _, differences, *_ = texts(df.with_columns(good, weak), tmp_path, "truth", TWO, by="segment")
    assert differences == (
        "By segment, good is better than weak in 4 of 5 (s0000, s0001, s0002 and s0004), and worse "
        "in 1 (s0003)."
    )
    noisy = rows(400, 5).with_columns(other=pl.col("good") + pl.col("weak").reverse() / 100)
    _, differences, *_ = texts(noisy, tmp_path, "truth", ["good", "other"], by="segment")
    assert differences.startswith("In none of the 5 segments is it shown that ")


def test_models_that_are_not_told_apart_each_have_their_segments(tmp_path):
    df = rows(3000, 3).with_columns(same=pl.col("good"))
    found = texts(df, tmp_path, "truth", ["good", "same", "weak"], by="segment")
    measure = "after correction for 3 segments and 3 models, no segment of"
    assert [text.partition(measure)[2].split()[0] for text in found if measure in text] == [
        "good",
        "same",
    ]


@pytest.mark.parametrize(("count", "named"), [(6, "s0004 (few"), (8, "and 2 others.")])
def test_few_small_segments_are_all_named(tmp_path, count, named):
    df = pl.concat([rows(40 * count, count), rows(900, 1).with_columns(segment=pl.lit("large"))])
    *_, sizes = texts(df, tmp_path, "truth", "good", by="segment")
    assert f" of the {count + 1} segments are too small to judge: " in sizes
    assert named in sizes
    assert "1 other" not in sizes


def test_few_clusters_are_a_reason(tmp_path):
    df = rows(3000, 2).with_columns(day=pl.col("day").dt.truncate("1w"))
    *_, sizes = texts(df, tmp_path, "truth", "good", by="segment", cluster="day")
    assert "s0000 (few values of day with positives: " in sizes


def test_small_segments_are_named(tmp_path):
    df = pl.concat([rows(900, 2), rows(20, 1).with_columns(segment=pl.lit("tiny"))])
    *_, text = texts(df, tmp_path, "truth", "good", by="segment")
    assert text.startswith("1 of the 3 segments is too small to judge: tiny (few positives: ")


@pytest.mark.parametrize("truth", [True, False])
def test_without_two_classes_nothing_is_said_of_models(tmp_path, truth):
    df = rows(100, 3).with_columns(truth=truth)
    models, segments, *_, sizes = texts(df, tmp_path, "truth", TWO, by="segment")
    assert "is better than" not in models
    assert "differ" not in segments or "not shown" in segments or "no segment" in segments
    reason = "no negatives" if truth else "no positives"
    assert sizes == (
        f"All 3 segments are too small to judge: s0000 ({reason}), s0001 ({reason}) and s0002 "
        f"({reason})."
    )


def test_a_model_below_chance_is_asked_about(tmp_path):
    df = rows(2000, 1).with_columns(bad=-pl.col("good"))
    [text] = texts(df, tmp_path, "truth", "bad")
    assert text.endswith("of a random ranking: is a lower score better?")
    [text] = texts(df, tmp_path, "truth", "bad", ascending=True)
    assert text.endswith(".")


def test_names_in_another_direction_are_isolated(tmp_path):
    df = rows(900, 2).with_columns(segment=pl.col("segment") + "\u202e\u05d0")
    _, segments, *_ = texts(df, tmp_path, "truth", "good", by="segment")
    assert "\u2068s0000\u202e\u05d0\u2069 0." in segments
