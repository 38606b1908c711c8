"""Groups of either lane: compiled games, or games in plain Python."""

from asyncplay.games.spec import GameSpec
from asyncplay.search.group import Group
from asyncplay.search.layout import KernelSettings, Sizes, needed_bytes
from asyncplay.search.slow_group import SlowGroup, slow_bytes

AnyGroup = Group | SlowGroup


def make_group(spec: GameSpec, settings: KernelSettings, n_games: int) -> AnyGroup:
    """Games of one kind that think together in a worker."""
    return Group(spec, settings, n_games) if spec.slow is None else SlowGroup(spec, settings, n_games)


def group_bytes(spec: GameSpec, sizes: Sizes, settings: KernelSettings) -> int:
    """The bytes that a group of these sizes takes, or may come to take."""
    return needed_bytes(spec, sizes, settings) if spec.slow is None else slow_bytes(spec, sizes, settings)
