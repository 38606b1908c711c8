"""A group of games that think together, as a worker uses it.

    group.start(slots, seeds)
    while ...:
        finished = group.advance()          # decisions that are due; slots whose game is over
        ... take the finished games, start new ones in their slots, advance again ...
        rows = group.select()               # positions that the network must evaluate
        ... ask the network ...
        group.backup(priors, values, version)

No step looks at single games in Python. What happens in a slot depends on its seed, the settings and
the network's answers alone, never on the other slots; only where several leaves a tree may fill a block, also on
how many rows the others have.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.config.sections import SearchSettings
from asyncplay.games.position import Position
from asyncplay.games.spec import GameSpec, no_ending
from asyncplay.search import entries, layout
from asyncplay.search.examples import GameRows, PlayedGame, rebuild_examples
from asyncplay.search.layout import Array, KernelSettings, Sizes

Slots = NDArray[np.int32]

FIRST_POLICY_ENTRIES, MOST_POLICY_ENTRIES = 1 << 15, 1 << 20  # of a game; space grows where games are long


class SelectedRows(NamedTuple):
    """The rows of one select: views, valid until the next."""

    features: Array  # float32[n, F] or uint8[n, F]
    legal: Array  # int32[L], the legal actions of all rows, one after another
    offsets: Array  # int32[n + 1], row i owns legal[offsets[i]:offsets[i + 1]]
    slots: Array  # int32[n]
    seats: Array  # int32[n], the player whose decision is searched, not the one to move in the row
    is_extra: Array  # int32[n], 1 for all rows of a tree but its first


class RootMeans(NamedTuple):
    """Means of the values backed up, -1 to 1."""

    actions: NDArray[np.float64]  # float64[k], by legal action; NaN where no simulation went
    root: float | None  # of all of them; None before the first


def make_settings(spec: GameSpec, **changes: Any) -> KernelSettings:
    """Return the settings for a game: the defaults with ``changes``, in the types of the kernels' signatures."""
    chosen = KernelSettings(
        value_scale=spec.value_scale, value_offset=spec.value_offset, is_staged=int(spec.is_staged)
    )._replace(**changes)
    chosen = chosen._replace(keeps_tree=0) if spec.is_hidden else chosen._replace(worlds=1)
    if spec.kernels.ending is no_ending:
        chosen = chosen._replace(exact_decisions=0)
    plain = [type(default)(value) for default, value in zip(KernelSettings()[:-1], chosen[:-1], strict=True)]
    return KernelSettings._make([*plain, np.ascontiguousarray(chosen.temperatures, np.float64)])


def kernel_settings(spec: GameSpec, search: SearchSettings, *, is_match: bool = False) -> KernelSettings:
    """Return what a section ``[search]`` means for a game; fields of the same name mean the same.

    In a match there is no noise, hardly any chance, and no decision is quick.
    """
    changes = {name: getattr(search, name) for name in KernelSettings._fields if hasattr(search, name)}
    changes |= {"is_gumbel": search.root == "gumbel"}
    if is_match:
        return make_settings(spec, **changes | {"noise_weight": 0.0, "quick_simulations": 0, "temperatures": [0.0]})
    warm, mild = [1.0] * search.warm_decisions, [0.5] * search.mild_decisions
    return make_settings(spec, **changes, temperatures=[*warm, *mild, search.late_temperature])


def make_sizes(spec: GameSpec, settings: KernelSettings, n_games: int) -> Sizes:
    """Four nodes a simulation (forced decisions, kept trees), with up to 64 edges a node on average, and a root that
    has them all.

    A tree that is full all the same decides with the simulations it has done, and the game says so.
    """
    nodes = 4 * settings.simulations + 16
    edges = max(nodes * min(spec.max_legal, 64), 4 * min(spec.max_legal, settings.max_priors))
    edges += max(spec.max_legal - settings.max_priors, 0)
    most_entries = min(spec.max_decisions * _policy_entries(spec, settings, nodes), MOST_POLICY_ENTRIES)
    n_rows = n_games * settings.worlds * settings.leaves
    first_entries = min(most_entries, FIRST_POLICY_ENTRIES)
    return Sizes(n_games, settings.worlds, n_rows, nodes, edges, first_entries, most_entries)


def _policy_entries(spec: GameSpec, settings: KernelSettings, nodes_per_tree: int) -> int:
    """Most entries of one decision's policy: actions that were visited, or all of them with Gumbel roots."""
    return spec.max_legal if settings.is_gumbel else min(spec.max_legal, settings.worlds * nodes_per_tree)


