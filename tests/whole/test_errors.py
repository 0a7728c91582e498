"""The catalogue of errors: what is said, when it is said, and of what kind an error is."""

from __future__ import annotations

import ast
import copy
import pickle
from importlib import resources
from pathlib import Path

import polars as pl
import pytest
from error_cases import (
    AT_COLLECT,
    AT_THE_CALL,
    ROWS,
    Case,
    ask,
    error_on,
    every_case,
    every_verb,
    unreadable,
)
from kinds import KINDS, every_kind

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError, PrcError

CASES = [*AT_THE_CALL, *AT_COLLECT]


def assert_says(error: PrcError, case: Case) -> None:
    text, found = str(error), 0
    for fragment in case.says:
        found = text.find(fragment, found)
        assert found >= 0, f"{fragment!r} is not, or not in this place, in: {text}"


# --- what is said, and when --------------------------------------------------------------------


@every_case(AT_THE_CALL)
def test_what_the_schema_shows_is_said_before_a_row_is_read(case):
    with pytest.raises(case.error):
        case.ask(unreadable(case.rows()))


@every_case(AT_COLLECT)
def test_what_only_values_show_is_not_looked_for_at_the_call(case):
    assert isinstance(case.ask(unreadable(case.rows())), pl.LazyFrame)


@every_case(CASES)
def test_an_error_says_what_it_should_alike_on_every_kind(case):
    first, *others = (error_on(kind, case) for kind in KINDS)
    assert type(first) is case.error
    assert_says(first, case)
    assert {str(error) for error in others} <= {str(first)}


@every_case([AT_THE_CALL[0], AT_COLLECT[0]])
@every_verb
@every_kind
def test_every_verb_checks_its_columns(case, verb, kind):
    with pytest.raises(case.error, match="truth="):
        kind.rows(ask(verb, kind.make(ROWS), case.asked["truth"], "score"))


# --- errors as objects -------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ColumnError, DataError, FrameError, OptionError])
def test_errors_are_one_family_of_value_errors(error):
    assert issubclass(error, PrcError)
    assert issubclass(error, ValueError)


@every_case([AT_THE_CALL[0], AT_THE_CALL[-1], AT_COLLECT[0], AT_COLLECT[2]])
def test_pickled_error_comes_back_as_it_was(case):
    error = error_on(KINDS[0], case)
    assert (type(unpickled(error)), str(unpickled(error))) == (type(error), str(error))


def unpickled(error: PrcError) -> PrcError:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled in the same line


def parts(error: PrcError) -> tuple[object, ...]:
    return type(error), str(error), repr(error), *vars(error).items()


@pytest.mark.parametrize("kind", [PrcError, *PrcError.__subclasses__()])
@pytest.mark.parametrize("hints", [{}, {"hint": "h"}, {"hint": "h", "shell_hint": None}], ids=str)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, unpickled])
def test_errors_keep_their_parts(kind, hints, copied):
    error = kind("a is b", "c", **hints)
    error.__cause__ = KeyError("a")
    assert parts(copied(error)) == parts(error)
    assert (error.what, error.allowed, error.hint) == ("a is b", "c", hints.get("hint"))
    assert error.shell_hint == (None if "shell_hint" in hints else error.hint)
    text = "a is b. Allowed: c." + (" Hint: h." if hints else "")
    assert (str(error), repr(error)) == (text, f"{kind.__name__}({text!r})")


def test_a_part_that_ends_with_a_mark_gets_no_other():
    assert str(PrcError("a is b.", hint="is it c?")) == "a is b. Hint: is it c?"
    assert str(PrcError("a is b")) == "a is b."


# --- every error -------------------------------------------------------------------------------


FAMILY = {error.__name__ for error in (PrcError, *PrcError.__subclasses__())}


def made_in(path: Path) -> list[ast.Call]:
    """Return the places where a file makes an error of the package."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [call for call in calls if getattr(call.func, "id", None) in FAMILY]


def test_every_error_says_what_is_allowed_or_what_to_do():
    package = Path(str(resources.files(frame_prc)))
    made = [call for path in sorted(package.rglob("*.py")) for call in made_in(path)]
    assert len(made) > 100
    for call in made:
        says = [*call.args[1:], *(k.value for k in call.keywords if k.arg in {"allowed", "hint"})]
        # Another error of ours is passed on, whole, with the name of the file it came from.
        assert says or ast.unparse(call).endswith("{error}')"), ast.unparse(call)
