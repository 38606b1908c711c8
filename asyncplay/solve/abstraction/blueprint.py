"""Abstracted hold'em as it is solved: a betting tree, the buckets of cards, and a number for every infoset.

An infoset is a decision of the tree and a bucket of its mover's cards; infosets are numbered in the order of their
entries. A player remembers all betting and of its cards the present bucket alone.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay.config.menus import parse_buckets
from asyncplay.config.sections import AbstractionSettings
from asyncplay.errors import AsyncplayError
from asyncplay.games.holdem.layout import CARDS_IN_PLAY
from asyncplay.games.spec import GameSpec
from asyncplay.solve.abstraction.betting_tree import BETTING_NODE, BettingTree, compile_tree
from asyncplay.solve.abstraction.bucket_file import BucketFile, bucket_path
from asyncplay.solve.abstraction.card_buckets import CardBuckets, card_buckets, empty_buckets
from asyncplay.solve.abstraction.menus import menu_table

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types


class Blueprint(NamedTuple):
    """What is solved instead of hold'em."""

    tree: BettingTree
    cards: CardBuckets
    infosets: NDArray[np.int32]  # int32[N], of each decision the infoset of bucket 0
    offsets: NDArray[np.int32]  # int32[I + 1], of each infoset's entries
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

    @property
    def n_bytes(self) -> int:
        """Of what every process has for itself; the buckets are mapped and shared."""
        numbers = (self.cards.flop_numbers, self.cards.turn_numbers, self.cards.river_numbers)
        tree = (self.tree.nodes, self.tree.actions, self.tree.paid)
        return sum(array.nbytes for array in (*tree, *numbers, self.infosets, self.offsets))


def make_blueprint(tree: BettingTree, cards: CardBuckets, buckets_digest: str) -> Blueprint:
    """Number the infosets."""
    nodes, n_buckets = tree.nodes, np.array(tree.sizes.buckets)
    decisions = np.flatnonzero(nodes["mover"] >= 0)
    decisions = decisions[np.argsort(nodes["base"][decisions])]
    counts = n_buckets[nodes["street"][decisions]]
    infosets, offsets = np.zeros(len(nodes), np.int32), np.zeros(tree.sizes.n_infosets + 1, np.int32)
    infosets[decisions] = np.cumsum(counts) - counts
    np.cumsum(np.repeat(nodes["n"][decisions].astype(np.int32), counts), out=offsets[1:])
    digest = hashlib.sha256(f"{tree.digest()} {buckets_digest}".encode()).hexdigest()
    return Blueprint(tree, cards, infosets, offsets, digest)


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
    infosets: Array  # int32[N]
    cards: CardBuckets


def arrays_of(blueprint: Blueprint) -> BlueprintArrays:
    return BlueprintArrays(blueprint.tree.nodes, blueprint.tree.paid, blueprint.infosets, blueprint.cards)


def empty_arrays() -> BlueprintArrays:
    """Arrays of the right types, for the signatures of kernels."""
    return BlueprintArrays(
        np.zeros(1, BETTING_NODE), np.zeros((1, 1), np.int32), np.zeros(1, np.int32), empty_buckets()
    )
