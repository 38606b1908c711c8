"""Large arrays of a checkpoint: written piece by piece, mapped when read, and never believed half."""

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from asyncplay.data import checkpoint, large_arrays
from asyncplay.data.checkpoint import Checkpoint, Damaged
from asyncplay.solve import sha256

PIECE = 1 << 12


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(large_arrays, "LEAST_BYTES", 2 * PIECE)
    monkeypatch.setattr(large_arrays, "PIECE_BYTES", PIECE)


def snapshot(step: int = 0) -> Checkpoint:
    table = np.arange(step, step + 5 * PIECE // 4 + 3, dtype=np.float32)
    square = np.arange(4 * PIECE // 8, dtype=np.float64).reshape(-1, 2)
    return Checkpoint({"table": table, "square": square, "small": np.arange(5)}, {"step": step})


def test_large_and_small_arrays_come_back_to_the_bit_and_large_ones_are_mapped(tmp_path):
    checkpoint.save(tmp_path / "kept", snapshot(1))
    found, complaints = checkpoint.newest(tmp_path / "kept")
    assert complaints == []
    for name, array in snapshot(1).arrays.items():
        np.testing.assert_array_equal(found.snapshot.arrays[name], array, strict=True)
        assert isinstance(found.snapshot.arrays[name], np.memmap) == (name != "small")
        assert found.snapshot.arrays[name].flags.writeable
    listed = json.loads((tmp_path / "kept" / "000001" / "manifest.json").read_text())["large"]
    assert len(listed["table"]["sha256"]) == 6
    assert len(listed["square"]["sha256"]) == 4


def test_pieces_of_a_mapped_array_are_all_of_it_and_can_be_read_again(tmp_path):
    checkpoint.save(tmp_path / "kept", snapshot(1))
    found, _ = checkpoint.newest(tmp_path / "kept")
    table = found.snapshot.arrays["table"]
    for _ in range(2):
        pieces = list(large_arrays.blocks(table))
        assert [start for start, _ in pieces] == [n * PIECE // 4 for n in range(6)]
        np.testing.assert_array_equal(np.concatenate([piece for _, piece in pieces]), snapshot(1).arrays["table"])


def test_an_array_that_changes_while_it_is_written_is_saved_whole(tmp_path, monkeypatch):
    """Each piece is hashed and written as it was copied."""
    arrays = {"table": np.zeros(100 * PIECE, np.uint8)}
    digests_of = large_arrays.digests_of

    def changing(batch: bytes, piece_bytes: int) -> list[str]:
        arrays["table"][:] += 1
        return digests_of(batch, piece_bytes)

    monkeypatch.setattr(large_arrays, "digests_of", changing)
    checkpoint.save(tmp_path / "kept", Checkpoint(arrays, {}))
    monkeypatch.setattr(large_arrays, "digests_of", digests_of)
    found, complaints = checkpoint.newest(tmp_path / "kept")
    assert complaints == []
    assert len(set(found.snapshot.arrays["table"].tolist())) > 1


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3 * PIECE + 7] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "is not what was written": flip,
    "bytes, 20,492 were written": lambda path: path.write_bytes(path.read_bytes()[:-4]),
    "too many to be read": lambda path: path.write_bytes(path.read_bytes() + b"1"),
    "No such file": lambda path: path.unlink(),
    "is no regular file": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("words", DAMAGES)
def test_a_damaged_array_is_named_and_the_checkpoint_before_is_used(words, tmp_path):
    for step in (1, 2):
        checkpoint.save(tmp_path / "kept", snapshot(step))
    DAMAGES[words](tmp_path / "kept" / "000002" / "array-0")
    with pytest.raises(Damaged, match=words):
        checkpoint.load(tmp_path / "kept" / "000002")
    found, complaints = checkpoint.newest(tmp_path / "kept")
    assert len(complaints) == 1
    assert found.snapshot.state == {"step": 1}


@pytest.mark.parametrize(
    "facts",
    [
        {"dtype": "object"},
        {"shape": [-1]},
        {"shape": [0]},
        {"sha256": []},
        {"piece_bytes": 0},
        {"piece_bytes": 1 << 40},
        {"file": "../000001/array-0"},
        {"file": 3},
        {"shape": 1 << 60},
        {"shape": [1 << 62, 1 << 62]},
    ],
)
def test_a_manifest_that_lists_what_cannot_be_is_damage(facts, tmp_path):
    """Its own digest is right: whoever wrote it knew the format."""
    for step in (1, 2):
        checkpoint.save(tmp_path / "kept", snapshot(step))
    path = tmp_path / "kept" / "000002" / "manifest.json"
    known = json.loads(path.read_text())
    known["large"]["table"] |= facts
    path.write_bytes(checkpoint._manifest(known["files"], known["large"]))
    found, complaints = checkpoint.newest(tmp_path / "kept")
    if facts.get("file") != "../000001/array-0":  # only the name of a path counts: it is this checkpoint's own file
        assert len(complaints) == 1
        assert found.snapshot.state == {"step": 1}
    else:
        np.testing.assert_array_equal(found.snapshot.arrays["table"], snapshot(2).arrays["table"])


@pytest.mark.parametrize("n_bytes", [64, 4096])
def test_pieces_hashed_together_have_the_digests_of_sha_256(n_bytes):
    content = np.random.default_rng(0).integers(0, 256, sha256.LANES * n_bytes, np.uint8)
    wanted = [hashlib.sha256(piece).hexdigest() for piece in content.reshape(sha256.LANES, n_bytes)]
    assert sha256.hash_lanes(content.data) == wanted


def test_batches_that_are_not_whole_have_the_digests_of_sha_256_too():
    large_arrays.hash_by(sha256.hash_lanes)
    content = np.random.default_rng(1).integers(0, 256, sha256.LANES * 640, np.uint8).tobytes()
    for length in (1, 639, 640, 9 * 640 + 5, len(content) - 1, len(content)):
        pieces = [content[:length][start : start + 640] for start in range(0, length, 640)]
        assert large_arrays.digests_of(content[:length], 640) == [hashlib.sha256(piece).hexdigest() for piece in pieces]


SAVING = """
import sys
from pathlib import Path
import numpy as np
from asyncplay.data import checkpoint, large_arrays
large_arrays.LEAST_BYTES = 1 << 12
step = 0
while True:
    step += 1
    arrays = {"table": np.full(1 << 20, step, np.float32)}
    checkpoint.save(Path(sys.argv[1]), checkpoint.Checkpoint(arrays, {"step": step}))
    print(step, flush=True)
"""


@pytest.mark.process
def test_a_process_killed_while_it_saves_leaves_the_newest_whole_one(tmp_path):
    folder = tmp_path / "kept"
    for delay_s in (0.0, 0.003, 0.02):
        with subprocess.Popen(
            [sys.executable, "-c", SAVING, str(folder)], stdout=subprocess.PIPE, text=True
        ) as process:
            for _ in range(2):
                done = int(process.stdout.readline())
            time.sleep(delay_s)  # into the next save
            process.kill()
            done = max([done, *map(int, process.stdout.read().split())])
        found, complaints = checkpoint.newest(folder)
        assert complaints == []
        assert found.snapshot.state["step"] in (done, done + 1)
        assert set(found.snapshot.arrays["table"].tolist()) == {float(found.snapshot.state["step"])}
