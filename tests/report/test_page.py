"""The page as text: its policy, its data, its pictures, and the libraries in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import date

import altair as alt
import optional
import polars as pl
import pytest
from report_cases import HOSTILE, KEY, MODELS, hostile, rows

import frame_prc
from frame_prc import DataError, OptionError
from frame_prc._report import page as page_module
from frame_prc._report.sentences import last_day, unit_of

ROWS = rows(900, 4)
TWO = ["weak", "good"]
WEEK = pl.col("day").dt.truncate("1w")
MONDAYS = ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22"]


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    hostile().prc.report(path, "truth", MODELS, by=KEY, title=HOSTILE[1])
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Return a function that writes the report of two models, once for all that is read of it."""
    known = {}

    def written(**options):
        if str(options) not in known:
            path = tmp_path_factory.mktemp("page") / "report.html"
            known[str(options)] = [
                file.read_text(encoding="utf-8")
                for file in ROWS.prc.report(path, "truth", TWO, **options)
            ]
        return known[str(options)]

    return written


def test_a_key_named_as_the_model_is_refused(tmp_path):
    named = ROWS.with_columns(model="segment")
    with pytest.raises(frame_prc.ColumnError, match="key 'model' in by= is named like a column"):
        frame_prc.report(named, tmp_path / "r.html", "truth", "good", by="model")
    relation = optional.require_module("duckdb").connect().from_arrow(named.to_arrow())
    with pytest.raises(frame_prc.ColumnError, match="key 'model' in by= is named like a column"):
        frame_prc.report(relation, tmp_path / "r.html", "truth", "good", by="model")
    assert not [*tmp_path.iterdir()]


def data_of(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


def test_only_the_scripts_of_the_page_are_allowed(hostile_page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile_page)[1]
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", hostile_page, flags=re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy.replace("&#43;", "+").replace("&#61;", "=")
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", hostile_page, flags=re.DOTALL)
    assert "<script" not in markup
    assert "broken'</script>" not in markup
    assert not re.search(r"(?:src|href)=", markup)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [{"by": "segment"}, {"by": WEEK}, {}], ids=["segments", "weeks", "all rows"]
)
def test_pictures_are_valid_charts(report, options):
    page, _ = report(**options)
    charts = data_of(page)["charts"]
    of_segments = ["areas"] if options else []
    answers = ["good", "pooled", "models", *(["strip"] if options else [])]
    assert list(charts) == [*answers, "curves", *of_segments, "thresholds"]
    for schemes in charts.values():
        light, dark = schemes["light"], schemes["dark"]
        for spec in (light, dark | {"datasets": light["datasets"]}):
            alt.Chart.from_dict(spec)
        assert light["config"]["background"] != dark["config"]["background"]


def test_tooltips_name_what_they_show(report):
    page, _ = report(by="segment")
    charts = data_of(page)["charts"]
    titles = set(re.findall(r'"title": "([^"]*)", "type"', json.dumps(charts["areas"]["light"])))
    assert {"calibrated average precision", "interval from", "positives", "chance level"} <= titles
    assert not titles & {"n_pos", "ci low", "random average precision", "average precision"}


def test_a_difference_is_the_new_model_less_the_old_one_everywhere(report):
    text, numbers = report(by="segment")
    [row] = json.loads(numbers)["models"]
    assert (row["model"], row["baseline"]) == ("good", "weak")
    assert row["difference"] > 0
    found = data_of(text)
    differences = next(c for c in found["columns"] if c["label"] == "Difference")
    assert differences["model"] == "good \N{MINUS SIGN} weak"
    asked = {"calibrate": "highest", "adjust": "holm", "details": True}
    by_segment = ROWS.prc.compare_models("truth", TWO, by="segment", **asked)
    ends = {"difference": "values", "ci_low_adjusted": "low", "ci_high_adjusted": "high"}
    for name, column in ends.items():
        expected = by_segment.sort("segment")[name].to_list()
        assert differences[column] == pytest.approx(expected, rel=1e-9)
    for picture in ("areas", "models"):
        light = json.dumps(found["charts"][picture]["light"], ensure_ascii=False)
        assert "good \N{MINUS SIGN} weak" in light
    based, _ = report(baseline="good")
    light = json.dumps(data_of(based)["charts"]["models"]["light"], ensure_ascii=False)
    assert "weak \N{MINUS SIGN} good" in light


