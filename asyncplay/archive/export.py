"""Games as arrays for other programs: one NPZ file, or Parquet with a row for each game."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from asyncplay.archive.verify import Progress
from asyncplay.data.reader import GameFilter, StoredGame, count_games, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array
from asyncplay.records import Record, RecordDamaged, unpack
from asyncplay.rundir.layout import refuse_own

Format = Literal["npz", "parquet"]
GROUP_GAMES = 10_000  # of a row group of Parquet

Games = Iterator[StoredGame]


def export(folder: Path, target: Path, choice: GameFilter, progress: Progress, file_format: Format) -> int:
    """Write the chosen games and return how many; a file that is not whole never has the target's name."""
    refuse_own(target, folder)
    write = {"npz": write_npz, "parquet": write_parquet}[file_format]
    with reading(folder) as connection:
        total = count_games(connection, choice)
        if total == 0:
            raise AsyncplayError(f"{folder} has no such games; `asyncplay data {folder} stats` says what it has")
        with _draft(target) as draft:
            write(draft, _counted(read_games(connection, choice), total, progress))
    return total


def write_npz(file: IO[bytes], games: Games) -> None:
    """All arrays are columns over games, rows or entries; docs/schema.md says how they hang together."""
    rows: list[StoredGame] = []
    records: list[Record] = []
    for game in games:
        rows.append(game._replace(record=b""))
        records.append(_record(game))
    columns: dict[str, Any] = {**_game_columns(rows), **_record_columns(records)}
    np.savez(file, **columns)


def write_parquet(file: IO[bytes], games: Games) -> None:
    pa, parquet = _pyarrow()
    writer = None
    try:
        while group := list(islice(games, GROUP_GAMES)):
            table = pa.Table.from_pylist([_as_row(game) for game in group], schema=_arrow_schema(pa))
            writer = writer or parquet.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise AsyncplayError("Parquet needs pyarrow: pip install 'asyncplay[parquet]', or --format npz") from None
    return pyarrow, parquet


@contextmanager
def _draft(target: Path) -> Iterator[IO[bytes]]:
    """A new file that takes the target's place at the end, whatever lay under the draft's name before."""
    draft = target.with_name(f"{target.name}.part")
    try:
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            yield file
        os.replace(draft, target)
    except OSError as error:
        raise AsyncplayError(f"--out {target}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()


def _counted(games: Iterable[StoredGame], total: int, progress: Progress) -> Games:
    for done, game in enumerate(games):
        progress(done, total)
        yield game
    progress(total, total)


def _record(game: StoredGame) -> Record:
    try:
        if game.flaw is None:
            return unpack(game.record)
    except RecordDamaged:
        pass
    raise AsyncplayError(f"game {game.number} is damaged; `asyncplay data RUN verify --repair` saves the others")


def _game_columns(games: list[StoredGame]) -> dict[str, Array]:
    """One entry a game; returns and outcomes are float[n, P], not-a-number beyond a game's seats."""
    names = ("number", "unit", "time_s", "worker", "seed", "seats", "length", "first_row")
    columns: dict[str, Array] = {name: np.array([getattr(game, name) for game in games]) for name in names}
    seats = int(columns["seats"].max())
    return {
        **columns,
        "reason": np.array([game.reason for game in games]),
        "returns": np.array([_padded(game.returns, seats) for game in games]),
        "outcome": np.array([_padded(game.outcome, seats) for game in games], np.float32),
    }


def _padded(numbers: str, length: int) -> list[float]:
    values: list[float] = json.loads(numbers)
    return values + [np.nan] * (length - len(values))


def _record_columns(records: list[Record]) -> dict[str, Array]:
    """Everything of the records, one game after another, with offsets: game i owns the actions from
    ``action_offsets[i]`` to ``action_offsets[i + 1]``, likewise its rows; row j its policy entries."""

    def joined(pick: Callable[[Record], Array]) -> Array:
        return np.concatenate([pick(record) for record in records])

    return {
        "action_offsets": _offsets([len(record.actions) for record in records]),
        "actions": joined(lambda record: record.actions),
        "row_offsets": _offsets([len(record.decisions) for record in records]),
        "row_decisions": joined(lambda record: record.decisions),
        "row_seats": joined(lambda record: record.seats),
        "row_versions": joined(lambda record: record.versions),
        "policy_offsets": _offsets(joined(lambda record: record.counts)),
        "policy_actions": joined(lambda record: record.policy_actions),
        "policies": joined(lambda record: record.policies),
    }


def _offsets(counts: Array | list[int]) -> Array:
    """Where parts of these lengths begin and end; a run may have more than 2^31 entries."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def _as_row(game: StoredGame) -> dict[str, Any]:
    record = _record(game)
    return {
        **{name: getattr(game, name) for name in ("number", "unit", "time_s", "worker", "seed", "seats", "length")},
        "reason": game.reason,
        "returns": json.loads(game.returns),
        "outcome": json.loads(game.outcome),
        "actions": record.actions,
        "row_decisions": record.decisions,
        "row_seats": record.seats,
        "row_versions": record.versions,
        "policy_counts": record.counts,
        "policy_actions": record.policy_actions,
        "policies": record.policies,
    }


def _arrow_schema(pa: Any) -> Any:
    numbers = {name: pa.int64() for name in ("number", "unit", "worker", "seed", "seats", "length")}
    lists = {
        "returns": pa.float64(),
        "outcome": pa.float32(),
        "actions": pa.int32(),
        "row_decisions": pa.int32(),
        "row_seats": pa.int8(),
        "row_versions": pa.int32(),
        "policy_counts": pa.int32(),
        "policy_actions": pa.int32(),
        "policies": pa.float32(),
    }
    types = {**numbers, "time_s": pa.float64(), "reason": pa.string()}
    return pa.schema([*types.items(), *((name, pa.list_(kind)) for name, kind in lists.items())])
