"""All intervals and tests by simulation, in one table: ``python tests/benchmarks/simulations.py``.

It takes about ten minutes on two cores. Name parts to run only these: ``areas``, ``models``,
``roc``, ``measures``, ``moving``, ``segments``, ``shrunk``, ``searching``, ``points``, ``labels``.
A row is a cell and a status that at least a tenth of its draws have: ``covers`` is how often a 95 %
interval contains what it should, ``above`` and ``below`` how often it lies wholly above or below
it, ``width`` how wide it is beside 3.92 standard deviations of the estimate,
``rejects`` how often a test at 5 % rejects; ``rmse`` is the root mean squared error of shrunken
values beside that of the raw ones. Of 1,000 draws a rate of .95 is known to .007, of 100 to .022:
a cell that seems to cover less than 92 %, to lie above in more than 5, or to reject in more than 7
although it is ``ok``, is drawn again, up to 2,000 times, and these draws are the row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import coverage_points, coverage_searching, coverage_segments, sampled
from benchmarks.area_coverage import LEVEL, Scenario
from benchmarks.coverage_measures import AT as AT_THRESHOLD
from benchmarks.coverage_measures import BESIDE_RATE, OF_ROWS, Probabilities
from benchmarks.coverage_points import Row
from benchmarks.coverage_segments import Cell, separation
from benchmarks.printing import markdown

import frame_prc

ROWS_OF_CELL = 6_000_000
MOST_DRAWS = 1000
MANY_DRAWS = 2000
COLUMNS = [
    "what", "prevalence", "AP", "positives", "rows", "draws", "status", "of draws",
    "covers", "above", "below", "width", "rejects", "rmse",
]  # fmt: skip


def scenario(prevalence: float, area: float, positives: int, **of_rows: object) -> Scenario:
    """Return rows of one distribution, in as many draws as there is time for."""
    draws = min(MOST_DRAWS, round(ROWS_OF_CELL * prevalence / positives))
    higher = separation(prevalence, area)
    return Scenario(prevalence, positives, higher, draws=draws, **of_rows)


def about(what: str, s: Scenario) -> Row:
    """Return what a row of results says of its data."""
    kinds = {"ties": s.ties, "weights": s.weights, "clusters": s.clustered}
    return {
        "what": what,
        "prevalence": s.prevalence,
        "AP": round(s.area, 3),
        "positives": s.positives,
        "rows": ", ".join(name for name, given in kinds.items() if given),
        "draws": s.draws,
    }


def judged(found: pl.DataFrame, estimate: str, truth: float, **test: pl.Expr) -> Iterator[Row]:
    """Yield how good the intervals are, for each status that is not rare."""
    low, high, sure = pl.col("ci_low"), pl.col("ci_high"), 2 * norm.isf((1 - LEVEL) / 2)
    spread = found[estimate].std()
    for (status,), rows in found.group_by("status", maintain_order=True):
        if rows.height >= found.height / 10:
            rates = rows.select(
                pl.lit(truth).is_between(low, high).mean().alias("covers"),
                (low > truth).mean().alias("above"),
                (high < truth).mean().alias("below"),
                ((high - low).mean() / (sure * spread)).alias("width"),
                **{name: value.mean() for name, value in test.items()},
            )
            share = rows.height / found.height
            yield {"status": status, "of draws": share, **rates.row(0, named=True)}


def each(
    what: str, cells: Iterable[Scenario], judge: Callable[..., Iterator[Row]], *, equal: bool = True
) -> Iterator[Row]:
    """Yield the rows of all cells; those that are not ``equal`` may be told apart."""

    def rows(cell: Scenario) -> Iterator[Row]:
        return (about(what, cell) | row for row in judge(cell))

    for cell in cells:
        yield from settled(cell, rows, equal=equal)


def settled(
    cell: Scenario, rows: Callable[[Scenario], Iterator[Row]], *, equal: bool = True
) -> Iterator[Row]:
    """Yield the rows of a cell, from more draws where few are beyond a bound."""
    found = [*rows(cell)]
    if any(is_beyond(row, equal=equal) for row in found):
        found = [*rows(replace(cell, draws=min(10 * cell.draws, MANY_DRAWS)))]
    yield from found


def is_beyond(row: Row, *, equal: bool) -> bool:
    """Return whether a row that is ok does not hold what it should."""
    rejects = (row.get("rejects") or 0.0) > 0.07 and equal
    return row["status"] == "ok" and (row["covers"] < 0.92 or row["above"] > 0.05 or rejects)


# --- areas -----------------------------------------------------------------------------------

DISTRIBUTIONS = [
    (0.001, 0.02), (0.001, 0.3), (0.001, 0.9), (0.01, 0.05), (0.01, 0.3), (0.01, 0.8),
    (0.01, 0.99), (0.05, 0.999), (0.1, 0.2), (0.1, 0.5), (0.1, 0.9), (0.1, 0.99),
    (0.3, 0.9), (0.5, 0.7), (0.5, 0.95), (0.5, 0.999), (0.7, 0.8),
]  # fmt: skip
VARIANTS = [{"ties": True}, {"weights": True}, {"dependence": "clusters"}]


def areas() -> Iterator[Row]:
    """Yield the average precision of a segment, as it is and at another prevalence."""
    plain = [scenario(*cell, n) for cell in DISTRIBUTIONS for n in (10, 50, 200)]
    plain += [scenario(*cell, 2000) for cell in ((0.1, 0.5), (0.5, 0.95))]
    special = ((0.01, 0.8), (0.1, 0.5), (0.1, 0.99))
    plain += [scenario(*cell, n, **v) for cell in special for n in (50, 200) for v in VARIANTS]
    yield from each("average precision", plain, average_precision)
    for prevalence, reference in ((0.1, 0.3), (0.05, 0.5), (0.3, 0.1), (0.5, 0.1)):
        kinds = [(50, {}), (200, {}), (1000, {})]
        kinds += [(n, {"weights": True}) for n in (50, 200)] if prevalence in (0.1, 0.3) else []
        cells = [
            replace(scenario(prevalence, 0.6, n, **rows), reference=reference) for n, rows in kinds
        ]
        yield from each(f"at a prevalence of {reference}", cells, average_precision)
    yield from sampled_negatives()
    yield from in_clusters()
    yield from segments_of_users()
    yield from thinly_sampled()


def average_precision(s: Scenario) -> Iterator[Row]:
    asked = {"by": "draw", "ci": LEVEL, "calibrate": s.reference, **s.options}
    found = [frame_prc.average_precision(rows, "truth", "score_0", **asked) for rows in s.frames(1)]
    name = "average_precision" if s.reference is None else "calibrated_average_precision"
    return judged(pl.concat(found).filter(pl.col("n_pos") > 0), name, s.area)


def sampled_negatives() -> Iterator[Row]:
    """Yield intervals where few negatives were drawn, and stand for many by their weights."""
    for negative_weight in (1.0, 10.0, 1000.0):
        cell = coverage_points.Cell(200, 1 / 11, 1.5, 400, negative_weight=negative_weight)
        found = frame_prc.average_precision(
            cell.rows(), "truth", "score", by="draw", weight="weight", ci=LEVEL
        )
        said = {"prevalence": 0.091, "AP": round(cell.area(), 3), "positives": 200, "draws": 400}
        said |= {"what": "average precision", "rows": f"negatives weigh {negative_weight:g}"}
        yield from (said | row for row in judged(found, "average_precision", cell.area()))


def in_clusters() -> Iterator[Row]:
    """Yield intervals and equal models where rows of a cluster are scored alike.

    Each positive stands alone, and no negative does; or users have rows of both classes.
    """
    for positives, clusters in ((50, 40), (200, 20), (200, 40), (200, 100)):
        random = np.random.default_rng(0)
        # Many positives, and as many negatives beside each, have the area of the population.
        many = sampled.of_clusters(random, 1, 20_000, 20_000 * clusters // positives)
        df = sampled.of_clusters(random, MOST_DRAWS, positives, clusters)
        yield from _in_clusters(f"negatives in {clusters} clusters of 20", many, df)
    for users, size, prevalence in (
        (25, 10, 0.3), (40, 10, 0.3), (100, 10, 0.3), (300, 10, 0.3), (40, 40, 0.3), (100, 40, 0.05)
    ):  # fmt: skip
        random = np.random.default_rng(0)
        many = sampled.of_users(random, 1, 40_000, size, prevalence)
        draws = min(MOST_DRAWS, ROWS_OF_CELL // (2 * users * size))
        df = sampled.of_users(random, draws, users, size, prevalence)
        yield from _in_clusters(f"{users} users of {size} rows with levels of their own", many, df)


def segments_of_users() -> Iterator[Row]:
    """Yield the test of equal segments, each of so many users."""
    for users, size, prevalence in ((40, 10, 0.3), (100, 10, 0.3), (100, 40, 0.05)):
        draws = MOST_DRAWS if size == 10 else MOST_DRAWS // 5
        df = sampled.of_users(np.random.default_rng(0), 6 * draws, users, size, prevalence)
        places = {"segment": pl.col("draw") % 6, "draw": pl.col("draw") // 6}
        found = df.with_columns(**places).prc.heterogeneity(
            "truth", "a", by="segment", model="draw", cluster="cluster"
        )
        said = {"what": "6 equal segments", "prevalence": prevalence, "draws": draws}
        said |= {"positives": round(users * size * prevalence)}
        said |= {"rows": f"each {users} users of {size} rows with levels of their own"}
        yield from (said | row for row in rejected(found))


def rejected(found: pl.DataFrame) -> Iterator[Row]:
    """Yield how often tests reject, for each status."""
    for (status,), rows in found.group_by("status", maintain_order=True):
        rejects = rows.select((pl.col("p_value") < 1 - LEVEL).mean()).item()
        yield {"status": status, "of draws": rows.height / found.height, "rejects": rejects}


def _in_clusters(name: str, many: pl.DataFrame, df: pl.DataFrame) -> Iterator[Row]:
    area = many.prc.average_precision("truth", "a")["average_precision"].item()
    ev = df.prc.evaluate("truth", ["a", "b"], by="draw", cluster="cluster", ci=LEVEL)
    draws, prevalence = df["draw"].n_unique(), df["truth"].mean()
    said = {"prevalence": round(prevalence, 3), "AP": round(area, 3), "rows": name, "draws": draws}
    said |= {"positives": round(prevalence * df.height / draws), "what": "average precision"}
    found = ev.average_precision().filter(model="a")
    yield from (said | row for row in judged(found, "average_precision", area))
    said["what"] = "equal models"
    differs = {"rejects": pl.col("p_value") < 1 - LEVEL}
    compared_ = ev.compare_models()
    yield from (said | row for row in judged(compared_, "difference", 0.0, **differs))
    yield from kept(df, many, said, score="a", cluster="cluster")


def thinly_sampled() -> Iterator[Row]:
    """Yield intervals and guarantees where few rows stand for many each, and rank otherwise."""
    shared = {"weight": "weight", "by": "draw"}
    for share, weight in ((0.01, 30.0), (0.005, 20.0), (0.002, 30.0), (0.02, 10.0), (0.05, 10.0)):
        random = np.random.default_rng(0)
        many = sampled.of_stratum(random, 1, 4_000_000, share, weight)
        df = sampled.of_stratum(random, MOST_DRAWS, 1000, share, weight)
        truths = frame_prc.average_precision(many, "truth", "score", weight="weight")
        area = truths["average_precision"].item()
        said = {"prevalence": 0.3, "AP": round(area, 3), "positives": 300, "draws": MOST_DRAWS}
        said |= {"rows": f"{share:.1%} weigh {weight:g} and rank the wrong way"}
        found = frame_prc.average_precision(df, "truth", "score", **shared, ci=LEVEL)
        of = {"what": "average precision", **said}
        yield from (of | row for row in judged(found, "average_precision", area))
        at = {"threshold": 0.5, "weight": "weight", "details": True}
        held = frame_prc.operating_points(df, "truth", "score", by="draw", ci=LEVEL, **at)
        recall = frame_prc.operating_points(many, "truth", "score", **at)["recall"].item()
        own = held.with_columns(ci_low="recall_low", ci_high="recall_high")
        yield from ({"what": "recall", **said} | row for row in judged(own, "recall", recall))
        yield from kept(df, many, said, score="score", weight="weight")


def kept(df: pl.DataFrame, many: pl.DataFrame, said: Row, **roles: str) -> Iterator[Row]:
    """Yield how often targets are met by the rows of the population too."""
    for target, value in (("recall", 0.8), ("fpr", 0.1)):
        asked = {**roles, target: value}
        sure = df.prc.operating_points("truth", by="draw", guarantee=LEVEL, **asked)
        at = [*sure["threshold"].drop_nulls()]
        if not at:  # clusters are too few for any guarantee
            continue
        found = many.prc.operating_points("truth", threshold=at, details=True, **roles)[target]
        misses = found < value if target == "recall" else found > value
        rates = {"of draws": len(at) / said["draws"], "covers": 1 - misses.sum() / said["draws"]}
        yield {**said, "what": f"{target}={value} is kept", **rates}


# --- models ----------------------------------------------------------------------------------


def models() -> Iterator[Row]:
    """Yield comparisons of two models that are equally good, and of one that is better."""
    good = ((0.01, 0.3), (0.1, 0.5), (0.1, 0.9), (0.05, 0.995), (0.5, 0.9), (0.5, 0.99))
    equal = [scenario(*cell, n) for cell in good for n in (20, 50, 200)]
    equal += [scenario(0.1, 0.5, n, **variant) for n in (50, 200) for variant in VARIANTS]
    yield from each("equal models", equal, lambda s: compared(s, 0.0))
    for worse, cell in ((0.9, (0.5, 0.99)), (0.9, (0.1, 0.95)), (0.6, (0.1, 0.65))):
        drop = separation(*cell) - separation(cell[0], worse)
        cells = [scenario(*cell, n) for n in (20, 100, 200)]
        judge = partial(compared, drop=drop)
        yield from each(f"beside one of {worse}", cells, judge, equal=False)


def compared(
    s: Scenario, drop: float, truth: float | None = None, **options: object
) -> Iterator[Row]:
    """Compare a model with one whose positives score lower by ``drop``."""
    lower = pl.col("score_1") - drop * pl.col("truth").cast(pl.Float64)
    asked = {"by": "draw", "ci": LEVEL, "baseline": "b", **s.options, **options}
    found = [
        frame_prc.compare_models(rows, "truth", {"a": "score_0", "b": lower}, **asked)
        for rows in s.frames(2)
    ]
    if truth is None:
        truth = s.area - replace(s, separation=s.separation - drop).area
    differs = (pl.col("p_value") < 1 - LEVEL).fill_null(value=False)
    return judged(
        pl.concat(found).filter(pl.col("ci_low").is_not_null()),
        "difference",
        truth,
        rejects=differs,
    )


# --- the area under the ROC curve --------------------------------------------------------------

ROC_AREAS = (0.6, 0.8, 0.95, 0.99, 0.999)


def roc() -> Iterator[Row]:
    """Yield the area under the ROC curve of a segment, and of two models and many segments."""
    counts = ((0.1, 20), (0.1, 200), (0.01, 50), (0.5, 25), (0.5, 200), (0.8, 200))
    plain = [at_roc(area, *count) for area in ROC_AREAS for count in counts]
    plain += [at_roc(area, 0.1, 100, **v) for area in (0.8, 0.99) for v in VARIANTS]
    yield from each("ROC AUC", plain, roc_auc)
    equal = [at_roc(area, *count) for area in (0.7, 0.95, 0.995) for count in counts[1:]]
    equal += [at_roc(0.8, 0.1, 100, **variant) for variant in VARIANTS]
    yield from each("ROC AUC of equal models", equal, lambda s: roc_compared(s, 0.0))
    yield from partial_roc(counts)
    for worse, area in ((0.9, 0.99), (0.7, 0.8)):
        drop = higher(area) - higher(worse)
        cells = [at_roc(area, 0.1, n) for n in (50, 200)]
        judge = partial(roc_compared, drop=drop)
        yield from each(f"ROC AUC beside one of {worse}", cells, judge, equal=False)
    for area in (0.8, 0.97):
        for segments_, positives in ((5, 100), (20, 50), (30, 20)):
            draws = 400 if segments_ == 5 else 100
            s = replace(at_roc(area, 0.2, positives), draws=draws * segments_)
            said = about("equal segments differ in ROC AUC", s) | {"draws": draws}
            rejects = roc_differs(s, segments_)
            yield said | {"rows": f"{segments_} segments", "rejects": rejects}


def partial_roc(counts: Iterable[tuple[float, int]]) -> Iterator[Row]:
    """Yield the area up to a false positive rate, and equal models."""
    cells = [at_roc(area, *count) for area in (0.6, 0.8, 0.95, 0.999) for count in counts]
    cells += [at_roc(0.8, 0.1, 100, **variant) for variant in VARIANTS]
    for s, fpr in product(
        (replace(cell, draws=min(cell.draws, 400)) for cell in cells), (0.1, 0.01)
    ):
        options = {"measure": "partial_roc_auc", "at": {"fpr": fpr}}
        what, judge = f"ROC AUC up to an fpr of {fpr:g}", partial(roc_auc, **options)
        yield from each(what, [s], judge)
        judge = partial(compared, drop=0.0, truth=0.0, **options)
        yield from each(f"{what} of equal models", [s], judge)


def higher(area: float) -> float:
    """Return how much higher positives score at an area under the ROC curve."""
    return float(norm.ppf(area) * 2**0.5)


def at_roc(area: float, prevalence: float, positives: int, **of_rows: object) -> Scenario:
    draws = min(MOST_DRAWS, round(ROWS_OF_CELL * prevalence / positives))
    return Scenario(prevalence, positives, higher(area), draws=draws, **of_rows)


def roc_auc(s: Scenario, measure: str = "roc_auc", at: dict | None = None) -> Iterator[Row]:
    truth = s.roc_auc if at is None else s.partial_roc_auc(at["fpr"])
    asked = {"by": "draw", "ci": LEVEL, "measures": measure, "at": at, **s.options}
    found = [frame_prc.summary(rows, "truth", "score_0", **asked) for rows in s.frames(1)]
    own = [pl.col(f"{measure}_{end}").alias(f"ci_{end}") for end in ("low", "high")]
    defined = pl.concat(found).filter(pl.col(measure).is_not_null()).with_columns(own)
    said = {"what": f"ROC AUC of {s.roc_auc:.3f}"} if at is None else {}
    return (said | row for row in judged(defined, measure, truth))


def roc_compared(s: Scenario, drop: float) -> Iterator[Row]:
    truth = s.roc_auc - replace(s, separation=s.separation - drop).roc_auc
    return compared(s, drop, truth, measure="roc_auc")


def roc_differs(s: Scenario, segments_: int) -> float:
    """Return how often equal segments are found to differ."""
    found = []
    for rows in s.frames(1):
        own = rows.with_columns(pl.col("draw") // segments_, segment=pl.col("draw") % segments_)
        found.append(
            frame_prc.heterogeneity(
                own, "truth", "score_0", by="segment", model="draw", measure="roc_auc"
            )
        )
    return pl.concat(found).select((pl.col("p_value") < 1 - LEVEL).mean()).item()


# --- measures of probabilities, and at a threshold ---------------------------------------------


def measures() -> Iterator[Row]:
    """Yield the intervals of these measures, and the comparisons of equal models."""
    counts = ((0.01, 50), (0.1, 20), (0.1, 200), (0.5, 50))
    cells = [at_roc(area, *count) for area in (0.8, 0.99) for count in counts]
    cells += [at_roc(0.9, 0.1, 100, **variant) for variant in VARIANTS[1:]]
    for s in (replace(cell, draws=min(cell.draws, 400)) for cell in cells):
        for fpr in (0.2, 0.01):
            some = Probabilities(s, fpr)
            for name in AT_THRESHOLD if fpr < 0.1 else (*OF_ROWS, *AT_THRESHOLD):
                yield from interval_of(some, name, of_measure(name, fpr))
            for name in ("precision", "recall", "mcc") if fpr < 0.1 else ("brier", "recall"):
                yield from equal_models(some, name, of_measure(name, fpr))
    more = [at_roc(area, *count) for area in (0.6, 0.999) for count in counts]
    for s in (replace(cell, draws=min(cell.draws, 400)) for cell in [*more, *cells]):
        yield from beside_rate(Probabilities(s, 0.2))
    for s in (replace(cell, draws=min(cell.draws, 400)) for cell in cells):
        for fpr, shift in product((0.2, 0.01), (0.0, 0.5)):
            yield from ratios(Probabilities(s, fpr), shift)


def moving() -> Iterator[Row]:
    """Yield measures at a threshold that each draw chooses by a recall, or by an fpr."""
    counts = ((0.01, 50), (0.1, 30), (0.1, 200), (0.5, 60))
    cells = [at_roc(area, *count) for area in (0.7, 0.9, 0.98) for count in counts]
    cells += [at_roc(0.9, 0.1, 100, **variant) for variant in VARIANTS[1:]]
    for s in (replace(cell, draws=min(cell.draws, 400)) for cell in cells):
        for chosen_by, fpr in (("recall", 0.2), ("fpr", 0.2), ("fpr", 0.02)):
            some = Probabilities(s, fpr, chosen_by)
            [(_, kept)] = some.at.items()
            names = ("precision", "f1", "mcc", "fpr" if chosen_by == "recall" else "recall")
            at = f"at a chosen {chosen_by} of {kept:.2g}"
            for name in names:
                yield from interval_of(some, name, f"{name} {at}")
            for name in names[::3]:
                yield from equal_models(some, name, f"{name} {at}")


def beside_rate(some: Probabilities) -> Iterator[Row]:
    """Yield the intervals of measures beside the rate, and the comparisons of equal models."""
    for name in BESIDE_RATE:
        yield from interval_of(some, name, name)
        yield from equal_models(some, name, name)


def ratios(some: Probabilities, shift: float) -> Iterator[Row]:
    """Yield the ratio of the false positive rates of two groups."""
    differs = (pl.col("p_value") < 1 - LEVEL).fill_null(value=False)

    def rows(s: Scenario) -> Iterator[Row]:
        found, truth = replace(some, scenario=s).ratio_of_groups(shift)
        said = about(f"ratio of {truth:.1f} of two groups, {of_measure('fpr', some.fpr)}", s)
        return (said | row for row in judged(found, "ratio", truth, rejects=differs))

    return settled(some.scenario, rows, equal=shift == 0)


def of_measure(name: str, fpr: float) -> str:
    return name if name in OF_ROWS else f"{name} at an fpr of {fpr:g}"


def interval_of(some: Probabilities, name: str, what: str) -> Iterator[Row]:
    def judge(s: Scenario) -> Iterator[Row]:
        of = replace(some, scenario=s)
        return judged(of.intervals(name), name, of.truth(name))

    return each(what, [some.scenario], judge)


def equal_models(some: Probabilities, name: str, what: str) -> Iterator[Row]:
    differs = (pl.col("p_value") < 1 - LEVEL).fill_null(value=False)

    def judge(s: Scenario) -> Iterator[Row]:
        found = replace(some, scenario=s).equal_models(name)
        known = found.filter(pl.col("ci_low").is_not_null())
        return judged(known, "difference", 0.0, rejects=differs)

    return each(f"equal models, {what}", [some.scenario], judge)


# --- segments --------------------------------------------------------------------------------


def segments() -> Iterator[Row]:
    """Yield comparisons of segments, their heterogeneity, and their mean."""
    for cell in (
        Cell(20, 50, 0.1, 0.5, draws=200),
        Cell(20, 50, 0.05, 0.995, draws=200),
        Cell(10, 20, 0.3, 0.8, draws=200),
        Cell(6, 50, 0.1, 0.6, draws=200, prevalences=(0.05, 0.1, 0.3)),
    ):
        yield of_segments("any of equal segments differs", cell, rejects=any_differs(cell))
    yield from beside_few_negatives()
    for cell in coverage_segments.levels():
        found = coverage_segments.heterogeneity(replace(cell, draws=100))
        yield of_segments("equal segments are heterogeneous", cell, draws=100, **taken(found))
    for cell in coverage_segments.powers():
        found = coverage_segments.heterogeneity(replace(cell, draws=100))
        yield of_segments("segments that differ are", cell, draws=100, **taken(found))
    for cell in coverage_segments.means():
        found = coverage_segments.mean_of_segments(cell)
        status = {"status": found["status"]}
        yield of_segments("mean of segments", cell, **status, **taken(found))

    for count, ease in product((6, 12, 30, 100), (1.2, 3.5)):
        said = {"rows": f"{count} queries", "draws": sampled.DRAWS}
        found = sampled.queries(count, ease)
        for how, what in (("mean", "mean"), ("weighted", "weighted mean")):
            rates = {name: found[f"{how} {name}"] for name in ("covers", "above", "below")}
            yield {"what": f"{what} of queries", "AP": round(found[how], 3), **rates, **said}
        for test in ("t", "permutation"):
            yield {
                "what": f"models, {test} over queries",
                "AP": round(found["mean"], 3),
                "rejects": found[f"{test} differs"],
                **said,
            }
    for positives, prevalence in ((3, 0.05), (20, 0.05), (20, 0.5)):
        found = sampled.labels(positives, prevalence, ties=True)
        said = {"prevalence": prevalence, "positives": positives, "draws": found["draws"]}
        yield {"what": "random scores beat chance", "rejects": found["p <= 0.05"], **said}


def beside_few_negatives() -> Iterator[Row]:
    """Yield the test of each of three equal segments, where the fourth has only 12 negatives."""
    draws = MOST_DRAWS
    for positives in (30, 100, 400):
        classes = [200, 800] * 3 + [positives, 12]
        many = pl.DataFrame(
            {
                "draw": np.repeat(np.arange(draws), sum(classes)),
                "segment": np.tile(np.repeat(np.arange(8) // 2, classes), draws),
                "truth": np.tile(np.repeat(np.arange(8) % 2 == 0, classes), draws),
            }
        )
        noise = np.random.default_rng(0).standard_normal(many.height)
        scored = many.with_columns(score=pl.Series(noise) + 1.5 * pl.col("truth"))
        found = frame_prc.compare_segments(scored, "truth", "score", by="segment", model="draw")
        said = {"what": "equal segments", "prevalence": 0.2, "positives": 200, "draws": draws}
        said |= {"rows": f"beside one of {positives} positives and 12 negatives"}
        yield from (said | row for row in rejected(found.filter(pl.col("segment") < 3)))


def shrunk() -> Iterator[Row]:
    """Yield segments that lend each other strength."""
    for cell in coverage_segments.shrinkable():
        found = coverage_segments.shrunken(cell)
        rates = taken(found) | {name: found[name] for name in ("status", "below", "rmse")}
        spread = f", spread {cell.differ}" if cell.differ else ""
        row = of_segments("shrunken segments", cell, **rates)
        yield row | {"rows": f"{row['rows']}{spread}"}


def searching() -> Iterator[Row]:
    """Yield finds and alarms where there is nothing, and where there is something."""
    for one in coverage_searching.searches():
        anything, alone = one.found()
        rows = [f"{one.rows} rows"]
        rows += [f"{one.clusters} clusters"] if one.clusters else []
        rows += ["scores move with columns"] if one.shift else []
        rows += [one.measure] if one.measure == "roc_auc" else []
        what = "anything is found" if one.bad is None else "the bad pair is found, alone"
        shared = {"prevalence": one.prevalence, "rows": ", ".join(rows), "draws": one.draws}
        yield {"what": what, **shared, "rejects": anything if one.bad is None else alone}
    for one in coverage_searching.watches():
        found = one.alarms()
        rows = [f"{one.plan[0]} weeks, {one.plan[1]} looks"]
        rows += [f"{one.sites} sites"] if one.sites > 1 else []
        rows += [name for name in (one.adjust, one.measure) if name in ("lond", "roc_auc")]
        rows += [f"window {one.window}"] if one.window > 1 else []
        rows += [f"weeks vary by {one.tau}"] if one.tau else []
        rows += [f"negatives weigh {one.weight:g}"] if one.weight > 1 else []
        if one.changed is not None:
            delays = {name: found[name] or "never" for name in ("looks", "by Bonferroni")}
            rows += [f"median look {delays['looks']}, by Bonferroni {delays['by Bonferroni']}"]
        said = "any alarm" if one.changed is None else f"any alarm, {one.higher} to {one.changed}"
        shared = {
            "prevalence": round(one.prevalence, 3),
            "positives": one.positives,
            "draws": one.draws,
        }
        yield {"what": said, **shared, "rows": ", ".join(rows), "rejects": found["any"]}


def any_differs(cell: Cell) -> float:
    """Return how often one of equal segments is found different from the others, after Holm."""
    roles = {name: role for name, role in cell.roles.items() if name != "model"}
    draws = (draw for rows, _ in cell.frames() for draw in rows.partition_by("draw"))
    found = [frame_prc.compare_segments(draw, **roles, adjust="holm") for draw in draws]
    differs = [(table["p_adjusted"] < 1 - LEVEL).any() for table in found]
    return sum(differs) / len(differs)


def of_segments(what: str, cell: Cell, **found: object) -> Row:
    said = cell.about
    rows = f"{said['segments']} segments" + (f", {cell.days} days" if cell.days else "")
    rows += ", weights" if cell.weighted else ""
    kept = {name: said[name] for name in ("prevalence", "AP", "positives", "draws")}
    return {"what": what, **kept, "rows": rows, **found}


def taken(found: Row) -> Row:
    return {name: found[name] for name in ("covers", "above", "rejects") if name in found}


# --- points ----------------------------------------------------------------------------------


def points() -> Iterator[Row]:
    """Yield precision and recall at thresholds, bands, and targets that are to be kept."""
    some = [coverage_points.POINTS[place] for place in (1, 3, 4)]
    bands = [coverage_points.BANDS[place] for place in (0, 2, 3, 6)]
    sure = [coverage_points.GUARANTEES[place] for place in (1, 2, 4)]
    # Samples with more positives than there will be, and with fewer.
    elsewhere = [
        coverage_points.Cell(positives, prevalence, higher, 200, deployed=deployed)
        for positives, prevalence, higher, deployed in (
            (50, 0.3, 1.5, 0.1),
            (200, 0.3, 2.5, 0.01),
            (200, 0.5, 2.5, 0.9),
        )
    ]
    tables = [
        # Many small groups of one call, and larger ones.
        coverage_points.points([replace(some[0], draws=1000), *some[1:]]),
        coverage_points.held([*coverage_points.HELD[:2], coverage_points.HELD[-1]]),
        coverage_points.band([replace(cell, draws=100) for cell in bands]),
        coverage_points.whole_curves(),
        *(
            part(elsewhere)
            for part in (coverage_points.points, coverage_points.held, coverage_points.band)
        ),
    ]
    for found in (row for table in tables for row in table):
        yield of_point(found, covers=found["covers"], above=found["above"], below=found["below"])
    for found in coverage_points.guarantee([replace(cell, draws=200) for cell in sure]):
        if found["guarantee"]:
            yield of_point(found, covers=None if found["kept"] is None else 1 - found["broken"])


# --- cells that were near a bound ------------------------------------------------------------


def labels() -> Iterator[Row]:
    """Yield the intervals of few labels: of rows drawn by score, and with a judge of the rest."""
    for prevalence, area, n in ((0.02, 0.4, 1000), (0.1, 0.5, 500), (0.3, 0.6, 300)):
        s = replace(scenario(prevalence, area, round(prevalence * 10_000)), draws=200)
        yield from settled(s, partial(_of_labels, n=n))
    cells = [(0.2, 0.64, 400), (0.2, 0.64, 150), (0.05, 0.5, 1500), (0.2, 0.89, 400)]
    for (prevalence, area, n), right in product(cells, ((0.85, 0.98), (0.5, 0.8), (1.0, 1.0))):
        s = replace(scenario(prevalence, area, round(prevalence * 10 * n)), draws=400)
        found = pl.concat(
            _with_judge(rows, n, right).prc.prediction_powered(
                "truth", "score_0", by="draw", proxy="judge", ci=LEVEL
            )
            for rows in s.frames(1)
        )
        said = about(f"{n} labels, judge right {right[0]:.0%} and {right[1]:.0%}", s)
        yield from (said | row for row in judged(found, "average_precision", s.area))


def _of_labels(s: Scenario, n: int) -> Iterator[Row]:
    """Yield the area, recall and precision of rows drawn in two ways, and equal models."""
    for how, draw in (("drawn to label", _drawn), ("from ten bands", _from_bands)):
        samples = [draw(rows, n) for rows in s.frames(2)]
        for strata in (None, "stratum"):
            said = about(f"{n} of 10,000 rows {how}", s) | {"rows": "strata" if strata else ""}
            yield from _of_samples(samples, said, s, strata)


def _drawn(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    return frame_prc.sample_to_label(rows, "score_0", n, by="draw")


def _from_bands(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return as many rows of each of ten bands of the ranking, the first of which are narrow."""
    dice = np.random.default_rng([1, rows["draw"][0]]).random(rows.height)
    rank = pl.col("score_0").rank("ordinal", descending=True).over("draw")
    band = ((rank - 1) / pl.len().over("draw")).sqrt() * 10
    size, own = pl.len().over("draw", "band"), ("draw", "band")
    banded = rows.with_columns(band=band.floor(), dice=pl.Series(dice))
    kept = banded.with_columns(weight=size / pl.min_horizontal(size, n // 10)).filter(
        pl.col("dice").rank().over(own) <= n // 10
    )
    return kept.with_columns(stratum=pl.struct(own))


def _of_samples(
    samples: Iterable[pl.DataFrame], said: Row, s: Scenario, strata: str | None
) -> Iterator[Row]:
    """Yield the area, recall and precision of weighted samples, and equal models."""
    threshold = s.separation / 2 + 0.5
    recall, fpr = norm.sf(threshold - s.separation), norm.sf(threshold)
    of_all = s.prevalence * recall + (1 - s.prevalence) * fpr
    truths = {
        "average_precision": s.area,
        "recall": recall,
        "precision": s.prevalence * recall / of_all,
    }
    models = {"score": "score_0", "other": "score_1"}
    evs = [
        rows.prc.evaluate("truth", models, by="draw", weight="weight", strata=strata, ci=LEVEL)
        for rows in samples
    ]
    at = {"threshold": threshold}
    cards = pl.concat(ev.summary(measures=["recall", "precision"], at=at) for ev in evs)
    for name, truth in truths.items():
        own = cards.filter(model="score")
        if name != "average_precision":
            own = own.with_columns(ci_low=f"{name}_low", ci_high=f"{name}_high")
        of = said | {"what": f"{name.replace('_', ' ')} of {said['what']}"}
        yield from (of | row for row in judged(own, name, truth))
    compared_ = pl.concat(ev.compare_models() for ev in evs)
    differs = {"rejects": pl.col("p_value") < 1 - LEVEL}
    of = said | {"what": f"equal models on {said['what']}"}
    yield from (of | row for row in judged(compared_, "difference", 0.0, **differs))


def _with_judge(rows: pl.DataFrame, n: int, right: tuple[float, float]) -> pl.DataFrame:
    """Return rows of which the first n of each draw have a label, and all a judge's."""
    dice = np.random.default_rng(rows["draw"][0]).random(rows.height)
    is_right = pl.Series(dice) < pl.when("truth").then(right[0]).otherwise(right[1])
    place = pl.int_range(pl.len()).over("draw")
    return rows.with_columns(
        truth=pl.when(place < n).then("truth"), judge=pl.col("truth") == is_right
    )


def of_point(found: Row, **rates: object) -> Row:
    what = found["measure"] + (" is kept" if "guarantee" in found else "")
    said = {name: found[name] for name in ("prevalence", "positives", "rows")}
    return {"what": what, **said, "prevalence": round(found["prevalence"], 3), **rates}


PARTS = {
    "areas": areas,
    "models": models,
    "roc": roc,
    "measures": measures,
    "moving": moving,
    "segments": segments,
    "shrunk": shrunk,
    "searching": searching,
    "points": points,
    "labels": labels,
}


LONGEST = sorted(PARTS, key=["searching", "moving", "roc", "measures"].__contains__, reverse=True)


def rows_of(part: str) -> list[Row]:
    return [*PARTS[part]()]


if __name__ == "__main__":
    # Cells are small: a process for each core takes half the time of threads.
    os.environ["POLARS_MAX_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        # Those that take longest are begun first.
        BEGUN = {part: pool.submit(rows_of, part) for part in sys.argv[1:] or LONGEST}
        ROWS = [row for part in PARTS if part in BEGUN for row in BEGUN[part].result()]
    TABLE = pl.DataFrame(ROWS, infer_schema_length=None)
    SHOWN = [name for name in COLUMNS if name in TABLE.columns]
    ROUNDED = TABLE.select(SHOWN).with_columns(pl.selectors.float().round(3))
    print(markdown(ROUNDED.cast(pl.String)))
