"""Tables for documents: Markdown and HTML, with the text of the data escaped."""

from __future__ import annotations

from html.parser import HTMLParser

import polars as pl
import pytest
from command_line import ASKED, ROWS, leftovers, run
from markdown_it import MarkdownIt  # Rich brings it along

from frame_prc.cli import output as tables

ODD = [
    "<script>alert(1)</script>",
    "a|b",
    "\\|",
    "*bold* `code` ~~gone~~ [link](x)",
    "_edges_ and in_side",
    "&lt; &amp; $x$",
    "two\nlines",
    "<br>",
    "é",
]


class _Cells(HTMLParser):
    """The text of every cell, and the tags around them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.classes: list[list[str | None]] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [name for name, _ in attrs if name in {"href", "src"}]
        if tag == "tr":
            self.rows.append([])
            self.classes.append([])
        self._inside = tag in {"th", "td"} or (self._inside and tag in {"br", "wbr"})
        if tag in {"th", "td"}:
            self.rows[-1].append("")
            self.classes[-1].append(dict(attrs).get("class"))
        elif tag == "br":
            self.rows[-1][-1] += "\n"

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in {"th", "td"}

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def written(frame: pl.DataFrame, form: str) -> _Cells:
    text = b"".join(getattr(tables, form)(frame)).decode()
    if form == "markdown":
        text = (
            MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
        )
    return _Cells(text)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_text_of_the_data_is_shown_as_it_is(form):
    frame = pl.DataFrame({"a_key|<b>": ODD, "n": range(len(ODD))})
    page = written(frame, form)
    assert page.rows == [frame.columns, *([text, str(n)] for n, text in enumerate(ODD))]
    assert {"script", "b", "em", "code", "a"}.isdisjoint(page.tags)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_numbers_have_the_digits_of_a_terminal_and_gaps_are_empty(form):
    frame = pl.DataFrame(
        {
            "region": ["north", None],
            "average_precision": [1 / 3, None],
            "threshold": [1 / 3, float("inf")],
            "lift": [1e-5, 2e7],
            "ci_low": [9.357e-11, -1e-9],
        }
    )
    assert written(frame, form).rows == [
        frame.columns,
        ["north", "0.3333", "0.3333333333333333", "1e-05", "0.0000"],
        ["", "", "inf", "2e+07", "0.0000"],
    ]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_table_without_rows_is_its_header(form):
    assert written(pl.DataFrame(schema={"a": pl.String, "b": pl.Int64}), form).rows == [["a", "b"]]


def test_markdown_lines_up_as_text():
    frame = pl.DataFrame({"region": ["n", "south"], "n": [3, 12000]})
    assert b"".join(tables.markdown(frame)).decode() == (
        "| region |     n |\n| ------ | ----: |\n| n      |     3 |\n| south  | 12000 |\n"
    )


def test_a_page_loads_nothing_and_aligns_numbers():
    page = written(pl.DataFrame({"region": ["n"], "n": [3]}), "html")
    assert page.classes == [[None, "number"]] * 2
    assert page.links == []
    assert "script" not in page.tags


@pytest.mark.parametrize(
    ("forms", "suffix"), [(("markdown", "md"), "md"), (("html",), "html")], ids=["markdown", "html"]
)
def test_a_document_is_printed_and_written(here, forms, suffix):
    asked = ["ap", "odd.parquet", *ASKED, "-b", "region"]
    ROWS.with_columns(region=pl.lit("<script>")).write_parquet("odd.parquet")
    assert run(*asked, "-o", f"table.{suffix}") == (0, "", "")
    text = (here / f"table.{suffix}").read_text(encoding="utf-8")
    assert leftovers(here) == []
    assert "<script>" not in text.replace("\\<", "")
    assert "0.7556" in text  # the average precision of ROWS: hits at ranks 1, 3 and 5
    for form in forms:
        assert run(*asked, "-f", form) == (0, text, "")
