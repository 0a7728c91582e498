"""Segments and periods whose true values vary around a mean, on the logit scale; needs NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_prc._inference.distributions import student_p_value, student_quantile
from frame_prc._inference.resamples import Floats, Integers

# --- segments that lend each other strength ----------------------------------------------------

_GRID = 200  # values of tau
_MOST_DRAWS, _FEWEST_DRAWS, _CELLS = 4000, 400, 10_000_000
_ROWS_OF_OTHERS = 20
# By simulation the variance of the logit of an average precision is larger than its estimate, by 5
# over the number of rows.
_ROWS_SHORT = 5


class Shrunk(NamedTuple):
    """Draws of the values of segments and of their ranks from above, and the share of the mean."""

    values: Floats
    ranks: NDArray[np.int64]
    shares: Floats


def shrunk(
    estimates: Floats,
    variances: Floats,
    rows: Floats,
    *,
    of_hits: bool = True,
    of_precisions: bool = True,
) -> Shrunk:
    """Return draws of the true values of segments, always the same ones.

    With flat priors of mu and tau, and ``s_i = v_i + tau^2`` (Gelman et al., Bayesian Data
    Analysis, 3rd ed., 5.4), ``p(tau | y) ~ V^(1/2) prod s_i^(-1/2) exp(-(y_i - mu)^2 / (2 s_i))``
    with ``V = 1 / sum 1 / s_i`` and ``mu = V sum y_i / s_i``; theta_i is normal around ``b mu + (1
    - b) y_i`` with variance ``b tau^2``, where ``b = v_i / s_i``. With tau taken as known intervals
    cover too little.
    """
    random = np.random.default_rng(0)
    # In an order of their own: what is drawn must not depend on the order of the names.
    order = np.lexsort((rows, variances, estimates))
    estimates, variances, rows = estimates[order], variances[order], rows[order]
    end = 0.5 / (rows + 1) if of_hits else np.zeros_like(rows)
    inside = np.clip(estimates, end, 1 - end)
    y = np.log(inside) - np.log1p(-inside)
    of_logits = variances / (inside * (1 - inside)) ** 2
    of_row = float(np.median((of_logits * rows)[of_logits > 0]))
    v = _leaning(of_logits, of_row, rows, _ROWS_OF_OTHERS, _ROWS_SHORT if of_precisions else 0)
    draws = int(np.clip(_CELLS // len(y), _FEWEST_DRAWS, _MOST_DRAWS))
    tau, mu, precision = _draws_of_spread(y, v, draws, random)
    mu += random.standard_normal(mu.shape) / np.sqrt(precision)
    share = v / (v + tau**2)
    theta = share * mu + (1 - share) * y
    theta += np.sqrt(share) * tau * random.standard_normal(share.shape)
    places = np.argsort(np.argsort(-theta, axis=1), axis=1) + 1
    own = np.argsort(order)
    return Shrunk(1 / (1 + np.exp(-theta[:, own])), places[:, own], share.mean(axis=0)[own])


def _leaning(own: Floats, of_row: float, rows: Floats, few: int, short: int) -> Floats:
    """Return variances of logits that lean on that of a usual row where rows are few, inflated."""
    usual = of_row / rows
    own = np.where(np.isfinite(own) & (own > 0), own, usual)
    weight = rows / (rows + few)
    leaning: Floats = np.exp(weight * np.log(own) + (1 - weight) * np.log(usual))
    return leaning * (1 + short / rows)


def _draws_of_spread(
    y: Floats, v: Floats, draws: int, random: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return draws of tau, from a grid up to infinity, each with the mean of mu and 1 / V."""
    place = (np.arange(_GRID) + 0.5) / _GRID
    grid = (np.std(y) + np.sqrt(np.median(v))) * place / (1 - place)
    s = v + grid[:, None] ** 2
    precision = (1 / s).sum(axis=1)
    mu = (y / s).sum(axis=1) / precision
    logs = -np.log(precision) - np.log(s).sum(axis=1) - ((y - mu[:, None]) ** 2 / s).sum(axis=1)
    weights = np.exp((logs - logs.max()) / 2) / (1 - place) ** 2  # by the distance of its values
    drawn = random.choice(_GRID, draws, p=weights / weights.sum())[:, None]
    return grid[drawn], mu[drawn], precision[drawn]


# --- periods in order against a reference ------------------------------------------------------

