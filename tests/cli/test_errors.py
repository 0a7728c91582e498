"""What is wrong is said in one line, in the words of the options."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from command_line import ASKED, ROWS, WRITERS, leftovers, said

from frame_prc.cli.errors import in_shell

# --- what is wrong -----------------------------------------------------------------------------


def cases(text: str) -> list[tuple[str, str]]:
    """Return command lines with what is said of each, which is indented below it."""
    found = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]
    return [(line, " ".join(said.split())) for line, _, said in (c.partition("\n") for c in found)]


USAGE = cases("""
ap rows.csv
    --truth is not given. Allowed: --truth for single rows, or --pos and --neg for aggregated
    rows.
ap rows.csv -t lat -s score
    --truth names 'lat', which is not a column. Hint: did you mean 'late'?
ap rows.csv -t said -s score
    --truth column 'said' has dtype String. Allowed: Boolean, or 0/1 numbers, or any dtype with
    --pos-label. Hint: name the positive class, for example --pos-label yes.
ap rows.csv -t late -s region
    --score column 'region' holds text: 'north', 'south'. Allowed: numbers. Hint: is this the
    right column?
ap rows.csv -t late -s score -s score
    --score names 'score' twice. Allowed: each model once. Hint: name them, as in -s first=COLUMN
    -s second=COLUMN.
ap rows.csv -t late -s score --ci 95
    --ci 95 is not a level. Allowed: a number between 0 and 1. Hint: 95 % is --ci 0.95.
ap rows.csv -t late -s score --bootstrap 9
    --bootstrap is given without --ci. Allowed: both, for example --ci 0.95.
ap rows.csv -t late -s score --ci 0.9 --bootstrap 0
    --bootstrap 0 is out of range. Allowed: an integer from 1 to 1,000,000, or Draws(1000, seed=1).
    Hint: for example --bootstrap 1000 or --bootstrap 1000,seed=1.
curve rows.csv -t late -s score --thresholds .5,.1
    --thresholds are not ascending: 0.1 comes after 0.5. Allowed: a number of thresholds, 2 or
    more, or a list of ascending numbers. Hint: for example --thresholds 0.1,0.5,0.9.
ap rows.csv -t late -s score --text score
    --score column 'score' holds text: numbers that were read as text. Allowed: numbers. Hint:
    --text reads numbers as text.
ap rows.csv -t late -s score --text Region
    --text Region is no column of 'rows.csv'. Hint: did you mean 'region'?
curve rows.csv -t late -s score -w w --ci .9
    --ci of a curve needs counts of rows, and these are sums of weights. Allowed: rows without
    --weight, or integer counts. Hint: frame-prc plot --band resamples weighted rows.
points rows.csv -t late -s score --cost 10
    --cost 10 is not a pair of costs. Allowed: (cost of a false positive, cost of a false
    negative), numbers of 0 or more and up to 1e+100, not both 0. Hint: --cost 1,10 if a missed
    positive costs ten times as much as a false alarm.
compare-segments rows.csv -t late -s score -b region --against last
    --against last is not an option. Allowed: 'others', 'rest', 'overall', 'previous', 'random',
    or key=value for a named segment.
points rows.csv -t late -s score
    no target is given. Allowed: one or more of --recall, --precision, --threshold, --f-beta,
    --predicted-rate, --predicted-count, --fpr, --cost.
points rows.csv -t late -s score --threshold limits
    --threshold limits is not a number. Allowed: numbers, a column, or a file that points wrote.
ap rows.csv -t late -s score --unknown
    no such option: --unknown. Hint: frame-prc ap --help
ap
    missing argument 'FILE...'. Hint: frame-prc ap rows.parquet -t late -s score -b carrier
ap row.csv -t late -s score
    there is no file 'row.csv'. Hint: did you mean 'rows.csv'?
ap no-*.csv -t late -s score
    'no-*.csv' matches no file. Hint: ls shows what is there.
ap folder -t late -s score
    'folder' is a folder. Allowed: files, or a glob of them. Hint: 'folder/*.csv' names the files
    in it.
ap rows.txt -t late -s score
    the suffix of 'rows.txt' does not say what kind of file it is. Allowed: .parquet, .pq, .csv,
    .tsv, .tab, .arrow, .feather, .ipc, .ndjson, .jsonl. Hint: --input-format csv reads it as CSV.
