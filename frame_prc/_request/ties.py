"""The options of ties that a number of rows cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from frame_prc._request.roles import check_option
from frame_prc._request.specs import Ties
from frame_prc.exceptions import OptionError


def expected_ties(ties: Any, criteria: Sequence[str], ci: object) -> Ties:
    """Return what becomes of a tie that a number of rows cuts; refuse it where there is none."""
    found: Ties = check_option("ties", ties, get_args(Ties))
    if found == "expected" and "predicted_count" not in criteria:
        raise OptionError("ties='expected' is given without predicted_count=", "both")
    if found == "expected" and ci is not None:
        raise OptionError(
            "ci= is given with ties='expected'",
            "one of them",
            "a replicate has ties of its own: ci= takes ties='whole'",
        )
    return found


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
