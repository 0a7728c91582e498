"""How segments differ: the best and the worst, their gap, and what sampling alone would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import FEW_POSITIVES, has_variance
from frame_prc._inference.estimates import Estimates, shows_spread
from frame_prc._inference.heterogeneity import spread_of
from frame_prc._inference.intervals import check_method
from frame_prc._lazy import in_python
from frame_prc._request.specs import Calibration, Interval
from frame_prc._rows.checks import Check, with_checks
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc.exceptions import DataError

_COUNTS = ("n_segments", "n_left_out", "n_few")
_NUMBERS = ("gap", "gap_if_equal", "q", "p_value", "i_squared", "tau")
_FEWEST = 2  # segments that can differ
_AREA, _SHORTFALL = pl.col(AVERAGE_PRECISION), pl.col("shortfall")


@dataclass(frozen=True)
class Heterogeneity(Table):
    """One row per model.

    The columns ``best_<key>`` and ``worst_<key>`` are named after the keys of the segments.
    """

    calibration: Calibration | None
    outputs = (*_COUNTS, "best_ap", "worst_ap", *_NUMBERS, "status")
    hidden = ("n_left_out", "n_few", "best_ap", "worst_ap", "q", "i_squared", "tau")
    counts_dropped = False

    @property
    def reserved(self) -> Sequence[str]:
        """Names that no key may have: ``ap`` would be a second ``best_ap``."""
        return ("ap",)

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without the keys of segments."""
        return rows.pooled()

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table; the keys of segments are ``best_0, best_1, ..., worst_0, ...``."""
        model = rows.model_keys
        keys = rows.keys[len(model) :]
        segments = _estimates(rows, self.calibration).select(
            *rows.keys, AVERAGE_PRECISION, "logit", "error", "few"
        )
        schema = _schema(segments.collect_schema(), model, keys)
        found = in_python(
            segments,
            lambda frame: _compared(frame, model, keys, schema),
            schema,
            in_memory=rows.in_memory,
        )
        return found.sort(model) if model else found

    def finished(self, rows: Rows, *, details: bool = True) -> pl.LazyFrame:
        """Return the table, with the names of the caller's keys in its columns."""
        names = list(rows.columns.key_dtypes)
        columns = list(_COUNTS)
        renamed: dict[str, str] = {}
        for end in ("best", "worst"):
            named = {f"{end}_{i}": f"{end}_{name}" for i, name in enumerate(names)}
            columns += [*named, f"{end}_ap"]
            renamed |= named
        every = [*columns, *_NUMBERS, "status"]
        chosen = every if details else [name for name in every if name not in self.hidden]
        return self.keyed(rows).finish(self.of(rows), chosen).rename(renamed)


def _estimates(rows: Rows, calibration: Calibration | None) -> pl.LazyFrame:
    """Return the area of each segment, with its logit and the logit's standard error if known."""
    check_method(rows, Interval(0.95))
    table = Estimates.of(_with_separate_clusters(rows), calibration).keyed()
    m = pl.col("n_effective")
    variance = pl.col("variance") * (m / (m - 1))
    spread = shows_spread(variance, _AREA, _SHORTFALL)
    known = has_variance(pl.col) & (_AREA > 0) & (_SHORTFALL > 0) & spread
    return table.with_columns(
        few=(m < FEW_POSITIVES) | pl.col("few_negatives"),
        logit=_AREA.log() - _SHORTFALL.log(),
        error=pl.when(known).then(variance.sqrt() / (_AREA * _SHORTFALL)),
    )


def _schema(segments: pl.Schema, model: Sequence[str], keys: Sequence[str]) -> pl.Schema:
    schema = {name: segments[name] for name in model} | dict.fromkeys(_COUNTS, pl.Int64())
    for end in ("best", "worst"):
        schema |= {f"{end}_{i}": segments[key] for i, key in enumerate(keys)}
        schema[f"{end}_ap"] = pl.Float64()
    numbers = dict.fromkeys(_NUMBERS, pl.Float64())
    return pl.Schema(schema | numbers | {"status": pl.String()})


def _compared(
    segments: pl.DataFrame, model: Sequence[str], keys: Sequence[str], schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each model; without a key for it one row, even without segments."""
    parts = segments.partition_by(model, maintain_order=True) if model else [segments]
    rows = [_row(part, model, keys) for part in parts]
    return pl.concat([schema.to_frame(), *(row.select(schema.names()) for row in rows)])


def _row(segments: pl.DataFrame, model: Sequence[str], keys: Sequence[str]) -> pl.DataFrame:
    used = segments.drop_nulls("error")
    left_out = segments.height - used.height
    best, worst = (_first(used, keys, end) for end in ("best", "worst"))
    both = pl.concat([best, worst], how="horizontal")
    spread = spread_of(used["logit"].to_list(), used["error"].to_list())
    numbers = [pl.lit(value, pl.Float64).alias(name) for name, value in asdict(spread).items()]
    return both.with_columns(
        *numbers,
        *(pl.lit(segments[name][0]).alias(name) for name in model),
        n_segments=pl.lit(used.height, pl.Int64),
        n_left_out=pl.lit(left_out, pl.Int64),
        n_few=pl.lit(used["few"].sum(), pl.Int64),
        gap=pl.col("best_ap") - pl.col("worst_ap"),
        status=pl.lit(_status(used)),
    )


def _status(used: pl.DataFrame) -> str:
    """Return whether there is anything to compare, and whether the test can be believed."""
    if used.height < _FEWEST:
        return "few_segments"
    return "few_positives" if used["few"].any() else "ok"


def _first(used: pl.DataFrame, keys: Sequence[str], end: str) -> pl.DataFrame:
    """Return the keys and the area of the best or the worst segment, or a row of nulls.

    Of equal areas it is the first one in the order of the keys.
    """
    ordered = used.sort(AVERAGE_PRECISION, descending=end == "best", maintain_order=True)
    names = [pl.col(key).alias(f"{end}_{i}") for i, key in enumerate(keys)]
    first = ordered.head(1).select(*names, _AREA.alias(f"{end}_ap"))
    return first if first.height else first.clear(1)


def _with_separate_clusters(rows: Rows) -> Rows:
    """Return rows that raise an error if a cluster has rows in several segments of a model."""
    if rows.columns.cluster is None:
        return rows
    segment, model = pl.struct(rows.keys), rows.model_keys
    shared = segment.n_unique().over(*model, "cluster") > 1
    check = Check(shared.sum(), _shared_clusters)
    frame = with_checks(rows.frame, rows.used(), [check], in_memory=rows.in_memory)
    return replace(rows, frame=frame)


def _shared_clusters(count: int) -> DataError:
    accounts = "takes clusters across segments into account"
    return DataError(
        f"cluster= has clusters with rows in several segments: {count} rows are in such clusters",
        "clusters that lie within a segment, since the segments are taken as independent",
        f"compare_segments(..., cluster=...) {accounts}",
        shell_hint=f"frame-prc compare-segments {accounts}",
    )
