"""Run folders with real games in their stores, played at random."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from finished import entry_of

from asyncplay import games, rng
from asyncplay.config.loading import dump
from asyncplay.config.sections import Config, GameSettings
from asyncplay.data.entries import EventEntry, GameEntry, MetricsEntry, Note, VersionEntry
from asyncplay.data.store import Store, open_store
from asyncplay.data.watermark import Watermark
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, end_reason, outcome_of
from asyncplay.payloads import Record
from asyncplay.search.layout import CHANCE_STREAM

START_S = 1_700_000_000.5


def random_game(spec: GameSpec, unit: int) -> GameEntry:
    """Every second decision is a row, with a policy of two entries at most; all of it follows from ``unit``."""
    random, stream = np.random.default_rng(unit), rng.stream(unit * 7, CHANCE_STREAM)
    state, legal, gains = spec.new_state(), np.empty(spec.max_legal, np.int32), np.empty(spec.players)
    kernels, room, actions, rows = spec.kernels, spec.new_room(), [], []
    while (player := kernels.to_move(spec.rules, state)) != GAME_OVER:
        if player == CHANCE_TURN:
            kernels.chance(spec.rules, state, stream)
            continue
        choices = legal[: kernels.legal(spec.rules, state, legal, room)].tolist()
        if len(actions) % 2 == unit % 2:
            rows.append((len(actions), player, choices[:2]))
        actions.append(int(random.choice(choices)))
        kernels.play(spec.rules, state, actions[-1], room)
    kernels.returns(spec.rules, state, gains)
    reason = end_reason(spec, state)
    record = _record(actions, rows, version=unit // 10)
    return entry_of(
        record,
        worker=unit % 3,
        time_s=START_S + 60 * unit,
        unit=unit,
        seed=unit * 7,
        reason=reason,
        returns=gains.copy(),
        outcome=outcome_of(spec, gains),
    )


def _record(actions: list[int], rows: list[tuple[int, int, list[int]]], version: int) -> Record:
    return Record(
        actions=np.array(actions, np.int32),
        decisions=np.array([decision for decision, _, _ in rows], np.int32),
        seats=np.array([player for _, player, _ in rows], np.int8),
        versions=np.full(len(rows), version, np.int32),
        counts=np.array([len(policy) for _, _, policy in rows], np.int32),
        policy_actions=np.array([action for _, _, policy in rows for action in policy], np.int32),
        policies=np.array([1 / len(policy) for _, _, policy in rows for _ in policy], np.float32),
    )


def notes() -> list[Note]:
    return [
        EventEntry(START_S, "start", "it began"),
        VersionEntry(1, START_S + 1, 25, 10),
        VersionEntry(2, START_S + 2, 50, 20),
        *(MetricsEntry(START_S + second, {"learn/policy_loss": 2.0 / (1 + second)}) for second in range(20)),
    ]


def make_run(folder: Path, units: Sequence[int], *, game: str = "tictactoe", commit: int = 10) -> Store:
    """A run folder whose store is still open; its log has not been copied back into the database."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(dump(Config(game=GameSettings(name=game))))
    spec = games.load(game)
    store = open_store(folder, {"game": game, "options": "{}", "seed": "0", "players": str(spec.players)})
    store.connection.execute("PRAGMA wal_autocheckpoint = 0")
    store.write([], notes())
    mark = Watermark(folder)
    entries = [random_game(spec, unit) for unit in units]
    for start in range(0, len(entries), commit):
        mark.write(store.write(entries[start : start + commit], []).kept)
    mark.close()
    return store
