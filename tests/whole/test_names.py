"""Names of columns: whatever they are, a name stands for the column that is called so."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest
from kinds import VERBS, Kind, every_eager_kind, every_kind
from polars.testing import assert_frame_equal

import frame_prc

ROWS = pl.DataFrame(
    {
        "key": ["b", "a", "c", "b", "a", "b", "a", "c"],
        "number": [1, 1, 2, 2, 1, 1, 2, 2],
        "truth": [True, False, True, False, True, False, False, True],
        "score": [0.1, 0.7, 0.3, 0.3, 0.5, 0.9, 0.8, 0.2],
        "other": [0.4, 0.6, 0.3, 0.8, 0.5, 0.1, 0.8, 0.2],
        "weight": [1.0, 2.0, 1.0, 2.0, 0.5, 1.0, 3.0, 1.0],
    }
)
# For every column, or where nothing is to be filled in for the key alone. Polars reads the first
# ones as patterns: of the column, of all, of another one too, and of none.
NAMES = [
    *("^{}$", "^.*$", "^{}|score$", "*{}", ""),
    *("{}\0", '{}"', "`{}`", "{{{}}}"),
    *("key_0", "segment"),
]

# The others are kinds of these.
FIRST = ("^{}$", "*{}", '{}"', "key_0")
every_name = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in FIRST else pytest.mark.thorough) for name in NAMES],
    ids=ascii,
)


def called(name: str) -> dict[str, str]:
    if "{}" in name or "{{" in name:
        return {column: name.format(column) for column in ROWS.columns}
    return {column: name if column == "key" else column for column in ROWS.columns}


def frame_of(kind: Kind, names: dict[str, str]) -> Any:
    # A pandas frame made from Polars goes through Arrow, which has no NUL in names.
    frame = kind.make(ROWS)
    return frame.rename(columns=names) if kind.name == "pandas" else frame.rename(names)


def rows_of(kind: Kind, result: Any, names: dict[str, str]) -> pl.DataFrame:
    given = {name: column for column, name in names.items()}
    if kind.name == "pandas":
        return kind.rows(result.rename(columns=given))
    return kind.rows(result).rename(given, strict=False)


def calls(frame: Any, names: dict[str, str]) -> dict[str, Any]:
    """Call each verb with columns of these names, every role named."""
    key, number, truth, score, other, weight = names.values()
    by = [key, number]
    models = {"new": score, "old": other}
    more: dict[str, Any] = {
        v: {} if v in ("summary", "band") else {"weight": weight} for v in VERBS
    }
    results = {
        verb: getattr(frame.prc, verb)(truth, score, by=by, **more[verb], **asked)
        for verb, asked in VERBS.items()
    }
    counts = frame.prc.counts(truth, score, by=by)
    bins = frame.prc.counts(truth, score, by=by, thresholds=5)
    of_counts = {"score": "threshold", "pos": "pos", "neg": "neg", "by": by}
    return {
        **results,
        "models": frame.prc.curve(truth, models, by=by),
        "interval": frame.prc.average_precision(truth, score, by=key, cluster=number, ci=0.9),
        "clusters": frame.prc.curve(truth, score, by=key, cluster=number, ci=0.9),
        "average": frame.prc.average(truth, score, by=by, over=key),
        "pairs": frame.prc.compare_models(truth, models, by=key, cluster=number),
        "against the others": frame.prc.compare_segments(truth, score, by=key, against="others"),
        "against the rest": frame.prc.compare_segments(truth, score, by=key, against="rest"),
        "overall": frame.prc.summary(truth, score, by=by, overall=True),
        "classes": frame.prc.one_vs_rest(
            key, {"a": score, "b": other, "c": score}, by=number, weight=weight
        ),
        "labels": frame.prc.one_vs_rest([truth], {"label": score}, by=key, row=number),
        "merged": frame_prc.merge_counts(counts, counts),
        "merged bins": frame_prc.merge_counts(bins, bins),
        "of counts": counts.prc.auc(**of_counts),
        "of bins": bins.prc.average_precision(**of_counts),
    }


@cache
def expected(kind: Kind) -> dict[str, pl.DataFrame]:
    plain = dict(zip(ROWS.columns, ROWS.columns, strict=True))
    return {verb: kind.rows(result) for verb, result in calls(kind.make(ROWS), plain).items()}


# Lazy frames are planned by the same names as a DataFrame is.
@every_eager_kind
@every_name
def test_name_stands_for_the_column_called_so_in_every_verb_and_role(kind, name):
    names = called(name)
    results = calls(frame_of(kind, names), names)
    for verb, result in results.items():
        assert_frame_equal(rows_of(kind, result, names), expected(kind)[verb])


@every_kind
@pytest.mark.parametrize("by", [cs.by_name("*"), pl.col("key").alias("*")], ids=["named", "made"])
def test_key_called_like_all_columns_is_one_key(kind, by):
    frame = frame_of(kind, {"number": "*", "key": "key"})
    role = "number" if isinstance(by, cs.Selector) else "key"
    known = kind.make(ROWS).prc.counts("truth", "score", by=role)
    result = frame.prc.counts("truth", "score", by=by)
    assert_frame_equal(rows_of(kind, result, {role: "*"}), kind.rows(known))
    merged = frame_prc.merge_counts(result, result)
    twice = frame_prc.merge_counts(known, known)
    assert_frame_equal(rows_of(kind, merged, {role: "*"}), kind.rows(twice))


@every_kind
@pytest.mark.parametrize("role", ["truth", "score", "by"])
def test_name_that_polars_takes_for_all_columns_is_refused(kind, role):
    asked = {"truth": "truth", "score": "score", "by": "key"}
    with pytest.raises(frame_prc.ColumnError, match=rf"{role}= names '\*'"):
        frame_of(kind, {asked[role]: "*"}).prc.curve(**{**asked, role: "*"})


@every_name
def test_expression_takes_names_for_columns(name):
    names = called(name)
    if names["score"] == "score":
        names = {**names, "key": "key", "score": name}
    roles = ("truth", "score", "weight")
    expression = frame_prc.average_precision_expr(*(names[role] for role in roles))
    result = ROWS.rename(names).group_by(pl.lit(1)).agg(expression)
    assert_frame_equal(
        result, ROWS.group_by(pl.lit(1)).agg(frame_prc.average_precision_expr(*roles))
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", FIRST)
def test_name_stands_for_its_column_in_files_and_pictures(name, tmp_path):
    names = called(name)
    frame = ROWS.rename(names)
    truth, score, by = names["truth"], names["score"], [names["key"], names["number"]]
    curve = frame.prc.curve(truth, score, by=by)
    for source, asked in ((frame, {"truth": truth, "score": score, "by": by}), (curve, {})):
        source.prc.write_ggplot(tmp_path / "curves.csv", **asked)
        lines = (tmp_path / "curves.csv").read_text().splitlines()
        assert len(lines) == 1 + curve.height
        assert '"b"' in "".join(lines)
        chart = source.prc.plot(**asked).to_dict()
        assert chart["datasets"]
