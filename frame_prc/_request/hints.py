"""Hints: what was probably meant, and how to install what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

import polars as pl

from frame_prc._request.specs import AT_THRESHOLD, Criterion, MeasureName
from frame_prc.exceptions import (
    OptionError,
    ParameterError,
    close_to,
    did_you_mean,
    message,
    shown,
    type_name,
)

# --- by a package that is missing --------------------------------------------------------------

Extra: TypeAlias = Literal["cli", "duckdb", "ibis", "pandas", "spark"]

# The packages of each extra: an import may fail for any of them.
PACKAGES: dict[Extra, tuple[str, ...]] = {
    "cli": ("altair", "jinja2", "rich", "typer", "vl-convert-python"),
    "duckdb": ("duckdb", "narwhals", "pyarrow"),
    "ibis": ("ibis-framework", "narwhals", "pyarrow", "'sqlglot<28'"),
    "pandas": ("pandas", "pyarrow"),
    "spark": ("narwhals", "pyspark"),
}


def install_hint(extra: Extra) -> str:
    return _install(*PACKAGES[extra])


def check_installed(module: str, name: str, need: str) -> None:
    if find_spec(module) is None:
        raise OptionError(f"{need} needs {name}, which is not installed", hint=_install(name))


def check_numpy(need: str = "a bootstrap") -> None:
    check_installed("numpy", "NumPy", need)


def _install(*names: str) -> str:
    return f"pip install {' '.join(names).lower()}"


# --- by an argument that is not a column, or not a numeric one ---------------------------------

_INTO_FRAME = "put it into the frame as a column"
_CONSTANTS = (bool, int, float, complex, Decimal, bytes, date, time, timedelta)
_ENGINES = ("ibis.", "pyspark.", "duckdb.", "_duckdb.")
_GROUPERS = ("pandas.Grouper", "pandas.TimeGrouper")
_TABLE, _BINARY = 2, 2  # dimensions of a table, and classes of a binary one


def is_of_engine(item: object) -> bool:
    return type_name(item).startswith(_ENGINES)


def column_hint(item: Any) -> str | None:
    if is_of_engine(item):
        return "give the column's name; a computed column goes into the table first, with a name"
    if isinstance(item, _CONSTANTS):
        return f"pl.lit({shown(item)}) makes a constant; a name is a string, or in pandas a label"
    if type_name(item) in _GROUPERS:
        day = item.key if isinstance(item.key, str) else "date"
        return f"give an expression, such as pl.col({day!r}).dt.truncate('1w') for weeks"
    if len(getattr(item, "shape", ())) == _TABLE:
        return _table_hint(item)
    if hasattr(item, "dtype"):
        return _values_hint(item)
    return _list_hint(item) if isinstance(item, Iterable) else _function_hint(item)


def condition_hint(item: Any) -> str | None:
    if isinstance(item, str):
        return f"pl.sql_expr({shown(item)}) reads a text, after import polars as pl"
    if hasattr(item, "dtype"):
        name = getattr(item, "name", None) or "week"
        return f"import polars as pl, and name the column, as in pl.col({name!r}) > 1"
    return None


def _table_hint(item: Any) -> str:
    if hasattr(item, "columns"):
        return "give the names of its columns; those of another frame go into this one first"
    if item.shape[1] == _BINARY:
        return "put array[:, 1], the scores of the positive class, into the frame as a column"
    return "put its columns into the frame first; one_vs_rest takes one for each class"


def _values_hint(item: Any) -> str:
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not name:
        return f"{_INTO_FRAME}, and give that column's name"
    hint = f"give its name, {name!r}, if it is an unchanged column of the frame; if it is computed"
    if str(item.dtype).lower() in {"bool", "boolean"}:
        return f"{hint}, give an expression such as pl.col({name!r}) == 'yes'"
    return f"{hint}, {_INTO_FRAME} with a name of its own"


def _function_hint(item: object) -> str | None:
    if hasattr(item, "predict") or hasattr(item, "predict_proba"):
        return "put its scores into the frame as a column, such as model.predict_proba(X)[:, 1]"
    return "give an expression, such as pl.col('date').dt.year()" if callable(item) else None


def _list_hint(item: Iterable[Any]) -> str:
    items = [*item] if isinstance(item, (list, tuple, set, frozenset)) else []
    if not items or not all(isinstance(name, str) for name in items):
        return f"{_INTO_FRAME}, and give that column's name"
    if isinstance(item, (set, frozenset)):
        return "give a list: a set has no order"
    return f"give one column, without a list: {items[0]!r}"


def number_hint(role: str, name: str, dtype: pl.DataType) -> str | None:
    column = f"pl.col({name!r})"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        text = column if dtype == pl.String else f"{column}.cast(pl.String)"
        plain = f"{text}.str.replace(',', '.').str.strip_chars('% ').cast(pl.Float64)"
        pandas = f"frame[{name!r}].str.replace(',', '.').str.strip('% ').astype(float)"
        return f"cast it first: {role}={plain} reads 0.93, 0,93 and 93%, and in pandas {pandas}"
    if isinstance(dtype, (pl.Array, pl.List)):
        second = f"{column}.{'arr' if isinstance(dtype, pl.Array) else 'list'}.get(1)"
        return (
            f"{role}={second} takes the second of its values, that of the positive class in "
            "predict_proba; one_vs_rest takes a column for each of several classes"
        )
    if dtype == pl.Boolean:
        return f"cast it first: {role}={column}.cast(pl.Float64)"
    return None


# --- by an unknown parameter -------------------------------------------------------------------

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

# Names that other libraries use for these parameters.
_ALSO_CALLED = {
    "truth": "y_true true target actual observed outcome truth_col",
    "score": "y_score y_scores y_pred y_prob y_proba y_hat probas_pred pred preds prediction "
    "predictions prob probs proba probability probabilities scores score_col model models",
    "by": "group_by groupby group groups key keys segment segments sensitive_features",
    "weight": "sample_weight sample_weights weights case_weights",
    "pos_label": "labels positive positive_label pos_class positive_class event_level",
    "missing": "na na_rm dropna drop_nulls nan_policy",
    "ascending": "lower_is_better reverse",
    "row": "item item_id row_id",
    "how": "average average_method",
    "thresholds": "bins n_bins num_thresholds n_thresholds",
    "keep": "drop_intermediate",
    "f_beta": "beta f1",
    "ci": "confidence confidence_level level",
    "bootstrap": "n_boot n_bootstrap n_bootstraps n_resamples replicates",
    "permutations": "n_permutations",
    "cluster": "clusters cluster_by",
    "strata": "stratum stratify",
    "standardised": "standardized",
    "adjust": "p_adjust correction",
}
_MEANT = {other: ours for ours, others in _ALSO_CALLED.items() for other in others.split()}
_MOST_VERBS = 4  # in a hint
_SUBJECTS = ("frame", "self")  # which a method passes itself
# What there is instead of a parameter that no verb has.
_INSTEAD = {
    "ax": "to_matplotlib(ax=) and summary_to_matplotlib(ax=) draw on axes of Matplotlib",
    **dict.fromkeys(
        ("seed", "random_state", "rng", "stratified"),
        "bootstrap= and permutations= take frame_prc.Draws(1000, seed=1)",
    ),
    "ties": "top= and predicted_count= take frame_prc.Top(100, ties='expected')",
    **dict.fromkeys(("specificity", "tnr"), "fpr=0.05 stands for a specificity of 0.95"),
    **dict.fromkeys(("height", "figsize"), "size=(300, 200) is that of a panel of plot()"),
    "overall": "summary(overall=True) has it, and evaluate(...).pooled() has all verbs of all rows",
}
# What other libraries call the measures.
_MEASURES = {
    **{name: name for name in get_args(MeasureName)},
    **dict.fromkeys(("roc_auc_score", "auroc"), "roc_auc"),
    **dict.fromkeys(("brier_score", "brier_score_loss"), "brier"),
    **dict.fromkeys(("brier_skill_score", "d2_brier_score"), "brier_skill"),
    **dict.fromkeys(("o_e", "oe_ratio"), "observed_expected"),
    **dict.fromkeys(("logloss", "cross_entropy"), "log_loss"),
    **dict.fromkeys(("sensitivity", "tpr", "true_positive_rate"), "recall"),
    **dict.fromkeys(("tnr", "true_negative_rate"), "specificity"),
    "ppv": "precision",
    "matthews_corrcoef": "mcc",
    "f1_score": "f1",
    "false_positive_rate": "fpr",
}
# Other names of the verbs, from other libraries and the command line.
_VERBS_ALSO_CALLED = {
    "ap": "average_precision",
    "average_precision_score": "average_precision",
    "pr_auc": "auc or average_precision",
    "pr_curve": "curve",
    "precision_recall_curve": "curve",
    "best_threshold": "operating_points",
    "confusion_matrix": "operating_points",
    "points": "operating_points",
    "ggplot": "write_ggplot",
    "scorecard": "summary",
    "filter": "where() of an evaluation",
    "worst": "shrunk or compare_segments",
    "roc": "plot(..., roc=True)",
    "roc_curve": "plot(..., roc=True)",
}
# The verbs that have a parameter, by its name.
_verbs: defaultdict[str, set[str]] = defaultdict(set)


def refuses_unknown(function: FunctionT, parameters: Sequence[Parameter] = ()) -> FunctionT:
    """Return a function that refuses parameters that are unknown, repeated, lacking or too many."""
    called, taken = function.__name__, parameters or [*signature(function).parameters.values()]
    kinds = {one.kind for one in taken}
    single = [one for one in taken if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    places = [one.name for one in single if one.kind is one.POSITIONAL_OR_KEYWORD]
    own = [one.name for one in single if one.name not in _SUBJECTS]
    required = [one.name for one in single if one.default is one.empty and one.name != "self"]
    for name in own:
        _verbs[name].add(called)

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        for name in not_of_lines(named) if Parameter.VAR_KEYWORD in kinds else named:
            if name not in own and name not in places:
                raise ParameterError(
                    f"{called}() has no parameter {name}=", _by_name(own) or None, _hint(name, own)
                )
        if len(args) > len(places) and Parameter.VAR_POSITIONAL not in kinds:
            raise _too_many(called, args[len(places)], places, own)
        placed = places[: len(args)]
        if twice := next((name for name in placed if name in named), None):
            order = [name for name in places if name not in _SUBJECTS]
            said = f"{called}() got {twice}= twice, by its place and by its name"
            allowed = f"{', '.join(order)} in this order, each once"
            given = args[len(places) - len(order) :]
            raise ParameterError(said, allowed, _all_named(called, order, given, named))
        if lacking := [name for name in required if name not in placed and name not in named]:
            call = f"{called}(..., {', '.join(f'{name}=...' for name in lacking)})"
            raise ParameterError(f"{called}() lacks {' and '.join(map(repr, lacking))}", hint=call)
        return function(*args, **named)

    if parameters:
        checked.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return cast("FunctionT", checked)


def _all_named(
    called: str, order: Sequence[str], given: Sequence[Any], named: Mapping[str, Any]
) -> str | None:
    # What has no name is meant for the parameters that are not named.
    meant = [name for name in order if name not in named][: len(given)]
    if len(meant) < len(given):
        return None
    # The names of columns and files are told; the text of a frame would fill a page.
    texts = {n: repr(one) for n, one in zip(meant, given, strict=True) if isinstance(one, str)}
    asked = [f"{n}={texts.get(n, '...')}" for n in order if n in meant or n in named]
    return f"{called}({', '.join(asked)})"


def not_of_lines(names: Iterable[str]) -> list[str]:
    """Return the names that are no properties of Matplotlib's lines; none without Matplotlib."""
    try:
        from matplotlib.lines import Line2D  # noqa: PLC0415 - only if a verb draws on its axes
    except ImportError:
        return []
    return [name for name in names if not hasattr(Line2D, f"set_{name}")]


