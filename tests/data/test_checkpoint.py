"""Checkpoints: what was saved comes back to the bit, what was damaged is named and never believed."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asyncplay.config.sections import CheckpointSettings
from asyncplay.data import checkpoint
from asyncplay.data import files as disk
from asyncplay.data.checkpoint import Checkpoint, Damaged

ARRAYS = {
    "weight/a": np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4),
    "table": np.arange(5, dtype=np.float64),
    "rows": np.array([2**63], np.uint64),
    "scalar": np.array(7, np.int64),
    "nothing": np.empty((0, 3), np.uint8),
}
STATE = {"steps": 12, "random": np.random.default_rng(3).bit_generator.state, "loss": 0.1, "name": "söme"}


def snapshot(step: int = 0) -> Checkpoint:
    return Checkpoint(ARRAYS, STATE | {"steps": step})


def assert_equal(found: Checkpoint, wanted: Checkpoint) -> None:
    assert dict(found.state) == dict(wanted.state)
    assert found.arrays.keys() == wanted.arrays.keys()
    for name, array in wanted.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    for step in (1, 2):
        checkpoint.save(folder, snapshot(step))
    return folder


@pytest.fixture(scope="module")
def victim(pristine):
    """A copy to be damaged; whoever damages it lays it out anew."""
    return pristine.parent / "victim"


def lay_out(pristine, victim):
    shutil.rmtree(victim, ignore_errors=True)
    shutil.copytree(pristine, victim)
    return victim


def test_what_was_saved_comes_back_to_the_bit(tmp_path):
    assert checkpoint.save(tmp_path / "checkpoints", snapshot(5)) == 1

    found, complaints = checkpoint.newest(tmp_path / "checkpoints")

    assert complaints == []
    assert found is not None
    assert found.number == 1
    assert_equal(found.snapshot, snapshot(5))
    assert found.snapshot.arrays["table"].flags.writeable


def test_an_array_that_is_a_view_is_saved_as_it_looks(tmp_path):
    turned = np.arange(6, dtype=np.float32).reshape(2, 3).T
    checkpoint.save(tmp_path, Checkpoint({"turned": turned}, {}))
    np.testing.assert_array_equal(checkpoint.load(tmp_path / "000001").arrays["turned"], turned)


def test_a_folder_without_checkpoints_has_none(tmp_path):
    assert checkpoint.newest(tmp_path / "nowhere") == (None, [])


def test_the_last_three_and_every_fourth_stay(tmp_path):
    for step in range(1, 11):
        assert checkpoint.save(tmp_path, snapshot(step), CheckpointSettings(keep_last=3, keep_every=4)) == step
    assert checkpoint.numbers(tmp_path) == [4, 8, 9, 10]
    assert {path.name for path in tmp_path.iterdir()} == {"000004", "000008", "000009", "000010"}


def test_everything_is_synced_before_the_name_and_the_name_before_anything_is_let_go(tmp_path, monkeypatch):
    """Whatever moment the power fails at, the newest checkpoint that has a name has all its bytes."""
    checkpoint.save(tmp_path, snapshot(1))
    events, sync, rename = [], os.fsync, Path.rename

    def fsync(descriptor):
        sync(descriptor)
        status = os.fstat(descriptor)
        paths = [path for path in (tmp_path, *tmp_path.rglob("*")) if os.path.samestat(path.stat(), status)]
        events.append(("sync", str(paths[0].relative_to(tmp_path)), status.st_size if paths[0].is_file() else None))

    def renamed(path, target):
        events.append(("rename", path.name, target.name))
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", renamed)
    checkpoint.save(tmp_path, snapshot(2), CheckpointSettings(keep_last=1))

    files = [("sync", f"draft/{path.name}", path.stat().st_size) for path in (tmp_path / "000002").iterdir()]
    assert len(files) == 3
    assert set(events[:3]) == set(files)
    assert events[3:] == [
        ("sync", "draft", None),
        ("rename", "draft", "000002"),
        ("sync", ".", None),
        ("rename", "000001", "discarded"),
    ]


def test_the_folder_of_the_first_checkpoint_has_a_name_that_lasts(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(disk, "sync", synced.append)
    for step in range(1, 3):
        checkpoint.save(tmp_path / "checkpoints", snapshot(step))
    assert synced.count(tmp_path) == 1
    assert synced[0] == tmp_path


def test_keeping_one_keeps_the_newest(tmp_path):
    for step in range(1, 4):
        checkpoint.save(tmp_path, snapshot(step), CheckpointSettings(keep_last=1))
    assert checkpoint.numbers(tmp_path) == [3]


@pytest.mark.parametrize("keep_last", [4, 5, 9])
def test_as_many_of_the_newest_stay_as_are_to_be_kept(keep_last, tmp_path):
    """With every number of checkpoints, also while there are fewer."""
    for step in range(1, 12):
        checkpoint.save(tmp_path, snapshot(step), CheckpointSettings(keep_last=keep_last))
        assert checkpoint.numbers(tmp_path) == list(range(max(1, step + 1 - keep_last), step + 1))


@pytest.mark.parametrize("name", ["draft", "discarded"])
def test_what_a_cut_short_save_left_is_no_checkpoint_and_does_not_stop_the_next(tmp_path, name):
    checkpoint.save(tmp_path, snapshot(1))
    shutil.copytree(tmp_path / "000001", tmp_path / name)

    assert checkpoint.numbers(tmp_path) == [1]
    assert checkpoint.save(tmp_path, snapshot(2)) == 2
    assert not (tmp_path / name).exists()


def test_a_number_is_not_given_twice_though_its_checkpoint_is_damaged(tmp_path):
    checkpoint.save(tmp_path, snapshot(1))
    (tmp_path / "000001" / "manifest.json").unlink()
    assert checkpoint.save(tmp_path, snapshot(2)) == 2


@settings(max_examples=150)
@given(data=st.data())
def test_any_flipped_bit_is_named_and_the_older_checkpoint_is_loaded(pristine, victim, data):
    lay_out(pristine, victim)
    path = data.draw(st.sampled_from(sorted((victim / "000002").iterdir())))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)

    found, complaints = checkpoint.newest(victim)

    assert found is not None
    assert found.number == 1
    assert_equal(found.snapshot, snapshot(1))
    assert len(complaints) == 1
    assert "000002 is damaged" in complaints[0]
    assert path.name in complaints[0]
    assert "\n" not in complaints[0]


@settings(max_examples=100)
@given(data=st.data())
def test_any_file_cut_short_or_missing_is_named_and_the_older_checkpoint_is_loaded(pristine, victim, data):
    lay_out(pristine, victim)
    path = data.draw(st.sampled_from(sorted((victim / "000002").iterdir())))
    content = path.read_bytes()
    length = data.draw(st.none() | st.integers(0, len(content) - 1))
    path.unlink() if length is None else path.write_bytes(content[:length])

    found, complaints = checkpoint.newest(victim)

    assert found is not None
    assert_equal(found.snapshot, snapshot(1))
    assert len(complaints) == 1
    assert path.name in complaints[0]


@settings(max_examples=60)
@given(content=st.binary(max_size=200) | st.text(max_size=50).map(json.dumps).map(str.encode))
def test_any_other_manifest_is_refused(pristine, victim, content):
    lay_out(pristine, victim)
    (victim / "000002" / "manifest.json").write_bytes(content)
    with pytest.raises(Damaged, match=r"000002 is damaged: manifest\.json"):
        checkpoint.load(victim / "000002")


def test_files_swapped_between_two_checkpoints_are_noticed(pristine, victim):
    lay_out(pristine, victim)
    shutil.copy(victim / "000001" / "state.json", victim / "000002" / "state.json")
    found, complaints = checkpoint.newest(victim)
    assert found is not None
    assert found.number == 1
    assert "state.json is not what was written" in complaints[0]


def test_a_file_of_another_length_is_named_with_both(pristine, victim):
    lay_out(pristine, victim)
    path = victim / "000002" / "arrays.safetensors"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-3])
    _, complaints = checkpoint.newest(victim)
    assert f"arrays.safetensors has {size - 3:,} bytes, {size:,} were written" in complaints[0]


def test_when_all_are_damaged_all_are_named(pristine, victim):
    lay_out(pristine, victim)
    for number in ("000001", "000002"):
        (victim / number / "arrays.safetensors").unlink()
    found, complaints = checkpoint.newest(victim)
    assert found is None
    assert [line.count("arrays.safetensors: No such file or directory") for line in complaints] == [1, 1]


def test_a_plain_file_with_a_number_for_a_name_is_named(tmp_path):
    (tmp_path / "000007").write_text("not a folder")
    found, complaints = checkpoint.newest(tmp_path)
    assert found is None
    assert len(complaints) == 1


def test_a_checkpoint_that_finds_no_room_takes_up_none(tmp_path, monkeypatch):
    """What it had written before would keep games from being stored."""
    checkpoint.save(tmp_path, snapshot(1))
    write, left = disk.write, [1]

    def write_once(path, data) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()
        write(path, data)

    monkeypatch.setattr(disk, "write", write_once)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(tmp_path, snapshot(2))
    assert [path.name for path in tmp_path.iterdir()] == ["000001"]
