"""The examples, run as a user runs them, and what the README says they show."""

from __future__ import annotations

import re
import runpy
import struct
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import engine_kinds
import numpy as np
import optional
import polars as pl
import pytest
from checkout import CHECKOUT, EXAMPLES, FLIGHTS, README, TESTS, in_checkout
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score

import frame_prc

pytestmark = [pytest.mark.thorough, *engine_kinds.WARNINGS]

DIGITS = EXAMPLES / "data" / "digits.parquet"
BREAST_CANCER = EXAMPLES / "data" / "breast_cancer.parquet"
SOLVER_TOLERANCE = 1e-4  # the default of scikit-learn's LogisticRegression
MODELS = ["logistic", "boosting"]
CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(  # noqa: S603
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def breast_cancer(tmp_path_factory):
    """Return the file that the breast-cancer example writes into the folder it is told."""
    folder = tmp_path_factory.mktemp("breast_cancer")
    run(sys.executable, EXAMPLES / "breast_cancer.py", folder / "new" / "folder", cwd=folder)
    return folder / "new" / "folder" / "breast_cancer.tsv"


def assert_is_picture(path: Path) -> None:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    assert 600 <= width <= 1600
    assert 300 <= height <= 1700
    assert path.stat().st_size > 20_000  # an empty panel of this size takes a tenth


def table_rows(text: str) -> list[tuple[str, ...]]:
    """Return the cells of every row of a printed frame, without its borders and widths."""
    rows = (line.strip("│").split("┆") for line in text.splitlines() if line.startswith("│"))
    return [tuple(cell.strip() for cell in row) for row in rows]


# --- one per task ------------------------------------------------------------------------------


def test_grouped_evaluation_has_a_row_per_carrier(tmp_path):
    optional.require_module("altair")
    printed = run(sys.executable, EXAMPLES / "grouped_evaluation.py", cwd=tmp_path)
    names, _, _, *rows = table_rows(printed)
    assert names[:5] == ("carrier", "n", "n_pos", "lift", "average_precision")
    assert sorted(row[0] for row in rows) == CARRIERS
    areas = [float(row[4]) for row in rows]
    assert areas == sorted(areas, reverse=True)
    assert ("DL", "24351", "2812", "0.32338") in [(*row[:3], row[4]) for row in rows]
    assert_is_picture(tmp_path / "out" / "grouped_evaluation.png")


def test_two_models_are_compared_for_every_carrier(tmp_path):
    optional.require_module("altair")
    printed = run(sys.executable, EXAMPLES / "two_models.py", cwd=tmp_path)
    _, _, _, *rows = table_rows(printed)
    assert sorted(row[0] for row in rows) == CARRIERS
    areas = (
        pl.read_parquet(FLIGHTS)
        .filter(carrier="DL")
        .select(
            frame_prc.average_precision_expr("late", model).round(4).alias(model)
            for model in ("boosting", "logistic")
        )
    )
    assert next(row for row in rows if row[0] == "DL")[2:4] == tuple(map(str, areas.row(0)))
    assert_is_picture(tmp_path / "out" / "two_models.png")


def test_thresholds_are_what_they_were_chosen_for(tmp_path):
    optional.require_module("altair")
    printed = run(sys.executable, EXAMPLES / "imbalanced_thresholds.py", cwd=tmp_path)
    _, _, _, *rows = table_rows(printed)
    assert len(rows) == 3 * 4
    flights = pl.read_parquet(FLIGHTS)
    for origin, target, threshold, precision, recall, count, _ in rows:
        alarms = flights.filter(pl.col("origin") == origin, pl.col("boosting") > float(threshold))
        found = alarms["late"].sum()
        of = flights.filter(origin=origin)
        shares = (found / alarms.height, found / of["late"].sum(), alarms.height / of.height)
        rate = int(count) / of.height
        assert shares == pytest.approx((float(precision), float(recall), rate), abs=0.02)
        if target.startswith("predicted_rate="):
            assert rate <= float(target.partition("=")[2])
    assert_is_picture(tmp_path / "out" / "imbalanced_thresholds.png")


def test_thresholds_of_one_quarter_are_held_to_the_next(tmp_path):
    printed = run(sys.executable, EXAMPLES / "held_thresholds.py", cwd=tmp_path)
    _, _, _, *rows = table_rows(printed)
    flights = pl.read_parquet(FLIGHTS).with_columns(is_autumn=pl.col("day").dt.month() >= 10)
    for carrier, target, threshold, recall, low, high, _, status in rows[:16]:
        late = flights.filter(pl.col("late"), carrier=carrier)
        summer, autumn = (
            late.filter(is_autumn=is_autumn)["boosting"] for is_autumn in (False, True)
        )
        # The table rounds the threshold.
        assert (summer >= float(threshold) - 0.0006).mean() >= float(target.partition("=")[2])
        assert (status == "no_positives") == autumn.is_empty()
        if not autumn.is_empty():
            found = (autumn >= float(threshold)).mean()
            assert found == pytest.approx(float(recall), abs=0.02)
            assert float(low) < float(recall) < float(high)


def test_published_analyses_are_what_is_counted_by_hand():
    analyses = runpy.run_path(str(EXAMPLES / "published_analyses.py"))
    ages = ["below 30", "30 to 49", "from 50"]
    fraud, honest = (
        analyses["drawn"](200_000, 0.011, age=ages).filter(truth=truth) for truth in (True, False)
    )
    beyond = honest["score"].sort(descending=True)[int(0.05 * honest.height)]
    limit = fraud.filter(pl.col("score") > beyond)["score"].min()
    rates = honest.group_by("age").agg((pl.col("score") >= limit).mean())
    rates = dict(rates.iter_rows())
    ratios = dict(analyses["false_positive_rate_ratios"]().select("age", "ratio").iter_rows())
    for age in ages[1:]:
        assert ratios[age] == pytest.approx(rates[age] / rates[ages[0]], rel=1e-12)

    columns = {"education": ages, "sex": ["f", "m"], "married": ["no", "yes"], "age": ages}
    by_sex = analyses["credit_table"]().filter(grouping="sex").sort("sex")
    error = (pl.col("score") - pl.col("truth").cast(pl.Float64)).alias("error")
    clients = analyses["drawn"](30_000, 0.15, **columns).select("sex", "truth", error)
    means = {"prevalence": pl.col("truth").mean(), "calibration_gap": pl.col("error").mean()}
    by_hand = clients.group_by("sex").agg(**means, brier=(pl.col("error") ** 2).mean()).sort("sex")
    assert_frame_equal(by_sex.select(by_hand.columns), by_hand, rel_tol=1e-10)


def test_classes_are_averaged_as_by_scikit_learn(tmp_path):
    optional.require_module("altair")
    printed = run(sys.executable, EXAMPLES / "multiclass.py", cwd=tmp_path)
    digits = pl.read_parquet(DIGITS)
    truth = np.array([[label == digit for digit in range(10)] for label in digits["digit"]])
    scores = digits.drop("digit").to_numpy()
    for how, average in (("mean", "macro"), ("weighted", "weighted"), ("micro", "micro")):
        mean = average_precision_score(truth, scores, average=average)
        assert f"{how}: {mean:.4f}" in printed
    assert_is_picture(tmp_path / "out" / "multiclass.png")


def test_a_scorecard_for_a_slide_sets_the_totals_apart(tmp_path):
    optional.require_module("great_tables")
    run(
        sys.executable,
        EXAMPLES / "scorecard_table.py",
        tmp_path / "new" / "card.html",
        cwd=tmp_path,
    )
    page = (tmp_path / "new" / "card.html").read_text(encoding="utf-8")
    flights = pl.read_parquet(FLIGHTS)
    areas = {
        carrier: average_precision_score(rows["late"], rows["boosting"])
        for (carrier,), rows in flights.group_by("carrier")
    }
    totals = {
        "All flights": average_precision_score(flights["late"], flights["boosting"]),
        "Mean of the carriers": sum(areas.values()) / len(areas),
    }
    order = sorted(areas, key=areas.get, reverse=True)
    headings = re.findall(r'<th class="gt_group_heading"[^>]*>(.*?)</th>', page)
    assert headings == ["Carriers", "Overall"]
    assert page.index(f">{order[-1]}<") < page.index(">Overall<") < page.index(">All flights<")
    assert re.findall(r'gt_stub">(.*?)</th>', page) == [*order, *totals]
    shown = re.findall(r">([\d.]+)</td>\s*<td[^>]*><svg", page)
    expected = areas | totals
    assert [float(text) for text in shown] == pytest.approx(
        [expected[name] for name in (*order, *totals)], rel=5e-3
    )
    # Bars of one scale: each dot is as far from 0 as its value says.
    dots = [float(text) for text in re.findall(r'<circle cx="([\d.]+)"', page)]
    line = float(re.search(r'<line x1="([\d.]+)"', page)[1])
    for name, dot in zip((*order, *totals), dots, strict=True):
        assert dot / line == pytest.approx(expected[name] / totals["All flights"], rel=2e-3)


def test_weeks_are_compared_and_drawn(tmp_path):
    optional.require_module("altair")
    printed = run(sys.executable, EXAMPLES / "rolling_weeks.py", cwd=tmp_path)
    _, _, _, first, *rows = table_rows(printed)
    assert first[0] == "2013-07-01"
    assert first[2:] == ("null",) * 6
    assert len(rows) == 26
    assert {row[-1] for row in rows} == {"false"}
    for picture in ("weeks.png", "rolling_weeks.png"):
        assert_is_picture(tmp_path / "out" / picture)


@pytest.mark.parametrize("weeks", [1, 4])
def test_windows_hold_the_rows_of_their_weeks(weeks):
    rolling_weeks = runpy.run_path(str(EXAMPLES / "rolling_weeks.py"))["rolling_weeks"]
    windows = rolling_weeks(pl.scan_parquet(FLIGHTS), weeks)
    assert isinstance(windows, pl.LazyFrame)
    found = frame_prc.average_precision(windows, "late", "boosting", by="window").collect()
    flights = pl.read_parquet(FLIGHTS)
    mondays = [date(2013, 7, 1) + timedelta(weeks=week) for week in range(26)]
    assert found["window"].to_list() == mondays[weeks - 1 :]  # the data end on a Tuesday
    for monday, size, area in found.select("window", "n", "average_precision").iter_rows():
        start = monday - timedelta(weeks=weeks - 1)
        own = flights.filter(pl.col("day").is_between(start, monday + timedelta(days=6)))
        assert size == own.height
        assert area == pytest.approx(average_precision_score(own["late"], own["boosting"]))


def test_digits_are_made_again(tmp_path):
    run(sys.executable, EXAMPLES / "make_digits.py", tmp_path / "made.parquet", cwd=tmp_path)
    # Another linear algebra library may stop a step earlier.
    assert_frame_equal(
        pl.read_parquet(tmp_path / "made.parquet"), pl.read_parquet(DIGITS), abs_tol=1e-3
    )


def test_every_example_is_run_by_a_test():
    files = [path for path in TESTS.rglob("*.py") if "benchmarks" not in path.parts]
    tests = "".join(path.read_text(encoding="utf-8") for path in files)
    scripts = {path.name for path in EXAMPLES.glob("*.py")} - {"make_flights.py"}  # takes minutes
    assert {name for name in scripts if name not in tests} == set()


@in_checkout
def test_pictures_of_the_readme_are_there():
    text = README.read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures
    for picture in pictures:
        assert_is_picture(CHECKOUT / picture)


@in_checkout
def test_readme_prints_what_it_shows(monkeypatch, capsys):
    monkeypatch.chdir(CHECKOUT)
    text = README.read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})  # noqa: S102
    assert capsys.readouterr().out.partition("\n")[2] == shown


