"""The options of comparisons, and of what is looked for: what is compared, how it is tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from frame_prc._request import options, specs
from frame_prc._request.hints import check_numpy
from frame_prc._request.points import check_has_better, each_measured, usual_of_models
from frame_prc._request.roles import Request, check_option, refuse
from frame_prc.exceptions import OptionError, shown


def models_compared(
    request: Request, level: float, baseline: str | None = None, **asked: Any
) -> specs.Comparison:
    pairs = specs.pairs_of(models_to_compare(request, baseline), baseline)
    usual = usual_of_models(asked.get("calibrate"))
    return _compared(request, level, usual, pairs=pairs, **asked)


def segments_compared(
    request: Request, level: float, against: Any, **asked: Any
) -> specs.Comparison:
    """Return what segments are compared with, by default at one prevalence."""
    others = _against(request, against)
    return _compared(request, level, "calibrated_average_precision", against=others, **asked)


def _compared(
    request: Request,
    level: float,
    usual: specs.MeasureName,
    *,
    pairs: tuple[tuple[int, int], ...] = (),
    against: specs.Against | None = None,
    measure: Any = None,
    calibrate: Any = None,
    at: Any = None,
    adjust: Any = None,
    margin: Any = None,
    scale: Any = "difference",
) -> specs.Comparison:
    found, *beside = each_measured(request, measure, calibrate, at, usual)
    if beside and margin is not None:
        raise OptionError(
            f"margin= is given with {1 + len(beside)} measures",
            "one measure with margin=",
            "a loss that does not matter is another one for each measure",
        )
    for one in (found, *beside):
        of = scale_of(scale, one.name, margin)
    within, tests = margin_of(margin, found.name), adjustment(adjust, request)
    return specs.Comparison(level, pairs, against, tests, found, within, of, tuple(beside))


def margin_of(margin: Any, measure: specs.MeasureName) -> float | None:
    if margin is None:
        return None
    check_has_better(measure, "margin= is given with")
    is_bounded = measure not in specs.BEYOND_1
    allowed = f"a number of 0 or more{' and below 1' * is_bounded}, such as 0.01"
    most = 1 if is_bounded else math.inf
    return options.number("margin", margin, "a difference", allowed, lambda loss: 0 <= loss < most)


def scale_of(scale: Any, measure: specs.MeasureName, margin: Any) -> specs.Scale:
    """Return whether values are subtracted or divided; refuse what a ratio has not."""
    found: specs.Scale = check_option("scale", scale, get_args(specs.Scale))
    if found == "ratio" and measure in specs.WITHOUT_RATIO:
        raise OptionError(
            f"scale='ratio' is given with measure={measure!r}, whose values do not begin at 0",
            "scale='difference', or another measure",
        )
    if found == "ratio":
        only = "scale='difference' with margin="
        refuse("{} is given with scale='ratio'", {"margin=": margin}, only)
    return found


def adjustment(adjust: Any, request: Request) -> specs.Adjust | None:
    found: specs.Adjust | None = check_option("adjust", adjust, (None, *get_args(specs.Adjust)))
    if found == "max":
        check_numpy("adjust='max'")
        what = "adjust='max' is given with {} in by=, which share their rows"
        several = {"several groupings": request.groupings}
        refuse(what, several, "adjust='holm' or 'bh', or one grouping")
    return found


def adjustment_alone(adjust: Any, beside: str) -> specs.Adjust | None:
    """Return how p-values are adjusted that are not of influences."""
    found: specs.Adjust | None = check_option("adjust", adjust, (None, *get_args(specs.Adjust)))
    what = f"{{}} is given with {beside}, whose p-values are not of influences"
    refuse(what, {"adjust='max'": found == "max" or None}, "adjust='holm' or 'bh'")
    return found


def models_to_compare(request: Request, baseline: str | None) -> list[str]:
    models = [name for name in request.models if name is not None]
    if len(models) < 2:  # noqa: PLR2004
        raise OptionError(
            "score= names one model",
            "two or more",
            "pass them as a list of columns, or as {name: column}; compare_segments() compares the "
            "segments of one model",
            shell_hint="-s one -s two compares two models, and frame-prc compare-segments the "
            "segments of one",
        )
    check_baseline(baseline, models)
    return models


def check_baseline(baseline: object, models: Sequence[str]) -> None:
    if baseline is not None and not (isinstance(baseline, str) and baseline in models):
        raise OptionError(
            f"baseline={shown(baseline)} is not a model",
            ", ".join(map(repr, models))
            or "a name from several models in score= or in a key 'model'",
        )


def _against(request: Request, against: Any) -> specs.Against:
    if isinstance(against, Mapping):
        if not against or not all(isinstance(key, str) for key in against):
            raise OptionError(
                f"against={shown(against)} does not name a segment",
                "the values of one or more keys, for example {'region': 'north'}",
            )
        found: specs.Against = dict(against)
    else:
        words = get_args(specs.NamedAgainst)
        try:
            found = check_option("against", against, words)
        except OptionError as error:
            error.allowed = f"{error.allowed}, or {{key: value}} for a named segment"
            raise
    if not request.keys or () in (request.groupings or ()):
        lacks = "with a grouping of all rows in" if request.keys else "without"
        raise OptionError(
            f"against={against!r} is given {lacks} by=", "by= to make the segments to compare"
        )
    return found


def check_rows(request: Request) -> None:
    """Refuse counts: which rows two sides share is not known of them."""
    if "pos" in request.classes:
        raise OptionError(
            "pos= and neg= are given, and a comparison needs single rows",
            "truth= for single rows",
            "heterogeneity() tells how far segments differ, of counts too",
        )


def check_long(request: Request) -> None:
    """Refuse long data whose rows cannot be matched, and a ``row=`` that nothing is matched by."""
    if request.model is None:
        both = "both, for long data with a row per item and model"
        hint = "several columns in score= are in one row already"
        refuse("{} is given without model=", {"row=": request.row}, both, hint)
    if request.row is None:
        row = "row=, the column that identifies an item, to match the rows of the models"
        hint = "compare_segments() compares the segments of each model, without row="
        refuse("{} is given without row=", {"model=": request.model}, row, hint)


_SHORTEST = 1e-6  # shorter ones take more rows than can be counted


def length(name: str, value: Any) -> float:
    allowed = f"a number from {_SHORTEST:f}"
    return options.number(name, value, "a length", allowed, lambda one: _SHORTEST <= one < math.inf)


def check_segments(request: Request) -> None:
    if not request.keys:
        raise OptionError("by= is not given", "by= to make the segments to compare")


def segments_test(
    test: Any, cluster: object, measure: specs.MeasureName
) -> specs.SegmentsTest | None:
    """Return the test of whether segments differ; ``None`` leaves it to the segments."""
    found: specs.SegmentsTest | None = check_option("test", test, (None, *specs.SEGMENTS_TESTS))
    if found == "permutation":
        if measure not in specs.PERMUTED:
            raise OptionError(
                f"test='permutation' is given with measure={measure!r}",
                f"test='q', or one of the measures {', '.join(map(repr, specs.PERMUTED))}",
            )
        refuse(
            "{} is given with test='permutation', which permutes single rows: within a cluster "
            "they are not exchangeable",
            {"cluster=": cluster},
            "test='q' or no test=, which take clusters into account",
        )
        check_numpy("a permutation test")
    return found


# --- segments that differ, and weeks in which something changed --------------------------------

_LEAST_OF_SEARCH = 0.5
_PAIR, _LEAST_PERIODS, _MOST_LOOKS = 2, 2, 1000


def check_searched(request: Request, level: float) -> None:
    if not request.keys:
        raise OptionError(
            "by= is not given",
            "by= with the columns to look at",
            "columns= names them for this call alone",
            shell_hint=None,
        )
    options.check_level_of_draws(level, _LEAST_OF_SEARCH)


def plan_of(plan: Any) -> tuple[int, int]:
    first, looks = options.pair(plan)
    in_range = _LEAST_PERIODS <= first <= _MOST_LOOKS and 1 <= looks <= _MOST_LOOKS
    if not (in_range and first.is_integer() and looks.is_integer()):
        raise OptionError(
            f"plan={shown(plan)} is not a plan",
            f"two integers: {_LEAST_PERIODS} to {_MOST_LOOKS:,} periods of reference, and 1 to "
            f"{_MOST_LOOKS:,} looks",
            "plan=(12, 52) compares each week of a year with the twelve weeks before it",
        )
    return int(first), int(looks)


def window_of(window: Any, first: int) -> int:
    size = options.whole("window", window, 1)
    if first < _PAIR * size:
        raise OptionError(
            f"window={size} is given with a reference of {first} periods",
            f"a reference of {_PAIR * size} periods or more, two windows",
        )
    return size


def held_measure(
    measured: specs.Measured, calibrate: Any, of_reference: Callable[[], float | None]
) -> specs.Measured:
    """Refuse a prevalence that would change from call to call; name that ``of_reference``."""
    if measured.calibration is not None and not options.is_number(calibrate):
        share, its = of_reference(), "the share of positives in the periods of reference"
        raise OptionError(
            "calibrate= is not a number"
            if calibrate is not None
            else "calibrate= is not given, and the measure is calibrated",
            "a number, the prevalence that all periods are calibrated to",
            f"such as {its}, calibrate=0.1" if share is None else f"calibrate={share:.3g} is {its}",
        )
    return measured
