"""What Spark does for a result: how often it reads the source, and which task sorts what."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import engine_kinds
import numpy as np
import optional
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_prc

pytestmark = [*engine_kinds.WARNINGS, pytest.mark.thorough]
ROWS, PARTITIONS = 6_000, 16


@pytest.fixture(params=[False, True], ids=["rows distributed", "counts distributed"])
def counts_first(request, monkeypatch):
    """Cut segments of about 1,000 scores or more, and say that scores repeat, or do not."""
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    most = -1.0 if request.param else float("inf")
    small = {"_RANGES": 64, "_SAMPLED": 4, "_FEWEST_SAMPLED": 256, "_MOST_PER_SCORE": most}
    for name, value in small.items():
        monkeypatch.setattr(ranges, name, value)
    return request.param


def skewed(giant: float) -> pl.DataFrame:
    """Return rows of 20 segments, the first with this share of them."""
    random = np.random.default_rng(5)
    rare = random.integers(1, 20, ROWS)
    return pl.DataFrame(
        {
            "segment": np.where(random.random(ROWS) < giant, 0, rare),
            "truth": random.random(ROWS) < 0.2,
            "score": random.random(ROWS),
        }
    )


@contextmanager
def setting(name: str, value: str) -> Iterator[None]:
    conf = engine_kinds.spark_session().conf
    before = conf.get(name)
    conf.set(name, value)
    try:
        yield
    finally:
        conf.set(name, before)


def stages() -> set[int]:
    """Return the stages that Spark remembers."""
    tracker = engine_kinds.spark_session().sparkContext.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(None))
    return {stage for job in jobs if job for stage in job.stageIds}


def rows_read_from_files(after: int) -> int:
    """Return how many rows Spark read from files in the stages after one."""
    protocol = optional.require_module("py4j.protocol")
    java = engine_kinds.spark_session().sparkContext._jsc  # noqa: SLF001 - has no Python interface
    total = 0
    for stage in stages():
        # A stage that was skipped, because its result was there, is unknown.
        with suppress(protocol.Py4JJavaError):
            if stage > after:
                total += java.sc().statusStore().lastStageAttempt(stage).inputRecords()
    return total


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize(
    ("verb", "giant"), [(frame_prc.curve, 0.8), (frame_prc.average_precision, 0.0)]
)
def test_the_source_is_read_once_at_the_call_and_once_for_the_result(tmp_path, verb, giant):
    kind, df = engine_kinds.spark_kind(), skewed(giant)
    source = in_a_file(df, tmp_path)
    before = max(stages(), default=-1)
    table = verb(source, "truth", "score", by="segment")
    assert rows_read_from_files(after=before) == ROWS
    result = kind.rows(table)
    assert rows_read_from_files(after=before) == 2 * ROWS
    assert_frame_equal(result, verb(df, "truth", "score", by="segment"), rel_tol=1e-12)


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize("measures", [[], ["roc_auc", "brier", "brier_skill"]])
def test_many_measures_of_a_large_segment_read_the_source_as_often_as_none(tmp_path, measures):
    df = skewed(0.8)
    engine_kinds.spark_kind()
    source, before = in_a_file(df, tmp_path), max(stages(), default=-1)
    given = {"by": "segment", "measures": measures}
    found = frame_prc.summary(source, "truth", "score", **given)
    # For the sizes of segments and the points; rows of ranges are a few more.
    assert rows_read_from_files(after=before) // ROWS == 2
    assert_frame_equal(found, frame_prc.summary(df, "truth", "score", **given), rel_tol=1e-9)


@pytest.mark.usefixtures("counts_first")
def test_what_sorts_no_scores_reads_nothing_at_the_call(tmp_path):
    engine_kinds.spark_kind()
    source = in_a_file(skewed(0.8), tmp_path)
    before = max(stages(), default=-1)
    counts = frame_prc.counts(source, "truth", "score", by="segment")
    frame_prc.merge_counts(counts, counts)
    for verb in (frame_prc.curve, frame_prc.average_precision, frame_prc.auc):
        verb(source, "truth", "score", by="segment", thresholds=20)
    assert rows_read_from_files(after=before) == 0


def in_a_file(df: pl.DataFrame, folder: Path) -> Any:
    """Return rows as a frame of Spark that reads a file."""
    df.write_parquet(folder / "rows.parquet")
    return engine_kinds.spark_session().read.parquet(str(folder / "rows.parquet"))


RANKING = {
    "curve": {"envelope": True},
    "operating_points": {"recall": 0.5},
}


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize("verb", RANKING)
def test_ranges_are_only_planned_for_a_large_segment(verb):
    make = engine_kinds.spark_kind().make
    call = partial(getattr(frame_prc, verb), by="segment", **RANKING[verb])
    even = plan(call(make(skewed(0.0)), "truth", "score"))
    assert "Join" not in even
    assert "range" not in even
    large = plan(call(make(skewed(0.8)), "truth", "score"))
    assert "BroadcastHashJoin" in large
    assert "range" in large


@pytest.mark.parametrize("giant", [0.0, 0.8], ids=["even", "skewed"])
def test_rows_are_counted_first_where_scores_repeat(counts_first, giant):
    frame = engine_kinds.spark_kind().make(skewed(giant))
    shown = plan(frame_prc.curve(frame, "truth", "score", by="segment"))
    by_score = [line for line in shown.splitlines() if "Exchange" in line and "score" in line]
    assert bool(by_score) == counts_first


SCORE = pl.int_range(4_000) / 4_000


@pytest.mark.parametrize(
    ("score", "repeats"),
    [
        (SCORE, False),
        (SCORE - SCORE % 0.001, True),
        (pl.when(SCORE > 0.6).then(SCORE).otherwise(0.0), True),
        (pl.when(SCORE > 0.6).then(SCORE), True),
        (pl.lit(None, pl.Float64), True),
        (pl.when(SCORE > 0.2).then(SCORE), False),
    ],
    ids=["distinct", "repeated", "mostly one", "mostly null", "null", "hardly null"],
)
def test_a_sample_shows_whether_scores_repeat(monkeypatch, score, repeats):
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_SAMPLED", 8)
    monkeypatch.setattr(ranges, "_EVERY", 8)
    df = pl.select(key_0=pl.int_range(4_000) % 3, score=score)
    native = engine_kinds.spark_kind().make(df)
    frame = optional.require_module("narwhals").from_native(native)
    found = ranges.sample(frame, ["key_0"])
    assert found.cuts is None
    assert found.repeats == repeats


def plan(table: Any) -> str:
    """Return the plan that Spark shows."""
    shown = io.StringIO()
    with redirect_stdout(shown):
        table.explain()
    return shown.getvalue()


@pytest.mark.usefixtures("counts_first")
def test_totals_are_only_sent_to_tasks_by_a_plan_that_adapts():
    # Any other plan would have to reach them within the five minutes that Spark gives a broadcast.
    kind, df = engine_kinds.spark_kind(), skewed(0.8)
    frame = kind.make(df)
    assert "SortMergeJoin" not in plan(frame_prc.average_precision(frame, "truth", "score"))
    with setting("spark.sql.adaptive.enabled", "false"):
        table = frame_prc.average_precision(frame, "truth", "score")
        assert "SortMergeJoin" in plan(table)
        result = kind.rows(table)
    assert_frame_equal(result, frame_prc.average_precision(df, "truth", "score"), rel_tol=1e-12)


@pytest.mark.usefixtures("counts_first")
def test_cuts_of_other_rows_change_nothing(monkeypatch):
    # As if the source had changed after the call.
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    narwhals = optional.require_module("narwhals")
    sample = ranges.sample
    higher = narwhals.col("score") / 2 + 0.7
    monkeypatch.setattr(
        ranges, "sample", lambda rows, keys: sample(rows.with_columns(score=higher), keys)
    )
    df, kind = skewed(0.8), engine_kinds.spark_kind()
    table = frame_prc.curve(kind.make(df), "truth", "score", by="segment")
    assert "BroadcastHashJoin" in plan(table)
    expected = frame_prc.curve(df, "truth", "score", by="segment")
    assert_frame_equal(kind.rows(table), expected, rel_tol=1e-12)


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize("value", ["NULL", "double('NaN')"])
def test_invalid_scores_fail_as_late_as_the_result(value):
    make = engine_kinds.spark_kind().make
    score = f"CASE WHEN score > 0.5 THEN {value} ELSE score END AS score"
    frame = make(skewed(0.8)).selectExpr("segment", "truth", score)
    table = frame_prc.average_precision(frame, "truth", "score", by="segment")
    with pytest.raises(Exception, match="'score' has a row with"):
        table.toArrow()


def test_a_stream_is_refused_by_spark_at_the_action():
    engine_kinds.spark_kind()
    rates = engine_kinds.spark_session().readStream.format("rate").load()
    stream = rates.selectExpr("value % 2 = 0 AS truth", "CAST(value AS DOUBLE) AS score")
    table = frame_prc.average_precision(stream, "truth", "score")
    with pytest.raises(Exception, match="streaming sources must be executed with writeStream"):
        table.toArrow()


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize("giant", [0.0, 0.8], ids=["even", "skewed"])
def test_only_a_large_segment_is_spread_over_tasks(giant):
    kind = engine_kinds.spark_kind()
    functions = optional.require_module("pyspark.sql.functions")
    with setting("spark.sql.shuffle.partitions", str(PARTITIONS)):
        curve = frame_prc.curve(
            kind.make(skewed(giant)), "truth", "score", by="segment", start=None
        )
        # Points are where the windows leave them: in the task that sorted them.
        task = functions.spark_partition_id().alias("task")
        counted = curve.groupBy("segment", task).count().toArrow()
    points = pl.DataFrame(pl.from_arrow(counted))
    tasks = dict(points.group_by("segment").len().iter_rows())
    if not giant:
        assert set(tasks.values()) == {1}
        return
    assert tasks.pop(0) > PARTITIONS // 2  # by their hashes, one may get no range
    assert set(tasks.values()) == {1}
    largest = points.filter(pl.col("segment") == 0)["count"]
    assert largest.max() < 3 * largest.sum() / PARTITIONS


@pytest.mark.usefixtures("counts_first")
def test_keys_that_are_equal_in_a_collation_are_one_segment():
    kind = engine_kinds.spark_kind()
    df = skewed(0.8).with_columns(
        segment=pl.when(pl.col("segment") > 0).then(pl.lit("small")).otherwise(pl.lit("large"))
    )
    upper = pl.int_range(ROWS) % 3 == 0
    mixed = df.with_columns(
        segment=pl.when(upper).then(pl.col("segment").str.to_uppercase()).otherwise("segment")
    )
    collated = kind.make(mixed).selectExpr(
        "segment COLLATE UTF8_LCASE AS segment", "truth", "score"
    )
    table = frame_prc.average_precision(collated, "truth", "score", by="segment")
    plain = table.selectExpr("lower(segment) COLLATE UTF8_BINARY AS segment", "average_precision")
    expected = frame_prc.average_precision(df, "truth", "score", by="segment")
    assert_frame_equal(
        kind.rows(plain), expected.select("segment", "average_precision"), rel_tol=1e-12
    )


@pytest.mark.usefixtures("counts_first")
@pytest.mark.parametrize("giant", [0.8])
def test_segments_with_equal_hashes_stay_apart(monkeypatch, giant):
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_base", lambda *_: "0L")
    unknown = pl.when(pl.col("segment") > 0).then("segment")
    df, kind = skewed(giant).with_columns(segment=unknown), engine_kinds.spark_kind()
    for verb in (frame_prc.curve, frame_prc.average_precision):
        result = kind.rows(verb(kind.make(df), "truth", "score", by="segment"))
        assert_frame_equal(result, verb(df, "truth", "score", by="segment"), rel_tol=1e-12)
