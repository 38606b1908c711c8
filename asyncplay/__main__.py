"""``python -m asyncplay`` is the command ``asyncplay``."""

import sys

from asyncplay.cli import main

if __name__ == "__main__":
    sys.exit(main())
