"""Run folders that somebody has damaged or forged, one harm each, always the same ones in the same order."""

import hashlib
import json
import os
import random
import socket
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import numpy as safetensors_numpy

from asyncplay.data import checkpoint
from asyncplay.data.checkpoint import ARRAYS, MANIFEST, STATE
from asyncplay.data.schema import GAME_COLUMNS
from asyncplay.data.store import FILE, row_crc
from asyncplay.payloads import pack, unpack

EVIL = "\x1b[31mred\x1b[0m\nnext\r\x9b2J\u202e"
DEEP = "[" * 100_000
NUMBERS = (-1, 2**40, 2**62, 2**63 - 1, 9e999, "text", b"blob", EVIL, "")
VALUES = (None, -1, 2**70, 1e300, float("nan"), float("inf"), "text", EVIL, [], {}, [1, 2], {"a": 1}, True)


class Forgery(NamedTuple):
    """What was done to a run, and how to do it to a copy of one."""

    name: str
    is_tabular: bool  # to which of the two runs
    harm: Callable[[Path], None]


def forgeries(neural: Path, tabular: Path, n: int) -> list[Forgery]:
    """``n`` of all, drawn alike from every kind of harm, so that a few tell of all kinds."""
    dice, kinds = random.Random(1), []
    for run, is_tabular in ((neural, False), (tabular, True)):
        for kind in (_files, _nets, _weights, _states, _arrays, _manifests, _rows, _games, _schemas, _marks, _configs):
            found = [Forgery(f"{kind.__name__[1:]}: {name}", is_tabular, harm) for name, harm in kind(run)]
            dice.shuffle(found)
            kinds.append(found)
    drawn = [forgery for turn in range(max(map(len, kinds))) for kind in kinds for forgery in kind[turn : turn + 1]]
    assert len(drawn) >= n, f"there are {len(drawn)} forgeries"
    return drawn[:n]


Harms = Iterator[tuple[str, Callable[[Path], None]]]