ap rows.duckdb -t late -s score
    the suffix of 'rows.duckdb' does not say what kind of file it is. Allowed: .parquet, .pq,
    .csv, .tsv, .tab, .arrow, .feather, .ipc, .ndjson, .jsonl. Hint: duckdb:///FILE::TABLE
    names a table of DuckDB, and in Python ibis.connect(...).table(...) one of any database.
ap rows.csv rows.tsv -t late -s score
    the files are of several kinds: 'rows.csv' is CSV, 'rows.tsv' is TSV. Allowed: files of one
    kind.
ap semicolons.csv -t late -s score
    'semicolons.csv' has a single column, named 'late;score'. Allowed: several columns. Hint:
    --separator ';'.
ap rows.csv -t late -s score -o t.xlsx
    the suffix of 't.xlsx' does not say how to write it. Allowed: .parquet, .csv, .tsv, .arrow,
    .feather, .ndjson, .jsonl, .json, .md, .html.
ap rows.csv -t late -s score -o /proc/t.csv
    '/proc/t.csv' cannot be written: No such file or directory. Hint: nothing was changed there;
    try another folder.
monitor rows.csv -t late -s score -b region --over region --plan (8,12)
    --plan '(8,12)' is not a plan. Allowed: two integers: 2 to 1,000 periods of reference, and 1 to
    1,000 looks. Hint: --plan 12,52 compares each week of a year with the twelve weeks before it.
ap rows.csv -t late -s score -o t.csv -f csv
    --format is given with --output. Allowed: one of them. Hint: the suffix of the file sets the
    format.
""")
RESULTS = cases("""
plot-summary rows.csv -t late -s score
    --output is not given. Allowed: a file that ends with .html, .svg, .png. Hint: -o plot.html.
plot rows.csv -t late -s score -o p.pdf
    the suffix of 'p.pdf' does not say how to write it. Allowed: .html, .svg, .png.
plot rows.csv -t late -s score -o p.svg --points .9
    --points .9 is not an operating point. Allowed: a criterion and numbers, such as 'recall=0.9'.
plot rows.csv -t late -s score -o p.svg --points rec=.9
    --points names 'rec', which is not a criterion. Allowed: 'recall', 'precision', 'threshold',
    'f_beta', 'predicted_rate', 'predicted_count', 'fpr', 'cost'. Hint: for example --points
    'recall=0.9'.
plot rows.csv -t late -s score -o p.svg --x threshold --roc
    --roc is given with --x threshold. Allowed: --roc with --x recall only. Hint: over thresholds
    each segment and model has a panel of its own.
ggplot rows.csv -t late -s score
    --output is not given. Allowed: the file for R to read. Hint: -o curves.tsv.
report rows.csv -t late -s score
    --output is not given. Allowed: a file that ends with .html or .json. Hint: -o report.html.
report rows.csv -t late -s score -f csv
    --format csv is not a format of a report. Allowed: json.
points rows.csv -t late -s score -b region --recall 1 --columns region,tresh
    --columns names 'tresh', which is not a column of the result. Allowed: region, target,
    criterion, target_value, threshold, tp, fp, fn, tn, precision, recall, fpr, f_score,
    predicted_rate, predicted_count, status. Hint: did you mean 'threshold'?
ap rows.csv -t late -s score --fail-under average_precision
    --fail-under 'average_precision' is not a condition. Allowed: a column, one of <, <=, >, >=,
    and a number, or a column of text, = and a word. Hint: for example --fail-under
    'average_precision<0.3', in quotes.
ap rows.csv -t late -s score --fail-under n<30%
    --fail-under 'n<30%': '30%' is not a number. Allowed: a column, one of <, <=, >, >=, and a
    number, or a column of text, = and a word. Hint: for example --fail-under
    'average_precision<0.3', in quotes.
ap rows.csv -t late -s score --fail-under average_precison<.3
    --fail-under names 'average_precison', which is not a column of the result. Hint: did you mean
    'average_precision'?
ap rows.csv -t late -s score --fail-under ci_low<.2
    --fail-under names 'ci_low', which is not a column of the result. Hint: --ci 0.95 adds it.
ap days.csv -t late -s score -b region:1w
    --by region:1w cuts dates, and column 'region' holds 'north'. Allowed: dates, or ISO text such
    as 2024-01-31 or 2024-01-31 08:15:00, all in one form. Hint: is this the right column?
ap days.csv -t late -s score -b late:1w
    --by late:1w cuts dates, and column 'late' has dtype Boolean. Allowed: dates, or ISO text such
    as 2024-01-31 or 2024-01-31 08:15:00.
