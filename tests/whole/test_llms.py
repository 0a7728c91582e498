"""The pages for programs that read documentation are made from the code, and short."""

import subprocess
import sys

from checkout import CHECKOUT, in_checkout

MOST_BYTES = 30_000


@in_checkout
def test_pages_for_programs_are_those_of_the_code_and_short():
    check = [sys.executable, CHECKOUT / ".ci" / "llms", "--check"]
    assert subprocess.run(check, check=False).returncode == 0, "run .ci/llms"  # noqa: S603
    pages = [CHECKOUT / "examples" / name for name in ("llms.txt", "llms-full.txt")]
    assert sum(page.stat().st_size for page in pages) < MOST_BYTES