def test_sections_are_those_asked_for(report):
    page, _ = report(by="segment", sections=("roc", "scores"))
    assert "How good" in page
    assert list(data_of(page)["charts"])[-2:] == ["roc", "scores"]
    assert "scorecard" not in re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("by", "alarm"),
    [
        (WEEK, "good: alarm in 1 of 2 weeks</strong>, first 2024-01-22; weak in 0 of 2."),
        (WEEK.dt.to_string("%F").cast(pl.Enum(MONDAYS)), "good: alarm in 1 of 2 periods"),
        (["segment", WEEK], "2 weeks</strong> of all rows together, first 2024-01-22; weak in 0"),
        (WEEK.dt.truncate("1q"), "No watch</strong>: 1 period; a reference takes two"),
    ],
    ids=["weeks", "categories", "two keys", "one quarter"],
)
def test_what_gets_worse_over_time_is_said_where_there_is_an_order(tmp_path, by, alarm):
    late = pl.col("day") >= date(2024, 1, 22)
    frame = ROWS.with_columns(good=pl.when(late).then(1 - pl.col("good")).otherwise("good"))
    path, numbers = frame.prc.report(tmp_path / "r.html", "truth", TWO, by=by, sections="time")
    page = path.read_text(encoding="utf-8")
    charts = data_of(page)["charts"]
    assert alarm in page
    # On the first screen too, and among the findings.
    findings = json.loads(numbers.read_text(encoding="utf-8"))["findings"]
    said = next(one["text"] for one in findings if one["about"] == "time")
    assert alarm.replace("</strong>", "") in said
    assert len(said.split()) <= 20
    line = re.search('<p class="also">(.*?(?:watch|alarm).*?)[.]</p>', page, re.IGNORECASE)
    assert said.startswith(line[1]) if "1 period" not in alarm else line is None
    assert ("time" in charts) == ("1 period" not in alarm)
    if alarm.startswith("No watch"):
        return
    [rows] = charts["time"]["light"]["datasets"].values()
    assert [row["name"] for row in rows if row["conclusion"] == "alarm"]


def relation_of_rows():
    duckdb = optional.require_module("duckdb")
    return duckdb.connect().from_arrow(ROWS.to_arrow()), ("truth", TWO), {}


def long_rows():
    long = ROWS.unpivot(TWO, index=["truth", "segment"], variable_name="m", value_name="score")
    return long, ("truth", "score"), {"model": "m"}


def counts_of_rows():
    counts = ROWS.prc.counts("truth", TWO, by="segment")
    return counts, (), {"score": "threshold", "pos": "pos", "neg": "neg", "model": "model"}


def curves_of(data):
    return {(data["models"][line["model"]], line["segment"]): line for line in data["curves"]}


def areas_of(data):
    columns = [column for column in data["columns"] if column["label"] == "Calibrated AP"]
    return {column["model"]: column["values"] for column in columns}


@pytest.mark.parametrize("given", [relation_of_rows, long_rows, counts_of_rows])
def test_the_page_of_rows_elsewhere_draws_what_that_of_rows_draws(given, report, tmp_path):
    frame, columns, roles = given()
    asked = {"by": "segment", "sections": ["curves", "segments", "thresholds", "roc", "scores"]}
    path, _ = frame_prc.report(frame, tmp_path / "r.html", *columns, **roles, **asked)
    found, wanted = data_of(path.read_text(encoding="utf-8")), data_of(report(**asked)[0])
    assert set(found["charts"]) == set(wanted["charts"]) - {"models"}
    curves, known = curves_of(found), curves_of(wanted)
    assert curves.keys() == known.keys()
    for line, own in curves.items():
        for column in ("recall", "precision", "height"):
            assert own[column] == pytest.approx(known[line][column], abs=1e-4)
    assert found["all"].keys() == wanted["all"].keys()
    areas = {model: pytest.approx(values) for model, values in areas_of(wanted).items()}
    assert areas_of(found) == areas


