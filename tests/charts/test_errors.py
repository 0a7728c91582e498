"""What cannot be drawn is refused, before it is evaluated."""

from __future__ import annotations

import polars as pl
import pytest
from chart_inputs import CHART_INPUTS, chart_input
from chart_reading import REGIONS, ROWS, segments

from frame_prc import ColumnError, DataError, OptionError
from frame_prc._curves.curve import Counts
from frame_prc._tables.areas import AveragePrecision

# --- summaries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("given", CHART_INPUTS)
def test_too_many_segments_are_refused_before_they_are_evaluated(given, monkeypatch):
    rows = segments(500).with_columns(day=1)
    frame, asked = chart_input(given, rows, "old", ("segment", "day"))

    def evaluate(*_: object, **__: object) -> None:
        raise AssertionError("evaluated")

    monkeypatch.setattr(AveragePrecision, "of", evaluate)
    monkeypatch.setattr(Counts, "of", evaluate)
    with pytest.raises(DataError, match=r"500 segments\."):
        frame.prc.plot_summary(**asked)
    with pytest.raises(AssertionError, match="evaluated"):
        segments(3).prc.plot("late", "old", by="segment")


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"points": {"recal": 0.9}}, OptionError, "points= names 'recal'.*'recall', 'precision'"),
        ({"points": 0.9}, OptionError, "points=0.9 is of type float"),
        ({"points": {"recall": 2}}, OptionError, "points={'recall': 2} is out of range"),
        ({"points": {"recall": [i / 7 for i in range(1, 8)]}}, OptionError, "7 operating points"),
        ({"points": {}}, OptionError, "no target is given"),
        (
            {"points": {"threshold": "high"}},
            OptionError,
            "points={'threshold': 'high'} is not a number",
        ),
        ({"ci": 95}, OptionError, "ci=95 is not a level.*ci=0.95"),
        ({"band": 1}, OptionError, "band=1 is not an option"),
        ({"roc": "yes"}, OptionError, "roc='yes' is not an option"),
        ({"dark": None}, OptionError, "dark=None is not an option"),
        ({"title": 3}, OptionError, "title=3 is of type int"),
        ({"size": 10}, OptionError, "size=10 is not the size of a panel.*from 40 to 4000"),
        ({"size": (300, "tall")}, OptionError, "size=.*tall.*is not the size of a panel"),
        ({"size": (300, 200, 100)}, OptionError, r"size=.*100.*\(width, height\) or one number"),
        ({"iso_f1": [1.5]}, OptionError, r"iso_f1=\[1.5\] is not an option"),
        ({"iso_f1": [i / 11 for i in range(1, 11)]}, OptionError, "iso_f1= has 10 F1 scores"),
        ({"y": 1.5}, OptionError, "y=1.5 is not the end of an axis. Allowed: 'auto', or a number"),
        ({"overlay": "all"}, OptionError, "overlay='all' is not an option"),
        ({"facet": 3}, OptionError, "facet=3 does not name keys"),
        ({"facet": True}, OptionError, "facet=True does not name keys"),
        ({"facet": "regoin", "by": "late2"}, ColumnError, "by= names 'late2'.*did you mean 'late'"),
        ({"facet": "late"}, OptionError, "facet= names 'late', which is not a key. Allowed: None"),
        ({"score": "scor"}, ColumnError, "score= names 'scor'.*did you mean 'score'"),
        ({"score": None}, OptionError, "score= is not given"),
        ({"truth": None}, OptionError, "truth= is not given"),
        ({"ci": 0.9, "weight": "score2"}, ColumnError, "weight= names 'score2'"),
        ({"ci": 0.9, "weight": "w"}, OptionError, "ci= of a curve needs counts of rows.*band"),
        ({"weight": "negative"}, DataError, "weight= column 'negative' has 1 row"),
        ({"score": "lacking"}, DataError, "values are missing: 'lacking' has 1 row"),
    ],
)
def test_bad_options_and_values_are_refused(asked, error, says):
    rows = ROWS.with_columns(
        w=1.5,
        negative=pl.Series([1.0, -1.0, 1.0, 1.0]),
        lacking=pl.Series([None, 1.0, 2.0, 3.0]),
    )
    with pytest.raises(error, match=says):
        rows.prc.plot(**{"truth": "late", "score": "score", **asked})


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda c: c.drop("tp"), ColumnError, "the frame is not a curve: it has no column 'tp'"),
        (lambda c: c.rename({"recall": "recal"}), ColumnError, "no column 'recall'.*'recal'"),
        (
            lambda c: c.select("region", average_precision="precision"),
            ColumnError,
            "no column 'threshold'.*table of areas.*draw the rows it is of",
        ),
        (
            lambda c: c.with_columns(threshold=pl.lit("high")),
            ColumnError,
            "column 'threshold' of the curve has dtype",
        ),
        (
            lambda c: c.drop("region"),
            DataError,
            "not a valid curve: .*the keys are the columns",
        ),
        (lambda c: c.with_columns(tp=pl.col("tp") * -1), DataError, "not a valid curve: in"),
        (lambda c: c.with_columns(fn=pl.lit(1)), DataError, "not a valid curve: in"),
        (lambda c: pl.concat([c, c]), DataError, "not a valid curve: in"),
    ],
    ids=["column", "near", "areas", "dtype", "key", "negative", "totals", "twice"],
)
def test_a_frame_that_is_no_curve_is_refused(change, error, says):
    curve = REGIONS.prc.curve("late", "old", by="region")
    with pytest.raises(error, match=says):
        change(curve).prc.plot()


def test_a_baseline_that_is_no_model_is_refused():
    with pytest.raises(OptionError, match=r"baseline='odl' is not a model.*'old', 'new'"):
        REGIONS.prc.plot_summary("late", ["old", "new"], baseline="odl")
    with pytest.raises(OptionError, match="names one model"):
        REGIONS.prc.plot_summary("late", "old", baseline="old")
    counts = REGIONS.prc.counts("late", ["old", "new"])
    with pytest.raises(OptionError, match=r"baseline='odl' is not a model.*'new', 'old'"):
        counts.prc.plot_summary(score="threshold", by="model", pos="pos", neg="neg", baseline="odl")
