"""What users can rely on: names, signatures and documentation."""

from __future__ import annotations

import inspect
import re
from importlib import resources
from types import FunctionType

import polars as pl
import pytest
from checkout import README, REFERENCE, in_checkout
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc.cli.commands import COMMANDS
from frame_prc.namespace import PrcFrame

VERBS = [
    "auc",
    "average_precision",
    "band",
    "compare",
    "counts",
    "curve",
    "heterogeneity",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_summary",
    "quantile_thresholds",
    "report",
    "summary",
    "write_ggplot",
]
ROWS = pl.DataFrame({"late": [True, False, True], "score": [0.9, 0.4, None]})
COMMON = (
    "frame, truth=None, score=None, *, by=None, weight=None, pos_label=None, missing='raise', "
    "pos=None, neg=None, ascending=False, model=None"
)
SIGNATURES = {
    "auc": f"({COMMON}, method='step', start='one', recall_range=None, standardised=False, "
    "thresholds=None, calibrate=None, top=None, normaliser='positives', ci=None, cluster=None, "
    "replicates=1000, stratified=False, seed=None)",
    "average_precision": f"({COMMON}, pos_squares=None, neg_squares=None, over=None, average=None, "
    "thresholds=None, bounds=False, ci=None, ci_method='influence', cluster=None, "
    "replicates=1000, stratified=False, seed=None, calibrate=None, top=None, "
    "normaliser='positives')",
    "average_precision_expr": "(truth, score, weight=None, *, ascending=False)",
    "band": f"({COMMON}, recalls=101, ci=0.95, cluster=None, replicates=1000, stratified=False, "
    "seed=None)",
    "compare": "(frame, truth, score, *, by=None, weight=None, pos_label=None, missing='raise', "
    "ascending=False, model=None, row=None, ci=0.95, cluster=None, baseline=None, against=None, "
    "measure=None, calibrate=None, over=None, method='t', replicates=1000, seed=None, adjust=None)",
    "counts": f"({COMMON}, thresholds=None, pos_squares=None, neg_squares=None, squares=False)",
    "curve": f"({COMMON}, start='one', keep='all', envelope=False, gain=False, calibrate=None, "
    "thresholds=None, ci=None, cluster=None, recalls=None, over=None)",
    "heterogeneity": f"({COMMON}, pos_squares=None, neg_squares=None, cluster=None, "
    "measure='calibrated', calibrate=None)",
    "iso_f1": "(f_scores=(0.2, 0.4, 0.6, 0.8), points=101)",
    "merge_counts": "(*frames, ascending=False)",
    "on": "(frame)",
    "one_vs_rest": "(frame, truth, score, *, by=None, weight=None, row=None)",
    "operating_points": f"({COMMON}, recall=None, precision=None, threshold=None, f_beta=None, "
    "predicted_rate=None, predicted_count=None, fpr=None, cost=None, ci=None, cluster=None, "
    "replicates=1000, stratified=False, seed=None)",
    "plot": f"({COMMON}, x='recall', start='one', ci=None, cluster=None, band=False, iso_f1=True, "
    "points=None, roc=False, threshold=None, facet=None, dark=False, title=None, width=None, "
    "height=None)",
    "plot_summary": f"({COMMON}, ci=0.95, cluster=None, baseline=None, calibrate=None, "
    "sort=None, dark=False, title=None, width=None)",
    "quantile_thresholds": "(frame, score, number, *, ascending=False)",
    "report": f"({COMMON}, ci=0.95, cluster=None, baseline=None, calibrate='pooled', "
    "title=None)".replace("frame, ", "frame, path, "),
    "summary": f"({COMMON}, pos_squares=None, neg_squares=None, ci=0.95, cluster=None, "
    "calibrate='pooled', overall=False, segments='fixed')",
    "write_ggplot": f"({COMMON}, start='one', keep='corners', ci=None, cluster=None, "
    "title=None)".replace("frame, ", "frame, path, "),
}
# Parameters that mean something else than those of ``curve`` do.
OWN_WORDS = {
    "auc": {"calibrate", "ci", "missing", "start", "thresholds"},
    "average_precision": {"calibrate", "ci", "cluster", "missing", "over", "thresholds"},
    "band": {"ci", "recalls"},
    "compare": {"calibrate", "ci", "cluster", "missing", "model", "over", "score"},
    "counts": {"thresholds"},
    "heterogeneity": {"by", "calibrate", "cluster"},
    "operating_points": {"ci", "missing"},
    "report": {"by", "calibrate", "ci", "frame", "missing", "model"},
    "summary": {"calibrate", "ci", "missing"},
    "write_ggplot": {"by", "ci", "frame", "keep"},
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
    assert functions == list(SIGNATURES)


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
        ("sumary", " Hint: did you mean summary or plot_summary"),
        ("merge_counts", r" Hint: did you mean frame_prc.merge_counts\(\*frames\)"),
        ("xyz", ""),
    ],
)
def test_a_name_that_is_no_verb_is_told_which_are(kind, name, hint):
    prc = kind.make(ROWS).prc
    with pytest.raises(AttributeError, match=f"prc has no verb '{name}'. Allowed: .*{hint}[.?]$"):
        getattr(prc, name)
    assert not hasattr(prc, name)


