"""Targets of operating points: what is asked of a threshold, checked and converted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

from frame_prc._request.intervals import confidence, drawn_interval
from frame_prc._request.options import has_number_type, is_list, is_number, percent_hint
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import check_option
from frame_prc._request.specs import Criterion, Interval, Target, Ties, Top
from frame_prc.exceptions import OptionError, shown

_LARGEST_BETA = 1e100  # the square of a larger one overflows
_LARGEST_COST = 1e100  # times the largest sum of weights it is still a number
_PAIR = 2


def targets(numbers: dict[Criterion, Any], *, others: bool = False) -> list[Target]:
    """Return the targets of operating points, in the order of the parameters."""
    found = [
        target
        for criterion, given in numbers.items()
        if given is not None
        for target in _targets(criterion, given)
    ]
    if not found and not others:
        raise OptionError(
            "no target is given", f"one or more of {', '.join(f'{n}=' for n in numbers)}"
        )
    return found


_GUARANTEED = ("recall", "precision", "fpr")


_CONSTRAINTS = ("recall", "precision", "predicted_rate", "predicted_count", "fpr")


def with_joint(targets: list[Target], joint: Any, *, others: bool) -> list[Target]:
    """Return targets, and before them a point that meets all of them if that is asked for."""
    if not check_option("joint", joint, (False, True)):
        return targets
    unknown = [t.criterion for t in targets if t.criterion not in _CONSTRAINTS]
    unknown += ["threshold"] if others else []
    criteria = {target.criterion for target in targets}
    if cuts_ties(targets):
        raise OptionError("ties='expected' is given with joint=True", "one of them")
    if unknown:
        raise OptionError(
            f"{unknown[0]}= is given with joint=True",
            ", ".join(f"{name}=" for name in _CONSTRAINTS),
            "ask for it in a call of its own, without joint=",
        )
    if len(criteria) < _PAIR or len(criteria) < len(targets):
        raise OptionError(
            f"joint=True is given with {', '.join(target.text for target in targets)}",
            "two or more targets of different kinds, one number each",
            "joint=True with recall=0.9, fpr=0.05",
        )
    return [Target("joint", math.nan, all_of=tuple(targets)), *targets]


def guaranteed(targets: Sequence[Target], guarantee: Any, *, others: bool) -> list[Target]:
    """Return targets that new rows meet with this probability; ``others`` as above."""
    if guarantee is None:
        return [*targets]
    if not is_number(guarantee) or not 0 < guarantee < 1:
        raise OptionError(
            f"guarantee={shown(guarantee)} is not a probability",
            "a number between 0 and 1, such as 0.95",
            percent_hint("guarantee", guarantee),
        )
    if any(target.all_of for target in targets):
        raise OptionError(
            "joint=True is given with guarantee=",
            "one of them",
            "with the guarantee alone each target has its own threshold, which meets it",
        )
    unknown = [t.criterion for t in targets if t.criterion not in _GUARANTEED]
    if others or unknown:
        raise OptionError(
            f"{unknown[0] if unknown else 'threshold'}= is given with guarantee=",
            ", ".join(f"{name}=" for name in _GUARANTEED),
            "ask for it in a call of its own, without guarantee=",
        )
    check_numpy("guarantee=")
    return [replace(target, guarantee=float(guarantee)) for target in targets]


def _targets(criterion: Criterion, given: Any) -> list[Target]:
    values = list(given) if is_list(given) else [given]
    if criterion == "predicted_count":
        return list(map(_count, values))
    if criterion != "cost":
        return [Target(criterion, _target(criterion, value)) for value in values]
    pairs = values if values and all(map(is_list, values)) else [given]
    return [_cost(pair) for pair in pairs]


def _count(value: Any) -> Target:
    """Return the target of a number of rows, which may cut a tie."""
    asked = value if isinstance(value, Top) else Top(value)
    if asked.normaliser != Top.normaliser:
        raise OptionError(
            f"normaliser={shown(asked.normaliser)} is given in predicted_count=",
            "Top(100, ties='expected')",
            "a normaliser divides an area: top=Top(...) of average_precision",
        )
    ties = check_option("ties", asked.ties, get_args(Ties))
    return Target("predicted_count", _target("predicted_count", asked.count), ties=ties)


def _cost(pair: Any) -> Target:
    """Return the target of the least cost, whose value is the share of a false positive's cost."""
    costs = list(pair) if is_list(pair) else []
    fits = len(costs) == _PAIR and all(map(is_number, costs))
    fp, fn = map(float, costs) if fits else (math.nan, math.nan)
    if not (0 <= fp <= _LARGEST_COST and 0 <= fn <= _LARGEST_COST and fp + fn > 0):
        raise OptionError(
            f"cost={shown(pair)} is not a pair of costs",
            "(cost of a false positive, cost of a false negative), numbers of 0 or more and up to "
            f"{_LARGEST_COST}, not both 0",
            "cost=(1, 10) if a missed positive costs ten times as much as a false alarm",
        )
    return Target("cost", fp / (fp + fn), (fp, fn))


_SHARES = ("recall", "precision", "predicted_rate", "fpr")


def _target(criterion: Criterion, value: Any) -> float:
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
    if is_nan or not has_number_type(value):
        raise OptionError(f"{criterion}={shown(value)} is not a number", numbers)
    if not is_number(value) or not is_allowed(float(value)):
        hint = percent_hint(criterion, value) if criterion in _SHARES else None
        raise OptionError(f"{criterion}={shown(value)} is out of range", numbers, hint)
    return float(value)


def cuts_ties(targets: Sequence[Target]) -> bool:
    """Whether some of the targets retrieve a part of a tie."""
    return any(target.ties == "expected" for target in targets)


def target_interval(ci: Any, targets: Sequence[Target]) -> Interval | None:
    """Return the interval of operating points, which is drawn where a threshold is chosen."""
    if ci is not None and cuts_ties(targets):
        raise OptionError(
            "ci= is given with ties='expected'",
            "one of them",
            "a replicate has ties of its own: ci= takes ties='whole'",
        )
    held = all(target.criterion == "threshold" for target in targets)
    if held or any(target.guarantee is not None for target in targets):
        return None if ci is None else Interval(confidence(ci))
    return drawn_interval(ci, None)


# --- where the last tie is cut at random -------------------------------------------------------


def check_expected_area(recall_range: object, calibrate: object) -> None:
    """Refuse what is not known of an area whose last tie is cut at random."""
    for name, given in (("recall_range", recall_range), ("calibrate", calibrate)):
        if given is not None:
            raise OptionError(f"{name}= is given with ties='expected'", "one of them")


def check_unweighted_ties(*, weighted: bool) -> None:
    """Refuse a random order within a tie whose rows have weights: how many fit depends on it."""
    if weighted:
        raise OptionError(
            "ties='expected' is given for weighted rows",
            "ties='whole', or rows that count as one, or integer counts of rows",
        )
