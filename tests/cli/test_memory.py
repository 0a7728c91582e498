"""Files that do not fit in ``--memory``: the results of passes are those of all rows at once."""

from __future__ import annotations

import io
import signal
import subprocess
import sys

import polars as pl
import pytest
from command_line import leftovers, run, said
from layers import also
from polars.testing import assert_frame_equal

from frame_prc.cli import passes as _passes
from frame_prc.cli import work as _work

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
    name=pl.when(pl.col("row") % 3 == 0).then(pl.lit("new")).otherwise(pl.lit("old")),
    gaps=pl.when(pl.col("row") % 5 != 0).then((pl.col("row") * 6007 % 211) / 211),
    w=(pl.col("row") % 3 + 1).cast(pl.Float64) / 8,
)
TRUTH = ["-t", "late", "-s", "score"]
ONE, TWO, SIZE = "-b region", "-b day -b region", "-b size"
# Whole segments of 150 rows, or parts of those of fewer.
WHOLE = [
    f"ap -t late -s score {ONE}",
    f"ap -t late -s score --ci .9 {TWO}",
    f"summary -t late -s score --details {ONE}",
    f"summary -t late -s gaps --missing unretrieved --details {ONE}",
    f"counts -t late -s score {TWO}",
    f"summary -t later -s score --model name --details {ONE}",
    *also(
        f"ap -t late -s gaps --missing drop --ci .9 --cluster day {ONE}",
        f"curve -t late -s score {TWO}",
        f"curve -t late -s score --keep corners --envelope {ONE}",
        f"points -t late -s score --recall 0.5,0.9 --f-beta 1 {TWO}",
        f"summary -t late -s score -s other --details {ONE}",
        f"summary -t late -s score -w w --calibrate pooled --details {ONE}",
        f"curve -t late -s z=score -s a=other {TWO}",
        f"ap -t late -s score --model name {ONE}",
        f"ap -t answer -s score --pos-label yes {TWO}",
        f"counts -t late -s score -w w --squares {ONE}",
        f"curve -t late -s score --ascending {TWO}",
    ),
]
# How many rows fit into memory, which a segment does not: its counts do, or those of a range.
LARGE = [
    (60, "ap -t late -s score"),
    (100, f"counts -t late -s score {SIZE}"),
    (60, f"curve -t late -s score {SIZE} -b day"),
    (250, f"points -t late -s score --recall 0.5,0.9 --f-beta 1 {SIZE}"),
    (250, f"summary -t late -s score -s other --details {SIZE}"),
    (60, f"curve -t late -s score -w w {SIZE}"),
    *also(
        (250, "counts -t late -s score"),
        (250, "curve -t late -s score"),
        (300, f"ap -t answer -s score --pos-label yes {SIZE}"),
        (100, "curve -t late -s score --ascending"),
        (60, f"curve -t late -s score --ascending {SIZE}"),
        (100, f"curve -t late -s z=score -s a=other {SIZE}"),
        (250, f"ap -t late -s score --ci .9 {SIZE}"),
        (250, f"summary -t late -s score --details {SIZE}"),
        (250, f"curve -t late -s score --keep corners --envelope {SIZE}"),
        (60, f"counts -t late -s score -w w {SIZE}"),
        (60, f"ap -t late -s score -w w {SIZE}"),
    ),
]
# Sums of floats, whose last digit depends on how many threads add them up.
AREAS = ("average_precision", "std_error", "_low", "_high", "lift", "roc_auc")


@pytest.fixture(autouse=True)
def files(here):
    ROWS.write_parquet(here / "many.parquet", row_group_size=100)
    ROWS.write_csv(here / "many.csv")


@pytest.fixture
def most(monkeypatch):
    """Return a function that sets how many rows fit in memory."""
    return lambda rows: monkeypatch.setattr(_passes, "rows_at_once", lambda *_: rows)


def table(line: str) -> pl.DataFrame:
    code, out, err = run(*line.split(), "-f", "ndjson")
    assert (code, err) == (0, "")
    return pl.read_ndjson(io.StringIO(out), infer_schema_length=None)


