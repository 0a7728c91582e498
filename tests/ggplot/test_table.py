"""The table and the script that are written, read by Polars and by plotnine."""

from __future__ import annotations

import os
import sys
from itertools import cycle

import optional
import polars as pl
import pytest
from checkout import EXAMPLES
from ggplot_tables import READ, ROWS, assert_is_picture, new_random, run
from kinds import KINDS, every_kind
from polars.testing import assert_frame_equal
from pyarrow import ipc, parquet

import frame_prc

# By hand: two segments, null first; precision 2/3 and average precision 1/2 + 1/2 * 2/3.
TABLE = """\
origin,threshold,tp,fp,fn,tn,precision,recall,average_precision
NA,Inf,0,0,1,1,1,0,0.5
NA,0.69999999999999996,0,1,1,0,0,0,0.5
NA,0.10000000000000001,1,1,0,0,0.5,1,0.5
"JFK",Inf,0,0,2,2,1,0,0.83333333333333326
"JFK",0.90000000000000002,1,0,1,2,1,0.5,0.83333333333333326
"JFK",0.40000000000000002,2,1,0,1,0.66666666666666663,1,0.83333333333333326
"JFK",0.20000000000000001,2,2,0,0,0.5,1,0.83333333333333326
"""
SUFFIXES = [".tsv", ".csv", ".parquet", ".arrow", ".feather"]

# --- what is written ---------------------------------------------------------------------------


@every_kind
def test_a_table_and_its_script_are_written(kind, tmp_path):
    table, script = kind.make(ROWS).prc.write_ggplot(
        tmp_path / "late.csv", "late", "score", by="origin"
    )
    assert (table, script) == (tmp_path / "late.csv", tmp_path / "late.R")
    assert table.read_text(encoding="utf-8") == TABLE
    assert sorted(os.listdir(tmp_path)) == ["late.R", "late.csv"]


@every_kind
def test_counts_give_the_same(kind, tmp_path):
    counted = ROWS.select("origin", "score", pos=pl.col("late").cast(pl.Int64)).with_columns(
        neg=1 - pl.col("pos")
    )
    frame_prc.write_ggplot(
        kind.make(counted), tmp_path / "late.csv", score="score", pos="pos", neg="neg", by="origin"
    )
    assert (tmp_path / "late.csv").read_text(encoding="utf-8") == TABLE


