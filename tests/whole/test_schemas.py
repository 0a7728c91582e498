"""The schema of a lazy result is known before anything is read."""

from __future__ import annotations

import polars as pl
import pytest
from lazy_cases import ROWS, TRUTH, ask, every_verb

from frame_prc import OptionError

# Sums of weights do not tell how their rows spread.
NEED_ROWS = {"band"}
KEYS = {
    "String": pl.col("region"),
    "Date": pl.col("day"),
    "Categorical": pl.col("region").cast(pl.Categorical),
    "Enum": pl.col("region").cast(pl.Enum(["s", "n"])),
    "UInt8": pl.col("hits").cast(pl.UInt8).alias("key"),
    "Null": pl.lit(None).alias("key"),
    "List": pl.concat_list("hits", "misses").alias("key"),
    "Struct": pl.struct("region", "day").alias("key"),
}
SCORES = {
    "Float32": pl.Float32,
    "Float64": pl.Float64,
    "Int8": pl.Int8,
    "UInt64": pl.UInt64,
    "Int128": pl.Int128,
    "Decimal": pl.Decimal(10, 3),
}
OPTIONS = {
    "weight": {"weight": "weight of it"},
    "integer weight": {"weight": pl.col("day").dt.day()},
    "drop": {"score": "score", "missing": "drop"},
    "unretrieved": {"score": "score", "missing": "unretrieved"},
    "models": {"score": ["score", "other"], "missing": "drop"},
    "models of two dtypes": {"score": {"a": "other", "b": pl.col("other").cast(pl.Float32)}},
    "models of floats and integers": {"score": ["other", pl.col("hits").cast(pl.Int32)]},
    "label": {"truth": "region", "pos_label": "n", "missing": "drop"},
    "counts": {"truth": None, "pos": "hits", "neg": "misses"},
    "counts of floats": {"truth": None, "pos": pl.col("hits") / 2, "neg": "misses"},
    "counts of small integers": {
        "truth": None,
        "pos": pl.col("hits").cast(pl.UInt8),
        "neg": "misses",
    },
}


def assert_schema_is_exact(result: pl.LazyFrame) -> None:
    assert result.collect_schema() == result.collect().schema


@every_verb
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_schema_is_known_beforehand_for_every_key(key, verb):
    result = ask(ROWS.lazy(), verb, {**TRUTH, "by": key, "truth": pl.col("late").alias("truth")})
    expected = ROWS.select(key).schema
    assert_schema_is_exact(result)
    assert dict(list(result.collect_schema().items())[:1]) == dict(expected)


@every_verb
@pytest.mark.parametrize("dtype", SCORES.values(), ids=SCORES)
def test_schema_is_known_beforehand_for_every_score(dtype, verb):
    assert_schema_is_exact(ask(ROWS.lazy(), verb, {**TRUTH, "score": pl.col("other").cast(dtype)}))


@every_verb
@pytest.mark.parametrize("asked", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("by", [None, "day"])
def test_schema_is_known_beforehand_for_every_option(asked, by, verb):
    if verb in NEED_ROWS and asked is OPTIONS["counts of floats"]:
        with pytest.raises(OptionError, match="sums of weights"):
            ask(ROWS.lazy(), verb, {**TRUTH, **asked, "by": by})
        return
    assert_schema_is_exact(ask(ROWS.lazy(), verb, {**TRUTH, **asked, "by": by}))


@pytest.mark.parametrize("weight", [None, "weight of it"])
@pytest.mark.parametrize("start", ["one", "first", None])
@pytest.mark.parametrize("thresholds", [None, 5])
def test_schema_is_known_beforehand_for_every_form_of_curve(thresholds, start, weight):
    columns = {"envelope": True, "gain": True, "calibrate": 0.1, "start": start}
    asked = {**TRUTH, **columns, "thresholds": thresholds, "weight": weight}
    assert_schema_is_exact(ask(ROWS.lazy(), "curve", asked))


@pytest.mark.parametrize("weight", [None, "weight of it"])
@pytest.mark.parametrize("how", ["mean", "weighted", "micro", "rows"])
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_schema_is_known_beforehand_for_every_average(missing, how, weight):
    asked = {**TRUTH, "by": ["region", "day"], "over": "day", "how": how}
    result = ask(ROWS.lazy(), "average", {**asked, "weight": weight, "missing": missing})
    assert_schema_is_exact(result)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_schema_is_known_beforehand_for_overall_rows(options):
    if options is not OPTIONS["counts of floats"]:
        asked = {**TRUTH, **options, "by": "day", "overall": True}
        assert_schema_is_exact(ask(ROWS.lazy(), "summary", asked))


@every_verb
@pytest.mark.parametrize("by", [None, "region"])
def test_schema_of_no_rows_is_that_of_rows(verb, by):
    asked = {**TRUTH, "by": by}
    result = ask(ROWS.head(0).lazy(), verb, asked)
    assert_schema_is_exact(result)
    assert result.collect_schema() == ask(ROWS, verb, asked).schema
