"""Segments that nobody named: the planted one is found, chance is not; numbers are as elsewhere."""

import re

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._inference import scan
from frame_prc.exceptions import DataError, OptionError

COLUMNS = ["site", "device", "age"]


def rows(seed=0, size=4000, bad=None, *, clusters=None):
    """Return rows whose columns mean nothing, but for the site and device that are ``bad``."""
    random = np.random.default_rng(seed)
    site, device = random.integers(0, 6, size), random.integers(0, 4, size)
    late = random.random(size) < 0.3
    helps = np.full(size, 1.5)
    if bad is not None:
        helps[(site == bad[0]) & (device == bad[1])] = -0.5
    cluster = random.integers(0, clusters or size, size)
    return pl.DataFrame(
        {
            "site": site,
            "device": [f"d{one}" for one in device],
            "age": random.integers(18, 90, size),
            "late": late,
            "score": random.normal(size=size) + helps * late,
            "user": cluster,
        }
    )


def found(frame, **asked):
    return frame_prc.find_segments(frame, "late", "score", **({"columns": COLUMNS} | asked))


@pytest.mark.parametrize("cluster", [None, "user"])
def test_the_segment_that_differs_is_found_first_and_alone(cluster):
    frame = rows(bad=(2, 1), clusters=None if cluster is None else 400)
    finds = found(frame, cluster=cluster, details=True)
    assert finds["segment"].to_list() == ["device=d1 & site=2"]
    [row] = finds.to_dicts()
    inside = frame.filter(site=2, device="d1")
    assert (row["n"], row["n_pos"]) == (inside.height, inside["late"].sum())
    assert row["difference"] < 0
    assert row["ci_high"] < 0
    assert row["p_adjusted"] == 1 / 1000


def test_numbers_are_those_of_compare_segments():
    frame = rows(bad=(2, 1))
    [find] = found(frame, depth=1, columns=["site"], details=True).to_dicts() or [None]
    share = frame["late"].mean()
    table = frame_prc.compare_segments(
        frame, "late", "score", by="site", calibrate=share, details=True
    ).filter(site=2)
    for name, of in {"value": "value_a", "others": "value_b", "difference": "difference"}.items():
        assert find[name] == pytest.approx(table[of].item(), rel=1e-12)
    assert find["ci_low"] < table["ci_low"].item()  # which holds for this segment alone


@pytest.mark.parametrize("measure", ["average_precision", "roc_auc"])
def test_other_measures_find_it_too(measure):
    assert found(rows(bad=(2, 1)), measure=measure)["segment"][0] == "device=d1 & site=2"


def test_chance_is_seldom_found_and_then_what_came_closest_is_told(caplog):
    hits = sum(found(rows(seed, size=2000)).height > 0 for seed in range(10))
    assert hits <= 3  # at 5 %, more happen once in 1,000 times
    told = r"no segment was found among the \d+ looked at; .* differs most, by .* \(p = (.*)\)"
    messages = (re.fullmatch(told, text) for text in caplog.messages)
    p_values = [one[1] for one in messages if one]
    assert len(p_values) == 10 - hits
    assert min(map(float, p_values)) >= 0.05


@pytest.mark.thorough
@pytest.mark.parametrize("asked", [{"cluster": "user"}, {"measure": "roc_auc"}])
def test_chance_is_found_in_at_most_five_percent(asked):
    frames = (
        rows(seed, size=3000, clusters=300 if asked.get("cluster") else None) for seed in range(40)
    )
    hits = sum(found(frame, **asked).height > 0 for frame in frames)
    assert hits <= 6  # at 5 %, more happen once in 300 times


def test_a_number_is_cut_where_its_text_says():
    frame = rows().with_columns(late=pl.col("late"), age=pl.col("age").cast(pl.Float64))
    worse = pl.when(pl.col("age") < 36).then(0).otherwise(2.0)
    frame = frame.with_columns(score=pl.col("score") + worse * pl.col("late"))
    [find] = found(frame, columns=["age"], details=True).to_dicts()
    name, _, end = find["segment"].partition(" < ")
    inside = frame.filter(pl.col(name) < float(end))
    assert find["n"] == inside.height
    assert 34 <= float(end) <= 38