def parameter_name(name: str, own: Sequence[str]) -> str:
    """Return what is meant by an unknown parameter: one of ``own``, or of another verb."""
    meant = _MEANT.get(name) or _MEASURES.get(name, name)
    # A plural is a slip, even if another verb has a parameter of that name.
    slips = (meant, meant.removesuffix("s"), f"{meant}s")
    return next((ours for ours in slips if ours in own), meant)


def nearest_measure(name: str, known: Sequence[str]) -> str | None:
    ours = _MEASURES.get(name, name)
    near = [ours] if ours in known else close_to(name, known)
    return did_you_mean(near)


def measure_hint(name: object) -> str | None:
    ours = _MEASURES.get(name) if isinstance(name, str) else None
    if ours is None:
        return None
    at = ", at={'threshold': 0.5}" if ours in AT_THRESHOLD else ""
    verbs = (f"summary(measures='{ours}'{at})", f"compare_models(measure='{ours}'{at})")
    return f"it is a measure: {', '.join(verbs)}"


def no_attribute(what: str, name: str, known: Sequence[str], of: object) -> AttributeError:
    # Python and its tools ask for those that begin with an underscore.
    hint = None if name.startswith("_") else name_hint(name, known)
    text = f"{what} has no attribute {name!r}"
    return AttributeError(message(text, hint=hint) if hint else text, name=name, obj=of)


