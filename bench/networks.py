"""Programs of the benchmark as ONNX models with seeded weights; every function returns a model of fixed sizes."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Collects nodes and initializers; each method adds to them and returns the name of its result."""

    def __init__(self, seed=0):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, shape, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, values, kind=numpy.float32):
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(values, dtype=kind, order="C"), name))
        return name

    def integers(self, *values):
        return self.constant(values, numpy.int64)

    def normal(self, shape, scale):
        values = self.random.standard_normal(shape, dtype=numpy.float32)
        values *= scale
        return self.constant(values)

    def node(self, operator, *inputs, outputs=None, **attributes):
        number = len(self.nodes)
        names = outputs or [f"{operator.lower()}_{number}"]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=f"{operator}_{number}", **attributes))
        return names[0] if len(names) == 1 else names

    def dense(self, x, given, made):
        return self.node("Add", self.node("MatMul", x, self.normal((given, made), given**-0.5)), self.normal((made,), 0.02))

    def norm(self, x, width, axis=-1):
        scale, bias = self.constant(self.random.uniform(0.8, 1.2, width)), self.normal((width,), 0.02)
        return self.node("LayerNormalization", x, scale, bias, axis=axis, epsilon=1e-5)

    def convolution(self, x, given, made, kernel, stride=1, groups=1, gain=2.0):
        """With a bias, as exporters leave it that fold the batch norm."""
        fan_in = given // groups * kernel * kernel
        weight = self.normal((made, given // groups, kernel, kernel), (gain / fan_in) ** 0.5)
        return self.node("Conv", x, weight, self.normal((made,), 0.05), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[kernel // 2] * 4, group=groups)

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="weft-bench")
        model.ir_version = 8
        return model


def mlp(batch=64, widths=(784, 2048, 2048, 2048, 10)):
    """Four dense layers, rectified between."""
    g = Graph()
    x = g.input("x", [batch, widths[0]])
    for index, (given, made) in enumerate(zip(widths, widths[1:])):
        x = g.dense(x, given, made)
        if index < len(widths) - 2:
            x = g.node("Relu", x)
    g.node("Softmax", x, outputs=["y"], axis=-1)
    g.output("y", [batch, widths[-1]])
    return g.model("mlp")


def mobilenet(batch=1, size=224):
    """The shape of MobileNet-v2: inverted residuals of 1x1, depthwise 3x3 and 1x1 convolutions, clipped to [0, 6]."""
    g = Graph()

    def clipped(x):
        return g.node("Clip", x, g.constant(0.0), g.constant(6.0))

    x = clipped(g.convolution(g.input("image", [batch, 3, size, size]), 3, 32, 3, 2))
    channels = 32
    for expansion, width, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                            (6, 320, 1, 1)):
        for index in range(count):
            step = stride if index == 0 else 1
            inner = channels * expansion
            y = clipped(g.convolution(x, channels, inner, 1)) if expansion > 1 else x
            y = clipped(g.convolution(y, inner, inner, 3, step, groups=inner))
            y = g.convolution(y, inner, width, 1, gain=0.5 if step == 1 and channels == width else 1.0)
            x = g.node("Add", x, y) if step == 1 and channels == width else y
            channels = width
    x = clipped(g.convolution(x, channels, 1280, 1))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.node("Softmax", g.dense(x, 1280, 1000), outputs=["probabilities"], axis=-1)
    g.output("probabilities", [batch, 1000])
    return g.model("mobilenet")


def yolo(batch=1, size=640, classes=80):
    """The shape of YOLOv8-nano: C2f blocks of SiLU convolutions, a pyramid of three scales, boxes from distributions."""
    g = Graph()
    width = (16, 32, 64, 128, 256)
    bins = 16

    def silu(x, given, made, kernel=1, stride=1):
        y = g.convolution(x, given, made, kernel, stride)
        return g.node("Mul", y, g.node("Sigmoid", y))

    def c2f(x, given, made, count, shortcut):
        half = made // 2
        parts = g.node("Split", silu(x, given, made), g.integers(half, half), axis=1,
                       outputs=[f"split_{len(g.nodes)}_{k}" for k in range(2)])
        for _ in range(count):
            y = silu(silu(parts[-1], half, half, 3), half, half, 3)
            parts.append(g.node("Add", parts[-1], y) if shortcut else y)
        return silu(g.node("Concat", *parts, axis=1), half * len(parts), made)

    def double(x):
        return g.node("Resize", x, "", g.constant([1, 1, 2, 2]), mode="nearest", coordinate_transformation_mode="asymmetric",
                      nearest_mode="floor")

    x = silu(g.input("images", [batch, 3, size, size]), 3, width[0], 3, 2)
    x = c2f(silu(x, width[0], width[1], 3, 2), width[1], width[1], 1, True)
    third = c2f(silu(x, width[1], width[2], 3, 2), width[2], width[2], 2, True)
    fourth = c2f(silu(third, width[2], width[3], 3, 2), width[3], width[3], 2, True)
    x = c2f(silu(fourth, width[3], width[4], 3, 2), width[4], width[4], 1, True)
    # Pooling at growing sizes.
    y = silu(x, width[4], width[4] // 2)
    pooled = [y]
    for _ in range(3):
        pooled.append(g.node("MaxPool", pooled[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    fifth = silu(g.node("Concat", *pooled, axis=1), width[4] * 2, width[4])
    fourth = c2f(g.node("Concat", double(fifth), fourth, axis=1), width[4] + width[3], width[3], 1, False)
    low = c2f(g.node("Concat", double(fourth), third, axis=1), width[3] + width[2], width[2], 1, False)
    middle = c2f(g.node("Concat", silu(low, width[2], width[2], 3, 2), fourth, axis=1), width[2] + width[3], width[3], 1, False)
    high = c2f(g.node("Concat", silu(middle, width[3], width[3], 3, 2), fifth, axis=1), width[3] + width[4], width[4], 1, False)
    boxes, scores, anchors, strides = [], [], [], []
    inner = max(width[2], classes)
    for value, given, stride in ((low, width[2], 8), (middle, width[3], 16), (high, width[4], 32)):
        extent = size // stride
        box = g.convolution(silu(silu(value, given, 64, 3), 64, 64, 3), 64, 4 * bins, 1, gain=1.0)
        score = g.convolution(silu(silu(value, given, inner, 3), inner, inner, 3), inner, classes, 1, gain=1.0)
        boxes.append(g.node("Reshape", box, g.integers(batch, 4 * bins, extent * extent)))
        scores.append(g.node("Reshape", score, g.integers(batch, classes, extent * extent)))
        rows, columns = numpy.meshgrid(numpy.arange(extent) + 0.5, numpy.arange(extent) + 0.5, indexing="ij")
        anchors.append(numpy.stack([columns.ravel(), rows.ravel()]))
        strides.append(numpy.full((1, extent * extent), stride))
    anchor, stride = g.constant(numpy.concatenate(anchors, 1)[None]), g.constant(numpy.concatenate(strides, 1)[None])
    count = sum((size // s) ** 2 for s in (8, 16, 32))
    x = g.node("Reshape", g.node("Concat", *boxes, axis=2), g.integers(batch, 4, bins, count))
    x = g.node("Softmax", g.node("Transpose", x, perm=[0, 2, 1, 3]), axis=1)
    weight = g.constant(numpy.arange(bins).reshape(1, bins, 1, 1))
    x = g.node("Reshape", g.node("Conv", x, weight, kernel_shape=[1, 1]), g.integers(batch, 4, count))
    near, far = g.node("Split", x, g.integers(2, 2), axis=1, outputs=["near", "far"])
    low, high = g.node("Sub", anchor, near), g.node("Add", anchor, far)
    centre = g.node("Div", g.node("Add", low, high), g.constant(2.0))
    box = g.node("Mul", g.node("Concat", centre, g.node("Sub", high, low), axis=1), stride)
    g.node("Concat", box, g.node("Sigmoid", g.node("Concat", *scores, axis=2)), axis=1, outputs=["detections"])
    g.output("detections", [batch, 4 + classes, count])
    return g.model("yolo")


def decoder_step(layers=12, hidden=768, heads=12, vocabulary=50257, past=255):
    """One token through a decoder of GPT-2's shape: keys and values of the past are inputs, those with the token outputs."""
    g = Graph()
    width = hidden // heads
    tokens, positions = (g.input(name, [1, 1], TensorProto.INT64) for name in ("input_ids", "position_ids"))
    table = g.normal((vocabulary, hidden), 0.02)
    x = g.node("Add", g.node("Gather", table, tokens), g.node("Gather", g.normal((1024, hidden), 0.02), positions))
    for layer in range(layers):
        query, key, value = g.node("Split", g.dense(g.norm(x, hidden), hidden, 3 * hidden), g.integers(hidden, hidden, hidden), axis=2,
                                   outputs=[f"{part}_{layer}" for part in ("query", "key", "value")])
        query, key, value = (g.node("Transpose", g.node("Reshape", part, g.integers(1, 1, heads, width)), perm=[0, 2, 1, 3])
                             for part in (query, key, value))
        present = []
        for part, name in ((key, "key"), (value, "value")):
            before = g.input(f"past_{name}_{layer}", [1, heads, past, width])
            present.append(g.node("Concat", before, part, axis=2, outputs=[f"present_{name}_{layer}"]))
            g.output(present[-1], [1, heads, past + 1, width])
        scores = g.node("MatMul", query, g.node("Transpose", present[0], perm=[0, 1, 3, 2]))
        scores = g.node("Softmax", g.node("Div", scores, g.constant(width**0.5)), axis=-1)
        mixed = g.node("Transpose", g.node("MatMul", scores, present[1]), perm=[0, 2, 1, 3])
        x = g.node("Add", x, g.dense(g.node("Reshape", mixed, g.integers(1, 1, hidden)), hidden, hidden))
        x = g.node("Add", x, g.dense(tanh_gelu(g, g.dense(g.norm(x, hidden), hidden, 4 * hidden)), 4 * hidden, hidden))
    g.node("MatMul", g.norm(x, hidden), g.normal((hidden, vocabulary), 0.02), outputs=["logits"])
    g.output("logits", [1, 1, vocabulary])
    return g.model("decoder_step")


def tanh_gelu(g, x):
    cube = g.node("Mul", g.node("Pow", x, g.constant(3.0)), g.constant(0.044715))
    inner = g.node("Tanh", g.node("Mul", g.node("Add", x, cube), g.constant((2 / numpy.pi) ** 0.5)))
    return g.node("Mul", g.node("Mul", x, g.constant(0.5)), g.node("Add", inner, g.constant(1.0)))


def lstm(batch=1, length=100, given=128, hidden=256):
    g = Graph()
    x = g.input("x", [length, batch, given])
    weights = [g.normal((1, 4 * hidden, extent), extent**-0.5) for extent in (given, hidden)]
    g.node("LSTM", x, *weights, g.normal((1, 8 * hidden), 0.05), outputs=["y", "last"], hidden_size=hidden)
    g.output("y", [length, 1, batch, hidden])
    g.output("last", [1, batch, hidden])
    return g.model("lstm")


def softmax(extent=4096):
    g = Graph()
    g.node("Softmax", g.input("x", [extent, extent]), axis=-1, outputs=["y"])
    g.output("y", [extent, extent])
    return g.model("softmax")


def layer_norm(extent=4096):
    g = Graph()
    scale, bias = g.constant(g.random.uniform(0.8, 1.2, extent)), g.normal((extent,), 0.02)
    g.node("LayerNormalization", g.input("x", [extent, extent]), scale, bias, axis=-1, outputs=["y"])
    g.output("y", [extent, extent])
    return g.model("layer_norm")


def gelu(extent=4096):
    """x / 2 (1 + erf(x / sqrt(2))), written out."""
    g = Graph()
    x = g.input("x", [extent, extent])
    inner = g.node("Add", g.node("Erf", g.node("Div", x, g.constant(2**0.5))), g.constant(1.0))
    g.node("Mul", g.node("Mul", x, inner), g.constant(0.5), outputs=["y"])
    g.output("y", [extent, extent])
    return g.model("gelu")


def row_sum(extent=4096):
    g = Graph()
    g.node("ReduceSum", g.input("x", [extent, extent]), g.integers(1), keepdims=0, outputs=["y"])
    g.output("y", [extent])
    return g.model("row_sum")


def with_sizes(model, sizes):
    """The model with its named sizes fixed."""
    for value in list(model.graph.input) + list(model.graph.output):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param in sizes:
                dimension.dim_value = sizes[dimension.dim_param]
    del model.graph.value_info[:]
    onnx.checker.check_model(model)
    return model
