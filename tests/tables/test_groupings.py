"""Several groupings in one result: each as in a call of its own, below one another."""

from __future__ import annotations

import oracle
import polars as pl
import pytest
from comparisons import ROWS
from exact import segments
from kinds import every_kind
from layers import also
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, DataError, Draws, OptionError

DF = ROWS.with_columns(day=pl.col("user") % 3, score="old")
GROUPINGS = [["day"], ["region", "day"], [], ["region"]]
NAMES = ["day", "region, day", "all rows", "region"]
CALLS = [
    ("auc", {"method": ["step", "gain"]}),
    ("average_precision", {"ci": 0.9, "weight": "weight"}),
    ("average_precision", {"score": ["old", "new"], "calibrate": "pooled"}),
    ("average_precision", {"thresholds": [0.25, 0.5], "missing": "drop"}),
    ("band", {"recalls": 3, "bootstrap": Draws(50, seed=1)}),
    ("compare_models", {"score": ["old", "new", "third"], "weight": "weight"}),
    ("compare_segments", {"against": "random", "permutations": Draws(50, seed=1)}),
    ("counts", {"ascending": True}),
    ("counts", {"thresholds": [0.0, 0.5]}),
    ("curve", {"keep": 5}),
    ("operating_points", {"recall": [0.5, 1]}),
    ("summary", {"overall": True}),
]


def one_by_one(verb: str, groupings=GROUPINGS, **asked) -> pl.DataFrame:
    """Return the results of a call for each grouping, in one frame."""
    parts = [
        getattr(frame_prc, verb)(DF, "truth", **asked, **({"by": names} if names else {}))
        for names in groupings
    ]
    named = [
        part.select(pl.lit(", ".join(names) or "all rows").alias("grouping"), pl.all())
        for names, part in zip(groupings, parts, strict=True)
    ]
    return pl.concat(named, how="diagonal")


def assert_alike(kind, found, expected: pl.DataFrame) -> None:
    if isinstance(found, pl.LazyFrame):
        schema = found.collect_schema()
        assert schema == kind.rows(found).schema
    rows = kind.rows(found)
    assert set(rows.columns) == set(expected.columns)
    if kind.name == "pandas":
        rows = rows.cast({name: expected.schema[name] for name in rows.columns})
    assert_frame_equal(rows, expected.select(rows.columns), rel_tol=1e-12, abs_tol=1e-15)


# --- results -----------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(("verb", "options"), [*CALLS[::2], *also(*CALLS[1::2])])
def test_each_grouping_is_as_in_a_call_of_its_own(kind, verb, options):
    asked = {"score": "score", **options}
    found = getattr(frame_prc, verb)(kind.make(DF), "truth", by=GROUPINGS, **asked)
    assert_alike(kind, found, one_by_one(verb, **asked))


@every_kind
@pytest.mark.parametrize("against", ["others", {"day": 1}, *also("rest", "overall", "previous")])
def test_segments_of_each_grouping_are_compared(kind, against):
    asked = {"score": "score", "against": against}
    groupings = [["day"], ["region", "day"]]
    found = frame_prc.compare_segments(kind.make(DF), "truth", by=groupings, **asked)
    assert_alike(kind, found, one_by_one("compare_segments", groupings, **asked))


@every_kind
def test_areas_are_those_of_the_oracle(kind):
    table = kind.rows(frame_prc.average_precision(kind.make(DF), "truth", "score", by=GROUPINGS))
    expected = [
        (name, oracle.average_precision(rows))
        for name, by in zip(NAMES, GROUPINGS, strict=True)
        for rows in segments(DF.drop("weight"), by).values()
    ]
    assert table["grouping"].to_list() == [name for name, _ in expected]
    areas = [None if area is None else float(area) for _, area in expected]
    assert table["average_precision"].to_list() == pytest.approx(areas, rel=1e-12)


@every_kind
def test_grouping_tells_a_null_key_from_none(kind):
    found = kind.rows(frame_prc.counts(kind.make(DF), "truth", "score", by=[["region"], []]))
    nulls = found.filter(pl.col("region").is_null())
    assert nulls["grouping"].unique(maintain_order=True).to_list() == ["region", "all rows"]
    sizes = nulls.group_by("grouping", maintain_order=True).agg(pl.col("pos", "neg").sum())
    assert sizes.rows() == [("region", 2, 1), ("all rows", 9, 7)]


