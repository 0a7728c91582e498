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
from frame_prc import Draws, Top
from frame_prc._request.values import from_text
from frame_prc.cli import options as _options
from frame_prc.cli.commands import COMMANDS

VERBS = {command.name: command.verb for command in COMMANDS}
# Of the roles that not every command has: those of each.
COUNTS = {"cluster", "strata", "pos", "neg"}
SQUARES = {*COUNTS, "pos_squares", "neg_squares"}
USED = {
    **dict.fromkeys(["average_precision", "heterogeneity", "summary"], SQUARES),
    "counts": SQUARES - {"cluster", "strata"},
    "compare_models": {"row", "cluster", "strata"},
    "compare_segments": {"cluster", "strata"},
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_parameter_of_a_verb_is_an_option_unless_it_means_nothing_there(command):
    unused = {"frame", "path", "row", *SQUARES} - USED.get(command.verb, COUNTS)
    verb = inspect.signature(getattr(frame_prc, command.verb))
    code, help_text, _ = run(command.name, "--help")
    assert code == 0
    flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", help_text, flags=re.MULTILINE)
    if command.verb in ("find_segments", "influence"):
        unused |= {"pos", "neg"}
    expected = ["--" + name.replace("_", "-") for name in verb.parameters if name not in unused]
    assert flags[: len(expected)] == expected
    assert " ".join(command.example.split()) in " ".join(help_text.split())
    # What only Python reads: markup, calls, and the names of parameters as they are written there.
    texts = [option.help for option in _options.options(command.verb).values()]
    assert all(texts)
    assert not re.search(
        r"`|:func|\bpl\.|\w=[\"'\w]|\bNone\b",
        re.sub("NAME=|=0|beta=|1000?,[a-z]+=", "", str(texts)),
    )


GIVEN = {
    "ap --ci .9 --cluster user": {"ci": 0.9, "cluster": "user"},
    "ap -w w --thresholds .0,.5": {"weight": "w", "thresholds": [0, 0.5]},
    "ap --model user --calibrate pooled": {"model": "user", "calibrate": "pooled"},
    "ap --top 2,normaliser=attainable": {"top": Top(2, "attainable")},
    "ap --ci .9 --bootstrap 9,seed=1,stratified=true": {"ci": 0.9, "bootstrap": Draws(9, 1, True)},
    "curve --keep corners --start first": {"keep": "corners", "start": "first"},
    "curve --thresholds 5 --start none": {"thresholds": 5, "start": None},
    "curve --recalls 3 --over region": {"recalls": 3, "over": "region"},
    "summary --measures gain,interpolated": {"measures": ["gain", "interpolated"]},
    "compare-segments --against region=south": {"against": {"region": "south"}},
    "compare-segments --against previous --calibrate .2": {"against": "previous", "calibrate": 0.2},
    "compare-models -s other --adjust none": {"score": ["score", "other"]},
    "compare-models -s other --baseline other": {"score": ["score", "other"], "baseline": "other"},
    "points --recall .5,1 --f-beta 1 --f-beta 2": {"recall": [0.5, 1], "f_beta": [1, 2]},
    "points --threshold w": {"threshold": "w"},
    "points --threshold 0.5,0.75 --details": {"threshold": [0.5, 0.75], "details": True},
    "points --recall 0.5 --guarantee 0.5": {"recall": 0.5, "guarantee": 0.5},
    "points --cost 1,10 --cost 2,1": {"cost": [(1, 10), (2, 1)]},
    "counts --squares": {"squares": True},
    "counts -w w --thresholds 3": {"weight": "w", "thresholds": 3},
}


@pytest.mark.parametrize("line", GIVEN)
def test_a_command_gives_what_its_verb_gives(here, line):
    ROWS.with_columns(w=pl.max("w").over("region")).write_parquet("wide.parquet")
    name, *options = line.split()
    arguments = [name, "wide.parquet", *ASKED, "--by", "region", *options]
    assert run(*arguments, "-o", "out.parquet") == (0, "", "")
    asked = {"truth": "late", "score": "score", "by": "region", **GIVEN[line]}
    expected = getattr(frame_prc, VERBS[name])(pl.read_parquet("wide.parquet"), **asked)
    assert_frame_equal(pl.read_parquet(here / "out.parquet"), expected, rel_tol=1e-12)


@pytest.mark.parametrize("suffix", [".tsv", ".parquet"])
def test_thresholds_are_held_to_other_rows_through_a_file(suffix):
    later = ROWS.with_columns(score=pl.col("score") - 0.1)
    later.write_csv("later.csv")
    asked = [*ASKED, "-b", "region"]
    assert run("points", "rows.csv", *asked, "--recall", "1", "-o", f"chosen{suffix}")[0] == 0
    held = ["--threshold", f"chosen{suffix}", "--ci", "0.9", "--details"]
    found = result("points", "later.csv", *asked, *held)
    by = {"by": "region", "details": True}
    chosen = frame_prc.operating_points(ROWS, "late", "score", recall=1, **by)
    expected = frame_prc.operating_points(later, "late", "score", threshold=chosen, ci=0.9, **by)
    assert found["tp"].to_list() == expected["tp"].to_list() == [1, 0]
    assert found["recall_high"].to_list() == pytest.approx(expected["recall_high"].to_list())
    measures = ["--measures", "recall", "--at", f"chosen{suffix}", "--details"]
    scorecard = result("summary", "later.csv", *asked, *measures)
    assert scorecard["recall"].to_list() == expected["recall"].to_list()


def test_a_named_segment_has_the_type_of_its_key(here):
    day = pl.when(pl.col("user") > 1).then(dt.date(2024, 1, 2)).otherwise(dt.date(2024, 1, 1))
    df = ROWS.with_columns(day=day, number=pl.col("user") % 2)
    df.write_parquet("typed.parquet")
    for key, text, value in (("day", "2024-01-02", dt.date(2024, 1, 2)), ("number", "1", 1)):
        asked = ["-b", key, "--against", f"{key}={text}", "-o", "found.parquet"]
        assert run("compare-segments", "typed.parquet", *ASKED, *asked) == (0, "", "")
        expected = df.prc.compare_segments("late", "score", by=key, against={key: value})
        assert_frame_equal(pl.read_parquet(here / "found.parquet"), expected, rel_tol=1e-12)


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
    ("name", "dtype", "mixed"),
    [
        ("ap", pl.Float32, pl.col("user")),
        ("counts", pl.Float64, pl.col("user").cast(pl.UInt64)),
        ("compare-models", pl.Float64, pl.col("w").cast(pl.Decimal(10, 2))),
        ("ap", pl.Float64, pl.col("user") * 2**60),
    ],
    ids=str,
)
def test_scores_of_several_dtypes_are_ranked_together(here, name, dtype, mixed):
    rows = ROWS.with_columns(pl.col("score").cast(dtype), mixed=mixed)
    rows.write_parquet("mixed.parquet")
    asked = ["-t", "late", "-s", "score", "-s", "new=mixed", "-b", "region", "-o", "out.parquet"]
    assert run(name, "mixed.parquet", *asked) == (0, "", "")
    scores = {"score": "score", "new": pl.col("mixed").cast(pl.Float64)}
    expected = getattr(frame_prc, VERBS[name])(rows, "late", scores, by="region")
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