_DRAWS = 20_000
_DRAWN = 0.01  # the least error whose bounds are drawn
_ROWS_OF_REFERENCE = 200
_ROUNDING = 1e-9
_LEAST = 2  # periods of a reference
_LEAST_DEGREES = 7  # with fewer, nothing would be an alarm
# By chance a few periods vary less than rows let them. With at least 1 a watch of equal periods
# would give no false alarms at all, and find half as many small drops.
_LEAST_DISPERSION = 0.7
_LEAST_TAIL = 1e-14


class Spread(NamedTuple):
    """How much periods vary over what sampling lets them, as variances; how well that is known."""

    dispersion: float
    degrees: float


@dataclass(frozen=True)
class Series:
    """The periods of a segment, in order: the first ``first`` ones, and those that are watched.

    ``logits`` and ``variances`` are NaN where there are none, ``window`` is how many periods are
    evaluated together, ``sides`` 2 if both directions count. A logit higher by ``worse`` is worse.
    """

    logits: Floats
    variances: Floats
    rows: Floats
    first: int
    window: int
    worse: float
    sides: int
    spread: Spread | None = None

    @cached_property
    def _known(self) -> Floats:
        """Variances that lean on those of the rows of the reference, where rows are few."""
        own, reference = self.variances, self.reference
        of_row = float(np.nanmean(own[reference] * self.rows[reference]))
        return _leaning(own, of_row, self.rows, _ROWS_OF_REFERENCE, _ROWS_SHORT)

    @property
    def reference(self) -> slice:
        """The periods of the reference, of which no two are evaluated together."""
        return slice(self.window - 1, self.first, self.window)

    @property
    def has_reference(self) -> bool:
        known = np.isfinite(self.logits[self.reference])
        has_variance = (self.variances[self.reference] > 0).any()
        return bool(has_variance) and int(known.sum()) >= _LEAST

    @cached_property
    def residuals(self) -> Floats:
        """How far each period of the reference is from their mean, in standard errors, or NaN."""
        y, w = self.logits[self.reference], 1 / self._known[self.reference]
        used = np.isfinite(y)
        found: Floats = (y - np.average(y[used], weights=w[used])) * np.sqrt(w)
        return found

    @cached_property
    def own_spread(self) -> tuple[float, float, int]:
        """Cochran's Q, what it grows by with tau squared, and its degrees of freedom."""
        used = np.isfinite(self.residuals)
        w = 1 / self._known[self.reference][used]
        q = float(np.sum(self.residuals[used] ** 2))
        return q, float(w.sum() - np.sum(w**2) / w.sum()), len(w) - 1

    @cached_property
    def _spread(self) -> Spread:
        return self.spread or spreads([self])[0]

    @property
    def _weights(self) -> Floats:
        used = np.isfinite(self.logits[self.reference])
        weights: Floats = 1 / self._total[self.reference][used]
        return weights

    @property
    def degrees(self) -> float:
        return max(self._spread.degrees, _LEAST_DEGREES)

    @cached_property
    def of_reference(self) -> float:
        return self.mean_of_reference(self.logits)

    def mean_of_reference(self, values: Floats) -> float:
        used = np.isfinite(self.logits[self.reference])
        return float(np.average(values[self.reference][used], weights=self._weights))

    @property
    def _variance(self) -> float:
        return float(1 / self._weights.sum())

    @cached_property
    def watched(self) -> _Paths:
        used = self._used
        shares = np.array([self._shared(int(place)) for place in used]) if self.window > 1 else None
        return _Paths(self._total[used], self._variance, self.sides, shares, self.degrees)

    @property
    def _used(self) -> Integers:
        return np.flatnonzero(np.isfinite(self.logits[self.first :])) + self.first

    @cached_property
    def _total(self) -> Floats:
        """How much what is evaluated at each period varies: short windows beyond sampling more."""
        after = np.arange(len(self.logits)) - self.first + 1
        length = np.where(after > 0, np.minimum(after, self.window), self.window)
        _, scale, degrees = self.own_spread
        beyond = max(self._spread.dispersion - 1, 0.0) * degrees / scale
        within = min(self._spread.dispersion, 1.0) * self._known
        found: Floats = within + beyond * self.window / length
        return found

    def _shared(self, place: int) -> Floats:
        """Return by how much each period adds to what is evaluated at one of them."""
        own = np.zeros(len(self.rows))
        first = max(place - self.window + 1, self.first)
        own[first : place + 1] = 1.0
        found: Floats = own / np.sqrt(own.sum())
        return found

    def differences(self) -> tuple[list[int], Floats]:
        """Return the places of the periods that are watched, and how much worse each is."""
        used = self._used
        return [int(one) for one in used], self.worse * (self.logits[used] - self.of_reference)

    def since(self, place: int) -> int:
        """Return the place from which on the periods up to another one are the most apart."""
        places, differences = self.differences()
        look, paths = places.index(place), self.watched
        lengths = range(1, look + 2) if paths.shares is None else [1]
        found = paths.statistics(paths.weighted(differences[None, :]), look, lengths)[0]
        return places[look + 1 - lengths[int(np.argmax(paths.sizes(found)))]]

    def deviation(self, place: int) -> float:
        return float(np.sqrt(self._total[place] + self._variance))

    def alone(self) -> list[tuple[int, float]]:
        places, differences = self.differences()
        pairs = zip(places, differences, strict=True)
        return [(place, float(one) / self.deviation(place)) for place, one in pairs]

    def looks(
        self, error: float, looks: int, bounds: Sequence[float]
    ) -> Iterator[tuple[int, float, int, float]]:
        """Yield each look: its place, the largest difference, over how many periods, its bound."""
        places, differences = self.differences()
        drawn = self.watched.bounds(error, looks, bounds, len(places))
        weighted = self.watched.weighted(differences[None, :])
        for i, place in enumerate(places[:looks]):
            found = self.watched.statistics(weighted, i)[0]
            best = int(np.argmax(self.watched.sizes(found)))
            yield place, float(found[best]), self.watched.lengths(i)[best], drawn[i]

    def delay(self, error: float, looks: int, drop: float) -> float | None:
        """Return how many looks find a drop from the first on, in the median; or none."""
        if self.window > 1:
            return None
        watched = self.watched.variances
        usual = np.median(watched) if len(watched) else np.nanmedian(self._total[self.reference])
        usual_periods = np.full(looks, usual)
        paths = _Paths(usual_periods, self._variance, self.sides, None, self.degrees)
        bounds = paths.bounds(error, looks, (), looks)
        drawn = paths.weighted(paths.drawn(_DRAWS // 10, seed=1) + drop)
        first = np.full(len(drawn), np.inf)
        for look in range(looks):
            found = paths.highest(drawn, look) > bounds[look]
            first[found & np.isinf(first)] = look + 1
        median = float(np.median(first))
        return median if np.isfinite(median) else None


def spreads(series: Sequence[Series]) -> list[Spread]:
    """Return how much the periods of each of several segments vary around the reference.

    Segments lend each other degrees of freedom, as many as their spreads are alike (Smyth 2004, doi
    10.2202/1544-6115.1027); what their logarithms vary by is enlarged, as segments are few.
    """
    q, c, own = np.array([one.own_spread for one in series]).T
    within = own / c
    beyond = max(0.0, (q - own).sum() / c.sum())
    usual, lent = min(q.sum() / own.sum(), 1.0) * within + beyond, 0.0
    if len(series) > 1:
        logs = np.log(np.maximum(q / c / usual, _ROUNDING))
        enlarged = logs.var(ddof=1) * (len(series) + 1) / (len(series) - 1)
        extra = enlarged - float(np.mean(2 / own + 2 / own**2))  # what chi-square varies by
        most = max(_degrees_of_all(series, own) - own.mean(), 0.0)
        lent = min(most, (1 + np.sqrt(1 + 2 * extra)) / extra) if extra > 0 else most
    of_both = (lent * usual + own * (q / c)) / (lent + own) / within
    dispersions = np.maximum(of_both, _LEAST_DISPERSION)
    return [Spread(*map(float, one)) for one in zip(dispersions, lent + own, strict=True)]


def _degrees_of_all(series: Sequence[Series], own: Floats) -> float:
    """Return the degrees of freedom of all segments: fewer where their periods vary together."""
    count, pairs = min(len(one.residuals) for one in series), len(series) * (len(series) - 1)
    residuals = np.stack([np.nan_to_num(one.residuals[:count]) for one in series])
    lengths = np.sqrt(np.sum(residuals**2, axis=1, keepdims=True))
    directions = residuals / np.maximum(lengths, _ROUNDING)
    alike = (directions @ directions.T) ** 2
    by_chance = 1 / own.mean()
    of_others = (alike.sum() - np.trace(alike)) / pairs
    shared = max(0.0, (of_others - by_chance) / max(1 - by_chance, _ROUNDING))
    total: float = own.sum() / (1 + (len(series) - 1) * shared)
    return total


@dataclass(frozen=True)
class _Paths:
    """The periods that are watched; ``shares`` says what each is made of, if they overlap.

    A look takes the largest difference from the reference of the last 1, 2, 4, 8 ... periods, in
    standard deviations. Its bound spends an equal part of the error (Lan & DeMets 1983): it is
    drawn where nothing changes, given that no bound was crossed before, with a standard deviation
    known with ``degrees`` of freedom (Higgins et al. 2009, doi 10.1111/j.1467-985X.2008.00552.x).
    """

    variances: Floats
    of_reference: float
    sides: int
    shares: Floats | None
    degrees: float

    def lengths(self, look: int) -> list[int]:
        if self.shares is not None:
            return [1]
        return [2**power for power in range((look + 1).bit_length())]

    def weighted(self, differences: Floats) -> Floats:
        """Return the sums of the first differences over their variances, from none on, by row."""
        sums = np.cumsum(differences / self.variances, axis=1)
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def sizes(self, found: Floats) -> Floats:
        return np.abs(found) if self.sides > 1 else found

    def statistics(
        self, weighted: Floats, look: int, lengths: Sequence[int] | None = None
    ) -> Floats:
        """Return the differences of a look in standard deviations: a column for each length."""
        lengths = self.lengths(look) if lengths is None else lengths
        starts = [look + 1 - length for length in lengths]
        total = np.array([(1 / self.variances[start : look + 1]).sum() for start in starts])
        deviation = np.sqrt(total + self.of_reference * total**2)
        found: Floats = (weighted[:, look + 1, None] - weighted[:, starts]) / deviation
        return found

    def highest(self, weighted: Floats, look: int) -> Floats:
        found = self.statistics(weighted, look)
        highest: Floats = self.sizes(found).max(axis=1)
        return highest

    def drawn(self, draws: int, seed: int = 0) -> Floats:
        """Return differences where nothing changes, the same for a period whatever follows it."""
        count = len(self.variances) if self.shares is None else self.shares.shape[1]
        randoms = [np.random.default_rng([seed, number]) for number in range(count + 1)]
        of_reference, *errors = (random.standard_normal(draws) for random in randoms)
        alone = np.stack(errors, axis=1)
        of_periods = alone if self.shares is None else alone @ self.shares.T
        found: Floats = of_periods * np.sqrt(self.variances)
        found -= of_reference[:, None] * np.sqrt(self.of_reference)
        return found

    def scales(self, draws: int) -> Floats:
        chi2 = np.random.default_rng([0, *b"tau"]).chisquare(self.degrees, draws)
        found: Floats = np.sqrt(self.degrees / chi2)
        return found

    def bounds(self, error: float, looks: int, known: Sequence[float], count: int) -> list[float]:
        count = min(count, looks)
        found = [*known[:count]]
        if len(found) == count:
            return found
        error_drawn, spent = max(error, _DRAWN), 0.0
        drawn = self.weighted(self.drawn(_DRAWS) * self.scales(_DRAWS)[:, None])
        for look in range(count):
            highest = self.highest(drawn, look)
            if look < len(known):
                bound = self._at_error(known[look], error, error_drawn)
                kept = drawn[highest <= bound * (1 + _ROUNDING)]
                drawn, spent = kept, spent + len(drawn) - len(kept)
                continue
            allowed = max(int(error_drawn * (look + 1) / looks * _DRAWS - spent), 0)
            # Between two draws, so that as many are beyond it as are allowed.
            places = [len(highest) - 1 - place for place in {max(allowed - 1, 0), allowed}]
            bound = float(np.partition(highest, places)[places].mean())
            drawn, spent = drawn[highest <= bound], spent + allowed
            found.append(self._at_error(bound, error_drawn, error))
        return found

    def _at_error(self, bound: float, error: float, other: float) -> float:
        """Return what the bound of an error is at another: the tail beyond it is in proportion."""
        if error == other or bound <= 0:
            return bound
        both = student_p_value(bound, self.degrees) * other / error
        # Where so little is beyond, a bound is hardly farther at a smaller error.
        return student_quantile(1 - both, self.degrees) if _LEAST_TAIL < both < 1 else bound