def test_dates_and_missing_values_are_levels_too():
    frame = rows(size=6000).with_columns(
        day=pl.date(2024, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 200),
        site=pl.when(pl.col("site") > 0).then("site"),
    )
    worse = pl.col("site").is_null() | (pl.col("day") >= pl.date(2024, 5, 30))
    frame = frame.with_columns(score=pl.col("score") - 2.0 * (worse & pl.col("late")))
    names = found(frame, columns=["site", "day"])["segment"].to_list()
    assert "rest of site=null" in names  # its other rows are in the find above
    assert any(name.startswith("day >= 2024-05-") for name in names)


def test_numbers_are_those_of_the_rows_that_the_name_of_a_find_says():
    frame = rows(size=6000)
    is_bad = (pl.col("site") == 3) | (pl.col("device") == "d2")
    frame = frame.with_columns(score=pl.col("score") - 1.5 * (is_bad & pl.col("late")))
    finds = found(frame, columns=["site", "device"], details=True)
    assert finds["segment"].str.starts_with("rest of ").any()
    left = frame
    for find in finds.iter_rows(named=True):
        pairs = [pair.split("=") for pair in find["segment"].removeprefix("rest of ").split(" & ")]
        named = pl.all_horizontal(pl.col(name).cast(pl.String) == value for name, value in pairs)
        inside = left.filter(named).height
        assert find["n"] == inside
        assert find["segment"].startswith("rest of ") == (inside < frame.filter(named).height)
        left = left.filter(~named)


def test_segments_with_too_few_negatives_for_the_measure_are_counted(caplog):
    frame = rows(size=12_000)
    is_small = pl.col("site") == 2
    row = pl.int_range(pl.len()).over("site")
    frame = frame.filter(~is_small | (row < 150))
    frame = frame.with_columns(late=pl.when(is_small).then(row >= 25).otherwise("late"))
    found(frame, columns=["site"])
    assert "besides the 5 segments looked at there are 1 with too few negatives for" in caplog.text
    caplog.clear()
    found(frame, columns=["site"], measure="roc_auc")
    assert "too few negatives" not in caplog.text


def test_the_order_of_the_columns_and_rows_and_the_kind_of_these_do_not_matter():
    frame = rows(bad=(2, 1))
    expected = found(frame, details=True)
    assert_frame_equal(
        found(frame.sample(fraction=1.0, shuffle=True, seed=1), details=True), expected
    )
    assert_frame_equal(found(frame.lazy(), details=True).collect(), expected)
    assert_frame_equal(pl.from_pandas(found(frame.to_pandas(), details=True)), expected)
    assert_frame_equal(found(frame, details=True, columns=COLUMNS[::-1]), expected)
    ev = frame_prc.evaluate(frame, "late", "score", by=COLUMNS)
    assert_frame_equal(ev.find_segments(details=True), expected)


def test_rows_without_a_score_are_left_out():
    frame = rows(bad=(2, 1))
    lacking = pl.int_range(pl.len()) % 7 == 0
    frame = frame.with_columns(score=pl.when(~lacking).then("score"))
    kept = frame.drop_nulls("score")
    table = found(frame, missing="drop", details=True)
    assert set(table["n_dropped"]) == {frame.height - kept.height}
    assert_frame_equal(table.drop("n_dropped"), found(kept, details=True))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"columns": None}, "by= is not given"),
        ({"depth": 3}, "depth=3"),
        ({"quantiles": 1}, "quantiles=1 is out of range"),
        ({"min_positives": 2.5}, "min_positives=2.5 is out of range"),
        ({"ci": 1 - 1e-9}, "ci=0.999999999 is out of range"),
        ({"measure": "brier"}, "measure='brier'"),
        ({"score": ["score", "age"]}, "several models are given"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, said):
    given = {"score": "score", "columns": COLUMNS} | asked
    with pytest.raises(OptionError, match=said):
        frame_prc.find_segments(rows(), "late", **given)