def test_segments_of_other_keys_are_taken_together_over_time(tmp_path):
    week, given = WEEK.alias("week"), {"cluster": "day", "calibrate": 0.3, "sections": "time"}
    by_week, both = (
        json.loads(path.read_text(encoding="utf-8"))
        for by in (week, ["segment", week])
        for path in ROWS.prc.report(tmp_path / "r.json", "truth", TWO, by=by, **given)
    )
    assert both["over_time"] == by_week["over_time"]
    assert len(both["over_time"]) == 8


def test_answers_are_about_segments_and_not_about_each_in_a_week(tmp_path):
    found = []
    for by in ("segment", ["segment", WEEK]):
        given = {"by": by, "calibrate": 0.3}
        page, numbers = ROWS.prc.report(tmp_path / "r.html", "truth", TWO, **given)
        told = {a["about"]: a for a in json.loads(numbers.read_text(encoding="utf-8"))["findings"]}
        charts = data_of(page.read_text(encoding="utf-8"))["charts"]
        [*strip] = charts["strip"]["light"]["datasets"].values()
        found.append((told["model"], told["segment"]["text"], strip))
    assert found[0] == found[1]
    assert re.search(r"By segment and \w+ together: .+", told["segment"]["reasons"][-1])


@pytest.mark.parametrize(
    ("by", "found"),
    [
        (None, "the keys are none"),
        ("segment", "the keys are 'segment' (String)"),
        (["day", WEEK.alias("day_1")], "the keys are 'day' (Date), 'day_1' (Date)"),
    ],
)
def test_an_order_that_is_not_there_is_asked_for(tmp_path, by, found):
    said = re.escape(f"sections= has 'time', and {found}. Allowed: one key that is a time")
    with pytest.raises(OptionError, match=said):
        ROWS.prc.report(tmp_path / "r.json", "truth", TWO, by=by, sections="time")


@pytest.mark.parametrize("name", ["r.html", "r.json"])
def test_scores_that_are_no_probabilities_have_no_section_of_them(tmp_path, name):
    df = ROWS.with_columns(pl.col("good") + 2)
    with pytest.raises(DataError, match=r"column '\w+' has .* rows outside 0 to 1"):
        df.prc.report(tmp_path / name, "truth", TWO, by="segment", sections="reliability")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("count", [23, 24])
def test_many_segments_share_a_panel_of_probabilities(tmp_path, count):
    frame = rows(1500, count).with_columns(good=pl.col("good") / 2)
    asked = {"by": "segment", "sections": "reliability"}
    path, _ = frame.prc.report(tmp_path / "r.html", "truth", "good", **asked)
    sets = data_of(path.read_text(encoding="utf-8"))["charts"]["reliability"]["light"]["datasets"]
    drawn = pl.concat(pl.DataFrame(one) for one in sets.values() if "panel" in one[0])
    panels = drawn["panel"].unique().sort().to_list()
    names = frame["segment"].unique().sort().to_list()
    assert panels == ["all rows", *(names if count == 23 else [])]
    assert (drawn.group_by(drawn["panel"] == "all rows").agg(pl.sum("n"))["n"] == 1500).all()


def test_what_is_not_tested_has_its_reason(tmp_path):
    few = ROWS.with_columns(pl.col("day").dt.ordinal_day() % 4)
    path, _ = few.prc.report(tmp_path / "r.html", "truth", "good", by="segment", cluster="day")
    cell = '<td colspan="2" class="nothing">not tested: few clusters</td>'
    assert cell in path.read_text(encoding="utf-8")


