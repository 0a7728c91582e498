"""A PostgreSQL server for one run of the tests: on a socket of its own, ended at exit."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import optional

_INSTALLED = Path("/usr/lib/postgresql")
# A server that is thrown away need not survive a crash, and hears no network.
_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "listen_addresses": "''"}


@cache
def postgres_socket() -> str:
    """Return the folder of the server's socket; skip the test without PostgreSQL's programs."""
    initdb, pg_ctl = (_program(name) for name in ("initdb", "pg_ctl"))
    folder = Path(tempfile.mkdtemp(prefix="frame_prc_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if os.getuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres")
    data = folder / "data"
    _run(initdb, "--pgdata", data, "--auth=trust", "--username=tests", "--encoding=UTF8", "-N")
    settings = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
    options = f"{settings} -k {folder}"
    _run(pg_ctl, "--pgdata", data, "--log", folder / "log", "-w", "-o", options, "start")
    atexit.register(_run, pg_ctl, "--pgdata", data, "-m", "immediate", "stop")
    return str(folder)


def _program(name: str) -> str:
    versions = sorted(_INSTALLED.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = None if optional.is_left_out("PostgreSQL") else shutil.which(name)
    if found is None and versions and not optional.is_left_out("PostgreSQL"):
        found = str(versions[-1])
    return found or optional.missing("PostgreSQL is not installed")


def _run(*command: str | Path) -> None:
    user = pwd.getpwnam("postgres").pw_name if os.getuid() == 0 else None
    subprocess.run(  # noqa: S603
        command, user=user, cwd="/", check=True, stdout=subprocess.DEVNULL, timeout=60
    )
