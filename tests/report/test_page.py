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
from frame_prc._report import libraries

ROWS = rows(900, 4)
TWO = ["weak", "good"]
WEEK = pl.col("day").dt.truncate("1w")


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    hostile().prc.report(path, "truth", MODELS, by=KEY, title=HOSTILE[1])
    return path.read_text(encoding="utf-8")


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


@pytest.mark.parametrize(
    "options", [{"by": "segment"}, {"by": WEEK}, {}, {"by": "segment", "baseline": "weak"}], ids=str
)
def test_pictures_are_valid_charts(tmp_path, options):
    path, _ = ROWS.prc.report(tmp_path / "report.html", "truth", TWO, **options)
    charts = data_of(path.read_text(encoding="utf-8"))["charts"]
    assert list(charts) == ["areas", "curves", "thresholds"]
    for schemes in charts.values():
        light, dark = schemes["light"], schemes["dark"]
        for spec in (light, dark | {"datasets": light["datasets"]}):
            alt.Chart.from_dict(spec)
        assert light["config"]["background"] != dark["config"]["background"]


def test_times_begin_and_end_with_dates(tmp_path):
    path, _ = ROWS.prc.report(tmp_path / "report.html", "truth", "good", by=WEEK)
    text = json.dumps(data_of(path.read_text(encoding="utf-8"))["charts"]["areas"])
    first = ROWS.select(WEEK.min()).item()
    assert first == date(2024, 1, 1)
    assert '"domain": [{"year": 2024, "month": 1, "date": 1,' in text


def test_a_name_that_reads_like_a_colour_keeps_it_in_the_dark(tmp_path):
    named = ROWS.with_columns(segment=pl.lit("#FFFFFF") + pl.col("segment").str.slice(4))
    named = named.with_columns(segment=pl.col("segment").str.replace("#FFFFFF1", "#FFFFFF"))
    path, _ = named.prc.report(tmp_path / "report.html", "truth", "good", by="segment")
    dark = json.dumps(data_of(path.read_text(encoding="utf-8"))["charts"]["areas"]["dark"])
    assert '"#FFFFFF"' in dark


def test_the_numbers_of_the_page_are_finite_or_text(hostile_page):
    found = data_of(hostile_page)
    assert found["curves"][0]["threshold"][0] == "Infinity"
    assert found["models"][1] == MODELS[1]
    assert max(map(len, found["models"] + found["names"])) <= 40


# --- libraries -----------------------------------------------------------------------------------


def test_libraries_are_made_once_for_a_user(tmp_path, monkeypatch):
    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(libraries.sys, "platform", "linux")
    monkeypatch.setattr(
        libraries.vl_convert, "javascript_bundle", lambda _: made.append(1) or "'</script><!--'"
    )
    for _ in range(2):
        assert libraries.libraries.__wrapped__() == r"'<\/script><\!--'"
    assert made == [1]
    [file] = (tmp_path / "frame_prc").iterdir()
    assert file.name.startswith("vega-embed-")


def test_libraries_need_no_folder_of_their_own(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(libraries.vl_convert, "javascript_bundle", lambda _: "script")
    assert libraries.libraries.__wrapped__() == "script"
