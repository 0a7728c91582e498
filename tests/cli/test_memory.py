"""Files that do not fit in ``--memory``: the results of passes are those of all rows at once."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from itertools import cycle

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
    w=(pl.col("row") % 3 + 1).cast(pl.Float64) / 8,
)
TRUTH = ["-t", "late", "-s", "score"]
LINES = {
    "ap": ["ap", *TRUTH],
    "interval": ["ap", *TRUTH, "--ci", ".9"],
    "summary": ["summary", *TRUTH, "--details"],
    "counts": ["counts", *TRUTH],
    "long summary": ["summary", "-t", "later", "-s", "score", "--model", "name", "--details"],
    "curve": ["curve", *TRUTH],
    "corners": ["curve", *TRUTH, "--keep", "corners", "--envelope"],
    "points": ["points", *TRUTH, "--recall", "0.5,0.9", "--f-beta", "1"],
    "models": ["summary", "-t", "late", "-s", "score", "-s", "other", "--details"],
    "named models": ["curve", "-t", "late", "-s", "z=score", "-s", "a=other"],
    "long": ["ap", *TRUTH, "--model", "name"],
    "label": ["ap", "-t", "answer", "-s", "score", "--pos-label", "yes"],
    "weights": ["counts", *TRUTH, "-w", "w", "--squares"],
    "ascending": ["curve", *TRUTH, "--ascending"],
}
# Sums of floats, whose last digit depends on how many threads add them up.
AREAS = ("average_precision", "std_error", "ci_low", "ci_high", "lift")
SEGMENTS = {
    "one key": ["-b", "region"],
    "two keys": ["-b", "day", "-b", "region"],
}


PASSES = [*zip(LINES, cycle(SEGMENTS))]


@pytest.fixture(autouse=True)
def files(here):
    ROWS.write_parquet(here / "many.parquet", row_group_size=100)
    ROWS.write_csv(here / "many.csv")


@pytest.fixture
def most(monkeypatch):
    """Return a function that sets how many rows fit in memory."""

    def allow(rows: int) -> None:
        monkeypatch.setattr(_passes, "rows_at_once", lambda *_: rows)

    return allow


def table(*arguments: str) -> pl.DataFrame:
    code, out, err = run(*arguments, "-f", "ndjson")
    assert (code, err) == (0, "")
    return pl.read_ndjson(io.StringIO(out), infer_schema_length=None)


def both(*arguments: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the results with and without passes."""
    return table(*arguments, "--memory", "1GB"), table(*arguments)


def assert_same(in_passes: pl.DataFrame, at_once: pl.DataFrame, rel_tol: float = 1e-14) -> None:
    """Compare counts, and what is computed from those of one point, exactly; and areas closely."""
    areas = [name for name in at_once.columns if name.endswith(AREAS)]
    assert_frame_equal(in_passes.drop(areas), at_once.drop(areas), check_exact=True)
    assert_frame_equal(in_passes.select(areas), at_once.select(areas), abs_tol=0, rel_tol=rel_tol)


# --- whole segments ----------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "by"), [*PASSES[:5], *also(*PASSES[5:])])
def test_passes_give_what_all_rows_give_at_once(most, line, by):
    most(160)
    in_passes, at_once = both(LINES[line][0], "many.parquet", *LINES[line][1:], *SEGMENTS[by])
    assert_same(in_passes, at_once)


def test_all_rows_may_be_one_segment(most):
    most(250)
    for line in (LINES["counts"], LINES["curve"], LINES["ascending"]):
        assert_frame_equal(*both(line[0], "many.parquet", *line[1:]), check_exact=True)


# --- a segment that does not fit ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "by", "rows"),
    [
        ("ap", [], 60),
        ("counts", ["-b", "size"], 100),
        ("curve", ["-b", "size", "-b", "day"], 60),
        *also(
            ("label", ["-b", "size"], 300),
            ("ascending", [], 100),
            ("ascending", ["-b", "size"], 60),
            ("named models", ["-b", "size"], 100),
        ),
    ],
    ids=str,
)
def test_large_segments_are_counted_in_ranges_of_scores(most, line, by, rows):
    most(rows)
    in_passes, at_once = both(LINES[line][0], "many.parquet", *LINES[line][1:], *by)
    assert_same(in_passes, at_once)


@pytest.mark.parametrize("line", ["points", "models", *also("interval", "summary", "corners")])
def test_scores_that_repeat_fit_as_counts(most, line):
    most(250)
    in_passes, at_once = both(LINES[line][0], "many.parquet", *LINES[line][1:], "-b", "size")
    assert_same(in_passes, at_once, rel_tol=1e-12)