@every_kind
def test_p_values_are_adjusted_over_all_groupings(kind):
    asked = {"score": ["old", "new"], "by": [["region"], []]}
    found = kind.rows(
        frame_prc.compare_models(kind.make(DF), "truth", adjust="bh", details=True, **asked)
    )
    known = found.select("p_value", "p_adjusted").drop_nulls()
    ordered, tests = sorted(known["p_value"]), known.height
    # Benjamini & Hochberg: the least p-value times tests over rank, of this one and larger ones.
    adjusted = [
        min(q * tests / rank for rank, q in enumerate(ordered, start=1) if q >= p)
        for p in known["p_value"]
    ]
    assert tests > 2
    assert max(adjusted) < 1
    assert known["p_adjusted"].to_list() == pytest.approx(adjusted, rel=1e-12)
    limits = ["ci_low_adjusted", "ci_high_adjusted"]
    assert found.columns[-4:] == ["p_adjusted", *limits, "status"]


@every_kind
def test_one_key_is_averaged_over_in_each_grouping(kind):
    groupings = [["region", "day"], ["day"]]
    asked = {"score": "score", "over": "day"}
    found = kind.rows(frame_prc.average(kind.make(DF), "truth", by=groupings, **asked))
    expected = one_by_one("average", groupings, **asked)
    assert found["average_precision"].to_list() == expected["average_precision"].to_list()
    assert found.columns[:3] == ["grouping", "region", "n_segments"]


@every_kind
def test_models_of_long_data_are_compared_in_each_grouping(kind):
    wide = DF.with_row_index("item").drop("score")
    long = wide.unpivot(["old", "new"], index=["item", "truth", "region", "day"])
    found = frame_prc.compare_models(
        kind.make(long), "truth", "value", model="variable", row="item", by=GROUPINGS
    )
    expected = frame_prc.compare_models(wide, "truth", ["new", "old"], by=GROUPINGS)
    assert_alike(kind, found, expected)


# --- checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("thresholds", [None, [0.0, 0.5]])
def test_rows_are_checked_whichever_grouping_is_wanted(name, engine, thresholds):
    df = DF.with_columns(score=pl.when(pl.int_range(pl.len()) > 1).then("score")).lazy()
    asked = {"by": GROUPINGS, "thresholds": thresholds}
    result = frame_prc.average_precision(df, "truth", "score", **asked)
    with pytest.raises(DataError, match="'score' has 2 rows with null"):
        result.filter(grouping=name).collect(engine=engine)


@every_kind
@pytest.mark.parametrize(
    ("by", "error", "what"),
    [
        ([["region"], "day"], OptionError, "by= mixes columns and lists of columns"),
        ([["region"], ["region"]], OptionError, "by= has the grouping 'region' twice"),
        ([["region", "day"], ["day", "region"]], OptionError, "by= has the grouping 'day, region'"),
        ([[], []], OptionError, "by= has the grouping 'all rows' twice"),
        ([["region", "region"]], ColumnError, "column 'region' is named twice in by="),
        ([["region"], ["nope"]], ColumnError, "by= names 'nope', which is not a column"),
        (
            [[pl.col("day").alias("grouping")], []],
            ColumnError,
            "key 'grouping' in by= is named like a column of the result",
        ),
    ],
)
def test_groupings_that_are_none_raise(kind, by, error, what):
    with pytest.raises(error, match=f"^{what}"):
        frame_prc.curve(kind.make(DF), "truth", "score", by=by)


@every_kind
@pytest.mark.parametrize("against", ["others", "rest", "overall", "previous"])
def test_all_rows_have_no_segments_to_compare(kind, against):
    with pytest.raises(OptionError, match="is given with a grouping of all rows in by="):
        frame_prc.compare_segments(
            kind.make(DF), "truth", "score", by=[["region"], []], against=against
        )


@every_kind
def test_verbs_of_one_grouping_refuse_several(kind, tmp_path):
    asked = {"truth": "truth", "score": "score", "by": [["region"], []]}
    calls = [frame_prc.heterogeneity, frame_prc.plot, frame_prc.plot_summary]
    calls.append(lambda df, **given: frame_prc.write_ggplot(df, tmp_path / "a.tsv", **given))
    for call in calls:
        with pytest.raises(OptionError, match=r"by= is a list of groupings, which \w+\(\) does"):
            call(kind.make(DF), **asked)
