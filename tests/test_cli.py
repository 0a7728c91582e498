"""The command line: as a process, and, for what it says, in this one."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import gzip
import inspect
import io
import json
import math
import os
import pty
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc.cli import app as _app
from frame_prc.cli import commands as _commands
from frame_prc.cli import input as _input
from frame_prc.cli import parameters as _parameters
from frame_prc.cli import work as _work

PROGRAM = [sys.executable, "-W", "error", "-m", "frame_prc"]
README = Path(__file__).parents[1] / "README.md"
ROWS = pl.DataFrame(
    {
        "late": [True, False, True, False, True, False],
        "said": ["yes", "no", "yes", "no", "yes", "no"],
        "number": [1, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.1],
        "other": [0.1, 0.2, 0.9, 0.3, 0.8, 0.4],
        "region": ["north", "north", "north", "south", "south", "south"],
        "w": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0],
        "user": [1, 1, 2, 2, 3, 3],
    }
)
ASKED = ["-t", "late", "-s", "score"]
WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda df, path: df.write_csv(path, separator="\t"),
    "arrow": pl.DataFrame.write_ipc,
    "ndjson": pl.DataFrame.write_ndjson,
}
READERS = {
    "parquet": pl.read_parquet,
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "arrow": pl.read_ipc,
    "feather": pl.read_ipc,
    "ndjson": pl.read_ndjson,
    "jsonl": pl.read_ndjson,
    "json": pl.read_json,
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Return a folder with a file of rows of each kind, in which everything runs."""
    monkeypatch.chdir(tmp_path)
    for kind, write in WRITERS.items():
        write(ROWS, tmp_path / f"rows.{kind}")
    return tmp_path


def start(*arguments: str, **options) -> subprocess.Popen:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*PROGRAM, *arguments], **pipes | options)  # noqa: S603


def process(*arguments: str, given: bytes | None = None, **options) -> tuple[int, str, str]:
    """Return the exit code of a process, and what it wrote to both outputs."""
    pipe = {} if given is None else {"stdin": subprocess.PIPE}
    started = start(*arguments, **pipe, **options)
    out, err = started.communicate(given)
    return started.returncode, (out or b"").decode(), (err or b"").decode()


def run(*arguments: str, given: bytes | None = None) -> tuple[int, str, str]:
    """Return what :func:`process` does, without a process unless something is piped in."""
    if given is not None:
        return process(*arguments, given=given)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _app.run(arguments)
    for stream in (out, err):
        stream.flush()
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def result(*arguments: str, given: bytes | None = None) -> pl.DataFrame:
    """Return the table that was printed, with nothing to complain of."""
    code, out, err = run(*arguments, given=given)
    assert (code, err) == (0, "")
    return pl.read_csv(io.StringIO(out), separator="\t")


def said(*arguments: str) -> tuple[int, str]:
    """Return the exit code, and the one line that was said, with nothing on standard output."""
    code, out, err = run(*arguments)
    assert out == ""
    assert err.startswith("frame-prc: ")
    assert err.count("\n") == 1
    return code, err.removeprefix("frame-prc: ").rstrip("\n")


def leftovers(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if ".part" in name]


# --- commands and options -----------------------------------------------------------------------


@pytest.mark.parametrize("command", _commands.COMMANDS, ids=lambda command: command.name)
def test_every_parameter_of_a_verb_is_an_option(command):
    verb = inspect.signature(getattr(frame_prc, command.verb))
    parameters = [name for name in verb.parameters if name not in {"frame", "path"}]
    code, help_text, _ = run(command.name, "--help")
    assert code == 0
    flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", help_text, flags=re.MULTILINE)
    expected = ["--" + name.replace("_", "-") for name in parameters]
    assert flags[: len(expected)] == expected
    assert " ".join(command.example.split()) in " ".join(help_text.split())


@pytest.mark.parametrize(
    ("line", "verb", "asked"),
    [
        ("ap --ci .9 --cluster user", "average_precision", {"ci": 0.9, "cluster": "user"}),
        (
            "ap -w w --thresholds .0,.5",
            "average_precision",
            {"weight": "w", "thresholds": [0, 0.5]},
        ),
        ("curve --keep corners --start first", "curve", {"keep": "corners", "start": "first"}),
        ("curve --keep 5 --envelope", "curve", {"keep": 5, "envelope": True}),
        ("curve --thresholds 5 --start none", "curve", {"thresholds": 5, "start": None}),
        ("summary --overall", "summary", {"overall": True}),
        ("compare -s other --adjust none", "compare", {"score": ["score", "other"]}),
        (
            "compare -s other --baseline other",
            "compare",
            {"score": ["score", "other"], "baseline": "other"},
        ),
        (
            "points --recall .5,1 --f-beta 1 --f-beta 2",
            "operating_points",
            {"recall": [0.5, 1], "f_beta": [1, 2]},
        ),
        ("counts --squares", "counts", {"squares": True}),
        ("counts -w w --thresholds 3", "counts", {"weight": "w", "thresholds": 3}),
    ],
)
def test_a_command_gives_what_its_verb_gives(here, line, verb, asked):
    command, *options = line.split()
    arguments = [command, "rows.parquet", *ASKED, "--by", "region", *options]
    code, out, err = run(*arguments, "-o", "out.parquet")
    assert (code, out, err) == (0, "", "")
    expected = getattr(frame_prc, verb)(
        ROWS, **{"truth": "late", "score": "score", "by": "region"} | asked
    )
    assert_frame_equal(pl.read_parquet(here / "out.parquet"), expected, rel_tol=1e-12)


def test_several_columns_are_repeated_or_separated_by_commas():
    ROWS.with_columns(ROWS["region"].alias("a,b")).write_parquet("commas.parquet")
    commas = result("ap", "commas.parquet", "-t", "late", "-s", "score,other", "-b", "region,user")
    repeated = result(
        *("ap", "commas.parquet", "-t", "late", "-s", "score", "-s", "other"),
        *("-b", "region", "-b", "user"),
    )
    assert_frame_equal(commas, repeated)
    assert commas.columns[:3] == ["model", "region", "user"]
    assert result("ap", "commas.parquet", *ASKED, "-b", "a,b").columns[0] == "a,b"