ap days.csv -t late -s score -b mixed:1w
    --by mixed:1w cuts dates, and column 'mixed' holds '01/02/2024'. Allowed: dates, or ISO text
    such as 2024-01-31 or 2024-01-31 08:15:00, all in one form. Hint: is this the right column?
ap days.csv -t late -s score -b day:1m
    --by day:1m cuts days, and column 'day' has dates without a time. Allowed: periods of whole
    days. Hint: --by day:1mo is a month.
ap days.csv -t late -s score -b day:0d
    --by day:0d ends with '0d', which is not a period. Allowed: a number and one of s, m
    (minutes), h, d, w, mo (months), q or y. Hint: for example --by day:1w.
ap days.csv -t late -s score -b day:1w,day:1mo
    column 'day' is named twice in --by. Allowed: each column once.
summary rows.csv -t late -s score --measures precision,recall
    --measures precision is given without --at. Allowed: --at threshold=0.5. Hint: frame-prc
    points --recall 0.9 chooses one: hold it to other rows than those.
ap rows.csv -t late -s score --where region
    --where region is not a condition. Allowed: a column, one of =, !=, <, <=, >, >=, and a value.
    Hint: --where carrier=UA.
ap rows.csv -t late -s score --where regoin=north
    --where regoin=north names 'regoin', which is not a column. Hint: did you mean 'region'?
ap rows.csv -t late -s score --where w>=many
    --where 'w>=many' compares 'many' with a column of dtype Float64. Allowed: a value of this
    dtype, such as 2024-01-31 for a date.
ap rows.csv -t late -s score --where region>=9
    --where 'region>=9' compares '9' with a column of text. Allowed: = and !=, or a column of
    numbers or dates. Hint: --null-value WORD if a word there stands for a missing value.
ap rows.csv -t late -s score --where region=east
    --where region=east leaves no row. Allowed: conditions that some row meets.
ap rows.csv -t late -s score --memory 2G
    --memory 2G is not a size. Allowed: a size such as 2GB or 1.5GiB.
ap rows.csv -t late -s score --memory 10MB
    --memory 10MB is too little. Allowed: 1GB or more.
find rows.csv -t late -s score -b region --memory 2GB
    --memory is not available for this command. Allowed: counts, curve, ap, average, points,
    summary, threshold-table, reliability, compare-models, compare-segments, heterogeneity,
    shrunk, sample-size.
summary rows.csv -t late -s score --details --memory 2GB
    --memory is given with --details. Allowed: calls without it.
""")
DATA = cases("""
ap gaps.csv -t late -s score
    values are missing: 'score' has 1 row with null or NaN. Allowed: no null, and no NaN in truth
    or score. Hint: --missing drop leaves such rows out; --missing unretrieved keeps rows without
    a score in the totals, as never retrieved.
counts gaps.csv gaps.csv -t late -s score
    'gaps.csv': values are missing: 'score' has 1 row with null or NaN. Allowed: no null, and no
    NaN in truth or score. Hint: --missing drop leaves such rows out; --missing unretrieved keeps
    rows without a score in the totals, as never retrieved.
ap rows.csv -t said -s score --pos-label maybe
    --pos-label maybe is nowhere in --truth column 'said', which holds 'no', 'yes'. Allowed: a
    value that occurs.
ap rows16.csv -t late -s score
    'rows16.csv' is text in UTF-16. Allowed: UTF-8. Hint: iconv -f utf16 -t utf8 FILE | frame-prc
    ... - reads it.
ap header.csv -t late -s score
    'header.csv' has a header and no rows. Allowed: a file that holds rows.
ap ragged.csv -t late -s score
    'ragged.csv' cannot be read as CSV: found more fields than defined in 'Schema'. Hint:
    --separator says what separates the columns.
ap mixed.csv -t late -s score
    'mixed.csv' cannot be read as CSV: could not parse `0;0.4` as dtype `i64` at column 'late'
    (column number 1). Hint: --null-value '0;0.4' if that stands for a missing value, --separator
    if it is several values.
ap latin.csv -t late -s score
    'latin.csv' cannot be read as CSV: invalid utf-8 sequence. Hint: iconv -f latin1 -t utf8 FILE
    | frame-prc ... - reads it if it is Latin-1.
ap binary.csv -t late -s score
    'binary.csv' is not text, as CSV is. Hint: --input-format sets the format, if the suffix is
    wrong.
