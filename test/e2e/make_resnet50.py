"""Writes ResNet-50 (version 1.5, opset 18, symbolic batch) with seeded weights as an ONNX file.

The weights are He-scaled and the batch statistics are non-trivial, so that activations keep their scale through the depth
and the classes' probabilities differ: a mistake anywhere shows in the output. usage: make_resnet50.py OUTPUT.onnx [SEED]
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))


class Network:
    """Collects nodes and initializers; each method adds one layer and returns the name of its output."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes = []
        self.initializers = []

    def parameter(self, name, values):
        self.initializers.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def node(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def convolution(self, x, name, channels_in, channels_out, kernel, stride, relu=True, scale=1.0):
        fan_in = channels_in * kernel * kernel
        weight = self.random.normal(0, (2 / fan_in) ** 0.5, (channels_out, channels_in, kernel, kernel))
        pad = kernel // 2
        x = self.node("Conv", [x, self.parameter(name + ".weight", weight)], name + ".conv",
                      kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad, pad, pad, pad])
        statistics = [
            self.parameter(name + ".scale", scale * self.random.uniform(0.8, 1.2, channels_out)),
            self.parameter(name + ".bias", self.random.normal(0, 0.1, channels_out)),
            self.parameter(name + ".mean", self.random.normal(0, 0.1, channels_out)),
            self.parameter(name + ".variance", self.random.uniform(0.5, 1.5, channels_out)),
        ]
        x = self.node("BatchNormalization", [x] + statistics, name + ".norm", epsilon=1e-5)
        return self.node("Relu", [x], name + ".relu") if relu else x

    def block(self, x, name, channels_in, width, stride):
        """A bottleneck: 1x1, 3x3 with the stride, 1x1 to four times the width, added to the (projected) input."""
        y = self.convolution(x, name + ".reduce", channels_in, width, 1, 1)
        y = self.convolution(y, name + ".spatial", width, width, 3, stride)
        # A branch that adds little keeps the scale of the activations constant over the sixteen blocks.
        y = self.convolution(y, name + ".expand", width, 4 * width, 1, 1, relu=False, scale=0.3)
        if channels_in != 4 * width or stride != 1:
            x = self.convolution(x, name + ".project", channels_in, 4 * width, 1, stride, relu=False, scale=0.7)
        total = self.node("Add", [x, y], name + ".add")
        return self.node("Relu", [total], name + ".relu")


def build(seed=0):
    network = Network(seed)
    x = network.convolution("image", "stem", 3, 64, 7, 2)
    x = network.node("MaxPool", [x], "stem.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, (blocks, width) in enumerate(STAGES, start=1):
        for index in range(blocks):
            stride = 2 if index == 0 and stage > 1 else 1
            x = network.block(x, f"stage{stage}.block{index}", channels, width, stride)
            channels = 4 * width
    x = network.node("GlobalAveragePool", [x], "pool")
    x = network.node("Flatten", [x], "flatten", axis=1)
    weight = network.random.normal(0, channels ** -0.5, (1000, channels))
    x = network.node("Gemm", [x, network.parameter("classifier.weight", weight),
                              network.parameter("classifier.bias", network.random.normal(0, 0.1, 1000))], "classifier", transB=1)
    network.node("Softmax", [x], "probabilities", axis=-1)
    graph = helper.make_graph(
        network.nodes,
        "resnet50",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 224, 224])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 1000])],
        network.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], producer_name="weft-test")
    model.ir_version = 8
    return model


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    onnx.save(build(int(sys.argv[2]) if len(sys.argv) == 3 else 0), sys.argv[1])
