"""Messages of every kind, generated from their declarations."""

import dataclasses
import typing

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from asyncplay.methods.buckets.messages import BoardsSpec
from asyncplay.methods.mccfr.messages import Delta
from asyncplay.methods.population.messages import Episode, RedoSpec
from asyncplay.methods.selfplay.messages import Game, RebuildSpec
from asyncplay.methods.synthetic.messages import SyntheticSpec
from asyncplay.wire import codec
from asyncplay.wire.messages import MOST_SECONDS, Ack, Ask, Computed, Layout, Message, PlaceModel, Within

MESSAGES = tuple(shape.cls for shape in codec._SHAPES.values())
assert {Ask, Game, Delta, SyntheticSpec} < set(MESSAGES), "the engine's messages and those of every method"

NUMBERS = st.integers(-(2**63), 2**63 - 1)
SCALARS = {
    int: NUMBERS,
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    str: st.text(max_size=20),
    bytes: st.binary(max_size=50),
}


def arrays(layout: Layout) -> st.SearchStrategy[np.ndarray]:
    shape = hnp.array_shapes(min_dims=layout.ndim, max_dims=layout.ndim, min_side=0, max_side=5)
    return st.sampled_from(layout.dtypes).flatmap(lambda name: hnp.arrays(np.dtype(name), shape))


def field(hint: typing.Any) -> st.SearchStrategy:
    mark = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Layout | Within)), None)
    if isinstance(mark, Within):
        return st.integers(*mark)
    return SCALARS[hint] if mark is None else arrays(mark)


@st.composite
def messages(draw: st.DrawFn, kinds: tuple[type[Message], ...] = MESSAGES) -> Message:
    cls = draw(st.sampled_from(kinds))
    hints = typing.get_type_hints(cls, include_extras=True)
    values = {item.name: draw(field(hints[item.name])) for item in dataclasses.fields(cls)}
    return cls(**mended(draw, cls, values))


def mended(draw: st.DrawFn, cls: type[Message], values: dict) -> dict:  # noqa: PLR0912  # a branch for each kind
    """Make fields that belong together agree."""
    if cls is PlaceModel:
        values["max_rows"] = max(values["max_rows"], 1)
    if cls is Computed:
        values["sizes"] = np.maximum(values["sizes"], 1)
        values["seconds"] = min(abs(values["seconds"]), MOST_SECONDS)
    if cls is Delta:
        values["sums"] = values["regrets"][::-1].copy()
        if not values["is_last"]:
            values |= {"iterations": 0, "nodes": 0, "utility": 0.0, "infosets": np.arange(3, dtype=np.int32)}
    if cls is RebuildSpec:
        values["return_ends"] = values["record_ends"] = values["seeds"][::-1].copy()
    if cls is RedoSpec:
        values["record_ends"] = values["seeds"][::-1].copy()
    if cls is Episode:
        n_rows = len(values["rewards"])
        for name in ("actions", "seats", "versions"):
            values[name] = np.zeros(n_rows, values[name].dtype)
        for name in ("frames", "choices"):
            values[name] = np.zeros((n_rows, values[name].shape[1]), values[name].dtype)
        values["outcome"] = np.zeros(len(values["returns"]), np.float32)
    if cls is BoardsSpec:
        values["weights"], values["ends"] = values["boards"][::-1].copy(), np.array([len(values["boards"])])
    if cls is Ack:
        values["units"] = values["jobs"][::-1].copy()
    if cls is Ask and len(values["features"]) == 0:
        values["features"] = np.zeros((1, 3), np.uint8)
    if cls in (Ask, Game):
        widths = draw(st.lists(st.integers(1, 4), min_size=len(values["features"]), max_size=len(values["features"])))
        values["offsets"] = np.cumsum([0, *widths], dtype=np.int32)
        values["legal"] = np.arange(values["offsets"][-1], dtype=np.int32)
    if cls is Ask:
        values["slots"] = 1 + values["slots"] % len(values["features"])
        values["extra"] %= len(values["features"]) + 1
    if cls is Game:
        n_rows = len(values["features"])
        for name in ("decisions", "seats", "versions"):
            values[name] = np.zeros(n_rows, values[name].dtype)
        values["targets"] = np.ones(len(values["legal"]), np.float32)
        values["outcome"] = np.zeros(len(values["returns"]), np.float32)
        values["values"] = np.zeros((n_rows, len(values["returns"])), np.float32)
        values["states"] = np.zeros((n_rows, values["states"].shape[1]), np.int64)
    return values
