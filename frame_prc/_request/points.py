"""Points of thresholds: what is asked of them, and the measures that are held at one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

import polars as pl

from frame_prc._request import options, specs
from frame_prc._request.hints import check_numpy, measure_hint, nearest_measure
from frame_prc._request.roles import Request, check_option, refuse
from frame_prc.exceptions import OptionError, shown

_LARGEST_BETA = 1e100  # the square of a larger one overflows
_LARGEST_COST = 1e100  # times the largest sum of weights it is still a number
_PAIR = 2


def targets(
    numbers: dict[specs.Criterion, Any], *, others: bool = False, role: str | None = None
) -> list[specs.Target]:
    """Return the targets, in order, of parameters, or of what the parameter ``role`` maps."""
    found = [
        target
        for criterion, given in numbers.items()
        if given is not None
        for target in _targets(criterion, given, role)
    ]
    if not found and not others:
        empty = [
            options.asked_by(name, given, role)
            for name, given in numbers.items()
            if options.is_list(given)
        ]
        raise OptionError(
            f"{empty[0]} holds no number" if empty else "no target is given",
            f"one or more of {', '.join(f'{n}=' for n in numbers)}",
        )
    return found


_GUARANTEED = ("recall", "precision", "fpr")


_CONSTRAINTS = ("recall", "precision", "predicted_rate", "predicted_count", "fpr")


def with_joint(targets: list[specs.Target], joint: Any, *, others: bool) -> list[specs.Target]:
    """Return targets, and before them a point that meets all of them if that is asked for."""
    if not check_option("joint", joint, (False, True)):
        return targets
    criteria = {target.criterion for target in targets}
    what = "{} is given with joint=True"
    refuse(what, {"ties='expected'": cuts_ties(targets) or None})
    _check_only(_CONSTRAINTS, targets, what, "joint=", others=others)
    if len(criteria) < _PAIR or len(criteria) < len(targets):
        raise OptionError(
            f"joint=True is given with {', '.join(target.text for target in targets)}",
            "two or more targets of different kinds, one number each",
            "joint=True with recall=0.9, fpr=0.05",
        )
    return [specs.Target("joint", math.nan, all_of=tuple(targets)), *targets]


def guaranteed(
    targets: Sequence[specs.Target], guarantee: Any, *, others: bool
) -> list[specs.Target]:
    """Return targets that new rows meet with this probability."""
    if guarantee is None:
        return [*targets]
    allowed = "a number between 0 and 1, such as 0.95"
    level = options.number(
        "guarantee", guarantee, "a probability", allowed, lambda one: 0 < one < 1
    )
    what, joint = "{} is given with guarantee=", any(target.all_of for target in targets) or None
    own = "with the guarantee alone each target has its own threshold, which meets it"
    refuse(what, {"joint=True": joint}, hint=own)
    _check_only(_GUARANTEED, targets, what, "guarantee=", others=others)
    check_numpy("guarantee=")
    return [replace(target, guarantee=level) for target in targets]


def _check_only(
    known: Sequence[str], targets: Sequence[specs.Target], what: str, beside: str, *, others: bool
) -> None:
    given: dict[str, object] = {f"{t.criterion}=": t for t in targets if t.criterion not in known}
    given |= {"threshold=": True} if others else {}
    allowed = ", ".join(f"{name}=" for name in known)
    refuse(what, given, allowed, f"ask for it in a call of its own, without {beside}")


def _targets(criterion: specs.Criterion, given: Any, role: str | None) -> list[specs.Target]:
    values = list(given) if options.is_list(given) else [given]
    if criterion == "predicted_count":
        return [_count(value, role) for value in values]
    if criterion != "cost":
        return [specs.Target(criterion, _target(criterion, value, role)) for value in values]
    pairs = values if values and all(map(options.is_list, values)) else [given]
    return [_cost(pair_of, role) for pair_of in pairs]


def _count(value: Any, role: str | None) -> specs.Target:
    asked = value if isinstance(value, specs.Top) else specs.Top(value)
    if asked.normaliser != specs.Top.normaliser:
        raise OptionError(
            f"normaliser={shown(asked.normaliser)} is given in predicted_count=",
            "Top(100, ties='expected')",
            "a normaliser divides an area: top=Top(...) of average_precision",
        )
    ties = check_option("ties", asked.ties, get_args(specs.Ties))
    return specs.Target("predicted_count", _target("predicted_count", asked.count, role), ties=ties)


def _cost(given: Any, role: str | None) -> specs.Target:
    """Return the target of the least cost, whose value is the share of a false positive's cost."""
    fp, fn = options.pair(given)
    if not (0 <= fp <= _LARGEST_COST and 0 <= fn <= _LARGEST_COST and fp + fn > 0):
        raise OptionError(
            f"{options.asked_by('cost', given, role)} is not a pair of costs",
            "(cost of a false positive, cost of a false negative), numbers of 0 or more and up to "
            f"{_LARGEST_COST}, not both 0",
            f"{options.asked_by('cost', (1, 10), role)} if a missed positive costs ten times as "
            "much as a false alarm",
        )
    return specs.Target("cost", fp / (fp + fn), (fp, fn))


