"""Make examples/data/breast_cancer.parquet: a small table of truths and scores.

Source: the Breast Cancer Wisconsin (Diagnostic) data as shipped with scikit-learn,
``sklearn.datasets.load_breast_cancer`` (Wolberg, Mangasarian, Street and Street; UCI Machine
Learning Repository, CC BY 4.0).

A logistic regression is trained on the first 100 of the 569 rows and scores the other 469. The
columns are ``benign``, the truth, and ``score``, the probability of benign from the model.

Run it from any folder, with polars and scikit-learn installed::

    python examples/make_breast_cancer.py [output.parquet]
"""

import sys
from pathlib import Path

import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

OUTPUT = Path(__file__).parent / "data" / "breast_cancer.parquet"
TRAINING_ROWS = 100


def make_table() -> pl.DataFrame:
    """Train on the first rows and score the rest."""
    features, target = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(C=1.0, solver="liblinear", max_iter=100, random_state=1337)
    model.fit(features[:TRAINING_ROWS], target[:TRAINING_ROWS])
    scores = model.predict_proba(features[TRAINING_ROWS:])[:, 1]
    return pl.DataFrame({"benign": target[TRAINING_ROWS:] == 1, "score": scores})


def main() -> None:
    """Make the table and write the file."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    table = make_table()
    print(f"{table.height} rows, {table['benign'].sum()} benign")
    output.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(output, compression="zstd")


if __name__ == "__main__":
    main()
