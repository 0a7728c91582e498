"""``--fail-under``: which rows make a command fail, and how it says so."""

from __future__ import annotations

import io

import polars as pl
import pytest
from command_line import ASKED, ROWS, leftovers, run

BY_REGION = ["rows.parquet", *ASKED, "-b", "region"]
# By hand, of the scores of ROWS: hits at ranks 1 and 3 of 3, and at rank 2 of 3.
NORTH, SOUTH = (1 + 2 / 3) / 2, 1 / 2


def judged(*arguments: str) -> tuple[int, pl.DataFrame, list[str]]:
    """Return the exit code, the table that was printed, and the lines on standard error."""
    code, out, err = run(*arguments)
    lines = [line.removeprefix("frame-prc: ") for line in err.splitlines()]
    return code, pl.read_csv(io.StringIO(out), separator="\t"), lines


CONDITIONS = {
    "average_precision<0.5": {},
    "average_precision<=0.5": {"south": "0.5"},
    " average_precision < 0.6 ": {"south": "0.5"},
    "average_precision<1": {"north": "0.8333", "south": "0.5"},
    "average_precision>=.5": {"north": "0.8333", "south": "0.5"},
    # With as many digits as tell the value from the limit.
    "average_precision>.8333": {"north": "0.833333"},
    "average_precision>.833333": {"north": "0.833333333"},
    "n_pos<2": {"south": "1"},
    "n_pos>1e0": {"north": "2"},
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_meet_a_condition_fail_and_are_named(condition):
    code, table, lines = judged("ap", *BY_REGION, "--fail-under", condition)
    assert table["average_precision"].to_list() == pytest.approx([NORTH, SOUTH], rel=1e-12)
    column = "n_pos" if "n_pos" in condition else "average_precision"
    failed = CONDITIONS[condition]
    told = [f"region={name!r}: {column} is {value}" for name, value in failed.items()]
    ended = [f"{len(failed)} of 2 rows failed --fail-under {condition!r}"] if failed else []
    assert (code, lines) == (3 if failed else 0, told + ended)


def test_one_of_several_conditions_is_enough():
    asked = ["--fail-under", "n<0", "--fail-under", "n_pos<2", "--fail-under", "n_pos>1"]
    code, _, lines = judged("ap", *BY_REGION, *asked)
    assert code == 3
    assert lines == [
        "region='south': n_pos is 1",
        "1 of 2 rows failed --fail-under 'n_pos<2'",
        "region='north': n_pos is 2",
        "1 of 2 rows failed --fail-under 'n_pos>1'",
    ]


@pytest.mark.parametrize(
    ("line", "condition", "named"),
    [
        ("summary --overall", "n>5", ["level='pooled', region=null", "level='macro', region=null"]),
        (
            "compare-models -s other",
            "value_b<.6",
            ["region='south', model='other', baseline='score'"],
        ),
        (
            "points --recall 1 --threshold 0",
            "tp<2",
            [f"region='south', target='{target}'" for target in ("recall=1", "threshold=0")],
        ),
        ("operating-points --recall .5", "threshold<.6", ["region='south', target="]),
        ("heterogeneity", "n_left_out>0", ["all rows"]),
    ],
)
def test_every_table_of_segments_can_fail(line, condition, named):
    command, *options = line.split()
    code, _, lines = judged(command, *BY_REGION, *options, "--fail-under", condition)
    assert code == 3
    assert len(lines) == len(named) + 1
    for told, who in zip(lines, named, strict=False):
        assert told.startswith(who)


def test_a_row_without_a_value_is_named_and_does_not_fail(here):
    late = pl.col("late") & (pl.col("region") == "north")
    ROWS.with_columns(late).write_parquet(here / "none.parquet")
    asked = ["ap", "none.parquet", *ASKED, "-b", "region", "--fail-under"]
    nobody = "region='south': average_precision has no value (no_positives) and was not judged"
    assert judged(*asked, "average_precision<.5")[::2] == (0, [nobody])
    code, _, lines = judged(*asked, "average_precision<.9")
    assert (code, lines[1:]) == (
        3,
        [nobody, "1 of 2 rows failed --fail-under 'average_precision<.9'"],
    )
    many = pl.concat(ROWS.with_columns(late=False, region=pl.lit(f"r{n}")) for n in range(5))
    pl.concat([ROWS, many]).write_parquet("many.parquet")
    asked[1] = "many.parquet"
    told = [f"region='r{n}': {nobody.partition(': ')[2]}" for n in range(3)]
    more = "2 more rows have no value of average_precision and were not judged"
    assert judged(*asked, "average_precision<.1")[::2] == (0, [*told, more])
    key = pl.when(region="north").then(float("nan")).otherwise(7.0)
    ROWS.with_columns(key=key).write_parquet("keys.parquet")
    asked = ["ap", "keys.parquet", *ASKED, "-b", "key", "--fail-under", "key>=7"]
    told = ["key=7.0: key is 7", "key=nan: key has no value (ok) and was not judged"]
    assert judged(*asked)[::2] == (3, [*told, "1 of 2 rows failed --fail-under 'key>=7'"])


def test_without_any_value_nothing_can_be_judged():
    ROWS.with_columns(late=False).write_parquet("none.parquet")
    arguments = ["ap", "none.parquet", *ASKED, "-b", "region"]
    code, out, err = run(*arguments, "--fail-under", "average_precision<.5")
    assert (code, out) == (1, run(*arguments)[1])
    assert err == (
        "frame-prc: no row has a value of 'average_precision', which --fail-under "
        "'average_precision<.5' judges. Hint: the column status, where there is one, says why.\n"
    )


def test_a_file_is_written_whether_its_rows_fail_or_not(here):
    for condition, code in (("n<0", 0), ("n>0", 3)):
        asked = ["ap", *BY_REGION, "-o", "ap.csv", "--fail-under", condition]
        assert run(*asked)[:2] == (code, "")
        written = pl.read_csv(here / "ap.csv")
        assert written["average_precision"].to_list() == pytest.approx([NORTH, SOUTH], rel=1e-12)
        (here / "ap.csv").unlink()
    assert leftovers(here) == []


def test_a_word_is_a_condition_too():
    asked = ["--fail-under", "status=few_positives", "--ci", "0.9"]
    code, _, lines = judged("ap", *BY_REGION, *asked)
    assert code == 3
    assert lines[0] == "region='north': status is few_positives"
    code, _, err = run("ap", *BY_REGION, "--fail-under", "average_precision=ok")
    assert (code, "a column of text" in err) == (2, True)


def test_nothing_found_is_no_failure_and_a_state_goes_on(tmp_path):
    weeks = pl.DataFrame({"row": range(3000)}).with_columns(
        week=pl.col("row") // 250, late=pl.col("row") * 7 % 11 < 4, noise=pl.col("row") * 7919 % 601
    )
    helps = pl.when(pl.col("week") < 10).then(300).otherwise(0)
    rows = weeks.with_columns(score=pl.col("noise") + helps * pl.col("late"))
    state = tmp_path / "state.parquet"
    for name, part in (("old", pl.col("week") < 9), ("new", pl.col("week") >= 9)):
        rows.filter(part).write_parquet(tmp_path / f"{name}.parquet")
    roles = ["-t", "late", "-s", "score", "-b", "week"]
    asked = ["--over", "week", "--plan", "4,8", "--details", "-o", str(state)]
    gated = ["--fail-under", "conclusion=alarm"]
    code, _, _ = run("watch", str(tmp_path / "old.parquet"), *roles, *asked, *gated)
    assert code == 0
    new = str(tmp_path / "new.parquet")
    code, _, err = run("watch", new, *roles, *asked, "--state", str(state), *gated)
    assert (code, pl.read_parquet(state).height) == (3, 12)
    assert "week=10: conclusion is alarm" in err
    code, _, _ = run("watch", new, *roles, *asked, "--state", str(state), *gated)
    assert code == 0  # nothing is new
    code, _, err = run("watch", new, *roles, *asked, "--fail-under", "conclusion=Alarm")
    assert (code, "did you mean 'alarm'" in err) == (2, True)
    old = str(tmp_path / "old.parquet")
    code, out, _ = run("find", old, *roles, "--fail-under", "difference<0", "--format", "csv")
    assert (code, len(out.splitlines())) == (0, 1)
    code, out, _ = run("find", old, *roles, "--format", "table")
    assert (code, "segment" in out) == (0, True)
