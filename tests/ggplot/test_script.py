"""The script: what R draws with it, and where it runs."""

from __future__ import annotations

import datetime as dt
import os
import subprocess

import optional
import polars as pl
import pytest
from ggplot_tables import (
    INJECTION,
    READ,
    ROWS,
    assert_is_picture,
    draw,
    new_random,
    run,
    texts_in_r,
)
from polars.testing import assert_frame_equal


def some_rows(count: int = 400) -> pl.DataFrame:
    rng = new_random(3)
    return pl.DataFrame(
        {
            "t": [rng.random() < 0.3 for _ in range(count)],
            "a": [rng.random() for _ in range(count)],
            "b": [round(rng.random(), 1) for _ in range(count)],
            "k": [rng.choice(["x", "y", None]) for _ in range(count)],
            "day": [dt.date(2024, 1, rng.randint(1, 3)) for _ in range(count)],
            "big": [rng.random() < 0.5 for _ in range(count)],
            "w": [rng.random() for _ in range(count)],
        }
    )


def read_plot(tmp_path, code):
    """Return the lines that R code prints of the picture."""
    program = tmp_path / "program.R"
    program.write_text(f'source("t.R"); attach(drawn); {code}', encoding="ascii")
    return run(optional.require_r_package("ggplot2"), program.name, cwd=tmp_path).splitlines()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (("t", "a"), {"ci": 0.9, "by": "day"}),
        (("t", ["a", "b"]), {"by": ["k", "big"], "keep": 20}),
        (("t", {f"model {i}": pl.col("a") ** i for i in range(1, 12)}), {"by": "k", "start": None}),
        (("t", "a"), {"weight": "w", "by": pl.col("day").dt.truncate("1d").cast(pl.Datetime)}),
    ],
)
def test_r_draws(columns, options, tmp_path):
    _, script = some_rows().prc.write_ggplot(tmp_path / "t.tsv", *columns, **options)
    draw(script, tmp_path)
    assert_is_picture(tmp_path / "t.png")


def tables_of_verbs(rows):
    """Return the table of each other picture, as its verb has it."""
    two, given = ["b", "a"], {"by": "k"}
    frame_of = {
        "summary": rows.prc.average_precision("t", two, **given, ci=0.95),
        "comparison": rows.prc.compare_models("t", two, **given),
        "reliability": rows.prc.reliability("t", two, **given),
        "thresholds": rows.prc.threshold_table("t", two, **given),
    }
    return {
        kind: table.with_columns(pl.col("model").cast(pl.Enum(two))).sort(
            "model", "k", maintain_order=True
        )
        for kind, table in frame_of.items()
    }


def test_a_picture_has_the_table_of_its_verb(tmp_path):
    rows = some_rows()
    for kind, expected in tables_of_verbs(rows).items():
        path, _ = rows.prc.write_ggplot(tmp_path / "t.csv", "t", ["b", "a"], by="k", kind=kind)
        found = READ[".csv"](path).cast(dict(expected.schema))
        assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["summary", "comparison", "reliability", "scores", "thresholds"])
def test_r_draws_other_pictures(kind, tmp_path):
    given = {"by": ["k", "day"], "cluster": "big", "kind": kind, "title": INJECTION}
    some_rows().prc.write_ggplot(tmp_path / "t.tsv", "t", ["b", "a"], **given)
    draw(tmp_path / "t.R", tmp_path)
    assert_is_picture(tmp_path / "t.png", height=300)
    title = read_plot(tmp_path, "writeLines(plot$labels$title)")
    assert title[-1] == INJECTION


