"""Random ONNX graphs, compiled by Weft and compared with onnxruntime: what no list of tests thought of.

A graph is a function of its seed. Operators that jump (rounding, comparisons, arg max) read graph inputs only, and domains are guarded
(a logarithm reads |x| + 0.5), so that two right implementations agree to rounding. Every graph runs compiled, with libraries and
without; every fourth is interpreted too, each kernel and stage beside it (`weft verify`). A graph that differs is reduced, and kept with its
inputs. usage: random_graphs.py --weft TOOL --folder WHERE [--device=cuda] [--first SEED] [--count N]
"""

import argparse
import os
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import random_operators
import reduce_graph
import weft_tool

OPSET = 18
UNARY = ["Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Erf", "Softplus", "Elu", "LeakyRelu", "HardSigmoid", "Sin", "Cos", "Identity",
         "Softsign", "Selu", "Atan"]
JUMPING = ["Floor", "Ceil", "Round", "Sign"]
BINARY = ["Add", "Sub", "Mul", "Max", "Min"]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceL1"]
MAXIMUM_ELEMENTS = 20000


class Graph:
    """Grows a graph node by node; `values` are its float values with their shapes, of bounded magnitude."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.initializers, self.values, self.used = [], [], {}, set()
        self.inputs = {}
        for index in range(self.random.integers(1, 4)):
            rank = int(self.random.integers(1, 5))
            shape = tuple(int(extent) for extent in self.random.choice([1, 2, 3, 4, 5, 7, 8, 16, 17, 33], rank))
            while numpy.prod(shape) > MAXIMUM_ELEMENTS:
                shape = shape[1:]
            self.inputs[f"x{index}"] = self.random.normal(0, 1, shape).astype(numpy.float32)
            self.values[f"x{index}"] = shape

    def pick(self, accept=lambda shape: True):
        names = [name for name, shape in self.values.items() if accept(shape)]
        return names[self.random.integers(len(names))] if names else None

    def chance(self, probability):
        return self.random.random() < probability

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def floats(self, *shape, scale=1.0):
        return self.constant(self.random.normal(0, scale, shape).astype(numpy.float32))

    def integers(self, *numbers):
        return self.constant(numpy.array(numbers, numpy.int64))

    def scalar(self, number):
        return self.constant(numpy.float32(number))

    def node(self, operator, inputs, shape=None, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=f"{operator}_{len(self.nodes)}", **attributes))
        self.used.update(inputs)
        if shape is not None:
            self.values[names[0]] = tuple(shape)
        return names[0] if outputs == 1 else names

    def positive(self, name):
        return self.node("Add", [self.node("Abs", [name]), self.scalar(0.5)])

    def bounded(self, name, shape):
        """Keeps magnitudes near one, so that sums of products stay comparable."""
        return self.node("Tanh", [name], shape) if self.chance(0.7) else self.node("Clip", [name, self.scalar(-3), self.scalar(3)], shape)

    # Each of these adds one operator in a random form, or nothing where no value fits it.

    def unary(self):
        name = self.pick()
        self.node(UNARY[self.random.integers(len(UNARY))], [name], self.values[name])

    def guarded(self):
        name = self.pick()
        shape = self.values[name]
        kind = self.integer(0, 4)
        if kind == 0:
            self.node("Log", [self.positive(name)], shape)
        elif kind == 1:
            self.node("Sqrt", [self.positive(name)], shape)
        elif kind == 2:
            self.node("Reciprocal", [self.positive(name)], shape)
        elif kind == 3:
            self.bounded(self.node("Exp", [self.node("Clip", [name, self.scalar(-4), self.scalar(4)])]), shape)
        else:
            self.bounded(self.node("Pow", [self.positive(name), self.scalar(self.random.choice([2.0, 0.5, -1.0, 3.0, 1.7]))]), shape)

    def jumping(self):
        name = list(self.inputs)[self.random.integers(len(self.inputs))]
        self.node(JUMPING[self.random.integers(len(JUMPING))], [name], self.values[name])

    def binary(self):
        left = self.pick()
        shape = self.values[left]
        # The other side has the same shape, or one that broadcasts to it.
        right = self.pick(lambda other: other == shape)
        if self.chance(0.5):
            cut = self.integer(0, len(shape))
            right = self.floats(*[1 if self.chance(0.3) else extent for extent in shape[cut:]])
        operands = [left, right] if self.chance(0.5) else [right, left]
        if self.chance(0.2):
            self.bounded(self.node("Div", [operands[0], self.positive(operands[1])]), shape)
        else:
            operator = BINARY[self.random.integers(len(BINARY))]
            result = self.node(operator, operands, shape)
            if operator == "Mul":
                self.bounded(result, shape)

    def where(self):
        first = list(self.inputs)[self.random.integers(len(self.inputs))]
        shape = self.values[first]
        condition = self.node(["Less", "GreaterOrEqual"][self.integer(0, 1)], [first, self.scalar(0.1)])
        other = self.pick(lambda candidate: candidate == shape)
        self.node("Where", [condition, other, self.scalar(-0.5)], shape)

    def reduction(self):
        name = self.pick(lambda shape: len(shape) >= 1)
        shape = self.values[name]
        axes = sorted(int(a) for a in self.random.choice(len(shape), self.integer(1, len(shape)), replace=False))
        keep = self.integer(0, 1)
        result = [1 if axis in axes else extent for axis, extent in enumerate(shape)] if keep else [
            extent for axis, extent in enumerate(shape) if axis not in axes]
        written = [axis - len(shape) if self.chance(0.3) else axis for axis in axes]
        reduced = self.node(REDUCTIONS[self.random.integers(len(REDUCTIONS))], [name, self.integers(*written)], keepdims=keep)
        self.bounded(reduced, result)

    def softmax(self):
        name = self.pick(lambda shape: len(shape) >= 1)
        shape = self.values[name]
        self.node(["Softmax", "LogSoftmax"][self.integer(0, 1)], [name], shape, axis=self.integer(-len(shape), len(shape) - 1))

    def layer_norm(self):
        name = self.pick(lambda shape: len(shape) >= 1 and shape[-1] >= 3)
        if name:
            extent = self.values[name][-1]
            self.node("LayerNormalization", [name, self.floats(extent), self.floats(extent)], self.values[name], axis=-1, epsilon=1e-2)

    def matmul(self):
        name = self.pick(lambda shape: len(shape) >= 2)
        if name:
            shape, columns = self.values[name], int(self.random.choice([1, 3, 8, 16, 19]))
            weight = self.floats(shape[-1], columns, scale=shape[-1] ** -0.5)
            result = self.node("MatMul", [name, weight], (*shape[:-1], columns))
            if self.chance(0.5):
                self.node("Add", [result, self.floats(columns)], (*shape[:-1], columns))

    def convolution(self):
        name = self.pick(lambda shape: len(shape) == 4 and shape[2] >= 3 and shape[3] >= 3)
        if name:
            n, c, h, w = self.values[name]
            group = c if self.chance(0.3) else 1
            filters, kernel, stride, pad = c * self.integer(1, 3), self.integer(1, 3), self.integer(1, 2), self.integer(0, 1)
            weight = self.floats(filters, c // group, kernel, kernel, scale=(c // group * kernel * kernel) ** -0.5)
            size = [(extent + 2 * pad - kernel) // stride + 1 for extent in (h, w)]
            self.node("Conv", [name, weight, self.floats(filters)], (n, filters, *size), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=[pad] * 4, group=group)

    def pool(self):
        name = self.pick(lambda shape: len(shape) == 4 and shape[2] >= 3 and shape[3] >= 3)
        if name:
            n, c, h, w = self.values[name]
            kernel, stride = self.integer(2, 3), self.integer(1, 2)
            size = [(extent - kernel) // stride + 1 for extent in (h, w)]
            self.node(["MaxPool", "AveragePool"][self.integer(0, 1)], [name], (n, c, *size), kernel_shape=[kernel] * 2, strides=[stride] * 2)

    def transpose(self):
        name = self.pick(lambda shape: len(shape) >= 2)
        if name:
            order = [int(axis) for axis in self.random.permutation(len(self.values[name]))]
            self.node("Transpose", [name], [self.values[name][axis] for axis in order], perm=order)

    def reshape(self):
        name = self.pick(lambda shape: len(shape) >= 2)
        if name:
            shape = list(self.values[name])
            at = self.integer(0, len(shape) - 2)
            target = shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2 :]
            written = [-1 if axis == at and self.chance(0.5) else extent for axis, extent in enumerate(target)]
            self.node("Reshape", [name, self.integers(*written)], target)

    def unsqueeze(self):
        name = self.pick(lambda shape: len(shape) <= 3)
        if name:
            shape = list(self.values[name])
            at = self.integer(0, len(shape))
            self.node("Unsqueeze", [name, self.integers(at)], shape[:at] + [1] + shape[at:])

    def concat(self):
        name = self.pick(lambda shape: len(shape) >= 1 and 2 * numpy.prod(shape) <= MAXIMUM_ELEMENTS)
        if name:
            shape = list(self.values[name])
            other = self.pick(lambda candidate: candidate == tuple(shape))
            axis = self.integer(0, len(shape) - 1)
            shape[axis] *= 2
            self.node("Concat", [name, other], shape, axis=axis)

    def slice(self):
        name = self.pick(lambda shape: len(shape) >= 1 and max(shape) >= 2)
        if name:
            shape = list(self.values[name])
            axis = int(numpy.argmax(shape))
            step = int(self.random.choice([1, 1, 2, -1, -2]))
            start = self.integer(0, shape[axis] - 1)
            end = (shape[axis] + 5) if step > 0 else -(shape[axis] + 5)
            shape[axis] = len(range(shape[axis])[start : (end if step > 0 else None) : step])
            self.node("Slice", [name, self.integers(start), self.integers(end), self.integers(axis), self.integers(step)], shape)

    def pad(self):
        name = self.pick(lambda shape: len(shape) >= 1 and min(shape) >= 2 and numpy.prod([e + 2 for e in shape]) <= MAXIMUM_ELEMENTS)
        if name:
            shape = self.values[name]
            before, after = ([self.integer(0, 1) for _ in shape] for _ in range(2))
            mode = ["constant", "reflect", "edge"][self.integer(0, 2)]
            self.node("Pad", [name, self.integers(*before, *after)], [b + e + a for b, e, a in zip(before, shape, after)], mode=mode)

    def gather(self):
        name = self.pick(lambda shape: len(shape) >= 1)
        shape = list(self.values[name])
        axis = self.integer(0, len(shape) - 1)
        indices = self.random.integers(-shape[axis], shape[axis], self.integer(1, 5))
        self.node("Gather", [name, self.integers(*indices)], shape[:axis] + [len(indices)] + shape[axis + 1 :], axis=axis)

    def tile(self):
        name = self.pick(lambda shape: len(shape) >= 1 and 6 * numpy.prod(shape) <= MAXIMUM_ELEMENTS)
        if name:
            repeats = [1] * len(self.values[name])
            repeats[self.integer(0, len(repeats) - 1)] = self.integer(2, 3)
            self.node("Tile", [name, self.integers(*repeats)], [e * r for e, r in zip(self.values[name], repeats)])

    def split(self):
        name = self.pick(lambda shape: len(shape) >= 1 and max(shape) >= 2)
        if name:
            shape = list(self.values[name])
            axis = int(numpy.argmax(shape))
            first = self.integer(1, shape[axis] - 1)
            sizes = [first, shape[axis] - first]
            outputs = self.node("Split", [name, self.integers(*sizes)], outputs=2, axis=axis)
            for output, size in zip(outputs, sizes):
                self.values[output] = tuple(shape[:axis] + [size] + shape[axis + 1 :])

    def double(self):
        name = self.pick()
        wide = self.node("Cast", [name], to=TensorProto.DOUBLE)
        wide = self.node("Mul", [wide, self.constant(numpy.float64(1.5))])
        self.node("Cast", [wide], self.values[name], to=TensorProto.FLOAT)

    STEPS = [unary, unary, unary, guarded, jumping, binary, binary, binary, where, reduction, reduction, softmax, layer_norm, matmul,
             matmul, convolution, pool, transpose, reshape, unsqueeze, concat, slice, pad, gather, tile, split, double]

    def model(self):
        for _ in range(self.integer(4, 20)):
            self.STEPS[self.random.integers(len(self.STEPS))](self)
        produced = [name for name in self.values if name not in self.inputs]
        outputs = [name for name in produced if name not in self.used] + [name for name in produced if name in self.used and self.chance(0.1)]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in self.inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.values[name]) for name in outputs],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="weft-test")
        model.ir_version = 8
        return model


def reference_session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def reference(model, inputs):
    """What onnxruntime computes, by the output's name."""
    session = reference_session(model)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def accepts(model, inputs):
    try:
        reference(model, inputs)
    except Exception:  # pylint: disable=broad-except # onnxruntime has no common base class for what it lacks
        return False
    return True