ap narrow.csv rows.csv -t late -s score
    'narrow.csv', 'rows.csv' cannot be read as CSV: schema lengths differ. Hint: all files need
    the same columns, with the same dtypes.
""")


@pytest.fixture
def odd_files(here):
    """Put files beside the others that something is wrong with."""
    for folder in ("folder", "nothing"):
        (here / folder).mkdir()
    (here / "folder" / "rows.csv").write_bytes((here / "rows.csv").read_bytes())
    ROWS.with_columns(debt=-1).write_csv("rows.csv")
    days = ["2024-01-01", "2024-01-07", "2024-01-08", "2024-01-14", "2024-02-05"]
    mixed = pl.Series("mixed", [*days, "01/02/2024"])
    ROWS.with_columns(mixed, pl.Series("day", [*days, days[0]])).write_csv("days.csv")
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
    (here / "rows16.csv").write_text("late,score\ntrue,0.5\n", encoding="utf-16")
    (here / "binary.csv").write_bytes(b"\x00\x01\x02late,score\n")
    return here


@pytest.mark.usefixtures("odd_files")
@pytest.mark.parametrize(
    ("code", "told"), [(2, USAGE), (2, RESULTS), (1, DATA)], ids=["usage", "results", "data"]
)
def test_an_error_is_one_line_in_the_words_of_the_options(code, told):
    for line, text in told:
        assert said(*line.split()) == (code, text)
    assert not Path("r.json").exists()


EMPTY = "is empty. Allowed: a file that holds rows. Hint: was it written completely?"


@pytest.mark.parametrize("kind", WRITERS)
def test_an_empty_file_is_named(here, kind):
    (here / f"none.{kind}").touch()
    assert said("ap", f"rows.{kind}", f"none.{kind}", *ASKED) == (1, f"'none.{kind}' {EMPTY}")
    assert said("ap", "-", *ASKED) == (1, f"standard input {EMPTY}")


@pytest.mark.parametrize(("kind", "name"), [("parquet", "Parquet"), ("arrow", "Arrow")])
def test_a_corrupt_file_is_named(here, kind, name):
    data = (here / f"rows.{kind}").read_bytes()
    inside = data[:8] + b"\xff" * (len(data) // 3) + data[8 + len(data) // 3 :]
    (here / "old.csv").write_text("old")
    for damaged in (data[: len(data) // 2], bytes(range(7, 247)), inside):
        (here / f"bad.{kind}").write_bytes(damaged)
        code, text = said("ap", f"bad.{kind}", *ASKED, "-o", "old.csv")
        assert (code, text.startswith(f"'bad.{kind}' cannot be read as {name}: ")) == (1, True)
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


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("counts(..., squares=True) makes both", "frame-prc counts --squares makes both"),
        ("operating_points(..., top=-1.5, by=None)", "frame-prc points --top -1.5 --by none"),
        ("plot_summary() shows all", "frame-prc plot-summary shows all"),
        ("report('a', by='b') of band()", "report('a', --by b) of band()"),
        ("cost=[1, 10] of {'day': 'a b'} in by=", "--cost 1,10 of day='a b' in --by"),
        ("'curve(by=None)' is not \"None\"", "'curve(by=None)' is not \"None\""),
    ],
)
def test_python_is_said_in_the_words_of_a_shell(python, shell):
    assert in_shell(python) == shell


UNREAD = cases("""
--debug ap rows.csv
    no such option: --debug. Hint: frame-prc --help
average_precision rows.csv
    no such command 'average_precision'. Hint: did you mean 'ap'?
plot_summary rows.csv
    no such command 'plot_summary'. Hint: did you mean 'plot-summary'?
auc rows.csv
    no such command 'auc'. Hint: auc is only in Python: help(frame_prc.auc).
plot rows.csv --recall 0.9
    no such option: --recall. Hint: --points 'recall=NUMBER' marks such a point.
ap rows.csv --group region
    no such option: --group. Hint: did you mean --by?
curve rows.csv --adjust holm
    no such option: --adjust. Hint: --adjust is an option of compare-models, compare-segments,
    watch.
ap rows.csv --by
    option '--by' requires an argument. Hint: frame-prc --help
ap rows.csv late score
    there is no file 'late'. Hint: options name columns, as in -t late or -s late.
""")


def test_a_command_line_that_cannot_be_read_is_one_line():
    for line, text in UNREAD:
        assert said(*line.split()) == (2, text)
