"""What the bench of many workers counts; its times are measured, not tested."""

from asyncplay.bench import thinkers


def test_every_number_of_workers_has_a_row_with_the_cost_of_a_call(monkeypatch):
    monkeypatch.setattr(thinkers, "WORKERS", (1, 30))
    monkeypatch.setattr(thinkers, "CALLS", 20)
    rows = thinkers.measure()["rows"]
    assert [row["workers"] for row in rows] == [1, 30]
    assert all(row["us_per_call"] > 0 for row in rows)
