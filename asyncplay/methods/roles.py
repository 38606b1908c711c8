"""What a worker can be, by the name a job gives it. A role's module is imported when it is first needed."""

import socket
from collections.abc import Iterator, Mapping

import asyncplay.methods.buckets.messages
import asyncplay.methods.mccfr.messages
import asyncplay.methods.population.messages
import asyncplay.methods.selfplay.messages
import asyncplay.methods.synthetic.messages  # noqa: F401  # both ends know the messages of all methods
from asyncplay.worker.core import MakePlayer, Player
from asyncplay.worker.main import run


def _synthetic(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.synthetic.worker import SyntheticPlayer

    return SyntheticPlayer(tickets)


def _selfplay(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.selfplay.worker import SelfPlayer

    return SelfPlayer(tickets)


def _traverse(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.mccfr.worker import TraversePlayer

    return TraversePlayer(tickets)


def _match(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.selfplay.worker_match import MatchPlayer

    return MatchPlayer(tickets)


def _rebuild(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.selfplay.worker_refill import Rebuilder

    return Rebuilder(tickets)


def _boards(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.buckets.worker import BoardsPlayer

    return BoardsPlayer(tickets)


def _act(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.population.worker import Actor

    return Actor(tickets)


def _redo(tickets: Iterator[int]) -> Player:
    from asyncplay.methods.population.worker_refill import Redoer

    return Redoer(tickets)


ROLES: Mapping[str, MakePlayer] = {
    "synthetic": _synthetic,
    "selfplay": _selfplay,
    "match": _match,
    "rebuild": _rebuild,
    "traverse": _traverse,
    "boards": _boards,
    "act": _act,
    "greedy": _act,
    "redo": _redo,
}


def be_worker(number: int, data: socket.socket, control: socket.socket) -> None:
    """The main function of a worker's process."""
    run(ROLES, number, data, control)
