"""Intervals asked for, and how random samples are drawn for them."""

from __future__ import annotations

from typing import Any

from frame_prc._request.options import is_integer, is_number, percent_hint
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import check_option
from frame_prc._request.specs import CI_METHODS, CiMethod, Draws, Interval
from frame_prc.exceptions import OptionError, shown

_MOST_REPLICATES = 1_000_000
_HIGHEST_LEVEL = 1 - 1e-15  # closer to 1, too few digits of 1 - ci are left


def confidence(ci: Any) -> float:
    """Return the level of an interval."""
    if not is_number(ci) or not 0 < ci < 1:
        allowed = "a number between 0 and 1"
        raise OptionError(f"ci={shown(ci)} is not a level", allowed, percent_hint("ci", ci))
    if ci > _HIGHEST_LEVEL:
        raise OptionError(f"ci={shown(ci)} is too near 1", f"at most {_HIGHEST_LEVEL!r}")
    return float(ci)


_CI_HINTS = {"bootstrap": "bootstrap=1000 resamples the rows"}


def interval_of(ci: Any, ci_method: Any, drawn: Draws | None) -> Interval | None:
    """Return the interval asked for."""
    method: CiMethod = check_option(
        "ci_method", ci_method, CI_METHODS, _CI_HINTS.get(str(ci_method))
    )
    if drawn is not None and method != CI_METHODS[0]:
        raise OptionError(f"bootstrap= is given with ci_method={method!r}", "one of them")
    if ci is None:
        given = "bootstrap" if drawn is not None else "ci_method"
        _check_needs_interval(given, given=drawn is not None or method != CI_METHODS[0])
        return None
    if drawn is not None:
        check_numpy()
    return Interval(confidence(ci), method, drawn)


def drawn_interval(ci: Any, drawn: Draws | None) -> Interval | None:
    """Return the interval of a bootstrap."""
    if ci is None:
        check_not_drawn(drawn, "ci=")
        return None
    check_numpy()
    return Interval(confidence(ci), resampling=drawn or Draws())


def area_interval(ci: Any, drawn: Draws | None, *, is_drawn: bool) -> Interval | None:
    """Return the interval of areas; that of the whole step area alone needs no bootstrap."""
    if is_drawn:
        return drawn_interval(ci, drawn)
    check_not_drawn(drawn, "ci= and an area other than the whole method='step'")
    return None if ci is None else Interval(confidence(ci))


def check_not_drawn(drawn: Draws | None, needed: str) -> None:
    """Refuse a bootstrap where nothing is resampled."""
    if drawn is not None:
        raise OptionError(
            "bootstrap= is given, and nothing is resampled", f"bootstrap= with {needed}"
        )


def _check_needs_interval(name: str, *, given: bool) -> None:
    if given:
        raise OptionError(f"{name}= is given without ci=", "both, for example ci=0.95")


def draws(name: str, value: Any, cluster: object = None) -> Draws | None:
    """Return how random samples are drawn, given a number of them or more."""
    if value is None:
        return None
    asked = value if isinstance(value, Draws) else Draws(value)
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
    return Draws(int(count), seed_of(seed), asked.stratified)


def seed_of(seed: Any) -> int | None:
    """Return the seed of random numbers; without one they are new each time."""
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise OptionError(f"seed={shown(seed)} is not a seed", "an integer of 0 or more, or None")
    return None if seed is None else int(seed)
