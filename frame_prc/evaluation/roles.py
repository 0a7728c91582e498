"""The roles of columns: what they are called, and what their documentation says, once."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Parameter, cleandoc, signature
from typing import Any, TypedDict

from frame_prc._request.roles import request
from frame_prc._request.specs import IntoColumn, IntoKeys, Missing


class Roles(TypedDict, total=False):
    """The columns of an evaluation by role, beside truth and score, and how to read them."""

    by: IntoKeys | None
    weight: IntoColumn | None
    cluster: IntoColumn | None
    strata: IntoColumn | None
    row: IntoColumn | None
    model: IntoColumn | None
    pos_label: object
    missing: Missing
    ascending: bool
    pos: IntoColumn | None
    neg: IntoColumn | None
    pos_squares: IntoColumn | None
    neg_squares: IntoColumn | None


FRAME = """\
frame
    Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame, DuckDB relation, PySpark
    ``DataFrame`` or Ibis table: one row per item. A label of pandas that is not a string, such as
    1, names its column; in other parameters, such as ``over``, it is ``str(label)``.
"""

TEXTS = """\
truth
    Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
score
    Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
    columns, or ``{name: column}``, to evaluate several models; results then begin with a key column
    ``model``. Scores of several dtypes become Float64; it is an error if that rounds one.
by
    Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows are
    one segment. A list of lists, such as ``[["region"], ["region", "device"], []]``, makes several
    groupings in one result: a first column ``grouping`` names the keys of each row.
weight
    Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if another
    of their values is missing. Others must be at least 1e-70, and their sum below 1e70.
cluster
    Column that names groups of rows that are not independent (same user, same day). Intervals and
    tests take the groups as independent. For single rows only.
strata
    Column that names the strata that rows, or whole clusters, were sampled from, with their
    ``weight``, as :func:`sample_to_label` returns it. Intervals and tests of measures then rest on
    how rows differ within a stratum, which is less. A stratum lies within one segment, with all
    rows that were sampled; one alone counts as it is. Resampling, curves and operating points have
    no such interval.
row
    Column that identifies an item within a segment, to match the rows of models in long data when
    they are compared. A model has one row of each item; ``missing="drop"`` leaves an item that
    lacks one out for all models, and ``"unretrieved"`` takes it as never retrieved by that model.
model
    Column that names the model of each row, for long data with a row per item and model; ``score``
    is then one column.
pos_label
    The value of ``truth`` that is the positive class; it must occur. All others are negative.
missing
    What to do with null, and NaN in truth or score. ``"raise"``: an error that counts them.
    ``"drop"``: leave such rows out, for all models of a list; ``n_dropped`` counts them.
    ``"unretrieved"``: no threshold retrieves a row without a score; a missing truth still raises.
ascending
    ``True`` if a lower score means more likely positive, as for distances and ranks. A row is then
    predicted positive if ``score <= threshold``, and thresholds ascend along a curve. Where help
    speaks of the highest score or threshold, the lowest is meant.
pos, neg
    Columns with the number of positives and of negatives in each row, instead of ``truth``.
    Integers, and decimals of scale 0, are counts of rows; floats are sums of weights.
pos_squares, neg_squares
    Columns with the sums of squared weights that belong to ``pos`` and ``neg``. An interval needs
    them if ``pos`` and ``neg`` are sums of weights; ``counts(..., squares=True)`` returns them.
"""

# Options that mean the same in several verbs.
OPTIONS = """\
at
    Where such a measure is taken, as in :func:`compare_models`.
baseline
    A model that each other one is compared with, instead of each with the earlier ones.
calibrate
    The prevalence for ``measure="calibrated_average_precision"``, as in
    :func:`compare_models`.
ci
    The level of the intervals.
dark
    Draw light marks on a dark background.
details
    Add the columns that are named so below.
size
    The size of a panel in pixels: ``(width, height)``, or one number for a square.
thresholds
    Bin the scores, as in :func:`average_precision`.
title
    Title above the chart.
"""
NAMES = ("truth", "score", *Roles.__annotations__)
_HEADING = "Parameters\n----------\n"
SECTION = _HEADING + TEXTS
_FRAME_NAMED = "frame\n    One row per item: any frame that :func:`evaluate` takes.\n"
_ROLES_NAMED = (
    f"{', '.join(NAMES)}\n"
    "    Its columns by role, as :func:`evaluate` describes them and the errors they raise.\n"
)


def _parameters() -> list[Parameter]:
    given = signature(request).parameters
    return [given[name] for name in NAMES]


# The parameters of the roles, in order, with their defaults.
PARAMETERS = _parameters()


def with_roles(doc: str | None, leading: int | None = None) -> str:
    """Return a docstring with the frame and the roles before the parameters that it describes.

    The first of these, ``leading`` in number, stand between the frame and the roles, which are then
    only named: :func:`evaluate` describes them.
    """
    head, section, tail = cleandoc(doc or "").partition(_HEADING)
    entries = _entries(tail)
    first, others = "".join(entries[: leading or 0]), "".join(entries[leading or 0 :])
    frame, roles = (FRAME, TEXTS) if leading is None else (_FRAME_NAMED, _ROLES_NAMED)
    return f"{head}{section}{frame}{first}{roles}{others}"


def with_options(function: Callable[..., Any]) -> str:
    """Return the docstring of a function, with the options that it shares in their places."""
    head, section, tail = cleandoc(function.__doc__ or "").partition(_HEADING)
    own, *others = re.split(r"(?=\n\n\w+\n---)", tail)
    texts = {
        name: entry.rstrip()
        for entry in (*_entries(OPTIONS), *_entries(own))
        for name in entry.partition("\n")[0].split(", ")
    }
    described = dict.fromkeys(texts[n] for n in signature(function).parameters if n in texts)
    return "".join([head, section, "\n".join(described), *others])


def _entries(section: str) -> list[str]:
    return re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]
