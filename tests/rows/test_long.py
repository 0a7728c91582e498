"""Long data, with a row per item and model: as if the scores of the models were side by side."""

from __future__ import annotations

import polars as pl
import pytest
from kinds import every_kind
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, DataError, Draws, OptionError

MODELS = ["alpha", "beta", "gamma"]
WIDE = pl.DataFrame(
    {
        "item": [*range(12), *range(4)],
        "region": ["n"] * 6 + ["s"] * 6 + [None] * 4,
        "truth": [1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0],
        "alpha": [0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.2, 0.7, 0.6, 0.6, 0.2, 0.1, 0.5, 0.3, 0.2, 0.1],
        "beta": [0.8, 0.1, 0.9, 0.5, 0.6, 0.6, 0.2, 0.3, 0.6, 0.4, 0.2, 0.5, 0.9, 0.1, 0.9, 0.2],
        "gamma": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.6, 0.1, 0.2, 0.1, 0.3, 0.3, 0.4, 0.1],
        "weight": [1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 1.0, 1.0, 2.0, 1.0, 0.0, 0.25, 2.0, 1.0, 1.0, 1.0],
        "user": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1, 2],
    }
)
COMMON = ["item", "region", "truth", "weight", "user"]
# The models are out of order, and so are the items.
LONG = (
    WIDE.unpivot(MODELS[::-1], index=COMMON, variable_name="which", value_name="score")
    .with_row_index("place")
    .sort(pl.col("place") * 7 % 48)
    .drop("place")
)
FIRST = pl.int_range(pl.len()) == 0


def compared(kind, df, **options):
    asked = {"model": "which", "row": "item", "by": "region", **options}
    return kind.rows(frame_prc.compare_models(kind.make(df), "truth", "score", **asked))


def assert_alike(kind, found: pl.DataFrame, expected: pl.DataFrame) -> None:
    if kind.name == "pandas":
        found = found.cast(dict(expected.schema))
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-15)


# --- comparisons -------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "weight", "baseline": "beta"},
        {"cluster": "user", "adjust": "holm", "missing": "drop"},
        {"measure": "calibrated_average_precision", "ascending": True},
        {"over": "region"},
    ],
    ids=str,
)
def test_models_are_compared_as_side_by_side(kind, options):
    expected = frame_prc.compare_models(WIDE, "truth", MODELS, **{"by": "region", **options})
    assert_alike(kind, compared(kind, LONG, **options), expected)


@every_kind
@pytest.mark.parametrize("missing", ["drop", "unretrieved"])
def test_items_that_a_model_lacks_are_left_out_for_all_or_never_retrieved(kind, missing):
    lacked = LONG.filter(~((pl.col("which") == "beta") & (pl.col("item") == 2)))
    lacks = pl.when(pl.col("item") != 2).then("beta").alias("beta")
    expected = frame_prc.compare_models(
        WIDE.with_columns(lacks), "truth", MODELS, by="region", missing=missing
    )
    assert_alike(kind, compared(kind, lacked, missing=missing), expected)
    if missing == "drop":
        assert expected["n_dropped"].to_list() == [1] * 6 + [0] * 3


