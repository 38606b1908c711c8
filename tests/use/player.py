"""Commands one after another in one process, each with its status: ``player.py play RUN / play RUN --seat 1``."""

import sys

from asyncplay.cli import main

for words in " ".join(sys.argv[1:]).split(" / "):
    status = main(words.split())
    sys.stdout.write(f"ended with {status}\n")
    sys.stdout.flush()