# --- the breast-cancer curve -------------------------------------------------------------------


def test_breast_cancer_curve_ends_at_full_recall(breast_cancer):
    table = pl.read_csv(breast_cancer, separator="\t")
    assert table.columns == ["Precision", "Recall", "Decision Threshold"]
    assert table.height == 376
    assert table.row(0) == (1.0, 0.0, float("inf"))
    assert table.row(1) == (1.0, 1 / 322, 0.9999879774432033)
    assert (table["Recall"].diff().drop_nulls() >= 0).all()
    assert (table["Decision Threshold"].diff().drop_nulls() < 0).all()
    assert (table["Recall"] == 1).arg_true().to_list() == [375]


def test_breast_cancer_scores_are_made_again(tmp_path):
    run(sys.executable, EXAMPLES / "make_breast_cancer.py", tmp_path / "made.parquet", cwd=tmp_path)
    made, ours = (pl.read_parquet(file) for file in (tmp_path / "made.parquet", BREAST_CANCER))
    # A machine that rounds another way leaves the solver another step, within its tolerance; with
    # the kernels of OpenBLAS for Haswell, SkylakeX and Prescott scores are up to 1.6e-5 apart.
    assert_frame_equal(made, ours, rel_tol=0, abs_tol=SOLVER_TOLERANCE)
    assert made["score"].arg_sort().equals(ours["score"].arg_sort())


