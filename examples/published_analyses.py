"""Three published analyses, each in a call or two, on drawn data of the same shape.

- Which enhancer predictor is most precise at the threshold that finds 70 % of the positive pairs,
  in each data set (github.com/EngreitzLab/CRISPR_comparison).
- How often honest applicants of each age are taken for fraud, relative to the youngest, where 5 %
  of all honest ones are (Jesus et al. 2022, arXiv 2211.13358).
- A table of a credit score by four columns (as those of UCI's default of credit card clients).

Run: python examples/published_analyses.py
"""

import polars as pl

import frame_prc


def drawn(rows: int, share: float, **keys: list[str]) -> pl.DataFrame:
    """Return rows with keys, the first of which matters, a probability, and a truth it is of."""
    random = [pl.int_range(rows).hash(seed) % 2**32 / 2**32 for seed in range(3 + len(keys))]
    numbers = [(u * len(k)).cast(pl.Int64) for u, k in zip(random[3:], keys.values(), strict=True)]
    odds = share / (1 - share) * (4 * (random[0] + random[1] - 1) + 0.3 * numbers[0]).exp()
    picked = zip(keys.items(), numbers, strict=True)
    named = {name: pl.lit(pl.Series(values)).gather(number) for (name, values), number in picked}
    columns = {**named, "truth": random[2] < odds / (1 + odds), "score": odds / (1 + odds)}
    return pl.DataFrame().select(**columns)


def precision_at_recall() -> pl.DataFrame:
    """Return the differences of precision between predictors at 70 % recall, by data set."""
    pairs = drawn(10_000, 0.05, dataset=["K562", "held out"])
    noise = pl.int_range(pl.len()).hash(9) % 1000 / 1000
    predictors = {"model": pl.col("score"), "activity": pl.col("score") * (0.5 + noise)}
    ev = frame_prc.evaluate(pairs, "truth", predictors, by="dataset")
    return ev.compare_models(measure="precision", at={"recall": 0.7})


def false_positive_rate_ratios() -> pl.DataFrame:
    """Return the false positive rates over that of the youngest, where that of all is 5 %."""
    applicants = drawn(200_000, 0.011, age=["below 30", "30 to 49", "from 50"])
    [limit] = frame_prc.operating_points(applicants, "truth", "score", fpr=0.05)["threshold"]
    ev = frame_prc.evaluate(applicants, "truth", "score", by="age")
    return ev.compare_segments(
        against={"age": "below 30"}, measure="fpr", at={"threshold": limit}, scale="ratio"
    )


def credit_table() -> pl.DataFrame:
    """Return size, base rate, mean score, gap, both areas and Brier score by each column."""
    schools, ages = ["graduate", "university", "school"], ["20-29", "30-39", "40-"]
    columns = {"education": schools, "sex": ["f", "m"], "married": ["no", "yes"], "age": ages}
    clients = drawn(30_000, 0.15, **columns)
    ev = frame_prc.evaluate(clients, "truth", "score", by=[[name] for name in columns])
    shown = ["mean_score", "calibration_gap", "roc_auc", "average_precision", "brier"]
    table = ev.summary(measures=[*shown[:3], "brier"], details=True)
    return table.select("grouping", *columns, "n", "prevalence", *shown)


if __name__ == "__main__":
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, float_precision=3):
        print(precision_at_recall(), false_positive_rate_ratios(), credit_table(), sep="\n")
