"""The numbers of a report: those of the other verbs, on any kind of frame, in a form that lasts."""

from __future__ import annotations

import json
from importlib import resources

import polars as pl
import polars.testing
import pytest
from engine_kinds import duckdb_kind
from jsonschema import Draft202012Validator
from kinds import every_kind
from layers import also
from report_cases import HOSTILE, KEY, MODELS, hostile, rows

import frame_prc
from frame_prc import FileError, OptionError

ROWS = rows(900, 4)
TWO = ["weak", "good"]
BY = {"by": "segment"}
COUNTED = {"score": "threshold", "pos": "pos", "neg": "neg"}
SCHEMA = json.loads(resources.files(frame_prc).joinpath("_report/report.schema.json").read_text())
CLUSTERED = {"cluster": "day", "ci": 0.9, "calibrate": 0.2}
MISSING = ROWS.with_columns(good=pl.when(pl.int_range(pl.len()) % 9 > 0).then("good"))


def numbers(frame, folder, *columns, **options):
    """Return the numbers of a report."""
    [path] = frame_prc.report(frame, folder / "report.json", *columns, **options)
    return json.loads(path.read_text(encoding="utf-8"))


def checked(found):
    """Return numbers whose form is that of the schema, also inside long lists of one form."""
    Draft202012Validator(SCHEMA).validate(shortened(found))
    return found


