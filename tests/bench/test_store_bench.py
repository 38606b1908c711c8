"""The bench of the store measures what it says."""

from types import SimpleNamespace

from asyncplay.bench import store


def test_nothing_of_a_flood_is_acknowledged_early():
    flood = store._flood("process", 0.005, 0.2)
    assert flood.acknowledged_early == 0


def test_a_game_counted_before_it_is_stored_is_noticed(tmp_path):
    """The auditor can fail: here nothing is stored at all."""
    store.open_store(tmp_path, {}).close()
    dispatcher = SimpleNamespace(settle=lambda arrivals: None)
    auditor = store.Auditor(tmp_path, dispatcher)
    dispatcher.settle([(None, True), (None, False), (None, True)])
    auditor.close()
    assert auditor.early == 2
