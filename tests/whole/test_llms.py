"""The pages that are made from the code are those of the code, and short."""

import subprocess
import sys

from checkout import CHECKOUT, REFERENCE, in_checkout

MOST_BYTES = 30_000
MOST_LINES = 800


def assert_made(script):
    check = [sys.executable, CHECKOUT / ".ci" / script, "--check"]
    assert subprocess.run(check, check=False).returncode == 0, f"run .ci/{script}"  # noqa: S603


@in_checkout
def test_the_reference_is_that_of_the_code_and_short():
    assert_made("reference")
    assert len(REFERENCE.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@in_checkout
def test_pages_for_programs_are_those_of_the_code_and_short():
    assert_made("llms")
    pages = [CHECKOUT / "examples" / name for name in ("llms.txt", "llms-full.txt")]
    assert sum(page.stat().st_size for page in pages) < MOST_BYTES
