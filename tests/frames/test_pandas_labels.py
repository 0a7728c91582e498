"""Labels of pandas that are not text: they name columns, and come back in the keys."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pandas_frames import ROWS, ask, every_verb

import frame_prc
from frame_prc import ColumnError, OptionError

NAMED = ROWS.to_pandas()
PLACES = dict(zip(NAMED.columns, range(4), strict=True))
LABELS = {
    "integers": PLACES,
    "tuples": {name: ("level", name) for name in NAMED},
}
every_label = pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)


def labelled(labels):
    # A list of tuples becomes a MultiIndex.
    return NAMED.set_axis([labels[name] for name in NAMED], axis=1)


@every_label
@every_verb
def test_label_names_its_column_in_every_role(labels, verb):
    asked = {"truth": "late", "by": "region", "weight": "other"}
    expected = ask(verb, NAMED, score="score", **asked)
    frame, asked = labelled(labels), {role: labels[name] for role, name in asked.items()}
    found = ask(verb, frame, score=labels["score"], **asked)
    assert found.columns[0] == labels["region"]
    pd.testing.assert_frame_equal(found.set_axis(expected.columns, axis=1), expected)
    by_text = ask(verb, frame, score=str(labels["score"]), **{r: str(n) for r, n in asked.items()})
    pd.testing.assert_frame_equal(by_text, expected.rename(columns={"region": str(asked["by"])}))


@every_label
def test_labels_are_taken_in_lists_and_mappings(labels):
    late, score, other, region = (labels[name] for name in ("late", "score", "other", "region"))
    frame = labelled(labels)
    models = frame.prc.average_precision(late, [score, other], by=[[region], []])
    assert models.columns[:3].tolist() == ["grouping", "model", region]
    assert [*models["model"].unique()] == sorted([str(score), str(other)])
    named = frame.prc.evaluate(late, {"new": score, "old": other}).curve()
    assert [*named["model"].unique()] == ["new", "old"]
    long = frame.prc.one_vs_rest(late, {True: score, False: other}, by=region)
    assert long.columns.tolist() == [region, "label", "truth", "score"]
    thresholds = frame.prc.quantile_thresholds(score, 2)
    assert thresholds == NAMED.prc.quantile_thresholds("score", 2)


def test_columns_of_predict_proba_are_taken_by_their_place():
    frame = pd.DataFrame(np.c_[1 - NAMED["score"], NAMED["score"]]).assign(late=NAMED["late"])
    expected = NAMED.prc.average_precision("late", "score")
    pd.testing.assert_frame_equal(frame.prc.average_precision("late", 1), expected)
    both = frame.prc.average_precision("late", frame.columns[[0, 1]])
    assert both["model"].tolist() == ["0", "1"]


@pytest.mark.parametrize(("label", "hint"), [(7, "in pandas a label"), (True, r"pl\.lit\(True\)")])
def test_what_is_no_label_is_no_column(label, hint):
    with pytest.raises(OptionError, match=rf"takes columns, got {label} .*{hint}"):
        labelled(PLACES).prc.average_precision(1, label)
    with pytest.raises(OptionError, match="takes columns, got 1 of type int"):
        frame_prc.average_precision(pl.from_pandas(NAMED), "late", 1)


def test_label_and_text_that_read_alike_are_refused():
    frame = labelled(PLACES).assign(**{"2": 0.5})
    with pytest.raises(ColumnError, match=r"has 2 columns named '2'.*rename them"):
        frame.prc.average_precision(1, 2)