def _files(run: Path) -> Harms:
    """Something else in the place of a file or a folder."""
    inside = [path.relative_to(run) for path in sorted(run.rglob("*"))]
    new = [Path(name) for name in (f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", "control.sock", "repair")]
    for place in [*inside, *new]:
        for what in (_pipe, _folder, _loop, _dangling, _zeros, _empty, _half, _noise, _flipped, _huge, _deaf, _gone):
            yield f"{place} {what.__name__[1:]}", lambda folder, place=place, what=what: what(folder / place)


def _clear(path: Path) -> bytes:
    """What was there."""
    data = path.read_bytes() if path.is_file() else b""
    checkpoint.disk.remove(path)
    return data


def _pipe(path: Path) -> None:
    _clear(path)
    os.mkfifo(path)


def _folder(path: Path) -> None:
    _clear(path)
    path.mkdir()


def _loop(path: Path) -> None:
    _clear(path)
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    _clear(path)
    path.symlink_to("nowhere")


def _zeros(path: Path) -> None:
    """A file that never ends."""
    _clear(path)
    path.symlink_to("/dev/zero")


def _empty(path: Path) -> None:
    _clear(path)
    path.touch()


def _half(path: Path) -> None:
    data = _clear(path)
    path.write_bytes(data[: len(data) // 2])


def _noise(path: Path) -> None:
    _clear(path)
    path.write_bytes(random.Random(2).randbytes(5000))


def _flipped(path: Path) -> None:
    data = bytearray(_clear(path) or b"\0")
    data[len(data) // 3] ^= 0x10
    path.write_bytes(data)


def _huge(path: Path) -> None:
    """All of it holes."""
    data = _clear(path)
    path.write_bytes(data)
    os.truncate(path, 1 << 41)


def _deaf(path: Path) -> None:
    """A socket at which nobody listens."""
    _clear(path)
    with closing(socket.socket(socket.AF_UNIX)) as ear:
        descriptor = os.open(path.parent, os.O_PATH)
        ear.bind(f"/proc/self/fd/{descriptor}/{path.name}")
        os.close(descriptor)


def _gone(path: Path) -> None:
    _clear(path)


def _texts(name: str, texts: Mapping[str, str]) -> Harms:
    for what, text in texts.items():
        yield f"{name} {what}", lambda folder, text=text: (folder / name).write_text(text)


def _nets(run: Path) -> Harms:
    if not (run / "net.json").exists():
        return
    facts = json.loads((run / "net.json").read_text())
    yield from _texts("net.json", {"deep": DEEP, "list": "[]", "null": "null", "none": "{}", "text": '"x"'})
    for key in facts:
        yield from _texts("net.json", {f"without {key}": json.dumps({k: v for k, v in facts.items() if k != key})})
        for value in VALUES:
            yield from _texts("net.json", {f"{key} {value!r}": json.dumps(facts | {key: value})})


def _harmed_arrays(arrays: Mapping[str, np.ndarray]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    yield "without arrays", {}
    yield "with another array", {**arrays, EVIL: np.zeros(3, np.float32)}
    for name, array in arrays.items():
        spoilt = np.array(array)
        if spoilt.dtype.kind == "f" and spoilt.size:
            spoilt.reshape(-1)[0] = np.nan
        kinds = {
            "longer": np.concatenate([array.reshape(-1)] * 2),
            "flat": array.reshape(1, -1),
            "scalar": np.zeros((), array.dtype),
            "none": np.zeros(0, array.dtype),
            "halves": array.astype(np.float16),
            "doubles": array.astype(np.int64),
            "spoilt": spoilt,
        }
        yield f"without {name}", {other: value for other, value in arrays.items() if other != name}
        for kind, value in kinds.items():
            yield f"{name} {kind}", {**arrays, name: value}


def _tensors() -> dict[str, bytes]:
    """Files that are nearly safetensors."""

    def file(header: object, data: bytes = b"") -> bytes:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data

    return {
        "bf16": file({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)),
        "f8": file({"a": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}, bytes(4)),
        "unknown kind": file({"a": {"dtype": "X9", "shape": [4], "data_offsets": [0, 4]}}, bytes(4)),
        "beyond": file({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 1 << 50]}}, bytes(4)),
        "vast shape": file({"a": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}}, bytes(4)),
        "negative": file({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}}, bytes(4)),
        "no header": (1 << 60).to_bytes(8, "little"),
        "deep header": file(DEEP.encode()),
        "list header": file([]),
        "short": b"\1\2",
    }


def _weights(run: Path) -> Harms:
    for place in sorted(path.relative_to(run) for path in run.glob("weights/*.safetensors")):
        arrays = safetensors_numpy.load((run / place).read_bytes())
        files = {name: safetensors_numpy.save(harmed) for name, harmed in _harmed_arrays(arrays)}
        for name, data in (files | _tensors()).items():
            yield f"{place} {name}", lambda folder, place=place, data=data: (folder / place).write_bytes(data)
    for name in ("x", "²", "99999999999999999999", "-1", EVIL.replace("/", ""), "000001.5"):
        yield f"a version called {name!r}", lambda folder, name=name: _another_version(folder, name)


def _another_version(folder: Path, name: str) -> None:
    (folder / "weights").mkdir(exist_ok=True)
    (folder / "weights" / f"{name}.safetensors").write_bytes(b"")


def _newest(folder: Path) -> Path:
    return folder / "checkpoints" / f"{checkpoint.numbers(folder / 'checkpoints')[-1]:06d}"


def _reseal(folder: Path, *, arrays: bytes | None = None, state: bytes | None = None) -> None:
    """Other files in all checkpoints, with digests that are right."""
    for number in checkpoint.numbers(folder / "checkpoints"):
        place = folder / "checkpoints" / f"{number:06d}"
        for name, data in ((ARRAYS, arrays), (STATE, state)):
            if data is not None:
                (place / name).write_bytes(data)
        files = {name: (place / name).read_bytes() for name in (ARRAYS, STATE)}
        listed = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in files.items()}
        (place / MANIFEST).write_bytes(checkpoint._manifest(listed, {}))


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in the state; of long tables of settings a few."""
    yield path
    if isinstance(value, dict):
        for key in list(value)[:12]:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from _leaves(value[0], (*path, 0))


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy


def _states(run: Path) -> Harms:
    state = json.loads((_newest(run) / STATE).read_text())
    for name, data in {"deep": DEEP.encode(), "no text": b"\xff\xfe", "nothing": b"", "list": b"[]"}.items():
        yield f"state {name}", lambda folder, data=data: _reseal(folder, state=data)
    for path in _leaves(state):
        for new in VALUES:
            data = json.dumps(_replaced(state, path, new)).encode()
            yield f"state {'.'.join(map(str, path))} {new!r}", lambda folder, data=data: _reseal(folder, state=data)
    if isinstance(state.get("learner"), str):
        facts = json.loads(state["learner"])
        for path in _leaves(facts):
            for new in VALUES:
                data = json.dumps(state | {"learner": json.dumps(_replaced(facts, path, new))}).encode()
                name = f"learner {'.'.join(map(str, path))} {new!r}"
                yield name, lambda folder, data=data: _reseal(folder, state=data)


def _arrays(run: Path) -> Harms:
    arrays = safetensors_numpy.load((_newest(run) / ARRAYS).read_bytes())
    files = {name: safetensors_numpy.save(harmed) for name, harmed in _harmed_arrays(arrays)}
    for name, data in (files | _tensors()).items():
        yield f"arrays {name}", lambda folder, data=data: _reseal(folder, arrays=data)


def _manifests(run: Path) -> Harms:
    listed = json.loads((_newest(run) / MANIFEST).read_text())["files"]
    others: list[Any] = [[], {}, "x", None, {ARRAYS: 1, STATE: 2}, {**listed, EVIL: [1, "x"]}]
    others += [{**listed, STATE: [size, "x"]} for size in (-1, 2**70, "1", None, float("nan"), [])]
    for number, other in enumerate(others):

        def harm(folder: Path, other: Any = other) -> None:
            (_newest(folder) / MANIFEST).write_bytes(checkpoint._manifest(other, {}))

        yield f"manifest {number}", harm


def _in_store(folder: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        for statement, values in statements:
            connection.execute(statement, values)


def _rows(run: Path) -> Harms:
    """Values that no run writes, in the first or the last row."""
    tables = {
        "meta": ("key", "value"),
        "versions": ("version", "time", "step", "games"),
        "events": ("number", "time", "kind", "text", "data"),
        "metrics": ("name", "time", "value"),
    }
    facts = ('{"score": "x"}', '{"score": NaN, "state": "done"}', '{"gain": [], "doubt": 1e999}', DEEP, "[]", "nothing")
    with closing(sqlite3.connect(run / FILE)) as connection:
        filled = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    for table, columns in tables.items():
        for column in columns if filled[table] else ():
            for value in (*NUMBERS, *(facts if column == "data" else ())):
                if column in ("version", "number") and not isinstance(value, int):
                    continue
                for order in ("ASC", "DESC"):
                    key = "key" if table == "meta" else "name" if table == "metrics" else columns[0]
                    rest = f"WHERE {key} = (SELECT {key} FROM {table} ORDER BY {key} {order} LIMIT 1)"
                    rest += f" AND time = (SELECT max(time) FROM {table})" if table == "metrics" else ""
                    order_of = (f"UPDATE OR REPLACE {table} SET {column} = ? {rest}", (value,))
                    name = f"{table}.{column} {value!r:.40} {order}"
                    yield name, lambda folder, order_of=order_of: _in_store(folder, order_of)
    for kind in ("arena", "trial"):
        for data in facts:
            insert = ("INSERT INTO events (time, kind, text, data) VALUES (1e9, ?, ?, ?)", (kind, EVIL, data))
            yield f"event {kind} {data:.40}", lambda folder, insert=insert: _in_store(folder, insert)


def forge_game(folder: Path, number: int, **columns: Any) -> None:
    """Change columns of a game, its checksum with them."""
    names = GAME_COLUMNS.split(", ")
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        row = dict(
            zip(
                names,
                connection.execute(f"SELECT {GAME_COLUMNS} FROM games WHERE number = ?", (number,)).fetchone(),
                strict=True,
            )
        )
        row |= columns
        try:
            row["crc"] = row_crc([row[name] for name in names[:-1]])
        except TypeError:
            row["crc"] = zlib.crc32(b"")
        connection.execute("DELETE FROM games WHERE number = ?", (number,))
        places = ", ".join("?" * len(names))
        connection.execute(
            f"INSERT OR REPLACE INTO games ({GAME_COLUMNS}) VALUES ({places})", [row[name] for name in names]
        )


def forged_records(folder: Path, number: int) -> dict[str, bytes]:
    """Records of right form that cannot be played again."""
    with closing(sqlite3.connect(folder / FILE)) as connection:
        (data,) = connection.execute("SELECT record FROM games WHERE number = ?", (number,)).fetchone()
    record = unpack(data)
    first = record.actions.copy()
    first[1] = first[0]
    return {
        "an action twice": pack(record._replace(actions=first)),
        "an action that is none": pack(record._replace(actions=record.actions + 100)),
        "too short": pack(record._replace(actions=record.actions[: record.decisions[-1] + 1])),
        "too long": pack(record._replace(actions=np.concatenate([record.actions, record.actions]))),
        "other seats": pack(record._replace(seats=1 - record.seats)),
        "policies beyond": pack(record._replace(policy_actions=record.policy_actions + 200)),
        "policies of NaN": pack(record._replace(policies=record.policies * np.nan)),
        "versions below 0": pack(record._replace(versions=record.versions - 10_000)),
    }


def _games(run: Path) -> Harms:
    with closing(sqlite3.connect(run / FILE)) as connection:
        (last,) = connection.execute("SELECT ifnull(max(number), 0) FROM games").fetchone()
    texts = (
        "[]",
        "[NaN, 1]",
        "[1e999, 0]",
        '["a", "b"]',
        "{}",
        "null",
        DEEP,
        f"[1{'0' * 400}, 0]",
        "[3.0, -3.0]",
        EVIL,
    )
    for number in (1, last // 2, last) if last else ():
        for column in GAME_COLUMNS.split(", ")[:-1]:
            for value in (*NUMBERS, *(texts if column in ("returns", "outcome", "reason") else ())):
                if column == "number" and not isinstance(value, int):
                    continue
                change = {column: value}
                name = f"game {number} {column} {value!r:.40}"
                yield name, lambda folder, number=number, change=change: forge_game(folder, number, **change)
        for name, record in forged_records(run, number).items():
            yield (
                f"game {number} {name}",
                lambda folder, number=number, record=record: forge_game(folder, number, record=record),
            )


def _schemas(run: Path) -> Harms:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i"
    statements = {
        "a view of games": ["DROP TABLE games", f"CREATE VIEW games AS {endless} AS number FROM n"],
        "a view of events": ["DROP TABLE events", f"CREATE VIEW events AS {endless} AS number, 1 AS time FROM n"],
        "a view of meta": ["DROP TABLE meta", f"CREATE VIEW meta AS {endless} AS key, i AS value FROM n"],
        "a trigger": ["CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END"],
        "a view more": [f"CREATE VIEW more AS {endless} FROM n"],
        "no games": ["DROP TABLE games"],
        "no events": ["DROP TABLE events"],
        "no versions": ["DROP TABLE versions"],
        "no metrics": ["DROP TABLE metrics"],
        "no meta": ["DROP TABLE meta"],
        "no facts": ["DELETE FROM meta"],
        "another game": ["UPDATE meta SET value = 'connect4' WHERE key = 'game'"],
        "a column more": ["ALTER TABLE games ADD COLUMN more"],
        "a column less": ["ALTER TABLE metrics RENAME COLUMN value TO worth"],
        "games of text": ["ALTER TABLE games RENAME TO old", "CREATE TABLE games AS SELECT * FROM old"],
        "a later version": ["PRAGMA user_version = 99"],
        "an earlier version": ["PRAGMA user_version = -1"],
        "another program": ["PRAGMA application_id = 1"],
        "a rollback journal": ["PRAGMA journal_mode = DELETE"],
        "UTF-16 and nothing else": ["PRAGMA journal_mode = DELETE"],
    }
    for name, orders in statements.items():
        yield name, lambda folder, orders=orders: _in_store(folder, *((order, ()) for order in orders))
    yield "no text", lambda folder: _in_store(folder, ("UPDATE events SET text = CAST(x'fffe' AS TEXT)", ()))
    yield "no words", lambda folder: _in_store(folder, ("UPDATE meta SET value = CAST(x'fffe' AS TEXT)", ()))


def _marks(run: Path) -> Harms:
    def line(*numbers: int) -> bytes:
        text = b" ".join(b"%019d" % number for number in numbers)
        return text + b" %08x\n" % zlib.crc32(text)

    lines = {
        "far ahead": line(2**61, 2**61, 2**61),
        "beyond": line(10**19 - 1, 10**19 - 1, 10**19 - 1),
        "below 0": line(-5, -5, -5),
        "far behind": line(0, 0, 0),
        "long": line(10**18, 5, 5) * 100_000,
        "digits": b"9" * 6000,
        "few": line(5),
        "many": line(*range(50)),
    }
    for name, data in lines.items():
        yield f"mark {name}", lambda folder, data=data: (folder / f"{FILE}-mark").write_bytes(data)


def _configs(run: Path) -> Harms:
    text = (run / "config.toml").read_text()
    texts = {
        "deep": f"a = {DEEP}",
        "digits": f"[train]\nseed = {'9' * 5000}",
        "no section": "game = 3",
        "nothing": "",
        "another game": text.replace('name = "tictactoe"', 'name = "connect4"').replace('"kuhn"', '"leduc"'),
        "no game": text.replace('name = "tictactoe"', 'name = "chess"').replace('"kuhn"', '"chess"'),
        "an evil game": text.replace('name = "tictactoe"', f"name = {json.dumps(EVIL)}"),
        "an evil key": f"{text}\n[{json.dumps(EVIL)}]\n{json.dumps(EVIL)} = {json.dumps(EVIL)}\n",
        "options": text.replace("options = {}", 'options = {"players" = 99, "a" = 1e999}'),
        "wider": text.replace("width = 16", "width = 17"),
        "deeper": text.replace("blocks = 1", "blocks = 3"),
        "another net": text.replace('kind = "mlp"', 'kind = "resnet"'),
        "another seed": text.replace("seed = 3", "seed = 4"),
        "another method": text.replace('method = "external"', 'method = "off"').replace(
            'method = "off"', 'method = "external"'
        ),
        "NaN": text.replace("learning_rate = ", "learning_rate = nan # "),
    }
    yield from _texts("config.toml", texts)