def test_a_page_has_its_own_title_note_date_and_colour(report):
    given = {
        "title": "Churn",
        "note": "Test of May.",
        "date": date(2024, 6, 1),
        "accent": "#7a1fa2",
    }
    page, numbers = report(**given)
    for text in ("Churn", "Test of May.", "2024-06-01.", "--accent: #7a1fa2"):
        assert text in page
    assert json.loads(numbers)["evaluated"]["date"] == "2024-06-01"


def test_the_same_rows_make_the_same_bytes(report, tmp_path):
    again = ROWS.prc.report(tmp_path / "report.html", "truth", TWO, by="segment")
    assert [file.read_text(encoding="utf-8") for file in again] == report(by="segment")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"sections": ["curve"]}, "sections='curve'"),
        ({"accent": "purple"}, "accent='purple' is not a colour"),
        ({"date": 2024}, "date=2024 is of type int"),
        ({"note": 1}, "note=1 is of type int"),
    ],
    ids=str,
)
def test_an_option_that_is_none_is_an_error(tmp_path, given, text):
    with pytest.raises(frame_prc.OptionError, match=re.escape(text)):
        ROWS.prc.report(tmp_path / "r.html", "truth", "good", **given)


def test_times_have_no_numbers_for_a_domain_and_say_their_unit(report):
    page, _ = report(by=WEEK)
    charts = json.dumps(data_of(page)["charts"])
    domains = re.findall(r'"scale": {"domain": (\[[^]]*\])[^{}]*"utc"', charts)
    assert len(domains) == charts.count('"utc"}')
    # The interpreter of a page without eval takes a number for a year.
    assert all(type(end) is dict for domain in domains for end in json.loads(domain))
    assert "; 4 weeks, 2024-01-01 to 2024-01-28." in page


@pytest.mark.parametrize(
    ("days", "unit", "last"),
    [
        ([date(2023, 12, 1), date(2024, 2, 1)], "month", date(2024, 2, 29)),
        ([date(2023, 10, 1), date(2024, 1, 1)], "quarter", date(2024, 3, 31)),
        ([date(2023, 1, 1), date(2024, 1, 1)], "year", date(2024, 12, 31)),
        ([date(2024, 1, 3), date(2024, 1, 17)], "week", date(2024, 1, 23)),
        ([date(2024, 1, 3), date(2024, 1, 5)], "day", date(2024, 1, 5)),
    ],
)
def test_units_of_time_have_their_length(days, unit, last):
    assert unit_of(days) == unit
    assert last_day(days[-1], unit) == last


def test_the_error_of_thinned_curves_is_said(tmp_path):
    page, path = (
        rows(20_000, 1)
        .with_columns(good=pl.int_range(pl.len()) * 0.7919 % 1)
        .prc.report(tmp_path / "report.html", "truth", "good")
    )
    error = json.loads(path.read_text(encoding="utf-8"))["evaluated"]["curve_error"]
    assert error > 0
    note = f"<li>Curves are thinned; their precision is off by at most {error:.2g}.</li>"
    assert note in page.read_text(encoding="utf-8")


def test_the_numbers_of_the_page_are_finite_or_text(hostile_page):
    found = data_of(hostile_page)
    assert found["curves"][0]["threshold"][0] == "Infinity"
    assert found["models"][1] == MODELS[1]
    assert max(map(len, found["models"] + found["names"])) <= 40


# --- libraries -----------------------------------------------------------------------------------


def test_libraries_are_made_once_for_a_user_and_need_no_folder_of_their_own(tmp_path, monkeypatch):
    made, folder, libraries = [], tmp_path / "folder", page_module.libraries.__wrapped__
    bundle = lambda _: made.append(1) or "'</script><!--'"  # noqa: E731
    monkeypatch.setattr(page_module.vl_convert, "javascript_bundle", bundle)
    monkeypatch.setattr(page_module.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    assert [libraries(), libraries()] == [r"'<\/script><\!--'"] * 2
    assert made == [1]
    [file] = (folder / "frame_prc").iterdir()
    assert file.name.startswith("vega-embed-")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))  # no folder
    assert libraries() == r"'<\/script><\!--'"
    assert made == [1, 1]
