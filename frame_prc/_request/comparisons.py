"""The options of comparisons over segments that are a sample, and of comparisons with chance."""

from __future__ import annotations

from typing import Any, get_args

from frame_prc._request.options import (
    confidence,
    key_name,
    models_to_compare,
    refuse_baseline,
)
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import Request, check_option
from frame_prc._request.specs import (
    PAIRED_TESTS,
    Adjust,
    ChanceTest,
    Paired,
    PairedTest,
    Resampling,
    SegmentsAre,
    pairs_of,
)
from frame_prc.exceptions import OptionError, shown


def paired_test(against: Any, over: str | None, method: Any, drawn: Resampling) -> PairedTest:
    """Return the paired test; refuse options that do not apply to what is compared."""
    is_random = isinstance(against, str) and against == "random"
    test: PairedTest = check_option("method", method, PAIRED_TESTS)
    if over is None and test != PAIRED_TESTS[0]:
        raise OptionError(
            f"method={test!r} is given without over=",
            "method= with over=, the key of the segments that are a sample",
        )
    if over is not None and against is not None:
        raise OptionError(
            f"against={shown(against)} is given beside over=",
            "over= to compare models, or against= to compare segments",
        )
    if drawn != Resampling() and test != "permutation" and not is_random:
        raise OptionError(
            "replicates= or seed= is given, and nothing is drawn",
            "these only with method='permutation' or against='random'",
        )
    return test


def check_rows(request: Request) -> None:
    """Refuse counts: which rows two sides share is not known of them."""
    if "pos" in request.classes:
        raise OptionError(
            "pos= and neg= are given, and a comparison needs single rows",
            "truth= for single rows",
            "heterogeneity() tells how far segments differ, of counts too",
        )


def check_long(request: Request, against: object) -> None:
    """Refuse long data whose rows cannot be matched, and a ``row=`` that nothing is matched by."""
    if request.row is not None and request.model is None:
        raise OptionError(
            "row= is given without model=",
            "both, for long data with a row per item and model",
            "several columns in score= are in one row already",
        )
    if request.row is not None and against is not None:
        raise OptionError(
            "row= is given beside against=, which compares segments",
            "row= to match the rows of models",
        )
    if request.model is not None and request.row is None and against is None:
        raise OptionError(
            "model= is given without row=",
            "row=, the column that identifies an item, to match the rows of the models",
            "against= compares the segments of each model, without row=",
        )


def paired(
    request: Request,
    ci: Any,
    baseline: str | None,
    over: object,
    method: PairedTest,
    drawn: Resampling,
    adjust: Any,
    cluster: object,
) -> Paired:
    """Return which models to compare over segments that are a sample, and how."""
    name = key_name(over)
    if cluster is not None:
        raise OptionError(
            "cluster= is given beside over=",
            "one of them",
            "with over= the segments are the independent units: name the clusters there",
        )
    if method == "permutation":
        check_numpy("a permutation test")
    models = models_to_compare(request, baseline)
    return Paired(
        confidence(ci),
        tuple(models),
        pairs_of(models, baseline),
        name,
        drawn if method == "permutation" else None,
        check_option("adjust", adjust, (None, *get_args(Adjust))),
    )


def check_measure(measure: object, calibrate: object) -> None:
    """Refuse what there is only for the comparisons by influence."""
    for name, given in (("measure", measure), ("calibrate", calibrate)):
        if given is not None:
            raise OptionError(
                f"{name}= is given with over= or against='random'",
                "the average precision as it is",
                "within a segment, random orders and the paired test have one prevalence",
            )


def chance_test(
    drawn: Resampling, adjust: Any, baseline: str | None, cluster: object
) -> ChanceTest:
    """Return how segments are tested against chance."""
    if baseline is not None:
        refuse_baseline()
    if cluster is not None:
        raise OptionError(
            "cluster= is given with against='random', which permutes the labels of single rows: "
            "within a cluster they are not exchangeable",
            "against='random' without cluster=",
            "average_precision(..., ci=0.95, cluster=...) gives an interval to compare with "
            "random_average_precision of summary",
        )
    check_numpy("a permutation test")
    return ChanceTest(drawn, check_option("adjust", adjust, (None, *get_args(Adjust))))


def segments_are(segments: Any, *, overall: bool) -> SegmentsAre:
    """Return how the mean of segments takes them; refuse it where there is no mean."""
    found: SegmentsAre = check_option("segments", segments, get_args(SegmentsAre))
    if found == "sampled" and not overall:
        raise OptionError(
            "segments='sampled' is given without overall=True", "both, for the mean of the segments"
        )
    return found


def check_segments(request: Request) -> None:
    """Raise an error if there are no keys, and so no segments to compare."""
    if not request.keys:
        raise OptionError("by= is not given", "by= to make the segments to compare")
