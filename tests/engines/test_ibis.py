"""Ibis tables: what is asked of the backend, and when; what comes back; what is refused."""

from __future__ import annotations

import engine_kinds
import optional
import polars as pl
import pytest
from checkout import FLIGHTS, in_checkout
from engine_cases import ROWS, assert_same, every_verb
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import DataError, FrameError, OptionError

pytestmark = engine_kinds.WARNINGS

on_every_backend = engine_kinds.on_engines(*engine_kinds.IBIS)


@engine_kinds.on_engines("Ibis on DuckDB")
def test_columns_of_ibis_are_asked_for_by_name(kind):
    import ibis  # noqa: PLC0415 - optional

    table = kind.make(ROWS)
    for column in (table.segment, ibis._.segment):
        with pytest.raises(OptionError, match=r"by= takes columns.*Hint: give the column's name; "):
            frame_prc.average_precision(table, "truth", "score", by=column)
        with pytest.raises(
            OptionError, match=r"threshold= is of type ibis.*give the column's name"
        ):
            frame_prc.operating_points(ROWS, "truth", "score", threshold=column)


@on_every_backend
@every_verb
def test_the_values_are_checked_at_the_call_by_one_query_with_one_row(kind, verb, monkeypatch):
    table, answers = kind.make(ROWS), []
    backend = type(table.get_backend())
    to_pyarrow = backend.to_pyarrow

    def noted(*args, **options):
        answers.append(to_pyarrow(*args, **options))
        return answers[-1]

    monkeypatch.setattr(backend, "to_pyarrow", noted)
    result = verb(table, "label", "score", by="segment", weight="weight", pos_label="yes")
    assert [answer.num_rows for answer in answers] == [1]
    assert type(result) is type(table)


@engine_kinds.on_engines("Ibis on PostgreSQL")
def test_results_are_computed_when_they_are_asked_for(kind):
    table = kind.make(ROWS)
    result = frame_prc.counts(table, "truth", "score", by="segment")
    cursor = table.get_backend().raw_sql(f'DELETE FROM "{table.get_name()}"')  # noqa: S608
    assert kind.rows(result).is_empty()
    del cursor


@on_every_backend
@every_verb
def test_rows_come_in_the_order_of_polars(kind, verb):
    shuffled = ROWS.sample(fraction=1, shuffle=True, seed=1)
    for ascending in (False, True):
        assert_same(kind, verb, shuffled, "truth", "score", by="segment", ascending=ascending)


@pytest.mark.thorough
@on_every_backend
@every_verb
def test_names_keep_their_quotes_and_case(kind, verb):
    names = {"segment": 'a "Key"', "truth": "Truth", "score": "SCORE", "weight": "it's"}
    df = ROWS.rename(names)
    assert_same(kind, verb, df, "Truth", "SCORE", by='a "Key"', weight="it's")


@engine_kinds.on_engines("Ibis on PostgreSQL", "Ibis on SQLite")
def test_a_thousand_thresholds_fit_into_a_query(kind):
    df = pl.DataFrame({"truth": [True, False, True], "score": [0.0004, 0.9, 0.99]})
    assert_same(kind, frame_prc.counts, df, "truth", "score", thresholds=1_000)


@on_every_backend
def test_errors_count_the_rows_and_show_the_ends_of_their_values(kind):
    bad = ROWS.with_columns(weight=pl.int_range(-3, pl.len() - 3))
    says = "weight= column 'weight' has 3 rows with -3 to -1. Allowed: finite numbers"
    with pytest.raises(DataError, match=says):
        frame_prc.curve(kind.make(bad), "truth", "score", weight="weight")


@pytest.mark.thorough
def test_integers_of_postgres_are_integers_in_a_table_made_of_a_result():
    kind = engine_kinds.ibis_kind("PostgreSQL")
    result = frame_prc.average_precision(kind.make(ROWS), "truth", "score", by="segment")
    backend = result.get_backend()
    made = backend.create_table("areas", result, temp=True)
    cursor = backend.raw_sql('SELECT pg_typeof("n"), pg_typeof("average_precision") FROM "areas"')
    with cursor:
        assert cursor.fetchone() == ("bigint", "double precision")
    assert_frame_equal(kind.rows(made), kind.rows(result), check_row_order=False)


def test_a_result_is_a_table_for_ibis():
    kind = engine_kinds.ibis_kind("DuckDB")
    areas = frame_prc.average_precision(kind.make(ROWS), "truth", "score", by="segment")
    found = areas.filter(areas.segment == "a").select("n", "average_precision")
    expected = frame_prc.average_precision(ROWS, "truth", "score", by="segment")
    assert_frame_equal(
        kind.rows(found), expected.filter(segment="a").select("n", "average_precision")
    )


@in_checkout
def test_counts_of_a_database_make_a_scorecard(tmp_path):
    ibis = optional.require_module("ibis")
    optional.require_module("duckdb")
    flights, models = pl.read_parquet(FLIGHTS), ["logistic", "boosting"]
    connection = ibis.connect(f"duckdb://{tmp_path / 'predictions.db'}")
    table = connection.create_table("flights", flights.to_arrow())
    counts = frame_prc.counts(table, "late", models, by="carrier").to_polars()
    connection.disconnect()
    roles = {"score": "threshold", "pos": "pos", "neg": "neg", "model": "model", "by": "carrier"}
    expected = frame_prc.summary(flights, "late", models, by="carrier")
    found = frame_prc.summary(counts, **roles)
    assert_frame_equal(found, expected.sort("model", "carrier"), rel_tol=1e-12)


def test_tables_that_cannot_be_computed_are_refused():
    ibis = optional.require_module("ibis")
    unbound = ibis.table({"truth": "boolean", "score": "float64"}, name="rows")
    with pytest.raises(FrameError, match=r"an Ibis table without a connection.*result.unbind\(\)"):
        frame_prc.counts(unbound, "truth", "score")
    in_polars = ibis.polars.connect({"rows": ROWS.lazy()}).table("rows")
    with pytest.raises(FrameError, match=r"Polars backend.*table.to_polars\(\)"):
        frame_prc.counts(in_polars, "truth", "score")
    assert frame_prc.counts(in_polars.to_polars(), "truth", "score").height > 1