@pytest.mark.parametrize(("suffix", "kind"), [*zip(SUFFIXES, cycle(KINDS))], ids=str)
def test_every_format_has_the_same_table_and_a_curve_read_from_it_gives_the_same(
    suffix, kind, tmp_path
):
    table, _ = frame_prc.write_ggplot(ROWS, tmp_path / f"a{suffix}", "late", "score", by="origin")
    read, expected = READ[suffix](table), READ[".csv"](TABLE.encode())
    assert_frame_equal(read, expected, check_dtypes=False, check_exact=True)
    shuffled = read.drop("average_precision").sample(fraction=1, shuffle=True, seed=7)
    frame_prc.write_ggplot(kind.make(shuffled), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == TABLE


def test_a_curve_of_one_segment_has_no_keys(tmp_path):
    frame_prc.write_ggplot(ROWS.drop_nulls(), tmp_path / "a.csv", "late", "score")
    one = "\n".join(line.partition(",")[2] for line in TABLE.splitlines() if "NA" not in line)
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == f"{one}\n"
    curve = frame_prc.curve(ROWS.drop_nulls(), "late", "score")
    frame_prc.write_ggplot(curve, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_a_curve_knows_what_was_never_retrieved(tmp_path):
    rows = pl.DataFrame({"t": [1, 0, 1, 0], "s": [0.9, 0.5, None, None]})
    for path, *columns in (("a.tsv", "t", "s"), ("b.tsv",)):
        frame = rows if columns else rows.prc.curve("t", "s", missing="unretrieved")
        missing = {"missing": "unretrieved"} if columns else {}
        frame.prc.write_ggplot(tmp_path / path, *columns, **missing)
        areas = READ[".tsv"](tmp_path / path)["average_precision"]
        assert areas.to_list() == [0.5] * 3  # 1/2 found at precision 1


def test_a_thinned_curve_does_not_know_its_area_but_rows_do(tmp_path):
    rng = new_random(1)
    rows = pl.DataFrame(
        {"t": [rng.random() < 0.4 for _ in range(99)], "s": [rng.random() for _ in range(99)]}
    )
    rows.prc.write_ggplot(tmp_path / "rows.parquet", "t", "s", keep=5)
    rows.prc.curve("t", "s", keep=5).prc.write_ggplot(tmp_path / "curve.parquet")
    of_rows, of_curve = (pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("rows", "curve"))
    assert of_rows.height == of_curve.height == 5
    truth, score = rows["t"].to_list(), rows["s"].to_list()
    ranks = [[s >= at for s in score] for at, t in zip(score, truth, strict=True) if t]
    exact = [sum(t for t, r in zip(truth, rank, strict=True) if r) / sum(rank) for rank in ranks]
    assert of_rows["average_precision"].to_list() == pytest.approx([sum(exact) / len(exact)] * 5)
    assert of_curve["average_precision"].to_list() == [None] * 5


def test_what_a_curve_has_beside_its_points_stays(tmp_path):
    curve = ROWS.prc.curve("late", "score", by="origin", envelope=True, ci=0.9)
    marked = curve.with_columns(note=pl.lit("a, b"))
    marked.prc.write_ggplot(tmp_path / "a.csv")
    marked.prc.write_ggplot(tmp_path / "a.parquet")
    for read in (READ[".csv"](tmp_path / "a.csv"), READ[".parquet"](tmp_path / "a.parquet")):
        assert_frame_equal(read.drop("average_precision"), marked)
    pl.read_parquet(tmp_path / "a.parquet").prc.write_ggplot(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_intervals_of_clustered_rows_are_those_of_the_verbs(tmp_path):
    rows = pl.concat([ROWS] * 3).with_row_index("day").with_columns(pl.col("day") // 4)
    asked = {"by": "origin", "ci": 0.9, "cluster": "day"}
    table, script = rows.prc.write_ggplot(tmp_path / "a.parquet", "late", "score", **asked)
    curve = rows.prc.curve("late", "score", keep="corners", **asked)
    areas = rows.prc.average_precision("late", "score", **asked)
    joined = curve.join(
        areas.select("origin", "average_precision", "ci_low", "ci_high"),
        on="origin", how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    assert_frame_equal(pl.read_parquet(table), joined)
    assert 'cluster <- "day"' in script.read_text(encoding="ascii")
    _, script = rows.prc.write_ggplot(tmp_path / "b.csv", "late", "score", ci=0.9)
    assert "cluster <- NULL" in script.read_text(encoding="ascii")


def test_arrow_files_have_types_that_r_has(tmp_path):
    rows = ROWS.with_columns(
        pl.col("origin").cast(pl.Categorical), pl.col("score").cast(pl.Float32)
    )
    rows.prc.write_ggplot(tmp_path / "a.arrow", "late", "score", by="origin")
    rows.prc.write_ggplot(tmp_path / "a.parquet", "late", "score", by="origin")
    for schema in (
        ipc.open_file(tmp_path / "a.arrow").schema,
        parquet.read_schema(tmp_path / "a.parquet"),
    ):
        types = [str(field.type) for field in schema]
        assert types == ["large_string", "double", *["int64"] * 4, *["double"] * 3]


# --- plotnine ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_plotnine_draws_the_area_that_average_precision_sums():
    plotnine = optional.require_module("plotnine")
    rows = pl.DataFrame({"t": [1, 0, 1, 0, 0, 1], "s": [0.9, 0.4, 0.4, 0.2, 0.7, 0.1]})
    curve = rows.prc.curve("t", "s")
    steps = plotnine.geom_step(plotnine.aes("recall", "precision"), curve, direction="vh")
    figure = (plotnine.ggplot() + steps).draw()
    [line] = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    x, y = line.get_xdata(), line.get_ydata()
    area = sum((b - a) * h for a, b, h in zip(x, x[1:], y[1:], strict=False))
    assert area == pytest.approx((1 + 2 / 4 + 3 / 6) / 3, rel=1e-12)


@pytest.mark.thorough
def test_plotnine_example_saves_a_picture(tmp_path):
    optional.require_module("plotnine")
    example = EXAMPLES / "plotnine_curves.py"
    run(sys.executable, "-W", "error", example, "out/p.png", cwd=tmp_path, MPLBACKEND="agg")
    assert_is_picture(tmp_path / "out" / "p.png", height=400)
