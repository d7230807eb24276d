"""Operators of ONNX Runtime's domain and of ai.onnx.ml, compiled by Weft, against onnxruntime; operators that draw random numbers against their
distributions.

The cases of a family are nodes of one model. Floats agree if max|a-b| <= 1e-4 max|b|; integers agree exactly, but for those
that come from an average, which may round either way where it lies in the middle.
"""

import argparse
import functools
import os
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import weft_tool

TOLERANCE = 1e-4
RUNTIME = "com.microsoft"
LEARNING = "ai.onnx.ml"
random = numpy.random.default_rng(7)


def floats(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def whole(low, high, shape, kind):
    return random.integers(low, high, shape).astype(kind)


def scalar(value, kind=numpy.float32):
    return numpy.array(value, kind)


class Constant:
    """An input that is an initializer of the model."""

    def __init__(self, value):
        self.value = value


class Family:
    def __init__(self, name, learning=3):
        self.learning = learning  # the opset of ai.onnx.ml
        self.known = {}  # what takes the place of onnxruntime's result, a function of all results
        self.name, self.nodes, self.inputs, self.constants, self.slack = name, [], {}, [], {}

    def add(self, op, inputs, outputs=(True,), domain=RUNTIME, slack=0, **attributes):
        """One node; an input is an array, a Constant or None, an output that is not wanted False."""
        label = f"{op}_{len(self.nodes)}"
        names = []
        for position, value in enumerate(inputs):
            name = "" if value is None else f"{label}_in{position}"
            names.append(name)
            if isinstance(value, Constant):
                self.constants.append(numpy_helper.from_array(value.value, name))
            elif value is not None:
                self.inputs[name] = value
        results = [f"{label}_out{i}" if wanted else "" for i, wanted in enumerate(outputs)]
        self.slack.update({result: slack for result in results if result})
        self.nodes.append(helper.make_node(op, names, results, name=label, domain=domain, **attributes))
        return label

    def model(self, outputs=None):
        """The model; `outputs` are the arrays that say the types of its results."""
        names = list(self.slack)
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                for name, value in self.inputs.items()
            ],
            [onnx.ValueInfoProto(name=name) for name in names],
            self.constants,
        )
        for output in graph.output if outputs else []:
            value = outputs[output.name]
            output.CopyFrom(
                helper.make_tensor_value_info(output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME, 1), helper.make_opsetid(LEARNING, self.learning)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def expected(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(
            self.model().SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results = dict(zip(self.slack, session.run(list(self.slack), self.inputs)))
        results.update({name: made(results) for name, made in self.known.items()})
        return results


def activations():
    family = Family("activations")
    for op, inputs in (("Gelu", 1), ("FastGelu", 1), ("FastGelu", 2), ("BiasGelu", 2), ("QuickGelu", 1)):
        family.add(op, [floats(2, 3, 8), floats(8)][:inputs])
    family.add("QuickGelu", [floats(2, 8)], alpha=1.3)
    return family


def products():
    family = Family("products")
    family.add("FusedMatMul", [floats(2, 4, 3), floats(2, 5, 4)], alpha=0.5, transA=1, transB=1)
    family.add("FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], transBatchA=1)
    family.add("FusedMatMul", [floats(4, 2, 3), floats(5, 2, 4)], transBatchA=1, transBatchB=1, transA=1, transB=1)
    for name, parameters in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Sigmoid", {}), ("Tanh", {})):
        family.add(
            "FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], alpha=0.5, beta=2.0, transB=1, activation=name, **parameters
        )
    for name, parameters in (("Relu", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4])):
        extra = {"activation_params": parameters} if parameters else {}
        inputs = [floats(1, 4, 5, 5), Constant(floats(6, 4, 3, 3)), Constant(floats(6))]
        family.add("FusedConv", inputs, pads=[1, 1, 1, 1], activation=name, **extra)
    inputs = [floats(1, 4, 5, 5), Constant(floats(6, 4, 3, 3)), Constant(floats(6)), floats(1, 6, 5, 5)]
    family.add("FusedConv", inputs, pads=[1, 1, 1, 1], activation="Relu")
    family.add("Trilu", [floats(2, 4, 5), Constant(scalar(1, numpy.int64))], upper=0)
    family.add("GatherND", [floats(3, 4, 5), Constant(numpy.array([[0, 1], [2, 3]], numpy.int64))])
    return family


def normalizations():
    family = Family("normalizations")
    for op, vectors in (("SkipLayerNormalization", 2), ("SkipSimplifiedLayerNormalization", 1)):
        for kind in (numpy.float32, numpy.float16):
            inputs = [floats(2, 3, 8), floats(2, 3, 8)] + [floats(8) for _ in range(vectors + 1)]
            inputs = [value.astype(kind) for value in inputs]
            family.add(op, inputs[:-1], epsilon=1e-5)
            family.add(op, inputs, (True, False, False, True), epsilon=1e-5)
        family.add(op, [floats(2, 3, 8), floats(3, 8)] + [floats(8) for _ in range(vectors)])
    family.add("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)])
    family.add("SimplifiedLayerNormalization", [floats(2, 3, 8), floats(8)], (True, True), domain="", axis=-1, epsilon=1e-5)
    tables = [Constant(floats(20, 8)), Constant(floats(16, 8)), Constant(floats(2, 8)), Constant(floats(8)), Constant(floats(8))]
    words, segments = whole(0, 20, (2, 5), numpy.int32), whole(0, 2, (2, 5), numpy.int32)
    mask = numpy.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], numpy.int32)
    family.add("EmbedLayerNormalization", [words, segments, *tables, mask], (True, True), epsilon=1e-5)
    places = whole(0, 16, (2, 5), numpy.int32)
    without = [words, None, tables[0], tables[1], None, tables[3], tables[4], None, places]
    family.add("EmbedLayerNormalization", without, (True, True, True), epsilon=1e-5)
    return family


def quantized():
    family = Family("quantized")
    for kind, low, high in ((numpy.uint8, 0, 256), (numpy.int8, -128, 128)):

        def tensor(*shape):
            return whole(low, high, shape, kind)

        def scale(value, point):
            return [Constant(scalar(value)), Constant(scalar(point, kind))]

        for op in ("QLinearAdd", "QLinearMul"):
            family.add(op, [tensor(2, 3, 8), *scale(0.02, 5), tensor(8), *scale(0.03, 7), *scale(0.05, 3)])
        family.add("QLinearSigmoid", [tensor(2, 3, 8), *scale(0.02, 5), *scale(1 / 256, 3)])
        family.add("QLinearLeakyRelu", [tensor(2, 3, 8), *scale(0.02, 5), *scale(0.021, 3)], alpha=0.1)
        for last in (0, 1):
            family.add(
                "QLinearGlobalAveragePool", [tensor(2, 3, 5, 8), *scale(0.02, 5), *scale(0.01, 3)], slack=1, channels_last=last
            )
            window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
            family.add(
                "QLinearAveragePool", [tensor(2, 5, 6, 8), *scale(0.02, 5), *scale(0.01, 3)], slack=1, channels_last=last, **window
            )
        parts = [tensor(2, 3, 4), *scale(0.02, 5), tensor(2, 5, 4), *scale(0.03, 7)]
        family.add("QLinearConcat", [*scale(0.05, 3), *parts], axis=1)
        for axis, opset in ((-1, 13), (1, 13), (1, 11)):
            family.add("QLinearSoftmax", [tensor(2, 3, 8), *scale(0.02, 5), *scale(1 / 256, 0)], axis=axis, opset=opset)
        bias = Constant(whole(-500, 500, (5,), numpy.int32))
        family.add("QGemm", [tensor(3, 8), *scale(0.02, 5), tensor(5, 8), *scale(0.03, 7), bias, *scale(0.7, 3)], transB=1)
    choice = numpy.array([True, False, True, False])
    points = [Constant(scalar(value, numpy.uint8)) for value in (5, 7, 3)]
    scales = [Constant(scalar(value)) for value in (0.02, 0.03, 0.05)]
    left, right = whole(0, 256, (3, 4), numpy.uint8), whole(0, 256, (3, 4), numpy.uint8)
    family.add("QLinearWhere", [choice, left, scales[0], points[0], right, scales[1], points[1], scales[2], points[2]])
    # Small right operands: with large ones onnxruntime's sums of pairs saturate on processors without VNNI.
    for kind in (numpy.uint8, numpy.int8):
        right = whole(0, 60, (8, 5), kind)
        vectors = [Constant(numpy.abs(floats(5))), Constant(whole(0, 60, (5,), kind)), Constant(floats(5))]
        left = [whole(0, 256, (2, 3, 8), numpy.uint8), right, Constant(scalar(0.02)), vectors[0]]
        family.add("MatMulIntegerToFloat", [*left, Constant(scalar(5, numpy.uint8)), vectors[1], vectors[2]])
        family.add("DynamicQuantizeMatMul", [floats(2, 3, 8), right, *vectors])
    rows, depth, block, blocks = 6, 40, 16, 3
    for bits in (2, 4, 8):
        packed = Constant(whole(0, 256, (rows, blocks, block * bits // 8), numpy.uint8))
        inputs = [floats(2, 3, depth), packed, Constant(numpy.abs(floats(rows, blocks)))]
        points = Constant(whole(0, 256, (rows, (blocks * bits + 7) // 8), numpy.uint8))
        for extra in ([], [points]):
            family.add("MatMulNBits", inputs + extra, K=depth, N=rows, bits=bits, block_size=block)
    return family


def attentions():
    family = Family("attentions")
    batch, length, hidden, heads, before = 2, 4, 12, 3, 3
    for ahead in (0, 1):
        for past in (0, before):
            total = length + past
            padded = numpy.ones((batch, total), numpy.int32)
            padded[1, -2:] = 0
            rows = whole(0, 2, (batch, length, total), numpy.int32)
            rows[:, :, 0] = 1
            ends = numpy.array([total, total - 1, 0, 1], numpy.int32)
            for mask in (None, padded, rows, numpy.array([total, total - 2], numpy.int32), ends):
                inputs = [floats(batch, length, 10), Constant(floats(10, 3 * hidden)), Constant(floats(3 * hidden)), mask]
                if past:
                    inputs.append(floats(2, batch, heads, past, hidden // heads))
                family.add("Attention", inputs, (True, True) if past else (True,), num_heads=heads, unidirectional=ahead)
        query = [floats(batch, length, hidden) for _ in range(3)]
        family.add("MultiHeadAttention", [*query, Constant(floats(3 * hidden))], num_heads=heads, unidirectional=ahead)
        cache = [floats(batch, heads, 2, hidden // heads) for _ in range(2)]
        family.add(
            "MultiHeadAttention", [*query, None, None, None, *cache], (True,) * 3, num_heads=heads, unidirectional=ahead
        )
    family.add("Attention", [floats(2, 4, 10), Constant(floats(10, 48)), Constant(floats(48))], num_heads=3, qkv_hidden_sizes=[12, 12, 24])
    cross = [floats(2, 4, 12), floats(2, 6, 12), floats(2, 6, 24), None]
    family.add("MultiHeadAttention", [*cross, numpy.array([[1, 1, 1, 1, 0, 0], [1] * 6], numpy.int32)], num_heads=3)
    family.add("MultiHeadAttention", [*cross, numpy.array([4, 6], numpy.int32)], num_heads=3)
    family.add("MultiHeadAttention", [*cross, None, floats(1, 3, 4, 6)], num_heads=3, scale=0.2)
    family.add("MultiHeadAttention", [floats(2, 4, 12), floats(2, 3, 6, 4), floats(2, 3, 6, 4)], num_heads=3)
    angles = numpy.outer(numpy.arange(64), 1 / 10000 ** (numpy.arange(8) / 8)).astype(numpy.float32)
    turn = [Constant(numpy.cos(angles)), Constant(numpy.sin(angles))]

    def grouped(new, past, packed=False, rotary=False, sinks=None, **attributes):
        heads, shared, size, total = 4, 2, 16, new + (past or 0)
        if packed:
            inputs = [floats(batch, new, (heads + 2 * shared) * size), None, None]
        else:
            inputs = [floats(batch, new, count * size) for count in (heads, shared, shared)]
        inputs += [None if past is None else floats(batch, shared, past, size) for _ in range(2)]
        inputs += [numpy.full((batch,), total - 1, numpy.int32), Constant(scalar(total, numpy.int32))]
        inputs += turn if rotary else [None, None]
        inputs += [None, None, sinks]
        while inputs[-1] is None:
            inputs.pop()
        family.add(
            "GroupQueryAttention", inputs, (True,) * 3, num_heads=heads, kv_num_heads=shared, do_rotary=int(rotary), **attributes
        )

    grouped(5, 0)
    grouped(5, None)
    grouped(5, 0, packed=True, rotary=True)
    grouped(5, 0, rotary=True, rotary_interleaved=1)
    grouped(1, 6)
    grouped(1, 6, rotary=True)
    grouped(5, 0, local_window_size=2)
    grouped(1, 6, local_window_size=3)
    grouped(5, 0, softcap=2.0, scale=0.4)
    grouped(5, 0, sinks=Constant(floats(4)))
    grouped(5, 0, smooth_softmax=1)
    for interleaved in (0, 1):
        family.add("RotaryEmbedding", [floats(2, 3, 32), whole(0, 64, (2, 3), numpy.int64), *turn], interleaved=interleaved)
        first = numpy.array([2], numpy.int64)
        family.add("RotaryEmbedding", [floats(2, 3, 5, 16), first, *turn], interleaved=interleaved)
    return family


def features():
    """ai.onnx.ml: what prepares features, and linear models."""
    family = Family("features", learning=4)
    x, missing = floats(5, 4), floats(5, 4)
    missing[0, 1] = missing[3, 3] = numpy.nan
    add = functools.partial(family.add, domain=LEARNING)
    add("ArrayFeatureExtractor", [x, Constant(numpy.array([[2, 0, 2]], numpy.int64))])
    add("ArrayFeatureExtractor", [floats(6), numpy.array([5], numpy.int64)])
    add("Binarizer", [x], threshold=0.2)
    for norm in ("MAX", "L1", "L2"):
        add("Normalizer", [numpy.concatenate([x, numpy.zeros((1, 4), numpy.float32)])], norm=norm)
    add("Scaler", [x], offset=[0.5], scale=[2.0])
    add("Scaler", [whole(-9, 9, (5, 4), numpy.int64)], offset=[0.5, 1, 2, 3], scale=[2.0, 1, 0.5, -1])
    add("Imputer", [missing], imputed_value_floats=[7.0], replaced_value_float=float("nan"))
    add("Imputer", [whole(-1, 2, (5, 4), numpy.int64)], imputed_value_int64s=[5, 6, 7, 8], replaced_value_int64=-1)
    add("OneHotEncoder", [whole(0, 4, (3, 2), numpy.int64)], cats_int64s=[0, 1, 3], zeros=1)
    add("LabelEncoder", [whole(0, 5, (3, 4), numpy.int64)], keys_int64s=[1, 3, 4], values_int64s=[10, 30, 40], default_int64=-7)
    add("LabelEncoder", [whole(0, 5, (7,), numpy.int64)], keys_int64s=[1, 3, 4], values_floats=[0.1, 0.3, 0.4], default_float=2.5)
    add("LabelEncoder", [numpy.array([1.5, numpy.nan, 2, 3], numpy.float32)], keys_floats=[2.0, float("nan")], values_int64s=[20, 99])
    add("FeatureVectorizer", [floats(3, 2), floats(3, 4)], inputdimensions=[2, 4])
    weights, biases = [float(value) for value in floats(12)], [0.1, -0.2, 0.3]
    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        add("LinearRegressor", [x], coefficients=weights, intercepts=biases, targets=3, post_transform=transform)
        add("LinearClassifier", [x], (True, True), coefficients=weights, intercepts=biases, classlabels_ints=[7, -3, 5], post_transform=transform)
        add("LinearClassifier", [x], (True, True), coefficients=weights[:4], intercepts=biases[:1], classlabels_ints=[7, -3], post_transform=transform)
        add("LinearClassifier", [x], (True, True), coefficients=weights[:8], intercepts=biases[:2], classlabels_ints=[7, -3], post_transform=transform)
    add("LinearRegressor", [x * 0.01], coefficients=[0.5, 0.25, 0.1, 0.2], intercepts=[0.2], targets=1, post_transform="PROBIT")
    return family


def grow(trees, depth, features, modes):
    """Random trees as the attributes of TreeEnsembleRegressor and -Classifier, and their leaves as (tree, node)."""
    nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []
    for tree in range(trees):
        count = 0

        def add(level):
            nonlocal count
            me, count = count, count + 1
            row = len(nodes["modes"])
            is_leaf = level == depth or (level > 0 and random.random() < 0.2)
            for name, value in (("treeids", tree), ("nodeids", me), ("featureids", int(random.integers(features))),
                                ("values", float(numpy.round(random.normal() * 4) / 4)), ("modes", "LEAF" if is_leaf else str(random.choice(modes))),
                                ("truenodeids", 0), ("falsenodeids", 0), ("missing_value_tracks_true", int(random.integers(2)))):
                nodes[name].append(value)
            if is_leaf:
                leaves.append((tree, me))
            else:
                nodes["truenodeids"][row] = add(level + 1)
                nodes["falsenodeids"][row] = add(level + 1)
            return me

        add(0)
    return {f"nodes_{name}": values for name, values in nodes.items()}, leaves


def ensembles():
    """ai.onnx.ml: ensembles of trees. Features are quarters, so that they meet the thresholds."""
    family = Family("ensembles")
    add = functools.partial(family.add, domain=LEARNING)
    x = (numpy.round(random.normal(0, 1, (23, 5)) * 4) / 4).astype(numpy.float32)
    gaps = x.copy()
    gaps[random.random(x.shape) < 0.2] = numpy.nan
    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for trees, depth, modes, data in ((1, 1, every[:1], x), (3, 3, every[:1], x), (10, 7, every[:1], gaps), (5, 6, every, x), (4, 5, every[:2], gaps)):
        nodes, leaves = grow(trees, depth, 5, modes)
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
            named = {"target_treeids": [leaf[0] for leaf in leaves], "target_nodeids": [leaf[1] for leaf in leaves], "target_ids": [0] * len(leaves)}
            weights = [float(value) for value in floats(len(leaves))]
            add("TreeEnsembleRegressor", [data], **nodes, **named, target_weights=weights, aggregate_function=aggregate, base_values=[0.25], n_targets=1)
        named = {"target_treeids": [leaf[0] for leaf in leaves] * 2, "target_nodeids": [leaf[1] for leaf in leaves] * 2,
                 "target_ids": [0] * len(leaves) + [1] * len(leaves)}
        weights = [float(value) for value in floats(2 * len(leaves))]
        add("TreeEnsembleRegressor", [data], **nodes, **named, target_weights=weights, n_targets=2, post_transform="LOGISTIC")
        for labels in (2, 3):
            for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
                chosen = [leaf for leaf in leaves for _ in range(labels)]
                named = {"class_treeids": [leaf[0] for leaf in chosen], "class_nodeids": [leaf[1] for leaf in chosen],
                         "class_ids": list(range(labels)) * len(leaves)}
                label = add("TreeEnsembleClassifier", [data], (True, True), **nodes, **named, post_transform=transform,
                            class_weights=[float(value) for value in floats(len(chosen))], classlabels_int64s=[9, 4, 7][:labels])
                if labels == 2:
                    # onnxruntime gives 0 or 1, which are no labels here; ONNX's evaluator the label of the larger score.
                    family.known[f"{label}_out0"] = lambda results, label=label: numpy.array([9, 4])[results[f"{label}_out1"].argmax(1)]
        for column in (0, 1):
            for positive in (0, 1):
                for transform in ("NONE", "LOGISTIC"):
                    weights = floats(len(leaves))
                    named = {"class_treeids": [leaf[0] for leaf in leaves], "class_nodeids": [leaf[1] for leaf in leaves], "class_ids": [column] * len(leaves)}
                    add("TreeEnsembleClassifier", [data], (True, True), **nodes, **named, classlabels_int64s=[9, 4], post_transform=transform,
                        class_weights=[float(value) for value in (numpy.abs(weights) / trees if positive else weights)])
    return family


FAMILIES = (activations, products, normalizations, quantized, attentions, features, ensembles)


def disagreement(got, expected, slack):
    """What is wrong with a result; nothing where it agrees."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}"
    tolerance = slack
    if expected.dtype.kind == "f":
        if not numpy.array_equal(numpy.isfinite(got), numpy.isfinite(expected)):
            return "infinities or NaNs elsewhere"
        tolerance = (TOLERANCE if expected.dtype != numpy.float16 else 4e-3) * numpy.abs(expected, dtype=numpy.float64).max(initial=0)
    error = numpy.abs(got.astype(numpy.float64) - expected.astype(numpy.float64)).max(initial=0)
    return "" if error <= tolerance else f"differs by {error}, allowed {tolerance}"


def check_family(weft, folder, make):
    family = make()
    expected = family.expected()
    path = os.path.join(folder, family.name + ".onnx")
    onnx.save(family.model(expected), path)
    results = weft_tool.run(weft, path, family.inputs)
    wrong = []
    for name, value in expected.items():
        said = disagreement(results[name], value, family.slack[name])
        if said:
            wrong.append(f"{family.name}: {name}: {said}")
    print(f"{family.name}: {len(expected) - len(wrong)} of {len(expected)} results agree with onnxruntime")
    return wrong


def random_numbers(weft, folder):
    """Means, deviations and frequencies of large draws, within 5 standard errors; the same numbers in every run."""
    size = 200000
    logits = numpy.log(numpy.array([[0.1, 0.2, 0.7]], numpy.float32))
    inputs = {"p": numpy.full((size,), 0.3, numpy.float32), "logits": logits, "train": numpy.array(True)}
    nodes = [
        helper.make_node("RandomUniform", [], ["uniform"], shape=[size], low=-1.0, high=3.0, seed=1.0, name="u"),
        helper.make_node("RandomNormal", [], ["normal"], shape=[size], mean=2.0, scale=0.5, name="n"),
        helper.make_node("RandomNormal", [], ["other"], shape=[size], mean=2.0, scale=0.5, name="o"),
        helper.make_node("Bernoulli", ["p"], ["coin"], dtype=onnx.TensorProto.INT32, name="b"),
        helper.make_node("Multinomial", ["logits"], ["sample"], sample_size=size, name="m"),
        helper.make_node("Dropout", ["p", "", "train"], ["dropped", "mask"], seed=3, name="d"),
    ]
    kinds = {"uniform": 1, "normal": 1, "other": 1, "coin": 6, "sample": 6, "dropped": 1, "mask": 9}
    graph = helper.make_graph(
        nodes,
        "random",
        [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
    )
    path = os.path.join(folder, "random.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    first, second = weft_tool.run(weft, path, inputs), weft_tool.run(weft, path, inputs, ["--threads", "1"])
    wrong = [f"{name} is not the same in two runs" for name in kinds if not numpy.array_equal(first[name], second[name])]

    def near(what, value, wanted, deviation):
        if abs(value - wanted) > 5 * deviation / numpy.sqrt(size):
            wrong.append(f"random: {what} is {value}, expected about {wanted}")

    uniform, normal = first["uniform"], first["normal"]
    near("a uniform mean", uniform.mean(dtype=float), 1, 4 / numpy.sqrt(12))
    near("a uniform half", (uniform < 1).mean(), 0.5, 0.5)
    if uniform.min() < -1 or uniform.max() >= 3:
        wrong.append(f"random: uniform numbers reach from {uniform.min()} to {uniform.max()}")
    near("a normal mean", normal.mean(dtype=float), 2, 0.5)
    near("a normal variance", normal.var(dtype=float), 0.25, 0.25 * numpy.sqrt(2))
    near("normal numbers below a deviation", (numpy.abs(normal - 2) < 0.5).mean(), 0.6826895, 0.4655)
    near("a correlation of neighbours", numpy.corrcoef(normal[:-1], normal[1:])[0, 1], 0, 1)
    near("a correlation of two nodes", numpy.corrcoef(normal, first["other"])[0, 1], 0, 1)
    near("a coin", first["coin"].mean(), 0.3, numpy.sqrt(0.21))
    for label, share in enumerate((0.1, 0.2, 0.7)):
        near(f"class {label}", (first["sample"] == label).mean(), share, numpy.sqrt(share * (1 - share)))
    near("a dropout's mask", first["mask"].mean(), 0.5, 0.5)
    if not numpy.allclose(first["dropped"], numpy.where(first["mask"], inputs["p"] * 2, 0)):
        wrong.append("random: what a dropout keeps is not twice its input")
    print("random: distributions checked")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    wrong = []
    for make in FAMILIES:
        wrong += check_family(options.weft, options.folder, make)
    wrong += random_numbers(options.weft, options.folder)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
