"""The answers of a report: they say that something is so only where a test shows it."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from report_cases import rows

import frame_prc

TWO = ["weak", "good"]
MOST_WORDS = 20


def answers(frame, folder, *columns, **options):
    """Return the answers of a report by what they are about."""
    [path] = frame.prc.report(folder / "report.json", *columns, **options)
    found = json.loads(path.read_text(encoding="utf-8"))["findings"]
    for answer in found:
        assert len(answer["text"].split()) <= MOST_WORDS, answer["text"]
    return {answer["about"]: answer for answer in found}


def texts(frame, folder, *columns, **options):
    return {about: a["text"] for about, a in answers(frame, folder, *columns, **options).items()}


def reasons(frame, folder, about, *columns, **options):
    return " ".join(answers(frame, folder, *columns, **options)[about]["reasons"])


# --- how good ------------------------------------------------------------------------------------


def test_the_area_of_the_best_model_comes_with_its_interval_and_chance(tmp_path):
    df = rows(2000, 1)
    row = df.prc.summary("truth", "good", details=True).row(0, named=True)
    low, high, area, chance = (
        f"{row[name]:.3f}"
        for name in ("ci_low", "ci_high", "average_precision", "random_average_precision")
    )
    assert texts(df, tmp_path, "truth", TWO)["how good"] == (
        f"good beats chance: average precision {area} (95 % interval {low} to {high}) against "
        f"{chance}."
    )


def test_alerts_are_said_to_be_those_of_the_rows_where_areas_are_of_another_prevalence(tmp_path):
    df = rows(900, 3)
    for calibrate, said in ((0.01, " such rows, "), (None, " rows, ")):
        found = answers(df, tmp_path, "truth", "good", by="segment", calibrate=calibrate)
        assert f"alerts per 1,000{said}" in found["threshold"]["text"]
        # Few negatives for such a prevalence say nothing of the plain area.
        assert found["how good"]["text"].startswith("good beats chance: ")
    page, _ = df.prc.report(tmp_path / "p.html", "truth", "good", by="segment", calibrate=0.01)
    own = f"{100 * df['truth'].mean():.2g} %".replace(" ", "\N{NO-BREAK SPACE}")
    said = f"Such rows: {own} positive, not 1\N{NO-BREAK SPACE}%."
    assert said in page.read_text(encoding="utf-8")


def test_an_interval_that_holds_chance_shows_nothing(tmp_path):
    few = pl.DataFrame({"truth": [1, 0, 1, 1, 0, 0, 1, 0], "s": [9, 8, 7, 6, 4, 3, 2, 1]})
    found = answers(few, tmp_path, "truth", "s")["how good"]
    assert found["text"].startswith("s is not shown to beat chance: average precision 0.7")
    assert found["text"].endswith(" against 0.623.")
    assert "The interval rests on few positives, and may be too narrow." in " ".join(
        found["reasons"]
    )


def test_a_model_below_chance_is_asked_about(tmp_path):
    df = rows(2000, 1).with_columns(bad=-pl.col("good"))
    text = texts(df, tmp_path, "truth", "bad")["how good"]
    assert re.fullmatch(
        r"bad is below chance: average precision 0\.\d+ \(95 % interval 0\.\d+ to 0\.\d+\) "
        r"against 0\.\d+\. Is a lower score better\?",
        text,
    )
    assert "worse" not in texts(df, tmp_path, "truth", "bad", ascending=True)["how good"]


@pytest.mark.parametrize("truth", [True, False])
def test_without_two_classes_nothing_is_said_of_models(tmp_path, truth):
    found = texts(rows(100, 3).with_columns(truth=truth), tmp_path, "truth", TWO, by="segment")
    if truth:
        assert found["segment"] == "weak: none of the 3 can be judged."
        assert "better:" not in found["model"]
    else:
        assert found == {"how good": "No average precision: no positives."}


@pytest.mark.parametrize(("score", "by"), [("good", None), (TWO, "segment")])
def test_an_empty_frame_has_one_answer(tmp_path, score, by):
    found = texts(rows(9, 2).head(0), tmp_path, "truth", score, by=by)
    assert found == {"how good": "No average precision: no rows."}


# --- which model ---------------------------------------------------------------------------------


def test_a_better_model_is_said_to_be_better_with_the_difference(tmp_path):
    df = rows(2000, 1)
    test = df.prc.compare_models("truth", TWO, details=True).row(0, named=True)
    assert test["model"] == "good"
    numbers = {name: f"{test[name]:.3f}" for name in test if isinstance(test[name], float)}
    found = answers(df, tmp_path, "truth", TWO)["model"]
    assert found["text"] == (
        "good ranks better: good {value_a}, weak {value_b} (difference {difference}, interval "
        "{ci_low} to {ci_high})."
    ).format(**numbers)
    assert "p < 0.001" in " ".join(found["reasons"])
    # The other way round the difference is that of the new model and the old one, too.
    assert texts(df, tmp_path, "truth", TWO[::-1])["model"] == (
        "good ranks better: weak {value_b}, good {value_a} (difference -{difference}, "
        "interval -{ci_high} to -{ci_low})."
    ).format(**numbers).replace("-", "\N{MINUS SIGN}")


def test_a_model_that_is_not_shown_to_be_better_is_not_said_to_be(tmp_path):
    df = rows(300, 1).with_columns(other=pl.col("good") + pl.col("weak") / 50)
    text = texts(df, tmp_path, "truth", ["good", "other"])["model"]
    assert text.startswith("Neither is shown to be better: other 0.")
    assert "interval \N{MINUS SIGN}0." in text
    close = df.with_columns(near=pl.col("weak") + pl.col("good") / 5).head(30)
    few = texts(close, tmp_path, "truth", ["weak", "near"])["model"]
    assert few.startswith("Too little to say which is better (few positives): ")


def test_of_several_models_those_that_may_be_as_good_are_named(tmp_path):
    three = {"a": "weak", "b": "good", "c": pl.col("good") + pl.col("weak").reverse() / 100}
    text = texts(rows(2000, 1), tmp_path, "truth", three)["model"]
    assert re.fullmatch("[bc] ranks better than a; [bc] may be as good.", text)
    why = reasons(rows(2000, 1), tmp_path, "model", "truth", three)
    assert "p-values are adjusted for 3 comparisons (Holm)." in why


def test_models_that_rank_alike_are_said_to_be_equal(tmp_path):
    df = rows(900, 1).with_columns(same=pl.col("good") * 2)
    text = texts(df, tmp_path, "truth", ["good", "same"])["model"]
    area = df.prc.average_precision("truth", "good")["average_precision"].item()
    assert text == f"same and good rank alike: both {area:.3f}."


@pytest.mark.thorough
def test_segments_in_which_a_model_wins_and_loses_are_named(tmp_path):
    swapped = pl.col("segment") == "s0003"
    df = rows(6000, 6).with_columns(
        turned=pl.when(swapped).then("weak").otherwise("good"),
        other=pl.when(swapped).then("good").otherwise("weak"),
    )
    why = reasons(df, tmp_path, "model", "truth", ["turned", "other"], by="segment")
    test = df.prc.compare_models(
        "truth", ["other", "turned"], by="segment", calibrate="highest", details=True
    ).filter(segment="s0003")
    areas = f"s0003 {test['value_a'][0]:.3f} against {test['value_b'][0]:.3f}"
    assert "By segment, at one prevalence and with p-values adjusted for 6 tests:" in why
    assert f"and worse in {areas}." in why
    page, _ = df.prc.report(tmp_path / "p.html", "truth", ["turned", "other"], by="segment")
    assert "By segment: turned beats other in 5, loses in s0003." in page.read_text(
        encoding="utf-8"
    )
    all_won = reasons(df, tmp_path, "model", "truth", TWO, by="segment")
    assert "good is shown to be better than weak in 6 of 6 segments, and worse in none." in all_won
    tiny = pl.concat([df, rows(20, 1).with_columns(segment=pl.lit("tiny"), turned=0.0, other=0.0)])
    one_less = reasons(tiny, tmp_path, "model", "truth", TWO, by="segment")
    assert "in 6 of 7 segments, and worse in none; in 1 that cannot be told." in one_less


# --- which segment -------------------------------------------------------------------------------


def test_segments_that_differ_are_named_with_their_direction(tmp_path):
    df = rows(4000, 5).with_columns(
        score=pl.when(pl.col("segment") == "s0002").then("weak").otherwise("good")
    )
    found = answers(df, tmp_path, "truth", "score", by="segment")["segment"]
    assert re.fullmatch(r"score is worse in s0002, better in s\d+( and .*)?\.", found["text"])
    why = " ".join(found["reasons"])
    assert "p-values are adjusted for the 5 tests of this model (Holm)." in why
    assert re.search(r"Worse: s0002 0\.\d+ against 0\.\d+ \(p < 0\.001\)\. Better: ", why)
    assert "Segments are shown to differ (p < 0.001): about two thirds lie within" in why
    assert why.endswith("None of the 5 segments is too small to judge.")


def one_lower(number, segments, share):
    """Return rows of which the score is weaker in one segment."""
    lower = pl.col("good") * (1 - share) + pl.col("weak") * share
    other = pl.when(pl.col("segment") == "s0002").then(lower).otherwise("good")
    return rows(number, segments).with_columns(score=other)


def test_another_model_hides_no_segment(tmp_path):
    df, asked = one_lower(2035, 4, 0.35), {"against": "others", "adjust": "holm"}
    both = df.prc.compare_segments("truth", ["score", "weak"], by="segment", **asked)
    assert both["p_adjusted"].min() > 0.05
    for model in ("score", ["score", "weak"]):
        found = texts(df, tmp_path, "truth", model, by="segment")["segment"]
        assert found == "score is worse in s0002 than elsewhere, shown better in none."
    why = reasons(df, tmp_path, "segment", "truth", ["score", "weak"], by="segment")
    assert "p-values are adjusted for the 4 tests of this model (Holm)." in why


def test_segments_that_differ_only_as_a_whole_are_said_to(tmp_path):
    df = one_lower(2157, 3, 0.38)
    spread = df.prc.heterogeneity("truth", "score", by="segment")["p_value"].item()
    found = answers(df, tmp_path, "truth", "score", by="segment")["segment"]
    assert found["text"] == (
        f"Segments differ (p = {spread:.2g}), none shown by itself; s0002 is probably the worst."
    )
    assert "though none is by itself" in " ".join(found["reasons"])
    assert "s0002 is the worst with a probability of 94 %." in found["reasons"]


def test_of_two_segments_alike_neither_is_said_to_be_the_worst(tmp_path):
    df = rows(1200, 3).with_columns(score=pl.when(segment="s0000").then("good").otherwise("weak"))
    weak = df.filter(segment="s0001")
    copied = pl.concat(
        [df.filter(pl.col("segment") != "s0002"), weak.with_columns(segment=pl.lit("s0002"))]
    )
    why = reasons(copied, tmp_path, "segment", "truth", "score", by="segment")
    both = r"s000[12] and s000[12] are the most likely, each with about (49|50|51) %\."
    assert re.search(both, why)


@pytest.mark.thorough
def test_equal_segments_are_not_said_to_differ(tmp_path):
    df = rows(3000, 5)
    found = answers(df, tmp_path, "truth", "good", by="segment")["segment"]
    assert found["text"] == "No segment is shown to differ from the others."
    row = df.prc.heterogeneity("truth", "good", by="segment", details=True).row(0, named=True)
    why = " ".join(found["reasons"])
    assert f"segments are not shown to differ (p = {row['p_value']:.2g})." in why
    assert re.search(r"the worst cannot be told: s\d+ (is|and .* are) the most likely, ", why)
    few = df.with_columns(pl.col("day").dt.ordinal_day() % 4)
    untested = reasons(few, tmp_path, "segment", "truth", "good", by="segment", cluster="day")
    assert "Whether segments differ at all is not tested: it needs more values of day" in untested


def test_small_segments_are_counted_first_and_named_with_the_reason(tmp_path):
    df = pl.concat([rows(900, 2), rows(20, 1).with_columns(segment=pl.lit("tiny"))])
    found = answers(df, tmp_path, "truth", "good", by="segment")["segment"]
    positives = df.filter(segment="tiny")["truth"].sum()
    assert "; 1 of 3 cannot be judged." in found["text"]
    assert "tiny" not in found["text"]
    assert found["reasons"][-1] == (
        f"Of 3 segments, tiny has few positives ({positives}). Few positives: fewer than 20 "
        "positives."
    )


@pytest.mark.thorough
def test_positives_in_few_clusters_are_not_said_to_be_few(tmp_path):
    df = rows(3000, 2).with_columns(group=pl.int_range(pl.len()) % 7)
    found = answers(df, tmp_path, "truth", "good", by="segment", cluster="group")["segment"]
    counts = df.filter("truth")["segment"].value_counts().sort("count", "segment")
    (first, low), (second, high) = counts.rows()
    assert found["text"] == "None of the 2 can be judged."
    assert found["reasons"][-1] == (
        f"Of 2 segments, {first} and {second} have positives in few values of group ({low} and "
        f"{high} positives). Few positives: fewer than 20 effective clusters with positives, where "
        "clusters "
        "that hold unequal shares of the positives count as fewer."
    )


def test_counts_say_what_cannot_be_tested(tmp_path):
    counts = rows(900, 3).with_columns(w=0.5).prc.counts("truth", "good", by="segment", weight="w")
    roles = {"score": "threshold", "pos": "pos", "neg": "neg", "by": "segment"}
    found = answers(counts, tmp_path, **roles)["segment"]
    assert found["text"] == "Not tested: that needs single rows in memory."
    assert found["reasons"][-1].startswith("Sums of weights do not say which segments are too")


# --- which threshold -----------------------------------------------------------------------------


def test_the_threshold_is_that_of_the_largest_f1_with_what_it_does(tmp_path):
    df = rows(2000, 1)
    point = df.prc.operating_points("truth", "good", f_beta=1, details=True).row(0, named=True)
    assert texts(df, tmp_path, "truth", TWO)["threshold"] == (
        f"Alert at good ≥ {point['threshold']:.4g} (largest F1): "
        f"{1000 * point['predicted_rate']:.0f} alerts per 1,000 rows, "
        f"{1000 * point['predicted_rate'] * point['precision']:.0f} right; "
        f"{100 * point['recall']:.0f} % of positives found."
    )
    lower = texts(df.with_columns(-pl.col("good")), tmp_path, "truth", "good", ascending=True)
    assert lower["threshold"].startswith(f"Alert at good ≤ {-point['threshold']:.4g} ")
    infinite = df.with_columns(good=pl.when(pl.col("good") > 0).then(np.inf))
    found = texts(infinite, tmp_path, "truth", "good")["threshold"]
    right = 1000 * infinite["truth"].mean()
    assert found == (
        "No threshold does better than an alert on every row, "
        f"{right:.0f} of 1,000 right (largest F1)."
    )


def test_another_target_has_its_own_threshold_or_none(tmp_path):
    df, asked = rows(2000, 1), {"points": {"recall": 0.9}}
    point = df.prc.operating_points("truth", "good", recall=0.9, details=True).row(0, named=True)
    found = answers(df, tmp_path, "truth", TWO, **asked)["threshold"]
    assert found["text"].startswith(f"Alert at good ≥ {point['threshold']:.4g} (recall ≥ 0.9): ")
    assert f"Recall ≥ 0.9: good at {point['threshold']:.4g} (" in " ".join(found["reasons"])
    given = texts(df, tmp_path, "truth", "good", points={"threshold": 0.5})["threshold"]
    assert given.startswith("Alert at good ≥ 0.5 (as asked): ")
    low = df.with_columns(good=-pl.col("good"))
    none = texts(low, tmp_path, "truth", "good", points={"precision": 1})["threshold"]
    assert none == "No threshold of good has precision ≥ 1."
    with pytest.raises(frame_prc.OptionError, match="asks for 2 operating points"):
        df.prc.report(tmp_path / "r.json", "truth", "good", points={"recall": [0.5, 0.9]})


# --- what a tester found -------------------------------------------------------------------------


def test_with_a_baseline_the_answer_is_of_the_best_model(tmp_path):
    three = {"a": "weak", "b": pl.col("good") + pl.col("weak"), "c": "good"}
    found = texts(rows(2000, 1), tmp_path, "truth", three, baseline="b")
    assert found["model"] == "c ranks better than b."
    found = texts(rows(2000, 1), tmp_path, "truth", three, baseline="c")
    assert found["model"] == "c ranks better than a and b."


@pytest.mark.parametrize(
    ("score", "relation"),
    [(1 - 10.0 ** (-5 - pl.col("weak")), "≥"), ((pl.col("weak") * 30).round() + 100_000, "≥")],
    ids=["near one", "large"],
)
def test_a_threshold_in_a_sentence_has_the_alerts_that_it_says(tmp_path, score, relation):
    df = rows(800, 1).with_columns(s=score)
    text = texts(df, tmp_path, "truth", "s")["threshold"]
    said = re.search(rf"at s {relation} (\S+) \(largest F1\): (\d+) alerts", text)
    alerts = 1000 * (df["s"] >= float(said[1])).mean()
    assert alerts == pytest.approx(int(said[2]), abs=2)


def test_few_of_a_class_are_said_where_chance_is_beaten_and_alerts_add_up(tmp_path):
    df = pl.DataFrame({"truth": [i < 5 for i in range(105)], "s": range(105, 0, -1)})
    found = texts(df, tmp_path, "truth", "s")
    assert found["how good"].startswith("s is above chance, on few positives: ")
    sampled = rows(400, 1).with_columns(weight=pl.when("truth").then(1.0).otherwise(1000.0))
    of_sampled = answers(sampled, tmp_path, "truth", "good", weight="weight")["how good"]
    assert of_sampled["text"].startswith("good is above chance, on few negatives: ")
    assert "The area rests on few negatives, and may be too high." in of_sampled["reasons"]
    assert "48 alerts per 1,000 rows, 48 right; 100 % of positives found." in found["threshold"]