def connected(seed):
    """A connected graph of the seed and its inputs."""
    graph = Graph(seed)
    return graph.model(), graph.inputs


def generate(seed):
    """The model of the seed and its inputs: every fourth a connected graph, the others single operators."""
    if seed % 4 == 0:
        return connected(seed)
    cases = random_operators.Cases(seed, accepts)
    return cases.model(), cases.inputs


TOLERANCES = {"float64": 1e-9, "float32": 2e-4, "float16": 4e-3}


def differences(got, expected):
    """What is wrong, by the output's name: integers must be equal, floats close, NaNs and infinities in the same places."""
    wrong = {}
    for name, right in expected.items():
        value, right = got.get(name), numpy.asarray(right)
        if value is None:
            wrong[name] = "is missing"
        elif value.dtype != right.dtype or value.shape != right.shape:
            wrong[name] = f"is {value.dtype} {list(value.shape)}, expected {right.dtype} {list(right.shape)}"
        elif right.dtype.kind != "f":
            bad = numpy.flatnonzero(value != right)
            if bad.size:
                wrong[name] = f"has {bad.size} of {right.size} wrong, element {bad[0]} is {value.flat[bad[0]]}, expected {right.flat[bad[0]]}"
        else:
            a, b = value.astype(numpy.float64), right.astype(numpy.float64)
            finite = numpy.isfinite(a) & numpy.isfinite(b)
            same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
            scale = numpy.abs(b[finite]).max(initial=1e-3)
            with numpy.errstate(invalid="ignore"):
                bad = numpy.flatnonzero(~(same | (finite & (numpy.abs(a - b) <= TOLERANCES[right.dtype.name] * scale))))
            if bad.size:
                wrong[name] = f"has {bad.size} of {right.size} wrong, element {bad[0]} is {a.flat[bad[0]]!r}, expected {b.flat[bad[0]]!r}"
    return wrong