def shortened(value):
    """Return a value with the ends alone of its long lists: to validate all of them takes long."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in (value[:5] + value[-5:] if value[10:] else value)]
    return value


def flat(records):
    """Return records with the keys of their segments beside the other columns."""
    return [
        {key: value for key, value in record.items() if key != "segment"}
        | (record.get("segment") or {})
        for record in records
    ]


def same(records, table):
    """Compare records with a table, in any order of rows and columns."""
    found = pl.DataFrame(flat(records), infer_schema_length=None)
    keys = [name for name in ("level", "model", "segment", "model") if name in table.columns]
    frame_of = found.select(table.columns).cast(dict(table.schema)).sort(keys)
    pl.testing.assert_frame_equal(frame_of, table.sort(keys), rel_tol=1e-12)


def close(values, series):
    """Compare numbers, some of which may be null, with those of a verb."""
    found = pl.Series(series.name, values, pl.Float64)
    pl.testing.assert_series_equal(found, series, rel_tol=1e-12)


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.fixture(scope="module")
def of_segments(tmp_path_factory):
    """Return the numbers of two models by segment, without another option."""
    return checked(numbers(ROWS, tmp_path_factory.mktemp("report"), "truth", TWO, **BY))


@pytest.fixture(scope="module")
def of_clusters(tmp_path_factory):
    """Return the numbers of two models by segment, of clustered rows."""
    folder = tmp_path_factory.mktemp("report")
    return checked(numbers(ROWS, folder, "truth", TWO, **BY, **CLUSTERED))


@every_kind
def test_every_kind_of_frame_has_the_same_numbers(kind, tmp_path, of_segments):
    assert nearly(numbers(kind.make(ROWS), tmp_path, "truth", TWO, **BY)) == nearly(of_segments)


def nearly(found):
    """Return numbers without the digits that the order of a sum can change."""
    return json.loads(json.dumps(found), parse_float=lambda text: f"{float(text):.9g}")


# The report does not show it.
ROC = ["roc_auc", "roc_auc_std_error", "roc_auc_low", "roc_auc_high"]


@pytest.mark.parametrize("options", [{}, CLUSTERED], ids=str)
def test_tables_are_those_of_the_other_verbs(of_segments, of_clusters, options):
    found = of_clusters if options else of_segments
    given = {"calibrate": "highest", "adjust": "holm", **options}
    of_summary = {name: value for name, value in given.items() if name != "adjust"}
    summary = ROWS.prc.summary("truth", TWO, overall=True, **BY, **of_summary, details=True)
    same(found["scorecard"], summary.drop(ROC))
    same(found["differences"], ROWS.prc.compare_models("truth", TWO, **BY, **given, details=True))
    plain = {name: value for name, value in given.items() if name != "calibrate"}
    same(found["models"], ROWS.prc.compare_models("truth", TWO, **plain, details=True))
    # The tests of another model do not count.
    against = [
        ROWS.prc.compare_segments("truth", one, against="others", **BY, **given, details=True)
        for one in TWO
    ]
    named = [table.with_columns(model=pl.lit(one)) for one, table in zip(TWO, against, strict=True)]
    same(found["against_others"], pl.concat(named))
    spread = ROWS.prc.heterogeneity("truth", TWO, **BY, **of_summary, details=True)
    for record, row in zip(found["heterogeneity"], spread.to_dicts(), strict=True):
        assert record["best"] == {"segment": row["best_segment"]}
        numbers = {name: record[name] for name in ("gap", "p_value", "tau_low", "tau_high")}
        assert numbers == pytest.approx({name: row[name] for name in numbers}, rel=1e-12)


def test_over_time_is_what_a_watch_says(tmp_path):
    given = {"by": "day", "ci": 0.9, "calibrate": 0.3}
    found = checked(numbers(ROWS, tmp_path, "truth", TWO, **given, sections="time"))
    measure = "calibrated_average_precision"
    watch = ROWS.prc.monitor("truth", TWO, **given, over="day", plan=(14, 14), measure=measure)
    assert watch["limit"].drop_nulls().len() == 2 * 14
    same(found["over_time"], watch.drop("measure").with_columns(pl.col("day").cast(pl.String)))
    small = watch.filter(model="good", conclusion="undecided").height
    [said] = [one["text"] for one in found["findings"] if one["about"] == "time"]
    days = "1 day" if small == 1 else f"{small} days"
    assert said.endswith(f"by more than chance; {days} cannot tell alone.")
    assert numbers(ROWS, tmp_path, "truth", TWO, **given)["over_time"] == []


@pytest.mark.parametrize("options", [{"ci": 0.95}, {"ci": 0.9, "cluster": "day"}], ids=str)
def test_thresholds_are_operating_points(of_segments, of_clusters, options):
    found = of_clusters if "cluster" in options else of_segments
    assert len(found["thresholds"]) == 2 * 5
    grid = found["thresholds"][0]["threshold"]
    assert len(grid) >= 100
    by_segment = ROWS.prc.operating_points(
        "truth", TWO, threshold=grid, **BY, **options, details=True
    )
    of_all = ROWS.prc.operating_points("truth", TWO, threshold=grid, **options, details=True)
    for line in found["thresholds"]:
        table = of_all if line["segment"] is None else by_segment.filter(**line["segment"])
        own = table.filter(model=line["model"]).sort("threshold", descending=True)
        for name in ("threshold", "tp", "fp", "fn", "tn"):
            assert line[name] == own[name].to_list()
        for name in ("precision", "recall", "predicted_rate"):
            close(line[name], own[name])
        for name in ("precision_low", "precision_high", "recall_low", "recall_high"):
            close(line[name], own[name])
        assert line["F1"] == pytest.approx(own["f_score"].to_list(), rel=1e-12)


@pytest.mark.parametrize(
    "options", [{"ascending": True}, *also({"missing": "unretrieved"})], ids=str
)
def test_limits_at_thresholds_are_those_of_the_verb_on_other_rows(tmp_path, options):
    frame = MISSING.with_columns(segment=pl.col("segment").str.slice(4).cast(pl.Float64))
    frame = frame.with_columns(good=pl.col("good").cast(pl.Float32)).filter(
        pl.col("good").is_not_null() | pl.lit("missing" in options)
    )
    asked = {"by": "segment", "cluster": "day", **options}
    [line] = [
        line
        for line in numbers(frame, tmp_path, "truth", "good", **asked)["thresholds"]
        if line["segment"] == {"segment": 2.0}
    ]
    points = frame.prc.operating_points(
        "truth", "good", threshold=line["threshold"], ci=0.95, **asked, details=True
    ).filter(segment=2.0)
    for name in ("precision_low", "precision_high", "recall_low", "recall_high"):
        close(line[name], points[name])


def test_weighted_rows_have_limits_at_thresholds_but_in_clusters(tmp_path):
    frame = ROWS.with_columns(w=pl.col("good") + 0.5)
    [line] = numbers(frame, tmp_path, "truth", "good", weight="w")["thresholds"]
    points = frame.prc.operating_points(
        "truth", "good", threshold=line["threshold"], ci=0.95, weight="w", details=True
    )
    for name in ("precision_low", "precision_high", "recall_low", "recall_high"):
        close(line[name], points[name])
    asked = {"weight": "w", "cluster": "day"}
    found = numbers(frame, tmp_path, "truth", "good", **asked)["thresholds"]
    assert {*found[0]["recall_low"]} == {None}


def test_curves_are_those_of_the_verb(of_segments):
    curve = ROWS.prc.curve("truth", TWO, keep=300, **BY).filter(segment="s0001", model="good")
    line = next(
        line
        for line in of_segments["curves"]
        if line["segment"] == {"segment": "s0001"} and line["model"] == "good"
    )
    close(line["recall"], curve["recall"])
    close(line["precision"], curve["precision"])
    assert line["threshold"] == ["Infinity", *curve["threshold"][1:]]


# --- what can be evaluated -----------------------------------------------------------------------


def test_counts_have_the_numbers_of_their_rows(tmp_path):
    counts = ROWS.prc.counts("truth", "good", **BY)
    found = checked(numbers(counts, tmp_path, **COUNTED, **BY))
    same(
        [record | {"model": "x"} for record in found["scorecard"]],
        ROWS.prc.summary("truth", "good", overall=True, **BY, details=True).drop(ROC),
    )
    assert found["against_others"] == found["differences"] == found["models"] == []
    assert found["findings"][1]["text"].startswith("Not tested: ")


@pytest.mark.thorough
def test_a_relation_is_collected_as_counts(tmp_path):
    relation = duckdb_kind().make(ROWS)
    found = numbers(relation, tmp_path, "truth", TWO, **BY)
    same(found["scorecard"], ROWS.prc.summary("truth", TWO, overall=True, **BY))
    assert found["evaluated"]["truth"] == "truth"
    assert "not tested" in found["findings"][1]["text"]
    with pytest.raises(OptionError, match="cluster= does not run inside a DuckDB relation"):
        frame_prc.report(relation, tmp_path / "report.json", "truth", TWO, cluster="day")


def test_long_data_have_the_models_of_their_column(tmp_path):
    long = ROWS.unpivot(TWO, index=["truth", "segment"], variable_name="m", value_name="score")
    found = numbers(long, tmp_path, "truth", "score", model="m", **BY)
    same(found["scorecard"], ROWS.prc.summary("truth", TWO, overall=True, **BY))
    assert found["evaluated"]["models"] == ["good", "weak"]
    assert found["findings"][1]["text"] == (
        "good has the largest average precision; whether it is better is not tested."
    )


def test_rows_that_lack_a_score_are_left_out_for_all_models(tmp_path):
    found = numbers(MISSING, tmp_path, "truth", TWO, missing="drop", **BY)
    assert found["evaluated"]["n_dropped"] == 100
    complete = MISSING.drop_nulls("good").prc.summary("truth", TWO, overall=True, **BY)
    same(found["scorecard"], complete.with_columns(n_dropped=None).drop("n_dropped"))
    kept = numbers(MISSING, tmp_path, "truth", TWO, missing="unretrieved", **BY)
    assert kept["evaluated"]["n"] == ROWS.height


@pytest.mark.parametrize(
    ("score", "options"),
    [("good", {"weight": "w"}), ({"new": "good"}, {}), (TWO, {"ascending": True})],
    ids=str,
)
def test_without_keys_there_is_one_segment(tmp_path, score, options):
    weighted = ROWS.with_columns(w=pl.lit(2.5))
    found = numbers(weighted, tmp_path, "truth", score, **options)
    assert "segment" not in [finding["about"] for finding in found["findings"]]
    assert {line["segment"] is None for line in found["thresholds"]} == {False}
    assert found["evaluated"]["n_segments"] == 1
    expected = weighted.prc.average_precision("truth", score, **options)["average_precision"]
    areas = [r["average_precision"] for r in found["scorecard"] if r["level"] == "segment"]
    assert sorted(areas) == pytest.approx(sorted(expected), rel=1e-12)


FEW = rows(300, 4)
EDGES = {
    "no positives": FEW.with_columns(truth=False),
    "no negatives": FEW.with_columns(truth=True),
    "one row": FEW.head(1),
    "one score": FEW.with_columns(good=0.5, weak=0.5),
    "infinite": FEW.with_columns(good=1 / (pl.col("good") > 0.7).cast(pl.Float64)),
    "Float32": FEW.with_columns(pl.col(*TWO).cast(pl.Float32)),
    "integers": FEW.with_columns((pl.col(*TWO) * 10).cast(pl.Int16)),
    "NaN keys": FEW.with_columns(segment=pl.Series([float("nan"), None, 1.0] * 100)),
    "dates": FEW.with_columns(segment="day"),
    "null": FEW.with_columns(segment=pl.lit(None, pl.String)),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", EDGES)
def test_edges_have_numbers_and_a_page(tmp_path, name):
    page, beside = EDGES[name].prc.report(tmp_path / "report.html", "truth", TWO, **BY)
    assert checked(json.loads(beside.read_text(encoding="utf-8")))["findings"]
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.thorough
def test_hostile_keys_are_in_the_numbers_as_they_are(tmp_path):
    found = numbers(hostile(), tmp_path, "truth", MODELS, by=KEY)
    keys = {record["segment"][KEY] for record in found["differences"]}
    assert keys == set(HOSTILE)
    assert found["evaluated"]["models"] == MODELS


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_page_replaces_only_numbers_that_a_report_wrote(tmp_path):
    beside = tmp_path / "report.json"
    beside.write_text('{"mine": 1}')
    with pytest.raises(FileError, match="exists and was not written by frame_prc"):
        ROWS.prc.report(tmp_path / "report.html", "truth", "good")
    assert beside.read_text() == '{"mine": 1}'
    ROWS.prc.report(beside, "truth", "good")
    assert ROWS.prc.report(str(tmp_path / "report.html"), "truth", "good")[1] == beside


@pytest.mark.parametrize(
    ("path", "error", "text"),
    [
        ("report.pdf", FileError, "has the suffix '.pdf'"),
        ("report", FileError, "has no suffix"),
        ("no/report.html", FileError, "folder .* does not exist"),
        (b"report.html", OptionError, "path= is of type bytes"),
        (ROWS, OptionError, "path= is of type .*DataFrame"),
    ],
    ids=str,
)
def test_a_path_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, path, error, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        ROWS.prc.report(path, "truth", "good")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("module", ["altair", "jinja2", "vl_convert"])
def test_the_page_names_a_package_that_is_missing(tmp_path, monkeypatch, module):
    find = frame_prc._request.hints.find_spec  # noqa: SLF001
    missing = lambda name: None if name == module else find(name)  # noqa: E731
    monkeypatch.setattr("frame_prc._request.hints.find_spec", missing)
    with pytest.raises(OptionError, match=r"needs .*, which is not installed\. Hint: pip"):
        ROWS.prc.report(tmp_path / "report.html", "truth", "good")
    assert ROWS.prc.report(tmp_path / "report.json", "truth", "good")
