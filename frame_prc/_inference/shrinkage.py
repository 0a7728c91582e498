"""Segments that lend each other strength: what is likely of each, given that they are of one kind.

On the logit scale the estimate ``y_i`` of a segment is normal around its true value ``theta_i``
with variance ``v_i``, and true values are normal around ``mu`` with standard deviation ``tau``.
With flat priors of ``mu`` and ``tau`` (Gelman et al., Bayesian Data Analysis, 3rd ed., 5.4),

    p(tau | y) ~ V^(1/2) prod s_i^(-1/2) exp(-(y_i - mu)^2 / (2 s_i)),    s_i = v_i + tau^2
    mu = V sum y_i / s_i,    V = 1 / sum 1 / s_i

and, given tau and mu, theta_i is normal around ``b mu + (1 - b) y_i`` with variance ``b tau^2``,
where ``b = v_i / s_i`` is the share of the mean. Thus tau is not taken as known: with few segments
it is not, and intervals that forget it cover too little.

The variance of a segment with few rows is itself an estimate, and small by chance where the
segment looks good; so it is moved towards what rows of the other segments have, ``c / m`` with m
effective rows: its logarithm counts as m of m + 20.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_GRID = 200  # values of tau
_MOST_DRAWS, _FEWEST_DRAWS, _CELLS = 4000, 400, 10_000_000
_ROWS_OF_OTHERS = 20


class Shrunk(NamedTuple):
    """What is likely of each segment, as shares from 0 to 1.

    ``ranks`` are draws of the place of each segment from above, from 1, ``values`` draws of its
    value, and ``shares`` is how much of its estimate is the mean of all.
    """

    values: Floats
    ranks: NDArray[np.int64]
    shares: Floats


def shrunk(estimates: Floats, variances: Floats, rows: Floats, *, of_hits: bool = True) -> Shrunk:
    """Return draws of the true values of segments, always the same ones."""
    random = np.random.default_rng(0)
    end = 0.5 / (rows + 1) if of_hits else np.zeros_like(rows)
    inside = np.clip(estimates, end, 1 - end)
    y = np.log(inside) - np.log1p(-inside)
    v = _smoothed(variances / (inside * (1 - inside)) ** 2, rows)
    draws = int(np.clip(_CELLS // len(y), _FEWEST_DRAWS, _MOST_DRAWS))
    tau, mu, precision = _draws_of_spread(y, v, draws, random)
    mu += random.standard_normal(mu.shape) / np.sqrt(precision)
    share = v / (v + tau**2)
    theta = share * mu + (1 - share) * y
    theta += np.sqrt(share) * tau * random.standard_normal(share.shape)
    places = np.argsort(np.argsort(-theta, axis=1), axis=1) + 1
    return Shrunk(1 / (1 + np.exp(-theta)), places, share.mean(axis=0))


def _smoothed(variances: Floats, rows: Floats) -> Floats:
    """Return variances of logits that lean on those of the other segments where rows are few."""
    known = variances > 0
    of_others = np.median((variances * rows)[known]) / rows
    own = np.where(known, variances, of_others)
    weight = rows / (rows + _ROWS_OF_OTHERS)
    smoothed: Floats = np.exp(weight * np.log(own) + (1 - weight) * np.log(of_others))
    return smoothed


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
