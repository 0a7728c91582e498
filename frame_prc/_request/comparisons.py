"""The options of comparisons: what is compared, by which measure, and how it is tested."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast, get_args

import polars as pl

from frame_prc._request.hints import measure_hint
from frame_prc._request.intervals import confidence
from frame_prc._request.options import (
    compared_at,
    is_list,
    is_number,
    key_name,
    percent_hint,
)
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import Request, check_option
from frame_prc._request.specs import (
    HELD,
    NEITHER_BETTER,
    OF_CURVE,
    OF_PROBABILITIES,
    PARTIAL_ROC_AUC,
    PERMUTED,
    SEGMENTS_TESTS,
    WITHOUT_RATIO,
    Adjust,
    Against,
    ChanceTest,
    Comparison,
    Criterion,
    Draws,
    Measured,
    MeasureName,
    NamedAgainst,
    Paired,
    Scale,
    SegmentsAre,
    SegmentsTest,
    Target,
    pairs_of,
)
from frame_prc._request.targets import targets
from frame_prc.exceptions import OptionError, nearest, shown


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
    found, *beside = _each_measured(request, measure, calibrate, at, _usual_of_models(calibrate))
    models = models_to_compare(request, baseline)
    pairs = pairs_of(models, baseline)
    of, within = _judged_by(found, beside, margin, scale)
    tests = adjustment(adjust, request)
    return Comparison(confidence(ci), pairs, None, tests, found, within, of, tuple(beside))


def _usual_of_models(calibrate: Any) -> MeasureName:
    """Return the measure of models that is meant: plain, as they have the same rows."""
    return "average_precision" if calibrate is None else "calibrated_average_precision"


def models_measured(request: Request, measure: Any, calibrate: Any, at: Any = None) -> Measured:
    """Return the measure of models, by default the plain area: they have the same rows."""
    usual = _usual_of_models(calibrate)
    return measured(request, usual if measure is None else measure, calibrate, at)


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
    found, *beside = _each_measured(request, measure, calibrate, at, "calibrated_average_precision")
    of, within = _judged_by(found, beside, margin, scale)
    tests = adjustment(adjust, request)
    return Comparison(confidence(ci), (), others, tests, found, within, of, tuple(beside))


def _each_measured(
    request: Request, measure: Any, calibrate: Any, at: Any, usual: MeasureName
) -> list[Measured]:
    """Return the measures of a comparison: one, or each of a list."""
    if not is_list(measure):
        return [measured(request, usual if measure is None else measure, calibrate, at)]
    names = [_measure_name(one) for one in dict.fromkeys(measure)]
    if not names:
        raise OptionError("measure= is an empty list", "the name of a measure, or several")
    if calibrate is not None and "calibrated_average_precision" not in names:
        raise OptionError(
            f"calibrate= is given with measure={names}",
            "calibrate= with 'calibrated_average_precision' among them",
        )
    return _each_of(request, names, f"measure={names}", at, calibrate)


def _each_of(
    request: Request, names: Sequence[MeasureName], asked: str, at: Any, calibrate: Any = None
) -> list[Measured]:
    """Return measures by their names, each with what ``at`` holds, or ``calibrate``, for it."""
    held = {} if at is None else _held(asked, at, names)
    prevalences = {"calibrated_average_precision": calibrate}
    return [_measured(request, name, prevalences.get(name), held.get(name)) for name in names]


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


def check_has_better(measure: MeasureName, what: str) -> None:
    """Raise an error for a measure of which no value is the best."""
    if measure in NEITHER_BETTER:
        raise OptionError(
            f"{what} measure={measure!r}, of which neither a higher value nor a lower one is "
            "better",
            "another measure",
        )


def margin_of(margin: Any, measure: MeasureName) -> float | None:
    """Return the largest loss that does not matter."""
    if margin is None:
        return None
    check_has_better(measure, "margin= is given with")
    if not is_number(margin) or not 0 <= margin < 1:
        raise OptionError(
            f"margin={shown(margin)} is not a difference",
            "a number of 0 or more and below 1, such as 0.01",
            percent_hint("margin", margin),
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
    if found == "ratio" and margin is not None:
        raise OptionError("margin= is given with scale='ratio'", "scale='difference' with margin=")
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
    if found == "max":
        raise OptionError(
            f"adjust='max' is given with {beside}, whose p-values are not of influences",
            "adjust='holm' or 'bh'",
        )
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


def _measure_name(measure: Any) -> MeasureName:
    found: MeasureName = check_option("measure", measure, get_args(MeasureName), _hint(measure))
    return found


def measured(request: Request, measure: Any, calibrate: Any, at: Any = None) -> Measured:
    """Return the measure, with its prevalence or its threshold if it has one."""
    name = _measure_name(measure)
    return _measured(request, name, calibrate, _held(f"measure={name!r}", at, [name]).get(name))


def _measured(request: Request, name: MeasureName, calibrate: Any, held: Target | None) -> Measured:
    """Return a measure by its name, with its prevalence or its point if it has one."""
    check_probabilities(request, [name])
    if held is None:
        _held(f"measure={name!r}", None, [name])  # refuses one that needs a point
    if name == "net_benefit" and held is not None and not 0 < held.value < 1:
        raise OptionError(
            f"at= is the threshold {shown(held.value)}, and net_benefit takes it as a probability",
            "a threshold above 0 and below 1",
        )
    if name == "calibrated_average_precision":
        return Measured(name, compared_at(calibrate))
    if calibrate is not None:
        raise OptionError(
            f"calibrate= is given with measure={name!r}",
            "calibrate= with measure='calibrated_average_precision'",
        )
    return Measured(name, at=held)


_HOLDS_OTHERS = "operating_points(recall=0.9) chooses one: hold it to other rows than those"


def _held(asked: str, at: Any, names: Sequence[str]) -> dict[str, Target]:
    """Return the point of each measure that is at one; refuse what is lacking, and what is over."""
    placed = {name: keys for name, keys in HELD.items() if name in names}
    if at is None and placed:
        key = next(iter(placed.values()))[0]
        example = {"threshold": 0.5, "fpr": 0.1}[key]
        hint = _HOLDS_OTHERS if key == "threshold" else None
        raise OptionError(f"{asked} is given without at=", f"at={ {key: example} }", hint)
    if at is not None and not placed:
        every = ", ".join(map(repr, HELD))
        beside = f"with {asked}" if names else "without a measure that has one"
        raise OptionError(f"at= is given {beside}", f"at= with one of {every}")
    if at is None:
        return {}
    if isinstance(at, pl.LazyFrame):
        return _held_by(at, placed)
    given = at if isinstance(at, Mapping) else {}
    taken = {name: next((k for k in keys if k in given), None) for name, keys in placed.items()}
    is_each_number = all(map(is_number, given.values()))
    if None in taken.values() or {*taken.values()} != {*given} or not is_each_number:
        name = next((one for one, key in taken.items() if key is None), next(iter(taken)))
        keys = placed[name]
        others = f", or {', '.join(map(repr, keys[1:]))} in its place" if keys[1:] else ""
        if keys[0] == "threshold" and len(keys) > 1:
            others += ", or a frame with the keys and 'threshold'"
        raise OptionError(
            f"at={shown(at)} is not where {name!r} is measured",
            f"{{{keys[0]!r}: number}}{others}",
            _HOLDS_OTHERS if keys[0] == "threshold" else None,
        )
    return {name: _point(name, key, given[key]) for name, key in taken.items() if key}


def _held_by(table: pl.LazyFrame, placed: Mapping[MeasureName, Sequence[str]]) -> dict[str, Target]:
    """Return the thresholds of a frame as the point of each measure."""
    for name, keys in placed.items():
        if "threshold" not in keys or name == "net_benefit":
            raise OptionError(
                f"at= is a frame of thresholds, and is given with {name!r}",
                "at={'threshold': 0.2}, a probability"
                if keys[0] == "threshold"
                else "at={'fpr': 0.1}",
                "ask for it in a call of its own",
            )
    return dict.fromkeys(placed, Target("threshold", math.nan, table=table))


def _point(name: str, criterion: Criterion, value: float) -> Target:
    """Return where a measure is taken; refuse what no threshold, or every one, would meet."""
    [found] = targets({criterion: value})
    ends = {"threshold": (), "fpr": (0, 1), "predicted_count": ()}.get(criterion, (1,))
    if name == PARTIAL_ROC_AUC:
        ends = (0,)
    if value in ends:
        raise OptionError(
            f"at={ {criterion: value} } is where {name!r} cannot be measured",
            "a number above 0" + (" and below 1" if 1 in ends else ""),
        )
    return found


def check_probabilities(request: Request, names: Sequence[str]) -> None:
    """Refuse measures of probabilities for scores that cannot be some."""
    name = next((one for one in names if one in OF_PROBABILITIES), None)
    if name is None:
        return
    for role, given in (
        ("ascending=True", request.ascending),
        ("missing='unretrieved'", request.missing == "unretrieved"),
    ):
        if given:
            raise OptionError(
                f"{role} is given with the measure {name!r}",
                "a score for each row that is the probability of the positive class",
                "score=1 - pl.col('score')" if request.ascending else "missing='drop'",
                shell_hint=None,
            )


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
    asked = {"measure": measure, "calibrate": calibrate, "at": at, "margin": margin}
    asked["scale"] = scale
    for name, given in asked.items():
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
    return ChanceTest(drawn, adjustment_alone(adjust, "against='random'"))


def segments_are(segments: Any, *, overall: bool) -> SegmentsAre:
    """Return how the mean of segments takes them; refuse it where there is no mean."""
    found: SegmentsAre = check_option("segments", segments, get_args(SegmentsAre))
    if found == "sampled" and not overall:
        raise OptionError(
            "segments='sampled' is given without overall=True", "both, for the mean of the segments"
        )
    return found


def measure_list(measures: Any, known: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the measures that a scorecard shows beside the average precision."""
    if measures is None:
        return []
    if isinstance(measures, str) and measures == "all":
        return [*known]
    named = list(measures) if is_list(measures) else [measures]
    every = (*known, *others)
    for name in named:
        if name not in every:
            near = nearest(name, every) if isinstance(name, str) else None
            raise OptionError(
                f"measures= names {shown(name)}, which is not a measure of the scorecard",
                f"'all', or some of {', '.join(map(repr, every))}",
                near,
            )
    return named