@every_kind
@pytest.mark.parametrize(
    ("df", "what"),
    [
        (LONG[1:], "models have rows of different items by row= column 'item': of 16 items"),
        (pl.concat([LONG, LONG[:2]]), "row= column 'item' does not identify items: 2 rows with"),
        (
            LONG.with_columns(truth=pl.when(FIRST).then(1 - pl.col("truth")).otherwise("truth")),
            "truth= column 'truth' differs between the models in 1 item",
        ),
        (
            LONG.with_columns(weight=pl.when(FIRST).then(7.0).otherwise("weight")),
            "weight= column 'weight' differs between the models in 1 item",
        ),
        (
            LONG.with_columns(user=pl.when(FIRST).then(7).otherwise("user")),
            "cluster= column 'user' differs between the models in 1 item",
        ),
        (
            LONG.with_columns(score=pl.when(~FIRST).then("score")),
            "values are missing: 'score of gamma' has 1 row with null",
        ),
        (
            LONG.with_columns(truth=pl.when(~FIRST).then("truth")),
            "values are missing: 'truth' has 1 row with null",
        ),
        (
            LONG.with_columns(item=pl.when(~FIRST).then("item")),
            "row= column 'item' has 1 row with null",
        ),
        (
            LONG.with_columns(which=pl.when(~FIRST).then("which")),
            "model= column 'which' has 1 row with null",
        ),
        (LONG.filter(which="beta"), "model= column 'which' holds one model: 'beta'"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_rows_that_do_not_match_raise(kind, df, what):
    with pytest.raises(DataError, match=f"^{what}"):
        compared(kind, df, weight="weight", cluster="user")


@every_kind
def test_an_unknown_baseline_raises_once_the_models_are_known(kind):
    with pytest.raises(OptionError, match=r"baseline='delta' is not a model. Allowed: 'alpha'"):
        compared(kind, LONG, baseline="delta")


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_a_lazy_frame_is_read_once_at_collect(engine):
    reads = []

    def read(columns, *_):
        reads.append(columns)
        yield LONG if columns is None else LONG.select(columns)

    source = register_io_source(read, schema=LONG.schema)
    result = frame_prc.compare_models(
        source, "truth", "score", model="which", row="item", by="region"
    )
    schema = result.collect_schema()
    assert reads == []
    rows = result.collect(engine=engine)
    assert rows.schema == schema
    assert [set(columns) for columns in reads] == [{"truth", "score", "which", "item", "region"}]


@pytest.mark.parametrize("dtype", [pl.Enum(MODELS[::-1]), pl.Categorical, pl.Int8], ids=str)
def test_models_are_in_the_order_of_their_dtype(dtype):
    which = pl.col("which").replace_strict(dict(zip(MODELS, [10, 9, 2], strict=True)))
    which = which if dtype == pl.Int8 else pl.col("which")
    df = LONG.with_columns(which.cast(dtype))
    found = frame_prc.compare_models(df, "truth", "score", model="which", row="item", by="region")
    expected = {"Enum": ["gamma", "gamma", "beta"], "Int8": ["2", "2", "9"]}
    names = expected.get(str(dtype).partition("(")[0], ["alpha", "alpha", "beta"])
    assert found["baseline"][:3].to_list() == names


# --- other verbs -------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("auc", {}),
        ("average_precision", {"ci": 0.9, "cluster": "user"}),
        ("average", {"over": "region"}),
        ("average_precision", {"calibrate": "pooled"}),
        ("band", {"recalls": 3, "bootstrap": Draws(50, seed=1)}),
        ("compare_segments", {"against": "rest"}),
        ("compare_segments", {"against": "others", "cluster": "user"}),
        ("compare_segments", {"against": "overall", "cluster": "user"}),
        ("compare_segments", {"against": "random", "permutations": Draws(50, seed=1)}),
        ("counts", {"thresholds": [0.0, 0.5]}),
        ("curve", {"weight": "weight"}),
        ("heterogeneity", {}),
        ("operating_points", {"recall": 0.5, "missing": "drop"}),
        ("summary", {"overall": True}),
    ],
)
def test_other_verbs_get_a_key_of_models(kind, verb, options):
    asked = {"truth": "truth", "by": "region", **options}
    found = getattr(frame_prc, verb)(kind.make(LONG), score="score", model="which", **asked)
    expected = getattr(frame_prc, verb)(WIDE, score=MODELS, **asked)
    if isinstance(found, pl.LazyFrame):
        assert found.collect_schema() == expected.schema
    assert_alike(kind, kind.rows(found), expected)


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"row": None}, OptionError, "model= is given without row="),
        ({"model": None}, OptionError, "row= is given without model="),
        ({"score": ["score", "weight"]}, OptionError, "model= is given with several models"),
        ({"model": "nope"}, ColumnError, "model= names 'nope', which is not a column"),
        ({"row": "region"}, ColumnError, "column 'region' is named in by= and row="),
    ],
)
def test_parameters_that_do_not_fit_raise_at_the_call(kind, options, error, what):
    asked = {"score": "score", "model": "which", "row": "item", "by": "region"} | options
    with pytest.raises(error, match=f"^{what}"):
        frame_prc.compare_models(kind.make(LONG), "truth", **asked)
