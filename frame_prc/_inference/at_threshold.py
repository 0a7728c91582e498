"""Measures of the four counts at a threshold: one that is held, or one that the rows choose.

A measure is a mean of ratios ``A / B`` of sums over ``tp, fp, fn, tn``, or has a gradient in them.
A row in a cell with the coefficients ``a`` and ``b`` changes a ratio by ``(a - b A / B) / B``.

A choice keeps a share C, such as the recall: a row moves it, and the threshold moves it back. So
the influence of a row is ``I_M - (M' / C') I_C``, with ``M', C'`` how much each row changes them
that a lower threshold adds. It is positive with the precision where C is up to ``n^(1/6)`` standard
errors lower or higher, of n rows (Serfling 1980, Approximation Theorems, 2.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import Any, NamedTuple

import polars as pl

from frame_prc._curves.given_thresholds import NO_THRESHOLD
from frame_prc._curves.logit_intervals import CELLS, times_of_usual
from frame_prc._formulas import effective_number, recall
from frame_prc._inference.measure import (
    OF_ANY_CLASS,
    OPENS,
    UNDEFINED_IF_NULL,
    Dialect,
    TiedMeasure,
)
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import MODEL, Target

# --- a threshold that the rows choose ----------------------------------------------------------

# The marks of what is above the threshold, above two others around it, higher and lower, and of
# what is before the tie in which the share is reached, and through it.
REACHED, HIGHER, LOWER, BEFORE, THROUGH = MARKS = (
    "reached", "reached_higher", "reached_lower", "reached_before", "reached_through",
)  # fmt: skip
# The influence of a row in each cell.
INFLUENCE = ("on_tp", "on_fp", "on_fn", "on_tn")
# By simulation: of a tie that is a larger part of the standard error of the share, the threshold
# moves in jumps, and intervals covered too little.
_WIDEST_TIE = 0.5


@dataclass(frozen=True)
class Choice:
    """What chooses a threshold: the share of rows that it keeps."""

    target: Target
    of: Dialect

    def marks(self) -> dict[str, Any]:
        """Return what marks the scores that are reached: those of a segment follow its opening."""
        reached = self._share(*self.of.cols("tp", "fp"))
        before = self._share(self.of.before("tp"), self.of.before("fp"))
        slack = self.of.rounding()
        if self.target.criterion == "recall":
            chosen = before < self._asked * (1 - slack)
        else:
            chosen = reached <= self._asked * (1 + slack)
        around = self._error() * self.number() ** (1 / 6)
        return {
            REACHED: chosen,
            HIGHER: reached <= self._asked - around,
            LOWER: before < self._asked + around,
            BEFORE: reached < self._asked,
            THROUGH: before < self._asked,
        }

    def is_met(self, tp: Any, fp: Any) -> Any:
        if self.target.criterion != "recall":
            return tp + fp > 0
        slack = self.of.rounding()
        return self._share(tp, fp) >= self._asked * (1 - slack)

    @property
    def _asked(self) -> Any:
        value = self.of.lib.lit(self.target.value)
        return value / self._rows if self.target.criterion == "predicted_count" else value

    @property
    def _rows(self) -> Any:
        positives, negatives = self.of.cols("positives", "negatives")
        return positives + negatives

    def _share(self, tp: Any, fp: Any) -> Any:
        if self.target.criterion == "recall":
            return recall(tp, self.of.lib.col("positives"))
        if self.target.criterion == "fpr":
            return fp / self.of.lib.col("negatives")
        return (tp + fp) / self._rows

    def _error(self) -> Any:
        asked = self._asked.clip(0.0, 1.0)
        return (asked * (1 - asked)).sqrt() * self.number() ** -0.5

    def is_in_wide_tie(self) -> Any:
        through, before = (
            self._share(*self.of.cols(f"{mark}_tp", f"{mark}_fp")) for mark in ("through", "before")
        )
        return through - before > _WIDEST_TIE * self._error()

    def fewest_beyond(self) -> Any:
        asked = self._asked.clip(0.0, 1.0)
        return self.of.lib.min_horizontal(asked, 1 - asked) * self.number()

    def too_high(self, *around: Any) -> Any:
        """Return how much too high a measure is on average as a row of a class is the threshold.

        That many of the class are reached, not the share asked for; and other rows have as many of
        the other class above ``i / (n + 1)`` of this one as these have above the i-th of its n.
        """
        col, lib = self.of.lib.col, self.of.lib
        if self.target.criterion not in ("recall", "fpr"):
            return lib.lit(0.0)
        moves = (col("on_tp") - col("on_fn"), col("on_fp") - col("on_tn"))
        sums = (self.of.cols("positives", "n_tp"), self.of.cols("negatives", "n_fp"))
        classes = [*zip(sums, self.of.weights_of_rows(), around, moves, strict=True)]
        own, other = classes if self.target.criterion == "recall" else classes[::-1]
        (total, reached), row, near, moved_by = own
        # At a false positive rate all positives above the next negative are reached.
        further = -self._asked if self.target.criterion == "recall" else 1 - self._asked
        beyond = reached - self._asked * total
        place = (beyond + further * row) / near
        of_others = lib.when(near > 0).then(place * other[2] * other[3]).otherwise(0.0)
        return beyond * moved_by + of_others

    def number(self) -> Any:
        """Return the effective number of rows that the share is one of."""
        classes = {"recall": ("positives",), "fpr": ("negatives",)}
        names = classes.get(self.target.criterion, ("positives", "negatives"))
        weight = reduce(add, (one.cast(self.of.lib.Float64) for one in self.of.cols(*names)))
        if not self.of.squares:
            return weight
        squares = reduce(add, self.of.cols(*(f"{name}_squares" for name in names)))
        return effective_number(weight, squares)


def moved(points: Any, choice: Choice, of_choice: Sequence[Any], of: Dialect) -> Any:
    """Add to the influence of a row in each cell that of the threshold, which it moves."""
    col, when = of.lib.col, of.lib.when
    tp, fp = (col(f"lower_{cell}") - col(f"higher_{cell}") for cell in ("tp", "fp"))
    around = points.with_columns(
        too_high=choice.too_high(tp, fp),
        positive_around=when(tp + fp > 0).then(tp / (tp + fp)),
        **{f"{name}_of_choice": one for name, one in zip(INFLUENCE, of_choice, strict=True)},
    )
    positive = col("positive_around")
    added = (positive, 1 - positive, -positive, positive - 1)

    def slope(end: str) -> Any:
        return reduce(add, (a * col(f"{n}{end}") for a, n in zip(added, INFLUENCE, strict=True)))

    # All rows are predicted positive where they are fewer than asked for: nothing moves.
    ratio = when(~positive.is_null()).then(slope("") / slope("_of_choice")).otherwise(0.0)
    return around.with_columns(move=ratio).with_columns(
        (col(name) - col("move") * col(f"{name}_of_choice")).alias(name) for name in INFLUENCE
    )


# --- measures at a threshold -------------------------------------------------------------------

_OF_CELLS = tuple(f"n_{cell}" for cell in CELLS)
_LEAST = "least_variance"


class Ratio(NamedTuple):
    """The coefficients of the counts above and below the line, in the order of the cells."""

    above: tuple[float, ...]
    below: tuple[float, ...]

    def shifted(self, lowest: float, span: float) -> Ratio:
        """Return the ratio as a share of the range from ``lowest`` on."""
        both = zip(self.above, self.below, strict=True)
        return Ratio(tuple((a - lowest * b) / span for a, b in both), self.below)

    def share(self, of: Dialect) -> Any:
        """Return its value; null if nothing is below the line."""
        return self._over_below(_sum(of, self.above), of)

    def left(self, of: Dialect) -> Any:
        """Return 1 minus its value, without lost digits."""
        rest = [b - a for a, b in zip(self.above, self.below, strict=True)]
        return self._over_below(_sum(of, rest), of)

    def influence(self, cell: int, of: Dialect) -> Any:
        return self._over_below(self.above[cell] - self.below[cell] * self.share(of), of)

    def _over_below(self, above: Any, of: Dialect) -> Any:
        below = _sum(of, self.below)
        return of.lib.when(below > 0).then(above / below)


def _sum(of: Dialect, coefficients: Sequence[float]) -> Any:
    terms = [c * of.lib.col(n) for c, n in zip(coefficients, _OF_CELLS, strict=True) if c != 0]
    return reduce(add, terms, of.lib.lit(0.0))


_RECALL = Ratio((1, 0, 0, 0), (1, 0, 1, 0))
_SPECIFICITY = Ratio((0, 0, 0, 1), (0, 1, 0, 1))
_FPR = Ratio((0, 1, 0, 0), (0, 1, 0, 1))
_PREDICTED = Ratio((1, 1, 0, 0), (1, 1, 1, 1))
_PRECISION = Ratio((1, 0, 0, 0), (1, 1, 0, 0))
_PREVALENCE = Ratio((1, 0, 1, 0), (1, 1, 1, 1))
_RATIOS: dict[str, Callable[[float], list[Ratio]]] = {
    "precision": lambda _: [_PRECISION],
    "recall": lambda _: [_RECALL],
    "fpr": lambda _: [_FPR],
    "specificity": lambda _: [_SPECIFICITY],
    "f1": lambda _: [Ratio((2, 0, 0, 0), (2, 1, 1, 0))],
    "accuracy": lambda _: [Ratio((1, 0, 0, 1), (1, 1, 1, 1))],
    "balanced_accuracy": lambda _: [_RECALL, _SPECIFICITY],
    # With the threshold as the probability from which on an alert is worth its cost (Vickers &
    # Elkin 2006, doi 10.1177/0272989X06295361).
    "net_benefit": lambda t: [Ratio((1, -t / (1 - t), 0, 0), (1, 1, 1, 1))],
    # What these rest on: they are other functions of the counts.
    "mcc": lambda _: [_RECALL, _SPECIFICITY],
    "precision_lift": lambda _: [_PRECISION, _RECALL],
}
# More than any precision over a prevalence, so that the logit is the logarithm.
_LARGEST_LIFT = 2.0**20
# What a choice of the threshold keeps.
_KEPT = {
    "recall": _RECALL, "fpr": _FPR, "predicted_rate": _PREDICTED, "predicted_count": _PREDICTED,
}  # fmt: skip
# By simulation: with fewer in a cell, intervals of what mixes several cells covered too little.
FEWEST_IN_CELL = 5
# By simulation: fewer that choose a threshold left precision covered in 78 to 95 %.
_FEWEST_CHOOSING = 30
# With fewer positives a false positive rate at a recall was covered in 89 to 92 %.
_FEWEST_BESIDE = 100
# What counts up to marks around a threshold that moves are called.
_NEAR = {HIGHER: "higher", LOWER: "lower", BEFORE: "before", THROUGH: "through"}
_OF_NEGATIVES = ("fpr", "specificity", "accuracy")
_SHARES = ("precision", "recall", "fpr", "specificity", "accuracy")
_HALF = Target("threshold", 0.5)
# What mixes several cells: the first two always, the others where the threshold moves.
_MIXED = ("balanced_accuracy", "mcc", "f1", "accuracy")
_WEIGHED = {"recall": (True, False), "fpr": (False, True), "specificity": (False, True)}
_FEW = {"recall": "few_positives", "fpr": "few_negatives", "specificity": "few_negatives"}


@dataclass(frozen=True)
class AtThreshold(TiedMeasure):
    of: str = "precision"
    at: Target = _HALF
    scored = True
    counted = True
    of_decisions = True
    below = ("below_positive", "below_negative")
    is_defined = pl.col("has_measure")
    rests_on = pl.col("trials")

    @property
    def is_share(self) -> bool:
        return self.of in _SHARES

    @property
    def name(self) -> str:
        return self.of

    @property
    def is_of_rows(self) -> bool:
        return self.at.table is None

    @property
    def kept(self) -> Sequence[str]:
        held = () if self.is_of_rows else ("has_threshold",)
        return ("trials", _LEAST, "has_measure", "is_few", *held)

    @property
    def variance(self) -> pl.Expr:
        return pl.col("variance") if self._moves else pl.max_horizontal("variance", _LEAST)

    @property
    def variance_of_clusters(self) -> pl.Expr:
        if self._moves:
            return pl.col("variance")
        return pl.col("variance") * times_of_usual(pl.col(_LEAST), pl.col("variance_by_rows"))

    def of_model(self, name: str | None) -> AtThreshold:
        table = self.at.table
        if table is None or MODEL not in table.collect_schema():
            return self
        own = table.filter(pl.col(MODEL).cast(pl.String) == name).drop(MODEL)
        return replace(self, at=replace(self.at, table=own))

    @property
    def few(self) -> str:
        return "few_rows" if self._moves else _FEW.get(self.of, "few_rows")

    @property
    def status(self) -> pl.Expr:
        sizes = pl.when(pl.col("estimate").is_not_null()).then(OF_ANY_CLASS)
        found = pl.coalesce(sizes, UNDEFINED_IF_NULL)
        if self.is_of_rows:
            return found
        return pl.when("has_threshold").then(found).otherwise(pl.lit(NO_THRESHOLD))

    @property
    def lowest(self) -> float:
        if self.of == "net_benefit":
            return -self.at.value / (1 - self.at.value)
        return -1.0 if self.of == "mcc" else 0.0

    @property
    def span(self) -> float:
        return 1.0 - self.lowest if self.of_hits else _LARGEST_LIFT

    @property
    def of_hits(self) -> bool:
        return self.of != "precision_lift"

    @property
    def weighed(self) -> tuple[bool, bool]:
        return _WEIGHED.get(self.of, (True, True))

    @property
    def higher_is_better(self) -> bool:
        return self.of != "fpr"

    @property
    def _ratios(self) -> list[Ratio]:
        found = _RATIOS[self.of](self.at.value)
        return [ratio.shifted(self.lowest, self.span) for ratio in found]

    def thinned(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        opens = pl.col(OPENS)
        is_last = opens.shift(-1, fill_value=True)
        marks = MARKS if self._moves else (REACHED,)
        crosses = [pl.col(one) & ~pl.col(one).shift(-1, fill_value=False) for one in marks]
        marked: pl.LazyFrame = self._marked(ties, Dialect(ranking))
        return marked.filter(pl.any_horizontal(opens, *crosses, is_last))

    @property
    def _moves(self) -> bool:
        """Whether the rows choose the threshold."""
        return self.at.criterion != "threshold"

    def _marked(self, points: Any, of: Dialect) -> Any:
        """Add whether a score reaches the threshold, rounded to the dtype of scores."""
        unreached = of.lib.when(of.lib.col(OPENS)).then(of.lib.lit(value=False))
        if self._moves:
            marks = Choice(self.at, of).marks()
            return points.with_columns(
                unreached.otherwise(mark).alias(name) for name, mark in marks.items()
            )
        if self.at.table is None:
            held = pl.select(pl.lit(self.at.value).cast(of.threshold_dtype).cast(pl.Float64)).item()
        else:
            points, held = of.with_held(points, self.at.table), of.lib.col("held")
        score = of.lib.col("score").cast(of.lib.Float64)
        reached = score <= held if of.ascending else score >= held
        return of.with_score(points).with_columns(unreached.otherwise(reached).alias(REACHED))

    def influences_of(self, points: Any, of: Dialect) -> Any:
        reached, n_tp, n_fp = of.cols(REACHED, "n_tp", "n_fp")
        positives, negatives = of.cols("positives", "negatives")
        near = _NEAR if self._moves else {}
        marked = of.with_reached(self._marked(of.with_amounts(points), of), {REACHED: "n", **near})
        cells = marked.with_columns(
            n_fn=positives.cast(of.lib.Float64) - n_tp, n_tn=negatives.cast(of.lib.Float64) - n_fp
        )
        squared = cells.with_columns(_squares_of_cells(of))
        other = {"mcc": _matthews, "precision_lift": _lift}.get(self.of)
        share, left, influence = other(of) if other else _mean(self._ratios, of)
        valued = squared.with_columns(
            share.alias("estimate"),
            left.alias("shortfall"),
            **dict(zip(INFLUENCE, influence, strict=True)),
        )
        if self._moves:
            kept = _KEPT[self.at.criterion]
            of_choice = [kept.influence(cell, of) for cell in range(len(CELLS))]
            choice = Choice(self.at, of)
            valued = moved(valued, choice, of_choice, of)
            valued = _where(choice.is_met(n_tp, n_fp), valued, of)
        if not self.is_of_rows:
            valued = valued.with_columns(has_threshold=~of.lib.col("held").is_null())
            valued = _where(of.lib.col("has_threshold"), valued, of)
        on_positive, on_negative = (
            of.lib.when(reached).then(of.lib.col(above)).otherwise(of.lib.col(below))
            for above, below in zip(INFLUENCE[:2], INFLUENCE[2:], strict=True)
        )
        measured = valued.with_columns(
            on_positive=on_positive,
            on_negative=on_negative,
            **dict(zip(self.below, self._below(reached, of), strict=True)),
            trials=self._trials(of),
            **{_LEAST: _of_usual_weights(of)},
            is_few=self._has_few_in_a_cell(of) | self._has_few_beyond(of),
        )
        estimate, shortfall = of.cols("estimate", "shortfall")
        perfect = of.lib.when(shortfall == 0).then(of.lib.lit(value=False))
        return measured.with_columns(
            perfect.otherwise(of.lib.col("is_few")).alias("is_few"), has_measure=~estimate.is_null()
        )

    def bias(self, of: Dialect) -> tuple[Any, Any]:
        if not self._moves:
            return super().bias(of)
        gain, losses, positives, negatives = of.cols("gain", "losses", "positives", "negatives")
        share = (gain + losses) / (positives + negatives)
        return of.lib.col("too_high") * share, of.lib.lit(0.0)

    def _below(self, reached: Any, of: Dialect) -> list[Any]:
        """Return how much of a positive row, and of a negative one, is below the line."""
        tp, fp, fn, tn = (
            of.lib.lit(float(any(ratio.below[cell] > 0 for ratio in self._ratios)))
            for cell in range(len(CELLS))
        )
        when = of.lib.when(reached)
        return [when.then(tp).otherwise(fn), when.then(fp).otherwise(tn)]

    def _has_few_in_a_cell(self, of: Dialect) -> Any:
        """Return whether a cell that moves the measure beside others has too few rows."""
        if self.of == "net_benefit":
            odds = min(1.0, -self.lowest)
            least = {"tp": FEWEST_IN_CELL, "fp": FEWEST_IN_CELL * odds**2}
        elif not self.of_hits:
            least = {"tp": FEWEST_IN_CELL}
        else:
            mixed = _MIXED if self._moves else _MIXED[:2]
            least = dict.fromkeys(CELLS if self.of in mixed else (), FEWEST_IN_CELL)
        found = [_effective(of, [cell]) < number for cell, number in least.items()]
        return reduce(or_, found, of.lib.lit(value=False))

    def _has_few_beyond(self, of: Dialect) -> Any:
        if not self._moves:
            return of.lib.lit(value=False)
        choice = Choice(self.at, of)
        of_positives = self.at.criterion == "recall" and self.of in _OF_NEGATIVES
        least = _FEWEST_BESIDE if of_positives else _FEWEST_CHOOSING
        few = (choice.fewest_beyond() < FEWEST_IN_CELL) | (choice.number() < least)
        return few | choice.is_in_wide_tie()

    def _trials(self, of: Dialect) -> Any:
        """Return the effective number of the rows below the line, of the scarcer ratio."""
        every = [ratio.below for ratio in self._ratios]
        cells = [[cell for cell, c in zip(CELLS, one, strict=True) if c > 0] for one in every]
        each = [_effective(of, one) for one in cells]
        # Of a single column SQLite would take the lowest of all rows.
        found = of.lib.min_horizontal(*each) if len(each) > 1 else each[0]
        if self.of == "precision" and of.squares:
            # Without a negative it is what one would weigh that tells of those that may be missing.
            n_tp, n_fp, negatives, squares = of.cols(
                "n_tp", "n_fp", "negatives", "negatives_squares"
            )
            of_misses = n_tp * negatives / squares
            is_fewer = (n_fp == 0) & (negatives > 0) & (of_misses < found)
            found = of.lib.when(is_fewer).then(of_misses).otherwise(found)
        # F1 is twice as steep as the share of hits in these rows where there are few.
        return found / 2 if self.of == "f1" else found


def _where(is_known: Any, valued: Any, of: Dialect) -> Any:
    return valued.with_columns(
        of.lib.when(is_known).then(of.lib.col(name)).alias(name)
        for name in ("estimate", "shortfall")
    )


def _squares_of_cells(of: Dialect) -> list[Any]:
    if not of.squares:
        return [of.lib.col(f"n_{cell}").alias(f"squares_{cell}") for cell in CELLS]
    tp, fp, positives, negatives = of.cols(
        "squares_tp", "squares_fp", "positives_squares", "negatives_squares"
    )
    return [(positives - tp).alias("squares_fn"), (negatives - fp).alias("squares_tn")]


def _effective(of: Dialect, cells: Sequence[str]) -> Any:
    weight, squares = (
        reduce(add, of.cols(*(f"{name}_{cell}" for cell in cells))) for name in ("n", "squares")
    )
    number = effective_number(weight, squares)
    return of.lib.when(weight > 0).then(number).otherwise(0.0)


def _of_usual_weights(of: Dialect) -> Any:
    """Return the variance if rows of a cell weigh what is usual in their class, or on their side.

    Of few rows the heavy ones may be missing by chance; the less of both is usual. All rows of a
    cell count as one at least: that there may be none is known to the limit as of none.
    """
    col, lib = of.lib.col, of.lib
    sides = [lib.lit(1.0), lib.lit(1.0)]
    if of.squares:
        pairs = (("tp", "fp"), ("fn", "tn"))
        sides = [
            (col(f"squares_{a}") + col(f"squares_{b}")) / (col(f"n_{a}") + col(f"n_{b}"))
            for a, b in pairs
        ]
    cells = zip(
        _OF_CELLS, of.weights_of_rows() * 2, [sides[0]] * 2 + [sides[1]] * 2, INFLUENCE, strict=True
    )
    return reduce(
        add,
        (
            lib.when(col(n) > 0)
            .then(col(n) * lib.min_horizontal(a, b, col(n)) * col(moved) ** 2)
            .otherwise(0.0)
            for n, a, b, moved in cells
        ),
    )


def _mean(ratios: Sequence[Ratio], of: Dialect) -> tuple[Any, Any, list[Any]]:
    number = len(ratios)

    def mean(terms: Iterable[Any]) -> Any:
        return reduce(add, terms) / number

    influence = [mean(ratio.influence(cell, of) for ratio in ratios) for cell in range(4)]
    return mean(one.share(of) for one in ratios), mean(one.left(of) for one in ratios), influence


def _lift(of: Dialect) -> tuple[Any, Any, list[Any]]:
    prevalence = _PREVALENCE.share(of)
    times = of.lib.when(prevalence > 0).then(1 / prevalence)
    share = _PRECISION.share(of) * times / _LARGEST_LIFT
    influence = [
        times
        * (_PRECISION.influence(cell, of) / _LARGEST_LIFT - share * _PREVALENCE.influence(cell, of))
        for cell in range(len(CELLS))
    ]
    return share, 1 - share, influence


def _matthews(of: Dialect) -> tuple[Any, Any, list[Any]]:
    """Return (1 + r) / 2, (1 - r) / 2, and the influence of a row in each cell on the first."""
    tp, fp, fn, tn = of.cols(*_OF_CELLS)
    positives, negatives, reached, others = tp + fn, fp + tn, tp + fp, fn + tn
    root = positives.sqrt() * negatives.sqrt() * reached.sqrt() * others.sqrt()
    when = of.lib.when
    # Rounded, a correlation of 1 may be a little more, or less.
    found = ((tp * tn - fp * fn) / root).clip(-1.0, 1.0)
    worst = when(tp + tn == 0).then(-1.0).otherwise(found)
    r = when(root > 0).then(when(fp + fn == 0).then(1.0).otherwise(worst))
    of_cells = [
        (tn, positives, reached),
        (-fn, negatives, reached),
        (-fp, positives, others),
        (tp, negatives, others),
    ]
    influence = [
        (slope / root - r / 2 * (1 / first + 1 / second)) / 2 for slope, first, second in of_cells
    ]
    return (1 + r) / 2, (1 - r) / 2, influence
