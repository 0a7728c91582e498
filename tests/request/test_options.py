"""Options are checked at the call, and what is allowed is named."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from error_cases import INF, NAN, ROWS, unreadable

import frame_prc
from frame_prc import ColumnError, OptionError, PrcError

# --- what is said, and when --------------------------------------------------------------------


CLASSES = {"n": "score", "s": "other"}


@pytest.mark.parametrize(
    ("verb", "asked", "error", "says"),
    [
        ("auc", {"method": "area"}, OptionError, "method='area' is not known.*'step', 'trapezoid'"),
        ("auc", {"method": None}, OptionError, "method=None"),
        ("auc", {"method": []}, OptionError, "method= is an empty list"),
        ("auc", {"method": ["step", "step"]}, OptionError, "names 'step' twice.*each method once"),
        ("auc", {"recall_range": (0.5, 0.2)}, OptionError, "recall_range=.*0 <= low < high <= 1"),
        ("auc", {"recall_range": {0.1, 0.9}}, OptionError, "recall_range=.* is not a range"),
        (
            "auc",
            {"method": "gain", "recall_range": (0, 0.5)},
            OptionError,
            "'gain' has no area over",
        ),
        ("curve", {"thresholds": 0}, OptionError, "thresholds=0 .*2 or more, or a list"),
        (
            "curve",
            {"thresholds": [0.5, 0.1]},
            OptionError,
            "0.1 comes after 0.5.*ascending.*sorted",
        ),
        ("curve", {"gain": 1}, OptionError, "gain=1 is not an option.*True, False"),
        ("average", {}, TypeError, "average.. lacks 'over'"),
        ("average", {"over": "x"}, ColumnError, "over='x' is not a key"),
        ("average", {"over": ["region"]}, PrcError, "over="),
        ("average", {"over": pl.col("region")}, PrcError, "over="),
        ("average", {"over": "x", "how": "macro"}, OptionError, "how='macro'.*mean 'mean'"),
        ("average", {"over": "x", "how": "samples"}, OptionError, "how='samples'.*mean 'rows'"),
        (
            "average",
            {"over": "region", "how": "micro", "ci": 0.9},
            OptionError,
            "ci= is given with how='micro'.*cluster='region'.* gives the interval of pooled rows",
        ),
        (
            "average",
            {"over": "region", "cluster": "user", "ci": 0.9},
            OptionError,
            "cluster= is given with ci= of a mean over segments",
        ),
        (
            "average",
            {"over": "x", "measure": "roc_auc", "top": 9},
            OptionError,
            "top= is given with measure='roc_auc'",
        ),
        (
            "operating_points",
            {},
            OptionError,
            "no target is given.*recall=, precision=, threshold=",
        ),
        ("auc", {"method": "sklearn"}, OptionError, r"'sklearn' is not known.*'gain', 'roc'\.$"),
        (
            "average",
            {"over": "region", "how": pl.Series(["mean"])},
            OptionError,
            "how=polars.Series is",
        ),
        ("summary", {"measures": pl.col("late")}, OptionError, "measures= names polars.Expr"),
        ("summary", {"measures": ROWS}, OptionError, "measures= names polars.Series"),
        ("influence", {"measures": np.array([0.5, 1])}, OptionError, "measures=0.5 is not an"),
        (
            "compare_segments",
            {"measure": ROWS},
            OptionError,
            "measure=polars.Series is not an option",
        ),
        ("operating_points", {"recall": 2}, OptionError, "recall=2 is out of range.*up to 1"),
        ("operating_points", {"recall": b"a"}, OptionError, "recall=b'a' is not a number.*up to 1"),
        ("operating_points", {"threshold": []}, OptionError, r"threshold=\[\] holds no number"),
        ("operating_points", {"threshold": math.nan}, OptionError, "threshold=nan is not a number"),
        ("counts", {"thresholds": b"ab"}, OptionError, "thresholds=b'ab' gives no thresholds"),
        ("counts", {"thresholds": {0.5}}, OptionError, r"thresholds=\{0.5\} gives no thresholds"),
        ("band", {"bootstrap": 10**15}, OptionError, "bootstrap=10+ .*from 1 to 1,000,000"),
    ],
)
def test_options_are_checked_before_a_row_is_read(verb, asked, error, says):
    frame = unreadable(ROWS)
    with pytest.raises(error, match=says):
        getattr(frame.prc, verb)("late", "score", by="region", **asked)


def test_a_watch_names_the_prevalence_of_its_reference():
    df = pl.DataFrame({"late": [1, 0, 0, 0, 1, 1] * 2, "score": 0.5, "day": [1, 1, 1, 1, 2, 3] * 2})
    asked = {"by": "day", "over": "day", "plan": (2, 9), "measure": "calibrated_average_precision"}
    for frame, says in ((df, "calibrate=0.4 is the share"), (df.lazy(), "the share of positives")):
        with pytest.raises(OptionError, match=f"calibrate= is not given, .*{says}"):
            frame.prc.monitor("late", "score", **asked)


def test_methods_and_helpers_say_what_a_call_lacks():
    with pytest.raises(PrcError, match=r"monitor.. lacks 'plan'. Hint: monitor\(..., plan=...\)"):
        ROWS.prc.evaluate("late", "score", by="region").monitor(over="region")
    with pytest.raises(PrcError, match=r"quantile_thresholds.. lacks 'score' and 'number'"):
        frame_prc.quantile_thresholds(ROWS)


@pytest.mark.parametrize(
    ("truth", "score", "error", "says"),
    [
        ("regio", CLASSES, ColumnError, "truth= names 'regio'.*did you mean 'region'"),
        ("region", {**CLASSES, "n": "scor"}, ColumnError, "score= names 'scor'.*mean 'score'"),
        (
            "region",
            {**CLASSES, "n": "answer"},
            ColumnError,
            "score= column 'answer' has dtype String",
        ),
        ("region", ["score"], OptionError, "which column belongs to which class.*{class: column}"),
        ("region", {}, OptionError, "score= names no column"),
        ("region", None, OptionError, "score="),
        (None, CLASSES, OptionError, "truth="),
        ("region", {1: "score"}, PrcError, "String"),
        (["late", "grade"], ["score"], OptionError, "truth= has 2 columns and score= has 1"),
    ],
)
def test_columns_per_class_are_checked_before_a_row_is_read(truth, score, error, says):
    frame = unreadable(ROWS)
    with pytest.raises(error, match=says):
        frame.prc.one_vs_rest(truth, score)


OUT_OF_RANGE = [
    *(("auc", {"recall_range": r}) for r in [(0.5, 0.5), (-0.1, 1), (0, 1.1), (0, NAN), 0.5, "ab"]),
    *(("curve", {"thresholds": t}) for t in (1, -3, [], [0.5, 0.5], [0, NAN], "ab", ["a"])),
    *(("curve", {"calibrate": c}) for c in (0, -0.5, 2, NAN, "a", True)),
    *(("operating_points", {"recall": r}) for r in (0, -0.5, 1.5, NAN, "a", [0.5, 2], [])),
    *(("operating_points", {"precision": p}) for p in (0, 1.5, True)),
    *(("operating_points", {"predicted_rate": p}) for p in (0, 1.5)),
    *(("operating_points", {"threshold": t}) for t in (NAN, ["a"], True)),
    *(("operating_points", {"f_beta": b}) for b in (0, INF, NAN)),
]


@pytest.mark.parametrize(("verb", "asked"), OUT_OF_RANGE, ids=str)
def test_numbers_out_of_range_are_named_with_what_is_allowed(verb, asked):
    *_, name = asked
    with pytest.raises(OptionError, match=rf"({name}|no target).*Allowed: "):
        getattr(unreadable(ROWS).prc, verb)("late", "score", **asked)


# --- key names ---------------------------------------------------------------------------------


def test_too_many_thresholds_are_named_as_they_were_asked_for():
    with pytest.raises(OptionError, match="number= asks for 2000000 thresholds"):
        ROWS.prc.quantile_thresholds("score", 2_000_000)
