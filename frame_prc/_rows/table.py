"""Tables: what a verb makes of rows, described once, and how it gets its keys back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

import polars as pl

from frame_prc._lazy import concat, left_join, named
from frame_prc._request.specs import GROUPING, OF_PROBABILITIES, Missing
from frame_prc._rows.checks import check_of, with_checks
from frame_prc._rows.columns import grouping_name
from frame_prc._rows.rows import Rows, dropped
from frame_prc._rows.rules import probability_rules

_ENDS = ("_low", "_high")


class _Detail(str):
    __slots__ = ()


def details(*names: str, when: bool = True) -> tuple[str, ...]:
    """Mark columns as those that only ``details=True`` shows."""
    return tuple(map(_Detail, names)) if when else names


# A table shows the measure, or the positives where it is the usual one.
def measure_and_sizes(*, is_usual: bool) -> tuple[str, ...]:
    measure, n_pos = details("measure", when=is_usual), details("n_pos", when=not is_usual)
    return (*measure, *details("n"), *n_pos)


class Table(ABC):
    """A result with rows per segment; of each verb a frozen dataclass of its options."""

    # Whether the number of dropped rows is a column where missing="drop".
    counts_dropped: ClassVar[bool] = True
    # Whether that number is not in what `of` returns: it is counted from the rows then.
    adds_dropped: ClassVar[bool] = False
    # Whether rows inside an engine are enough for it.
    runs_inside: ClassVar[bool] = False

    def only_in_polars(self) -> Mapping[str, bool]:
        """Return the options that do not run inside an engine, and whether they are given."""
        return {}

    @property
    @abstractmethod
    def outputs(self) -> Sequence[str]:
        """The columns after the keys, in order; some are marked as :func:`details`."""

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        return {name for name in self.outputs if isinstance(name, _Detail)}

    @property
    def within(self) -> str | None:
        """The key in each of whose values :attr:`of_all_rows` are computed by themselves."""
        return None

    @property
    def reserved(self) -> Sequence[str]:
        """Names that no key may have, beside those of the columns."""
        return ()

    @property
    def leading(self) -> Sequence[str]:
        """Those of the outputs that come before the keys."""
        return ()

    @abstractmethod
    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the internal keys and the columns of the table; any others are dropped later."""

    def keyed(self, rows: Rows) -> Rows:
        """Return rows with the keys that the table has, which may be fewer."""
        return rows

    def columns(self, missing: Missing, *, details: bool = True) -> list[str]:
        """Return the columns after the keys; ``n_dropped`` and the status come last."""
        counted = dropped(missing) if self.counts_dropped else ()
        outputs, hidden = self.outputs, () if details else self.hidden
        shown = [name for name in outputs if name not in (*counted, *hidden, "status")]
        status = ["status"] if "status" in outputs else []
        return [*shown, *counted, *status]

    def unlimited(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return a finished table without the limits of intervals."""
        limits = [name for name in self.outputs if name.removesuffix("_adjusted").endswith(_ENDS)]
        return table.drop(limits, strict=False)

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        """Those of the outputs that are computed from all rows of the result, by name."""
        return {}

    def computed(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that :meth:`of` has: shown, or needed by those of all rows."""
        of_all = self.of_all_rows
        needed = (name for value in of_all.values() for name in value.meta.root_names())
        return [name for name in dict.fromkeys([*columns, *needed]) if name not in of_all]

    def finished(self, rows: Rows, *, details: bool = True) -> pl.LazyFrame:
        columns, of_all = (
            self.columns(rows.columns.request.missing, details=details),
            self.of_all_rows,
        )
        found = self.computed(columns) if of_all else columns
        if rows.columns.groupings is None:
            table = self._finished(rows, found)
        else:
            table = self._of_groupings(rows, found)
        table = self._with_probabilities(table, rows)
        if not of_all:
            return table
        keys = [name for name in table.collect_schema() if name not in found]
        if self.within in keys:
            of_all = {name: value.over(self.within) for name, value in of_all.items()}
        return table.with_columns(**of_all).select(*map(named, keys), *columns)

    @property
    def measure_names(self) -> Sequence[str]:
        measured = getattr(self, "measured", None)
        return () if measured is None else (measured.name,)

    def _with_probabilities(self, table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        name = next((one for one in self.measure_names if one in OF_PROBABILITIES), None)
        if name is None:
            return table
        checks = [check_of(rule) for rule in probability_rules(rows.columns, pl.col, name)]
        return with_checks(table, rows.source, checks, in_memory=rows.in_memory)

    def _finished(self, rows: Rows, columns: Sequence[str]) -> pl.LazyFrame:
        found, keyed = self.of(rows), self.keyed(rows)
        if self.adds_dropped and rows.n_dropped is not None:
            found = left_join(found, keyed.dropped(), keyed.keys)
        table = keyed.finish(found, columns)
        return table.select(*self.leading, pl.exclude(self.leading)) if self.leading else table

    def _of_groupings(self, rows: Rows, columns: Sequence[str]) -> pl.LazyFrame:
        groupings, parts = rows.columns.groupings or (), rows.by_grouping()
        tables = [self._finished(part, columns) for part in parts]
        schemas = [table.collect_schema() for table in tables]
        dtypes = {name: schema[name] for schema in schemas for name in schema}
        keys = [name for name in rows.columns.result_keys if name in dtypes]
        others = [name for name in columns if name not in self.leading]
        return concat(
            [
                table.select(
                    pl.lit(grouping_name(names)).alias(GROUPING),
                    *self.leading,
                    *(_key(key, schema, dtypes[key]) for key in keys),
                    *others,
                )
                for names, table, schema in zip(groupings, tables, schemas, strict=True)
            ]
        )


def _key(name: str, schema: pl.Schema, dtype: pl.DataType) -> pl.Expr:
    return named(name) if name in schema else pl.lit(None, dtype=dtype).alias(name)