_SHARES = ("recall", "precision", "predicted_rate", "fpr")


def _target(criterion: specs.Criterion, value: Any, role: str | None) -> float:
    allowed: tuple[Callable[[float], bool], str] = {
        "threshold": (
            lambda _: True,
            "numbers, or one column or a Polars or pandas frame that holds them",
        ),
        "f_beta": (
            lambda beta: 0 < beta <= _LARGEST_BETA,
            f"numbers above 0 and up to {_LARGEST_BETA}",
        ),
        "predicted_count": (lambda count: count > 0, "numbers above 0"),
        "fpr": (lambda share: 0 <= share <= 1, "numbers from 0 to 1"),
    }.get(criterion, (lambda share: 0 < share <= 1, "numbers above 0 and up to 1"))
    is_allowed, numbers = allowed
    is_nan = isinstance(value, float) and math.isnan(value)
    if is_nan or not options.has_number_type(value):
        raise OptionError(f"{options.asked_by(criterion, value, role)} is not a number", numbers)
    if not options.is_number(value) or not is_allowed(float(value)):
        hint = options.percent_hint(criterion, value, role) if criterion in _SHARES else None
        raise OptionError(
            f"{options.asked_by(criterion, value, role)} is out of range", numbers, hint
        )
    return float(value)


def cuts_ties(targets: Sequence[specs.Target]) -> bool:
    return any(target.ties == "expected" for target in targets)


def target_interval(level: float | None, targets: Sequence[specs.Target]) -> specs.Interval | None:
    """Return the interval of operating points, which is drawn where a threshold is chosen."""
    if cuts_ties(targets):
        hint = "a replicate has ties of its own: ci= takes ties='whole'"
        refuse("{} is given with ties='expected'", {"ci=": level}, hint=hint)
    held = all(target.criterion == "threshold" for target in targets)
    is_held = held or any(target.guarantee is not None for target in targets)
    return options.area_interval(level, None, is_drawn=not is_held)


# --- where the last tie is cut at random -------------------------------------------------------


def check_expected_area(recall_range: object, calibrate: object) -> None:
    given = {"recall_range=": recall_range, "calibrate=": calibrate}
    refuse("{} is given with ties='expected'", given)


def check_unweighted_ties(*, weighted: bool) -> None:
    """Refuse a random order within a tie whose rows have weights: how many fit depends on it."""
    if weighted:
        raise OptionError(
            "ties='expected' is given for weighted rows",
            "ties='whole', or rows that count as one, or integer counts of rows",
        )


# --- measures ----------------------------------------------------------------------------------


def _measure_name(measure: Any) -> specs.MeasureName:
    is_roc = str(measure) in ("auc", "roc", "auroc")
    hint = "did you mean 'roc_auc'?" if is_roc else measure_hint(measure)
    found: specs.MeasureName = check_option("measure", measure, get_args(specs.MeasureName), hint)
    return found


def measured(request: Request, measure: Any, calibrate: Any, at: Any = None) -> specs.Measured:
    name = _measure_name(measure)
    [found] = measured_of(request, [name], f"measure={name!r}", at, calibrate)
    return found


def models_measured(
    request: Request, measure: Any, calibrate: Any, at: Any = None
) -> specs.Measured:
    """Return the measure of models, by default the plain area: they have the same rows."""
    usual = usual_of_models(calibrate)
    return measured(request, usual if measure is None else measure, calibrate, at)


def usual_of_models(calibrate: Any) -> specs.MeasureName:
    return "average_precision" if calibrate is None else "calibrated_average_precision"


def each_measured(
    request: Request, measure: Any, calibrate: Any, at: Any, usual: specs.MeasureName
) -> list[specs.Measured]:
    if not options.is_list(measure):
        return [measured(request, usual if measure is None else measure, calibrate, at)]
    names = [*dict.fromkeys(map(_measure_name, measure))]
    if not names:
        raise OptionError("measure= is an empty list", "the name of a measure, or several")
    return measured_of(request, names, f"measure={names}", at, calibrate)


def measure_list(measures: Any, known: Sequence[str], others: Sequence[str]) -> list[str]:
    if measures is None:
        return []
    if options.is_word(measures, "all"):
        return [*known]
    listed = list(measures) if options.is_list(measures) else [measures]
    # The average precision is shown anyway.
    named = [one for one in listed if not options.is_word(one, "average_precision")]
    every = (*known, *others)
    for name in named:
        if not isinstance(name, str) or name not in every:
            near = nearest_measure(name, every) if isinstance(name, str) else None
            raise OptionError(
                f"measures= names {shown(name)}, which is not a measure of the scorecard",
                f"'all', or some of {', '.join(map(repr, every))}",
                near,
            )
    return named


