"""Files that do not fit in ``--memory``: the results of DuckDB are those of all rows at once."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys

import polars as pl
import pytest
from command_line import leftovers, run, said
from layers import also
from optional import require_module
from polars.testing import assert_frame_equal

from frame_prc.cli import calls

N = 600
ROWS = pl.DataFrame({"row": range(N)}).select(
    late=(pl.col("row") * 7919 % 10 < 3),
    later=(pl.col("row") * 7919 % 10 < 2) | ((pl.col("row") % 3 == 0) & (pl.col("row") % 7 < 2)),
    answer=pl.when(pl.col("row") * 7919 % 10 < 3).then(pl.lit("yes")).otherwise(pl.lit("no")),
    score=(pl.col("row") * 6007 % 211) / 211,
    other=(pl.col("row") * 31 % 97).cast(pl.Float32) / 97,
    region=pl.col("row").map_elements(lambda row: [None, "b", "a", "c"][row % 4], pl.String),
    day=(pl.col("row") % 5).cast(pl.Int8),
    size=pl.when(pl.col("row") < 400).then(pl.lit("most")).otherwise(pl.lit("few")),
    week=pl.date(2024, 1, 1) + pl.duration(days=pl.col("row") % 40),
    name=pl.when(pl.col("row") % 3 == 0).then(pl.lit("new")).otherwise(pl.lit("old")),
    gaps=pl.when(pl.col("row") % 5 != 0).then((pl.col("row") * 6007 % 211) / 211),
    w=(pl.col("row") % 3 + 1).cast(pl.Float64) / 8,
)
TRUTH = ["-t", "late", "-s", "score"]
ONE, TWO, SIZE = "-b region", "-b day -b region", "-b size"
LINES = [
    f"ap -t late -s score --ci .9 {TWO}",
    f"ap -t answer -s gaps --pos-label yes --missing drop --ci .9 --cluster day {ONE}",
    f"summary -t later -s score --model name {ONE}",
    f"summary -t late -s score -s other -w w --overall --calibrate pooled {ONE}",
    f"counts -t late -s score -w w {TWO}",
    "curve -t late -s z=score -s a=other -b week:1w",
    f"curve -t late -s score --ascending --keep corners --envelope {SIZE}",
    f"points -t late -s gaps --missing unretrieved --recall 0.5,0.9 --f-beta 1 {TWO}",
    f"compare-models -t late -s score -s other --cluster week -b week:2w {SIZE}",
    *also("counts -t late -s score", "curve -t late -s score", "ap -t late -s score -s other"),
]
# Sums of floats, whose last digit depends on how many threads add them up.
NEAR = {"abs_tol": 1e-12, "rel_tol": 1e-9}


@pytest.fixture(autouse=True)
def files(here):
    require_module("duckdb")
    ROWS.write_parquet(here / "many.parquet", row_group_size=100)
    ROWS.write_csv(here / "many.csv")


def table(line: str) -> pl.DataFrame:
    code, out, err = run(*line.split(), "-f", "ndjson")
    assert (code, err) == (0, "")
    return pl.read_ndjson(io.StringIO(out), infer_schema_length=None)


def assert_same(line: str, *files: str) -> None:
    verb, _, options = line.partition(" ")
    at_once = table(f"{verb} many.parquet {options}")
    spilled = table(f"{verb} {' '.join(files) or 'many.parquet'} {options} --memory 1GB")
    assert_frame_equal(spilled, at_once, **NEAR)


@pytest.mark.parametrize("line", LINES)
def test_a_limit_of_memory_gives_what_all_rows_give_at_once(line):
    assert_same(line)


def test_several_files_and_text_are_read(here):
    ROWS.head(200).write_csv(here / "first.csv")
    ROWS.tail(400).write_csv(here / "last.csv")
    for files in (["many.csv"], ["first.csv", "last.csv"]):
        assert_same("curve -t late -s score -b region", *files)


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ("late -s gaps", r"'gaps' has a row with null or NaN\. .*Hint: --missing drop leaves"),
        *also(("answer --pos-label Yes -s score", r"--pos-label Yes is nowhere in --truth column")),
    ],
)
def test_bad_data_are_the_error_of_a_row(truth, says):
    code, text = said(*f"ap many.parquet -b region -t {truth} --memory 1GB".split())
    assert code == 1
    assert re.search(says, text)


def test_what_takes_more_memory_than_there_is_is_one_error(here, monkeypatch):
    many = pl.concat([ROWS.with_columns(pl.col("score") + i) for i in range(800)])
    many.write_parquet(here / "many.parquet")
    monkeypatch.setattr(calls, "_OVERHEAD", 10**9 - 2 * 10**6)
    code, text = said("curve", "many.parquet", *TRUTH, "--memory", "1GB")
    assert code == 2
    assert "--memory is too little for these rows. Allowed: more. Hint: --thresholds 1000" in text


def test_sizes_have_units():
    for text, size in {"1GB": 10**9, "1.5GiB": 3 * 2**29, "2 gb": 2 * 10**9}.items():
        assert calls.size(text) == size


# --- scratch files, progress, and signals ------------------------------------------------------


def test_scratch_files_lie_beside_the_output_and_are_removed(here, monkeypatch):
    seen, sink = [], pl.LazyFrame.sink_parquet
    monkeypatch.setattr(
        pl.LazyFrame, "sink_parquet", lambda *a, **k: (seen.append(leftovers(here)), sink(*a, **k))
    )
    asked = ["curve", "many.parquet", *TRUTH, "-b", "day", "--memory", "1GB", "-o", "c.csv"]
    assert run(*asked)[0] == 0
    assert all(seen)
    assert leftovers(here) == []
    assert pl.read_csv(here / "c.csv").height > 400


# A program that stays once it has copied the rows.
STUCK = """
import sys, time
from frame_prc.cli import main, calls
def stay(*_):
    open("reached", "w").close()
    while True:
        time.sleep(0.1)
calls.computed = stay
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("by", [signal.SIGTERM])
def test_a_signal_leaves_what_was_there(here, by):
    (here / "old.csv").write_text("old")
    asked = ["curve", "many.parquet", *TRUTH, "-b", "day", "--memory", "1GB", "-o", "old.csv"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = subprocess.Popen([sys.executable, "-c", STUCK, *asked], **pipes)  # noqa: S603
    while not (here / "reached").exists():
        assert running.poll() is None, running.communicate()
    assert leftovers(here)
    running.send_signal(by)
    assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 128 + by
    assert (here / "old.csv").read_text() == "old"
    assert leftovers(here) == []
