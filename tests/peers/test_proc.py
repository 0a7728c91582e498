"""DeLong's variance and paired test, as pROC prints them."""

from __future__ import annotations

import subprocess

import numpy as np
import optional
import polars as pl
import pytest
from kinds import every_polars_kind
from scipy import stats

import frame_prc

# aSAH of pROC: patients after a subarachnoid haemorrhage (Turck et al. 2010, doi
# 10.1007/s00134-009-1641-y), whether the outcome was poor, the clinical grade, and a biomarker.
POOR = (
    "00001101001011001011101000000000100110110000000001100010001010011101101111000110100000010000"
    "000000001111110001000"
)
GRADE = (
    "11113254125255125225211112121134214541425511241125521251222151125214524414121421232421451154"
    "221113125225552445111"
)
S100B = """
    13 14 10 4 13 10 47 16 18 10 12 10 44 71 4 8 49 4 7 33 9 9 7 11 7 17 7 11 13 19 5 16 41 14 34
    35 48 9 96 25 50 46 16 7 43 45 11 8 9 86 52 8 6 13 207 10 14 15 7 6 77 5 9 30 3 9 4 23 70 9 27
    71 8 26 8 16 9 13 10 8 11 33 11 28 7 10 32 22 7 5 24 38 10 15 8 14 10 7 4 19 56 14 58 32 82 74
    15 47 17 44 15 50 48
"""
PATIENTS = pl.DataFrame(
    {
        "poor": [int(one) for one in POOR],
        "grade": [int(one) for one in GRADE],
        "s100b": [int(one) / 100 for one in S100B.split()],
    }
)


@every_polars_kind
def test_areas_and_errors_are_the_published_ones(kind):
    df = kind.make(PATIENTS)
    table = frame_prc.compare_models(
        df, "poor", ["grade", "s100b"], measure="roc_auc", details=True
    )
    row = kind.rows(table).row(0, named=True)
    assert (row["value_b"], row["value_a"]) == pytest.approx((0.8236789, 0.7313686), abs=5e-8)
    # Published: Z = 2.209 of the first minus the second, p = 0.02718 by the normal; ours is the
    # second minus the first, by Student's t, for 41 positives.
    assert row["difference"] / row["std_error"] == pytest.approx(-2.209, abs=5e-4)
    by_t = 2 * stats.t.sf(2.209 * (40 / 41) ** 0.5, 40)
    assert row["p_value"] == pytest.approx(by_t, rel=0.01)
    alone = kind.rows(
        frame_prc.summary(df, "poor", ["grade", "s100b"], measures="roc_auc", details=True)
    )
    errors = [0.038339466725863913, 0.051659292069989093]  # sqrt(var()), pROC 1.18.0
    assert alone["roc_auc_std_error"].to_list() == pytest.approx(errors, rel=1e-12)


@pytest.mark.thorough
def test_any_two_models_have_the_errors_of_proc(tmp_path):
    rscript = optional.require_r_package("pROC")
    random = np.random.default_rng(7)
    truth = random.random(500) < 0.2
    df = pl.DataFrame(
        {
            "truth": truth.astype(int),
            "a": np.round(random.normal(size=500) + truth, 1),
            "b": random.normal(size=500) + 0.7 * truth,
        }
    )
    df.write_csv(tmp_path / "rows.csv")
    script = """
        suppressMessages(library(pROC)); d <- read.csv("rows.csv")
        of <- function(s) roc(d$truth, s, quiet = TRUE, levels = c(0, 1), direction = "<")
        a <- of(d$a); b <- of(d$b)
        cat(format(c(auc(b) - auc(a), sqrt(var(a) + var(b) - 2 * cov(a, b))), digits = 16))
    """
    done = subprocess.run(  # noqa: S603 - the script above
        [rscript, "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = [float(one) for one in done.stdout.split()]
    table = df.prc.compare_models("truth", ["a", "b"], measure="roc_auc", details=True)
    assert table.select("difference", "std_error").row(0) == pytest.approx(expected, rel=1e-10)