def measured_of(
    request: Request, names: Sequence[specs.MeasureName], asked: str, at: Any, calibrate: Any = None
) -> list[specs.Measured]:
    """Return measures, each with its ``at`` or ``calibrate``; ``asked`` says who named them."""
    check_probabilities(request, names)
    held = _held(asked, at, names)
    if calibrate is not None and _CALIBRATED not in names:
        only = f"calibrate= with {_CALIBRATED!r} among them"
        if len(names) == 1:
            only = f"calibrate= with measure={_CALIBRATED!r}"
        raise OptionError(f"calibrate= is given with {asked}", only)
    return [
        specs.Measured(name, options.compared_at(calibrate))
        if name == _CALIBRATED
        else specs.Measured(name, at=held.get(name))
        for name in names
    ]


def measures_beside(request: Request, named: Sequence[str], at: Any) -> list[specs.Measured]:
    known = {*get_args(specs.MeasureName)}.difference(specs.OF_CURVE)
    names = [cast("specs.MeasureName", name) for name in dict.fromkeys(named) if name in known]
    return measured_of(request, names, f"measures={[*named]}", at)


_CALIBRATED = "calibrated_average_precision"
_HOLDS_OTHERS = "operating_points(recall=0.9) chooses one: hold it to other rows than those"


def _held(asked: str, at: Any, names: Sequence[str]) -> dict[str, specs.Target]:
    placed = {name: keys for name, keys in specs.HELD.items() if name in names}
    if at is None and placed:
        name, [key, *_] = next(iter(placed.items()))
        example = {"threshold": 0.5, "fpr": 0.1}[key]
        hint = _HOLDS_OTHERS if key == "threshold" else None
        what = f"{asked.partition('=')[0]}={name!r} is given without at="
        raise OptionError(what, f"at={ {key: example} }", hint)
    if at is not None and not placed:
        every = ", ".join(map(repr, specs.HELD))
        beside = f"with {asked}" if names else "and no measure asked for is taken there"
        raise OptionError(f"at= is given {beside}", f"at= with one of {every}")
    if at is None:
        return {}
    if isinstance(at, pl.LazyFrame):
        return _held_by(at, placed)
    given = at if isinstance(at, Mapping) else {}
    taken = {name: next((k for k in keys if k in given), None) for name, keys in placed.items()}
    is_each_number = all(map(options.is_number, given.values()))
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


def _held_by(
    table: pl.LazyFrame, placed: Mapping[specs.MeasureName, Sequence[str]]
) -> dict[str, specs.Target]:
    for name, keys in placed.items():
        if "threshold" not in keys or name == "net_benefit":
            raise OptionError(
                f"at= is a frame of thresholds, and is given with {name!r}",
                "at={'threshold': 0.2}, a probability"
                if keys[0] == "threshold"
                else "at={'fpr': 0.1}",
                "ask for it in a call of its own",
            )
    return dict.fromkeys(placed, specs.Target("threshold", math.nan, table=table))


def _point(name: str, criterion: specs.Criterion, value: float) -> specs.Target:
    if name == "net_benefit" and not 0 < value < 1:
        raise OptionError(
            f"at= is the threshold {shown(value)}, and net_benefit takes it as a probability",
            "a threshold above 0 and below 1",
        )
    [found] = targets({criterion: value}, role="at")
    ends = {"threshold": (), "fpr": (0, 1), "predicted_count": ()}.get(criterion, (1,))
    if name == specs.PARTIAL_ROC_AUC:
        ends = (0,)
    if value in ends:
        raise OptionError(
            f"{options.asked_by(criterion, value, 'at')} is where {name!r} cannot be measured",
            "a number above 0" + (" and below 1" if 1 in ends else ""),
        )
    return found


def check_probabilities(request: Request, names: Sequence[str]) -> None:
    name = next((one for one in names if one in specs.OF_PROBABILITIES), None)
    if name is None:
        return
    unretrieved = request.missing == "unretrieved"
    if request.ascending or unretrieved:
        role = "ascending=True" if request.ascending else "missing='unretrieved'"
        raise OptionError(
            f"{role} is given with the measure {name!r}",
            "a score for each row that is the probability of the positive class",
            "score=1 - pl.col('score')" if request.ascending else "missing='drop'",
            shell_hint=None,
        )


def check_has_better(measure: specs.MeasureName, what: str) -> None:
    if measure in specs.NEITHER_BETTER:
        raise OptionError(
            f"{what} measure={measure!r}, of which neither a higher value nor a lower one is "
            "better",
            "another measure",
        )