@in_checkout
def test_reference_lists_every_function():
    table = REFERENCE.read_text(encoding="utf-8").partition("| verb |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert sorted(listed) == sorted(functions)


@in_checkout
def test_readme_names_every_function():
    table = README.read_text(encoding="utf-8").partition("| verb |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`(?=[^|]* \| )", table)
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert sorted(named) == sorted(functions)


@in_checkout
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("auc", {"missing": "drop", "ci": 0.9}),
        ("average_precision", {"missing": "drop", "ci": 0.9}),
        ("compare", {"score": ["score", "other"], "missing": "drop", "adjust": "bh"}),
        ("counts", {"squares": True}),
        ("curve", {"envelope": True, "ci": 0.9}),
        ("band", {"replicates": 2}),
        (
            "operating_points",
            {"cost": (1, 1), "ci": 0.9, "threshold": pl.lit(0.5), "missing": "drop"},
        ),
        ("heterogeneity", {"by": pl.lit("all").alias("key")}),
        ("summary", {}),
    ],
)
def test_reference_lists_the_columns_of_every_verb(verb, options):
    text = REFERENCE.read_text(encoding="utf-8")
    row = re.search(rf"^\| `{verb}` \|[^|]*\|([^|]*)\|", text, flags=re.MULTILINE)[1]
    rows = ROWS.drop_nulls().with_columns(other=-pl.col("score"))
    result = getattr(frame_prc, verb)(rows, **{"truth": "late", "score": "score", **options})
    assert re.findall(r"\w+", row) == result.columns


@in_checkout
@pytest.mark.parametrize(
    "asked",
    [{"truth": "lat", "score": "score"}, {"truth": "late", "score": "score", "weight": "w"}],
    ids=["column", "data"],
)
def test_reference_quotes_errors_word_for_word(asked):
    rows = ROWS.with_columns(score=0.5, w=pl.Series([-1.0, 1.0, float("nan")]))
    with pytest.raises(frame_prc.PrcError) as raised:
        rows.prc.curve(**asked)
    quoted = " ".join(REFERENCE.read_text(encoding="utf-8").split())
    assert f"{raised.type.__name__}: {raised.value}" in quoted


# --- signatures and documentation --------------------------------------------------------------


def test_help_lists_the_verbs_in_the_words_and_the_order_of_the_command_line():
    verbs = PrcFrame.__doc__.partition("The verbs::")[2]
    listed = re.findall(r"^ {8}(\w+) +(\S.*)$", verbs, re.MULTILINE)
    firsts = {name: getattr(frame_prc, name).__doc__.splitlines()[0] for name, _ in listed}
    assert {name: text.replace("`", "``") for name, text in listed} == firsts
    assert sorted(firsts) == sorted(VERBS)
    assert [command.verb for command in COMMANDS] == list(firsts)[: len(COMMANDS)]


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


@pytest.mark.parametrize(("verb", "own_words"), OWN_WORDS.items())
def test_shared_parameters_are_documented_in_the_same_words(verb, own_words):
    docs, others = (parameter_docs(getattr(frame_prc, name)) for name in (verb, "curve"))
    assert {name for name in docs.keys() & others.keys() if docs[name] != others[name]} == own_words


@pytest.mark.parametrize("parameter", ["missing", "thresholds"])
def test_verbs_with_one_row_per_segment_document_parameters_in_the_same_words(parameter):
    # Comparisons drop rows for all models together, and bins that are to add up must cover.
    tables = [verb for verb in OWN_WORDS if verb not in {"compare", "counts", "report"}]
    verbs = [verb for verb in tables if parameter in OWN_WORDS[verb]]
    assert len(verbs) > 1
    assert len({parameter_docs(getattr(frame_prc, verb))[parameter] for verb in verbs}) == 1


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.parametrize("section", ["Parameters", "Returns", "Examples"])
def test_documentation_is_complete(name, section):
    assert f"\n\n{section}\n{'-' * len(section)}\n" in inspect.getdoc(getattr(frame_prc, name))


def test_expression_method_gives_what_its_function_gives():
    rows = ROWS.drop_nulls().with_columns(w=2.0)
    assert_frame_equal(
        rows.select(pl.col("score").prc.average_precision("late", weight="w")),
        rows.select(frame_prc.average_precision_expr("late", "score", "w")),
    )


def test_package_says_that_it_is_typed():
    assert resources.files("frame_prc").joinpath("py.typed").is_file()
