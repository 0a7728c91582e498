"""The options of comparisons, and of what is looked for: what is compared, how it is tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, get_args

from frame_prc._request.hints import check_numpy
from frame_prc._request.options import (
    check_level_of_draws,
    confidence,
    is_number,
    key_name,
    pair,
    percent_hint,
    whole,
)
from frame_prc._request.points import check_has_better, each_measured, usual_of_models
from frame_prc._request.roles import Request, check_option, refuse
from frame_prc._request.specs import (
    BEYOND_1,
    PERMUTED,
    SEGMENTS_TESTS,
    WITHOUT_RATIO,
    Adjust,
    Against,
    ChanceTest,
    Comparison,
    Draws,
    Measured,
    MeasureName,
    NamedAgainst,
    Paired,
    Scale,
    SegmentsAre,
    SegmentsTest,
    pairs_of,
)
from frame_prc.exceptions import OptionError, shown


def models_compared(
    request: Request,
    ci: Any,
    *,
    baseline: str | None = None,
    measure: Any = None,
    calibrate: Any = None,
    at: Any = None,
    adjust: Any = None,
    margin: Any = None,
    scale: Any = "difference",
) -> Comparison:
    """Return which models to compare."""
    found, *beside = each_measured(request, measure, calibrate, at, usual_of_models(calibrate))
    models = models_to_compare(request, baseline)
    pairs = pairs_of(models, baseline)
    of, within = _judged_by(found, beside, margin, scale)
    tests = adjustment(adjust, request)
    return Comparison(confidence(ci), pairs, None, tests, found, within, of, tuple(beside))


def segments_compared(
    request: Request,
    ci: Any,
    against: Any,
    *,
    measure: Any = None,
    calibrate: Any = None,
    at: Any = None,
    adjust: Any = None,
    margin: Any = None,
    scale: Any = "difference",
) -> Comparison:
    """Return what segments are compared with, by default at one prevalence."""
    others = _against(request, against)
    found, *beside = each_measured(request, measure, calibrate, at, "calibrated_average_precision")
    of, within = _judged_by(found, beside, margin, scale)
    tests = adjustment(adjust, request)
    return Comparison(confidence(ci), (), others, tests, found, within, of, tuple(beside))


def _judged_by(
    found: Measured, beside: Sequence[Measured], margin: Any, scale: Any
) -> tuple[Scale, float | None]:
    """Return the scale, and the margin, of which each measure would need its own."""
    if beside and margin is not None:
        raise OptionError(
            f"margin= is given with {1 + len(beside)} measures",
            "one measure with margin=",
            "a loss that does not matter is another one for each measure",
        )
    for one in beside:
        scale_of(scale, one.name, None)
    return scale_of(scale, found.name, margin), margin_of(margin, found.name)


def margin_of(margin: Any, measure: MeasureName) -> float | None:
    """Return the largest loss that does not matter."""
    if margin is None:
        return None
    check_has_better(measure, "margin= is given with")
    is_bounded = measure not in BEYOND_1
    if not is_number(margin) or not 0 <= margin < (1 if is_bounded else math.inf):
        raise OptionError(
            f"margin={shown(margin)} is not a difference",
            f"a number of 0 or more{' and below 1' * is_bounded}, such as 0.01",
            percent_hint("margin", margin) if is_bounded else None,
        )
    return float(margin)


def scale_of(scale: Any, measure: MeasureName, margin: Any) -> Scale:
    """Return whether values are subtracted or divided; refuse what a ratio has not."""
    found: Scale = check_option("scale", scale, get_args(Scale))
    if found == "ratio" and measure in WITHOUT_RATIO:
        raise OptionError(
            f"scale='ratio' is given with measure={measure!r}, whose values do not begin at 0",
            "scale='difference', or another measure",
        )
    if found == "ratio":
        only = "scale='difference' with margin="
        refuse("{} is given with scale='ratio'", {"margin=": margin}, only)
    return found


def adjustment(adjust: Any, request: Request) -> Adjust | None:
    """Return how p-values are adjusted that are of influences."""
    found: Adjust | None = check_option("adjust", adjust, (None, *get_args(Adjust)))
    if found == "max":
        check_numpy("adjust='max'")
        if request.groupings is not None:
            raise OptionError(
                "adjust='max' is given with several groupings in by=, which share their rows",
                "adjust='holm' or 'bh', or one grouping",
            )
    return found


def adjustment_alone(adjust: Any, beside: str) -> Adjust | None:
    """Return how p-values are adjusted that are not of influences."""
    found: Adjust | None = check_option("adjust", adjust, (None, *get_args(Adjust)))
    what = f"{{}} is given with {beside}, whose p-values are not of influences"
    refuse(what, {"adjust='max'": found == "max" or None}, "adjust='holm' or 'bh'")
    return found


def models_to_compare(request: Request, baseline: str | None) -> list[str]:
    """Return the names of the models, two or more."""
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
    """Refuse a baseline that is not one of the models."""
    if baseline is not None and not (isinstance(baseline, str) and baseline in models):
        raise OptionError(
            f"baseline={shown(baseline)} is not a model",
            ", ".join(map(repr, models))
            or "a name from several models in score= or in a key 'model'",
        )


def _against(request: Request, against: Any) -> Against:
    """Return what segments are compared with."""
    if isinstance(against, Mapping):
        found: Against = _named_segment(against)
    else:
        found = _named_against(against)
    if not request.keys or () in (request.groupings or ()):
        lacks = "with a grouping of all rows in" if request.keys else "without"
        raise OptionError(
            f"against={against!r} is given {lacks} by=", "by= to make the segments to compare"
        )
    return found


def _named_against(against: Any) -> NamedAgainst:
    try:
        return cast("NamedAgainst", check_option("against", against, get_args(NamedAgainst)))
    except OptionError as error:
        segment = "{key: value} for a named segment"
        raise OptionError(error.what, f"{error.allowed}, or {segment}") from None


def _named_segment(against: Mapping[Any, Any]) -> Mapping[str, object]:
    if not against or not all(isinstance(key, str) for key in against):
        raise OptionError(
            f"against={shown(against)} does not name a segment",
            "the values of one or more keys, for example {'region': 'north'}",
        )
    return dict(against)


def check_drawn(drawn: Draws | None, needed: str, *, is_drawn: bool) -> None:
    """Refuse permutations where nothing is permuted."""
    if not is_drawn:
        allowed = f"permutations= with {needed}"
        refuse("{} is given, and nothing is permuted", {"permutations=": drawn}, allowed)


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


def paired(
    request: Request,
    ci: Any,
    baseline: str | None,
    over: object,
    drawn: Draws | None,
    adjust: Any,
    cluster: object,
    found: Measured,
) -> Paired:
    """Return which models to compare over segments that are a sample, and how."""
    name = key_name(over)
    units = "with over= the segments are the independent units: name the clusters there"
    refuse("{} is given beside over=", {"cluster=": cluster}, hint=units)
    if drawn is not None:
        check_numpy("a permutation test")
    models = models_to_compare(request, baseline)
    return Paired(
        confidence(ci),
        tuple(models),
        pairs_of(models, baseline),
        name,
        drawn,
        adjustment_alone(adjust, "over="),
        found,
    )


def check_plain(
    measure: object,
    calibrate: object,
    at: object,
    margin: object,
    scale: object,
    beside: str,
    reason: str,
) -> None:
    """Refuse what there is only for the comparisons by influence."""
    given = {"measure=": measure, "calibrate=": calibrate, "at=": at, "margin=": margin}
    given["scale="] = scale
    refuse(f"{{}} is given with {beside}", given, "the average precision as it is", reason)


def chance_test(drawn: Draws, adjust: Any, cluster: object) -> ChanceTest:
    """Return how segments are tested against chance."""
    refuse(
        "{} is given with against='random', which permutes the labels of single rows: within a "
        "cluster they are not exchangeable",
        {"cluster=": cluster},
        "against='random' without cluster=",
        "average_precision(..., ci=0.95, cluster=...) gives an interval to compare with "
        "random_average_precision of summary",
    )
    check_numpy("a permutation test")
    return ChanceTest(drawn, adjustment_alone(adjust, "against='random'"))


def segments_are(segments: Any, *, overall: bool) -> SegmentsAre:
    """Return how the mean of segments takes them; refuse it where there is no mean."""
    found: SegmentsAre = check_option("segments", segments, get_args(SegmentsAre))
    if found == "sampled" and not overall:
        raise OptionError(
            "segments='sampled' is given without overall=True", "both, for the mean of the segments"
        )
    return found


def check_one_of(given: Mapping[str, object]) -> None:
    """Raise an error unless exactly one of some parameters is given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        both = " and ".join(f"{name}=" for name in given)
        said = f"{both} are given" if named else f"neither of {both} is given"
        raise OptionError(said, "one of them")


