"""Events and figures of runs without games."""

import asyncio

from asyncplay.data.reader import read_events, read_metrics, reading
from asyncplay.data.store import open_store
from asyncplay.data.writer import CommitPolicy
from asyncplay.engine.recorder import EventRecorder
from asyncplay.rundir.folder import RunFolder

META = {"game": "kuhn"}


async def test_what_is_noted_is_in_the_store_when_the_run_is_over(tmp_path):
    async with EventRecorder(RunFolder(tmp_path), open_store(tmp_path, META), CommitPolicy()) as recorder:
        recorder.note("start", "it begins", {"seed": 3})
        recorder.measure({"throughput/nodes_per_s": 5.0, "strength/NashConv": 0.25})
        recorder.note("stop", "it ends")

    with reading(tmp_path) as connection:
        events, metrics = read_events(connection), read_metrics(connection)
    assert [(event.kind, event.text, event.data) for event in events] == [
        ("start", "it begins", {"seed": 3}),
        ("stop", "it ends", {}),
    ]
    assert {name: [value for _, value in points] for name, points in metrics.items()} == {
        "throughput/nodes_per_s": [5.0],
        "strength/NashConv": [0.25],
    }


async def test_a_second_run_in_the_same_folder_writes_on(tmp_path):
    for words in ("first", "second"):
        async with EventRecorder(RunFolder(tmp_path), open_store(tmp_path, META), CommitPolicy()) as recorder:
            recorder.note("start", words)
    with reading(tmp_path) as connection:
        assert [event.text for event in read_events(connection)] == ["first", "second"]


async def test_a_disk_that_takes_nothing_is_told_of_and_costs_only_the_notes(tmp_path, caplog):
    def crowded():
        store = open_store(tmp_path, META)
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        store.connection.execute(f"PRAGMA max_page_count = {pages}")
        return store

    folder = RunFolder(tmp_path)
    async with EventRecorder(folder, crowded(), CommitPolicy(retry_s=0.01)) as recorder:
        for number in range(2000):
            recorder.note("start", f"{number} " * 100)
        while not caplog.text:  # noqa: ASYNC110  # the writer's thread tells the log and nobody else
            await asyncio.sleep(0.1)
        folder.give_up()
    assert caplog.text.count(f"nothing can be stored in {tmp_path}: database or disk is full") == 1