LABELS = [
    *((text, pl.String(), text) for text in ("yes", "1")),
    *(("1", dtype, 1) for dtype in (pl.Int8(), pl.UInt64())),
    *(("1.0", pl.Int64(), 1), ("1", pl.Float32(), 1.0), ("yes", pl.Enum(["yes", "no"]), "yes")),
    *(("true", pl.Boolean(), True), ("False", pl.Boolean(), False), ("yes", pl.Boolean(), "yes")),
    *((text, pl.Int64(), text) for text in ("one", "1.5", "nan")),
    *(("1.5", pl.Decimal(5, 2), Decimal("1.5")), ("one", pl.Decimal(5, 2), "one")),
    *(("2024-02-03", pl.Date(), dt.date(2024, 2, 3)), ("04:05", pl.Time(), dt.time(4, 5))),
    ("2024-02-03T04:05", pl.Datetime("us"), dt.datetime(2024, 2, 3, 4, 5)),
]


def test_a_label_has_the_dtype_of_its_truth():
    for text, dtype, value in LABELS:
        label = from_text(text, dtype)
        assert (label, type(label)) == (value, type(value)), dtype


def test_the_positive_label_is_found_in_a_column_of_any_dtype():
    day = pl.when("late").then(dt.date(2024, 1, 2)).otherwise(dt.date(2024, 1, 3))
    ROWS.with_columns(day=day).write_parquet("days.parquet")
    for label in ("said=yes", "number=1", "number=1.0", "late=true", "day=2024-01-02"):
        column, _, value = label.partition("=")
        asked = ["-t", column, "-s", "score", "--pos-label", value]
        assert result("ap", "days.parquet", *asked)["n_pos"].to_list() == [3], label


def test_columns_may_be_taken_as_text():
    Path("codes.csv").write_text("late,score,zip\ntrue,0.5,007\nfalse,0.4,7\n", encoding="utf-8")
    code, out, _ = run("ap", "codes.csv", *ASKED, "-b", "zip", "--text", "zip", "-f", "json")
    assert code == 0
    assert [row["zip"] for row in json.loads(out)] == ["007", "7"]
