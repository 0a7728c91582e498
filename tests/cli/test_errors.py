"""What is wrong is said in one line, in the words of the options."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ASKED, ROWS, WRITERS, leftovers, run, said

# --- what is wrong -----------------------------------------------------------------------------


SUFFIXES = ".parquet, .pq, .csv, .tsv, .tab, .arrow, .feather, .ipc, .ndjson, .jsonl"
WRITTEN = ".parquet, .csv, .tsv, .arrow, .feather, .ndjson, .jsonl, .json, .md, .html"
USAGE = [
    (
        "ap rows.csv",
        "--truth is not given. Allowed: --truth for single rows, or --pos and --neg for "
        "aggregated rows.",
    ),
    ("ap rows.csv -t late", "--score is not given. Allowed: one column, or several."),
    (
        "ap rows.csv -t lat -s score",
        "--truth names 'lat', which is not a column. Hint: did you mean 'late'?",
    ),
    (
        "ap rows.csv -t late -s score -b region,usr",
        "--by names 'usr', which is not a column. Hint: did you mean 'user'?",
    ),
    (
        "ap rows.csv -t said -s score",
        "--truth column 'said' has dtype String. Allowed: Boolean, or "
        "0/1 numbers, or any dtype with --pos-label. Hint: name the positive class, for example "
        "--pos-label yes.",
    ),
    (
        "ap rows.csv -t late -s region",
        "--score column 'region' holds text: 'north', 'south'. Allowed: numbers. Hint: is "
        "this the right column?",
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
    ("ap rows.csv -s score --pos w", "--neg is not given. Allowed: --pos and --neg together."),
    (
        "ap rows.csv -t late -s score --ci 95",
        "--ci 95.0 is not a level. Allowed: a number between 0 and 1. Hint: 95.0 % is --ci 0.95.",
    ),
    (
        "ap rows.csv -t late -s score --seed 1",
        "--replicates, --seed or --stratified is given with "
        "--ci-method influence. Allowed: these only with --ci-method bootstrap.",
    ),
    (
        "curve rows.csv -t late -s score --start two",
        "--start two is not an option. Allowed: 'one', 'first', none.",
    ),
    (
        "curve rows.csv -t late -s score --thresholds .5,.1",
        "--thresholds are not ascending: 0.1 "
        "comes after 0.5. Allowed: a number of thresholds, 2 or more, or a list of ascending "
        "numbers. Hint: for example --thresholds 0.1,0.5,0.9.",
    ),
    (
        "ap rows.csv -t late -s score --text Region",
        "--text Region is no column of 'rows.csv'. Hint: did you mean 'region'?",
    ),
    (
        "curve rows.csv -t late -s score --thresholds x",
        "'x' is not a number. Allowed: numbers, such as 0.9 or 0.5,0.9.",
    ),
    (
        "curve rows.csv -t late -s score -w w --ci .9",
        "--ci of a curve needs counts of rows, and "
        "these are sums of weights. Allowed: rows without --weight, or integer counts. Hint: "
        "frame-prc plot --band resamples weighted rows.",
    ),
    (
        "compare-models rows.csv -t late -s score",
        "--score names one model. Allowed: two or more. Hint: -s one -s two compares two models, "
        "and frame-prc compare-segments the segments of one.",
    ),
    (
        "points rows.csv -t late -s score --cost 10",
        "--cost 10.0 is not a pair of costs. Allowed: (cost of a false positive, cost of a false "
        "negative), numbers of 0 or more and up to 1e+100, not both 0. Hint: --cost 1,10 if a "
        "missed positive costs ten times as much as a false alarm.",
    ),
    (
        "compare-segments rows.csv -t late -s score -b region --against last",
        "--against last is not an option. Allowed: 'others', 'rest', 'overall', 'previous', "
        "'random', or key=value for a named segment.",
    ),
    (
        "points rows.csv -t late -s score",
        "no target is given. Allowed: one or more of --recall, "
        "--precision, --threshold, --f-beta, --predicted-rate, "
        "--predicted-count, --fpr, --cost.",
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
    # files
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
    (
        "ap rows.txt -t late -s score",
        "the suffix of 'rows.txt' does not say what kind of file it "
        f"is. Allowed: {SUFFIXES}. Hint: --input-format csv reads it as CSV.",
    ),
    (
        "ap rows.duckdb -t late -s score",
        "the suffix of 'rows.duckdb' does not say what kind of file it "
        f"is. Allowed: {SUFFIXES}. Hint: tables of a database are evaluated from Python: "
        "ibis.connect(...).table(...).",
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
        "'late;score'. Allowed: several columns. Hint: --separator ';'.",
    ),
    (
        "ap rows.csv -t late -s score --separator ab",
        "--separator ab is not a separator. Allowed: one character, or 'tab'.",
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
        "of them. Hint: the suffix of the file sets the format.",
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
        "stands for a missing value, --separator if it is several values.",
    ),
    (
        "ap latin.csv -t late -s score",
        "'latin.csv' cannot be read as CSV: invalid utf-8 sequence. "
        "Hint: iconv -f latin1 -t utf8 FILE | frame-prc ... - reads it if it is Latin-1.",
    ),
    (
        "ap binary.csv -t late -s score",
        "'binary.csv' is not text, as CSV is. Hint: --input-format "
        "sets the format, if the suffix is wrong.",
    ),
    (
        "ap narrow.csv rows.csv -t late -s score",
        "'narrow.csv', 'rows.csv' cannot be read as CSV: "
        "schema lengths differ. Hint: all files need the same columns, with the same dtypes.",
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
        "rows.duckdb": "",
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
    told = "is empty. Allowed: a file that holds rows. Hint: was it written completely?"
    assert said("ap", f"none.{kind}", *ASKED) == (1, f"'none.{kind}' {told}")
    assert said("ap", f"rows.{kind}", f"none.{kind}", *ASKED) == (1, f"'none.{kind}' {told}")


def test_empty_standard_input_is_named():
    told = "is empty. Allowed: a file that holds rows. Hint: was it written completely?"
    assert said("ap", "-", *ASKED) == (1, f"standard input {told}")


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
    assert text.endswith("Hint: --input-format sets the format, if the suffix is wrong.")
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


# --- as a process ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--debug", "ap", "rows.csv"], "no such option: --debug. Hint: frame-prc --help"),
        (
            ["average_precision", "rows.csv"],
            "no such command 'average_precision'. Hint: did you mean 'ap'?\n",
        ),
        (
            ["plot_summary", "rows.csv"],
            "no such command 'plot_summary'. Hint: did you mean 'plot-summary'?\n",
        ),
        (
            ["plot", "rows.csv", "--recall", "0.9"],
            "no such option: --recall. Hint: --points 'recall=NUMBER' marks such a point.\n",
        ),
        (
            ["ap", "rows.csv", "--group", "region"],
            "no such option: --group. Hint: did you mean --by?\n",
        ),
        (
            ["curve", "rows.csv", "--sample-weight", "w"],
            "no such option: --sample-weight. Hint: did you mean --weight?\n",
        ),
        (
            ["curve", "rows.csv", "--adjust", "holm"],
            "no such option: --adjust. Hint: --adjust is an option of compare-models, "
            "compare-segments.\n",
        ),
        (["ap", "rows.csv", "--by"], "option '--by' requires an argument. Hint: frame-prc"),
        (
            ["ap", "rows.csv", "late", "score"],
            "there is no file 'late'. Hint: options name columns, as in -t late or -s late.\n",
        ),
        (["auc", "rows.csv"], "no such command 'auc'. Hint: auc is only in Python: help(frame"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_one_line(arguments, told):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"frame-prc: {told}")
    assert err.count("\n") == 1
