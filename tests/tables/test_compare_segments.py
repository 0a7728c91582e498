"""Segments compared with others: the rest, all rows, a named segment, and the one before."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import ROWS, assert_test, by_definition, compared, moved_by, sums
from exact import segments
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, DataError, OptionError

TEST = ["value_a", "value_b", "difference", "std_error", "ci_low", "ci_high", "p_value"]
# Without the third segment, which has no two positives above each other's score.
TWO = ROWS.filter(pl.col("region").is_not_null())


def sides(df: pl.DataFrame, region: str | None, against: object) -> list[pl.DataFrame]:
    """Return the rows of a segment, and those of what it is compared with."""
    is_own = pl.col("region").eq_missing(pl.lit(region))
    others = {"rest": ~is_own, "overall": pl.lit(value=True), "previous": pl.col("region") == "n"}
    other = others[against] if isinstance(against, str) else pl.col("region") == "s"
    return [df.filter(is_own), df.filter(other)]


# --- by definition -----------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("calibrate", [None, "highest", "pooled", 0.25])
@pytest.mark.parametrize("against", ["rest", "overall", {"region": "s"}, "previous"])
def test_segment_against_others_equals_exact_arithmetic(kind, weight, cluster, calibrate, against):
    measure = "average_precision" if calibrate is None else "calibrated_average_precision"
    result = compared(
        kind,
        TWO,
        "old",
        by="region",
        weight=weight,
        cluster=cluster,
        against=against,
        measure=measure,
        calibrate=calibrate,
    )
    assert result["region"].to_list() == ["n", "s"]
    df = TWO.filter(pl.col("weight") > 0) if weight else TWO.drop("weight")
    df = df.with_row_index("row")
    positives, negatives = oracle.totals(segments(df.with_columns(score="old"), None)[()])
    pooled = positives / (positives + negatives)
    highest = oracle.highest_prevalence(
        [*segments(df.with_columns(score="old"), "region").values()]
    )
    prevalence = {None: None, "highest": highest, "pooled": pooled, 0.25: Fraction(1, 4)}[calibrate]
    for found in result.iter_rows(named=True):
        rows_a, rows_b = sides(df, found["region"], against)
        if found["region"] == {"previous": "n"}.get(str(against)):
            rows_b = df.head(0)
        if rows_a.equals(rows_b):
            assert [found[name] for name in TEST[2:]] == [0, None, None, None, None]
            assert found["status"] == "no_other"
            continue
        if rows_b.is_empty():
            assert [found[name] for name in TEST[1:]] == [None] * 6
            assert found["status"] == "no_other"
            continue
        areas, moved, effectives, more = [], [], [], []
        for side, shown in ((rows_a, "a"), (rows_b, "b")):
            area, moves, rows = moved_by(side, "old", prevalence)
            clusters = side["user" if cluster else "row"].to_list()
            areas.append(area)
            moved.append(sums(moves, clusters))
            effectives.append(oracle.effective_positives(rows, clusters))
            is_known = cluster and not weight
            more.append(oracle.of_squares(rows, clusters, prevalence) if is_known else 0.0)
            of_side = oracle.totals(rows)
            assert found[f"prevalence_{shown}"] == pytest.approx(float(of_side[0] / sum(of_side)))
        expected = by_definition(*areas, *moved, *effectives, more=more)
        assert_test(found, expected, may_be_wider=bool(weight and cluster))
        assert found["std_error"] is not None
        assert (found["value_a"], found["value_b"]) == pytest.approx(
            tuple(map(float, areas)), rel=1e-12
        )
        if prevalence is not None:
            assert found["reference_prevalence"] == pytest.approx(float(prevalence), rel=1e-12)


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_models_are_compared_at_a_prevalence_as_by_exact_arithmetic(kind, cluster):
    asked = {"by": "region", "cluster": cluster, "calibrate": 0.25}
    df = TWO.drop("weight").with_row_index("row")
    for found in compared(kind, df, ("new", "old"), **asked).iter_rows(named=True):
        side = df.filter(region=found["region"])
        clusters = side["user" if cluster else "row"].to_list()
        prevalence = Fraction(1, 4)
        (a, moves_a, rows), (b, moves_b, rows_b) = (
            moved_by(side, score, prevalence) for score in ("old", "new")
        )
        effective = oracle.effective_positives(rows, clusters)
        moved = [sums(moves, clusters) for moves in (moves_a, moves_b)]
        more = [oracle.of_squares(one, clusters, prevalence) for one in (rows, rows_b)]
        assert_test(found, by_definition(a, b, *moved, effective, more=more))
        assert found["measure"] == "calibrated_average_precision"
        assert found["reference_prevalence"] == 0.25
        assert (found["value_a"], found["value_b"]) == pytest.approx(
            (float(a), float(b)), rel=1e-12
        )


AGAINST = ["rest", "others", {"region": "most"}]


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("against", AGAINST, ids=str)
def test_segments_are_compared_at_the_highest_prevalence_that_rows_enough_have(
    kind, weight, against
):
    # (positives, negatives): the last three would set a prevalence that their rows do not bear.
    sizes = {"low": (20, 60), "most": (20, 30), "few": (19, 19), "two": (2, 1), "one": (5, 0)}
    places = pl.int_range(pl.len())
    df = pl.DataFrame(
        [(name, n < pos) for name, (pos, neg) in sizes.items() for n in range(pos + neg)],
        schema=["region", "truth"],
        orient="row",
    ).with_columns(a=places * 37 % 11, b=places * 53 % 17, weight=2 - (places == 0))
    # By weight the effective number of positives of "low" is below 20, and that of "most" is not.
    found = compared(kind, df, ["a", "b"], by="region", weight=weight, against=against)
    of_segments = segments(df.with_columns(score="a"), "region")
    expected = float(oracle.highest_prevalence([*of_segments.values()]))
    assert expected == pytest.approx(20 / 50)
    known = found["reference_prevalence"].drop_nulls()
    assert len(known) >= 6
    assert known.to_list() == pytest.approx([expected] * len(known), rel=1e-12)
    same = compared(
        kind, df, ["a", "b"], by="region", weight=weight, against=against, calibrate=expected
    )
    assert_frame_equal(found, same, rel_tol=1e-9)


def test_the_highest_prevalence_is_at_most_a_half_and_that_of_each_model():
    truth, score = [True, True, True, False] * 20, [i * 7 % 13 for i in range(80)]
    of_one = pl.DataFrame({"truth": truth, "score": score})
    rows = pl.concat(
        of_one.with_columns(
            truth=pl.col("truth") if flip else ~pl.col("truth"), week=week, m=pl.lit(m)
        )
        for m, flips in {"a": (True, False), "b": (False, False)}.items()
        for week, flip in enumerate(flips)
    )
    table = frame_prc.compare_segments(
        rows, "truth", "score", model="m", by="week", against="overall", details=True
    )
    reference = table.group_by("model").agg(pl.col("reference_prevalence").unique())
    assert dict(reference.iter_rows()) == {"a": [0.5], "b": [0.25]}


# --- what is compared --------------------------------------------------------------------------


@every_kind
def test_a_named_segment_is_that_of_the_other_keys(kind):
    df = TWO.with_columns(half=pl.int_range(pl.len()) % 2)
    result = compared(kind, df, "old", by=["half", "region"], against={"region": "s"})
    assert result["reference"].unique().to_list() == ["region=s"]
    for half in (0, 1):
        alone = compared(
            kind, df.filter(half=half), "old", by="region", against={"region": "s"}, calibrate=0.3
        )
        both = compared(
            kind, df, "old", by=["half", "region"], against={"region": "s"}, calibrate=0.3
        )
        of_half = both.filter(half=half).drop("half")
        assert_frame_equal(of_half, alone, rel_tol=1e-12)


@every_kind
def test_the_previous_segment_is_the_one_before_in_the_order_of_the_last_key(kind):
    first = date(2024, 1, 1)
    weeks = [first + timedelta(weeks=week) for week in (0, 1, 3)]
    rows = [(model, week) for model in "ba" for week in (weeks[2], None, weeks[0], weeks[1])]
    df = pl.DataFrame(rows, schema={"shop": pl.String, "week": pl.Date}, orient="row")
    df = df.join(TWO.filter(region="n").select("truth", "old", "new"), how="cross")
    better = pl.when(pl.col("week") == weeks[1]).then("truth").otherwise("old")
    df = df.with_columns(score=better)
    result = compared(
        kind, df, "score", by=["shop", "week"], against="previous", measure="average_precision"
    )
    assert result["week"].cast(pl.Date).to_list() == [None, *weeks] * 2
    area = result["value_a"][1]
    assert result["value_a"].to_list() == [area, area, 1.0, area] * 2
    assert result["value_b"].to_list() == [None, None, area, 1.0] * 2
    named = [None, None, "week=2024-01-01", "week=2024-01-08"]
    assert result["reference"].to_list() == named * 2


FIRST = datetime(2024, 3, 30, 22, 30)


@pytest.mark.parametrize(
    ("keys", "dtype", "names"),
    [
        ([7, 8], pl.Int8, "7"),
        ([0.25, 0.5], pl.Float64, "0.25"),
        (["W1", "W2"], pl.Categorical, "W1"),
        ([FIRST.date(), FIRST.date() + timedelta(7)], pl.Datetime("ns"), "2024-03-30"),
        ([FIRST, FIRST + timedelta(hours=2)], pl.Datetime("ms"), "2024-03-30 22:30:00"),
        ([FIRST, FIRST + timedelta(7)], pl.Datetime("us", "Asia/Kolkata"), "2024-03-31 04:00:00"),
        ([timedelta(hours=1), timedelta(2)], pl.Duration, "1h"),
        ([False, True], pl.Boolean, "false"),
        ([b"\xff", b"\xff\x00"], pl.Binary, None),
        ([[1], [2]], pl.List(pl.Int64), None),
    ],
)
def test_the_previous_segment_is_named_whatever_its_key_is(keys, dtype, names):
    key = pl.Series("a=b", keys).cast(dtype)
    df = key.to_frame().lazy().join(TWO.lazy().select("truth", "old"), how="cross")
    result = frame_prc.compare_segments(df, "truth", "old", by="a=b", against="previous")
    assert result.collect_schema()["reference"] == pl.String
    name = "previous" if names is None else f"a=b={names}"
    assert result.collect()["reference"].to_list() == [None, name]


@every_kind
@pytest.mark.parametrize("against", ["rest", "previous"])
def test_each_model_is_compared_with_itself(kind, against):
    both = compared(kind, TWO, ("new", "old"), by="region", against=against)
    for model in ("new", "old"):
        alone = compared(kind, TWO, model, by="region", against=against)
        assert_frame_equal(both.filter(model=model).drop("model"), alone, rel_tol=1e-12)


@every_kind
def test_dropped_rows_are_on_neither_side(kind):
    lost = TWO.with_columns(old=pl.when(pl.col("user") != 2).then("old"))
    asked = {"by": "region", "against": {"region": "s"}, "cluster": "user"}
    result = compared(kind, lost, "old", missing="drop", **asked)
    kept = compared(kind, lost.drop_nulls("old"), "old", **asked)
    assert_frame_equal(result.drop("n_dropped"), kept, rel_tol=1e-12)
    assert result["n_dropped"].to_list() == [2, 0]


# --- segments of unequal prevalence ------------------------------------------------------------


def group(rng: np.random.Generator, prevalence: float, rows: int) -> dict[str, np.ndarray]:
    """Return rows of one score model, of a group with a prevalence."""
    truth = rng.random(rows) < prevalence
    return {"truth": truth, "score": rng.standard_normal(rows) + 1.5 * truth}


def drawn_groups(seed: int, draws: int) -> pl.DataFrame:
    """Draw three groups, of which the last has more positives."""
    rng = np.random.default_rng(seed)
    return pl.concat(
        pl.DataFrame({"draw": draw, "group": number, **group(rng, prevalence, 2000)})
        for draw in range(draws)
        for number, prevalence in enumerate((0.05, 0.05, 0.2))
    )


@pytest.mark.thorough
def test_one_score_model_at_unequal_prevalences_is_rarely_found_to_differ():
    ev = drawn_groups(0, 100).prc.evaluate("truth", "score", by="group", model="draw")
    for side in ("rest", "overall", {"group": 0}):
        p_values = ev.compare_segments(against=side).filter(group=2)["p_value"]
        # 5 % of 100 is 5, and 12 or more have a probability of 0.4 %.
        assert (p_values < 0.05).sum() < 12
    raw = ev.compare_segments(against="rest", measure="average_precision").filter(group=2)
    assert raw["p_value"].max() < 1e-3


@pytest.mark.thorough
def test_a_segment_that_differs_is_found():
    worse = pl.when((pl.col("group") == 2) & pl.col("truth")).then(0.6).otherwise(0.0)
    df = drawn_groups(1, 50).with_columns(pl.col("score") - worse)
    table = df.prc.compare_segments("truth", "score", by="group", model="draw", against="rest")
    assert (table.filter(group=2)["p_value"] < 0.05).sum() > 45


def test_clusters_that_reach_across_segments_make_them_alike():
    rng = np.random.default_rng(2)
    shared = rng.standard_normal(1000)
    truth = rng.random(1000) < 0.3
    frames = [
        pl.DataFrame(
            {
                "side": side,
                "day": np.arange(1000),
                "truth": truth,
                "score": shared + 0.3 * rng.standard_normal(1000) + truth,
            }
        )
        for side in "ab"
    ]
    asked = {"by": "side", "against": {"side": "a"}}
    df = pl.concat(frames)
    by_row, by_day = (
        df.prc.compare_segments("truth", "score", cluster=cluster, details=True, **asked)[
            "std_error"
        ][1]
        for cluster in (None, "day")
    )
    assert by_day < by_row / 2


# --- few negatives -----------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("cluster", "sizes"),
    [(None, [(0.5, 60), (0.5, 300), (0.2, 200), (0.2, 900)]), ("pair", [(0.5, 90), (0.7, 90)])],
    ids=["rows", "clusters"],
)
@pytest.mark.parametrize("reference", [0.02, 0.2, 0.6, 0.95])
def test_status_says_that_there_are_few_negatives_as_by_definition(kind, cluster, sizes, reference):
    rng = np.random.default_rng(3)
    frames = [
        pl.DataFrame({"group": f"{prevalence} {rows}", **group(rng, prevalence, rows)})
        for prevalence, rows in sizes
    ]
    df = pl.concat(frames).with_columns(pl.col("score").round(), pair=pl.int_range(pl.len()) // 2)
    asked = {"by": "group", "ci": 0.95, "calibrate": reference, "cluster": cluster}
    result = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", **asked))
    for found in result.iter_rows(named=True):
        side = df.filter(group=found["group"])
        rows = segments(side, None)[()]
        pairs = side["pair"].to_list() if cluster else None
        few = oracle.has_few_negatives(rows, Fraction(reference), pairs)
        assert found["status"] == ("few_negatives" if few else "ok"), found["group"]


@every_kind
@pytest.mark.parametrize(
    ("small", "large", "others"),
    [
        ((30, 11), 90, "ok"),
        ((5, 1), 90, "ok"),
        ((30, 2), 90, "few_negatives"),
        ((120, 14), 400, "few_negatives"),  # as the standard errors of the others are smaller
    ],
)
def test_others_have_few_negatives_if_these_move_their_mean(kind, small, large, others):
    rng = np.random.default_rng(0)
    sizes = dict.fromkeys("abc", (large, 7 * large // 3)) | {"small": small}
    frames = [
        pl.DataFrame({"group": name, "truth": np.arange(sum(n)) < n[0]})
        for name, n in sizes.items()
    ]
    rows = pl.concat(frames)
    rows = rows.with_columns(score=pl.col("truth") + pl.lit(rng.normal(size=rows.height)))
    asked = {"by": "group", "against": "others"}
    found = kind.rows(frame_prc.compare_segments(kind.make(rows), "truth", "score", **asked))
    statuses = dict(found.select("group", "status").rows())
    assert statuses.pop("small") != "ok"
    assert statuses == dict.fromkeys("abc", others)


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"against": {"week": 1}}, ColumnError, "names 'week', which is not a key in by="),
        ({"against": {"region": 1}}, OptionError, "names 1, which cannot be a value of key"),
        ({"against": {}}, OptionError, "against={} does not name a segment"),
        ({"against": {"region": pl.lit("n")}}, OptionError, "which cannot be a value of key"),
        ({"against": {"region": np.array(["n", "s"])}}, OptionError, "which cannot be a value of"),
        ({"against": "before"}, OptionError, "is not an option.*or {key: value}"),
        ({"against": "rest", "measure": "auc"}, OptionError, "measure='auc' is not an option"),
        (
            {"against": "rest", "measure": "average_precision", "calibrate": 0.1},
            OptionError,
            "calibrate= is given with measure='average_precision'",
        ),
        ({"against": "rest", "calibrate": 10}, OptionError, "10 % is calibrate=0.1"),
        ({"against": "rest", "calibrate": 1e-200}, OptionError, "Allowed: at least 1e-100"),
        ({"against": "rest", "calibrate": "all"}, OptionError, "'all' is not a prevalence"),
    ],
)
def test_wrong_options_are_said_at_the_call(kind, options, error, says):
    with pytest.raises(error, match=says):
        frame_prc.compare_segments(kind.make(TWO), "truth", "old", by="region", **options)


@every_kind
def test_a_segment_that_does_not_occur_is_an_error(kind):
    with pytest.raises(DataError, match="against= names region=x, and no row is in such a segment"):
        compared(kind, TWO, "old", by="region", against={"region": "x"})


@every_polars_kind
@pytest.mark.parametrize(
    ("day", "text", "meant"),
    [
        (date(2026, 3, 2), "2026-03-02", r"datetime\.date\(2026, 3, 2\), the date"),
        (datetime(2026, 3, 2, 9), "2026-03-02T09:00", r"datetime\.datetime\(2026, .*, the time"),
        (date(2026, 3, 2), "March", "Allowed: a value of the key, or None[^?]*$"),
    ],
)
def test_a_date_given_as_text_is_hinted_at(kind, day, text, meant):
    df = TWO.with_columns(day=pl.lit(day))
    with pytest.raises(OptionError, match=f"names '{text}', which cannot be a value.*{meant}"):
        compared(kind, df, "old", by="day", against={"day": text})


@every_polars_kind
def test_a_segment_whose_key_is_nan_or_missing_can_be_named(kind):
    keys = {"n": float("nan"), "s": 1.0}
    df = ROWS.with_columns(key=pl.col("region").replace_strict(keys, default=None))
    for name, region in ((float("nan"), "n"), (None, None), (1.0, "s")):
        found = compared(kind, df, "old", by="key", against={"key": name}, calibrate=0.3)
        expected = compared(
            kind, ROWS, "old", by="region", against={"region": region}, calibrate=0.3
        )
        values = pl.col("value_a", "value_b", "p_value")
        assert_frame_equal(
            found.select(values).sort("value_a"), expected.select(values).sort("value_a")
        )
