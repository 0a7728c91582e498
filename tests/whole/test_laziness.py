"""A lazy frame stays lazy: what is read, when, how often, and what the caller does next."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest
from layers import also
from lazy_cases import ROWS, TRUTH, ask, every_verb
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import DataError, Draws

COUNTS = {"score": "other", "pos": "hits", "neg": "misses"}

every_engine = pytest.mark.parametrize("engine", ["streaming", "in-memory"])


def counting_source(rows: pl.DataFrame) -> tuple[pl.LazyFrame, list[set[str]]]:
    """Return a source, and the columns of each of its reads so far."""
    reads: list[set[str]] = []

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, height: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        reads.append(set(rows.columns if columns is None else columns))
        chosen = rows.head(rows.height if height is None else height)
        chosen = chosen if predicate is None else chosen.filter(predicate)
        yield chosen if columns is None else chosen.select(columns)

    return register_io_source(read, schema=rows.schema), reads


# --- what is read ------------------------------------------------------------------------------


@every_engine
@every_verb
@pytest.mark.parametrize(
    ("asked", "columns"),
    [
        pytest.param(TRUTH, "late|other", id="rows"),
        pytest.param({**TRUTH, "by": "region"}, "late|other|region", id="by"),
        pytest.param({**TRUTH, "model": "region"}, "late|other|region", id="model"),
        pytest.param(
            {**TRUTH, "by": [["region"], ["day"], []]}, "late|other|region|day", id="groupings"
        ),
        pytest.param(
            {**TRUTH, "by": ["region", pl.col("day").dt.month()]},
            "late|other|region|day",
            id="by expression",
        ),
        pytest.param({**TRUTH, "weight": "weight of it"}, "late|other|weight of it", id="weight"),
        pytest.param(
            {**TRUTH, "score": ["score", "other"], "by": "region", "missing": "drop"},
            "late|score|other|region",
            id="models",
        ),
        pytest.param({**TRUTH, "score": "score", "missing": "drop"}, "late|score", id="drop"),
        pytest.param(
            {**TRUTH, "score": "score", "missing": "unretrieved", "by": "region"},
            "late|score|region",
            id="unretrieved",
        ),
        pytest.param(
            {**TRUTH, "truth": "day", "pos_label": date(2024, 1, 1)}, "day|other", id="label"
        ),
        pytest.param({**COUNTS, "by": "region"}, "other|hits|misses|region", id="pos and neg"),
    ],
)
def test_named_columns_are_read_once_and_only_at_collect(asked, columns, verb, engine):
    source, reads = counting_source(ROWS)
    result = ask(source, verb, asked)
    result.collect_schema()
    assert reads == []
    rows = result.collect(engine=engine)
    assert set.union(*reads) == set(columns.split("|"))
    assert len(reads) == 1
    assert_frame_equal(rows, ask(ROWS, verb, asked))


@every_engine
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("curve", {"keep": "corners", "envelope": True, "gain": True, "calibrate": 0.1}),
        ("curve", {"thresholds": 5, "start": "first"}),
        ("auc", {"thresholds": [0.2, 0.4], "recall_range": None}),
        ("average_precision", {"thresholds": 5}),
        ("average", {"over": "region", "how": "mean"}),
        ("average", {"over": "region", "how": "micro"}),
        ("average", {"over": "region", "measure": "roc_auc"}),
        ("average_precision", {"bounds": True}),
        ("counts", {"thresholds": 3, "squares": True}),
        ("curve", {"keep": 5}),
        ("average_precision", {"ci": 0.9, "bootstrap": Draws(5, seed=1)}),
        ("curve", {"ci": 0.9}),
        ("summary", {"overall": True, "measures": "roc_auc"}),
        ("average_precision", {"ci": 0.95}),
        ("average", {"over": "region", "ci": 0.9}),
        ("summary", {"overall": True, "segments": "sampled"}),
        ("heterogeneity", {}),
        ("compare_segments", {"against": "random", "permutations": Draws(5, seed=1)}),
        ("compare_models", {"score": {"a": "other", "b": -pl.col("other")}, "over": "region"}),
        ("compare_segments", {"against": "others"}),
        ("compare_segments", {"against": "rest"}),
        ("compare_segments", {"against": "overall"}),
    ],
)
def test_options_read_nothing_more(verb, options, engine):
    source, reads = counting_source(ROWS)
    result = ask(source, verb, {**TRUTH, **options, "by": "region"})
    result.collect_schema()
    assert reads == []
    rows = result.collect(engine=engine)
    assert set.union(*reads) <= {"late", "other", "region"}
    assert len(reads) == 1
    assert rows.schema == result.collect_schema()


@every_engine
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("average_precision", {"ci": 0.95}),
        ("compare_models", {"score": ["other", "score"], "missing": "drop"}),
        ("compare_segments", {"by": "day", "against": "others"}),
        ("compare_segments", {"by": "day", "against": "rest"}),
        ("compare_segments", {"by": "day", "against": "overall"}),
    ],
)
def test_weights_and_clusters_are_read_once(verb, options, engine):
    source, reads = counting_source(ROWS)
    asked = {**TRUTH, "weight": "weight of it", "cluster": "region", **options}
    named = {"late", "other", "weight of it", "region"} | {
        name for name in ("score", "day") if name in str(options)
    }
    result = ask(source.with_columns(pl.col("region").fill_null("e")), verb, asked)
    schema = result.collect_schema()
    assert reads == []
    assert result.collect(engine=engine).schema == schema
    assert set.union(*reads) == named
    assert len(reads) == 1


@every_engine
@pytest.mark.parametrize("thresholds", [None, [0.2, 0.4]], ids=["scores", "thresholds"])
@pytest.mark.parametrize("cluster", ["day", "notes"], ids=["dates", "text"])
def test_clusters_of_curves_are_read_once(thresholds, cluster, engine):
    source, reads = counting_source(ROWS)
    asked = {**TRUTH, "by": "region", "ci": 0.95, "cluster": cluster, "thresholds": thresholds}
    result = ask(source, "curve", asked)
    schema = result.collect_schema()
    assert reads == []
    assert result.collect(engine=engine).schema == schema
    assert set.union(*reads) == {"late", "other", "region", cluster}
    assert len(reads) == 1


@every_engine
@pytest.mark.parametrize("by", [None, "region"])
def test_one_vs_rest_reads_the_named_columns_once_and_only_at_collect(by, engine):
    source, reads = counting_source(ROWS)
    classes = {True: "other", False: "score"}
    result = source.prc.one_vs_rest("late", classes, by=by, weight="weight of it")
    schema = result.collect_schema()
    assert reads == []
    assert result.collect(engine=engine).schema == schema
    assert set.union(*reads) == {"late", "other", "score", "weight of it", by or "late"}
    assert len(reads) == 1


def mapped_source(rows: pl.DataFrame) -> tuple[pl.LazyFrame, list[int]]:
    """Return a lazy frame that is computed in Python, and the heights it has had so far."""
    reads: list[int] = []

    def compute(found: pl.DataFrame) -> pl.DataFrame:
        reads.append(found.height)
        return found

    return rows.lazy().map_batches(compute, schema=rows.schema), reads


@every_engine
@every_verb
@pytest.mark.parametrize("by", [None, "region", ["region", "day"]], ids=str)
def test_what_python_computes_is_computed_once(verb, by, engine):
    source, reads = mapped_source(ROWS)
    ask(source, verb, {**TRUTH, "by": by}).collect(engine=engine)
    assert reads == [ROWS.height]


@every_engine
def test_counts_are_merged_from_one_reading_of_each(engine):
    day = ROWS.prc.counts("late", "other", by="region")
    sources, reads = zip(*[counting_source(day) for _ in range(3)], strict=True)
    merged = frame_prc.merge_counts(*sources)
    assert list(map(len, reads)) == [0, 0, 0]
    assert merged.collect(engine=engine)["pos"].sum() == 9
    assert list(map(len, reads)) == [1, 1, 1]


def test_quantile_thresholds_read_one_column_once():
    source, reads = counting_source(ROWS)
    assert source.prc.quantile_thresholds("other", 3) == ROWS.prc.quantile_thresholds("other", 3)
    assert reads == [{"other"}]


def varying_source(rows: pl.DataFrame) -> tuple[pl.LazyFrame, list[set[str]]]:
    """Return a source that has these rows when it is first read, and others from then on."""
    reads: list[set[str]] = []

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, height: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        found = rows.reverse().with_columns(rows["other"]) if reads else rows
        reads.append(set(rows.columns if columns is None else columns))
        found = found.head(rows.height if height is None else height)
        found = found if predicate is None else found.filter(predicate)
        yield found if columns is None else found.select(columns)

    return register_io_source(read, schema=rows.schema), reads


def spec(chart: Any) -> dict[str, Any]:
    return chart.to_dict(validate=False)


def files(paths: tuple[Path, Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


TWO = {"truth": "late", "score": ["other", "score"], "missing": "drop"}
MARKED = {"band": True, "roc": True, "points": {"threshold": 0.3, "recall": 0.5}}
POWERS = {"a": "other", "b": pl.col("other") ** 2, "c": pl.col("other") ** 3}
PICTURES = {
    "plot": ("plot", TRUTH, "late|other"),
    "plot of counts": ("plot", COUNTS, "other|hits|misses"),
    "plot with a band": (
        "plot",
        {**TRUTH, **MARKED, "weight": "weight of it"},
        "late|other|weight of it",
    ),
    "plot of two": ("plot", TWO, "late|other|score"),
    "summary": ("plot_summary", TRUTH, "late|other"),
    "summary of two": ("plot_summary", TWO, "late|other|score"),
    "summary and a baseline": (
        "plot_summary",
        {"truth": "late", "score": POWERS, "baseline": "c"},
        "late|other",
    ),
    "scores of two": ("plot_scores", TWO, "late|other|score"),
    "ggplot of counts": ("write_ggplot", COUNTS, "other|hits|misses"),
    "ggplot with intervals": ("write_ggplot", {**TRUTH, "ci": 0.9, "keep": "all"}, "late|other"),
    "ggplot of two": ("write_ggplot", TWO, "late|other|score"),
    "report": ("report", TRUTH, "late|other"),
    "report of counts": ("report", COUNTS, "other|hits|misses"),
    "report of two": ("report", TWO, "late|other|score"),
}
AT_FIRST = ("plot", "summary", "ggplot of two", "report of counts")
WRITTEN = {"write_ggplot": "rows.tsv", "report": "rows.json"}


@pytest.mark.parametrize(
    "picture", [*AT_FIRST, *also(*(name for name in PICTURES if name not in AT_FIRST))]
)
def test_pictures_read_the_named_columns_once_and_show_what_was_read(picture, tmp_path):
    by, keys = [cs.string() - cs.by_name("notes"), pl.col("day").dt.day()], "|region|day"
    verb, asked, columns = PICTURES[picture]
    source, reads = varying_source(ROWS)
    (tmp_path / "eager").mkdir()
    folders = [tmp_path, tmp_path / "eager"]
    lazy, eager = (
        getattr(frame.prc, verb)(
            *([folder / WRITTEN[verb]] if verb in WRITTEN else []), **asked, by=by
        )
        for frame, folder in zip((source, ROWS), folders, strict=True)
    )
    assert reads == [{*(columns + keys).split("|")}]
    shown = files if verb in WRITTEN else spec
    assert shown(lazy) == shown(eager)


@pytest.mark.parametrize("verb", ["plot", "plot_summary", "write_ggplot"])
def test_pictures_read_a_curve_once(verb, tmp_path):
    source, reads = counting_source(ROWS.prc.curve("late", "other", by="region"))
    getattr(source.prc, verb)(*([tmp_path / "curve.tsv"] if verb == "write_ggplot" else []))
    assert len(reads) == 1


@every_verb
def test_file_is_scanned_for_the_named_columns_alone(verb, tmp_path):
    ROWS.write_parquet(tmp_path / "rows.parquet")
    result = ask(pl.scan_parquet(tmp_path / "rows.parquet"), verb, {**TRUTH, "by": "region"})
    plan = result.explain()
    assert "PROJECT 3/9 COLUMNS" in plan
    assert "PROJECT */9 COLUMNS" not in plan


# --- what the caller does next -----------------------------------------------------------------


AFTERWARDS: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "head": lambda result: result.head(1),
    "length": lambda result: result.select(pl.len()),
    "one column": lambda result: result.select(pl.first()),
    "filter": lambda result: result.filter(region="n"),
    "aggregate": lambda result: result.group_by("region").agg(pl.len()),
    "sort": lambda result: result.sort("region", descending=True, maintain_order=True).head(1),
    "join": lambda result: ROWS.lazy().join(result, on="region", how="semi"),
    "concat": lambda result: pl.concat([result, result]).head(1),
}


@every_engine
@every_verb
@pytest.mark.parametrize("afterwards", AFTERWARDS.values(), ids=AFTERWARDS)
def test_bad_value_raises_whatever_is_taken_of_the_result(afterwards, verb, engine):
    result = ask(ROWS.lazy(), verb, {**TRUTH, "score": "score", "by": "region"})
    with pytest.raises(DataError, match="'score' has 1 row with null"):
        afterwards(result).collect(engine=engine)


@every_engine
@every_verb
@pytest.mark.parametrize("afterwards", AFTERWARDS.values(), ids=AFTERWARDS)
def test_good_values_are_not_changed_by_what_is_taken_of_the_result(afterwards, verb, engine):
    asked = {**TRUTH, "by": "region"}
    eager, lazy = ask(ROWS, verb, asked), ask(ROWS.lazy(), verb, asked)
    expected = afterwards(eager.lazy()).collect()
    assert_frame_equal(afterwards(lazy).collect(engine=engine), expected, check_row_order=False)


@every_verb
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_result_streams_into_a_file(verb, kind, tmp_path):
    result = ask(ROWS.lazy(), verb, {**TRUTH, "by": "region"})
    path = tmp_path / f"result.{kind}"
    getattr(result, f"sink_{kind}")(path)
    # Nothing in a CSV file says of what dtype a column of nulls is.
    rows = getattr(pl, f"read_{kind}")(path).cast(dict(result.collect_schema()))
    assert_frame_equal(rows, result.collect())


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("summary", {"overall": True}),
        ("average_precision", {"ci": 0.9}),
        ("average_precision", {"thresholds": 3}),
        ("average", {"over": "region"}),
        ("counts", {"thresholds": 3}),
        ("curve", {"keep": 5, "envelope": True, "gain": True, "ci": 0.9}),
        ("compare_models", {"score": ["other", "weight of it"]}),
        ("compare_segments", {"against": "overall"}),
    ],
    ids=str,
)
def test_what_goes_from_file_to_file_is_what_would_be_collected(verb, options, tmp_path):
    ROWS.write_parquet(tmp_path / "rows.parquet")
    rows = pl.scan_parquet(tmp_path / "rows.parquet")
    result = ask(rows, verb, {**TRUTH, "by": "region", **options})
    result.sink_parquet(tmp_path / "result.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "result.parquet"), result.collect())


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("average", {"over": "region", "ci": 0.95}),
        ("heterogeneity", {}),
        ("operating_points", {"precision": 0.5, "ci": 0.95}),
        ("shrunk", {}),
    ],
    ids=str,
)
def test_what_python_computes_goes_to_another_process(verb, options):
    result = ask(ROWS.lazy(), verb, {**TRUTH, "by": "region", **options})
    assert_frame_equal(pickle.loads(pickle.dumps(result)).collect(), result.collect())  # noqa: S301


@every_verb
def test_bad_value_raises_when_the_result_goes_to_a_file(verb, tmp_path):
    result = ask(ROWS.lazy(), verb, {**TRUTH, "score": "score"})
    with pytest.raises(DataError, match="values are missing"):
        result.sink_parquet(tmp_path / "result.parquet")


@every_verb
def test_results_of_one_frame_are_collected_together(verb):
    asked = [{**TRUTH, "by": by} for by in ("region", "day")]
    together = pl.collect_all([ask(ROWS.lazy(), verb, a) for a in asked])
    for result, alone in zip(together, asked, strict=True):
        assert_frame_equal(result, ask(ROWS, verb, alone))


def test_bad_value_raises_each_time_it_is_collected():
    result = ask(ROWS.lazy(), "curve", {**TRUTH, "score": "score"})
    for _ in range(2):
        with pytest.raises(DataError, match="values are missing"):
            result.collect()