def test_a_model_is_named_before_its_column():
    named = result("ap", "rows.parquet", "-t", "late", "-s", "old=score", "-s", "new=other")
    assert named["model"].to_list() == ["new", "old"]
    ROWS.rename({"score": "a=b"}).write_parquet("equals.parquet")
    assert "model" not in result("ap", "equals.parquet", "-t", "late", "-s", "a=b").columns


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("yes", pl.String(), "yes"),
        ("1", pl.String(), "1"),
        ("1", pl.Int8(), 1),
        ("1", pl.UInt64(), 1),
        ("1", pl.Float32(), 1.0),
        ("1.5", pl.Decimal(5, 2), Decimal("1.5")),
        ("true", pl.Boolean(), True),
        ("False", pl.Boolean(), False),
        ("yes", pl.Boolean(), "yes"),
        ("one", pl.Int64(), "one"),
        ("one", pl.Decimal(5, 2), "one"),
        ("2024-02-03", pl.Date(), dt.date(2024, 2, 3)),
        ("2024-02-03T04:05", pl.Datetime("us"), dt.datetime(2024, 2, 3, 4, 5)),
        ("04:05", pl.Time(), dt.time(4, 5)),
        ("yes", pl.Enum(["yes", "no"]), "yes"),
    ],
    ids=str,
)
def test_a_label_has_the_dtype_of_its_truth(text, dtype, value):
    label = _parameters.label(text, dtype)
    assert (label, type(label)) == (value, type(value))


@pytest.mark.parametrize(
    ("column", "label"), [("said", "yes"), ("number", "1"), ("late", "true"), ("day", "2024-01-02")]
)
def test_the_positive_label_is_found_in_a_column_of_any_dtype(column, label):
    day = pl.when("late").then(dt.date(2024, 1, 2)).otherwise(dt.date(2024, 1, 3))
    ROWS.with_columns(day=day).write_parquet("days.parquet")
    table = result("ap", "days.parquet", "-t", column, "-s", "score", "--pos-label", label)
    assert table["n_pos"].to_list() == [3]


# --- what comes in ------------------------------------------------------------------------------

AP = (1 + 2 / 3 + 3 / 5) / 3  # of the scores of ROWS: hits at ranks 1, 3 and 5


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_is_read_from_a_path_and_from_a_pipe(here, kind):
    path = here / f"rows.{kind}"
    for table in (
        result("ap", path.name, *ASKED),
        result("ap", "-", *ASKED, given=path.read_bytes()),
    ):
        assert table.row(0) == (6, 3, 0.5, pytest.approx(AP, rel=1e-12), "ok")


@pytest.mark.parametrize("kind", ["csv", "tsv", "ndjson"])
def test_compressed_text_is_read(here, kind):
    data = gzip.compress((here / f"rows.{kind}").read_bytes())
    (here / f"rows.{kind}.gz").write_bytes(data)
    expected = result("ap", f"rows.{kind}", *ASKED)
    assert_frame_equal(result("ap", f"rows.{kind}.gz", *ASKED), expected)
    if kind != "tsv":
        assert_frame_equal(result("ap", "-", *ASKED, given=data), expected)


def test_text_is_read_in_its_dialect(here):
    (here / "rows.txt").write_text("late;score\n1;0,9\n0;NA\n0;0,5\n1;0,4\n")
    words = ["--input-format", "csv", "--separator", ";", "--decimal-comma", "--null-value", "NA"]
    table = result("ap", "rows.txt", *ASKED, *words, "--missing", "drop")
    assert table.row(0) == (3, 2, 2 / 3, (1 + 2 / 3) / 2, "ok", 1)
    (here / "tabs.csv").write_text("late\tscore\n1\t.9\n0\t.5\n")
    assert result("ap", "tabs.csv", *ASKED, "--separator", "tab")["n"].to_list() == [2]


@pytest.mark.parametrize("names", [["empty.csv", "rows.csv"], ["rows.csv", "empty.csv"]])
def test_a_file_that_is_only_a_header_changes_nothing_beside_others(here, names):
    (here / "empty.csv").write_text((here / "rows.csv").read_text().partition("\n")[0] + "\n")
    assert_frame_equal(result("ap", *names, *ASKED), result("ap", "rows.csv", *ASKED))
    code, line = said("ap", "empty.csv", "empty.csv", *ASKED)
    assert (code, "a header and no rows" in line) == (1, True)


def test_globs_and_paths_are_one_frame():
    for place in range(3):
        ROWS.write_parquet(f"part-{place}.parquet")
    ROWS.write_parquet("[odd] name.parquet")
    assert result("ap", "part-*.parquet", *ASKED)["n"].item() == 18
    assert result("ap", "part-0.parquet", "[odd] name.parquet", *ASKED)["n"].item() == 12
    assert result("ap", "**/part-[12].parquet", *ASKED)["n"].item() == 12


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("thresholds", [[], ["--thresholds", "3"]], ids=["exact", "binned"])
def test_files_counted_one_by_one_are_counted_as_one(here, monkeypatch, kind, thresholds):
    # The label is not in the first file, and no file begins with all keys.
    parts = [ROWS.filter(~pl.col("late")), ROWS, ROWS.filter("late")]
    for place, part in enumerate(parts):
        WRITERS[kind](part, here / f"part-{place}.{kind}")
    monkeypatch.setattr(_input, "PART", 2)  # rows at once, where files can be read in parts
    asked = ["-t", "said", "-s", "score", "-b", "region", "--pos-label", "yes", *thresholds]
    counted = result("counts", f"part-*.{kind}", *asked)
    bins = 3 if thresholds else None
    together = frame_prc.counts(
        pl.concat(parts), "said", "score", by="region", pos_label="yes", thresholds=bins
    )
    assert_frame_equal(counted, together)


def test_counts_add_up_in_any_command():
    for name in ("monday", "tuesday"):
        run("counts", "rows.parquet", *ASKED, "-o", f"{name}.arrow")
    asked = ["-s", "threshold", "--pos", "pos", "--neg", "neg"]
    table = result("ap", "monday.arrow", "tuesday.arrow", *asked)
    assert table.row(0) == (12, 6, 0.5, pytest.approx(AP, rel=1e-12), "ok")


# --- what comes out -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", READERS)
def test_the_suffix_says_how_a_file_is_written(here, suffix):
    code, out, err = run("curve", "rows.parquet", *ASKED, "--start", "none", "-o", f"c.{suffix}")
    assert (code, out, err) == (0, "", "")
    expected = frame_prc.curve(ROWS, "late", "score", start=None)
    assert_frame_equal(READERS[suffix](here / f"c.{suffix}"), expected, check_exact=True)
    assert leftovers(here) == []


