"""Commands and options: a command gives what its verb gives."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import re
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from command_line import ASKED, ROWS, result, run, said
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._request.class_values import from_text
from frame_prc.cli import commands as _commands

# --- commands and options ----------------------------------------------------------------------


COUNTS, SQUARES = {"pos", "neg"}, {"pos_squares", "neg_squares"}
# Of the roles that not every command has: those of each.
USED = {
    "average_precision": {"cluster", *COUNTS, *SQUARES},
    "compare_models": {"row", "cluster"},
    "compare_segments": {"cluster"},
    "counts": {*COUNTS, *SQUARES},
    "heterogeneity": {"cluster", *COUNTS, *SQUARES},
    "summary": {"cluster", *COUNTS, *SQUARES},
}
DRAWN = ("curve", "operating_points", "plot", "plot_summary", "report", "write_ggplot")
USED |= {verb: {"cluster", *COUNTS} for verb in DRAWN}


@pytest.mark.parametrize("command", _commands.COMMANDS, ids=lambda command: command.name)
def test_every_parameter_of_a_verb_is_an_option_unless_it_means_nothing_there(command):
    verb = inspect.signature(getattr(frame_prc, command.verb))
    roles = {"row", "cluster", "pos", "neg", "pos_squares", "neg_squares"}
    unused = roles - USED[command.verb]
    parameters = [name for name in verb.parameters if name not in {"frame", "path", *unused}]
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
        ("curve --ci .9 --cluster user", "curve", {"ci": 0.9, "cluster": "user"}),
        ("curve --thresholds 5 --start none", "curve", {"thresholds": 5, "start": None}),
        ("curve --start None", "curve", {"start": None}),
        ("ap --calibrate .2", "average_precision", {"calibrate": 0.2}),
        ("curve --ascending", "curve", {"ascending": True}),
        ("ap --model user", "average_precision", {"model": "user"}),
        ("ap --calibrate pooled", "average_precision", {"calibrate": "pooled"}),
        ("summary --overall", "summary", {"overall": True}),
        ("summary --calibrate .2", "summary", {"calibrate": 0.2}),
        (
            "compare-segments --against region=south",
            "compare_segments",
            {"against": {"region": "south"}},
        ),
        (
            "compare-segments --against previous --calibrate .2",
            "compare_segments",
            {"against": "previous", "calibrate": 0.2},
        ),
        (
            "compare-segments --against rest --measure average_precision",
            "compare_segments",
            {"against": "rest", "measure": "average_precision"},
        ),
        (
            "heterogeneity --measure average_precision",
            "heterogeneity",
            {"measure": "average_precision"},
        ),
        ("compare-models -s other --adjust none", "compare_models", {"score": ["score", "other"]}),
        (
            "compare-models -s other --baseline other",
            "compare_models",
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


def test_a_named_segment_has_the_type_of_its_key(here):
    days = pl.Series(
        "day", [day for day in (dt.date(2024, 1, 1), dt.date(2024, 1, 2)) for _ in range(3)]
    )
    df = ROWS.with_columns(days, number=pl.col("user") % 2)
    df.write_parquet("typed.parquet")
    for text, segment in (
        ("day=2024-01-02", {"day": dt.date(2024, 1, 2)}),
        ("number=1", {"number": 1}),
    ):
        key = next(iter(segment))
        asked = ["-b", key, "--against", text, "-o", "found.parquet"]
        assert run("compare-segments", "typed.parquet", *ASKED, *asked) == (0, "", "")
        expected = frame_prc.compare_segments(df, "late", "score", by=key, against=segment)
        assert_frame_equal(pl.read_parquet(here / "found.parquet"), expected, rel_tol=1e-12)


def test_pictures_take_clusters():
    asked = ["rows.parquet", *ASKED, "--ci", ".9", "--cluster", "user"]
    assert run("plot", *asked, "-o", "chart.svg") == (0, "", "")
    assert "clustered by user" in " ".join(Path("chart.svg").read_text(encoding="utf-8").split())
    assert run("ggplot", *asked, "-o", "curves.tsv") == (0, "", "")
    assert 'cluster <- "user"' in Path("curves.R").read_text(encoding="ascii")


def test_a_picture_may_be_over_the_threshold():
    asked = ["rows.parquet", *ASKED, "--x", "threshold", "-o", "chart.svg"]
    assert run("plot", *asked) == (0, "", "")
    text = Path("chart.svg").read_text(encoding="utf-8")
    assert "Precision, recall and F1 by threshold" in text
    assert "At score ≥" in text
    code, _, err = run("plot", *asked, "--roc")
    assert (code, err) == (
        2,
        "frame-prc: --roc is given with --x threshold. Allowed: --roc with --x recall only. Hint: "
        "over thresholds each segment and model has a panel of its own.\n",
    )


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


MIXED = {
    "Int64": pl.col("user"),
    "UInt64": pl.col("user").cast(pl.UInt64),
    "Decimal": pl.col("w").cast(pl.Decimal(10, 2)),
    "long and exact": pl.col("user") * 2**60,
}


@pytest.mark.parametrize(
    ("mixed", "command", "dtype"),
    [
        ("Int64", "ap", pl.Float32),
        ("UInt64", "counts", pl.Float64),
        ("Decimal", "compare-models", pl.Float64),
        ("long and exact", "ap", pl.Float64),
    ],
)
def test_scores_of_several_dtypes_are_ranked_together(here, mixed, dtype, command):
    rows = ROWS.with_columns(pl.col("score").cast(dtype), mixed=MIXED[mixed])
    rows.write_parquet("mixed.parquet")
    asked = ["-t", "late", "-s", "score", "-s", "new=mixed", "-b", "region", "-o", "out.parquet"]
    assert run(command, "mixed.parquet", *asked) == (0, "", "")
    verb = {"ap": "average_precision"}.get(command, command.replace("-", "_"))
    scores = {"score": "score", "new": pl.col("mixed").cast(pl.Float64)}
    expected = getattr(frame_prc, verb)(rows, "late", scores, by="region")
    assert_frame_equal(pl.read_parquet(here / "out.parquet"), expected, rel_tol=1e-12)


def test_integers_that_would_be_rounded_are_refused():
    long = pl.Series("long", [2**53 + 1, 2**53, 0, 1, 2, 3])
    ROWS.with_columns(long).write_parquet("long.parquet")
    told = (
        "--score column 'long' has 1 row that Float64, the common dtype of the scores, would round"
        ": 9007199254740993. Allowed: scores of one dtype, or numbers that Float64 holds exactly. "
        "Hint: run the command once for each score."
    )
    assert said("ap", "long.parquet", "-t", "late", "-s", "score,long") == (1, told)
    assert run("ap", "long.parquet", "-t", "late", "-s", "long")[0] == 0


def test_scores_that_show_their_dtype_late_are_ranked_together():
    lines = [*(f"{n % 3 == 0},{n % 9},{n % 7 / 8}" for n in range(11_000)), "false,0.5,1"]
    Path("long.csv").write_text("\n".join(["late,score,other", *lines]), encoding="utf-8")
    table = result("ap", "long.csv", "-t", "late", "-s", "score,other")
    assert table["n"].to_list() == [11_001, 11_001]


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
        ("1.0", pl.Int64(), 1),
        ("1.5", pl.Int64(), "1.5"),
        ("nan", pl.Int64(), "nan"),
        ("one", pl.Decimal(5, 2), "one"),
        ("2024-02-03", pl.Date(), dt.date(2024, 2, 3)),
        ("2024-02-03T04:05", pl.Datetime("us"), dt.datetime(2024, 2, 3, 4, 5)),
        ("04:05", pl.Time(), dt.time(4, 5)),
        ("yes", pl.Enum(["yes", "no"]), "yes"),
    ],
    ids=str,
)
def test_a_label_has_the_dtype_of_its_truth(text, dtype, value):
    label = from_text(text, dtype)
    assert (label, type(label)) == (value, type(value))


@pytest.mark.parametrize(
    ("column", "label"),
    [("said", "yes"), ("number", "1"), ("number", "1.0"), ("late", "true"), ("day", "2024-01-02")],
)
def test_the_positive_label_is_found_in_a_column_of_any_dtype(column, label):
    day = pl.when("late").then(dt.date(2024, 1, 2)).otherwise(dt.date(2024, 1, 3))
    ROWS.with_columns(day=day).write_parquet("days.parquet")
    table = result("ap", "days.parquet", "-t", column, "-s", "score", "--pos-label", label)
    assert table["n_pos"].to_list() == [3]


# --- as a process ------------------------------------------------------------------------------


def test_columns_may_be_taken_as_text():
    Path("codes.csv").write_text("late,score,zip\ntrue,0.5,007\nfalse,0.4,7\n", encoding="utf-8")
    code, out, _ = run("ap", "codes.csv", *ASKED, "-b", "zip", "--text", "zip", "-f", "json")
    assert code == 0
    assert [row["zip"] for row in json.loads(out)] == ["007", "7"]