# --- the flights -------------------------------------------------------------------------------


def test_flights_are_what_their_script_says():
    schema = {
        "carrier": pl.String,
        "origin": pl.String,
        "month": pl.Int8,
        "day": pl.Date,
        "late": pl.Boolean,
        "logistic": pl.Float32,
        "boosting": pl.Float32,
        "distance": pl.Int16,
    }
    flights = pl.read_parquet(FLIGHTS)
    assert dict(flights.schema) == schema
    assert flights.height == 166_668
    assert flights["month"].unique().sort().to_list() == [7, 8, 9, 10, 11, 12]
    assert (flights["day"].dt.month() == flights["month"]).all()
    assert (
        flights["day"].unique().sort().to_list()
        == pl.date_range(date(2013, 7, 1), date(2013, 12, 31), eager=True).to_list()
    )
    assert flights.null_count().row(0) == (0,) * len(schema)
    assert FLIGHTS.stat().st_size < 4_000_000


def test_flights_of_the_demonstration_are_a_third_of_these(tmp_path):
    run(sys.executable, EXAMPLES / "make_demo.py", tmp_path / "made.parquet", cwd=tmp_path)
    made, whole = pl.read_parquet(tmp_path / "made.parquet"), pl.read_parquet(FLIGHTS)
    assert made.equals(pl.read_parquet(Path(frame_prc.__file__).parent / "cli" / FLIGHTS.name))
    shared = ["carrier", "origin", "day", "late"]
    third = whole.gather_every(3)
    assert (
        made.group_by(shared).len().sort(shared).equals(third.group_by(shared).len().sort(shared))
    )
    for model in MODELS:
        own, of_all = (average_precision_score(rows["late"], rows[model]) for rows in (made, third))
        assert own == pytest.approx(of_all, abs=5e-4)  # scores have three decimals


