"""What a run needs, reckoned beforehand: compared with what is really made, and refused where there is too little."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from asyncplay import games
from asyncplay.config import sections
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.errors import ConfigError
from asyncplay.machine import at_hand
from asyncplay.methods import sizes
from asyncplay.methods.limits import byte_limits
from asyncplay.methods.population import preflight as population
from asyncplay.methods.sizes import Machine
from asyncplay.model.nets import _NETS
from asyncplay.model.shape import NetShape
from asyncplay.search import layout
from asyncplay.search.group import make_settings, make_sizes

CONFIGS = Path(__file__).parents[2] / "configs"
SMALL, LARGE = 4 << 30, 10 << 30
DEFAULT, CONNECT4, SYNTHETIC = (CONFIGS / f"{name}.toml" for name in ("default", "connect4", "synthetic"))


def require(config: Config, machine: Machine) -> None:
    if config.game.name == "synthetic":
        sizes.require_load(config, machine)
    elif config.population.method != "off":
        population.require(config, machine.free_bytes)
    elif config.solve.method == "off":
        sizes.require_selfplay(config, games.load(config.game.name, config.game.options), machine)


def changed(path: Path, dotted: str, value: float) -> Config:
    section, key = dotted.split(".")
    return load(path, {section: {key: str(value)}})


@pytest.mark.parametrize("cores", [1, 2, 8, 16, 32])
@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_everything_that_comes_along_fits_into_4_gb_and_ringrift_into_10(path, cores):
    require(load(path), Machine(cores, LARGE if path.stem.startswith("ringrift") else SMALL))


@pytest.mark.parametrize(
    ("path", "key", "value", "told"),
    [
        (DEFAULT, "learn.batch_rows", 10**9, r"is 1000000000: it would need 2,\d\d\d GB of memory for this, "),
        (DEFAULT, "search.simulations", 10**7, "is 10000000: it would need "),
        (CONNECT4, "search.simulations", 10**6, "is 1000000: it would need "),
        (DEFAULT, "net.width", 65536, "is 65536: it would need "),
        (CONNECT4, "net.width", 10**4, "is 10000: it would need "),
        (CONNECT4, "net.blocks", 1024, "is 1024: it would need "),
        (DEFAULT, "search.games", 10**7, "is 10000000: it would need "),
        (DEFAULT, "search.leaves", 4096, "is 4096: it would need "),
        (CONNECT4, "pool.workers", 1024, "is 1024: it would need "),
        (DEFAULT, "arena.games", 10**6, "is 1000000: it would need "),
        (CONNECT4, "arena.simulations", 10**7, "is 10000000: it would need "),
        (SYNTHETIC, "load.slots", 10**7, "is 10000000: it would need "),
    ],
)
def test_what_asks_for_too_much_is_named_with_a_value_that_fits(path, key, value, told):
    """The value that is told fits indeed, and one a tenth above it does not."""
    machine = Machine(2, SMALL)
    with pytest.raises(ConfigError, match=rf"^{key} {told}.*; \d+ would fit$") as caught:
        require(changed(path, key, value), machine)
    fitting = int(str(caught.value).split()[-3])
    require(changed(path, key, fitting), machine)
    with pytest.raises(ConfigError, match=rf"^{key} is "):
        require(changed(path, key, fitting + max(fitting // 9, 1)), machine)


@pytest.mark.parametrize(
    ("path", "key", "value", "limit"),
    [
        (CONNECT4, "search.cache_positions", 10**9, "search.cache_mb"),
        (DEFAULT, "replay.start_rows", 10**12, "replay.capacity_mb"),
        (DEFAULT, "store.queue_games", 10**6, "store.queue_mb"),
    ],
)
def test_what_has_a_limit_in_bytes_fits_unless_that_does_not(path, key, value, limit):
    machine, config = Machine(2, SMALL), changed(path, key, value)
    require(config, machine)
    section, name = limit.split(".")
    with pytest.raises(ConfigError, match=rf"^{key} is {value}: it would need .*; \d+ would fit$") as caught:
        require(load(path, {section: {name: str(1 << 30), key.split(".")[1]: str(value)}}), machine)
    fitting = int(str(caught.value).split()[-3])
    require(load(path, {section: {name: str(1 << 30), key.split(".")[1]: str(fitting)}}), machine)


def test_a_window_that_holds_no_rows_is_refused_with_one_that_does():
    wide = replace(games.load("connect4"), features=10**6)
    config = load(CONNECT4, {"replay": {"capacity_mb": "7"}, "net": {"kind": "mlp"}})
    with pytest.raises(ConfigError, match=r"^replay.capacity_mb is 7: the window would hold 7 MB, .* up to 1 MB; 8 wo"):
        sizes._require_window(config, wide, SMALL)
    sizes._require_window(sections.changed(config, "replay.capacity_mb", 8), wide, SMALL)


@pytest.mark.parametrize("workers", [1, 8])
def test_limits_in_bytes_are_reckoned_from_the_memory_at_hand_unless_they_are_set(workers):
    config = load(CONNECT4, {"pool": {"workers": str(workers)}})
    found = byte_limits(config, 48 << 30)
    assert found == (3 << 30, 16 << 30, 3 << 30, min((6 << 30) // workers, 2**32 - 1), (6 << 30) // workers)
    keys = ("batch.max_queued_mb", "replay.capacity_mb", "store.queue_mb", "pool.message_mb", "search.cache_mb")
    for place, key in enumerate(keys, start=1):
        config = sections.changed(config, key, place)
    assert byte_limits(config, 48 << 30) == tuple(place << 20 for place in range(1, 6))
    assert str(byte_limits(config, 1)).startswith("queue 1 MB, replay window 2 MB, games to be stored 3 MB, a message")


def test_where_nothing_fits_it_is_said():
    with pytest.raises(ConfigError, match=r"and 10 MB are free; no other value would fit either$"):
        require(load(DEFAULT), Machine(2, 10 << 20))


def test_a_run_of_few_games_fills_no_window():
    config = changed(DEFAULT, "replay.start_rows", 10**7)
    require(sections.changed(config, "train.units", 100), Machine(2, SMALL))


def test_trees_never_have_more_edges_than_their_numbers_can_tell_apart():
    with pytest.raises(
        ConfigError, match=r"^search.simulations is 5000000: trees .* at most 2,147,483,647 can be told"
    ):
        require(changed(CONNECT4, "search.simulations", 5_000_000), Machine(2, 1 << 50))


def test_a_block_of_rows_fits_into_a_message():
    with pytest.raises(ConfigError, match=r"^search.games is 300000: a worker would ask for .*; \d+ would fit$"):
        require(load(DEFAULT, {"search": {"games": "300000"}, "pool": {"message_mb": "64"}}), Machine(2, 1 << 50))


def test_a_block_of_the_synthetic_load_fits_into_a_message():
    words = (
        r"^load.row_bytes is 1048576: a worker would ask for 256 MB at a time, a message has at most 64 MB; 260000 wo"
    )
    with pytest.raises(ConfigError, match=words):
        require(load(SYNTHETIC, {"load": {"row_bytes": "1048576"}, "pool": {"message_mb": "64"}}), Machine(2, SMALL))


def test_a_value_that_is_told_fits_whatever_the_limit():
    """With memory for two hundred thousand games a message would still be too long."""
    with pytest.raises(ConfigError, match=r"^search.games is 9000000: it would need") as caught:
        require(changed(DEFAULT, "search.games", 9_000_000), Machine(2, 20 << 30))
    require(changed(DEFAULT, "search.games", int(str(caught.value).split()[-3])), Machine(2, 20 << 30))


def test_the_trees_of_a_match_count_by_what_was_typed():
    config = load(CONNECT4, {"arena": {"simulations": "1000000", "games": "128"}})
    game = games.load("connect4")
    with pytest.raises(ConfigError, match=r"^--simulations is 1000000: it would need .*; \d+ would fit$"):
        sizes.require_match(config, game, Machine(2, SMALL), {"arena.simulations": "--simulations"})
    sizes.require_match(load(CONNECT4), game, Machine(2, SMALL), {})


@pytest.mark.parametrize(
    "shape",
    [
        NetShape("mlp", 84, 7, 2, width=33, blocks=1),
        NetShape("mlp", 84, 7, 4, width=33, blocks=5),
        NetShape("resnet", 84, 7, 2, width=24, blocks=3, planes=(2, 6, 7)),
        NetShape("resnet", 84, 90, 2, width=24, blocks=3, planes=(2, 6, 7), action_planes=2),
        NetShape("resnet", 84, 84, 2, width=24, blocks=3, planes=(2, 6, 7), action_planes=2),
        NetShape("blobnet", 256, 52, 8, width=256, blocks=6),
        NetShape("blobnet", 40, 12, 4, width=17, blocks=2),
        NetShape("mlp", 40, 12, 4, 17, 2, hidden_features=9, value_width=5, value_blocks=3),
        NetShape("blobnet", 40, 12, 4, 17, 2, hidden_features=9, value_width=5, value_blocks=1),
    ],
    ids=lambda shape: f"{shape.kind}-{shape.actions}-{shape.blocks}",
)
def test_weights_are_counted_as_they_are_made(shape):
    with torch.device("meta"):
        net = _NETS[shape.kind](shape)
    assert shape.n_weights == sum(weight.numel() for weight in net.parameters())


def n_bytes(part: object) -> int:
    if isinstance(part, np.ndarray):
        return part.nbytes
    return sum(n_bytes(each) for each in part) if isinstance(part, tuple) else 0


@pytest.mark.parametrize("root", ["puct", "gumbel"])
@pytest.mark.parametrize("name", ["blob", "connect4", "tictactoe"])
def test_trees_are_counted_as_they_are_laid_out(name, root):
    """But for some room to work in, of less than a twentieth."""
    game = games.load(name)
    settings = make_settings(
        game, simulations=50, worlds=3, exact_decisions=8, leaves=2, is_gumbel=int(root == "gumbel")
    )
    room = make_sizes(game, settings, 40)
    made = n_bytes(layout.allocate(game, room, settings)._replace(rules=(), settings=()))
    assert 0.95 * made < layout.needed_bytes(game, room, settings) <= made


def files(root: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def machine_of_8_gb(monkeypatch):
    class Virtual:
        available = 8 << 30

    monkeypatch.setattr("psutil.virtual_memory", Virtual)


@pytest.mark.usefixtures("machine_of_8_gb")
def test_the_memory_at_hand_is_what_the_machine_and_the_control_groups_leave(tmp_path):
    assert at_hand(tmp_path) == 8 << 30
    group = "sys/fs/cgroup/slice/job"
    texts = {
        "proc/self/cgroup": "0::/slice/job\n",
        f"{group}/memory.max": "max\n",
        f"{group}/memory.current": "100\n",
        f"{group}/memory.stat": "anon 50\ninactive_file 50\n",
        "sys/fs/cgroup/slice/memory.max": "1000000\n",
        "sys/fs/cgroup/slice/memory.current": "400000\n",
        "sys/fs/cgroup/slice/memory.stat": "anon 300000\ninactive_file 100000\nactive_file 7\n",
    }
    assert at_hand(files(tmp_path, texts)) == 700_000


@pytest.mark.usefixtures("machine_of_8_gb")
def test_version_1_of_control_groups_limits_too_and_what_cannot_be_read_does_not(tmp_path):
    group = "sys/fs/cgroup/memory/job"
    texts = {
        "proc/self/cgroup": "4:memory:/job\n3:cpu,cpuacct:/job\n",
        f"{group}/memory.limit_in_bytes": "5000\n",
        f"{group}/memory.usage_in_bytes": "6000\n",
        f"{group}/memory.stat": "inactive_file 500\ntotal_inactive_file 500\n",
    }
    assert at_hand(files(tmp_path, texts)) == 0
    (tmp_path / group / "memory.limit_in_bytes").write_text("no number")
    assert at_hand(tmp_path) == 8 << 30
