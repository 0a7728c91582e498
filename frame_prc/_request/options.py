"""The options of the verbs: checked, and converted to the form that the verbs compute with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeGuard, cast, get_args

from frame_prc._request import specs
from frame_prc._request.hints import check_numpy, measure_hint
from frame_prc._request.roles import Request, check_option, plain_option, refuse
from frame_prc._request.values import MOST_THRESHOLDS, Bins
from frame_prc.exceptions import OptionError, shown, type_name

Numbers: TypeAlias = float | Iterable[float] | None

_PREVALENCES = "'highest', 'pooled', or a number between 0 and 1"
_LOWEST_PREVALENCE = 1e-100  # below it a variance would underflow
_THRESHOLDS = "a number of thresholds, 2 or more, or a list of ascending numbers"
_MOST_RECALLS = 10_001
_MOST_POINTS = 2**62  # more than any curve has
_RECALLS = f"a number of recalls from 2 to {_MOST_RECALLS}, or a list of ascending ones from 0 to 1"
_PAIR = 2
_RANGE = "(low, high) with 0 <= low < high <= 1"


def check_title(title: object, name: str = "title") -> None:
    if title is not None and not isinstance(title, str):
        raise OptionError(f"{name}={shown(title)} is of type {type_name(title)}", "a text, or None")


def method_list(method: Any) -> list[specs.Method]:
    methods = list(map(plain_option, method if is_list(method) else [method]))
    known = ", ".join(map(repr, specs.METHODS))
    if not methods:
        raise OptionError("method= is an empty list", known)
    for name in methods:
        if not isinstance(name, str) or name not in specs.METHODS:
            raise OptionError(f"method={shown(name)} is not known", known, measure_hint(name))
        if methods.count(name) > 1:
            raise OptionError(f"method= names {name!r} twice", "each method once")
    return methods


def points_to_keep(keep: Any) -> specs.Keep:
    keep = plain_option(keep)
    if isinstance(keep, str) and keep in ("all", "corners"):
        return cast("specs.Keep", keep)
    if not is_integer(keep) or keep < specs.LEAST_POINTS:
        raise OptionError(
            f"keep={shown(keep)} is not an option",
            f"'all', 'corners', or a number of points, {specs.LEAST_POINTS} or more",
        )
    return min(int(keep), _MOST_POINTS)


def recall_bounds(recall_range: Any, methods: Sequence[specs.Method]) -> tuple[float, float] | None:
    if recall_range is None:
        return None
    low, high = pair(recall_range)
    if not 0 <= low < high <= 1:
        raise OptionError(f"recall_range={shown(recall_range)} is not a range of recalls", _RANGE)
    _check_methods(methods, specs.PARTIAL_METHODS, "a range of recalls", "recall_range=")
    return low, high


def pair(numbers: Any) -> tuple[float, float]:
    """Return two numbers; for anything else NaN, which is in no range."""
    found = list(numbers) if is_list(numbers) else []
    fits = len(found) == _PAIR and all(map(is_number, found))
    return (float(found[0]), float(found[1])) if fits else (math.nan, math.nan)


def _check_methods(
    methods: Sequence[specs.Method], known: Sequence[specs.Method], over: str, beside: str
) -> None:
    own = f"ask for it in a call of its own, without {beside}"
    given = {f"method={name!r}": name for name in methods if name not in known}
    refuse(f"{{}} has no area over {over}", given, ", ".join(map(repr, known)), own)


def bins_of(thresholds: Any, *, ascending: bool = False) -> Bins | None:
    if thresholds is None:
        return None
    if is_integer(thresholds) and (count := int(thresholds)) > 1:
        _check_number("thresholds", count)
        return Bins(
            [place / (count - 1) for place in range(count)],
            evenly=True,
            of_probabilities=True,
            ascending=ascending,
        )
    values = _ascending_numbers("thresholds", thresholds, _THRESHOLDS)
    _check_number("thresholds", len(values))
    return Bins(values, ascending=ascending)


def threshold_number(number: Any) -> int:
    found = whole("number", number, 2)
    _check_number("number", found)
    return found


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    if not is_integer(value) or value < least or (most is not None and value > most):
        many = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise OptionError(f"{name}={shown(value)} is out of range", f"an integer {many}")
    return int(value)


def _ascending_numbers(
    name: str, given: Any, allowed: str, fits: Callable[[float], bool] = lambda _: True
) -> list[float]:
    values, example = list(given) if is_list(given) else [], f"for example --{name} 0.1,0.5,0.9"
    if not values:
        raise OptionError(f"{name}={shown(given)} gives no {name}", allowed, shell_hint=example)
    for value in values:
        if not is_number(value) or not fits(value):
            raise OptionError(f"{name}= holds {shown(value)}", allowed)
    for before, after in pairwise(values):
        if before >= after:
            raise OptionError(
                f"{name}= are not ascending: {after!r} comes after {before!r}",
                allowed,
                f"sorted(set({name})) puts them in order",
                shell_hint=example,
            )
    return [float(value) for value in values]


def _check_number(name: str, count: int) -> None:
    if count > MOST_THRESHOLDS:
        raise OptionError(f"{name}= asks for {count} thresholds", f"up to {MOST_THRESHOLDS}")


def top_rows(top: Any, methods: Sequence[specs.Method] = ("step",)) -> specs.Top | None:
    if top is None:
        return None
    asked = top if isinstance(top, specs.Top) else specs.Top(top)
    if not is_number(asked.count) or not 0 < asked.count < math.inf:
        raise OptionError(
            f"top={shown(asked.count)} is not a number of rows",
            "a number above 0, or Top(100, normaliser='attainable')",
            shell_hint="for example --top 100 or --top 100,normaliser=attainable",
        )
    _check_methods(methods, ("step",), "the top rows", "top=")
    normaliser = check_option("normaliser", asked.normaliser, get_args(specs.Normaliser))
    return specs.Top(
        float(asked.count), normaliser, check_option("ties", asked.ties, get_args(specs.Ties))
    )


def check_row_number(name: str, number: float, *, weighted: bool) -> None:
    """Refuse a share of the rows as a number of rows; a sum of weights may be below 1."""
    if number < 1 and not weighted:
        percent = f"{100 * number:g} %"
        raise OptionError(
            f"{name}={number:g} is less than one row",
            "a number of rows, 1 or more, or with weights a sum of them above 0",
            f"{percent} is predicted_rate={number:g}"
            if name == "predicted_count"
            else f"{percent} of 1000 rows is top={1000 * number:g}",
        )


_FEWEST_BINS, _MOST_BINS = 2, 1000


def bin_edges(bins: Any) -> list[float]:
    if is_integer(bins) and _FEWEST_BINS <= bins <= _MOST_BINS:
        return [place / int(bins) for place in range(bins + 1)]
    edges = [*map(float, bins)] if is_list(bins) and all(map(is_number, bins)) else []
    ascends = all(low < high for low, high in pairwise(edges))
    if not (len(edges) > _FEWEST_BINS and ascends and edges[0] == 0 and edges[-1] == 1):
        raise OptionError(
            f"bins={shown(bins)} does not make bins of probabilities",
            f"an integer from {_FEWEST_BINS} to {_MOST_BINS:,}, or ascending edges from 0 to 1",
            "bins=[0, 0.1, 0.5, 1]",
        )
    return edges


def calibration(calibrate: Any) -> specs.Calibration | None:
    calibrate = plain_option(calibrate)
    if calibrate is None:
        return None
    if is_word(calibrate, "highest") or is_word(calibrate, "pooled"):
        return specs.Calibration(highest=calibrate == "highest")
    if not isinstance(calibrate, str) and not has_number_type(calibrate):
        raise OptionError(f"calibrate= is of type {type_name(calibrate)}", _PREVALENCES)
    what, least = "a prevalence", _LOWEST_PREVALENCE
    allowed = _PREVALENCES if isinstance(calibrate, str) else "a number between 0 and 1"
    number("calibrate", calibrate, what, allowed, lambda share: 0 < share < 1)
    number("calibrate", calibrate, what, f"at least {least}", lambda share: share >= least)
    return specs.Calibration.at(float(calibrate))


def compared_at(calibrate: Any) -> specs.Calibration:
    """Return the prevalence at which segments are compared: by default the highest of theirs."""
    return calibration(calibrate) or specs.Calibration(highest=True)


def check_deployed(request: Request, reference: specs.Calibration | None, what: str) -> None:
    """Refuse what needs single rows at another prevalence, where these have weights."""
    if reference is not None and "pos" in request.classes:
        raise OptionError(
            f"calibrate= is given with {what}, and pos= and neg= are counts",
            "single rows, with truth=",
            shell_hint=None,
        )


def check_calibrated(ci_method: str, bootstrap: object, *, bounds: bool) -> None:
    """Refuse what there is of the plain average precision only."""
    method = {f"ci_method={ci_method!r}": ci_method != specs.CI_METHODS[0] or None}
    hint = "ci= alone has an interval for the calibrated average precision"
    refuse("{} is given with calibrate=", {"bounds=True": bounds or None})
    refuse("{} is given with calibrate=", {"bootstrap=": bootstrap, **method}, hint=hint)


def check_top(ci: object, thresholds: object, *, bounds: bool) -> None:
    """Refuse what there is of the whole area only."""
    hint = None if bounds else "auc(..., method='step') takes {} with top="
    given = {"ci=": ci, "thresholds=": thresholds, "bounds=True": bounds or None}
    refuse("{} is given with top=", given, hint=hint)


def check_roc(request: Request, interval: object, calibrate: object) -> None:
    """Refuse what the area under the ROC curve has elsewhere, or does not depend on."""
    what, allowed = "method='roc' is given with {}", "the other methods"
    same = "it is the same at every prevalence: leave calibrate= out"
    refuse(what, {"calibrate=": calibrate}, allowed, same)
    unretrieved = request.missing == "unretrieved" or None
    given = {"ci=": interval, "missing='unretrieved'": unretrieved}
    refuse(what, given, allowed, "summary(measures='roc_auc') has the area with its interval")


def asked_by(name: str, value: object, role: str | None = None) -> str:
    return f"{name}={shown(value)}" if role is None else f"{role}={{{name!r}: {shown(value)}}}"


def percent_hint(name: str, value: Any, role: str | None = None) -> str | None:
    """Return how to ask for a number that is no share and may be meant as one, in percent."""
    is_percent = is_number(value) and 2 <= value <= 100  # noqa: PLR2004
    return f"{value} % is {asked_by(name, value / 100, role)}" if is_percent else None


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    # An array without dimensions is Iterable, and raises when iterated over.
    is_one = isinstance(value, (str, bytes)) or getattr(value, "shape", None) == ()
    has_no_order = isinstance(value, (set, frozenset, dict))
    return isinstance(value, Iterable) and not is_one and not has_no_order


def is_word(value: object, word: str) -> bool:
    """Return whether an option is this word; arrays and expressions compare in their own ways."""
    return isinstance(value, str) and value == word


def is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def has_number_type(value: object) -> bool:
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def number(name: str, value: Any, what: str, allowed: str, fits: Callable[[float], bool]) -> float:
    """Return a number that fits, or raise an error which says that it is not ``what``."""
    if not is_number(value) or not fits(value):
        raise OptionError(
            f"{name}={shown(value)} is not {what}", allowed, percent_hint(name, value)
        )
    return float(value)


def is_number(value: Any) -> bool:
    if not has_number_type(value):
        return False
    try:
        return not math.isnan(value)
    except (OverflowError, ValueError):  # larger than any float, or Decimal("sNaN")
        return False


def recall_grid(
    recalls: Any, over: object, *, start: specs.Start, keep: specs.Keep, extras: Iterable[str]
) -> list[float] | None:
    if recalls is None:
        if over is not None:
            raise OptionError("over= is given without recalls=", "both, for example recalls=101")
        return None
    given = {"start=": start != specs.STARTS[0] or None, "keep=": keep != "all" or None}
    given |= {f"the column {name!r}": True for name in extras}
    refuse("{} is asked for with recalls=", given)
    if over is not None:
        key_name(over)
    return recall_list(recalls)


def recall_list(recalls: Any) -> list[float]:
    if is_integer(recalls) and 1 < recalls <= _MOST_RECALLS:
        return [place / (int(recalls) - 1) for place in range(int(recalls))]
    return _ascending_numbers("recalls", recalls, _RECALLS, lambda recall: 0 <= recall <= 1)


# The names of scikit-learn.
_OTHER_AVERAGES = {
    "macro": "did you mean 'mean'?",
    "samples": "did you mean 'rows'?",
    "binary": "did you mean 'micro'?",
}


def mean_over(over: Any, how: Any, ci: object, cluster: object) -> tuple[str, specs.How]:
    found: specs.How = check_option("how", how, get_args(specs.How), _OTHER_AVERAGES.get(str(how)))
    over = key_name(over)
    if ci is not None and found == "micro":
        raise OptionError(
            "ci= is given with how='micro', which pools the rows",
            "ci= with a mean over segments: 'mean', 'weighted' or 'rows'",
            f"average_precision(..., ci=, cluster={over!r}) gives the interval of pooled rows, "
            f"without {over!r} in by=",
        )
    if ci is not None and cluster is not None:
        raise OptionError(
            "cluster= is given with ci= of a mean over segments",
            "ci= alone: its interval comes from the spread between the segments",
            "without cluster=, the segments of over= are the independent units: name the groups "
            "there",
        )
    return over, found


def key_name(over: object) -> str:
    if not isinstance(over, str):
        what = f"over= takes a key, got a value of type {type_name(over)}"
        hint = "make one column of several keys first" if is_list(over) else None
        raise OptionError(what, "its name", hint)
    return over


def f_scores_and_steps(f_scores: Any, points: int) -> tuple[list[float], int]:
    scores = list(f_scores) if is_list(f_scores) else [f_scores]
    for score in scores:
        if not is_number(score) or not 0 < score < 1:
            raise OptionError(f"f_scores= holds {shown(score)}", "numbers between 0 and 1")
    if not is_integer(points) or not 1 < points <= _MOST_RECALLS:
        allowed = f"an integer from 2 to {_MOST_RECALLS}"
        raise OptionError(f"points={shown(points)} do not make a line", allowed)
    return [float(score) for score in scores], int(points) - 1


# --- intervals, and random samples -------------------------------------------------------------

_MOST_REPLICATES = 1_000_000
_LOWEST_LEVEL = 0.01
_MOST_DRAWN = 0.99
_HIGHEST_LEVEL = 1 - 1e-15  # closer to 1, too few digits of 1 - ci are left


def confidence(ci: Any) -> float:
    level = number("ci", ci, "a level", "a number between 0 and 1", lambda level: 0 < level < 1)
    if level < _LOWEST_LEVEL:
        raise OptionError(f"ci={shown(ci)} is too near 0", f"at least {_LOWEST_LEVEL}")
    if level > _HIGHEST_LEVEL:
        raise OptionError(f"ci={shown(ci)} is too near 1", f"at most {_HIGHEST_LEVEL!r}")
    return level


_CI_HINTS = {"bootstrap": "bootstrap=1000 resamples the rows"}


def interval_of(
    level: float | None, ci_method: Any, drawn: specs.Draws | None
) -> specs.Interval | None:
    method: specs.CiMethod = check_option(
        "ci_method", ci_method, specs.CI_METHODS, _CI_HINTS.get(str(ci_method))
    )
    if method != specs.CI_METHODS[0]:
        refuse(f"{{}} is given with ci_method={method!r}", {"bootstrap=": drawn})
    if level is None:
        given = {"bootstrap=": drawn, "ci_method=": method != specs.CI_METHODS[0] or None}
        refuse("{} is given without ci=", given, "both, for example ci=0.95")
        return None
    if drawn is not None:
        check_numpy()
    return specs.Interval(level, method, drawn)


def area_interval(
    level: float | None, drawn: specs.Draws | None, *, is_drawn: bool
) -> specs.Interval | None:
    """Return the interval of areas or points, whether it is that of a bootstrap or needs none."""
    if level is not None and is_drawn:
        check_numpy()
        return specs.Interval(level, resampling=drawn or specs.Draws())
    needed = "ci=" if is_drawn else "ci= and an area other than the whole method='step'"
    what = "{} is given, and nothing is resampled"
    refuse(what, {"bootstrap=": drawn}, f"bootstrap= with {needed}")
    return None if level is None else specs.Interval(level)


def check_level_of_draws(level: float, least: float = _LOWEST_LEVEL) -> None:
    if not least <= level <= _MOST_DRAWN:
        allowed = f"a number from {least} to {_MOST_DRAWN}"
        raise OptionError(f"ci={shown(level)} is out of range", allowed)


def check_enough_drawn(drawn: specs.Draws, level: float) -> None:
    """Refuse so few replicates that none would lie beyond a limit, which is one of their shares."""
    least = math.ceil(2 / (1 - level) * (1 - 1e-9))  # not 41 at .95, for a rounding error
    if drawn.replicates < least:
        raise OptionError(
            f"bootstrap={drawn.replicates} is too few for ci={shown(level)}",
            f"{least:,} or more, of which one lies beyond each limit",
        )


def draws(name: str, value: Any, cluster: object = None) -> specs.Draws | None:
    if value is None:
        return None
    asked = value if isinstance(value, specs.Draws) else specs.Draws(value)
    if asked.stratified and name != "bootstrap":
        raise OptionError(
            f"stratified=True is given in {name}=, which keep the sizes of the classes",
            f"{name}=Draws(1000, seed=1)",
        )
    if check_option("stratified", asked.stratified, (True, False)) and cluster is not None:
        raise OptionError(
            "stratified=True is given with cluster=",
            "one of them",
            "clusters are drawn whole, with their rows of both classes",
        )
    count, seed = asked.replicates, asked.seed
    if not is_integer(count) or not 1 <= count <= _MOST_REPLICATES:
        raise OptionError(
            f"{name}={shown(count)} is out of range",
            f"an integer from 1 to {_MOST_REPLICATES:,}, or Draws(1000, seed=1)",
            shell_hint=f"for example --{name} 1000 or --{name} 1000,seed=1",
        )
    return specs.Draws(int(count), seed_of(seed), asked.stratified)


def seed_of(seed: Any) -> int | None:
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise OptionError(f"seed={shown(seed)} is not a seed", "an integer of 0 or more, or None")
    return None if seed is None else int(seed)
