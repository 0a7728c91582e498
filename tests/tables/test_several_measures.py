"""Comparisons by several measures at once: a row each, and one family of tests."""

from __future__ import annotations

import polars as pl
import pytest
from inference.test_measures import two_models
from kinds import every_kind
from polars.testing import assert_frame_equal
from statsmodels.stats.multitest import multipletests

import frame_prc
from frame_prc import OptionError

MEASURES = ["calibrated_average_precision", "roc_auc", "log_loss", "mcc"]
AT = {"recall": 0.6}


def compare(kind, df, verb, measure, **options):
    ev = kind.make(df).prc.evaluate("truth", ["old", "score"], by="region")
    at = AT if "mcc" in measure else None
    return kind.rows(getattr(ev, verb)(measure=measure, at=at, details=True, **options))


@every_kind
@pytest.mark.parametrize("verb", ["compare_models", "compare_segments"])
def test_each_measure_has_the_row_that_it_has_alone(kind, verb):
    df = two_models()
    found = compare(kind, df, verb, MEASURES)
    assert found["measure"].to_list() == MEASURES * (found.height // len(MEASURES))
    for name in MEASURES:
        alone = compare(kind, df, verb, name)
        own = found.filter(measure=pl.lit(name)).select(alone.columns)
        assert_frame_equal(own, alone, rel_tol=1e-12)


@every_kind
@pytest.mark.parametrize("verb", ["compare_models", "compare_segments"])
def test_they_are_one_family_of_tests(kind, verb):
    found = compare(kind, two_models(), verb, MEASURES, adjust="holm")
    expected = multipletests(found["p_value"], method="holm")[1]
    assert found["p_adjusted"].to_list() == pytest.approx(expected)
    excludes = (found["ci_low_adjusted"] > 0) | (found["ci_high_adjusted"] < 0)
    assert (excludes == (found["p_adjusted"] < 0.05)).all()
    assert (found["ci_high_adjusted"] > found["ci_high"]).any()


def test_the_measure_is_shown_without_details():
    ev = two_models().prc.evaluate("truth", ["old", "score"])
    shown = ["model", "baseline", "measure", "difference", "ci_low", "ci_high", "p_value", "status"]
    assert ev.compare_models(measure=["roc_auc", "brier"]).columns == shown
    assert [*ev.compare_models(measure="roc_auc").columns] == [
        *("model", "baseline", "difference", "measure", "ci_low", "ci_high", "p_value", "status")
    ]
    assert "measure" not in ev.compare_models(calibrate=0.3).columns
    over = two_models().prc.evaluate("truth", ["old", "score"], by="region")
    paired = over.compare_models(over="region", measure="roc_auc")
    assert set(paired["measure"]) == {"roc_auc"}


@every_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"measure": []}, "measure= is an empty list"),
        ({"measure": ["roc_auc", "auc"]}, "measure='auc' is not an option.*'roc_auc'"),
        ({"measure": ["roc_auc", "mcc"]}, "measure='mcc' is given without at="),
        ({"measure": ["roc_auc", "brier"], "at": AT}, "at= is given with measure="),
        ({"measure": ["roc_auc", "brier"], "margin": 0.1}, "margin= is given with 2 measures"),
        ({"measure": ["brier", "brier_skill"], "scale": "ratio"}, "'brier_skill', whose values"),
        ({"measure": ["roc_auc", "brier"], "calibrate": 0.1}, "calibrate= is given with measure="),
        ({"measure": ["roc_auc", "brier"], "over": "region"}, "a list in measure= is given with"),
    ],
)
def test_what_several_cannot_have_is_one_error(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        frame_prc.compare_models(kind.make(two_models()), "truth", ["old", "score"], **asked)
