"""Counts: what they hold, the dtypes they keep, and that they add up."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

import pandas as pd
import polars as pl
import polars.selectors as cs
import published
import pytest
from engine_kinds import DUCKDB, every_kind_and_duckdb
from kinds import KINDS, VERBS, assert_rows, every_kind, every_polars_kind

import frame_prc
from frame_prc import DataError

INFINITY = float("inf")
NAN = float("nan")


@every_kind
def test_counts_are_positives_and_negatives_at_each_score(kind):
    result = frame_prc.counts(kind.make(published.SPARK), "truth", "score")
    expected = pl.DataFrame(
        {"threshold": [0.8, 0.6, 0.4, 0.1], "pos": [1, 2, 0, 1], "neg": [0, 1, 1, 1]}
    )
    assert_rows(kind, result, expected)


@every_kind
def test_signed_zeros_are_one_score_and_infinities_are_scores(kind):
    df = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [-0.0, 0.0, -INFINITY, INFINITY]})
    result = frame_prc.counts(kind.make(df), "truth", "score")
    expected = pl.DataFrame(
        {"threshold": [INFINITY, 0.0, -INFINITY], "pos": [0, 1, 1], "neg": [1, 1, 0]}
    )
    assert_rows(kind, result, expected)


# --- scores ---------------------------------------------------------------------------


SCORES = {
    pl.Float16: [INFINITY, 65504.0, 2.0**-24, 0.0, -(2.0**-24), -INFINITY],
    pl.Float32: [INFINITY, 3.4028234663852886e38, 1e-45, 0.0, -1e-45, -INFINITY],
    pl.Float64: [INFINITY, 1.7976931348623157e308, 5e-324, 0.0, -5e-324, -INFINITY],
    pl.Int8: [127, 1, 0, -1, -128],
    pl.UInt8: [255, 1, 0],
    pl.Int16: [2**15 - 1, 0, -(2**15)],
    pl.UInt16: [2**16 - 1, 0],
    pl.Int32: [2**31 - 1, 0, -(2**31)],
    pl.UInt32: [2**32 - 1, 0],
    pl.Int64: [2**63 - 1, 2**53 + 1, 2**53, 0, -(2**63)],
    pl.UInt64: [2**64 - 1, 2**64 - 2, 2**63, 0],
    pl.Int128: [2**127 - 1, 2**64, 0, -(2**127)],
    pl.UInt128: [2**128 - 1, 2**64, 0],
    pl.Decimal(38, 2): [Decimal(f"{10**35}.01"), Decimal(10**35), Decimal("-0.01")],
}
NOT_IN_PANDAS = (pl.Int128, pl.UInt128)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(k, d) for k in KINDS for d in SCORES if k.name != "pandas" or d not in NOT_IN_PANDAS],
    ids=str,
)
def test_scores_keep_their_dtype_and_rank_exactly_in_it(kind, dtype):
    scores = pl.Series("threshold", SCORES[dtype], dtype=dtype)
    ranks = range(scores.len())
    df = pl.DataFrame({"score": scores, "pos": ranks, "neg": 1}).reverse()
    result = frame_prc.counts(kind.make(df), score="score", pos="pos", neg="neg")
    ones = pl.Series([1] * scores.len())
    assert_rows(kind, result, pl.DataFrame({"threshold": scores, "pos": ranks, "neg": ones}))


@every_kind
def test_models_of_several_dtypes_share_one_that_holds_them_exactly(kind):
    df = pl.DataFrame(
        {"truth": [1, 0], "points": [2**31 - 1, 0], "odds": [0.1, 1.0]},
        schema_overrides={"points": pl.Int32, "odds": pl.Float32},
    )
    result = frame_prc.counts(kind.make(df), "truth", ["points", "odds"])
    expected = pl.DataFrame(
        {
            "model": ["odds", "odds", "points", "points"],
            "threshold": [1.0, df["odds"][0], 2**31 - 1.0, 0.0],
            "pos": [0, 1, 1, 0],
            "neg": [1, 0, 0, 1],
        }
    )
    assert_rows(kind, result, expected)


SIDE_BY_SIDE = {
    "Int64": pl.Series([3, 1, 2], dtype=pl.Int64),
    "UInt64": pl.Series([2**53, 1, 2], dtype=pl.UInt64),
    "Decimal": pl.Series(["0.93", "0.1", "0.3"]).cast(pl.Decimal(18, 9)),
    "null": pl.Series([3, None, 2], dtype=pl.Int64),
}


@every_kind_and_duckdb
@pytest.mark.parametrize("scores", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_scores_of_two_dtypes_need_no_cast_if_floats_hold_them(kind, scores):
    if kind.name == "DuckDB" and scores.max() == 2**53:
        scores = scores - 1  # an engine knows those below
    df = pl.DataFrame({"truth": [1, 0, 1], "old": scores, "new": [0.25, 0.5, 0.75]})
    asked = {"truth": "truth", "score": ["old", "new"], "missing": "unretrieved"}
    result = kind.rows(frame_prc.counts(kind.make(df), **asked))
    expected = frame_prc.counts(df.with_columns(pl.col("old").cast(pl.Float64)), **asked)
    assert_rows(KINDS[0], result.cast(dict(expected.schema)), expected)


@every_kind
def test_a_score_of_one_vs_rest_that_would_be_rounded_is_refused(kind):
    df = pl.DataFrame({"kind": ["a", "b"], "a": [2**53 + 1, 0], "b": [0.5, 0.25]})
    with pytest.raises(DataError, match="score= column 'a' has 1 row that Float64"):
        kind.rows(frame_prc.one_vs_rest(kind.make(df), "kind", {"a": "a", "b": "b"}))


def test_a_score_that_would_be_rounded_is_refused_in_duckdb():
    df = pl.DataFrame({"truth": [1, 0], "old": [2**53 + 1, 0], "new": [0.5, 0.25]})
    with pytest.raises(Exception, match=r"'old' has a row that Float64.*cast it to floats first"):
        DUCKDB.rows(frame_prc.counts(DUCKDB.make(df), "truth", ["old", "new"]))


# --- keys -----------------------------------------------------------------------------


BERLIN = pl.Datetime("ms", "Europe/Berlin")
# Each in the order that segments come out in.
KEYS = {
    "String": pl.Series([None, "Z", "a", "ä"]),
    "Enum": pl.Series([None, "small", "large"], dtype=pl.Enum(["small", "large"])),
    "Boolean": pl.Series([None, False, True]),
    "Int8": pl.Series([-1, 0, 1], dtype=pl.Int8),
    "UInt64": pl.Series([0, 2**64 - 1], dtype=pl.UInt64),
    "Float32": pl.Series([-INFINITY, -0.5, 0.0, 0.5, INFINITY], dtype=pl.Float32),
    "Date": pl.Series([None, date(1969, 12, 31), date(2026, 3, 1)]),
    "Datetime": pl.Series([None, datetime(2026, 3, 1, tzinfo=UTC)]).cast(BERLIN),
    "Decimal": pl.Series([None, Decimal("-1.50"), Decimal("0.25")]),
    "list": pl.Series([None, [], [1], [1, 2], [2]], dtype=pl.List(pl.Int64)),
    "struct": pl.Series([{"city": "Ulm", "zone": 1}, {"city": "Ulm", "zone": 2}]),
    "Binary": pl.Series([None, b"a", b"b"]),
}


@every_kind
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_keys_keep_their_dtype_and_order(kind, key):
    df = pl.DataFrame({"segment": key, "truth": [True] * key.len(), "score": 0.5})
    result = frame_prc.counts(kind.make(df.reverse()), "truth", "score", by="segment")
    expected = df.select("segment", threshold="score", pos=pl.lit(1), neg=pl.lit(0))
    assert_rows(kind, result, expected.cast({"pos": pl.Int64, "neg": pl.Int64}))


@every_polars_kind
@pytest.mark.parametrize(
    "key",
    [
        pl.Series([None, 1.0, NAN]),
        pl.Series(["a", "z"], dtype=pl.Categorical),
        pl.Series([None], dtype=pl.Null),
    ],
    ids=["NaN", "Categorical", "Null"],
)
def test_keys_that_pandas_has_no_dtype_for_keep_theirs(kind, key):
    df = pl.DataFrame({"segment": key, "truth": [True] * key.len(), "score": 0.5})
    result = frame_prc.counts(kind.make(df.reverse()), "truth", "score", by="segment")
    assert kind.rows(result)["segment"].equals(key, check_dtypes=True, null_equal=True)


@every_polars_kind
def test_null_structs_are_known_to_be_null(kind):
    key = pl.Series([None, *({"city": "Ulm", "zone": zone} for zone in range(50))])
    df = pl.DataFrame({"segment": key, "truth": [True] * 51, "score": 0.5})
    frame = kind.make(pl.concat([df, df.reverse()], rechunk=False))
    for verb, options in VERBS.items():
        ask = getattr(frame_prc, verb)
        found = kind.rows(ask(frame, "truth", "score", by="segment", **options))
        nulls = found["segment"].is_null().sum()
        assert 0 < nulls == found["segment"].null_count(), verb
        assert found["segment"].drop_nulls().len() == found.height - nulls, verb


def test_signed_zeros_are_one_key_without_a_sign():
    # Which of them a group shows is up to the kind and the verb: all of both.
    for kind, zeros, verb in product(KINDS, ([0.0, -0.0], [-0.0, 0.0]), ("counts", "auc")):
        df = pl.DataFrame({"segment": zeros * 2, "truth": [1, 0] * 2, "score": [1, 1, 2, 2]})
        result = getattr(frame_prc, verb)(kind.make(df), "truth", "score", by="segment")
        assert {*map(str, kind.rows(result)["segment"])} == {"0.0"}, (kind, zeros, verb)


def test_pandas_categories_sort_in_their_own_order():
    sizes = pd.Categorical(["large", "small"], categories=["small", "large"], ordered=True)
    df = pd.DataFrame({"size": sizes, "truth": [1, 0], "score": [1.0, 2.0]})
    result = frame_prc.counts(df, "truth", "score", by="size")
    assert result["size"].tolist() == ["small", "large"]
    assert result["size"].dtype == df["size"].dtype


BY = pl.DataFrame(
    {
        "region": ["s", "n", "s", "n"],
        "week": [2, 1, 1, 2],
        "truth": [1, 0, 1, 0],
        "score": [0.1, 0.2, 0.3, 0.4],
    }
)


@every_kind
@pytest.mark.parametrize(
    "by",
    [
        ["region", "week"],
        ("region", pl.col("week")),
        pl.col("region", "week"),
        cs.by_index(0, 1),
        [cs.string(), "week"],
        [cs.starts_with("r"), cs.starts_with("w")],
    ],
    ids=["list", "tuple", "expression", "selector", "list with a selector", "selectors"],
)
def test_keys_may_be_given_in_many_ways(kind, by):
    result = frame_prc.counts(kind.make(BY), "truth", "score", by=by)
    expected = pl.DataFrame(
        {
            "region": ["n", "n", "s", "s"],
            "week": [1, 2, 1, 2],
            "threshold": [0.2, 0.4, 0.3, 0.1],
            "pos": [0, 0, 1, 1],
            "neg": [1, 1, 0, 0],
        }
    )
    assert_rows(kind, result, expected)


# --- weights and aggregated rows ------------------------------------------------------


@every_kind
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Int32, pl.UInt8], ids=str)
def test_weighted_counts_are_float64(kind, dtype):
    df = pl.DataFrame({"truth": [1, 1, 0], "score": [1.0] * 3, "weight": [1, 2, 4]})
    df = df.cast({"weight": dtype})
    result = frame_prc.counts(kind.make(df), "truth", "score", weight="weight")
    assert_rows(kind, result, pl.DataFrame({"threshold": [1.0], "pos": [3.0], "neg": [4.0]}))


@every_kind
def test_float32_weights_are_summed_in_float64(kind):
    df = pl.DataFrame({"truth": [1, 1], "score": [1.0, 1.0], "weight": [2.0**24, 1.0]})
    df = df.cast({"weight": pl.Float32})
    result = frame_prc.counts(kind.make(df), "truth", "score", weight="weight")
    # 2**24 + 1 is no Float32.
    assert kind.rows(result)["pos"].item() == 2**24 + 1


@every_kind
@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Int64, pl.Float32], ids=str)
def test_aggregated_rows_with_one_score_are_added_up(kind, dtype):
    df = pl.DataFrame(
        {"score": [2, 1, 2, 0], "hits": [200, 1, 200, 0], "misses": [0, 3, 5, 0]},
        schema_overrides={"hits": dtype, "misses": dtype},
    )
    result = frame_prc.counts(kind.make(df), score="score", pos="hits", neg="misses")
    expected = pl.DataFrame({"threshold": [2, 1], "pos": [400, 1], "neg": [5, 3]})
    amount = pl.Float64 if dtype.is_float() else pl.Int64
    assert_rows(kind, result, expected.cast({"pos": amount, "neg": amount}))


# --- missing values -------------------------------------------------------------------


MISSING = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "b", "b"],
        "truth": [True, False, None, True, False],
        "score": [0.9, NAN, 0.7, None, NAN],
    }
)


@every_kind
def test_dropped_rows_are_left_out(kind):
    result = frame_prc.counts(kind.make(MISSING), "truth", "score", by="segment", missing="drop")
    expected = pl.DataFrame({"segment": ["a"], "threshold": [0.9], "pos": [1], "neg": [0]})
    assert_rows(kind, result, expected)


@every_kind
def test_unretrieved_rows_come_last_without_a_threshold(kind):
    df = MISSING.drop_nulls("truth")
    result = frame_prc.counts(kind.make(df), "truth", "score", by="segment", missing="unretrieved")
    expected = pl.DataFrame(
        {
            "segment": ["a", "a", "b"],
            "threshold": [0.9, None, None],
            "pos": [1, 0, 1],
            "neg": [0, 1, 1],
        }
    )
    assert_rows(kind, result, expected)