class Check:
    """Runs graphs through the tool in several ways."""

    def __init__(self, weft, folder, device="cpu"):
        self.weft, self.folder, self.device = os.path.abspath(weft), folder, device

    def ways(self, model):
        """Ways to run the model: words and the tool's options."""
        if self.device == "cuda":
            return [("on a simulated GPU", ("--device=cuda", "--gpu-sim", "--sim-check=races,uninitialised"))]
        # Only contractions go to a library.
        libraries = any(node.op_type in CONTRACTIONS for node in model.graph.node)
        return [("compiled", ())] + [("compiled, without libraries", ("--no-libraries",))] * libraries

    def run(self, model, inputs, interpreted):
        """An empty text where Weft agrees with onnxruntime in every way, else what is wrong."""
        expected = reference(model, inputs)
        path = os.path.join(self.folder, "graph.onnx")
        onnx.save(model, path)
        producers = {output: f"{node.op_type} {node.name}" for node in model.graph.node for output in node.output}
        for what, options in self.ways(model):
            try:
                wrong = differences(weft_tool.run(self.weft, path, inputs, options), expected)
            except (weft_tool.WeftError, subprocess.TimeoutExpired) as error:
                return f"  {what}: {error}"
            if wrong:
                return "\n".join(f"  {what}: {name} of {producers.get(name, '?')} {text}" for name, text in wrong.items())
        if interpreted:
            given = os.path.join(self.folder, "inputs.npz")
            numpy.savez(given, **inputs)
            try:
                weft_tool.call(self.weft, "verify", path, "--inputs", given)
            except (weft_tool.WeftError, subprocess.TimeoutExpired) as error:
                return f"  interpreted: {error}"
        return ""