@pytest.mark.parametrize("form", ["csv", "tsv", "ndjson", "json"])
def test_a_format_is_all_there_is_on_standard_output(form):
    arguments = ["curve", "rows.parquet", *ASKED, "--start", "none", "--format", form]
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    rows = READERS[form](io.StringIO(out) if form != "ndjson" else io.BytesIO(out.encode()))
    expected = frame_prc.curve(ROWS, "late", "score", start=None)
    assert_frame_equal(rows, expected, check_exact=True)


def test_a_pipe_gets_lines_with_tabs():
    _, out, _ = run("ap", "rows.parquet", *ASKED)
    _, tsv, _ = run("ap", "rows.parquet", *ASKED, "-f", "tsv")
    assert out == tsv
    assert out.startswith("n\tn_pos\tprevalence\taverage_precision\tstatus\n6\t3\t0.5\t")


def test_json_says_infinity_in_a_word_and_undefined_with_null():
    rows = ROWS.with_columns(late=False, day=dt.date(2024, 1, 2), name=pl.lit('é "x"\t'))
    rows.write_parquet("none.parquet")
    asked = ["curve", "none.parquet", *ASKED, "-b", "day", "-b", "name", "-f", "json"]
    code, out, _ = run(*asked)
    first = json.loads(out, parse_constant=pytest.fail)[0]
    assert code == 0
    assert (first["day"], first["name"]) == ("2024-01-02", 'é "x"\t')
    assert (first["threshold"], first["recall"]) == ("Infinity", None)
    assert float(first["threshold"]) == float("inf")


def test_json_of_no_rows_is_an_empty_list():
    ROWS.clear().write_parquet("empty.parquet")
    assert run("curve", "empty.parquet", *ASKED, "-f", "json") == (0, "[]\n", "")


def terminal(*arguments: str, width: int) -> str:
    """Return what a process prints to a terminal of this width, without colours."""
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": str(width), "TERM": "xterm"}
    with start(*arguments, stdout=slave, env=environment) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                text += os.read(master, 1 << 16)
            except OSError:  # as Linux says that the other end is closed
                break
        assert process.wait() == 0, process.stderr.read()
    os.close(master)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.decode()).replace("\r", "")


def test_a_terminal_gets_a_table():
    lines = terminal("ap", "rows.parquet", *ASKED, "-b", "region", width=100).splitlines()
    assert lines[0].split() == ["average_"]
    assert lines[1].split() == ["region", "n", "n_pos", "prevalence", "precision", "status"]
    assert [line.split() for line in lines[3:]] == [
        ["north", "3", "2", "0.6667", "0.8333", "ok"],
        ["south", "3", "1", "0.3333", "0.5000", "ok"],
    ]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_table_that_is_too_wide_repeats_its_keys(width):
    text = terminal("summary", "rows.parquet", *ASKED, "-b", "region", "--overall", width=width)
    assert max(map(len, text.splitlines())) <= width
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        rows = [line.split()[:2] for line in block.splitlines()[-4:]]
        assert rows == [
            ["segment", "north"],
            ["segment", "south"],
            ["pooled", "null"],
            ["macro", "null"],
        ]
    columns = frame_prc.summary(ROWS, "late", "score", by="region", overall=True).columns
    for word in {word for name in columns for word in name.split("_") if word}:
        assert word in text


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_a_threshold_on_a_terminal_can_be_copied(dtype):
    rows = ROWS.with_columns((pl.col("score") / 3).cast(dtype))
    rows.write_parquet("thirds.parquet")
    text = terminal("points", "thirds.parquet", *ASKED, "--recall", ".5,1", width=200)
    shown = pl.Series([line.split()[2] for line in text.splitlines()[-2:]])
    expected = rows.prc.operating_points("late", "score", recall=[0.5, 1.0])["threshold"]
    assert shown.cast(dtype).equals(expected)
    assert shown.str.len_chars().min() > len("0.1234")


def test_a_wide_table_says_in_each_block_which_row_is_which():
    wide = ["-b", "region", "--recall", ".5", "--threshold", ".3"]
    text = terminal("points", "rows.parquet", *ASKED, *wide, width=80)
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        rows = [line.split()[:3] for line in block.splitlines()[-4:]]
        assert rows == [
            ["north", "recall", "0.5000"],
            ["north", "threshold", "0.3000"],
            ["south", "recall", "0.5000"],
            ["south", "threshold", "0.3000"],
        ]


def test_a_long_table_says_how_many_rows_more_there_are():
    long = pl.DataFrame({"late": [True, False] * 150, "score": [i / 1000 for i in range(300)]})
    long.write_parquet("long.parquet")
    text = terminal("counts", "long.parquet", *ASKED, width=80)
    assert re.search(r"^ +0\.1 +1 +0$", text, flags=re.MULTILINE)
    assert "0.0990" not in text
    assert text.splitlines()[-1] == (
        "... and 100 more rows. Hint: -o FILE writes all of them, --format tsv prints them."
    )
    assert len(run("counts", "long.parquet", *ASKED)[1].splitlines()) == 301


# --- what is wrong ------------------------------------------------------------------------------

