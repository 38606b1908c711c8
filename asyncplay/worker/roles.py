"""What a worker can be, by the name a job gives it. A role's module is imported when it is first needed."""

from collections.abc import Iterator, Mapping

from asyncplay.worker.core import MakePlayer, Player


def _synthetic(tickets: Iterator[int]) -> Player:
    from asyncplay.worker.synthetic import SyntheticPlayer

    return SyntheticPlayer(tickets)


def _selfplay(tickets: Iterator[int]) -> Player:
    from asyncplay.worker.selfplay import SelfPlayer

    return SelfPlayer(tickets)


def _traverse(tickets: Iterator[int]) -> Player:
    from asyncplay.worker.traverse import TraversePlayer

    return TraversePlayer(tickets)


def _match(tickets: Iterator[int]) -> Player:
    from asyncplay.worker.match import MatchPlayer

    return MatchPlayer(tickets)


def _rebuild(tickets: Iterator[int]) -> Player:
    from asyncplay.worker.rebuild import Rebuilder

    return Rebuilder(tickets)


ROLES: Mapping[str, MakePlayer] = {
    "synthetic": _synthetic,
    "selfplay": _selfplay,
    "match": _match,
    "rebuild": _rebuild,
    "traverse": _traverse,
}