CONTRACTIONS = {"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum", "LSTM", "GRU", "RNN", "MatMulInteger", "QLinearMatMul"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--verify-every", type=int, default=4, help="every so many graphs are interpreted too")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: simulated, under its race and uninitialised checks")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    check, failed, operators = Check(arguments.weft, arguments.folder, arguments.device), 0, set()
    print(f"random graphs of the seeds {arguments.first} to {arguments.first + arguments.count - 1}")
    for seed in range(arguments.first, arguments.first + arguments.count):
        model, inputs = generate(seed)
        operators.update(node.op_type for node in model.graph.node)
        interpreted = arguments.device == "cpu" and seed % arguments.verify_every == 0
        wrong = check.run(model, inputs, interpreted)
        if not wrong:
            continue
        failed += 1
        small, small_inputs = reduce_graph.reduce(model, inputs, accepts, lambda *graph: check.run(*graph, interpreted))
        kept = os.path.join(arguments.folder, f"random_{seed}")
        onnx.save(small, f"{kept}.onnx")
        numpy.savez(f"{kept}.npz", **small_inputs)
        print(f"seed {seed}: {', '.join(node.op_type for node in model.graph.node)}\n{wrong}")
        print(f"  reduced to {', '.join(node.op_type for node in small.graph.node)}: {kept}.onnx, its inputs: {kept}.npz")
        print(f"  {check.run(small, small_inputs, interpreted).strip()}")
        print(f"  again: {sys.argv[0]} --weft {arguments.weft} --folder {arguments.folder} --device={arguments.device} --first {seed} --count 1", flush=True)
    print(f"{arguments.count} random graphs of {len(operators)} operators, {failed} are not as onnxruntime computes them")
    sys.exit(1 if failed or not arguments.count else 0)


if __name__ == "__main__":
    main()
