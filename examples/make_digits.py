"""Make examples/data/digits.parquet: a small table of classes and their probabilities.

Source: the Optical Recognition of Handwritten Digits data as shipped with scikit-learn,
``sklearn.datasets.load_digits`` (Alpaydin and Kaynak; UCI Machine Learning Repository, CC BY 4.0).

A logistic regression is trained on the first 100 of the 1,797 images and scores the others. The
columns are ``digit``, the class, and ``p0`` to ``p9``, the model's probabilities, as Float32.

Run it from any folder, with polars and scikit-learn installed::

    python examples/make_digits.py [output.parquet]
"""

import sys
from pathlib import Path

import polars as pl
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

OUTPUT = Path(__file__).parent / "data" / "digits.parquet"
TRAINING_ROWS = 100


def make_table() -> pl.DataFrame:
    """Train on the first rows and score the rest."""
    features, target = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=5000)
    model.fit(features[:TRAINING_ROWS], target[:TRAINING_ROWS])
    scores = model.predict_proba(features[TRAINING_ROWS:]).astype("float32")
    columns = {f"p{digit}": scores[:, digit] for digit in range(10)}
    return pl.DataFrame({"digit": target[TRAINING_ROWS:]} | columns)


def main() -> None:
    """Make the table and write the file."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    table = make_table()
    print(f"{table.height} rows")
    output.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(output, compression="zstd")


if __name__ == "__main__":
    main()
