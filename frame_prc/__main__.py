"""``python -m frame_prc``: the command line, as ``frame-prc``."""

import sys

from frame_prc.cli import main

if __name__ == "__main__":
    sys.exit(main())