# --- Spark -------------------------------------------------------------------------------------


def test_spark_example_prints_what_polars_computes(tmp_path, monkeypatch, capsys):
    optional.require_module("narwhals")
    flights, path = pl.read_parquet(FLIGHTS).gather_every(20), tmp_path / "flights.parquet"
    flights.write_parquet(path)
    monkeypatch.setattr(sys, "argv", ["spark.py", str(path)])
    with engine_kinds.shared_spark_session():
        runpy.run_path(str(EXAMPLES / "spark.py"), run_name="__main__")
    printed = capsys.readouterr().out
    rows = [line.strip("|").split("|") for line in printed.splitlines() if line.startswith("|")]
    names, *table = [[cell.strip() for cell in row] for row in rows]
    expected = frame_prc.average_precision(flights, "late", MODELS, by="carrier")
    assert names == expected.columns
    texts = pl.DataFrame(table, schema=names, orient="row")
    shown = texts.with_columns(pl.all().replace("NULL", None)).cast(dict(expected.schema))
    assert_frame_equal(shown, expected, rel_tol=1e-12, abs_tol=0)
    corners = frame_prc.curve(flights, "late", MODELS, by="carrier", keep="corners")
    assert f"{corners.height} points draw the curves" in printed


def test_spark_example_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    command = [sys.executable, EXAMPLES / "spark.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert done.stderr == (
        "Spark needs Java 17 or newer, and there is none. Hint: apt install openjdk-17-jre\n"
    )


# --- R -------------------------------------------------------------------------------------------


def test_r_draws_what_the_example_writes(tmp_path):
    rscript = optional.require_r_package("ggplot2")
    printed = run(sys.executable, EXAMPLES / "ggplot_curves.py", cwd=tmp_path)
    assert printed.split() == ["Rscript", str(Path("out") / "flights.R")]
    run(rscript, Path("out") / "flights.R", cwd=tmp_path)
    assert_is_picture(tmp_path / "out" / "flights.png")


def test_r_draws_the_breast_cancer_curve(breast_cancer, tmp_path):
    rscript = optional.require_r_package("ggplot2")
    script = EXAMPLES / "breast_cancer.R"
    run(rscript, script, breast_cancer, "breast_cancer.png", cwd=tmp_path)
    assert_is_picture(tmp_path / "breast_cancer.png")


def test_r_reads_the_numbers_that_were_written(breast_cancer, tmp_path):
    rscript = optional.require_program("Rscript")
    read = 'x <- read.table(commandArgs(TRUE), sep = "\\t", header = TRUE, check.names = FALSE)'
    show = 'writeLines(c(names(x), sprintf("%.17g", unlist(x))))'
    lines = run(rscript, "-e", read, "-e", show, breast_cancer, cwd=tmp_path).splitlines()
    curve = frame_prc.curve(pl.read_parquet(BREAST_CANCER), "benign", "score").head(376)
    written = pl.concat([curve["precision"], curve["recall"], curve["threshold"]])
    assert lines[:3] == ["Precision", "Recall", "Decision Threshold"]
    assert list(map(float, lines[3:])) == written.to_list()


# --- what is missing -------------------------------------------------------------------------


def test_passes_over_segments_give_what_one_pass_gives(tmp_path):
    example = runpy.run_path(str(EXAMPLES / "bigger_than_memory.py"))
    rows = pl.read_parquet(FLIGHTS).with_columns(pl.col("late") & (pl.col("carrier") != "HA"))
    parts = map(pl.read_parquet, example["curves_by_segments"](rows.lazy(), tmp_path, 3))
    curves = pl.concat(parts).sort("carrier", maintain_order=True)
    assert_frame_equal(curves, frame_prc.curve(rows, "late", "boosting", by="carrier"))


def test_passes_run_from_the_command_line(tmp_path):
    run(sys.executable, EXAMPLES / "bigger_than_memory.py", cwd=tmp_path)
    assert len(list((tmp_path / "out").glob("curves_*.parquet"))) == 4
