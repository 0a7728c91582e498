"""Finds and alarms where there is nothing, and how soon a change is found, for the simulations.

Scores are normal, those of positives higher. Columns of a search are independent of the scores,
or, with a ``shift``, two of them move the scores of both classes and the share of positives, as
those that a model knows do. Weeks have the same numbers of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy import stats

import frame_prc

_LEVELS = (3, 4, 6, 8, 12, 20)
_NEVER = 10**6


@dataclass(frozen=True)
class Search:
    """Rows whose columns mean nothing, or of which one pair of values is ``bad``."""

    rows: int
    prevalence: float
    higher: float
    shift: float = 0.0
    clusters: int = 0
    measure: str = "calibrated_average_precision"
    bad: float | None = None
    draws: int = 100

    def frame(self, seed: int) -> pl.DataFrame:
        """Return the rows of a draw."""
        random = np.random.default_rng([seed, self.rows])
        columns = [random.integers(1, levels + 1, self.rows) for levels in _LEVELS]
        columns.append((columns[-1] + 1) // 2)  # one that another tells
        moved = self.shift * (columns[0] / 3 + columns[3] / 8 - 1)
        logit = np.log(self.prevalence / (1 - self.prevalence)) + moved
        late = random.random(self.rows) < 1 / (1 + np.exp(-logit))
        cluster = random.integers(0, self.clusters or self.rows, self.rows)
        of_cluster = 0.7 * random.normal(size=self.rows)[cluster] if self.clusters else 0.0
        higher = self.higher + of_cluster
        if self.bad is not None:
            higher = np.where((columns[1] == 1) & (columns[2] == 1), self.bad, higher)
        score = random.normal(size=self.rows) + higher * late + moved
        named = {f"c{i}": column for i, column in enumerate(columns)}
        return pl.DataFrame({"late": late, "score": score, "cluster": cluster, **named})

    def found(self) -> tuple[float, float]:
        """Return how often anything is found, and how often the bad segment is, alone."""
        anything = alone = 0
        for seed in range(self.draws):
            frame = self.frame(seed)
            finds = frame_prc.find_segments(
                frame,
                "late",
                "score",
                columns=[
                    name for name in frame.columns if name.startswith("c") and name != "cluster"
                ],
                cluster="cluster" if self.clusters else None,
                measure=self.measure,
            )["segment"].to_list()
            anything += bool(finds)
            alone += finds == ["c1=1 & c2=1"]
        return anything / self.draws, alone / self.draws


@dataclass(frozen=True)
class Weeks:
    """Weeks that differ by chance, by ``tau`` more, or from the first look on by their scores.

    Negatives may be sampled, and stand for as many as they weigh.
    """

    positives: int
    prevalence: float
    higher: float
    plan: tuple[int, int]
    sites: int = 1
    adjust: str | None = None
    measure: str = "average_precision"
    window: int = 1
    tau: float = 0.0
    changed: float | None = None
    weight: float = 1.0
    draws: int = 200

    def table(self, seed: int) -> pl.DataFrame:
        """Return what a watch of a draw shows; only the first site changes."""
        random = np.random.default_rng([seed, self.positives])
        weeks, rows = sum(self.plan), round(self.positives / self.prevalence)
        week = np.tile(np.repeat(np.arange(weeks), rows), self.sites)
        site = np.repeat(np.arange(self.sites), rows * weeks)
        late = random.random(len(week)) < self.prevalence
        higher = self.higher + self.tau * random.normal(size=(self.sites, weeks))[site, week]
        if self.changed is not None:
            higher = np.where((week >= self.plan[0]) & (site == 0), self.changed, higher)
        score = random.normal(size=len(week)) + higher * late
        frame = pl.DataFrame({"week": week, "site": site, "late": late, "score": score})
        stands_for = pl.when("late").then(1.0).otherwise(self.weight)
        return frame_prc.monitor(
            frame.with_columns(weight=stands_for),
            "late",
            "score",
            by=["site", "week"],
            weight=None if self.weight == 1 else "weight",
            over="week",
            plan=self.plan,
            adjust=self.adjust,
            measure=self.measure,
            window=self.window,
            details=True,
        )

    def alarms(self) -> dict[str, float | None]:
        """Return how often there is any alarm, and after how many looks, here and by Bonferroni."""
        anything, first, by_single = 0, [], []
        for seed in range(self.draws):
            table = self.table(seed)
            alarms = table.filter(conclusion="alarm", site=0)["week"]
            anything += "alarm" in table["conclusion"]
            first.append(alarms.min() - self.plan[0] + 1 if len(alarms) else _NEVER)
            if self.changed is not None:
                by_single.append(_by_bonferroni(table.filter(site=0), self.plan, self.sites))
        if self.changed is None:
            return {"any": anything / self.draws}
        medians = {"looks": np.median(first), "by Bonferroni": np.median(by_single)}
        known = {name: None if one == _NEVER else float(one) for name, one in medians.items()}
        return {"any": anything / self.draws, **known}


def _by_bonferroni(table: pl.DataFrame, plan: tuple[int, int], sites: int) -> int:
    """Return the first look that a t test of each week at 5 % over all looks rejects.

    It goes by how the weeks of the reference vary, as a watch does: one by the errors within weeks
    would not keep 5 % where these vary by themselves.
    """
    before, after = table["logit"][: plan[0]], table["logit"][plan[0] :]
    t = (before.mean() - after) / (before.std() * (1 + 1 / plan[0]) ** 0.5)
    hits = (t > stats.t.isf(0.05 / plan[1] / sites, plan[0] - 1)).arg_true()
    return int(hits[0]) + 1 if len(hits) else _NEVER


def searches() -> Iterator[Search]:
    """Yield searches."""
    yield from (Search(4000, 0.3, 1.5), Search(20000, 0.05, 1.5), Search(20000, 0.02, 0.7))
    yield from (Search(4000, 0.5, 3.0), Search(3000, 0.9, 1.5), Search(10000, 0.2, 1.0, shift=2.0))
    yield from (Search(10000, 0.2, 1.5, clusters=n) for n in (200, 40))
    yield Search(10000, 0.2, 1.5, shift=1.0, measure="roc_auc")
    yield Search(10000, 0.2, 1.5, bad=0.0)


def watches() -> Iterator[Weeks]:
    """Yield watches."""
    yield from (Weeks(n, 0.2, 1.5, (8, 52)) for n in (20, 50))
    yield from (Weeks(50, 0.3, 3.5, (8, 26)), Weeks(200, 0.1, 2.5, (4, 12)))
    yield from (
        Weeks(50, 0.1, 1.0, (8, 52), measure="roc_auc"),
        Weeks(10, 0.2, 1.5, (28, 60), window=7),
    )
    yield Weeks(50, 0.2, 1.5, (8, 26), sites=10, draws=60)
    yield from (Weeks(70, 1 / 6, 2.6, (12, 28), weight=w) for w in (3, 5, 100))
    yield from (Weeks(100, 0.2, 1.5, plan, tau=0.2) for plan in ((8, 52), (12, 40), (24, 40)))
    yield from (Weeks(100, 0.2, 1.5, (8, 52), changed=c, draws=100) for c in (1.35, 1.2))
    yield Weeks(50, 0.2, 1.5, (8, 26), sites=10, changed=1.0, draws=60)
    yield Weeks(50, 0.2, 1.5, (8, 26), sites=10, changed=1.0, adjust="lond", draws=60)
    for adjust in (None, "lond"):
        vary = Weeks(100, 0.2, 1.5, (8, 26), sites=10, tau=0.2, adjust=adjust, draws=100)
        yield from (vary, replace(vary, changed=1.0))