def assert_same(line: str, *files: str, rel_tol: float = 1e-14) -> None:
    """Compare counts, and what is computed from those of one point, exactly; and areas closely."""
    verb, _, options = line.partition(" ")
    at_once = table(f"{verb} many.parquet {options}")
    in_passes = table(f"{verb} {' '.join(files) or 'many.parquet'} {options} --memory 1GB")
    areas = [name for name in at_once.columns if name.endswith(AREAS)]
    if " -w " in line and rel_tol > 1e-14:
        areas = at_once.columns  # sums of weights of ranges have twelve digits
    assert_frame_equal(in_passes.drop(areas), at_once.drop(areas), check_exact=True)
    assert_frame_equal(in_passes.select(areas), at_once.select(areas), abs_tol=0, rel_tol=rel_tol)


@pytest.mark.parametrize("line", WHOLE)
def test_passes_give_what_all_rows_give_at_once(most, line):
    most(160)
    assert_same(line)


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "line"), LARGE)
def test_large_segments_are_counted_in_ranges_of_scores(most, rows, line):
    most(rows)
    # Only what counts by themselves answer has more digits.
    exact = rows < 250 and " -w " not in line
    assert_same(line, rel_tol=1e-14 if exact else 1e-12)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("points many.parquet --recall 0.5", "this command needs all scores of a segment"),
        ("ap many.parquet --ci .9", "--ci needs all scores of a segment at once"),
        ("curve many.parquet --envelope", "--envelope needs all scores of a segment at once"),
        ("ap many.parquet --missing drop", "--missing needs all rows of a segment at once"),
        ("ap many.parquet --ci .9 --cluster day", "--cluster needs all rows"),
    ],
)
def test_what_a_large_segment_cannot_answer_is_one_error(most, here, monkeypatch, line, says):
    most(60)
    monkeypatch.setenv("TMPDIR", str(here))
    monkeypatch.setattr("tempfile.tempdir", None)
    code, text = said(*line.split(), *TRUTH, "-b", "size", "--memory", "1GB")
    assert code == 2
    assert f"--memory is too little for a segment of 200 rows: {says}" in text
    assert text.endswith("Hint: --thresholds 1000 bins the scores, and needs no --memory.")
    assert leftovers(here) == []


def test_several_files_and_text_are_read_in_passes(most, here):
    most(160)
    ROWS.head(200).write_csv(here / "first.csv")
    ROWS.tail(400).write_csv(here / "last.csv")
    for files in (["many.csv"], ["first.csv", "last.csv"]):
        assert_same("curve -t late -s score -b region", *files)


@pytest.mark.parametrize("truth", ["late -s gaps", *also("answer --pos-label Yes -s score")])
def test_bad_data_are_the_error_of_all_rows(most, truth):
    most(160)
    asked = f"ap many.parquet -b region -t {truth}".split()
    assert said(*asked, "--memory", "1GB") == said(*asked)
    assert said(*asked)[0] == 1


def test_a_file_that_fits_is_read_at_once(monkeypatch):
    monkeypatch.setattr(pl, "PartitionBy", None)
    assert_same("curve -t late -s score -b region")


def test_sizes_have_units():
    for text, size in {"500MB": 5 * 10**8, "1.5GiB": 3 * 2**29, "2 gb": 2 * 10**9}.items():
        assert _passes.size(text) == size


# --- scratch files, progress, and signals ------------------------------------------------------


def test_scratch_files_lie_beside_the_output_and_are_removed(most, here, monkeypatch):
    most(160)
    seen, sink = [], pl.LazyFrame.sink_parquet
    monkeypatch.setattr(
        pl.LazyFrame, "sink_parquet", lambda *a, **k: (seen.append(leftovers(here)), sink(*a, **k))
    )
    asked = ["curve", "many.parquet", *TRUTH, "-b", "day", "--memory", "1GB", "-o", "c.csv"]
    assert run(*asked)[0] == 0
    assert all(seen)
    assert leftovers(here) == []
    assert pl.read_csv(here / "c.csv").height > 400


# A program that stays in the middle of the passes, once it has written the parts.
STUCK = """
import sys, time
import polars as pl
from frame_prc.cli import main, passes
passes.rows_at_once = lambda *_: 160
def stay(*_):
    open("reached", "w").close()
    while True:
        time.sleep(0.1)
passes._of_model = stay
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_passes_leaves_what_was_there(here, by):
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


def test_the_bar_only_grows(most, monkeypatch):
    most(160)
    shares = []
    monkeypatch.setattr(_work.Progress, "set", lambda _, text, share: shares.append((share, text)))
    table("summary many.parquet -t late -s score -b day --memory 1GB")
    assert shares == sorted(shares)
    assert [text for _, text in shares][-1] == "part 5 of 5"
