"""A repaired store takes the place of the damaged one, whatever moment the power fails at."""

import os

from asyncplay.data.salvage import put_in_place


def test_the_new_store_is_on_disk_before_it_has_the_name_and_the_old_log_is_gone_before_that(tmp_path, monkeypatch):
    path, new = tmp_path / "run.sqlite", tmp_path / "repair" / "run.sqlite"
    new.parent.mkdir()
    new.write_text("new")
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).write_text("old")
    events, sync, replace = [], os.fsync, os.replace

    def fsync(descriptor):
        sync(descriptor)
        status = os.fstat(descriptor)
        places = [place for place in (tmp_path, *tmp_path.rglob("*")) if os.path.samestat(place.stat(), status)]
        events.append(("sync", str(places[0].relative_to(tmp_path))))

    def renamed(source, target):
        logs = [place.name for place in tmp_path.glob("run.sqlite-*")]
        events.append(("replace", source.name, target.name, logs))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    put_in_place(new, path)
    assert events == [("sync", "repair/run.sqlite"), ("replace", "run.sqlite", "run.sqlite", []), ("sync", ".")]
    assert path.read_text() == "new"