def name_hint(name: str, known: Sequence[str]) -> str | None:
    if name not in known and any(name in verbs for verbs in _verbs.values()):
        return f"frame_prc.{name}(...) is a function"
    meant = _VERBS_ALSO_CALLED.get(name) or " or ".join(close_to(name, known))
    return measure_hint(name) or (f"did you mean {meant}?" if meant else None)


def _by_name(parameters: Sequence[str]) -> str:
    return ", ".join(f"{name}=" for name in parameters)


def _hint(name: str, own: Sequence[str]) -> str | None:
    meant = parameter_name(name, own)
    if name in _INSTEAD:
        return _INSTEAD[name]
    if "points" in own and name in get_args(Criterion):
        return f"points={{{name!r}: 0.5}} marks such a point"
    if meant in own:
        return f"did you mean {meant}=?"
    verbs = _verbs.get(meant, set())
    if "evaluate" in verbs:
        return f"{meant}= is named once, in evaluate()"
    if verbs:
        some = ", ".join(sorted(verbs)) if len(verbs) <= _MOST_VERBS else "other verbs"
        return f"{meant}= is a parameter of {some}"
    close = [f"{parameter}=" for parameter in close_to(name, own)]
    return f"did you mean {' or '.join(close)}?" if close else None


# What is meant by a value without a name.
_BY_TYPE = {float: ("recall", "ci"), str: ("method", "measure"), list: ("columns", "measures")}


def _too_many(
    called: str, value: object, places: Sequence[str], own: Sequence[str]
) -> ParameterError:
    unnamed = ", ".join(name for name in places if name in own)
    allowed = f"{unnamed} in this order, and all others by name" if unnamed else _by_name(own)
    meant = next((name for name in _BY_TYPE.get(type(value), ()) if name in own), None)
    hint = f"did you mean {called}({meant}={shown(value)})?" if meant else None
    if "score" in places:
        hint = "segment keys go into by=, and several models into a list: score=['a', 'b']"
    return ParameterError(
        f"{called}() got {shown(value)} without the name of a parameter",
        allowed or "no parameter",
        hint,
    )
