"""The bench of many workers can be run; how fast they are is not asked."""

import pytest

from asyncplay.bench import workers


@pytest.mark.slow
def test_each_number_of_workers_is_measured_beside_the_others(monkeypatch):
    for name in ("LEARN_S", "WINDOW_S", "SETTLE_S"):
        monkeypatch.setattr(workers, name, 0.1)
    result = workers.measure("tictactoe", "onnx-fp32", counts=(1, 2), rounds=3)

    first, second = result["rows"]
    assert (first["workers"], first["of_best_with_fewer"], second["workers"]) == (1, 1.0, 2)
    assert min(first["rows_per_s"], second["rows_per_s"]) > 0
    assert result["lowest"] == min(1.0, second["of_best_with_fewer"])
