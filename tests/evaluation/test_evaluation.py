"""One evaluation, many verbs: the same numbers as in one line, from one check and one sort."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from operator import methodcaller

import narwhals as nw
import optional
import pandas as pd
import polars as pl
import pytest
from kinds import every_kind, looking
from layers import also
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, DataError, Draws, OptionError, ParameterError
from frame_prc._ranking import ranking as _ranking
from frame_prc._rows import checks

ROWS = pl.DataFrame({"row": range(240)}).with_columns(
    late=pl.col("row") * 7 % 11 < 4,
    old=(pl.col("row") * 7919 % 601) / 601,
    new=(pl.col("row") * 7919 % 61 + 20 * (pl.col("row") * 7 % 11 < 4)) / 100,
    region=(pl.col("row") % 3).cast(pl.String),
    day=pl.col("row") % 29,
    w=1.0 + pl.col("row") % 4,
)
ROLES = {"truth": "late", "score": ["old", "new"], "by": "region"}
VERBS = {
    "auc": {"method": ["step", "trapezoid"]},
    "average_precision": {"ci": 0.9},
    "band": {"recalls": 3, "bootstrap": Draws(50, seed=1)},
    "compare_models": {"baseline": "old"},
    "counts": {},
    "curve": {"keep": "corners"},
    "heterogeneity": {},
    "operating_points": {"recall": [0.5, 0.9]},
    "summary": {"overall": True},
}
CLUSTERED = {name: VERBS[name] for name in ("average_precision", "compare_models", "summary")}

every_verb = pytest.mark.parametrize("verb", VERBS)
looked_at = pytest.mark.parametrize("looks", [True, *also(False)], ids=["as many", "few"])


def same(kind, found, expected):
    """Compare all bits of two results, where they are added up in one order."""
    exact = kind.name != "streaming"
    assert_frame_equal(kind.rows(found), kind.rows(expected), check_exact=exact, rel_tol=1e-12)


@every_kind
@pytest.mark.parametrize("more", [{}, {"cluster": "day"}, *also({"weight": "w"})], ids=str)
def test_verbs_of_one_evaluation_give_what_they_give_alone(kind, more):
    roles = ROLES | more
    if "cluster" in more:
        verbs = {name: options for name, options in VERBS.items() if name != "heterogeneity"}
    else:
        verbs = VERBS
    with looking(looks=kind.looks):
        frame = kind.make(ROWS)
        alone = {
            verb: getattr(frame_prc, verb)(frame, **roles, **options)
            for verb, options in verbs.items()
        }
        ev = frame.prc.evaluate(**roles)
        for _ in range(2):  # what one keeps may not change what the next computes
            for verb, options in verbs.items():
                same(kind, getattr(ev, verb)(**options), alone[verb])


@looked_at
def test_rows_are_checked_once_and_sorted_once(monkeypatch, looks):
    sorts, reads, read = [], [], checks.check_in_memory
    rank = _ranking._rank  # noqa: SLF001 - what is counted
    monkeypatch.setattr(_ranking, "_rank", lambda *a, **k: sorts.append(k) or rank(*a, **k))
    monkeypatch.setattr(checks, "check_in_memory", lambda *a: reads.append(a) or read(*a))
    with looking(looks=looks):
        ev = ROWS.prc.evaluate(**ROLES)
        for _ in range(2):
            for verb in ("average_precision", "auc", "summary", "curve", "operating_points"):
                getattr(ev, verb)(**VERBS[verb] | ({"overall": False} if verb == "summary" else {}))
        assert (len(sorts), len(reads)) == (1, 1)
        ev.compare_models()  # knows the row of each score, of both models
        ev.compare_models()
    assert (len(sorts), len(reads)) == (3, 1)


def test_pictures_and_pages_are_the_same_after_other_verbs(tmp_path):
    optional.require_module("altair")
    fresh, used = (ROWS.prc.evaluate(**ROLES, cluster="day") for _ in range(2))
    for verb in ("summary", "compare_segments", "compare_models", "curve"):
        getattr(used, verb)()
    assert used.plot().to_dict() == fresh.plot().to_dict()
    assert used.plot_summary().to_dict() == fresh.plot_summary().to_dict()
    [page], [other] = used.report(tmp_path / "used.json"), fresh.report(tmp_path / "fresh.json")
    assert page.read_bytes() == other.read_bytes()


def test_models_side_by_side_keep_their_own_order():
    ev = ROWS.prc.evaluate(**ROLES)
    areas = {row["model"]: row["average_precision"] for row in ev.pooled().counts().pipe(areas_of)}
    [pair] = ev.pooled().compare_models(details=True).to_dicts()
    assert pair["value_a"] == pytest.approx(areas["new"], rel=1e-14)
    assert pair["value_b"] == pytest.approx(areas["old"], rel=1e-14)
    assert areas["old"] != areas["new"]


def areas_of(counts):
    """Return the average precision of each model, from its counts."""
    tp, both = pl.col("pos").cum_sum(), (pl.col("pos") + pl.col("neg")).cum_sum()
    area = (pl.col("pos") / pl.col("pos").sum() * tp / both).sum()
    return counts.group_by("model").agg(area.alias("average_precision")).to_dicts()


# --- kinds ---------------------------------------------------------------------------------------


def test_a_lazy_frame_is_read_at_each_collect_and_not_before():
    reads = []

    def read(with_columns, *_):
        frame = ROWS if not reads else ROWS.with_columns(old=-pl.col("old"))
        reads.append(with_columns)
        yield frame.select(with_columns)

    ev = register_io_source(read, schema=ROWS.schema).prc.evaluate(**ROLES)
    planned = ev.average_precision()
    assert not reads
    first, second = planned.collect(), planned.collect()
    assert [set(columns) for columns in reads] == [{"late", "old", "new", "region"}] * 2
    assert_frame_equal(first, ROWS.prc.average_precision(**ROLES))
    changed = ROWS.with_columns(old=-pl.col("old"))
    assert_frame_equal(second, changed.prc.average_precision(**ROLES))


def test_collect_reads_the_named_columns_once(tmp_path):
    path = tmp_path / "rows.parquet"
    ROWS.write_parquet(path)
    ev = pl.scan_parquet(path).prc.evaluate(**ROLES).where(pl.col("day") < 20).collect()
    path.unlink()
    assert ev.frame.columns == sorted(["late", "old", "new", "region", "day"])
    expected = ROWS.filter(pl.col("day") < 20).prc.average_precision(**ROLES)
    assert_frame_equal(ev.average_precision(), expected)
    assert ev.collect() is ev


def test_a_relation_of_duckdb_stays_there_until_it_is_collected():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_arrow(ROWS.to_arrow())
    ev = frame_prc.evaluate(relation, **ROLES)
    assert repr(ev).splitlines()[1:] == [
        "models    old, new",
        "segments  by region",
        "rows      not read yet",
    ]
    expected = ROWS.filter(pl.col("day") < 20).prc.average_precision(**ROLES)
    inside = ev.where("day < 20").average_precision()
    assert isinstance(inside, type(relation))
    assert_frame_equal(inside.pl(), expected, rel_tol=1e-12)
    collected = ev.where("day < 20").collect()
    assert_frame_equal(collected.summary(), ROWS.filter(pl.col("day") < 20).prc.summary(**ROLES))


def test_a_narwhals_frame_comes_back_from_each_method():
    ev = frame_prc.evaluate(nw.from_native(ROWS), **ROLES, ci=0.9)
    found = ev.average_precision()
    assert isinstance(found, nw.DataFrame)
    assert_frame_equal(found.to_native(), ROWS.prc.average_precision(**ROLES, ci=0.9))
    held = ev.operating_points(recall=0.5, ci=None)
    points = ev.operating_points(threshold=held, ci=None).to_native()
    assert points["recall"].min() >= 0.5


# --- other rows, other segments, other levels ----------------------------------------------------


@every_kind
def test_where_and_segments_evaluate_parts_of_the_same_frame(kind):
    frame = kind.make(ROWS)
    ev = frame.prc.evaluate("late", "old", by="region", ci=0.8)
    few = kind.make(ROWS.filter(pl.col("day") < 9))
    same(kind, ev.where(pl.col("day") < 9).counts(), few.prc.counts("late", "old", by="region"))
    daily = ev.segments(["day"]).average_precision()
    same(kind, daily, frame.prc.average_precision("late", "old", by="day", ci=0.8))
    pooled = ev.pooled().average_precision()
    same(kind, pooled, frame.prc.average_precision("late", "old", ci=0.8))


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_it_stays_as_it_was_when_its_frame_is_changed(frame):
    rows = ROWS.clone() if frame is pl.DataFrame else ROWS.to_pandas()
    ev = frame_prc.evaluate(rows, **ROLES)
    wanted = frame_prc.counts(rows, **ROLES)
    if frame is pl.DataFrame:
        rows[0, "new"] = 99.0
        rows.drop_in_place("old")
    else:
        rows.loc[rows.index[0], "new"] = 99.0
        rows.pop("old")
    for found in (ev, ev.where(pl.lit(value=True)), pickle.loads(pickle.dumps(ev))):  # noqa: S301
        assert found.counts().equals(wanted)


def test_level_is_for_all_methods_that_have_an_interval():
    ev = ROWS.prc.evaluate(**ROLES, ci=0.8)
    assert_frame_equal(ev.summary(), ROWS.prc.summary(**ROLES, ci=0.8))
    assert_frame_equal(ev.compare_models(ci=0.9), ROWS.prc.compare_models(**ROLES, ci=0.9))
    assert "ci_low" not in ev.average_precision(ci=None).columns
    assert "precision_low" not in ev.curve(recalls=5).columns
    assert "ci_low" not in ev.average_precision(top=20).columns
    with pytest.raises(OptionError, match="ci= is given with top="):
        ev.average_precision(top=20, ci=0.8)


BESIDE_LIMITS = {
    "average": {"over": "region"},
    "average_precision": {},
    "compare_models": {"adjust": "max"},
    "compare_segments": {},
    "heterogeneity": {"details": True},
    "reliability": {"strategy": "quantile"},
    "shrunk": {},
    "summary": {"measures": "roc_auc"},
}


@pytest.mark.parametrize("verb", BESIDE_LIMITS)
def test_none_hides_the_limits_and_nothing_else(verb):
    ev = ROWS.prc.evaluate("late", ["old", "new"], by="region", ci=0.8)
    options = BESIDE_LIMITS[verb]
    shown, hidden = (getattr(ev, verb)(ci=ci, **options) for ci in (0.9, None))
    limits = {*shown.columns} - {*hidden.columns}
    assert limits
    assert all(name.removesuffix("_adjusted").endswith(("_low", "_high")) for name in limits)
    others = [name for name in hidden.columns if name != "status"]
    assert_frame_equal(shown.select(others), hidden.select(others), rel_tol=1e-13)


def test_clusters_are_used_wherever_there_is_an_interval():
    ev = ROWS.prc.evaluate(**ROLES, cluster="day")
    own = ROWS.prc.evaluate(**ROLES)
    assert_frame_equal(ev.average_precision(details=True), own.average_precision(details=True))
    assert (ev.summary(details=True)["std_error"] != own.summary(details=True)["std_error"]).all()


# --- errors, and what it shows -------------------------------------------------------------------


def test_roles_and_columns_are_checked_at_once():
    with pytest.raises(OptionError, match="truth= is not given"):
        ROWS.prc.evaluate()
    with pytest.raises(ColumnError, match="by= names 'regin', which is not a column"):
        ROWS.lazy().prc.evaluate("late", "old", by="regin")
    with pytest.raises(OptionError, match="ci=95 is not a level"):
        ROWS.prc.evaluate("late", "old", ci=95)
    weighted = ROWS.with_columns(weight=0.5).prc.evaluate("late", "old", weight="weight", ci=0.9)
    with pytest.raises(OptionError, match=r"ci= of a curve .* weights; it is that of evaluate\(\)"):
        weighted.curve()
    assert weighted.curve(ci=None).height
    with pytest.raises(ParameterError, match=r"evaluate\(\) has no parameter groups=.* by=\?"):
        ROWS.prc.evaluate("late", "old", groups="region")
    with pytest.raises(ParameterError, match=r"by= is named once, in evaluate\(\)"):
        ROWS.prc.evaluate("late", "old").summary(by="region")
    with pytest.raises(ColumnError, match=r"where\(\) names 'dy', .* did you mean 'day'"):
        ROWS.prc.evaluate("late", "old").where(pl.col("dy") > 1)
    for condition in (pl.col("day"), pl.col("day", "late") > 0, pl.lit(None)):
        with pytest.raises(ColumnError, match=r"where\(\) has a condition of dtype .* Boolean"):
            ROWS.prc.evaluate("late", "old").where(condition)
    with pytest.raises(ColumnError, match="an expression fails on this frame: cannot compare"):
        ROWS.prc.evaluate("late", "old").where(pl.col("region") > 1)
    with pytest.raises(OptionError, match=r"got 'day > 1'.*pl\.sql_expr\('day > 1'\) reads a text"):
        ROWS.prc.evaluate("late", "old").where("day > 1")
    with pytest.raises(OptionError, match=r"name the column, as in pl\.col\('day'\) > 1\.?$"):
        ROWS.prc.evaluate("late", "old").where(ROWS["day"] > 1)
    with pytest.raises(OptionError, match="a comparison needs single rows"):
        ROWS.prc.evaluate(score=["old", "new"], pos="day", neg="row").compare_models()


def test_what_it_shows_is_what_there_is():
    ev = ROWS.prc.evaluate(**ROLES, cluster="day", ci=0.9)
    assert repr(ev).splitlines() == [
        "Evaluation of a polars.DataFrame",
        "models     old, new",
        "segments   3 by region",
        "rows       240",
        "positives  88 (36.7%)",
        "clusters   29 by day",
        "level      0.9",
    ]
    assert "<td style='text-align: left'>88 (36.7%)</td>" in ev._repr_html_()
    few = repr(ROWS.prc.evaluate(**ROLES).segments("day"))
    assert "few positives  29 of 29 have fewer than 20" in few
    wrong = ROWS.with_columns(late=pl.col("row") % 3).prc.evaluate("late", "old")
    assert "'late' has 80 rows outside 0 and 1: 2" in repr(wrong)
    with pytest.raises(DataError, match="'late' has 80 rows"):
        wrong.counts()


# --- processes and threads -----------------------------------------------------------------------


@looked_at
def test_sixteen_threads_may_use_one_evaluation(looks):
    with looking(looks=looks):
        ev = ROWS.prc.evaluate(**ROLES, cluster="day")
        verbs = [*CLUSTERED, "curve"] * 4
        with ThreadPoolExecutor(16) as threads:
            found = list(threads.map(lambda verb: getattr(ev, verb)(**VERBS[verb]), verbs))
        for verb, table in zip(verbs, found, strict=True):
            alone = getattr(ROWS.prc, verb)(**ROLES, cluster="day", **VERBS[verb])
            assert_frame_equal(table, alone, check_exact=True)


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda ev: pickle.loads(pickle.dumps(ev))],  # noqa: S301
)
def test_copies_and_pickles_start_anew(again):
    ev = ROWS.prc.evaluate(**ROLES, ci=0.9).where(pl.col("day") < 20)
    expected = ev.summary()
    found = again(ev)
    assert not found._kept  # noqa: SLF001 - nothing else shows it
    assert_frame_equal(found.summary(), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_other_processes_may_use_an_evaluation(method):
    ev = ROWS.prc.evaluate(**ROLES)
    expected = ev.summary()
    # Not a Pool, which waits for ever if a process cannot load what it is sent.
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        found = pool.submit(methodcaller("summary"), ev).result()
    assert_frame_equal(found, expected)