@pytest.mark.parametrize("verb", ["curve", *also("counts", "ap")])
def test_weights_of_large_segments_add_up_to_twelve_digits(most, verb):
    most(60)
    in_passes, at_once = both(verb, "many.parquet", *TRUTH, "-w", "w", "-b", "size")
    assert_frame_equal(in_passes, at_once, abs_tol=0, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["points", *TRUTH, "--recall", "0.5"], "this command needs all scores of a segment"),
        (["ap", *TRUTH, "--ci", ".9"], "--ci needs all scores of a segment at once"),
        (["curve", *TRUTH, "--envelope"], "--envelope needs all scores of a segment at once"),
        (["ap", *TRUTH, "--missing", "drop"], "--missing needs all rows of a segment at once"),
        (["ap", *TRUTH, "--ci", ".9", "--cluster", "day"], "--cluster needs all rows"),
    ],
)
def test_what_a_large_segment_cannot_answer_is_one_error(most, line, says):
    most(60)
    code, text = said(line[0], "many.parquet", *line[1:], "-b", "size", "--memory", "1GB")
    assert code == 2
    assert f"--memory is too little for a segment of 200 rows: {says}" in text
    assert text.endswith("Hint: --thresholds 1000 bins the scores, and needs no --memory.")


# --- other files and rows ----------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["curve"])
def test_several_files_and_text_are_read_in_passes(most, here, verb):
    most(160)
    ROWS.head(200).write_csv(here / "first.csv")
    ROWS.tail(400).write_csv(here / "last.csv")
    expected = table(verb, "many.csv", *TRUTH, "-b", "region")
    for files in (["many.csv"], ["first.csv", "last.csv"]):
        assert_same(table(verb, *files, *TRUTH, "-b", "region", "--memory", "1GB"), expected)


def test_dropped_rows_and_clusters_of_whole_segments_are_as_at_once(most, here):
    most(160)
    score = pl.when(pl.col("day") < 4).then("score")
    ROWS.with_columns(score).write_parquet(here / "holes.parquet")
    asked = ["holes.parquet", *TRUTH, "-b", "region", "--ci", ".9", "--cluster", "day"]
    in_passes, at_once = both("ap", *asked, "--missing", "drop")
    assert at_once["n_dropped"].sum() > 0
    assert_same(in_passes, at_once)


@pytest.mark.parametrize("name", ["holes", *also("label")])
def test_bad_data_are_the_error_of_all_rows(most, here, name):
    most(160)
    holes = ROWS.with_columns(score=pl.when(pl.col("day") < 4).then("score"))
    (holes if name == "holes" else ROWS).write_parquet(here / "bad.parquet")
    truth = ["-t", "late"] if name == "holes" else ["-t", "answer", "--pos-label", "Yes"]
    asked = ["ap", "bad.parquet", *truth, "-s", "score", "-b", "region"]
    assert said(*asked, "--memory", "1GB") == said(*asked)
    assert said(*asked)[0] == 1


def test_a_file_that_fits_is_read_at_once(monkeypatch):
    monkeypatch.setattr(pl, "PartitionBy", None)
    assert_frame_equal(*both("curve", "many.parquet", *TRUTH, "-b", "region"))


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("2 gb", 2 * 10**9)]
)
def test_sizes_have_units(text, size):
    assert _passes.size(text) == size


# --- scratch files, progress, and signals ------------------------------------------------------


def test_scratch_files_lie_beside_the_output_and_are_removed(most, here, monkeypatch):
    most(160)
    seen = []
    sink = pl.LazyFrame.sink_parquet
    monkeypatch.setattr(
        pl.LazyFrame, "sink_parquet", lambda *a, **k: (seen.append(leftovers(here)), sink(*a, **k))
    )
    assert (
        run("curve", "many.parquet", *TRUTH, "-b", "day", "--memory", "1GB", "-o", "c.csv")[0] == 0
    )
    assert all(len(names) >= 1 for names in seen)
    assert leftovers(here) == []
    assert pl.read_csv(here / "c.csv").height > 400


def test_scratch_files_are_removed_after_an_error(most, here, monkeypatch):
    most(60)
    monkeypatch.setenv("TMPDIR", str(here))
    monkeypatch.setattr("tempfile.tempdir", None)
    said("points", "many.parquet", *TRUTH, "--recall", ".5", "-b", "size", "--memory", "1GB")
    assert leftovers(here) == []


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
    both("summary", "many.parquet", *TRUTH, "-b", "day")
    assert shares == sorted(shares)
    assert [text for _, text in shares][-1] == "part 5 of 5"