SUFFIXES = ".parquet, .pq, .csv, .tsv, .tab, .arrow, .feather, .ipc, .ndjson, .jsonl"
WRITTEN = ".parquet, .csv, .tsv, .arrow, .feather, .ndjson, .jsonl, .json"
USAGE = [
    (
        "ap rows.csv",
        "--truth is not given. Allowed: --truth for single rows, or --pos and --neg for "
        "aggregated rows.",
    ),
    ("ap rows.csv -t late", "--score is not given. Allowed: one column, or several."),
    (
        "ap rows.csv -t lat -s score",
        "--truth names 'lat', which is no column. Hint: did you mean 'late'?",
    ),
    (
        "ap rows.csv -t late -s score -b region,usr",
        "--by names 'usr', which is no column. Hint: did you mean 'user'?",
    ),
    (
        "ap rows.csv -t said -s score",
        "--truth column 'said' has dtype String. Allowed: Boolean, or "
        "0/1 numbers, or any dtype with --pos-label. Hint: name the positive class, for example "
        "--pos-label yes.",
    ),
    (
        "ap rows.csv -t late -s region",
        "--score column 'region' holds text: 'north', 'south'. Allowed: numbers. Hint: is it "
        "the column that was meant?",
    ),
    (
        "ap rows.csv -t late -s score --pos-label yes",
        "--pos-label yes cannot be a value of --truth "
        "column 'late' of dtype Boolean. Allowed: a value of dtype Boolean. Hint: without it "
        "true is the positive class.",
    ),
    (
        "ap rows.csv -t late -s score -s score",
        "--score names 'score' twice. Allowed: each model "
        "once. Hint: name them, as in -s first=COLUMN -s second=COLUMN.",
    ),
    (
        "ap rows.csv -t late -s a=score -s a=other",
        "--score names a model 'a' twice. Allowed: each model once.",
    ),
    (
        "ap rows.csv -t late -s late",
        "column 'late' is named in --truth and --score. Allowed: each column once.",
    ),
    ("ap rows.csv -s score --pos w", "--neg is not given. Allowed: --pos and --neg together."),
    (
        "ap rows.csv -t late -s score --ci 95",
        "--ci 95.0 is not a level. Allowed: a number between 0 and 1. Hint: 95.0 % is --ci 0.95.",
    ),
    (
        "ap rows.csv -t late -s score --missing maybe",
        "--missing maybe is not an option. Allowed: 'raise', 'drop', 'unretrieved'.",
    ),
    (
        "ap rows.csv -t late -s score --average macro",
        "--average is given without --over. Allowed: --over and --average together.",
    ),
    (
        "ap rows.csv -t late -s score --cluster user",
        "--cluster is given without --ci. Allowed: both, for example --ci 0.95.",
    ),
    (
        "ap rows.csv -t late -s score --seed 1",
        "--replicates, --seed or --stratified is given with "
        "--ci-method influence. Allowed: these with --ci-method bootstrap.",
    ),
    (
        "ap rows.csv -t late -s score --stratified --cluster user --ci .9 --ci-method bootstrap",
        "--stratified is given with --cluster. Allowed: one of them. Hint: whole clusters are "
        "drawn, and bring the rows of both classes that they have.",
    ),
    (
        "curve rows.csv -t late -s score --start two",
        "--start two is not an option. Allowed: 'one', 'first', none.",
    ),
    (
        "curve rows.csv -t late -s score --keep some",
        "--keep some is not an option. Allowed: 'all', 'corners', or a number of points from 5 on.",
    ),
    (
        "curve rows.csv -t late -s score --thresholds .5,.1",
        "--thresholds are not ascending: 0.1 "
        "comes after 0.5. Allowed: a number of thresholds from 2 on, or ascending numbers such as "
        ".1,.5,.9.",
    ),
    (
        "curve rows.csv -t late -s score --thresholds 1",
        "--thresholds 1 gives no thresholds. "
        "Allowed: a number of thresholds from 2 on, or ascending numbers such as .1,.5,.9.",
    ),
    (
        "curve rows.csv -t late -s score --thresholds 3.0",
        "--thresholds 3.0 is a single threshold beyond 1, or a number of thresholds. Allowed: an "
        "integer for so many thresholds, or a list of them. Hint: --thresholds 3.",
    ),
    (
        "ap rows.csv -t late -s score --text Region",
        "--text Region is no column of 'rows.csv'. Hint: did you mean 'region'?",
    ),
    (
        "ggplot rows.csv -t late -s score -o x.png",
        "--output 'x.png' has the suffix '.png'. Allowed: .tsv, .csv, .parquet, .arrow, .feather.",
    ),
    (
        "curve rows.csv -t late -s score --thresholds x",
        "'x' is not a number. Allowed: numbers, such as .9 or .5,.9.",
    ),
    (
        "curve rows.csv -t late -s score -w w --ci .9",
        "--ci of a curve is for counts of rows, and "
        "these are sums of weights. Allowed: rows without --weight, or integer counts.",
    ),
    (
        "compare rows.csv -t late -s score",
        "--score names one model. Allowed: two or more, as in "
        "-s one -s two. Hint: --against rest compares the segments of one model.",
    ),
    (
        "compare rows.csv -t late -s score,other --baseline x",
        "--baseline x is no model. Allowed: 'score', 'other'.",
    ),
    (
        "compare rows.csv -t late -s score,other --adjust x",
        "--adjust x is not an option. Allowed: none, 'holm', 'bh'.",
    ),
    (
        "compare rows.csv -t late -s score --against rest",
        "--against rest is given without --by. Allowed: --by to make the segments to compare.",
    ),
    (
        "points rows.csv -t late -s score",
        "no target is given. Allowed: one or more of --recall, "
        "--precision, --threshold, --f-beta, --predicted-rate.",
    ),
    (
        "points rows.csv -t late -s score --recall 2",
        "--recall 2.0 is out of range. Allowed: numbers above 0 and up to 1. "
        "Hint: 2.0 % is --recall 0.02.",
    ),
    (
        "ap rows.csv -t late -s score --unknown",
        "no such option: --unknown. Hint: frame-prc ap --help",
    ),
    ("ap", "missing argument 'FILE...'. Hint: frame-prc ap --help"),
    ("no", "no such command 'no'. Hint: frame-prc --help"),
    # files
    ("ap no.csv -t late -s score", "there is no file 'no.csv'. Hint: ls shows what is there."),
    ("ap row.csv -t late -s score", "there is no file 'row.csv'. Hint: did you mean 'rows.csv'?"),
    (
        "ap no/rows.csv -t late -s score",
        "there is no file 'no/rows.csv'. Hint: there is no folder 'no' either.",
    ),
    ("ap no-*.csv -t late -s score", "'no-*.csv' matches no file. Hint: ls shows what is there."),
    (
        "ap folder -t late -s score",
        "'folder' is a folder. Allowed: files, or a glob of them. Hint: "
        "'folder/*.csv' names the files in it.",
    ),
    ("ap nothing -t late -s score", "'nothing' is a folder. Allowed: files, or a glob of them."),
    (
        "ap rows.txt -t late -s score",
        "the suffix of 'rows.txt' does not say what kind of file it "
        f"is. Allowed: {SUFFIXES}. Hint: --input-format csv reads it as CSV.",
    ),
    (
        "ap rows.csv rows.tsv -t late -s score",
        "the files are of several kinds: 'rows.csv' is CSV, "
        "'rows.tsv' is TSV. Allowed: files of one kind.",
    ),
    (
        "ap rows.csv - -t late -s score",
        "'-' is given beside files. Allowed: standard input, or files.",
    ),
    (
        "ap semicolons.csv -t late -s score",
        "'semicolons.csv' has a single column, named "
        "'late;score'. Allowed: columns with the separator between them. Hint: --separator ';'.",
    ),
    (
        "ap rows.tsv -t late -s score --separator ,",
        "'rows.tsv' has a single column, named "
        "'late\\tsaid\\tnumber\\tscore\\tother\\tregion\\tw\\tuser'. Allowed: columns with the "
        "separator between them. Hint: --separator tab.",
    ),
    (
        "ap rows.csv -t late -s score --separator ab",
        "--separator ab is not a separator. Allowed: one character, or 'tab'.",
    ),
    (
        "ap rows.csv -t late -s score --input-format xls",
        "--input-format xls is not known. Allowed: parquet, csv, tsv, arrow, ndjson.",
    ),
    (
        "ap rows.csv -t late -s score -o t.xlsx",
        f"the suffix of 't.xlsx' does not say how to write it. Allowed: {WRITTEN}.",
    ),
    (
        "ap rows.csv -t late -s score -o folder",
        "'folder' is a folder. Allowed: the path of a file.",
    ),
    (
        "ap rows.csv -t late -s score -o /proc/t.csv",
        "'/proc/t.csv' cannot be written: No such file "
        "or directory. Hint: nothing was changed there.",
    ),
    (
        "ap rows.csv -t late -s score -o t.csv -f csv",
        "--format is given with --output. Allowed: one "
        "of them. Hint: the suffix of the file says how.",
    ),
    (
        "ap rows.csv -t late -s score -f xml",
        "--format xml is not known. Allowed: table, json, ndjson, csv, tsv.",
    ),
]
DATA = [
    (
        "ap gaps.csv -t late -s score",
        "values are missing: 'score' has 1 row with null or NaN. "
        "Allowed: no null, and no NaN in truth or score. Hint: --missing drop leaves such "
        "rows out; --missing unretrieved keeps rows without a score in the totals, as never "
        "retrieved.",
    ),
    (
        "counts gaps.csv gaps.csv -t late -s score",
        "'gaps.csv': values are missing: 'score' has 1 "
        "row with null or NaN. Allowed: no null, and no NaN in truth or score. Hint: --missing "
        "drop leaves such rows out; --missing unretrieved keeps rows without a score in the "
        "totals, as never retrieved.",
    ),
    (
        "ap rows.csv -t said -s score --pos-label maybe",
        "--pos-label maybe is nowhere in --truth "
        "column 'said', which holds 'no', 'yes'. Allowed: a value that occurs.",
    ),
    (
        "counts rows.csv rows.csv -t said -s score --pos-label maybe",
        "--pos-label maybe is nowhere "
        "in --truth column 'said', which holds 'no', 'yes'. Allowed: a value that occurs.",
    ),
    (
        "ap rows.csv -t user -s score",
        "--truth column 'user' has 4 rows outside 0 and 1: 2, 3. "
        "Allowed: Boolean, or 0/1 numbers, or any dtype with --pos-label. Hint: name the positive "
        "class, for example --pos-label 3.",
    ),
    (
        "counts rows.csv -t late -s score --thresholds .5,.9",
        "--score column 'score' has 1 row down to 0.1, below "
        "the lowest threshold 0.5. Allowed: thresholds that cover the scores. Hint: "
        "begin them with -inf, as in --thresholds -inf,.1,.5.",
    ),
    (
        "ap rows.csv -t late -s user --thresholds 200",
        "--score column 'user' has 4 rows outside 0 to 1: 2.0, 3.0. Allowed: probabilities where "
        "--thresholds is a number, equally spaced from 0 to 1. Hint: list them, beginning with "
        "-inf, as in --thresholds -inf,-1,0,1.",
    ),
    (
        "ap rows.csv -t late -s score -w debt",
        "--weight column 'debt' has 6 rows with -1. Allowed: "
        "finite numbers that are zero or more. Hint: a weight of 0 leaves a row out.",
    ),
    (
        "ap header.csv -t late -s score",
        "'header.csv' has a header and no rows. Allowed: a file that holds rows.",
    ),
    (
        "ap ragged.csv -t late -s score",
        "'ragged.csv' cannot be read as CSV: found more fields than "
        "defined in 'Schema'. Hint: --separator says what separates the columns.",
    ),
    (
        "ap mixed.csv -t late -s score",
        "'mixed.csv' cannot be read as CSV: could not parse `0;0.4` "
        "as dtype `i64` at column 'late' (column number 1). Hint: --null-value '0;0.4' if that "
        "stands for a missing value, --separator if it is several.",
    ),
    (
        "ap latin.csv -t late -s score",
        "'latin.csv' cannot be read as CSV: invalid utf-8 sequence. "
        "Hint: iconv -f latin1 -t utf8 FILE | frame-prc ... - reads it if it is Latin-1.",
    ),
    (
        "ap binary.csv -t late -s score",
        "'binary.csv' is not text, as CSV is. Hint: --input-format "
        "says what it is, if its name does not.",
    ),
    (
        "ap narrow.csv rows.csv -t late -s score",
        "'narrow.csv', 'rows.csv' cannot be read as CSV: "
        "schema lengths differ. Hint: files of one frame have the same columns of the same dtypes.",
    ),
]