class Group:
    """G slots with a game each, and a tree for each world.

    Lifetime: as long as its worker; games come and go. Order: advance, select, backup, advance ...;
    every row of a select is answered before anything else. Limit: the sizes it was made with; settings
    may change between two calls, but not to more leaves. End: nothing to close.
    """

    def __init__(self, spec: GameSpec, settings: KernelSettings, n_games: int, sizes: Sizes | None = None) -> None:
        self.spec = spec
        self.sizes = sizes or make_sizes(spec, settings, n_games)
        self.memory = layout.allocate(spec, self.sizes, settings)
        self._packed = layout.pack(self.memory)
        self._features = np.zeros((self.sizes.rows, spec.row_features), spec.feature_dtype)
        self._finished = np.zeros(n_games, np.int32)
        self._entry = entries.load(spec)
        self._n_rows = 0

    @property
    def settings(self) -> KernelSettings:
        """How the games search; to change it, assign. Budgets change with the next decision."""
        return self.memory.settings

    @settings.setter
    def settings(self, settings: KernelSettings) -> None:
        n_rows = settings.leaves * settings.worlds * self.sizes.games
        assert settings.worlds == self.sizes.worlds, "the number of worlds is fixed"
        assert n_rows <= self.sizes.rows, "more leaves than there is room for"
        assert settings.exact_decisions == self.settings.exact_decisions, "where endings begin is fixed"
        assert settings.is_gumbel == self.settings.is_gumbel, "the way of choosing at the root is fixed"
        self.memory = self.memory._replace(settings=settings)
        self._packed = layout.pack(self.memory)

    def start(self, slots: Slots, seeds: NDArray[np.uint64], outside: int = 0) -> None:
        """Order new games; the next advance begins them.

        ``outside``: bit set of the seats whose decisions will come by ``force``.
        """
        games = self.memory.games.slots
        games["seed"][slots] = seeds
        games["outside"][slots] = outside
        games["status"][slots] = layout.STARTING

    def place(self, slot: int, position: Position, *, outside: int = 0, thoughts: int | None = None) -> None:
        """Order a game that goes on from a position, whether it was played to or not; the next advance begins it.

        Chance goes on as the position says; thoughts begin anew, from the position's seed unless ``thoughts`` is
        another. Nobody searched the decisions before.
        """
        memory, owner = self.memory, self.memory.games.slots[slot]
        n_decisions = len(position.actions)
        memory.games.states[slot] = position.state
        streams = memory.games.streams[slot]
        streams[layout.CHANCE_STREAM] = position.stream
        streams[layout.THOUGHT_STREAM] = rng.stream(
            position.seed if thoughts is None else thoughts, layout.THOUGHT_STREAM
        )
        for name in ("policy_end", "shortened", "unrecorded", "version"):
            owner[name] = 0
        owner["seed"], owner["outside"], owner["status"] = position.seed, outside, layout.PLACED
        owner["decisions"], owner["stage_decisions"] = n_decisions, position.stage_decisions
        memory.records.decisions[slot, :n_decisions] = 0
        memory.records.decisions[slot, :n_decisions]["action"] = position.actions

    def stop(self, slots: Slots) -> None:
        """Leave slots empty until the next start."""
        self.memory.games.slots["status"][slots] = layout.IDLE

    def force(self, slots: Slots, actions: NDArray[np.int32]) -> None:
        """Order legal actions from outside, or an opening's; the next advance plays them."""
        games = self.memory.games.slots
        for slot, action in zip(slots, actions, strict=True):
            assert action in self.legal(slot), f"action {action} is not legal in slot {slot}"
        games["forced"][slots] = actions
        games["status"][slots] = layout.FORCED

    def advance(self) -> Slots:
        """Carry out orders and take all decisions that are due; return the slots whose game is over."""
        assert self._n_rows == 0, "rows of the last select wait for their answers"
        self._make_policy_space()
        n = self._entry.advance(self._packed, self._finished)
        return self._finished[:n].copy()

    def select(self) -> SelectedRows:
        """Let all thinking games descend to their next leaves."""
        assert self._n_rows == 0, "rows of the last select wait for their answers"
        self._n_rows = n = self._entry.select(self._packed, self._features)
        leaves = self.memory.leaves
        offsets, rows = leaves.offsets[: n + 1], leaves.rows[:n]
        legal, features = leaves.legal[: offsets[n]], self._features[:n]
        return SelectedRows(features, legal, offsets, rows["slot"], rows["seat"], rows["is_extra"])

    def backup(self, priors: NDArray[np.float32], values: NDArray[np.float32], version: int) -> None:
        """Back up the answers to all rows of the last select: ``priors`` [L], ``values`` [n, P or more]."""
        assert len(values) == self._n_rows, "one answer for each row"
        self._entry.backup(self._packed, _writable(priors), _writable(values), version)
        self._n_rows = 0

    def simulations(self) -> int:
        """Simulations of all games so far."""
        return int(self.memory.forest.trees["total_simulations"].sum())

    def waiting(self) -> Slots:
        """The slots that wait for a decision from outside."""
        return np.flatnonzero(self.memory.games.slots["status"] == layout.OUTSIDE).astype(np.int32)

    def status(self, slot: int) -> int:
        """What a slot does: IDLE, THINKING, OUTSIDE ... of layout.py."""
        return int(self.memory.games.slots["status"][slot])

    def actions(self, slot: int) -> NDArray[np.int32]:
        """The decisions of a slot's game so far: a view."""
        n_decisions = int(self.memory.games.slots["decisions"][slot])
        actions: NDArray[np.int32] = self.memory.records.decisions[slot, :n_decisions]["action"]
        return actions

    def state(self, slot: int) -> NDArray[np.int64]:
        """The position of a slot's game: a view."""
        return self.memory.games.states[slot]

    def legal(self, slot: int) -> NDArray[np.int32]:
        """The legal actions of a slot's game: a view."""
        return self._edges(slot * self.sizes.worlds)["action"]

    def visits(self, slot: int) -> NDArray[np.int32]:
        """The visits of each legal action in a slot's search so far, over all worlds."""
        n_worlds = self.sizes.worlds
        trees = range(slot * n_worlds, (slot + 1) * n_worlds)
        return np.sum([self._edges(tree)["visits"] for tree in trees], axis=0, dtype=np.int32)

    def is_searching(self, slot: int) -> bool:
        """Whether a slot's search has simulations left."""
        trees = self._trees(slot)
        return bool((trees["simulations"] < trees["budget"]).any())

    def conclude(self, slot: int) -> int:
        """Let a slot decide in the next advance with the simulations that it has done; return how many."""
        trees = self._trees(slot)
        trees["budget"] = trees["simulations"]
        return int(trees["simulations"].sum())

    def means(self, slot: int) -> "RootMeans":
        """What the search of a slot expects so far for the player to decide, over all worlds."""
        n_worlds = self.sizes.worlds
        edges = [self._edges(tree) for tree in range(slot * n_worlds, (slot + 1) * n_worlds)]
        sums, visits = (np.sum([own[name] for own in edges], axis=0) for name in ("value_sum", "visits"))
        means = np.divide(sums, visits, out=np.full(len(sums), np.nan), where=visits > 0)
        return RootMeans(means, float(sums.sum() / visits.sum()) if visits.any() else None)

    def take(self, slot: int) -> PlayedGame:
        """Copy the record of a finished game."""
        game = self.memory.games.slots[slot]
        notes = self.memory.records.decisions[slot, : game["decisions"]]
        policies = self.memory.records.policies[slot, : game["policy_end"]]
        return PlayedGame(
            int(game["seed"]),
            notes["action"].copy(),
            notes["policy_end"].copy(),
            policies["action"].copy(),
            policies["visits"].copy(),
            notes["version"].copy(),
            notes["value"].copy(),
            self.memory.records.returns[slot].copy(),
            int(game["shortened"]),
            int(game["unrecorded"]),
        )

    def examples(self, record: PlayedGame) -> GameRows:
        """Return the training rows of a game."""
        return rebuild_examples(self.spec, self._entry.rebuild, record)

    def _make_policy_space(self) -> None:
        """Let the next decision of every game find space for its policy, if games may have so many entries."""
        records, sizes = self.memory.records, self.sizes
        n_entries = records.policies.shape[1]
        if n_entries == sizes.most_policy_entries:
            return
        more = _policy_entries(self.spec, self.settings, sizes.nodes_per_tree)
        if int(self.memory.games.slots["policy_end"].max()) + more > n_entries:
            grown = min(2 * (n_entries + more), sizes.most_policy_entries)
            policies = np.zeros((sizes.games, grown), layout.VISITED)
            policies[:, :n_entries] = records.policies
            self.memory = self.memory._replace(records=records._replace(policies=policies))
            self._packed = layout.pack(self.memory)

    def _trees(self, slot: int) -> Array:
        """Of a slot's worlds: a view."""
        n_worlds = self.sizes.worlds
        return self.memory.forest.trees[slot * n_worlds : (slot + 1) * n_worlds]

    def _edges(self, tree: int) -> Array:
        """Of a tree's root."""
        forest = self.memory.forest
        root = forest.nodes[tree * self.sizes.nodes_per_tree]
        return forest.edges[root["first_edge"] : root["first_edge"] + root["n_edges"]]


def _writable(array: Array) -> Array:
    """Copy what came off the wire: to a kernel, read-only memory is another type of array."""
    return array if array.flags.writeable else array.copy()
