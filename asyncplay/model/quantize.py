"""Matrix products in 8-bit integers: the same graph with the linear layers replaced.

Activations become unsigned bytes by one scale for a layer's whole input, taken from sample rows; weights become
signed bytes by a scale for each unit, biases 32-bit integers by the product of both. onnxruntime fuses each layer with
the nodes around it into one integer kernel, which writes bytes where the next layer reads bytes; with a bias in floats
it fused only half of BlobNet's layers. Convolutions and all other nodes stay as they are.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from asyncplay.payloads import Array, Floats

LINEAR = "Gemm"
LEAST_SCALE = 1e-8
MOST_BIAS = 2**30


class Range(NamedTuple):
    """The values that a layer's input took, 0 included."""

    low: float
    high: float

    @property
    def scale(self) -> float:
        return max((self.high - self.low) / 255, LEAST_SCALE)

    @property
    def zero(self) -> int:
        """The byte that stands for 0."""
        return int(np.clip(round(-self.low / self.scale), 0, 255))


def with_inputs_shown(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with the inputs of all linear layers as further outputs."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    known = {value.name for value in model.graph.input}
    shown.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in linear_inputs(model) - known
    )
    return shown


def linear_inputs(model: onnx.ModelProto) -> set[str]:
    return {node.input[0] for node in model.graph.node if node.op_type == LINEAR}


def range_of(values: Floats) -> Range:
    return Range(min(float(values.min()), 0.0), max(float(values.max()), 0.0))


def quantized(model: onnx.ModelProto, weights: Mapping[str, Array], ranges: Mapping[str, Range], largest: int) -> bytes:
    """The serialised model; weights use -``largest`` .. ``largest`` of their byte."""
    filled = onnx.ModelProto()
    filled.CopyFrom(model)
    del filled.graph.node[:]
    replaced: set[str] = set()
    for name, seen in ranges.items():
        scale, zero = np.array(seen.scale, np.float32), np.array(seen.zero, np.uint8)
        filled.graph.initializer.append(numpy_helper.from_array(scale, f"{name}.scale"))
        filled.graph.initializer.append(numpy_helper.from_array(zero, f"{name}.zero"))
        filled.graph.node.extend(_input_nodes(name) if name == model.graph.input[0].name else ())
    for node in model.graph.node:
        if node.op_type == LINEAR:
            replaced |= set(node.input[1:])
            filled.graph.initializer.extend(_layer_numbers(node, weights, ranges[node.input[0]], largest))
            filled.graph.node.extend(_product(node))
        else:
            filled.graph.node.append(node)
        filled.graph.node.extend(new for name in node.output if name in ranges for new in _input_nodes(name))
    kept = {name: value for name, value in weights.items() if name not in replaced}
    filled.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in kept.items())
    return bytes(filled.SerializeToString())


def _input_nodes(name: str) -> Iterator[onnx.NodeProto]:
    """A layer's input to bytes and back; the way back is what the product is fused with."""
    numbers = [f"{name}.scale", f"{name}.zero"]
    yield helper.make_node("QuantizeLinear", [name, *numbers], [f"{name}.bytes"])
    yield helper.make_node("DequantizeLinear", [f"{name}.bytes", *numbers], [f"{name}.rounded"])


def _layer_numbers(
    node: onnx.NodeProto, weights: Mapping[str, Array], source: Range, largest: int
) -> Iterator[onnx.TensorProto]:
    """float32[outputs, inputs] turned to int8[inputs, outputs], the bias to int32[outputs], a scale for each output."""
    _, weight, bias = node.input
    most = np.abs(weights[weight]).max(axis=1) / largest
    room = np.abs(weights[bias]) / (source.scale * MOST_BIAS)  # for a bias on small weights
    scales = np.maximum(np.maximum(most, room), LEAST_SCALE).astype(np.float32)
    rounded = np.rint(weights[weight] / scales[:, None]).astype(np.int8)
    yield from _integers(weight, np.ascontiguousarray(rounded.T), scales)
    bias_scales = scales * np.float32(source.scale)
    yield from _integers(bias, np.rint(weights[bias] / bias_scales).astype(np.int32), bias_scales)


def _integers(name: str, values: Array, scales: Floats) -> Iterator[onnx.TensorProto]:
    yield numpy_helper.from_array(values, f"{name}.integers")
    yield numpy_helper.from_array(scales, f"{name}.scale")
    yield numpy_helper.from_array(np.zeros(len(scales), values.dtype), f"{name}.zero")


def _product(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """input @ weight + bias."""
    source, weight, bias = node.input
    for name, axis in ((weight, 1), (bias, 0)):
        numbers = [f"{name}.integers", f"{name}.scale", f"{name}.zero"]
        yield helper.make_node("DequantizeLinear", numbers, [f"{name}.rounded"], axis=axis)
    yield helper.make_node("Gemm", [f"{source}.rounded", f"{weight}.rounded", f"{bias}.rounded"], [node.output[0]])
