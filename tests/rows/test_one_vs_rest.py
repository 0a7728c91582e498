"""One-vs-rest: classes and labels as one key, and columns that do not fit."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from kinds import TYPES, assert_rows, every_kind, every_polars_kind
from sklearn.datasets import load_iris
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, label_binarize
from sklearn.svm import LinearSVC

import frame_prc


def area(result):
    return result["average_precision"].item()


# --- one-vs-rest -------------------------------------------------------------------------------


@cache
def iris_scores():
    """Return scores of a one-vs-rest classifier for iris made hard by noise, as scikit-learn does.

    This is "Precision-Recall" among the examples of scikit-learn.
    """
    features, species = load_iris(return_X_y=True)
    random = np.random.RandomState(0)
    noisy = np.concatenate([features, random.randn(len(features), 200 * features.shape[1])], axis=1)
    truth = label_binarize(species, classes=[0, 1, 2])
    train, test, train_truth, _, _, test_species = train_test_split(
        noisy, truth, species, test_size=0.5, random_state=random
    )
    classifier = OneVsRestClassifier(
        make_pipeline(StandardScaler(), LinearSVC(random_state=random))
    ).fit(train, train_truth)
    scores = classifier.decision_function(test)
    columns = {f"score_{place}": scores[:, place] for place in range(3)}
    return pl.DataFrame({"species": test_species, **columns})


@every_kind
def test_iris_has_the_classes_and_the_micro_average_of_scikit_learn(kind):
    wide = iris_scores()
    columns = {place: f"score_{place}" for place in range(3)}
    long = kind.make(wide).prc.one_vs_rest("species", columns)
    per_class = kind.rows(long.prc.average_precision("truth", "score", by="label"))
    truth = label_binarize(wide["species"].to_numpy(), classes=[0, 1, 2])
    scores = wide.select(columns.values()).to_numpy()
    assert per_class["label"].to_list() == [0, 1, 2]
    assert per_class["average_precision"].to_list() == pytest.approx(
        average_precision_score(truth, scores, average=None).tolist(), rel=1e-12, abs=0
    )
    micro = long.prc.average("truth", "score", by="label", over="label", how="micro")
    assert area(kind.rows(micro)) == pytest.approx(
        average_precision_score(truth, scores, average="micro"), rel=1e-12, abs=0
    )


CLASSES = {
    "String": (pl.Series(["cat", "dog", "cat"]), "cat", "dog"),
    "Int64": (pl.Series([3, 7, 3]), 3, 7),
    "Int8": (pl.Series([3, 7, 3], dtype=pl.Int8), 3, 7),
    "Float64": (pl.Series([0.5, 1.5, 0.5]), 0.5, 1.5),
    "Boolean": (pl.Series([True, False, True]), True, False),
    "Enum": (pl.Series(["cat", "dog", "cat"], dtype=pl.Enum(["dog", "cat"])), "cat", "dog"),
    "Categorical": (pl.Series(["cat", "dog", "cat"], dtype=pl.Categorical), "cat", "dog"),
}


@every_polars_kind
@pytest.mark.parametrize(("kinds", "first", "second"), CLASSES.values(), ids=CLASSES)
def test_label_has_the_dtype_of_the_classes(kind, kinds, first, second):
    wide = pl.DataFrame({"kind": kinds, "p": [0.9, 0.6, 0.5], "q": [0.1, 0.4, 0.5]})
    result = frame_prc.one_vs_rest(kind.make(wide), "kind", {first: "p", second: "q"})
    expected = pl.DataFrame(
        {
            "label": pl.Series([first] * 3 + [second] * 3).cast(kinds.dtype),
            "truth": [True, False, True, False, True, False],
            "score": [0.9, 0.6, 0.5, 0.1, 0.4, 0.5],
        }
    )
    assert_rows(kind, result, expected)


WIDE = pl.DataFrame(
    {
        "id": [11, 12, 13],
        "region": ["n", None, "s"],
        "kind": ["cat", "dog", "cat"],
        "is_cat": [1, 0, 1],
        "is_dog": [0, 1, 1],
        "p": [0.9, 0.6, 0.5],
        "q": [0.1, 0.4, 0.5],
        "w": [1.0, 2.0, 0.5],
        "notes": ["never", "carried", "along"],
    }
)


@every_kind
def test_keys_rows_and_weights_are_carried_along(kind):
    result = frame_prc.one_vs_rest(
        kind.make(WIDE),
        "kind",
        {"dog": "q", "cat": pl.col("p") * 2},
        by=["region", (pl.col("id") % 2).alias("odd")],
        weight="w",
        row="id",
    )
    expected = pl.DataFrame(
        {
            "id": [11, 12, 13] * 2,
            "region": ["n", None, "s"] * 2,
            "odd": [1, 0, 1] * 2,
            "label": ["dog"] * 3 + ["cat"] * 3,
            "truth": [False, True, False, True, False, True],
            "score": [0.1, 0.4, 0.5, 1.8, 1.2, 1.0],
            "w": [1.0, 2.0, 0.5] * 2,
        }
    )
    assert_rows(kind, result, expected)
    assert type(result) is TYPES[kind.name]


@every_kind
@pytest.mark.parametrize(
    ("scores", "labels"),
    [(["p", "q"], ["is_cat", "is_dog"]), ({"cat": "p", "dog": "q"}, ["cat", "dog"])],
    ids=["list", "mapping"],
)
def test_several_labels_may_be_true_of_one_row(kind, scores, labels):
    result = frame_prc.one_vs_rest(kind.make(WIDE), ["is_cat", "is_dog"], scores)
    expected = pl.DataFrame(
        {
            "label": np.repeat(labels, 3),
            "truth": [1, 0, 1, 0, 1, 1],
            "score": [0.9, 0.6, 0.5, 0.1, 0.4, 0.5],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
def test_a_row_without_the_score_of_one_class_is_dropped_for_that_class_alone(kind):
    # Dropped for both classes, as yardstick does, the first row would leave an area of 1 to b.
    wide = pl.DataFrame(
        {
            "kind": ["a", "b", "a", "b"],
            "p_a": [None, 0.2, 0.9, 0.6],
            "p_b": [0.9, 0.8, 0.1, 0.3],
        }
    )
    long = frame_prc.one_vs_rest(kind.make(wide), "kind", {"a": "p_a", "b": "p_b"})
    table = frame_prc.average_precision(long, "truth", "score", by="label", missing="drop")
    found = kind.rows(table).select("label", "n", "n_dropped", "average_precision")
    (a, b) = found.rows()
    assert a == ("a", 3, 1, 1.0)
    assert b == ("b", 4, 0, pytest.approx(7 / 12, rel=1e-12, abs=0))
    complete = wide.drop_nulls("p_a")
    long = frame_prc.one_vs_rest(kind.make(complete), "kind", {"a": "p_a", "b": "p_b"})
    table = frame_prc.average_precision(long, "truth", "score", by="label")
    assert kind.rows(table)["average_precision"].to_list() == [1.0, 1.0]


@every_kind
@pytest.mark.parametrize("how", ["mean", "micro"])
def test_classes_are_averaged_inside_each_region(kind, how):
    wide = pl.DataFrame(
        {
            "region": ["n"] * 3 + ["s"] * 2,
            "kind": ["cat", "dog", "cat", "dog", "dog"],
            "p": [0.9, 0.6, 0.5, 0.4, 0.3],
            "q": [0.1, 0.4, 0.5, 0.6, 0.8],
        }
    )
    long = kind.make(wide).prc.one_vs_rest("kind", {"cat": "p", "dog": "q"}, by="region")
    result = kind.rows(
        long.prc.average("truth", "score", by=["region", "label"], over="label", how=how)
    )
    # North: cats 1 and 2/3, dogs 1/2. South: there are only dogs, all found at once.
    north = (np.mean([1, 2 / 3]) + 1 / 2) / 2
    if how == "micro":
        # Scores .9+ .6 .5+ .5 .4+ .1: a tie of one cat and one that is no dog.
        north = (1 + 2 / 4 + 3 / 5) / 3
    south = 1 if how == "mean" else (1 + 2 / 2) / 2
    assert result["region"].to_list() == ["n", "s"]
    assert result["average_precision"].to_list() == pytest.approx([north, south], rel=1e-12, abs=0)
    if how == "mean":
        assert result["n_segments"].to_list() == [2, 1]


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"truth": "kin"}, "truth= names 'kin'.*did you mean 'kind'"),
        ({"score": {"cat": "p", "dog": "qq"}}, "score= names 'qq'"),
        ({"row": "idd"}, "names 'idd'.*did you mean 'id'"),
        ({"weight": "ww"}, "weight= names 'ww'"),
        ({"by": pl.col("region").alias("label")}, "'label'"),
        ({"by": "region", "row": "region"}, "'region' is named in row= and by="),
        ({"weight": pl.col("region").alias("score")}, "'score' is named in the result and weight="),
    ],
)
def test_columns_that_cannot_be_are_an_error_at_the_call(kind, asked, says):
    options = {"truth": "kind", "score": {"cat": "p", "dog": "q"}} | asked
    with pytest.raises(frame_prc.ColumnError, match=says):
        frame_prc.one_vs_rest(kind.make(WIDE), **options)


@pytest.mark.parametrize("classes", [{1: "score", 2.5: "other"}, {None: "score"}], ids=str)
def test_classes_that_would_be_one_label_are_refused(classes):
    df = pl.DataFrame({"kind": [1, 2], "score": [0.1, 0.2], "other": [0.3, 0.4]})
    with pytest.raises(frame_prc.OptionError, match="score= names"):
        df.prc.one_vs_rest("kind", classes)
