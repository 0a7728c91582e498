"""Rows by role: the caller's columns under internal names, with missing values decided.

The frame of :class:`Rows` has ``key_0, key_1, ...``, ``score`` and either ``truth`` (Boolean,
with ``weight`` where one was given) or ``pos`` and ``neg``: no name of the caller's can clash
with one of ours. The keys get their own names back in the last step, :meth:`Rows.finish`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from frame_prc import _gate
from frame_prc._columns import Columns, common_score_dtype, named, project, without_nan

# Before 1.41 a cached scan reads every column; there each branch of the plan scans its own.
_CACHE_KEEPS_PROJECTION = tuple(int(part) for part in pl.__version__.split(".")[:2]) >= (1, 41)

DROP_HINT = "missing='drop' leaves such rows out"
UNRETRIEVED_HINT = (
    "missing='unretrieved' keeps rows without a score in the totals, as never retrieved"
)


@dataclass(frozen=True)
class Rows:
    """Rows ready to be counted, one per row and model.

    ``source`` is the projection they come from, which the gate checks; ``usable`` says which rows
    count under ``missing="drop"`` and is ``None`` where all do; ``in_memory`` says that a look at
    the values is free.
    """

    frame: pl.LazyFrame
    source: pl.LazyFrame
    columns: Columns
    score_dtype: pl.DataType
    usable: pl.Expr | None
    in_memory: bool

    @property
    def keys(self) -> list[str]:
        """Internal names of the key columns, in order."""
        return [f"key_{i}" for i in range(len(self.columns.result_keys))]

    @property
    def only_key_dtype(self) -> pl.DataType | None:
        """The dtype of the key, where there is just one and its values are the caller's."""
        if self.columns.several_models or len(self.columns.key_dtypes) != 1:
            return None
        return next(iter(self.columns.key_dtypes.values()))

    def finish(self, result: pl.LazyFrame, outputs: Iterable[str]) -> pl.LazyFrame:
        """Return a result with the caller's keys first, behind the gate."""
        names = zip(self.keys, self.columns.result_keys, strict=True)
        tidy = result.select(*(pl.col(key).alias(name) for key, name in names), *outputs)
        return _gate.guard(tidy, self.source, _checks(self.columns))


def read(lf: pl.LazyFrame, columns: Columns, *, in_memory: bool) -> Rows:
    """Project a frame to its roles."""
    projected = _project(lf, columns)
    # In memory this costs nothing for plain columns, and computes an expression once.
    source = projected.collect().lazy() if in_memory else once(projected)
    dtype = common_score_dtype(columns.scores)
    models = [_model_rows(source, columns, index, dtype) for index in range(len(columns.scores))]
    return Rows(
        frame=pl.concat(models),
        source=source,
        columns=columns,
        score_dtype=dtype,
        usable=_usable(columns) if columns.request.missing == "drop" else None,
        in_memory=in_memory,
    )


def _project(lf: pl.LazyFrame, columns: Columns) -> pl.LazyFrame:
    """Select every role's column: ``by_0, ...``, the classes by role, ``score_0, ...``."""
    roles = {**columns.classes, **{f"score_{i}": c for i, c in enumerate(columns.scores)}}
    keys = [
        _key(name, dtype).alias(f"by_{i}")
        for i, (name, dtype) in enumerate(columns.key_dtypes.items())
    ]
    source = project(lf, columns.keys, keys, roles)
    amounts = [role for role in columns.classes if role != "truth"]
    if amounts:
        # Weight zero is as good as absent: such a row adds no threshold and no error.
        source = source.filter(pl.any_horizontal(pl.col(role).ne_missing(0) for role in amounts))
    return source


def once(lf: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame that is computed once, however many branches of a plan use it."""
    return lf.cache() if _CACHE_KEEPS_PROJECTION else lf


def _key(name: str, dtype: pl.DataType) -> pl.Expr:
    # -0.0 and 0.0 are one key; which of the two a group keeps would depend on row order.
    key = named(name)
    return pl.when(key != 0).then(key).otherwise(key.abs()) if dtype.is_float() else key


def _model_rows(
    source: pl.LazyFrame, columns: Columns, index: int, score_dtype: pl.DataType
) -> pl.LazyFrame:
    keys = [pl.col(f"by_{i}") for i in range(len(columns.key_dtypes))]
    if columns.several_models:
        keys.insert(0, pl.lit(list(columns.request.models)[index]))
    score = pl.col(f"score_{index}").cast(score_dtype)
    if score_dtype.is_float() and columns.request.missing != "raise":
        score = score.fill_nan(None)
    return source.select(
        *(key.alias(f"key_{i}") for i, key in enumerate(keys)),
        score.alias("score"),
        *_classes(columns),
    )


def _classes(columns: Columns) -> list[pl.Expr]:
    """Return the columns that say how much of each class a row holds."""
    if columns.counted:
        # Not strict: a count beyond Int64 is for the gate to name.
        dtype = pl.Float64 if columns.weighted else pl.Int64
        return [pl.col("pos", "neg").cast(dtype, strict=False)]
    weight = [pl.col("weight").cast(pl.Float64)] if columns.weighted else []
    return [_positive(columns).alias("truth"), *weight]


def _positive(columns: Columns) -> pl.Expr:
    column = columns.classes["truth"]
    truth = without_nan(column, "truth")
    if columns.request.pos_label is not None:
        return truth.eq(columns.request.pos_label)
    return truth if column.dtype == pl.Boolean else truth.eq(1)


def _usable(columns: Columns) -> pl.Expr:
    return pl.all_horizontal(pl.col("score", *columns.classes).is_not_null())


def _checks(columns: Columns) -> list[_gate.Check]:
    classes, label = columns.classes, columns.request.pos_label
    checks = [_gate.amount_check(r, c) for r, c in classes.items() if r != "truth"]
    if not columns.counted:
        truth = classes["truth"]
        if label is not None:
            checks.append(_gate.label_check(truth, label, _positive(columns)))
        elif truth.dtype != pl.Boolean:
            checks.append(_gate.binary_check(truth))
    if columns.request.missing == "raise":
        scores = {f"score_{i}": score for i, score in enumerate(columns.scores)}
        checks.append(
            _gate.missing_check({**classes, **scores}, f"{DROP_HINT}; {UNRETRIEVED_HINT}")
        )
    elif columns.request.missing == "unretrieved":
        checks.append(_gate.missing_check(classes, DROP_HINT))
    return checks
