"""What users can rely on: names, signatures and documentation."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from importlib import resources
from types import FunctionType

import polars as pl
import pytest
from checkout import CHECKOUT, README, in_checkout
from kinds import every_kind

import frame_prc
from frame_prc.cli.commands import COMMANDS
from frame_prc.namespace import PrcFrame

VERBS = [
    "auc",
    "average",
    "average_precision",
    "band",
    "compare_models",
    "compare_segments",
    "counts",
    "curve",
    "evaluate",
    "find_segments",
    "heterogeneity",
    "influence",
    "monitor",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_scores",
    "plot_summary",
    "plot_table",
    "prediction_powered",
    "quantile_thresholds",
    "reliability",
    "report",
    "sample_size",
    "sample_to_label",
    "shrunk",
    "summary",
    "summary_to_matplotlib",
    "threshold_table",
    "to_matplotlib",
    "write_ggplot",
]
ROWS = pl.DataFrame({"late": [True, False, True], "score": [0.9, 0.4, None]})
ROLES = (
    "truth=None, score=None, *, by=None, weight=None, cluster=None, strata=None, row=None, "
    "model=None, pos_label=None, missing='raise', ascending=False, pos=None, neg=None, "
    "pos_squares=None, neg_squares=None"
)
# What each method of an evaluation takes.
OPTIONS = {
    "auc": "method='step', start='one', recall_range=None, standardised=False, thresholds=None, "
    "calibrate=None, top=None, ci=None, bootstrap=None, details=False",
    "average": "over, measure='average_precision', how='mean', ci=None, calibrate=None, at=None, "
    "thresholds=None, top=None, details=False",
    "average_precision": "thresholds=None, bounds=False, ci=None, ci_method='influence', "
    "bootstrap=None, calibrate=None, top=None, details=False",
    "band": "recalls=101, ci=0.95, simultaneous=False, calibrate=None, bootstrap=1000",
    "compare_models": "ci=0.95, baseline=None, measure=None, calibrate=None, at=None, "
    "over=None, permutations=None, adjust=None, margin=None, scale='difference', details=False",
    "compare_segments": "against='others', ci=0.95, measure=None, calibrate=None, at=None, "
    "permutations=None, adjust=None, margin=None, scale='difference', details=False",
    "counts": "thresholds=None, squares=False",
    "curve": "start='one', keep='all', envelope=False, gain=False, calibrate=None, "
    "thresholds=None, ci=None, recalls=None, over=None",
    "find_segments": "columns=None, depth=2, quantiles=4, min_positives=20, ci=0.95, "
    "measure='calibrated_average_precision', details=False",
    "influence": "measures=None, at=None",
    "monitor": "over, plan, ci=0.95, measure='average_precision', calibrate=None, at=None, "
    "window=1, adjust=None, state=None, details=False",
    "heterogeneity": "ci=0.95, measure='calibrated_average_precision', calibrate=None, at=None, "
    "test=None, details=False",
    "operating_points": "recall=None, precision=None, threshold=None, f_beta=None, "
    "predicted_rate=None, predicted_count=None, fpr=None, cost=None, joint=False, guarantee=None, "
    "calibrate=None, ci=None, details=False",
    "plot": "x='recall', ci=None, band=False, iso_f1=None, points=None, calibrate=None, roc=False, "
    "facet=None, overlay='auto', y='auto', dark=False, title=None, size=None",
    "plot_scores": "bins=50, dark=False, title=None, size=None",
    "plot_summary": "ci=0.95, baseline=None, calibrate='highest', sort=None, kind='dots', "
    "dark=False, title=None, width=None",
    "prediction_powered": "proxy, ci=0.95, measure='average_precision', at=None, details=False",
    "reliability": "bins=10, strategy='uniform', ci=0.95, details=False",
    "report": "ci=0.95, baseline=None, calibrate=None, sections=None, points=None, title=None, "
    "note=None, date=None, accent=None",
    "sample_size": "width=None, difference=None, power=0.8, ci=0.95, baseline=None, "
    "measure=None, calibrate=None, at=None",
    "shrunk": "ci=0.95, measure='calibrated_average_precision', calibrate=None, at=None, "
    "below=None, details=False",
    "summary": "ci=0.95, calibrate=None, overall=False, segments='fixed', "
    "measures=None, at=None, shrink=False, details=False",
    "summary_to_matplotlib": "ax=None, ci=0.95, calibrate='highest', sort=None, **line",
    "threshold_table": "thresholds=None, cost=None, calibrate=None, details=False",
    "to_matplotlib": "ax=None, ci=None, **line",
    "write_ggplot": "kind='curve', start='one', keep='corners', ci=None, title=None",
}
LEADING = {"report": "path, ", "write_ggplot": "path, "}  # besides the frame
SIGNATURES = {
    name: f"(frame, {LEADING.get(name, '')}{ROLES}, {options})" for name, options in OPTIONS.items()
} | {
    "average_precision_expr": "(truth, score, weight=None, *, ascending=False)",
    "evaluate": f"(frame, {ROLES}, ci=None)",
    "iso_f1": "(f_scores=(0.2, 0.4, 0.6, 0.8), points=101)",
    "merge_counts": "(*frames, ascending=False)",
    "one_vs_rest": "(frame, truth, score, *, by=None, weight=None, row=None)",
    "plot_table": "(frame, *, title=None, dark=False, size=None)",
    "quantile_thresholds": "(frame, score, number, *, ascending=False)",
    "sample_to_label": "(frame, score, n, *, by=None, ascending=False, seed=0)",
}

every_verb = pytest.mark.parametrize("verb", VERBS)


def signature(function: object, *, skip: int = 0) -> str:
    """Return the names, kinds and defaults of the parameters."""
    bare = inspect.Parameter.empty
    parameters = [*inspect.signature(function).parameters.values()][skip:]
    return str(inspect.Signature([p.replace(annotation=bare) for p in parameters]))


def parameter_docs(function: object) -> dict[str, str]:
    """Return what a numpydoc docstring says of each parameter."""
    _, _, section = inspect.getdoc(function).partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    entries = re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]
    heads = [entry.partition("\n") for entry in entries]
    return {name: text.strip() for head, _, text in heads for name in head.split(", ")}


# --- names -------------------------------------------------------------------------------------


def test_signatures_are_published_for_every_function():
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert sorted(functions) == sorted(SIGNATURES)


def test_all_names_what_is_public():
    found = {name: getattr(frame_prc, name) for name in dir(frame_prc)}
    kinds = (type, FunctionType)
    public = [n for n, v in found.items() if isinstance(v, kinds) and not n.startswith("_")]
    assert sorted(public) == sorted(frame_prc.__all__) == frame_prc.__all__


@every_kind
def test_namespace_has_the_verbs_and_nothing_else(kind):
    prc = kind.make(ROWS).prc
    methods = [
        name for name in dir(prc) if not name.startswith("_") and callable(getattr(prc, name))
    ]
    assert sorted(methods) == sorted(VERBS)
    frame = type(kind.make(ROWS)).__name__
    assert repr(prc) == f"<prc of a {frame}: {', '.join(sorted(VERBS))}>"


@every_kind
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ap", " Hint: did you mean average_precision"),
        ("pr_auc", " Hint: did you mean auc or average_precision"),
        ("roc", r" Hint: did you mean plot\(..., roc=True\)"),
        ("roc_auc", r" Hint: it is a measure: summary\(measures='roc_auc'\), .*\)"),
        ("brier", r" Hint: it is a measure: summary\(measures='brier'\), .*\)"),
        ("sumary", " Hint: did you mean summary or plot_summary"),
        ("merge_counts", r" Hint: frame_prc.merge_counts\(...\) is a function"),
        ("xyz", ""),
    ],
)
def test_a_name_that_is_no_verb_is_told_which_are(kind, name, hint):
    prc = kind.make(ROWS).prc
    with pytest.raises(AttributeError, match=f"prc has no verb '{name}'. Allowed: .*{hint}[.?]$"):
        getattr(prc, name)
    assert not hasattr(prc, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("roc_auc", "it is a measure: summary("),
        ("pr_auc", "did you mean auc or average_precision"),
        ("sumary", "did you mean summary"),
        ("Evaluatoin", "did you mean Evaluation"),
        ("precision", "it is a measure: summary(measures='precision', at={'threshold': 0.5})"),
    ],
)
def test_a_name_that_the_package_does_not_have_gets_a_hint(name, hint):
    with pytest.raises(AttributeError, match="has no attribute") as raised:
        getattr(frame_prc, name)
    assert f"'frame_prc' has no attribute '{name}'. Hint: {hint}" in str(raised.value)
    assert raised.value.name == name
    assert raised.value.obj is frame_prc
    assert not hasattr(frame_prc, "__path_of_a_tool__")


@every_kind
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("brier", r"it is a measure: summary\(measures='brier'\)"),
        ("roc_auc", r"it is a measure: summary\(measures='roc_auc'\)"),
        ("recall", r"it is a measure: .*at={'threshold': 0.5}\)"),
        ("sumary", "did you mean summary"),
        ("plot_table", r"frame_prc.plot_table\(...\) is a function"),
    ],
)
def test_a_name_that_an_evaluation_does_not_have_gets_a_hint(kind, name, hint):
    ev = kind.make(ROWS).prc.evaluate("late", "score")
    text = f"'Evaluation' object has no attribute '{name}'. Hint: {hint}"
    with pytest.raises(AttributeError, match=text):
        getattr(ev, name)
    assert not hasattr(ev, "_repr_of_a_tool_")


@in_checkout
def test_readme_names_every_function():
    table = README.read_text(encoding="utf-8").partition("| verb |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`(?=[^|]* \| )", table)
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert sorted(named) == sorted(functions)


@every_kind
def test_default_tables_show_whole_in_a_terminal(kind):
    rows = pl.DataFrame({"row": range(300)}).with_columns(
        region=pl.col("row") % 3,
        late=pl.col("row") * 7 % 11 < 4,
        old=pl.col("row") * 7919 % 601,
        new=pl.col("row") * 7919 % 61,
    )
    ev = kind.make(rows).prc.evaluate("late", "old", by="region")
    models = kind.make(rows).prc.evaluate("late", {"old": "old", "new": "new"}, by="region")
    tables = [
        ev.average_precision(ci=0.9),
        ev.summary(),
        ev.summary(overall=True),
        ev.operating_points(recall=0.8, predicted_rate=0.1),
        ev.operating_points(threshold=300, ci=0.9),
        ev.operating_points(recall=0.8, guarantee=0.9, ci=0.9),
        ev.compare_segments(),
        ev.compare_segments(adjust="holm"),
        ev.heterogeneity(),
        ev.auc(ci=0.9),
        models.compare_models(),
        models.compare_models(adjust="holm"),
    ]
    for table in map(kind.rows, tables):
        assert table.width <= 8  # what Polars shows at most
        assert table.columns[-1] == "status"


# --- signatures and documentation --------------------------------------------------------------


def test_help_lists_the_verbs_in_the_words_and_the_order_of_the_command_line():
    verbs = inspect.cleandoc(PrcFrame.__doc__).partition("The verbs::")[2]
    listed = re.findall(r"^ {4}(\w+) +(\S.*)$", verbs, re.MULTILINE)
    firsts = {name: getattr(frame_prc, name).__doc__.splitlines()[0] for name, _ in listed}
    assert {name: text.replace("`", "``") for name, text in listed} == firsts
    assert sorted(firsts) == sorted(VERBS)
    commands = [command.verb for command in COMMANDS]
    assert ["evaluate", *commands] == list(firsts)[: len(COMMANDS) + 1]


@pytest.mark.parametrize(("name", "expected"), SIGNATURES.items())
def test_signature_is_the_published_one(name, expected):
    assert signature(getattr(frame_prc, name)) == expected


@every_kind
@every_verb
def test_method_has_the_signature_and_documentation_of_its_function(kind, verb):
    function, method = getattr(frame_prc, verb), getattr(kind.make(ROWS).prc, verb)
    assert signature(method) == signature(function, skip=1)
    assert method.__doc__ == function.__doc__
    assert method.__name__ == verb


def test_expression_method_takes_what_its_function_takes_after_the_score():
    method = pl.col("score").prc.average_precision
    assert signature(method) == SIGNATURES["average_precision_expr"].replace("score, ", "")


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_parameter_is_documented_in_order(name):
    function = getattr(frame_prc, name)
    assert list(parameter_docs(function)) == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", OPTIONS)
def test_method_of_an_evaluation_takes_the_options_and_documents_them(name):
    method = getattr(frame_prc.Evaluation, name)
    options = [parameter.lstrip("*").partition("=")[0] for parameter in OPTIONS[name].split(", ")]
    own = [*LEADING.get(name, "").split(", ")[:-1], *options]
    assert list(inspect.signature(method).parameters) == ["self", *own]
    assert list(parameter_docs(method)) == own


@in_checkout
def test_types_of_the_one_liners_are_those_of_the_methods():
    stub = [sys.executable, str(CHECKOUT / ".ci" / "stubs"), "--check"]
    subprocess.run(stub, check=True)  # noqa: S603


@pytest.mark.parametrize("name", SIGNATURES)
def test_documentation_is_complete(name):
    for section in ("Parameters", "Returns", "Examples"):
        heading = f"\n\n{section}\n{'-' * len(section)}\n"
        assert heading in inspect.getdoc(getattr(frame_prc, name)), section


@pytest.mark.parametrize("name", SIGNATURES)
def test_help_fits_two_screens(name):
    shown = pydoc.plain(pydoc.render_doc(getattr(frame_prc, name)))
    assert len(shown.splitlines()) <= 100


def test_package_says_that_it_is_typed():
    assert resources.files("frame_prc").joinpath("py.typed").is_file()
