"""Networks that answer inside a worker."""

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from asyncplay.errors import WireError
from asyncplay.model.backends.onnx_backend import OnnxBackend
from asyncplay.model.nets import build, snapshot
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Positions, join_positions
from asyncplay.wire.codec import HEADER, decode, encode
from asyncplay.wire.messages import Computed, Hold, Job, PlaceModel
from asyncplay.worker.core import Step, Worker
from asyncplay.worker.session import REPORT_S, LocalModels

SHAPE = NetShape(kind="mlp", features=6, actions=5, players=2, width=16, blocks=1)


def backend(seed: int = 1, version: int = 4) -> OnnxBackend:
    return OnnxBackend(SHAPE, snapshot(build(SHAPE, seed)), version, threads=1)


def rows(n_rows: int) -> Positions:
    generator = np.random.default_rng(n_rows)
    legal = np.concatenate([np.sort(generator.permutation(5)[: 1 + row % 5]) for row in range(n_rows)]).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum([1 + row % 5 for row in range(n_rows)])]).astype(np.int32)
    return Positions(generator.random((n_rows, 6), np.float32), legal, offsets)


def placed(folder: Path, served: OnnxBackend, *, max_rows: int = 64, gathers: bool = True) -> PlaceModel:
    data, version = served.served.model, served.served.version
    path = folder / f"{version}.onnx"
    path.write_bytes(data)
    return PlaceModel("selfplay", 0, version, str(path), hashlib.sha256(data).hexdigest(), max_rows, gathers)


def test_a_worker_answers_as_the_coordinator_does(tmp_path):
    served, models = backend(), LocalModels()
    models.place(placed(tmp_path, served))
    wanted, found = served.launch(rows(40))(), models.estimate(0, rows(40))
    np.testing.assert_allclose(found.priors, wanted.priors, atol=1e-5)
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-5)
    assert found.version == wanted.version == 4


def test_many_rows_are_answered_in_calls_of_the_most_rows_and_told_of_once(tmp_path):
    served, models = backend(), LocalModels()
    models.place(placed(tmp_path, served, max_rows=16))
    found = models.estimate(0, rows(40))
    np.testing.assert_allclose(found.priors, served.launch(rows(40))().priors, atol=1e-5)
    models.count(spared=3, extra=2)
    models.count(spared=4)
    [report] = models.report(REPORT_S)
    assert isinstance(report, Computed)
    assert report.sizes.tolist() == [13, 13, 14]
    assert (report.spared, report.extra) == (7, 2)
    assert models.report(9.0) == []
    models.estimate(0, rows(3))
    assert models.report(REPORT_S + 0.01) == []  # too soon
    assert len(models.report(REPORT_S + 0.01, is_last=True)) == 1


def test_a_file_that_is_not_what_was_announced_is_refused(tmp_path):
    message, models = placed(tmp_path, backend()), LocalModels()
    Path(message.path).write_bytes(Path(message.path).read_bytes()[:-1])
    with pytest.raises(WireError, match="damaged"):
        models.place(message)
    assert not models.has(0)


def test_a_file_that_is_gone_leaves_the_network_before_it(tmp_path):
    models = LocalModels()
    models.place(placed(tmp_path, backend(version=4)))
    message = placed(tmp_path, backend(seed=2, version=5))
    Path(message.path).unlink()
    models.place(message)
    assert models.estimate(0, rows(2)).version == 4


def test_a_model_that_is_withdrawn_is_asked_for_again(tmp_path):
    models = LocalModels()
    models.place(placed(tmp_path, backend()))
    assert models.has(0)
    models.place(PlaceModel("selfplay", 0, 0, "", "", 1, False))
    assert not models.has(0)


def test_joined_blocks_are_their_rows_one_after_another():
    blocks = [rows(3), rows(7)]
    joined = join_positions(blocks)
    for block, first in ((blocks[0], 0), (blocks[1], 3)):
        part = joined.part(first, first + len(block.features))
        for name in Positions._fields:
            np.testing.assert_array_equal(getattr(part, name), getattr(block, name))


class Thinker:
    """A player that counts how often it thinks."""

    def __init__(self, thoughts: Counter[str]) -> None:
        self._thoughts = thoughts

    def take(self, job):
        self._thoughts["jobs"] += 1

    def receive(self, message):
        raise AssertionError

    def advance(self, now_s):
        self._thoughts["steps"] += 1
        return Step([], 0)


def test_a_worker_that_is_held_thinks_no_more_until_it_is_let_go():
    thoughts: Counter[str] = Counter()
    worker = Worker(0, 1, {"any": lambda tickets: Thinker(thoughts)})

    def tell(message):
        worker.receive(encode(message)[HEADER.size :])

    tell(Job(1, "any", 0, 1, 0, b""))
    worker.advance(0.0)  # says hello
    worker.advance(0.0)
    assert thoughts["steps"] == 1
    tell(Hold(True))
    tell(Job(2, "any", 1, 1, 0, b""))
    assert worker.advance(1.0) == Step([], None)
    assert thoughts == {"jobs": 2, "steps": 1}
    tell(Hold(False))
    worker.advance(2.0)
    assert thoughts["steps"] == 2


@pytest.mark.parametrize(
    ("sizes", "seconds"), [([0], 1.0), ([-5, 7], 1.0), ([4], -1.0), ([4], float("nan")), ([4], float("inf"))]
)
def test_a_report_that_cannot_be_is_refused(sizes, seconds):
    body = encode(Computed(np.array(sizes, np.int32), seconds))[HEADER.size :]
    with pytest.raises(WireError):
        decode(body)