@pytest.fixture
def odd_files(here):
    """Put files beside the others that something is wrong with."""
    for folder in ("folder", "nothing"):
        (here / folder).mkdir()
    (here / "folder" / "rows.csv").write_bytes((here / "rows.csv").read_bytes())
    ROWS.with_columns(debt=-1).write_csv("rows.csv")
    texts = {
        "rows.txt": "late,score\n1,.5\n",
        "semicolons.csv": "late;score\n1;.5\n",
        "gaps.csv": "late,score\n1,.5\n0,\n",
        "header.csv": "late,score\n",
        "narrow.csv": "late,score\n1,.5\n0,.4\n",
        "ragged.csv": "late,score\n1,.5\n0,.4,3\n",
        # Farther down than is looked at to tell the dtypes.
        "mixed.csv": "late,score\n" + "1,.5\n" * 20_000 + "0;0.4\n",
    }
    for name, text in texts.items():
        (here / name).write_text(text)
    (here / "latin.csv").write_bytes("late,score,é\n1,.5,é\n0,.4,é\n".encode("latin-1"))
    (here / "binary.csv").write_bytes(b"\x00\x01\x02late,score\n")
    return here


@pytest.mark.usefixtures("odd_files")
@pytest.mark.parametrize(("line", "text"), USAGE, ids=[line for line, _ in USAGE])
def test_bad_usage_is_one_line_in_the_words_of_the_options(line, text):
    assert said(*line.split()) == (2, text)


@pytest.mark.usefixtures("odd_files")
@pytest.mark.parametrize(("line", "text"), DATA, ids=[line for line, _ in DATA])
def test_bad_data_is_one_line_in_the_words_of_the_options(line, text):
    assert said(*line.split()) == (1, text)


