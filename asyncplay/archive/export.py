"""Games as arrays for other programs: one NPZ file, or Parquet with an entry for each game."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from asyncplay.archive.progress import Progress, counted
from asyncplay.data.reader import GameFilter, StoredGame, count_games, count_reasons, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Array, Record, RecordDamaged, unpack
from asyncplay.rundir.layout import refuse_own

Format = Literal["npz", "parquet"]
GROUP_GAMES = 10_000  # of a row group of Parquet
RECORD_COLUMNS = {
    "actions": ("actions", np.int32),
    "row_decisions": ("decisions", np.int32),
    "row_seats": ("seats", np.int8),
    "row_versions": ("versions", np.int32),
    "policy_counts": ("counts", np.int32),
    "policy_actions": ("policy_actions", np.int32),
    "policies": ("policies", np.float32),
}
"""Columns of Parquet: the field of the record, and the type of an element."""


def export(folder: Path, target: Path, choice: GameFilter, progress: Progress, file_format: Format) -> int:
    """Write the chosen games and return how many; a file that is not whole never has the target's name."""
    refuse_own(target, folder)
    write = {"npz": write_npz, "parquet": write_parquet}[file_format]
    draft = target.with_name(f"{target.name}.part")
    with reading(folder) as connection:
        ends = sorted(count_reasons(connection))
        if choice.reason is not None and choice.reason not in ends:
            raise AsyncplayError(f"--reason is {choice.reason}, the games of {folder} ended by {' or '.join(ends)}")
        total = count_games(connection, choice)
        if total == 0:
            raise AsyncplayError(f"{folder} has no such games; `asyncplay data {folder} stats` says what it has")
        try:
            draft.unlink(missing_ok=True)
            with draft.open("xb") as file:
                write(file, counted(read_games(connection, choice), total, progress))
            os.replace(draft, target)
        except OSError as error:
            raise AsyncplayError(f"--out {target}: cannot be written: {error.strerror}") from None
        finally:
            with suppress(OSError):
                draft.unlink()
    return total


def write_npz(file: IO[bytes], games: Iterator[StoredGame]) -> None:
    """All arrays are columns over games, examples or policy entries; docs/schema.md relates them.

    Returns and outcomes are float[n, P], not-a-number beyond a game's seats. Records lie one behind another: game i
    owns the actions from ``action_offsets[i]`` to ``action_offsets[i + 1]``, likewise its examples, and example j its
    policy entries.
    """
    stored, records = list[StoredGame](), list[Record]()
    for game in games:
        stored.append(game._replace(record=b""))
        records.append(_record(game))
    names = ("number", "unit", "time_s", "worker", "seed", "seats", "length", "first_row")
    columns: dict[str, Any] = {name: np.array([getattr(game, name) for game in stored]) for name in names}
    seats = int(columns["seats"].max())
    joined = Record(*(np.concatenate(arrays) for arrays in zip(*records, strict=True)))
    columns |= {
        "reason": np.array([game.reason for game in stored]),
        "returns": np.array([_padded(game.returns, seats) for game in stored]),
        "outcome": np.array([_padded(game.outcome, seats) for game in stored], np.float32),
        "action_offsets": _offsets([len(record.actions) for record in records]),
        "actions": joined.actions,
        "row_offsets": _offsets([len(record.decisions) for record in records]),
        "row_decisions": joined.decisions,
        "row_seats": joined.seats,
        "row_versions": joined.versions,
        "policy_offsets": _offsets(joined.counts),
        "policy_actions": joined.policy_actions,
        "policies": joined.policies,
    }
    np.savez(file, **columns)


def write_parquet(file: IO[bytes], games: Iterator[StoredGame]) -> None:
    """One entry for each game, its arrays as lists."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise AsyncplayError("Parquet needs pyarrow: pip install 'asyncplay[parquet]', or --format npz") from None
    whole = dict.fromkeys(("number", "unit", "worker", "seed", "seats", "length"), pa.int64())
    plain = whole | {"time_s": pa.float64(), "reason": pa.string()}
    lists = {"returns": pa.float64(), "outcome": pa.float32()}
    lists |= {name: pa.from_numpy_dtype(dtype) for name, (_, dtype) in RECORD_COLUMNS.items()}
    schema = pa.schema([*plain.items(), *((name, pa.list_(kind)) for name, kind in lists.items())])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(games, GROUP_GAMES)):
            records = [_record(game) for game in group]
            columns: dict[str, list[Any]] = {name: [getattr(game, name) for game in group] for name in plain}
            columns["returns"] = [json.loads(game.returns) for game in group]
            columns["outcome"] = [json.loads(game.outcome) for game in group]
            for name, (field, _) in RECORD_COLUMNS.items():
                columns[name] = [getattr(record, field) for record in records]
            writer.write_table(pa.Table.from_pydict(columns, schema=schema))


def _record(game: StoredGame) -> Record:
    try:
        if game.flaw is None:
            return unpack(game.record)
    except RecordDamaged:
        pass
    raise AsyncplayError(f"game {game.number} is damaged; `asyncplay data RUN verify --repair` saves the others")


def _padded(numbers: str, length: int) -> list[float]:
    values: list[float] = json.loads(numbers)
    return values + [np.nan] * (length - len(values))


def _offsets(counts: Array | list[int]) -> Array:
    """Where parts of these lengths begin and end; a run may have more than 2^31 entries."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