@pytest.mark.thorough
def test_r_draws_the_area_that_average_precision_sums(tmp_path):
    rows = some_rows()
    table, _ = rows.prc.write_ggplot(tmp_path / "t.tsv", "t", ["a", "b"], by="k")
    code = """
        layers <- lapply(plot$layers, function(layer) class(layer$geom)[1])
        steps <- layer_data(plot, which(layers == "GeomStep"))
        for (line in split(steps, list(steps$group, steps$PANEL), drop = TRUE)) {
          path <- ggplot2:::stairstep(line[order(line$x), ], direction = "vh")
          area <- sum(diff(path$x) * (head(path$y, -1) + tail(path$y, -1)) / 2)
          cat(sprintf("%.17g", area), "\\n")
        }
        """
    drawn = sorted(map(float, read_plot(tmp_path, code)))
    expected = []
    for key in (None, "x", "y"):
        part = rows.filter(pl.col("k").eq_missing(pl.lit(key)))
        for score in ("a", "b"):
            truth, values = part["t"].to_list(), part[score].to_list()
            at = [[s >= v for s in values] for t, v in zip(truth, values, strict=True) if t]
            found = [
                sum(t for t, r in zip(truth, rank, strict=True) if r) / sum(rank) for rank in at
            ]
            expected.append(sum(found) / len(found))
    assert drawn == pytest.approx(sorted(expected), rel=1e-12)
    assert sorted(set(READ[".tsv"](table)["average_precision"])) == pytest.approx(sorted(expected))


@pytest.mark.thorough
def test_the_picture_says_by_what_rows_are_clustered(tmp_path):
    by_day = pl.col("day").dt.day().alias("day's \u00e9")
    some_rows().prc.write_ggplot(tmp_path / "t.tsv", "t", "a", ci=0.9, cluster=by_day)
    said = "\n".join(read_plot(tmp_path, "writeLines(plot$labels$subtitle)"))
    assert (
        "Ribbon: 90 % interval of precision at each threshold; in brackets, of AP; "
        "rows clustered by day's \u00e9."
    ) in said


@pytest.mark.thorough
def test_the_script_takes_paths_and_runs_from_any_folder(tmp_path):
    folder, elsewhere = tmp_path / "a b's é", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    table, script = some_rows().prc.write_ggplot(folder / "the curve's é.tsv", "t", "a")
    draw(script, elsewhere)
    assert_is_picture(folder / "the curve's é.png")
    (folder / "the curve's é.png").unlink()
    draw(script, elsewhere, table, "mine.png")
    assert_is_picture(elsewhere / "mine.png")
    assert os.listdir(elsewhere) == ["mine.png"]
    assert len(os.listdir(folder)) == 2


@pytest.mark.thorough
def test_the_script_reads_another_table_of_the_same_kind(tmp_path):
    rows = pl.DataFrame({"k": ["NA", "b", None], "t": [1, 1, 1], "s": [0.5, 0.5, 0.5]})
    old, script = rows.prc.write_ggplot(tmp_path / "old.csv", "t", "s", by="k", start=None)
    more = rows.with_columns(k=pl.Series(["NA", "new", None]))
    new, _ = more.prc.write_ggplot(tmp_path / "new.csv", "t", "s", by="k", start=None)
    old.write_bytes(new.read_bytes())
    assert texts_in_r(old, "as.character(curves$k)") == [None, "NA", "new"]
    assert texts_in_r(old, "levels(curves$k)") == ["NA", "b", "new"]
    draw(script, tmp_path)


@pytest.mark.thorough
def test_texts_do_not_become_code(tmp_path):
    name = INJECTION.replace("/", "")
    rows = pl.DataFrame({name: [name, "#{x}"], "t": [1, 0], "s": [0.5, 0.2]})
    both = {name: "s", "other": pl.col("s") + 1}
    _, script = rows.prc.write_ggplot(
        tmp_path / f"{name}.csv", "t", both, by=name, title=f"{name}\n{name}"
    )
    draw(script, tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(
        f"{name}.{suffix}" for suffix in ("csv", "R", "png")
    )


@pytest.mark.thorough
def test_a_table_without_rows_is_written_and_r_says_so(tmp_path):
    table, script = ROWS.head(0).prc.write_ggplot(tmp_path / "t.tsv", "late", "score", by="origin")
    assert READ[".tsv"](table).is_empty()
    rscript = optional.require_r_package("ggplot2")
    done = subprocess.run([rscript, script], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert "there is nothing to draw: the table has no rows" in done.stderr


def test_the_script_of_an_arrow_file_reads_it_by_arrow(tmp_path):
    functions = {".parquet": "read_parquet", ".arrow": "read_feather", ".feather": "read_feather"}
    for suffix, function in functions.items():
        _, script = ROWS.prc.write_ggplot(tmp_path / f"t{suffix}", "late", "score")
        text = script.read_text(encoding="ascii")
        assert f"read_rows <- function(path) arrow::{function}(path)\n" in text
        assert "with ggplot2 and arrow." in text