_SHORTEST = 1e-6  # shorter ones take more rows than can be counted


def length(name: str, value: Any) -> float:
    """Return a width, or a difference, that a study should reach."""
    if not is_number(value) or not _SHORTEST <= value < math.inf:
        allowed, hint = f"a number from {_SHORTEST:f}", percent_hint(name, value)
        raise OptionError(f"{name}={shown(value)} is not a length", allowed, hint)
    return float(value)


def power_of(power: Any) -> float:
    """Return the probability of showing a difference that there is."""
    if not is_number(power) or not 0.5 <= power < 1:  # noqa: PLR2004 - below, chance decides
        allowed, hint = "a number from 0.5 to below 1", percent_hint("power", power)
        raise OptionError(f"power={shown(power)} is not a power", allowed, hint)
    return float(power)


def floor(below: Any) -> float | None:
    """Return the value that a segment may be below."""
    if below is not None and not is_number(below):
        raise OptionError(f"below={shown(below)} is not a value", "a number, such as below=0.3")
    return None if below is None else float(below)


def check_segments(request: Request) -> None:
    """Raise an error if there are no keys, and so no segments to compare."""
    if not request.keys:
        raise OptionError("by= is not given", "by= to make the segments to compare")


def segments_test(test: Any, cluster: object, measure: MeasureName) -> SegmentsTest | None:
    """Return the test of whether segments differ; ``None`` leaves it to the segments."""
    found: SegmentsTest | None = check_option("test", test, (None, *SEGMENTS_TESTS))
    if found == "permutation":
        if measure not in PERMUTED:
            raise OptionError(
                f"test='permutation' is given with measure={measure!r}",
                f"test='q', or one of the measures {', '.join(map(repr, PERMUTED))}",
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


def check_one_model(request: Request) -> None:
    """Refuse several models."""
    if request.model is not None or len(request.models) > 1:
        raise OptionError(
            "several models are given, and segments of one are looked for",
            "one model",
            "call it for each: the rows of one score, or those of one value of model=",
        )


def check_searched(request: Request, level: float) -> None:
    """Refuse to look at no columns, or with more certainty than draws can give."""
    if not request.keys:
        raise OptionError(
            "by= is not given",
            "by= with the columns to look at",
            "columns= names them for this call alone",
            shell_hint=None,
        )
    check_level_of_draws(level, _LEAST_OF_SEARCH)


def plan_of(plan: Any) -> tuple[int, int]:
    """Return how many periods are the reference, and how many are looked at."""
    first, looks = pair(plan)
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
    """Return how many periods are evaluated together; the reference must hold two windows."""
    size = whole("window", window, 1)
    if first < _PAIR * size:
        raise OptionError(
            f"window={size} is given with a reference of {first} periods",
            f"a reference of {_PAIR * size} periods or more, two windows",
        )
    return size


def held_measure(
    measured: Measured, calibrate: Any, of_reference: Callable[[], float | None]
) -> Measured:
    """Refuse a prevalence that would change from call to call; name that ``of_reference``."""
    if measured.calibration is not None and not is_number(calibrate):
        share, its = of_reference(), "the share of positives in the periods of reference"
        raise OptionError(
            "calibrate= is not a number"
            if calibrate is not None
            else "calibrate= is not given, and the measure is calibrated",
            "a number, the prevalence that all periods are calibrated to",
            f"such as {its}, calibrate=0.1" if share is None else f"calibrate={share:.3g} is {its}",
        )
    return measured
