"""Files written atomically."""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from frame_prc.exceptions import FileError, OptionError, type_name

_TRIES = 20
_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_write(*paths: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Yield temporary paths to write to, and move the files to ``paths`` at the end.

    Existing files are replaced only on success. The temporary paths have the same suffix, by which
    writers choose a format, and a file that is replaced keeps its mode. A pipe or a device, such as
    ``/dev/stdout``, is written to directly.
    """
    targets = [_target(path) for path in paths]
    parts = {target: _part(target) for target in targets if _is_regular(target)}
    _UNFINISHED.update(parts.values())
    replaced: list[str] = []
    try:
        for target, part in parts.items():
            part.touch(exist_ok=False)
            if target.exists():
                shutil.copymode(target, part)
        yield [parts.get(target, target) for target in targets]
        for part in parts.values():
            with part.open("rb") as written:
                os.fsync(written.fileno())
        for target, part in parts.items():
            part.replace(target)
            replaced.append(os.fspath(target))
    except FileError:
        raise
    except OSError as error:
        named = os.fspath(paths[len(replaced)])
        done = f"only {', '.join(map(repr, replaced))} has changed"
        raise FileError(
            f"{named!r} cannot be written: {error.strerror or error}",
            hint=done if replaced else "nothing was changed there; try another folder",
        ) from error
    finally:
        for part in parts.values():
            _discard(part)


@contextmanager
def scratch_folder(beside: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield a folder for files that are needed in between, and remove it at the end."""
    place = None if beside is None else _target(beside).parent
    folder = Path(mkdtemp(prefix=".frame-prc-", suffix=".part", dir=place))
    _UNFINISHED.add(folder)
    try:
        yield folder
    finally:
        _remove_folder(folder)
    # After an error it stays among the unfinished: a thread may still write there.
    _UNFINISHED.discard(folder)


def discard_unfinished() -> None:
    """Remove unfinished files of threads that nobody waits for."""
    for part in list(_UNFINISHED):
        _discard(part)


def path_of(path: Any, suffixes: Sequence[str], allowed: str, example: str) -> Path:
    """Return the path of a file to write, or raise an error if it has none of some suffixes."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise OptionError(f"path= is of type {type_name(path)}", "the path of a file, as text")
    given = Path(os.fspath(path))
    if given.suffix.lower() not in suffixes:
        found = f"the suffix {given.suffix!r}" if given.suffix else "no suffix"
        raise FileError(
            f"path= {os.fspath(path)!r} has {found}",
            allowed,
            f"the path comes before the columns: {example}",
            shell_hint=None,
        )
    return given


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if a path cannot be written to, before anything is computed."""
    try:
        os.fspath(path).encode()
        target = _target(path)
        target.exists()
    except FileError:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links
        raise FileError(
            f"{os.fspath(path)!r} cannot be a file: {getattr(error, 'strerror', None) or error}",
            hint="another name",
        ) from error
    # A regular file is replaced by one written to its folder; a pipe or device is opened itself.
    needed = [target] if target.exists() else []
    needed += [target.parent] if _is_regular(target) else []
    if not all(os.access(place, os.W_OK) for place in needed):
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: permission denied",
            hint="a folder where you may write",
        )


def _is_regular(target: Path) -> bool:
    return target.is_file() or not target.exists()


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path).resolve()
    if target.is_symlink():  # a loop, at which resolve() raises itself before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.is_dir():
        raise FileError(f"{os.fspath(path)!r} is a folder", "the path of a file")
    if not target.parent.is_dir():
        folder = os.fspath(target.parent)
        of_home = Path(path).parts[0].startswith("~")
        raise FileError(
            f"{os.fspath(path)!r} cannot be written: the folder {folder!r} does not exist",
            "a file in a folder that exists",
            "~ is not expanded: os.path.expanduser(path)"
            if of_home
            else f"mkdir -p {shlex.quote(folder)}",
        )
    return target


def _part(target: Path) -> Path:
    """Return a name beside the target that no other process or thread uses, and a short one."""
    # By chance, since the same process id may be at work in the same folder from another machine.
    return target.with_name(f".frame-prc-{secrets.token_hex(8)}.part{target.suffix}")


def _discard(part: Path) -> None:
    if part.is_dir():
        _remove_folder(part)
    else:
        part.unlink(missing_ok=True)
    _UNFINISHED.discard(part)


def _remove_folder(folder: Path) -> None:
    """Remove a folder in which a thread that nobody waits for may still make files."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
