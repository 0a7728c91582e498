"""Names in charts: undefined segments, keys of any type, and hostile names."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime

import polars as pl
import pytest
from chart_reading import (
    REGIONS,
    ROWS,
    drawn,
    legend,
    lines,
    of_segments,
    order,
    specification,
    words,
)
from kinds import every_kind
from layers import also

import frame_prc

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "[x].y\\z",
    "a'b\"c",
    "Zürich 日本語",
    "a\tb",
]


# --- segments that have no curve ---------------------------------------------------------------


def test_undefined_segments_are_named_with_the_reason():
    rows = REGIONS.with_columns(late=pl.col("late") & (pl.col("region") == "north"))
    one_panel = rows.prc.plot("late", "old", by="region")
    # Neither a swatch nor a line at 0.
    assert [re.sub(r": AP.*", "", name) for name in legend(one_panel)] == ["north"]
    assert [r for _, rows in drawn(one_panel, "rule", "prevalence") for r in rows] == [
        {"prevalence": 0.5, "series": legend(one_panel)[0]}
    ]
    assert "Not drawn: south (no positives)." in " ".join(words(one_panel))
    chart = rows.prc.plot("late", "old", by="region", facet="region")
    assert words(chart)[-1] == "no positives"
    assert [r for _, r in drawn(chart, "text", "text")] == [[{"text": "no positives"}]]


def test_a_segment_without_negatives_says_so():
    rows = REGIONS.with_columns(late=pl.col("late") | (pl.col("region") == "south"))
    chart = rows.prc.plot("late", "old", by="region")
    assert "Not drawn: south (no negatives)." in " ".join(words(chart))
    panels = rows.prc.plot("late", "old", by="region", facet="region")
    assert words(panels)[-3:] == ["south", "no negatives", "3 of 3 positive (few)"]
    assert {row["line"] for _, rows in drawn(panels, "line", "order") for row in rows} == {0}


@pytest.mark.thorough
@every_kind
@pytest.mark.parametrize("reason", ["no rows", "no positives"])
@pytest.mark.parametrize(
    ("by", "score"), [(None, "score"), (None, ["score", "other"]), ("key", "score")]
)
def test_nothing_defined_is_no_crash(kind, reason, by, score):
    rows = ROWS.with_columns(late=False, other=-pl.col("score"), key=pl.lit("a"))
    frame = kind.make(rows.clear() if reason == "no rows" else rows)
    asked = {"ci": 0.9, "points": {"threshold": 0.5, "recall": 0.5}}
    for options in ({"roc": True}, {"x": "threshold"}):
        chart = frame_prc.plot(frame, "late", score, by=by, **asked, **options)
        assert reason in words(chart) or (by, score) != (None, "score")
    assert frame_prc.plot_summary(frame, "late", score, by=by).to_dict()


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pl.Series([date(2024, 1, 2), date(2023, 1, 1)]), ["2023-01-01", "2024-01-02"]),
        (
            pl.Series([datetime(2024, 1, 2, 3, tzinfo=UTC), None]),
            ["null", "2024-01-02 03:00:00+00:00"],
        ),
        (pl.Series(["null", None]), ["null", "null (2)"]),
        (pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])), ["low", "high"]),
        *also(
            (pl.Series([True, False]), ["key false", "key true"]),
            (pl.Series([1.5, -2.0]), ["key -2.0", "key 1.5"]),
            (pl.Series(["", " a\nb "]), ['""', "a b"]),
            (pl.Series(["b", "a"], dtype=pl.Categorical), None),
        ),
        (
            pl.Series([{"a": 1, "b": "x"}, {"a": 0, "b": "y"}]),
            ["{'a': 0, 'b': 'y'}", "{'a': 1, 'b': 'x'}"],
        ),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_keys_of_any_type_come_in_their_order(values, names):
    keyed = pl.concat([ROWS.with_columns(key=value) for value in _ones(values)])
    found = [
        re.sub(r": AP .*", "", name) for name in legend(keyed.prc.plot("late", "score", by="key"))
    ]
    assert found == (names or keyed["key"].unique().sort().to_list())


def test_names_too_long_to_be_drawn_keep_both_ends():
    names = [f"Department of Regional Sales and Operations, {place}" for place in ("East", "West")]
    keyed = pl.concat([ROWS.with_columns(key=pl.lit(name)) for name in names])
    shown = [
        name.partition(": AP ")[0] for name in legend(keyed.prc.plot("late", "score", by="key"))
    ]
    assert [len(name) for name in shown] == [40, 40]
    assert [name.partition("…") for name in shown] == [
        ("Department of Regional Sal", "…", "rations, East"),
        ("Department of Regional Sal", "…", "rations, West"),
    ]


def _ones(values):
    return [values.gather([place]).new_from_index(0, ROWS.height) for place in range(len(values))]


def test_hostile_names_are_drawn_and_leave_the_page_whole():
    name = "k.[x]'\"</script>"
    rows = pl.concat(ROWS.with_columns(pl.lit(key).alias(name)) for key in HOSTILE)
    chart = rows.prc.plot("late", "score", by=name, title="</script>", facet=False)
    plain = ROWS.prc.plot("late", "score")
    spec = json.dumps(chart.to_dict())
    assert not re.search(r"</|<!--|<script", spec)
    assert chart.to_html().count("</script") == plain.to_html().count("</script")
    shown = [line.replace("\u2060", "") for line in [*words(chart), *legend(chart)]]
    assert shown[0] == "</script>"
    for key in HOSTILE:
        assert any(line.startswith(f"{' '.join(key.split())}: AP") for line in shown)


def test_hostile_names_leave_the_page_of_a_summary_whole():
    name, model = "k.[x]'\"</script>", "<!--<script>"
    rows = pl.concat(ROWS.with_columns(pl.lit(key).alias(name)) for key in HOSTILE)
    both = rows.with_columns((-pl.col("score")).alias(model))
    chart = both.prc.plot_summary("late", ["score", model], by=name)
    assert not re.search(r"</|<!--|<script", json.dumps(chart.to_dict()))
    [(_, differences)] = drawn(chart, "circle", "difference")
    assert len(of_segments(differences)) == len(HOSTILE)
    shown = [name.replace("\u2060", "") for name in order(chart)]
    assert sorted(shown) == sorted(" ".join(key.split()) for key in HOSTILE)


@pytest.mark.thorough
@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_characters_that_no_svg_holds_are_shown_by_their_pictures(verb, tmp_path):
    # The library that draws would end the process: what survives has drawn another character.
    codes = [0x00, 0x01, 0x08, 0x1B, 0xFFFE, 0xFFFF]
    every = "".join(map(chr, codes))
    rows = pl.concat(ROWS.with_columns(pl.lit(f"{chr(c)}a").alias(f"k{every}")) for c in codes)
    chart = getattr(rows.prc, verb)("late", "score", by=f"k{every}", title=f"t{every}", **ONE[verb])
    for code in codes:
        assert f"\\u{code:04x}" not in json.dumps(specification(chart))
    chart.save(tmp_path / "chart.svg")
    shown = [chr(0x2400 + c) if c < 0x20 else "\N{REPLACEMENT CHARACTER}" for c in codes]
    text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert f"t{''.join(shown)}" in text
    assert all(f"{name}a" in text for name in shown)


ONE = {"plot": {"facet": False}, "plot_summary": {}}


@pytest.fixture(scope="module")
def lines_of_regions():
    return lines(REGIONS.prc.plot("late", "old", by="region", points={"recall": 1}))


@pytest.mark.parametrize(
    "name", ["pos", "status", *also("neg", "n", "line", "series", "panel", "order")]
)
def test_keys_may_be_called_as_columns_of_ours(lines_of_regions, name):
    rows = REGIONS.rename({"region": name})
    assert lines(rows.prc.plot("late", "old", by=name, points={"recall": 1})) == lines_of_regions
