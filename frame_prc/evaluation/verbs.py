"""The one-liners: each method of an evaluation as a function of the frame and its roles.

Their types are in ``verbs.pyi``, which ``.ci/stubs`` writes from the methods.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from frame_prc._request.hints import refuses_unknown
from frame_prc._request.specs import Draws, Top  # noqa: F401 - the package has them from here
from frame_prc.evaluation.base import Level
from frame_prc.evaluation.evaluation import Evaluation, evaluate
from frame_prc.evaluation.glossary import NAMES, PARAMETERS, with_columns, with_roles
from frame_prc.evaluation.helpers import (  # noqa: F401 - as above
    average_precision_expr,
    iso_f1,
    merge_counts,
    one_vs_rest,
    plot_table,
    quantile_thresholds,
    sample_to_label,
)

_FRAME = Parameter("frame", Parameter.POSITIONAL_OR_KEYWORD, annotation="FrameT")


def forward(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function ``verb(frame, truth, score, **roles, **options)`` of a method.

    It is ``evaluate(frame, truth, score, **roles).verb(**options)``, with the signature of both
    and the docstring of the method.
    """
    parameters = _parameters(method)
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]

    def verb(*args: Any, **named: Any) -> Any:
        given = dict(zip(places, args, strict=False)) | named
        frame = given.pop("frame")
        roles = {role: given.pop(role) for role in NAMES if role in given}
        return method(Evaluation(frame, roles, reused=False), **given)

    verb.__name__ = verb.__qualname__ = method.__name__
    verb.__module__ = "frame_prc"
    verb.__doc__ = with_columns(with_roles(method.__doc__, places.index("truth") - 1))
    return refuses_unknown(verb, parameters)


def _parameters(method: Callable[..., Any]) -> list[Parameter]:
    """Return the frame, what the method takes by place, the roles, and its options."""
    _, *own = signature(method).parameters.values()
    own = [
        one.replace(default=one.default.default) if isinstance(one.default, Level) else one
        for one in own
    ]
    leading = [one for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
    return [_FRAME, *leading, *PARAMETERS, *own[len(leading) :]]


# In the order in which help lists them, which is that of the commands.
_NAMES = (
    "average_precision", "average", "curve", "summary", "compare_models", "compare_segments",
    "heterogeneity", "shrunk", "find_segments", "monitor", "sample_size", "influence",
    "operating_points", "threshold_table", "reliability", "counts", "plot", "plot_scores",
    "plot_summary", "write_ggplot", "report", "to_matplotlib", "summary_to_matplotlib", "auc",
    "band", "prediction_powered",
)  # fmt: skip
METHODS = [forward(getattr(Evaluation, name)) for name in _NAMES]
globals().update((method.__name__, method) for method in METHODS)
# What a frame has as methods.
OF_FRAMES = (evaluate, *METHODS, plot_table, one_vs_rest, quantile_thresholds, sample_to_label)
