"""What self-play and matches share: the query of a select, and the message of a finished game."""

import json

import numpy as np

from asyncplay import games, payloads, rng
from asyncplay.games.spec import GameSpec, end_reason, outcome_of
from asyncplay.methods.selfplay.messages import Game
from asyncplay.search.examples import GameRows, PlayedGame
from asyncplay.search.group import Group, SelectedRows
from asyncplay.wire.messages import Ask


def load_game(name: str, options: str) -> GameSpec:
    return games.load(name, json.loads(options))


def unit_seed(run_seed: int, unit: int) -> int:
    """The seed of a unit's game, 63 bits: the whole game follows from it and from the network's answers."""
    return int(rng.stream(run_seed, unit)[0]) >> 1


def ask_for(
    rows: SelectedRows | payloads.Positions, ticket: int, *, model: int, thinking: int, spared: int = 0, extra: int
) -> Ask:
    """The rows of one select, or what is left of them, as one slot's query; valid until the group's next select."""
    return Ask(ticket, model, 1, thinking, rows.features, rows.legal, rows.offsets, spared, extra)


def tell(group: Group, record: PlayedGame, *, job: int, unit: int, with_rows: bool) -> Game:
    """A finished game as a message, with or without its training rows."""
    rows = group.examples(record if with_rows else record._replace(policy_ends=np.zeros_like(record.policy_ends)))
    return tell_rows(group.spec, record, rows, job=job, unit=unit)


def tell_rows(spec: GameSpec, record: PlayedGame, rows: GameRows, *, job: int, unit: int) -> Game:
    """A game and the rows that were made of it."""
    return Game(
        job=job,
        unit=unit,
        seed=record.seed,
        reason=end_reason(spec, len(record.actions)),
        returns=record.returns,
        outcome=outcome_of(spec, record.returns),
        actions=record.actions,
        decisions=rows.decisions,
        seats=rows.players.astype(np.int8),
        versions=record.versions[rows.decisions],
        features=rows.features,
        legal=rows.legal,
        offsets=rows.offsets,
        targets=rows.policy,
        values=rows.values,
    )
