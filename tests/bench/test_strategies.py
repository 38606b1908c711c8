"""The strategies beside ours answer as a network would, and the whole table can be made; how fast is not asked."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from asyncplay.bench import loads, simulated, strategies
from asyncplay.bench.loads import bench_config
from asyncplay.bench.solo import ASKS, GAMES, ROWS, Solo, by_block, by_row
from asyncplay.bench.threads import Closed, SharedEvaluator
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import Estimates, Positions
from asyncplay.wire.checksum import sim_answers

SMALL = {
    "game": {"options": {"players": 3, "cards": 2}},
    "net": {"kind": "mlp", "width": "16", "blocks": "1"},
    "search": {"simulations": "4", "worlds": "2", "games": "8"},
}
LONG_S = 60.0


class Hashing:
    """A backend whose answer to a row tells which row it was; keeps the sizes of its batches."""

    name, depth = "hashing", 1

    def __init__(self):
        self.sizes = []

    def launch(self, positions):
        self.sizes.append(len(positions.features))
        answers = sim_answers(positions.features, positions.offsets, 2)
        return lambda: Estimates(*answers, 0)


def block(first, n_rows):
    """Rows with 1, 2, 3 legal actions in turn."""
    features = np.arange(first, first + 4 * n_rows, dtype=np.float32).reshape(n_rows, 4)
    counts = 1 + np.arange(n_rows) % 3
    return Positions(
        features, np.zeros(counts.sum(), np.int32), np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    )


def assert_same(answer, wanted):
    np.testing.assert_array_equal(answer.priors, wanted.priors)
    np.testing.assert_array_equal(answer.values, wanted.values)


def test_row_by_row_gives_what_a_block_gives():
    rows, alone = Hashing(), Hashing()
    assert_same(by_row(rows)(block(0, 5)), by_block(alone)(block(0, 5)))
    assert (rows.sizes, alone.sizes) == ([1, 1, 1, 1, 1], [5])


def test_threads_share_a_full_batch_and_each_gets_its_own_answers():
    """The timeout is out of reach: only a full batch can have been answered."""
    backend = Hashing()
    evaluator = SharedEvaluator(backend, timeout_s=LONG_S, max_rows=12)
    server = threading.Thread(target=evaluator.serve)
    server.start()
    blocks = [block(100 * number, 3) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(evaluator.estimate, blocks))
    evaluator.close()
    server.join(LONG_S)

    for answer, asked in zip(answers, blocks, strict=True):
        assert_same(answer, by_block(Hashing())(asked))
    assert backend.sizes == [12]
    assert evaluator.batches == 1


def test_a_lonely_thread_is_answered_when_its_time_is_up_and_none_after_the_end():
    backend = Hashing()
    evaluator = SharedEvaluator(backend, timeout_s=0.001, max_rows=1000)
    server = threading.Thread(target=evaluator.serve)
    server.start()
    evaluator.estimate(block(0, 2))
    evaluator.close()
    server.join(LONG_S)

    assert backend.sizes == [2]
    with pytest.raises(Closed):
        evaluator.estimate(block(0, 2))


def test_a_network_that_fails_fails_everybody_who_asks():
    class Broken:
        depth = 1

        def launch(self, positions):
            raise ValueError("broken")

    evaluator = SharedEvaluator(Broken(), timeout_s=LONG_S, max_rows=2)
    with ThreadPoolExecutor(3) as pool:
        server = pool.submit(evaluator.serve)
        for _ in range(2):
            asks = [pool.submit(evaluator.estimate, block(0, 1)) for _ in range(2)]
            assert [str(ask.exception(LONG_S)) for ask in asks] == ["broken", "broken"]
        evaluator.close()
        server.result(LONG_S)


def test_a_player_counts_games_rows_and_asks():
    backend = Hashing()
    config = bench_config("tictactoe", "torch", search={"simulations": "8"})
    solo = Solo(config, by_block(backend))
    for _ in range(3):
        solo.play()

    assert solo.totals[GAMES] == 3
    assert solo.totals[ROWS] == sum(backend.sizes)
    assert solo.totals[ASKS] == len(backend.sizes) > 3 * 5 * 4  # five decisions at least, most simulations ask


def test_a_load_takes_further_keys_and_keeps_its_own():
    config = bench_config("blob", "sim", workers=3, search={"games": "64"}, device={"sim_host_ms": "0.5"})

    assert (config.search.simulations, config.search.worlds, config.search.games) == (30, 3, 64)
    assert (config.device.backend, config.device.sim_host_ms, config.pool.workers) == ("sim", 0.5, 3)
    assert config.search.cache_positions == 100_000


def test_a_load_that_cannot_be_played_is_refused():
    with pytest.raises(AsyncplayError, match="--exact-decisions 4: connect4 works no endings out"):
        bench_config("connect4", "torch", search={"exact_decisions": "4"})


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(300)
def test_every_strategy_is_run_with_every_number_of_workers(monkeypatch):
    monkeypatch.setitem(loads.LOADS, "blob", SMALL)
    rows = strategies.measure("onnx-fp32", seconds=0.0, counts=(2,))["rows"]

    assert [(row["strategy"], row["workers"]) for row in rows] == [
        ("sequential", 1),
        ("processes", 2),
        ("threads", 2),
        ("ours", 2),
    ]
    assert all(list(row) == ["strategy", "workers", "games_per_min", "rows_per_s", "mean_batch"] for row in rows)
    assert min(min(row["games_per_min"], row["rows_per_s"]) for row in rows) > 0
    assert rows[0]["mean_batch"] == 1
    assert 0.9 < rows[1]["mean_batch"] < 3  # a row for each of two worlds, but for an ask under way at either end
    assert 0.9 < rows[2]["mean_batch"] < 6  # of two games at most


def test_a_device_cannot_begin_before_it_is_launched():
    with pytest.raises(AsyncplayError, match="--host-ms -1: must be at least 0"):
        simulated.measure("blob", host_ms=-1)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_simulated_figure_says_so_and_is_a_share_of_what_full_batches_would_give(monkeypatch):
    """1,024 rows take .6 ms and 1,024 / 220,000 s."""
    monkeypatch.setitem(loads.LOADS, "blob", SMALL)
    found = simulated.measure("blob", host_ms=0.5, seconds=0.0)

    assert (found["is_simulated"], found["host_ms"]) == (True, 0.5)
    assert found["device_max_rows_per_s"] == pytest.approx(1024 / (0.0006 + 1024 / 220_000))
    assert 0 < found["share_of_device_max"] < 1
    assert found["rows_per_s"] == pytest.approx(found["share_of_device_max"] * found["device_max_rows_per_s"])
