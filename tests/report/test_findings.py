"""The sentences of a report: they say that something is so only where a test shows it."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from report_cases import rows

from frame_prc._report.sentences import difference_texts

TWO = ["weak", "good"]


def texts(frame, folder, *columns, **options):
    [path] = frame.prc.report(folder / "report.json", *columns, **options)
    return [finding["text"] for finding in json.loads(path.read_text())["findings"]]


def test_a_better_model_is_said_to_be_better(tmp_path):
    df = rows(2000, 1)
    test = df.prc.compare_models("truth", ["good", "weak"], details=True).row(0, named=True)
    [text] = texts(df, tmp_path, "truth", TWO)
    names = ("value_a", "value_b", "difference", "ci_low", "ci_high")
    shown = dict(zip(names, re.findall(r"0\.\d{3,}", text), strict=False))
    assert text == (
        f"Over all rows, good is better than weak: {shown['value_a']} against {shown['value_b']}, "
        f"a difference of {shown['difference']} (95 % interval {shown['ci_low']} to "
        f"{shown['ci_high']}, p < 0.001)."
    )
    for name, number in shown.items():
        assert float(number) == pytest.approx(test[name], abs=0.0005)
    assert Decimal(shown["value_a"]) - Decimal(shown["value_b"]) == Decimal(shown["difference"])


@pytest.mark.parametrize(
    ("areas", "texts"),
    [
        ((0.5696945, 0.5684075), ("0.5697", "0.5684", "0.0013")),
        ((0.374, 0.336), ("0.374", "0.336", "0.038")),
        ((0.5684075, 0.5696945), ("0.5684", "0.5697", "-0.0013")),
        ((0.6, 0.59995), ("0.60000", "0.59995", "0.00005")),
        ((0.5, 0.5), ("0.500", "0.500", "0.000")),
        ((0.5, 0.5 - 1e-9), ("0.500000", "0.500000", "0.000000")),
        ((None, 0.5), ("", "0.500", "")),
    ],
)
def test_areas_and_their_difference_agree_as_shown(areas, texts):
    a, b = areas
    difference = None if a is None else a - b
    row = {
        "value_a": a,
        "value_b": b,
        "difference": difference,
        "ci_low": difference,
        "ci_high": None,
    }
    shown = difference_texts(row)
    assert (shown["value_a"], shown["value_b"], shown["difference"]) == texts
    assert shown["ci_low"] == texts[2]
    assert shown["ci_high"] == ""


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
    _, spread, text, sizes = texts(df, tmp_path, "truth", "score", by="segment")
    assert spread.startswith("The calibrated average precisions differ between segments (p < ")
    assert text.startswith(
        "With average precisions calibrated to one prevalence, and p-values adjusted for 5 tests, "
        "s0002 ("
    )
    assert ") is worse and s0000 (" in text
    assert "are better than the mean of the other segments. The lowest" in text
    assert (
        "The lowest calibrated average precisions, with p against the others, are those of s0002 0."
        in text
    )
    assert sizes == "None of the 5 segments is too small to judge."


@pytest.mark.thorough
def test_equal_segments_are_not_said_to_differ(tmp_path):
    df = rows(3000, 5)
    _, spread, text, _ = texts(df, tmp_path, "truth", "good", by="segment")
    assert "no segment is shown to differ from the others." in text
    row = df.prc.heterogeneity("truth", "good", by="segment", details=True).row(0, named=True)
    assert row["tau"] == 0
    assert spread == (
        "The calibrated average precisions are not shown to differ between segments "
        f"(p = {row['p_value']:.2g}): they vary no more than by chance."
    )
    clustered = texts(df, tmp_path, "truth", "good", by="segment", cluster="day")
    assert clustered[1].startswith("The calibrated average precisions are not shown to differ")
    few = df.with_columns(pl.col("day").dt.ordinal_day() % 4)
    *_, untested, _, _ = texts(few, tmp_path, "truth", "good", by="segment", cluster="day")
    assert untested.startswith("Whether the segments differ at all is not tested: rows with the")


@pytest.mark.thorough
def test_the_lowest_of_equal_segments_may_be_so_by_chance(tmp_path):
    small = rows(20, 1).with_columns(segment=pl.lit("tiny"))
    *_, text, sizes = texts(
        pl.concat([rows(3000, 5), small]), tmp_path, "truth", "good", by="segment"
    )
    before, after = text.split("no segment is shown to differ from the others. ")
    assert "lowest" not in before
    assert after.startswith("If you look at any, these rank lowest, but that may be chance: s000")
    assert re.search(
        r"Which one is the worst cannot be told: s\d+, the most likely, is it with", after
    )
    assert "tiny" not in after
    assert (
        "(calibrated average precision, with p against the others). Segments with too few "
        "positives or negatives to judge are left out here." in after
    )
    assert "tiny" in sizes


def test_small_segments_are_named(tmp_path):
    df = pl.concat([rows(900, 2), rows(20, 1).with_columns(segment=pl.lit("tiny"))])
    *_, text = texts(df, tmp_path, "truth", "good", by="segment")
    positives = df.filter(segment="tiny")["truth"].sum()
    assert text == (
        f"Of 3 segments, tiny has few positives ({positives}), too few to judge. "
        "Few are fewer than 20 positives."
    )


@pytest.mark.parametrize("truth", [True, False])
def test_without_two_classes_nothing_is_said_of_models(tmp_path, truth):
    df = rows(100, 3).with_columns(truth=truth)
    models, by_segment, *segments, sizes = texts(df, tmp_path, "truth", TWO, by="segment")
    assert "is better than" not in models + by_segment
    assert len(segments) == 2  # for either model
    assert not [text for text in segments if "differ" in text and "not shown" not in text]
    missing, by_size = "negatives" if truth else "positives", ("count", "segment")
    first, second, last = (
        df["segment"].value_counts().sort(*by_size)["segment"]
        if truth
        else ("s0000", "s0001", "s0002")
    )
    names = f"{first}, {second} and {last}"
    assert sizes == f"Of 3 segments, {names} have no {missing}, so there is nothing to judge."


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


@pytest.mark.thorough
def test_segments_in_which_the_better_model_is_not_better_are_named(tmp_path):
    again = pl.col("truth") * 0.8 + pl.Series(np.random.default_rng(0).random(6000))
    df = (
        rows(6000, 6)
        .with_columns(again=again)
        .with_columns(
            turned=pl.when(pl.col("segment") == "s0003").then("weak").otherwise("good"),
            other=pl.when(pl.col("segment") == "s0003").then("good").otherwise("weak"),
            same=pl.when(pl.col("segment") == "s0001").then("again").otherwise("weak"),
        )
    )
    _, text, *_ = texts(df, tmp_path, "truth", TWO, by="segment")
    assert text == (
        "With average precisions calibrated to one prevalence, and p-values adjusted for 6 tests, "
        "good is better than weak in each of the 6 segments."
    )
    _, text, *_ = texts(df, tmp_path, "truth", ["turned", "other"], by="segment")
    test = df.prc.compare_models(
        "truth", ["turned", "other"], by="segment", calibrate="highest", adjust="holm", details=True
    ).filter(segment="s0003")
    areas = f"{test['value_a'][0]:.3f} against {test['value_b'][0]:.3f}"
    assert text.endswith(f"turned is better than other in 5 of 6 and worse in s0003 ({areas}).")
    _, text, *_ = texts(df, tmp_path, "truth", ["good", "same"], by="segment")
    assert text.endswith(
        "better than same in 5 of 6 and worse in none; in s0001 neither is shown to be better."
    )
    first, text, *rest = texts(df, tmp_path, "truth", {"a": "good", "b": "again"}, by="segment")
    assert "the data do not show that it is better" in first
    assert "a and b are not shown to differ in any segment." in text
    for model in "ab":  # neither is better, so either has its findings
        assert any(f"segment of {model} is shown to differ" in finding for finding in rest)


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "named"), [(6, 6), (7, 5)])
def test_a_list_never_leaves_out_just_one_name(tmp_path, count, named):
    small = rows(count * 8, count).sort("segment").with_columns(segment="x" + pl.col("segment"))
    df = pl.concat([rows(900, 2), small])
    *_, text = texts(df, tmp_path, "truth", "good", by="segment")
    assert text.count("xs00") == named
    assert ("and 2 others have few positives (" in text) == (count > named)
    assert " other " not in text


@pytest.mark.thorough
def test_positives_in_few_clusters_are_not_said_to_be_few(tmp_path):
    df = rows(3000, 2).with_columns(group=pl.int_range(pl.len()) % 7)
    *_, text = texts(df, tmp_path, "truth", "good", by="segment", cluster="group")
    counts = df.filter("truth")["segment"].value_counts().sort("count", "segment")
    (first, low), (second, high) = counts.rows()
    assert text == (
        f"Of 2 segments, {first} and {second} have positives in few values of group ({low} and "
        f"{high} positives), too few to judge. Few are fewer than 20 effective clusters with "
        "positives: clusters that hold unequal shares of the positives count as fewer."
    )
    page, _ = df.prc.report(tmp_path / "page.html", "truth", "good", by="segment", cluster="group")
    assert '"notes":["few clusters","few clusters"]' in page.read_text(encoding="utf-8")


def test_models_that_rank_alike_are_said_to_be_equal(tmp_path):
    df = rows(900, 1).with_columns(same=pl.col("good") * 2)
    [text] = texts(df, tmp_path, "truth", ["good", "same"])
    area = df.prc.average_precision("truth", "good")["average_precision"].item()
    assert text == f"Over all rows, good has the same average precision as same: {area:.3f}."


def test_sums_of_weights_do_not_say_which_segments_are_small(tmp_path):
    counts = rows(900, 3).with_columns(w=0.5).prc.counts("truth", "good", by="segment", weight="w")
    *_, segments, sizes = texts(
        counts, tmp_path, score="threshold", pos="pos", neg="neg", by="segment"
    )
    assert sizes == "Sums of weights do not say which segments are too small to judge."
    assert segments.startswith("Which segments differ from the others is not tested")


@pytest.mark.parametrize(("score", "by"), [("good", None), (TWO, "segment")])
def test_an_empty_frame_has_a_finding_on_models_alone(tmp_path, score, by):
    [text] = texts(rows(9, 2).head(0), tmp_path, "truth", score, by=by)
    assert text == "No model has an average precision over all rows: no rows."
