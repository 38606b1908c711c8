"""What a worker can be, by the name a job gives it."""

from collections.abc import Callable, Mapping

from asyncplay.worker.core import Player


def _synthetic() -> Player:
    from asyncplay.worker.synthetic import SyntheticPlayer

    return SyntheticPlayer()


ROLES: Mapping[str, Callable[[], Player]] = {"synthetic": _synthetic}