def test_segments_are_looked_at_if_a_comparison_can_judge_them():
    frame = rows(size=6000).with_columns(site=pl.int_range(pl.len()) % 60)
    frame = frame.with_columns(score=pl.when(site=7).then(0.0).otherwise("score"))
    frame = frame.with_columns(site=pl.format("s{}", "site"))
    table = frame_prc.compare_segments(
        frame, "late", "score", by="site", calibrate=frame["late"].mean()
    )
    judged = (table["status"] == "ok").sum()
    assert 0 < judged < 60
    details = found(frame, columns=["site"], details=True)
    assert details["n_looked_at"][0] == judged
    assert details["reference_prevalence"][0] == pytest.approx(frame["late"].mean(), rel=1e-12)


def test_many_rows_have_wider_keys(monkeypatch):
    frame = rows(bad=(2, 1))
    expected = found(frame, details=True)
    monkeypatch.setattr(scan, "_FITS_32_BITS", 0)
    assert_frame_equal(found(frame, details=True), expected)


@pytest.mark.parametrize("rows_of", [pl.col("late"), ~pl.col("late"), pl.int_range(pl.len()) == 0])
def test_rows_of_one_class_are_an_error_of_ours(rows_of):
    with pytest.raises(DataError, match="no segment has"):
        found(rows(60, size=60).filter(rows_of))


@pytest.mark.parametrize("offset", [10**9, 2**62])
def test_large_numbers_that_are_near_each_other_are_cut_too(offset):
    frame = rows(size=6000).with_columns(time=pl.int_range(pl.len()) + offset)
    late_ones = pl.col("time") < offset + 1500
    frame = frame.with_columns(score=pl.col("score") - 2.0 * (late_ones & pl.col("late")))
    [name] = found(frame, columns=["time"])["segment"]
    assert name == f"time < {offset + 1500}"


def test_a_number_that_is_mostly_its_lowest_value_is_cut_above_it():
    frame = rows(size=6000).with_columns(
        late_fees=pl.when(pl.col("age") > 74).then("age").otherwise(0)
    )
    worse = (pl.col("late_fees") > 0) & pl.col("late")
    frame = frame.with_columns(score=pl.col("score") - 2.0 * worse)
    [name] = found(frame, columns=["late_fees"])["segment"]
    assert name == "late_fees >= 75"


def test_tiny_frames_have_finds_or_an_error_of_ours():
    random = np.random.default_rng(0)
    for size in range(2, 40):
        frame = rows(size, size=size).with_columns(late=pl.Series(random.random(size) < 0.5))
        try:
            found(frame, min_positives=1)
        except DataError as error:
            assert "no segment has" in str(error)  # noqa: PT017


@pytest.mark.parametrize("far", [0, 1_000, 1_700_000_000])
def test_a_single_cut_is_as_fine_as_the_values_are_close(far):
    random = np.random.default_rng(6)
    x, late = random.random(2_000), random.random(2_000) < 0.3
    score = random.normal(size=2_000) + np.where(x > 0.5, -0.2, 1.8) * late
    df = pl.DataFrame({"late": late, "score": score, "x": far + x, "other": [0, 1] * 1_000})
    asked = {"columns": ["x", "other"], "quantiles": 2, "details": True}
    [found] = df.prc.find_segments("late", "score", **asked).to_dicts()
    assert found["segment"].startswith(("x <", "x >="))
    assert abs(found["n"] - 1_000) < 60


def test_a_decimal_column_that_is_mostly_one_value_is_cut():
    random = np.random.default_rng(0)
    late, usual = random.random(2_000) < 0.3, random.random(2_000) < 0.8
    price = np.where(usual, 1.0, 7 + np.arange(2_000) / 100)
    score = random.normal(size=2_000) + np.where(price > 1, -0.2, 1.8) * late
    df = pl.DataFrame({"late": late, "score": score, "price": price, "other": [0, 1] * 1_000})
    found = df.cast({"price": pl.Decimal(12, 2)}).prc.find_segments(
        "late", "score", columns=["price", "other"], quantiles=2
    )
    assert "price" in found["segment"].first()
