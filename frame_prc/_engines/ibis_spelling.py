"""Ibis expressions that mean the same in every backend, from those that Narwhals makes."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from sqlite3 import OperationalError, sqlite_version
from typing import Any

import ibis
from ibis.expr import operations as ops

from frame_prc.exceptions import FrameError

# The largest finite float: what is beyond it is infinite.
_LARGEST = 1.7976931348623157e308
_SPARK = ("databricks", "pyspark")
_DIGITS = 32  # 1,024 numbers, as many as there may be thresholds


def spelled(table: Any) -> Any:
    backend = table.get_backend()
    divides_by_zero = backend.name == "sqlite"

    def has_operation(kind: Any) -> bool:
        # Of whether a number is infinite Ibis 12.0 writes FALSE there.
        writes_false = kind is ops.IsInf and backend.name in _SPARK
        return backend.has_operation(kind) and not writes_false

    def spell(node: Any, arguments: dict[str, Any] | None) -> Any:
        if arguments and isinstance(arguments.get("func"), ops.Cast):
            # A window is over a sum, and what is cast is the result.
            arguments = arguments | {"func": arguments["func"].arg}
        new = node.__recreate__(arguments) if arguments else node
        if type(new) in _LACKED:
            return new if has_operation(type(new)) else _LACKED[type(new)](new)
        if isinstance(new, ops.Comparison):
            return type(new)(_bare(new.left), _bare(new.right))
        if isinstance(new, ops.Divide) and not divides_by_zero:
            new = _or_null(new)
        return _SPELLINGS.get(type(new), lambda node: node)(new)

    new = table.op().replace(spell).to_expr()
    return _flat(new) if backend.name == "sqlite" else new


def numbers(name: str, count: int) -> Any:
    """Return the numbers from 0, of few literals and no list: SQLite takes many of neither."""
    if count <= _DIGITS:
        return _digits(name, count)
    both = _digits("high", -(-count // _DIGITS)).cross_join(_digits("low", _DIGITS))
    made = both.select((both.high * _DIGITS + both.low).name(name))
    return made.filter(made[name] < count)


def _flat(table: Any) -> Any:
    """Return a table of a query without nesting, of which the parser of SQLite takes little."""
    from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries  # noqa: PLC0415 - slow

    backend = table.get_backend()
    query = eliminate_subqueries(backend.compiler.to_sqlglot(table)).sql(backend.dialect)
    try:
        backend.raw_sql(f"EXPLAIN {query}").close()
    except OperationalError as error:
        raise FrameError(
            f"SQLite {sqlite_version} cannot take the query: {error}",
            "queries with less nesting",
            "let frame_prc.counts(...) run there, and pass what it returns, collected, to the verb",
        ) from error
    return backend.sql(query, schema=table.schema())


def _digits(name: str, count: int) -> Any:
    rows = [ibis.literal(number, "int64").name(name).as_table() for number in range(count)]
    return ibis.union(*rows) if len(rows) > 1 else rows[0]


# --- spellings ---------------------------------------------------------------------------------


def _double(node: Any) -> Any:
    """Return a number that is no decimal: a decimal would divide others to fewer digits."""
    is_float = node.dtype.is_floating() and node.value is not None and isfinite(node.value)
    return ops.Cast(node, node.dtype) if is_float else node


def _bare(node: Any) -> Any:
    """Return a number that is only compared, for brevity."""
    is_number = isinstance(node, ops.Cast) and isinstance(node.arg, ops.Literal)
    return node.arg if is_number and node.to == node.arg.dtype else node


def _chained(node: Any) -> Any:
    """Return one CASE for a CASE in the ELSE of another: SQLite's parser has little room."""
    rest, always = node.default, node.cases[0]
    if isinstance(always, ops.Literal) and always.value:
        return node.results[0]
    if not isinstance(rest, ops.SearchedCase):
        return node
    return ops.SearchedCase(node.cases + rest.cases, node.results + rest.results, rest.default)


def _whole(node: Any) -> Any:
    """Return integers for sums of integers, which PostgreSQL makes decimals, and DuckDB wider."""
    return ops.Cast(node, node.dtype) if node.dtype.is_integer() else node


def _cast(node: Any) -> Any:
    """Return a cast of Booleans by way of the only integers that PostgreSQL casts them to."""
    if node.arg.dtype.is_boolean() and node.to.is_integer():
        return ops.Cast(ops.Cast(node.arg, "int32"), node.to)
    return node


def _divide(node: Any) -> Any:
    """Return a quotient of floats: where a term is used twice, SQLGlot casts but one of them."""
    if node.left.dtype.is_integer():
        return ops.Divide(ops.Cast(node.left, "float64"), node.right)
    return node


def _or_null(node: Any) -> Any:
    """Return null for a quotient by zero, on which PostgreSQL fails even if it is not used."""
    is_number = isinstance(node.right, (ops.Literal, ops.Cast)) and not node.right.relations
    return node if is_number else ops.Divide(node.left, ops.NullIf(node.right, 0))


_LACKED: dict[Any, Callable[[Any], Any]] = {
    # A backend that cannot ask has no NaN.
    ops.IsNan: lambda _: ops.Literal(value=False, dtype="boolean"),
    ops.IsInf: lambda node: ops.Greater(ops.Abs(node.arg), _LARGEST),
}
_SPELLINGS: dict[Any, Callable[[Any], Any]] = {
    ops.Cast: _cast,
    ops.Divide: _divide,
    ops.Literal: _double,
    ops.SearchedCase: _chained,
    ops.Sum: _whole,
    ops.WindowFunction: _whole,
}
