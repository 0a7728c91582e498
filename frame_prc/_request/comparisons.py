"""The options of comparisons: what is compared, by which measure, and how it is tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from frame_prc._request.intervals import confidence
from frame_prc._request.near_misses import measure_hint
from frame_prc._request.options import calibration, is_list, key_name
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import Request, check_option
from frame_prc._request.specs import (
    SEGMENTS_TESTS,
    Adjust,
    Against,
    ChanceTest,
    Comparison,
    Draws,
    Measured,
    MeasureName,
    NamedAgainst,
    Paired,
    SegmentsAre,
    SegmentsTest,
    pairs_of,
)
from frame_prc.exceptions import OptionError, nearest, shown


def models_compared(
    request: Request,
    ci: Any,
    *,
    baseline: str | None = None,
    measure: Any = None,
    calibrate: Any = None,
    adjust: Any = None,
) -> Comparison:
    """Return which models to compare."""
    found = models_measured(measure, calibrate)
    models = models_to_compare(request, baseline)
    pairs = pairs_of(models, baseline)
    return Comparison(confidence(ci), pairs, None, adjustment(adjust), found)


def models_measured(measure: Any, calibrate: Any) -> Measured:
    """Return the measure of models, by default the plain area: they have the same rows."""
    usual = "average_precision" if calibrate is None else "calibrated_average_precision"
    return measured(usual if measure is None else measure, calibrate)


def segments_compared(
    request: Request,
    ci: Any,
    against: Any,
    *,
    measure: Any = None,
    calibrate: Any = None,
    adjust: Any = None,
) -> Comparison:
    """Return what segments are compared with, by default at one prevalence."""
    others = _against(request, against)
    found = measured("calibrated_average_precision" if measure is None else measure, calibrate)
    return Comparison(confidence(ci), (), others, adjustment(adjust), found)


def adjustment(adjust: Any) -> Adjust | None:
    """Return how p-values are adjusted."""
    found: Adjust | None = check_option("adjust", adjust, (None, *get_args(Adjust)))
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


def _hint(measure: object) -> str | None:
    return (
        "did you mean 'roc_auc'?"
        if str(measure) in ("auc", "roc", "auroc")
        else measure_hint(measure)
    )


def measured(measure: Any, calibrate: Any) -> Measured:
    """Return the measure, calibrated if it is the calibrated average precision."""
    name: MeasureName = check_option("measure", measure, get_args(MeasureName), _hint(measure))
    if name == "calibrated_average_precision":
        return Measured(name, calibration("highest" if calibrate is None else calibrate))
    if calibrate is not None:
        raise OptionError(
            f"calibrate= is given with measure={name!r}",
            "calibrate= with measure='calibrated_average_precision'",
        )
    return Measured(name)


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
    if drawn is not None and not is_drawn:
        raise OptionError(
            "permutations= is given, and nothing is permuted", f"permutations= with {needed}"
        )


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
    if request.row is not None and request.model is None:
        raise OptionError(
            "row= is given without model=",
            "both, for long data with a row per item and model",
            "several columns in score= are in one row already",
        )
    if request.model is not None and request.row is None:
        raise OptionError(
            "model= is given without row=",
            "row=, the column that identifies an item, to match the rows of the models",
            "compare_segments() compares the segments of each model, without row=",
        )


def check_no_row(request: Request) -> None:
    """Refuse a column that matches rows of models where segments are compared."""
    if request.row is not None:
        raise OptionError(
            "row= is given, and segments are compared",
            "row= to match the rows of models, in compare_models()",
        )


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
    if cluster is not None:
        raise OptionError(
            "cluster= is given beside over=",
            "one of them",
            "with over= the segments are the independent units: name the clusters there",
        )
    if drawn is not None:
        check_numpy("a permutation test")
    models = models_to_compare(request, baseline)
    return Paired(
        confidence(ci),
        tuple(models),
        pairs_of(models, baseline),
        name,
        drawn,
        adjustment(adjust),
        found,
    )


def check_plain(measure: object, calibrate: object, beside: str, reason: str) -> None:
    """Refuse what there is only for the comparisons by influence."""
    for name, given in (("measure", measure), ("calibrate", calibrate)):
        if given is not None:
            raise OptionError(
                f"{name}= is given with {beside}", "the average precision as it is", reason
            )


def chance_test(drawn: Draws, adjust: Any, cluster: object) -> ChanceTest:
    """Return how segments are tested against chance."""
    if cluster is not None:
        raise OptionError(
            "cluster= is given with against='random', which permutes the labels of single rows: "
            "within a cluster they are not exchangeable",
            "against='random' without cluster=",
            "average_precision(..., ci=0.95, cluster=...) gives an interval to compare with "
            "random_average_precision of summary",
        )
    check_numpy("a permutation test")
    return ChanceTest(drawn, adjustment(adjust))


def segments_are(segments: Any, *, overall: bool) -> SegmentsAre:
    """Return how the mean of segments takes them; refuse it where there is no mean."""
    found: SegmentsAre = check_option("segments", segments, get_args(SegmentsAre))
    if found == "sampled" and not overall:
        raise OptionError(
            "segments='sampled' is given without overall=True", "both, for the mean of the segments"
        )
    return found


def measure_list(measures: Any, known: Sequence[str]) -> Sequence[str]:
    """Return the measures that a scorecard shows beside the average precision."""
    if measures is None or (isinstance(measures, str) and measures == "all"):
        return () if measures is None else known
    named = list(measures) if is_list(measures) else [measures]
    for name in named:
        if name not in known:
            near = nearest(name, known) if isinstance(name, str) else None
            raise OptionError(
                f"measures= names {shown(name)}, which is not a measure of the scorecard",
                f"'all', or some of {', '.join(map(repr, known))}",
                near,
            )
    return named


def check_segments(request: Request) -> None:
    """Raise an error if there are no keys, and so no segments to compare."""
    if not request.keys:
        raise OptionError("by= is not given", "by= to make the segments to compare")


def segments_test(test: Any, cluster: object) -> SegmentsTest | None:
    """Return the test of whether segments differ; ``None`` leaves it to the segments."""
    found: SegmentsTest | None = check_option("test", test, (None, *SEGMENTS_TESTS))
    if found == "permutation":
        if cluster is not None:
            raise OptionError(
                "cluster= is given with test='permutation', which permutes single rows: within a "
                "cluster they are not exchangeable",
                "test='q' or no test=, which take clusters into account",
            )
        check_numpy("a permutation test")
    return found
