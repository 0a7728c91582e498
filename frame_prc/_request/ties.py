"""What is not known where the last tie is cut at random."""

from __future__ import annotations

from frame_prc.exceptions import OptionError


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