@pytest.mark.parametrize("kind", WRITERS)
def test_an_empty_file_is_named(here, kind):
    (here / f"none.{kind}").touch()
    told = "is empty. Allowed: a file that holds rows. Hint: was it written to its end?"
    assert said("ap", f"none.{kind}", *ASKED) == (1, f"'none.{kind}' {told}")
    assert said("ap", f"rows.{kind}", f"none.{kind}", *ASKED) == (1, f"'none.{kind}' {told}")
    code, out, err = process("ap", "-", *ASKED)
    assert (code, out, err) == (1, "", f"frame-prc: standard input {told}\n")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("damage", ["cut", "noise", "inside"])
def test_a_corrupt_file_is_named(here, kind, damage):
    data = (here / f"rows.{kind}").read_bytes()
    noise = bytes(range(7, 247))
    inside = data[:8] + b"\xff" * (len(data) // 3) + data[8 + len(data) // 3 :]
    bad = {"cut": data[: len(data) // 2], "noise": noise, "inside": inside}[damage]
    (here / f"bad.{kind}").write_bytes(bad)
    (here / "old.csv").write_text("old")
    code, text = said("ap", f"bad.{kind}", *ASKED, "-o", "old.csv")
    name = {"parquet": "Parquet", "arrow": "Arrow"}[kind]
    assert code == 1
    assert text.startswith(f"'bad.{kind}' cannot be read as {name}: ")
    assert text.endswith("Hint: --input-format says what it is, if its name does not.")
    assert (here / "old.csv").read_text() == "old"
    assert leftovers(here) == []


def test_a_file_that_may_not_be_read_is_named(monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    # Who runs the tests may be allowed to read every file.
    monkeypatch.setattr(Path, "open", refuse)
    told = "'rows.csv' cannot be read: Permission denied. Hint: ls -l shows who may read it."
    assert said("ap", "rows.csv", *ASKED) == (2, told)


@pytest.mark.parametrize("written", ["k=1", "score=1", "missing='drop'", "truth= names"])
def test_what_a_user_wrote_stays_as_it_was(written):
    ROWS.rename({"region": written}).write_parquet("odd.parquet")
    code, text = said("ap", "odd.parquet", *ASKED, "-b", written, "-b", "x" + written)
    assert code == 2
    assert repr("x" + written) in text
    assert f"did you mean {written!r}" in text


# --- as a process -------------------------------------------------------------------------------


@pytest.fixture
def long_file(here):
    """Return a file whose curve is much longer than a pipe holds."""
    rows = pl.DataFrame({"score": range(200_000)}).with_columns(late=pl.col("score") % 3 == 0)
    rows.write_parquet(here / "long.parquet")
    return "long.parquet"


@pytest.mark.parametrize("form", ["tsv", "csv", "json", "ndjson", "table"])
def test_who_reads_enough_ends_it_quietly(long_file, form):
    with start("curve", long_file, *ASKED, "-f", form) as running:
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait() == 0
        assert running.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("form", ["tsv", "json", "table"])
def test_a_full_disk_behind_standard_output_is_one_error(long_file, form):
    for path in (long_file, "rows.parquet"):
        with Path("/dev/full").open("wb") as full:
            code, _, err = process("curve", path, *ASKED, "-f", form, stdout=full)
        told = (
            "standard output cannot be written: No space left on device. "
            "Hint: -o FILE writes a file."
        )
        assert (code, err) == (2, f"frame-prc: {told}\n")


def test_standard_output_that_is_closed_is_one_error():
    code, _, err = process(
        "ap", "rows.parquet", *ASKED, stdout=None, preexec_fn=lambda: os.close(1)
    )
    told = "standard output is closed. Hint: -o FILE writes a file."
    assert (code, err) == (2, f"frame-prc: {told}\n")


@pytest.mark.parametrize("suffix", ["parquet", "csv", "tsv", "arrow", "json", "ndjson"])
def test_a_full_disk_leaves_what_was_there(here, long_file, suffix):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    (here / f"old.{suffix}").write_text("old")
    arguments = ["curve", long_file, *ASKED, "-o", f"old.{suffix}"]
    code, out, err = process(*arguments, preexec_fn=little_room)
    told = f"'old.{suffix}' cannot be written: File too large. Hint: nothing was changed"
    assert (code, out) == (2, "")
    assert err.startswith(f"frame-prc: {told}")
    assert err.count("\n") == 1
    assert (here / f"old.{suffix}").read_text() == "old"
    assert leftovers(here) == []


def interrupted(running: subprocess.Popen, *, until, by=signal.SIGINT) -> tuple[int, bytes, bytes]:
    """Return what a process leaves that is interrupted as soon as something is so."""
    while not until():
        assert running.poll() is None, running.communicate()
    running.send_signal(by)
    out, err = running.communicate()
    return running.returncode, out, err


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_computes_leaves_what_was_there(here, by):
    (here / "old.csv").write_text("old")
    # It would take hours; and NumPy, which does it, knows nothing of Ctrl-C.
    bootstrap = ["--ci", ".9", "--ci-method", "bootstrap", "--replicates", "1000000"]
    running = start("ap", "rows.parquet", *ASKED, *bootstrap, "-o", "old.csv")
    ended = interrupted(running, until=lambda: leftovers(here), by=by)
    assert ended == (128 + by, b"", b"")
    assert (here / "old.csv").read_text() == "old"
    assert leftovers(here) == []


def test_ctrl_c_while_it_waits_for_input_leaves_nothing(here, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(here))
    running = start("ap", "-", *ASKED, stdin=subprocess.PIPE)
    running.stdin.write(bytes(3 << 20))  # more than a pipe holds, and no end of it
    ended = interrupted(
        running, until=lambda: any(path.stat().st_size for path in here.glob("frame-prc-*/*"))
    )
    assert ended == (130, b"", b"")
    assert not [*here.glob("frame-prc-*")]


class Terminal(io.StringIO):
    """A standard error that is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_alone(monkeypatch, stream):
    monkeypatch.setattr(_work, "_SECONDS_TO_SHOW", 0)
    shown = threading.Event()
    progress = _work.Progress("counting 1 of 2")
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setattr(progress, "show", lambda show=progress.show: (show(), shown.set()))
    assert _work.done(lambda: shown.wait(60) and "result", progress) == "result"
    is_terminal = stream is Terminal
    assert ("counting 1 of 2 (0 s)" in sys.stderr.getvalue()) == is_terminal
    assert bool(sys.stderr.getvalue()) == is_terminal


def test_progress_says_which_file_is_counted(monkeypatch):
    texts = []
    monkeypatch.setattr(
        _work.Progress,
        "__setattr__",
        lambda self, *a: (texts.append(a), object.__setattr__(self, *a)),
    )
    result("counts", "rows.parquet", "rows.parquet", *ASKED)
    said_of = [value for name, value in texts if name == "text"]
    assert said_of[1:] == ["counting 1 of 2: 'rows.parquet'", "counting 2 of 2: 'rows.parquet'"]


def test_work_that_timed_out_is_done(monkeypatch):
    looks = []

    def show(_: _work.Progress) -> None:
        looks.append(None)
        assert len(looks) < 100, "waiting for work that is done"

    def time_out() -> None:
        raise TimeoutError(errno.ETIMEDOUT, "the share does not answer")

    monkeypatch.setattr(_work.Progress, "show", show)
    with pytest.raises(TimeoutError, match="does not answer"):
        _work.done(time_out, _work.Progress(""))


def test_a_command_that_timed_out_ends(monkeypatch):
    def time_out(*_: object, **__: object) -> None:
        raise TimeoutError(errno.ETIMEDOUT, "the share does not answer")

    monkeypatch.setattr(_input, "read_by", time_out)
    code, _, err = run("ap", "rows.csv", *ASKED)
    assert code == 1
    assert "the share does not answer" in err
    assert err.count("\n") == 1


def test_work_raises_what_it_raises():
    with pytest.raises(ZeroDivisionError):
        _work.done(lambda: 1 / 0, _work.Progress(""))


def test_debug_shows_where_and_nothing_else_does():
    code, _, err = run("ap", "rows.csv", "-t", "late", "-s", "no", "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("frame-prc: --score names 'no'")


def test_what_nobody_thought_of_is_one_line(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(_commands, "arguments", fail)
    told = "RuntimeError: first line Hint: --debug shows where"
    assert said("ap", "rows.csv", *ASKED) == (1, told)


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package):
    code = f"import sys; sys.modules['{package}'] = None; import frame_prc.cli as c; c.main([])"
    command = [sys.executable, "-c", code.replace("c.main([])", "sys.exit(c.main([]))")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    packages = "altair rich typer vl-convert-python"
    told = f"frame-prc: {package} is not installed. Hint: pip install {packages}.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_the_version_is_said():
    assert process("--version") == (0, f"frame-prc {frame_prc.__version__}\n", "")


def test_help_lists_the_commands_and_brings_no_other_package_along():
    code = (
        "import sys; from frame_prc.cli import main; code = main([]);"
        "print({'altair', 'numpy', 'pandas'} & {*sys.modules}); sys.exit(code)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    *help_text, packages = done.stdout.splitlines()
    assert packages == "set()"
    names = re.findall(r"^  (\w+)  +", "\n".join(help_text).partition("Commands:")[2], re.MULTILINE)
    assert names == [*(command.name for command in _commands.COMMANDS), "demo"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [("ap --mis", "--missing"), ("ap rows.csv --missing d", "drop"), ("su", "summary")],
)
def test_a_shell_completes(words, offered):
    environment = os.environ | {
        "_FRAME_PRC_COMPLETE": "complete_bash",
        "COMP_WORDS": f"frame-prc {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    code, out, err = process(env=environment)
    assert (code, out.split(), err) == (0, [offered], "")


@pytest.mark.parametrize(
    ("texts", "shown", "hint"),
    [
        (["0.1", "N/A", "-"], "'-', 'N/A'", "--null-value - --null-value N/A if that stands for"),
        (["0.1", "nan", "0.3"], "'nan'", "--null-value nan if that stands for a missing value"),
        (["0.1", "", "0.3"], "''", "--null-value '' if that stands for a missing value"),
        (["0,1", "1.000,5", "-,3"], "'-,3', '0,1', '1.000,5'", "--decimal-comma reads 0,93"),
        (["10%", "20 %", "0.5%"], "'0.5%', '10%', '20 %'", "tr -d % takes the signs away"),
        (["a", "b", "c", "d"], "'a', 'b', 'c' and others", "is it the column that was meant?"),
    ],
    ids=str,
)
def test_text_in_place_of_numbers_is_shown_with_what_would_read_it(texts, shown, hint):
    rows = pl.DataFrame({"late": [True, False] * len(texts), "score": texts * 2})
    rows.write_csv("texts.csv", quote_style="always")
    code, line = said("ap", "texts.csv", "-t", "late", "-s", "score")
    assert code == 2
    assert line.startswith(f"--score column 'score' holds text: {shown}. Allowed: numbers. Hint: ")
    assert hint in line


def test_numbers_with_a_point_are_told_that_a_comma_was_asked_for():
    Path("mixed.csv").write_text("late;score;eur\ntrue;0,5;86.5\nfalse;0,4;1.5\n", encoding="utf-8")
    options = ["--separator", ";", "--decimal-comma", "-w", "eur"]
    code, line = said("ap", "mixed.csv", "-t", "late", "-s", "score", *options)
    assert code == 2
    assert line == (
        "--weight column 'eur' holds text: numbers that were read as text. Allowed: numbers. "
        "Hint: with --decimal-comma numbers have a comma, as 0,93, and no point."
    )


def test_a_source_is_not_written_over():
    code, line = said("curve", "rows.csv", *ASKED, "-o", "./rows.csv")
    assert (code, line) == (
        2, "'./rows.csv' is what is read. Allowed: another file to write."
    )  # fmt: skip
    assert pl.read_csv("rows.csv").height == ROWS.height


def test_columns_may_be_taken_as_text():
    Path("codes.csv").write_text("late,score,zip\ntrue,0.5,007\nfalse,0.4,7\n", encoding="utf-8")
    code, out, _ = run("ap", "codes.csv", *ASKED, "-b", "zip", "--text", "zip", "-f", "json")
    assert code == 0
    assert [row["zip"] for row in json.loads(out)] == ["007", "7"]


@pytest.mark.parametrize("command", ["ap", "counts"])
def test_a_column_may_change_after_the_rows_that_tell_its_dtype(command):
    lines = [*(f"true,{n % 9},{n % 7}" for n in range(11_000)), "false,0.5,x"]
    Path("long.csv").write_text("\n".join(["late,score,other", *lines]), encoding="utf-8")
    code, out, err = run(command, "long.csv", *ASKED, "-f", "ndjson")
    assert (code, err) == (0, "")
    found = list(map(json.loads, out.splitlines()))
    if command == "ap":
        assert found[0]["n"] == 11_001
    else:
        assert {"threshold": 0.5, "pos": 0, "neg": 1} in found


def test_counts_of_several_files_meet_a_dtype_that_shows_late():
    lines = [f"true,{n % 9}" for n in range(11_000)]
    for name, last in (("one.csv", "false,0.5"), ("two.csv", "true,3")):
        Path(name).write_text("\n".join(["late,score", *lines, last]), encoding="utf-8")
    code, out, err = run("counts", "one.csv", "two.csv", *ASKED, "-f", "ndjson")
    assert (code, err) == (0, "")
    found = list(map(json.loads, out.splitlines()))
    assert {"threshold": 0.5, "pos": 0, "neg": 1} in found
    assert sum(row["pos"] for row in found) == 22_001


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_json_has_a_word_for_a_key_that_is_no_number(form):
    keys = pl.Series("region", [math.nan, math.nan, math.inf, math.inf, -math.inf, 0.5])
    ROWS.with_columns(keys).write_parquet("keys.parquet")
    code, out, err = run("ap", "keys.parquet", *ASKED, "-b", "region", "-f", form)
    assert (code, err) == (0, "")

    def refuse(word):
        raise AssertionError(word)

    lines = out.splitlines() if form == "ndjson" else [out]
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    rows = rows if form == "ndjson" else rows[0]
    assert [row["region"] for row in rows] == ["-Infinity", 0.5, "Infinity", "NaN"]


def test_text_in_utf_16_is_named():
    Path("rows16.csv").write_text("late,score\ntrue,0.5\n", encoding="utf-16")
    code, line = said("ap", "rows16.csv", *ASKED)
    assert (code, line.partition(" Hint")[0]) == (
        1,
        "'rows16.csv' is text in UTF-16. Allowed: UTF-8.",
    )


def test_a_table_for_r_is_written_with_its_script_and_comes_back():
    code, out, err = run("ggplot", "rows.csv", *ASKED, "-b", "region", "-o", "curves.tsv")
    assert (code, out, err) == (0, "", "")
    written = Path("curves.R").read_text(encoding="ascii")
    assert 'table_file <- "curves.tsv"' in written
    code, out, err = run("plot", "curves.tsv", "-o", "curves.svg")
    assert (code, out, err) == (0, "", "")
    code, line = said("ggplot", "rows.csv", *ASKED)
    assert (code, line.partition(".")[0]) == (2, "--output is not given")
    code, line = said("ggplot", "rows.csv", *ASKED, "-o", "curves.xlsx")
    assert (code, "has the suffix '.xlsx'" in line) == (2, True)


@pytest.mark.parametrize("command", _commands.COMMANDS, ids=lambda command: command.name)
def test_the_example_of_a_command_runs(command):
    rows = ROWS.with_columns(carrier="region", old="score", new="other", outcome="said")
    for name in ("rows.parquet", "2024-01.parquet", "2024-02.parquet"):
        rows.write_parquet(name)
    rows.write_csv("rows.csv")
    code, _, err = run(*shlex.split(command.example)[1:])
    assert (code, err) == (0, "")


@pytest.mark.skipif(not README.exists(), reason="the tests are not in a checkout")
def test_the_commands_of_the_readme_run():
    section = README.read_text(encoding="utf-8").partition("\n## From a shell\n")[2]
    commands = section.partition("```sh\n")[2].partition("```")[0].splitlines()
    rows = ROWS.with_columns(model="score", old="other", new="score", outcome="said")
    rows.write_csv("mine.csv")
    for name in ("2024-01.parquet", "2024-02.parquet"):
        rows.with_columns(carrier="region").write_parquet(name)
    known = [command.name for command in _commands.COMMANDS]
    ran = []
    for line in commands:
        _, name, *options = shlex.split(line.partition(" > ")[0], comments=True)
        if name in known:
            code, _, err = run(name, *options)
            assert (code, err) == (0, ""), line
            ran.append(name)
    assert ran == ["summary", "plot", "curve", "compare", "ggplot", "points", "counts", "ap"]


PICTURES = {"html": b"<!DOCTYPE html>", "svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n"}


@pytest.mark.parametrize("suffix", PICTURES)
def test_a_picture_is_drawn_from_rows_and_from_a_curve(here, suffix):
    asked = ["-b", "region", "--points", "recall=.5", "--facet", "none", "--no-iso-f1"]
    assert run("plot", "rows.csv", *ASKED, *asked, "-o", f"rows.{suffix}") == (0, "", "")
    run("curve", "rows.csv", *ASKED, "-b", "region", "-o", "curve.tsv")
    assert run("plot", "curve.tsv", "-o", f"curve.{suffix}") == (0, "", "")
    for name in ("rows", "curve"):
        drawn = (here / f"{name}.{suffix}").read_bytes()
        assert drawn.lstrip().startswith(PICTURES[suffix])
        assert b"https://cdn" not in drawn
    assert leftovers(here) == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "plot rows.csv -t late -s score",
            "--output is not given. Allowed: a file that ends with .html, .svg, .png. Hint: "
            "-o plot.html.",
        ),
        (
            "plot rows.csv -t late -s score -o p.pdf",
            "the suffix of 'p.pdf' does not say how to write it. Allowed: .html, .svg, .png.",
        ),
        (
            "plot rows.csv -t late -s score -o p.svg --points .9",
            "--points .9 is no operating point. Allowed: 'recall=.9' and the like.",
        ),
        (
            "plot rows.csv -t late -s score -o p.svg --points rec=.9",
            "--points names 'rec', which is not a criterion. Allowed: 'recall', 'precision', "
            "'threshold', 'f_beta', 'predicted_rate'. Hint: for example --points 'recall=.9'.",
        ),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_one_line(line, text):
    assert said(*line.split()) == (2, text)


def test_a_picture_names_the_package_it_lacks():
    code = (
        "import sys; sys.modules['vl_convert'] = None; from frame_prc.cli import main;"
        "sys.exit(main('plot rows.csv -t late -s score -o p.svg'.split()))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    told = "a picture needs vl-convert-python, which is not installed. Hint: pip install"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"frame-prc: {told} vl-convert-python.\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--debug", "ap", "rows.csv"], "no such option: --debug. Hint: frame-prc --help"),
        (
            ["merge-counts", "rows.csv"],
            "no such command 'merge-counts'. Did you mean 'counts'? Hint: ",
        ),
    ],
)
def test_a_command_line_that_cannot_be_read_is_one_line(arguments, told):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"frame-prc: {told}")
    assert err.count("\n") == 1


def test_numbers_that_were_read_as_text_are_named():
    _, line = said("ap", "rows.csv", *ASKED, "--text", "score")
    assert "holds text: numbers that were read as text" in line
    assert line.endswith("Hint: --text makes text of numbers.")
