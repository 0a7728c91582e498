"""Published average precisions, as fractions."""

from __future__ import annotations

from fractions import Fraction

import published
import pytest

# Exact, since sources print few digits; the decimals are what each source prints, where it does.
AREAS = {
    "Detectron, ten detections": (published.DETECTRON, Fraction(775, 1008)),  # .7688492063
    "scikit-learn, documentation": (published.SKLEARN_DOCS, Fraction(5, 6)),  # .8333333
    "scikit-learn, perfect": (published.SKLEARN_PERFECT, Fraction(1)),
    "scikit-learn, inverted": (published.SKLEARN_INVERTED, Fraction(1, 2)),
    "scikit-learn, tied": (published.SKLEARN_TIED, Fraction(1, 2)),
    "scikit-learn, all positive": (published.SKLEARN_ALL_POSITIVE, Fraction(1)),
    "scikit-learn, constant": (published.SKLEARN_CONSTANT, Fraction(1, 4)),
    "scikit-learn, ties": (published.SKLEARN_TIES, Fraction(11, 30)),  # .3666667
    "yardstick, ties": (published.YARDSTICK_TIES, Fraction(8, 15)),  # .5333333
    "prcbench, C1": (published.PRCBENCH["C1"], Fraction(5, 6)),
    "prcbench, C2": (published.PRCBENCH["C2"], Fraction(1, 2)),
    "prcbench, C3": (published.PRCBENCH["C3"], Fraction(5, 12)),
    "prcbench, C4": (published.PRCBENCH["C4"], Fraction(7, 8)),
    "ClickHouse, a tied pair": (published.CLICKHOUSE_TIED_PAIR, Fraction(29, 36)),  # .8055555556
    "ClickHouse, four rows": (published.CLICKHOUSE_FOUR, Fraction(1, 2)),
    "ClickHouse, five rows": (published.CLICKHOUSE_FIVE, Fraction(11, 30)),  # .3666666667
    "torchmetrics": (published.TORCHMETRICS, Fraction(7, 12)),  # .5833
    "Boyd et al. 2012, worst ranking": (
        published.WORST,
        sum(Fraction(i, i + 90) for i in range(1, 11)) / 10,
    ),
}

every_area = pytest.mark.parametrize(("df", "area"), AREAS.values(), ids=AREAS)