def measures_beside(request: Request, names: Sequence[str], at: Any) -> list[Measured]:
    """Return the measures of a scorecard that have a value and an influence of their own."""
    return measured_of(request, names, at, {*get_args(MeasureName)}.difference(OF_CURVE))


def measured_of(
    request: Request, names: Sequence[str], at: Any, known: Collection[MeasureName]
) -> list[Measured]:
    """Return the ``known`` ones of some measures, each with what ``at`` holds for it."""
    unique = cast("Iterable[MeasureName]", dict.fromkeys(names))
    asked = f"measures={[*names]}"
    return _each_of(request, [name for name in unique if name in known], asked, at)


def check_one_of(given: Mapping[str, object]) -> None:
    """Raise an error unless exactly one of some parameters is given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        both = " and ".join(f"{name}=" for name in given)
        said = f"{both} are given" if named else f"neither of {both} is given"
        raise OptionError(said, "one of them")


def length(name: str, value: Any) -> float:
    """Return a width, or a difference, that a study should reach."""
    if not is_number(value) or not 0 < value < math.inf:
        allowed, hint = "a number above 0", percent_hint(name, value)
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
        if cluster is not None:
            raise OptionError(
                "cluster= is given with test='permutation', which permutes single rows: within a "
                "cluster they are not exchangeable",
                "test='q' or no test=, which take clusters into account",
            )
        check_numpy("a permutation test")
    return found
