"""Abstracted hold'em as it is solved: a betting tree, the buckets of cards, and a number for every infoset.

An infoset is a decision of the tree and a bucket of its mover's cards; infosets are numbered in the order of their
entries. A player remembers all betting and of its cards the present bucket alone.

Where workers exchange what they changed, infosets have numbers; they are listed when somebody asks for them, as the
list of a large table takes a fifth of its memory.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.menus import parse_buckets
from asyncplay.config.tables import AbstractionSettings
from asyncplay.errors import AsyncplayError
from asyncplay.games.holdem.layout import CARDS_IN_PLAY
from asyncplay.games.spec import GameSpec
from asyncplay.solve.abstraction.betting_tree import BETTING_NODE, BettingTree, compile_tree
from asyncplay.solve.abstraction.bucket_file import BucketFile, bucket_path
from asyncplay.solve.abstraction.card_buckets import CardBuckets, card_buckets, empty_buckets
from asyncplay.solve.abstraction.menus import menu_table

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types


@dataclass(frozen=True, eq=False)
class Blueprint:
    """What is solved instead of hold'em."""

    tree: BettingTree
    cards: CardBuckets
    digest: str  # SHA-256 of tree and buckets

    @property
    def players(self) -> int:
        return int(self.tree.paid.shape[1])

    @property
    def n_infosets(self) -> int:
        return self.tree.sizes.n_infosets

    @property
    def n_entries(self) -> int:
        return self.tree.sizes.n_entries

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """int64[D], the nodes that are decisions, in the order of their entries."""
        found = np.flatnonzero(self.tree.nodes["mover"] >= 0)
        ordered: NDArray[np.int64] = found[np.argsort(self.tree.nodes["base"][found])]
        return ordered

    @cached_property
    def infosets(self) -> NDArray[np.int32]:
        """int32[N], of each decision the infoset of bucket 0."""
        counts = self._bucket_counts()
        infosets = np.zeros(len(self.tree.nodes), np.int32)
        infosets[self.decisions] = np.cumsum(counts) - counts
        return infosets

    @cached_property
    def offsets(self) -> NDArray[np.int32]:
        """int32[I + 1], of each infoset's entries."""
        offsets = np.zeros(self.n_infosets + 1, np.int32)
        widths = self.tree.nodes["n"][self.decisions].astype(np.int32)
        np.cumsum(np.repeat(widths, self._bucket_counts()), out=offsets[1:])
        return offsets

    @property
    def n_bytes(self) -> int:
        """Of what every process has for itself; the buckets are mapped and shared."""
        numbers = (self.cards.flop_numbers, self.cards.turn_numbers, self.cards.river_numbers)
        tree = (self.tree.nodes, self.tree.actions, self.tree.paid)
        return sum(array.nbytes for array in (*tree, *numbers))

    @property
    def number_bytes(self) -> int:
        """Of ``infosets`` and ``offsets``."""
        return 4 * (len(self.tree.nodes) + self.n_infosets + 1)

    @property
    def bucket_bytes(self) -> int:
        """Of the mapped buckets."""
        cards = self.cards
        return sum(table.nbytes for table in (cards.preflop, cards.flop, cards.turn, cards.river))

    def _bucket_counts(self) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.array(self.tree.sizes.buckets)[self.tree.nodes["street"][self.decisions]]
        return counts


def make_blueprint(tree: BettingTree, cards: CardBuckets, buckets_digest: str) -> Blueprint:
    digest = hashlib.sha256(f"{tree.digest()} {buckets_digest}".encode()).hexdigest()
    return Blueprint(tree, cards, digest)


def compile_blueprint(spec: GameSpec, settings: AbstractionSettings) -> Blueprint:
    """Compile the tree and open the bucket file; AsyncplayError if there is none, or one of other buckets or cards."""
    path, wanted = file_of(spec, settings), parse_buckets(settings.buckets)
    if not path.exists():
        raise AsyncplayError(f"there is no {path}; `asyncplay buckets build {settings.buckets}` makes it")
    file = BucketFile(path)
    deck = int(spec.rules[CARDS_IN_PLAY])
    if file.parameters.buckets != wanted or file.parameters.deck != deck.bit_count():
        own = f"{'/'.join(map(str, file.parameters.buckets))} of {file.parameters.deck} cards"
        need = f"{settings.buckets} of {deck.bit_count()} are wanted"
        raise AsyncplayError(f"{path} has buckets {own}, but {need}; build them or name another abstraction.file")
    tree = compile_tree(spec, menu_table(settings), wanted)
    return make_blueprint(tree, card_buckets(deck, file.tables), file.digest)


def file_of(spec: GameSpec, settings: AbstractionSettings) -> Path:
    """The bucket file of a game's abstraction, there or not."""
    deck = int(spec.rules[CARDS_IN_PLAY]).bit_count()
    return Path(settings.file) if settings.file else bucket_path(deck, settings.buckets, 0)


class BlueprintArrays(NamedTuple):
    """What kernels walk on."""

    nodes: Array  # BETTING_NODE[N]
    paid: Array  # int32[ends, P]
    infosets: Array  # int32[N], or nothing where no infoset is noted
    cards: CardBuckets


def arrays_of(blueprint: Blueprint, *, has_numbers: bool = True) -> BlueprintArrays:
    """``has_numbers``: whether the walk notes which infosets it changes."""
    infosets = blueprint.infosets if has_numbers else np.zeros(0, np.int32)
    return BlueprintArrays(blueprint.tree.nodes, blueprint.tree.paid, infosets, blueprint.cards)


def empty_arrays() -> BlueprintArrays:
    """Arrays of the right types, for the signatures of kernels."""
    return BlueprintArrays(
        np.zeros(1, BETTING_NODE), np.zeros((1, 1), np.int32), np.zeros(1, np.int32), empty_buckets()
    )
