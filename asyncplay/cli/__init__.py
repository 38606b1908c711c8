"""The command line: a module for each command, put together in ``entry``."""

from asyncplay.cli.entry import main

__all__ = ["main"]
