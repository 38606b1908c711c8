import pytest
from methods.mccfr.holdem_runs import small_config, write_buckets
from methods.mccfr.test_tabular import solve

from asyncplay.config.loading import dump


@pytest.fixture(scope="session")
def holdem_run(tmp_path_factory):
    """The folder of a finished run of hold'em; its bucket file, drawn.buckets, lies beside it."""
    folder = tmp_path_factory.mktemp("runs")
    config = small_config(write_buckets(folder / "drawn.buckets"), units=3000)
    solve(config, folder / "run")
    (folder / "run" / "config.toml").write_text(dump(config))
    return folder / "run"
