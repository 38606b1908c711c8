"""Writes a network as an ONNX graph, and its weights into that graph.

The graph is traced from the module, so there is one definition of a network. Only the layers that
``nets`` uses are known; another one fails with its name. ``torch.onnx`` would take 3 to 7 seconds for
the same graph and needs a package more; this takes some milliseconds. Weights keep their names, and
all optimisation is left to onnxruntime, which does it when a session is built.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn

from asyncplay.model.nets import FeatureScale, Net
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array

OPSET, IR_VERSION = 18, 9  # old enough for every onnxruntime that we accept
INPUT, LOGITS, VALUES = "features", "logits", "values"

Nodes = list[onnx.NodeProto]


def write_graph(net: Net, shape: NetShape) -> onnx.ModelProto:
    """The network without its weights, for any number of rows."""
    traced = fx.GraphModule(net, _Tracer().trace(net))
    nodes = [proto for node in traced.graph.nodes for proto in _write(node, traced)]
    graph = helper.make_graph(
        nodes,
        "network",
        [_array(INPUT, shape.row_features)],
        [_array(LOGITS, shape.actions), _array(VALUES, shape.players)],
    )
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)


class _Tracer(fx.Tracer):
    """Looks into our modules, but for those that are one operation."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, FeatureScale) or super().is_leaf_module(m, module_qualified_name)


def with_weights(model: onnx.ModelProto, weights: Mapping[str, Array]) -> bytes:
    """The serialised model; ``model`` itself stays without weights."""
    filled = onnx.ModelProto()
    filled.CopyFrom(model)
    filled.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    return bytes(filled.SerializeToString())


def _array(name: str, columns: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", columns])


def _write(node: fx.Node, traced: fx.GraphModule) -> Nodes:
    """ONNX nodes whose last output is named like the traced node."""
    sources = [_name(source) for source in node.all_input_nodes]
    if node.op == "call_module":
        layer = traced.get_submodule(str(node.target))
        return _LAYERS[type(layer)](layer, node, sources)
    if node.op == "call_function":
        return _FUNCTIONS[node.target](node, sources)
    if node.op == "output":
        return [
            helper.make_node("Identity", [_name(answer)], [name])
            for answer, name in zip(node.all_input_nodes, (LOGITS, VALUES), strict=True)
        ]
    return []  # the input, or a weight used directly


def _name(node: fx.Node) -> str:
    """Weights and the input are known by their own names, everything else by its traced name."""
    if node.op == "get_attr":
        return str(node.target)
    return INPUT if node.op == "placeholder" else f"#{node.name}"


def _linear(layer: Any, node: fx.Node, sources: list[str]) -> Nodes:
    return [helper.make_node("Gemm", [*sources, *_weights(node)], [_name(node)], transB=1)]


def _convolution(layer: Any, node: fx.Node, sources: list[str]) -> Nodes:
    rows, columns = layer.padding
    pads = [rows, columns, rows, columns]
    return [helper.make_node("Conv", [*sources, *_weights(node)], [_name(node)], pads=pads)]


def _layer_norm(layer: Any, node: fx.Node, sources: list[str]) -> Nodes:
    inputs = [*sources, *_weights(node)]
    return [helper.make_node("LayerNormalization", inputs, [_name(node)], axis=-1, epsilon=layer.eps)]


def _scale(layer: Any, node: fx.Node, sources: list[str]) -> Nodes:
    value = numpy_helper.from_array(layer.factors)
    factors = helper.make_node("Constant", [], [f"{_name(node)}.factors"], value=value)
    return [factors, helper.make_node("Mul", [*sources, factors.output[0]], [_name(node)])]


def _weights(node: fx.Node) -> list[str]:
    return [f"{node.target}.weight", f"{node.target}.bias"]


def _unflatten(layer: Any, node: fx.Node, sources: list[str]) -> Nodes:
    folded = _constant(node, "shape", [0, *layer.unflattened_size])  # 0 keeps the number of rows
    return [folded, helper.make_node("Reshape", [*sources, folded.output[0]], [_name(node)])]


def _narrow(node: fx.Node, sources: list[str]) -> Nodes:
    axis, start, length = (int(str(number)) for number in node.args[1:])
    bounds = [
        _constant(node, "start", [start]),
        _constant(node, "end", [start + length]),
        _constant(node, "axis", [axis]),
    ]
    inputs = [*sources, *(bound.output[0] for bound in bounds)]
    return [*bounds, helper.make_node("Slice", inputs, [_name(node)])]


def _concatenate(node: fx.Node, sources: list[str]) -> Nodes:
    return [helper.make_node("Concat", sources, [_name(node)], axis=1)]


def _add(node: fx.Node, sources: list[str]) -> Nodes:
    return [helper.make_node("Add", sources, [_name(node)])]


def _multiply(node: fx.Node, sources: list[str]) -> Nodes:
    return [helper.make_node("Mul", sources, [_name(node)])]


def _constant(node: fx.Node, role: str, numbers: list[Any]) -> onnx.NodeProto:
    value = numpy_helper.from_array(np.array(numbers, np.int64))
    return helper.make_node("Constant", [], [f"{_name(node)}.{role}"], value=value)


def _plain(operation: str) -> Callable[[Any, fx.Node, list[str]], Nodes]:
    return lambda layer, node, sources: [helper.make_node(operation, sources, [_name(node)])]


_LAYERS: dict[type[nn.Module], Callable[[Any, fx.Node, list[str]], Nodes]] = {
    nn.Linear: _linear,
    nn.Conv2d: _convolution,
    nn.LayerNorm: _layer_norm,
    nn.Unflatten: _unflatten,
    FeatureScale: _scale,
    nn.Flatten: _plain("Flatten"),
    nn.ReLU: _plain("Relu"),
    nn.Tanh: _plain("Tanh"),
    nn.Sigmoid: _plain("Sigmoid"),
    nn.AdaptiveAvgPool2d: _plain("GlobalAveragePool"),
}

_FUNCTIONS: dict[Any, Callable[[fx.Node, list[str]], Nodes]] = {
    operator.add: _add,
    operator.mul: _multiply,
    torch.cat: _concatenate,
    torch.narrow: _narrow,
}
