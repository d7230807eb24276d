"""Random cases of single operator families, for random_graphs.py: every element type that onnxruntime takes, odd extents, any axes.

A case adds a few nodes to a `Cases` graph: one operator in a random form, with its own inputs, and often an elementwise one before
or behind it, so that fusion has something to do. Values are chosen so that two right implementations agree: integers do not overflow
where that is undefined, what rounds or jumps reads exact values, scales of quantization are powers of two.
"""

import numpy
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
EXTENTS = [1, 2, 3, 5, 7, 17, 33]
SIGNED = [numpy.int8, numpy.int16, numpy.int32, numpy.int64]
UNSIGNED = [numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64]
FLOATS = [numpy.float32, numpy.float32, numpy.float64, numpy.float16]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
EVERYTHING = NUMBERS + [numpy.bool_]
MOST_ELEMENTS = 20000


class Cases:
    """A graph of independent cases; `inputs` are the arrays to run it on."""

    def __init__(self, seed, accepts, cases=3):
        """`accepts(model, inputs)` says whether the reference takes a case; onnxruntime lacks some operators for some types."""
        self.random = numpy.random.default_rng([seed, 0x6F70])
        self.nodes, self.initializers, self.inputs, self.outputs, self.refused = [], [], {}, [], []
        while cases:
            family = FAMILIES[self.integer(0, len(FAMILIES) - 1)]
            kept = len(self.nodes), len(self.initializers), len(self.inputs), len(self.outputs)
            family(self)
            alone = Cases.__new__(Cases)
            alone.nodes, alone.initializers, alone.outputs = self.nodes[kept[0] :], self.initializers[kept[1] :], self.outputs[kept[3] :]
            alone.inputs = dict(list(self.inputs.items())[kept[2] :])
            if accepts(alone.model(), alone.inputs):
                cases -= 1
                continue
            self.refused.append(self.nodes[-1].op_type)
            del self.nodes[kept[0] :], self.initializers[kept[1] :], self.outputs[kept[3] :]
            self.inputs = dict(list(self.inputs.items())[: kept[2]])

    # What cases are made of.

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, probability):
        return bool(self.random.random() < probability)

    def choose(self, options):
        return options[self.integer(0, len(options) - 1)]

    def shape(self, low=0, high=4, extents=None, empty=0.05):
        extents = list(extents or EXTENTS)
        shape = [self.choose(extents) for _ in range(self.integer(low, high))]
        if shape and self.chance(0.1):
            shape[-1] = 129
        while numpy.prod(shape, dtype=numpy.int64) > MOST_ELEMENTS:
            shape[int(numpy.argmax(shape))] = self.choose([1, 2, 3])
        if shape and self.chance(empty):
            shape[self.integer(0, len(shape) - 1)] = 0
        return shape

    def array(self, shape, dtype, low=None, high=None):
        dtype = numpy.dtype(dtype)
        if dtype == numpy.bool_:
            return self.random.random(shape) < 0.5
        if dtype.kind in "iu":
            low = low if low is not None else (-20 if dtype.kind == "i" else 0)
            return self.random.integers(low, (high if high is not None else 20) + 1, shape).astype(dtype)
        if low is not None:
            return self.random.uniform(low, high, shape).astype(dtype)
        return numpy.asarray(self.random.normal(0, 1, shape)).astype(dtype)

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = numpy.asarray(array)
        return name

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def integers(self, numbers):
        return self.constant(numpy.array(numbers, numpy.int64))

    def value(self, array):
        """An input, or sometimes a constant."""
        return self.constant(array) if self.chance(0.2) else self.input(array)

    def node(self, operator, inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=f"{operator}_{len(self.nodes)}", domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def before(self, name, dtype):
        """Sometimes an elementwise operator in front, which keeps the value's range."""
        if numpy.dtype(dtype) in (numpy.float32, numpy.float64, numpy.int32, numpy.int64) and self.chance(0.3):
            return self.node("Neg", [self.node("Neg", [name])]) if self.chance(0.5) else self.node("Abs", [name])
        return name

    def finish(self, name, dtype=None):
        """The value is an output, sometimes after an elementwise operator."""
        if dtype is not None and numpy.dtype(dtype) in (numpy.float32, numpy.float64) and self.chance(0.4):
            operator = self.choose(["Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Softsign"])
            name = self.node(operator, [name])
        self.outputs.append(name)

    def broadcast_pair(self, **options):
        shape = self.shape(**options)
        other = [1 if self.chance(0.3) else extent for extent in shape][self.integer(0, len(shape)) :]
        first = [1 if extent != 0 and len(other) >= len(shape) - i and other[i - len(shape)] != 1 and self.chance(0.2) else extent
                 for i, extent in enumerate(shape)]
        return (first, other) if self.chance(0.5) else (other, first)

    def axes(self, rank, least=1):
        axes = [int(a) for a in self.random.choice(rank, self.integer(min(least, rank), rank), replace=False)] if rank else []
        return [axis - rank if self.chance(0.3) else axis for axis in axes]

    def axis(self, rank):
        return self.integer(-rank, rank - 1)

    # Families. Each adds one case.

    def arithmetic(self):
        operator = self.choose(["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod", "PRelu"])
        dtype = self.choose(NUMBERS if operator not in ("Pow", "PRelu") else FLOATS)
        left, right = self.broadcast_pair()
        a, b = self.array(left, dtype), self.array(right, dtype)
        if numpy.dtype(dtype).kind in "iu":
            if operator in ("Mul", "Sub"):
                a, b = (self.array(s, dtype, 0, 9) for s in (left, right))
                a = (a + 10).astype(dtype) if operator == "Sub" else a
            if operator in ("Div", "Mod"):
                a, b = (numpy.abs(x).astype(dtype) for x in (a, b))
                b = (b + 1).astype(dtype)
        elif operator in ("Div", "Pow"):
            b = (numpy.abs(b) + 0.5).astype(dtype)
            a = (numpy.abs(a) + 0.5).astype(dtype) if operator == "Pow" else a
        attributes = {"fmod": 1} if operator == "Mod" and numpy.dtype(dtype).kind == "f" else {}
        if operator == "Mod" and attributes:
            a, b = numpy.round(a * 8).astype(dtype), (numpy.abs(numpy.round(b * 4)) + 1).astype(dtype)
        if operator == "PRelu":
            full = numpy.broadcast_shapes(tuple(left), tuple(right))
            a = self.array(full, dtype)
        result = self.node(operator, [self.before(self.value(a), dtype) if operator in ("Add", "Max", "Min") else self.value(a), self.value(b)], **attributes)
        self.finish(result, dtype if operator != "Mod" else None)

    def comparison(self):
        operator = self.choose(["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr",
                                "BitwiseXor", "BitShift"])
        left, right = self.broadcast_pair()
        if operator in ("And", "Or", "Xor"):
            dtype = numpy.bool_
        elif operator.startswith("Bitwise"):
            dtype = self.choose(INTEGERS)
        elif operator == "BitShift":
            dtype = self.choose([numpy.uint8, numpy.uint32, numpy.uint64])
        else:
            dtype = self.choose(EVERYTHING if operator == "Equal" else NUMBERS)
        a, b = self.array(left, dtype), self.array(right, dtype)
        attributes = {}
        if numpy.dtype(dtype).kind == "f":
            a, b = numpy.round(a).astype(dtype), numpy.round(b).astype(dtype)
            if a.size and self.chance(0.3):
                a.reshape(-1)[self.integer(0, a.size - 1)] = numpy.nan
        if operator == "BitShift":
            b = self.array(right, dtype, 0, 7)
            attributes["direction"] = self.choose(["LEFT", "RIGHT"])
        result = self.node(operator, [self.value(a), self.value(b)], **attributes)
        if numpy.dtype(dtype) == numpy.bool_ or operator in ("Equal", "Less", "Greater"):
            result = self.node("Not", [result]) if self.chance(0.3) else result
        self.finish(result)

    def unary(self):
        domains = {"Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Acosh": (1.1, 9), "Log": (0.1, 9), "Sqrt": (0, 9),
                   "Reciprocal": (0.2, 5), "Tan": (-1.4, 1.4), "Exp": (-5, 5)}
        operator = self.choose(["Abs", "Neg", "Sign", "Floor", "Ceil", "Round", "Relu", "Tanh", "Sigmoid", "Erf", "Softplus", "Elu", "LeakyRelu",
                                "HardSigmoid", "HardSwish", "Sin", "Cos", "Sinh", "Cosh", "Asinh", "Atan", "Softsign", "Selu", "Celu", "Mish",
                                "ThresholdedRelu", "Identity", "IsNaN", "IsInf", "Clip", "Shrink", *domains])
        dtype = self.choose(NUMBERS if operator in ("Abs", "Neg", "Sign", "Identity", "Clip") else FLOATS)
        if operator == "Neg" and numpy.dtype(dtype).kind == "u":
            dtype = numpy.int32
        if operator == "Shrink" and dtype == numpy.float64:
            dtype = numpy.float32  # onnxruntime computes it in single precision.
        a = self.array(self.shape(), dtype, *(domains.get(operator, ())))
        if operator in ("Floor", "Ceil", "Round", "Sign"):
            a = (numpy.round(a * 8) / 4).astype(dtype)
        if operator in ("IsNaN", "IsInf", "Floor", "Abs", "Neg", "Sign", "Identity") and numpy.dtype(dtype).kind == "f" and a.size:
            special = [numpy.inf, -numpy.inf, -0.0] + ([numpy.nan] if operator in ("IsNaN", "IsInf", "Identity", "Abs", "Neg") else [])
            for _ in range(3):
                a.reshape(-1)[self.integer(0, a.size - 1)] = self.choose(special)
        inputs = [self.input(a)]
        if operator == "Clip":
            low, high = (0, 7) if numpy.dtype(dtype).kind == "u" else (-1, 1)
            inputs += ["" if self.chance(0.2) else self.value(numpy.array(low, dtype)), self.value(numpy.array(high, dtype))]
        attributes = {"lambd": 0.5, "bias": 0.25} if operator == "Shrink" else {}
        self.finish(self.node(operator, inputs, **attributes))

    def cast(self):
        source, target = self.choose(EVERYTHING), self.choose(EVERYTHING)
        a = self.array(self.shape(), source, 0, 100) if self.chance(0.5) else self.array(self.shape(), source, *((-50, 50) if numpy.dtype(source).kind != "u" else ()))
        if numpy.dtype(target).kind == "u":
            a = numpy.abs(a.astype(numpy.float64)).astype(source) if numpy.dtype(source) != numpy.bool_ else a
        wide = self.node("Cast", [self.input(a)], to=helper.np_dtype_to_tensor_dtype(numpy.dtype(target)))
        self.finish(wide)

    def where(self):
        dtype = self.choose(EVERYTHING)
        left, right = self.broadcast_pair()
        condition = self.array(left if self.chance(0.5) else right, numpy.bool_)
        self.finish(self.node("Where", [self.value(condition), self.value(self.array(left, dtype)), self.value(self.array(right, dtype))]), dtype)

    def variadic(self):
        operator = self.choose(["Sum", "Mean", "Max", "Min"])
        dtype = self.choose([numpy.float32, numpy.float64] if operator in ("Sum", "Mean") else NUMBERS)
        left, right = self.broadcast_pair()
        shapes = [left, right, left][: self.integer(1, 3)]
        self.finish(self.node(operator, [self.value(self.array(s, dtype)) for s in shapes]), dtype)

    def reduction(self):
        operator = self.choose(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
                                "ReduceLogSumExp", "ReduceSumSquare"])
        dtype = self.choose([numpy.float32, numpy.float32, numpy.float64, numpy.int32, numpy.int64, numpy.int8, numpy.uint8])
        if operator not in ("ReduceMax", "ReduceMin") and numpy.dtype(dtype).itemsize == 1 or operator in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
            dtype = numpy.float32
        shape = self.shape(0, 5, empty=0)
        low, high = {"ReduceProd": (0.9, 1.1), "ReduceLogSum": (0.1, 2)}.get(operator, (None, None))
        if numpy.dtype(dtype).kind in "iu" and operator == "ReduceProd":
            low, high = 1, 1
        a = self.array(shape, dtype, low, high)
        inputs, attributes = [self.before(self.input(a), dtype)], {"keepdims": self.integer(0, 1)}
        if self.chance(0.85):
            inputs.append(self.integers(self.axes(len(shape))))
        elif self.chance(0.3):
            attributes["noop_with_empty_axes"] = 1
        self.finish(self.node(operator, inputs, **attributes), dtype)

    def arg_reduction(self):
        shape = self.shape(1, 4, empty=0)
        dtype = self.choose([numpy.float32, numpy.float64, numpy.int32, numpy.int8, numpy.uint8])
        a = self.array(shape, dtype)
        a = numpy.round(a * 2).astype(dtype) if numpy.dtype(dtype).kind == "f" else a
        self.finish(self.node(self.choose(["ArgMax", "ArgMin"]), [self.before(self.input(a), dtype)], axis=self.axis(len(shape)), keepdims=self.integer(0, 1),
                              select_last_index=self.integer(0, 1)))

    def scan_like(self):
        shape = self.shape(1, 4)
        kind = self.integer(0, 1)
        if kind == 0:
            dtype = self.choose([numpy.float32, numpy.float64, numpy.int32, numpy.int64])
            axis = self.constant(numpy.array(self.axis(len(shape)), numpy.int64))
            self.finish(self.node("CumSum", [self.input(self.array(shape, dtype)), axis], exclusive=self.integer(0, 1), reverse=self.integer(0, 1)), dtype)
            return
        shape = self.shape(1, 3, empty=0)
        axis = self.axis(len(shape))
        a = self.random.permutation(int(numpy.prod(shape))).reshape(shape).astype(self.choose([numpy.float32, numpy.int64, numpy.int32, numpy.float64]))
        k = self.integer(0 if self.chance(0.1) else 1, shape[axis])
        values, places = self.node("TopK", [self.input(a), self.integers([k])], outputs=2, axis=axis, largest=self.integer(0, 1), sorted=1)
        self.finish(values)
        self.finish(places)

    def windows(self, spatial, most_kernel=4):
        kernel = [self.integer(1, most_kernel) for _ in range(spatial)]
        strides = [self.integer(1, 3) for _ in range(spatial)]
        dilations = [self.integer(1, 3) if self.chance(0.3) else 1 for _ in range(spatial)]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        extents = [r + self.integer(0, 8 if spatial > 2 else 30) for r in reach]
        return kernel, strides, dilations, reach, extents

    def padding(self, kernel, strides, allow_auto=True):
        if allow_auto and self.chance(0.25):
            return {"auto_pad": self.choose(["SAME_UPPER", "SAME_LOWER", "VALID"])}
        pads = [self.integer(0, k - 1) for k in kernel] + [self.integer(0, k - 1) for k in kernel]
        return {"pads": pads} if self.chance(0.7) else {}

    def pooling(self):
        spatial = self.integer(1, 3)
        kernel, strides, dilations, _, extents = self.windows(spatial)
        shape = [self.integer(1, 2), self.choose([1, 3, 8, 17])] + extents
        dtype = self.choose([numpy.float32, numpy.float32, numpy.float64])
        operator = self.choose(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool"])
        if operator != "MaxPool":
            dtype = numpy.float32
        x = self.before(self.input(self.array(shape, dtype)), dtype)
        if operator.startswith("Global"):
            return self.finish(self.node(operator, [x]), dtype)
        attributes = {"kernel_shape": kernel, "strides": strides, **self.padding(kernel, strides)}
        if operator == "LpPool":
            attributes["p"] = self.integer(1, 3)
        if operator == "MaxPool" and self.chance(0.5):
            attributes["dilations"] = dilations
            if attributes.get("auto_pad", "VALID") != "VALID":
                del attributes["dilations"]
        if operator != "LpPool" and "auto_pad" not in attributes:
            attributes["ceil_mode"] = self.integer(0, 1) if operator == "MaxPool" else 0
        if operator == "AveragePool":
            attributes["count_include_pad"] = self.integer(0, 1)
        return self.finish(self.node(operator, [x], **attributes), dtype)

    def convolution(self):
        spatial = self.integer(1, 3)
        kernel, strides, dilations, _, extents = self.windows(spatial)
        group = self.choose([1, 1, 1, 2, 3])
        inputs, outputs = group * self.integer(1, 6), group * self.integer(1, 8)
        if self.chance(0.2):
            group = inputs
            outputs = inputs * self.integer(1, 2)
        shape = [self.integer(1, 3), inputs] + extents
        scale = (inputs // group * numpy.prod(kernel)) ** -0.5
        attributes = {"strides": strides, "group": group, "kernel_shape": kernel}
        if self.chance(0.35):
            weight = self.array([inputs, outputs // group] + kernel, numpy.float32) * numpy.float32(scale)
            attributes["dilations"] = dilations
            attributes["pads"] = [self.integer(0, (k - 1) * d // 2) for k, d in zip(kernel, dilations)] * 2
            attributes["output_padding"] = [self.integer(0, max(s, d) - 1) if max(s, d) > 1 and self.chance(0.5) else 0 for s, d in zip(strides, dilations)]
            attributes["output_padding"] = [min(o, s - 1) for o, s in zip(attributes["output_padding"], strides)]
            operator = "ConvTranspose"
        else:
            weight = self.array([outputs, inputs // group] + kernel, numpy.float32) * numpy.float32(scale)
            attributes.update(self.padding(kernel, strides))
            attributes["dilations"] = dilations if "auto_pad" not in attributes else [1] * spatial
            operator = "Conv"
        x = self.before(self.input(self.array(shape, numpy.float32)), numpy.float32)
        operands = [x, self.value(weight) if self.chance(0.3) else self.constant(weight)]
        if self.chance(0.6):
            operands.append(self.constant(self.array([outputs], numpy.float32)))
        y = self.node(operator, operands, **attributes)
        if self.chance(0.3):
            y = self.node("Clip", [y, self.constant(numpy.float32(-0.5)), self.constant(numpy.float32(1.5))])
        self.finish(y, numpy.float32)

    def product(self):
        kind = self.integer(0, 3)
        dtype = self.choose([numpy.float32, numpy.float32, numpy.float64])
        m, n, k = (self.choose([1, 2, 3, 5, 17, 33, 64]) for _ in range(3))
        scale = k**-0.5
        if kind == 0:
            attributes = {"transA": self.integer(0, 1), "transB": self.integer(0, 1), "alpha": 0.5, "beta": self.choose([0.0, 1.0, 0.25])}
            a = self.array([k, m] if attributes["transA"] else [m, k], dtype)
            b = (self.array([n, k] if attributes["transB"] else [k, n], dtype) * scale).astype(dtype)
            operands = [self.value(a), self.value(b)]
            if self.chance(0.7):
                operands.append(self.value(self.array(self.choose([[m, n], [1, n], [m, 1], [n], [1], []]), dtype)))
            return self.finish(self.node("Gemm", operands, **attributes), dtype)
        if kind == 1:
            batch = self.shape(0, 2, [1, 2, 3], empty=0)
            other = [1 if self.chance(0.4) else extent for extent in batch][self.integer(0, len(batch)) :]
            left, right = batch + [m, k], other + [k, n]
            if self.chance(0.15):
                left = [k]
            elif self.chance(0.15):
                right = [k]
            if self.chance(0.3) and len(left) > 1 and len(right) > 1:
                left, right = other + [m, k], batch + [k, n]
            return self.finish(self.node("MatMul", [self.value(self.array(left, dtype)), self.value((self.array(right, dtype) * scale).astype(dtype))]), dtype)
        if kind == 2:
            equation, left, right = self.choose([("ij,jk->ik", [m, k], [k, n]), ("bij,bkj->bik", [2, m, k], [2, n, k]), ("ij,j->i", [m, k], [k]),
                                                 ("ijk,jil->kl", [3, m, k], [m, 3, n]), ("ii,ij->j", [m, m], [m, n]), ("...i,...i->...", [2, m, k], [m, k])])
            return self.finish(self.node("Einsum", [self.value(self.array(left, dtype)), self.value((self.array(right, dtype) * scale).astype(dtype))], equation=equation), dtype)
        left, right = self.choose([numpy.int8, numpy.uint8]), self.choose([numpy.int8, numpy.uint8])
        operands = [self.value(self.array([m, k], left)), self.value(self.array([k, n], right))]
        if self.chance(0.6):
            operands += [self.constant(numpy.array(3, left)), self.constant(numpy.array(2, right))]
        return self.finish(self.node("MatMulInteger", operands))

    def gather(self):
        shape = self.shape(1, 4, empty=0)
        dtype = self.choose(EVERYTHING)
        x = self.before(self.input(self.array(shape, dtype)), dtype)
        axis, kind, index = self.axis(len(shape)), self.integer(0, 2), self.choose([numpy.int64, numpy.int32])
        if kind == 0:
            places = self.array(self.shape(0, 2), index, -shape[axis], shape[axis] - 1)
            return self.finish(self.node("Gather", [x, self.value(places)], axis=axis), dtype)
        if kind == 1:
            other = [self.integer(1, extent) for extent in shape]
            other[axis] = self.integer(1, 5)
            places = self.array(other, index, -shape[axis], shape[axis] - 1)
            return self.finish(self.node("GatherElements", [x, self.value(places)], axis=axis), dtype)
        depth = self.integer(1, len(shape))
        batch = self.integer(0, min(depth, len(shape)) - 1)
        depth = min(depth, len(shape) - batch)
        places = numpy.stack([self.random.integers(-shape[batch + i], shape[batch + i], shape[:batch] + [4]) for i in range(depth)], -1)
        return self.finish(self.node("GatherND", [x, self.value(places.astype(numpy.int64))], batch_dims=batch), dtype)

    def scatter(self):
        shape = self.shape(1, 3, empty=0)
        dtype = self.choose([numpy.float32, numpy.float64, numpy.int32, numpy.int64])
        x = self.before(self.input(self.array(shape, dtype)), dtype)
        reduction = self.choose(["none", "none", "add", "max", "min", "mul"])
        if self.chance(0.5):
            axis = self.axis(len(shape))
            other = [self.integer(1, extent) for extent in shape]
            if reduction == "none":
                # Each place once, so that the order does not matter.
                line = self.random.permutation(shape[axis])[: other[axis]]
                view = [1] * len(shape)
                view[axis] = len(line)
                places = numpy.broadcast_to(line.reshape(view), other)
            else:
                places = self.array(other, numpy.int64, -shape[axis], shape[axis] - 1)
            updates = self.array(other, dtype, 1, 2)
            return self.finish(self.node("ScatterElements", [x, self.value(places.astype(numpy.int64)), self.value(updates)], axis=axis, reduction=reduction), dtype)
        depth = self.integer(1, len(shape))
        count = self.integer(1, int(numpy.prod(shape[:depth])))
        flat = self.random.permutation(int(numpy.prod(shape[:depth])))[: min(count, 9)]
        places = numpy.stack(numpy.unravel_index(flat, shape[:depth]), -1)
        updates = self.array([len(flat)] + shape[depth:], dtype, 1, 2)
        return self.finish(self.node("ScatterND", [x, self.value(places.astype(numpy.int64)), self.value(updates)], reduction=reduction), dtype)

    def slicing(self):
        shape = self.shape(1, 4)
        dtype = self.choose(EVERYTHING)
        axes = self.axes(len(shape))
        starts, ends, steps = [], [], []
        for axis in axes:
            extent = shape[axis]
            step = self.choose([1, 1, 2, 3, -1, -2, -5])
            starts.append(self.integer(-extent - 2, extent + 2))
            ends.append(self.choose([self.integer(-extent - 2, extent + 2), 2**40, -(2**40)]))
            steps.append(step)
        operands = [self.before(self.input(self.array(shape, dtype)), dtype), *(self.integers(numbers) for numbers in (starts, ends, axes, steps))]
        self.finish(self.node("Slice", operands), dtype)

    def movement(self):
        kind = self.integer(0, 11)
        dtype = self.choose(EVERYTHING)
        shape = self.shape(1, 4)
        rank = len(shape)
        if kind == 0:
            return self.finish(self.node("Transpose", [self.before(self.input(self.array(shape, dtype)), dtype)], perm=[int(a) for a in self.random.permutation(rank)]), dtype)
        if kind == 1:
            axis = self.axis(rank)
            parts = []
            for _ in range(self.integer(1, 4)):
                other = list(shape)
                other[axis] = self.choose([0, 1, 2, 5, 17])
                parts.append(self.before(self.value(self.array(other, dtype)), dtype))
            return self.finish(self.node("Concat", parts, axis=axis), dtype)
        if kind == 2:
            axis = int(numpy.argmax(shape))
            cuts = sorted(self.integer(0, shape[axis]) for _ in range(2))
            sizes = [cuts[0], cuts[1] - cuts[0], shape[axis] - cuts[1]]
            for part in self.node("Split", [self.input(self.array(shape, dtype)), self.integers(sizes)], outputs=3, axis=axis):
                self.finish(part, dtype)
            return None
        if kind == 3:
            repeats = [self.integer(0 if self.chance(0.1) else 1, 3) for _ in shape]
            if numpy.prod(shape) * numpy.prod(repeats) > 2 * MOST_ELEMENTS:
                repeats = [1] * rank
            return self.finish(self.node("Tile", [self.input(self.array(shape, dtype)), self.integers(repeats)]), dtype)
        if kind == 4:
            small, _ = [1 if self.chance(0.4) else extent for extent in shape], None
            target = [self.integer(1, 3) for _ in range(self.integer(0, 1))] + shape
            return self.finish(self.node("Expand", [self.input(self.array(small[self.integer(0, rank) :], dtype)), self.integers(target)]), dtype)
        if kind == 5:
            shape = self.shape(1, 4, [3, 4, 5, 7, 17], empty=0)
            mode = self.choose(["constant", "reflect", "edge"])
            dtype = self.choose([numpy.float32, numpy.float64, numpy.int32, numpy.int64, numpy.int8, numpy.bool_])
            pads = [self.integer(-1 if mode == "constant" else 0, 2) for _ in range(2 * len(shape))]
            operands = [self.before(self.input(self.array(shape, dtype)), dtype), self.integers(pads)]
            if mode == "constant" and self.chance(0.6):
                operands.append(self.constant(self.array([], dtype)))
            return self.finish(self.node("Pad", operands, mode=mode), dtype)
        if kind == 6:
            block, shape = 2, [self.integer(1, 2), 4 * self.integer(1, 3), self.integer(1, 5), self.integer(1, 7)]
            if self.chance(0.5):
                shape = [shape[0], shape[1], 2 * shape[2], 2 * shape[3]]
                return self.finish(self.node("SpaceToDepth", [self.input(self.array(shape, numpy.float32))], blocksize=block), numpy.float32)
            return self.finish(self.node("DepthToSpace", [self.input(self.array(shape, numpy.float32))], blocksize=block, mode=self.choose(["DCR", "CRD"])), numpy.float32)
        if kind == 7:
            shape = self.shape(2, 4)
            dtype = self.choose([numpy.float32, numpy.float64, numpy.int64])
            operands = [self.input(self.array(shape, dtype))]
            if self.chance(0.6):
                operands.append(self.constant(numpy.array(self.integer(-4, 4), numpy.int64)))
            return self.finish(self.node("Trilu", operands, upper=self.integer(0, 1)), dtype)
        if kind == 8:
            places = self.array(self.shape(0, 3), numpy.int64, -6, 6)
            return self.finish(self.node("OneHot", [self.input(places), self.constant(numpy.array(7, numpy.int64)), self.constant(numpy.array([0.5, 2], numpy.float32))],
                                         axis=self.integer(-1, 0)), numpy.float32)
        if kind == 9:
            shape = [self.choose([1, 3, 5]), self.choose([1, 2, 7]), self.choose([1, 3])]
            time = self.integer(0, 1)
            lengths = self.array([shape[1 - time]], numpy.int64, 1, shape[time])
            return self.finish(self.node("ReverseSequence", [self.input(self.array(shape, numpy.float32)), self.value(lengths)], time_axis=time, batch_axis=1 - time))
        if kind == 10:
            flat = self.node("Flatten", [self.before(self.input(self.array(shape, dtype)), dtype)], axis=self.integer(0, rank))
            return self.finish(flat, dtype)
        total = int(numpy.prod(shape))
        target = [1, total, 1] if total == 0 or self.chance(0.3) else [-1, shape[-1]]
        return self.finish(self.node("Reshape", [self.before(self.input(self.array(shape, dtype)), dtype), self.integers(target)], allowzero=1 if total == 0 else 0), dtype)

    def normalization(self):
        kind = self.integer(0, 6)
        shape = self.shape(2, 4, [2, 3, 5, 7, 17, 33], empty=0)
        x = self.before(self.input(self.array(shape, numpy.float32)), numpy.float32)
        rank = len(shape)
        if kind == 0:
            operator = self.choose(["Softmax", "LogSoftmax", "Hardmax"])
            y = self.node(operator, [x if operator != "Hardmax" else self.input(self.random.permutation(int(numpy.prod(shape))).reshape(shape).astype(numpy.float32))], axis=self.axis(rank))
        elif kind == 1:
            axis = self.integer(0, rank - 1)
            rest = shape[axis:]
            y = self.node("LayerNormalization", [x, self.constant(self.array(rest, numpy.float32))] + ([self.constant(self.array(rest, numpy.float32))] if self.chance(0.6) else []),
                          axis=axis - rank if self.chance(0.5) else axis, epsilon=1e-2)
        elif kind == 2:
            scale, bias = (self.constant(self.array([shape[1]], numpy.float32)) for _ in range(2))
            mean, variance = self.constant(self.array([shape[1]], numpy.float32)), self.constant(self.array([shape[1]], numpy.float32, 0.5, 2))
            y = self.node("BatchNormalization", [x, scale, bias, mean, variance], epsilon=1e-3)
        elif kind == 3 and rank > 2:
            y = self.node("InstanceNormalization", [x, *(self.constant(self.array([shape[1]], numpy.float32)) for _ in range(2))], epsilon=1e-2)
        elif kind == 4 and rank == 4:
            y = self.node("LRN", [x], size=self.choose([1, 3, 5]), alpha=0.1, beta=0.5, bias=1.5)
        elif kind == 5:
            y = self.node("LpNormalization", [self.node("Add", [self.node("Abs", [x]), self.constant(numpy.float32(0.1))])], axis=self.axis(rank), p=self.integer(1, 2))
        else:
            y = self.node("MeanVarianceNormalization", [x], axes=sorted(axis % rank for axis in self.axes(rank)))
        self.finish(y, numpy.float32)

    def quantization(self):
        kind = self.integer(0, 3)
        dtype = self.choose([numpy.int8, numpy.uint8])
        shape = self.shape(1, 4, [2, 3, 5, 17], empty=0)
        axis = self.axis(len(shape))
        per_axis = self.chance(0.5)
        count = [shape[axis]] if per_axis else []
        scale = self.constant(numpy.asarray(2.0 ** -self.random.integers(1, 4, count), numpy.float32))
        zero = self.constant(self.array(count, dtype, 0, 5))
        if kind == 0:
            return self.finish(self.node("QuantizeLinear", [self.input(self.array(shape, numpy.float32) * 10), scale, zero], axis=axis))
        if kind == 1:
            return self.finish(self.node("DequantizeLinear", [self.input(self.array(shape, dtype)), scale, zero], axis=axis), numpy.float32)
        if kind == 2:
            m, n, k = (self.choose([1, 3, 5, 17]) for _ in range(3))
            one = lambda number, kind=numpy.float32: self.constant(numpy.array(number, kind))  # noqa: E731
            return self.finish(self.node("QLinearMatMul", [self.input(self.array([m, k], numpy.uint8)), one(0.5), one(3, numpy.uint8), self.value(self.array([k, n], dtype)), one(0.25),
                                                           one(1, dtype), one(4), one(7, numpy.uint8)]))
        q = self.node("QuantizeLinear", [self.input(self.array(shape, numpy.float32)), scale, zero], axis=axis)
        return self.finish(self.node("DequantizeLinear", [q, scale, zero], axis=axis), numpy.float32)

    def resize(self):
        shape = [self.integer(1, 2), self.integer(1, 3), self.choose([1, 2, 5, 7]), self.choose([1, 3, 4, 9])]
        mode = self.choose(["nearest", "linear", "cubic"])
        transform = self.choose(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
        attributes = {"mode": mode, "coordinate_transformation_mode": transform}
        if mode == "nearest":
            attributes["nearest_mode"] = self.choose(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
        x = self.input(self.array(shape, numpy.float32))
        if self.chance(0.5):
            # Where a size is rounded, ONNX's reference and onnxruntime align corners by different sizes.
            small = transform != "align_corners"
            scales = [self.choose([0.5, 1, 2, 3] if small else [1, 2, 3]) for _ in range(2)]
            operands = [x, "", self.constant(numpy.array([1, 1, *scales], numpy.float32))]
        else:
            operands = [x, "", "", self.integers(shape[:2] + [self.integer(1, 9), self.integer(1, 9)])]
        self.finish(self.node("Resize", operands, **attributes), numpy.float32)

    def control_flow(self):
        shape = self.shape(1, 3, empty=0)
        x = self.input(self.array(shape, numpy.float32))
        info = helper.make_tensor_value_info

        def graph(name, operator, extra_inputs=(), prefix=""):
            nodes = [helper.make_node(operator, [x], [f"{name}_out"], name=name)]
            return helper.make_graph(nodes, name, list(extra_inputs), [info(f"{name}_out", TensorProto.FLOAT, shape)])

        tag = f"g{len(self.nodes)}"
        if self.chance(0.5):
            condition = self.input(numpy.array(self.chance(0.5)))
            y = self.node("If", [condition], then_branch=graph(f"{tag}_then", self.choose(["Tanh", "Neg"])), else_branch=graph(f"{tag}_else", self.choose(["Abs", "Sigmoid"])))
            return self.finish(y, numpy.float32)
        trips = self.constant(numpy.array(self.integer(0, 4), numpy.int64))
        body = helper.make_graph(
            [helper.make_node("Identity", [f"{tag}_c"], [f"{tag}_co"]), helper.make_node("Tanh", [f"{tag}_v"], [f"{tag}_t"]), helper.make_node("Add", [f"{tag}_t", x], [f"{tag}_vo"]),
             helper.make_node("ReduceSum", [f"{tag}_vo"], [f"{tag}_s"], keepdims=1)],
            tag,
            [info(f"{tag}_i", TensorProto.INT64, []), info(f"{tag}_c", TensorProto.BOOL, []), info(f"{tag}_v", TensorProto.FLOAT, shape)],
            [info(f"{tag}_co", TensorProto.BOOL, []), info(f"{tag}_vo", TensorProto.FLOAT, shape), info(f"{tag}_s", TensorProto.FLOAT, [1] * len(shape))],
        )
        last, collected = self.node("Loop", [trips, self.constant(numpy.array(True)), x], outputs=2, body=body)
        self.finish(last, numpy.float32)
        return self.finish(collected)

    def recurrent(self):
        operator = self.choose(["LSTM", "GRU", "RNN"])
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
        steps, batch, features, hidden = self.integer(1, 5), self.integer(1, 3), self.integer(1, 7), self.integer(1, 9)
        direction = self.choose(["forward", "reverse", "bidirectional"])
        count = 2 if direction == "bidirectional" else 1
        weight = lambda *dims: self.constant(self.array(dims, numpy.float32) * numpy.float32(0.5))  # noqa: E731
        operands = [self.input(self.array([steps, batch, features], numpy.float32)), weight(count, gates * hidden, features), weight(count, gates * hidden, hidden)]
        if self.chance(0.6):
            operands.append(weight(count, 2 * gates * hidden))
        attributes = {"linear_before_reset": self.integer(0, 1)} if operator == "GRU" else {}
        for result in self.node(operator, operands, outputs=3 if operator == "LSTM" else 2, hidden_size=hidden, direction=direction, **attributes):
            self.finish(result, numpy.float32)

    def model(self):
        infer = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "random_operators", infer, outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="weft-test")
        model.ir_version = 8
        return model


FAMILIES = [Cases.arithmetic, Cases.arithmetic, Cases.comparison, Cases.unary, Cases.unary, Cases.cast, Cases.where, Cases.variadic, Cases.reduction,
            Cases.reduction, Cases.arg_reduction, Cases.scan_like, Cases.pooling, Cases.pooling, Cases.convolution, Cases.convolution, Cases.product,
            Cases.product, Cases.gather, Cases.scatter, Cases.slicing, Cases.movement, Cases.movement, Cases.normalization, Cases.quantization,
            Cases.resize, Cases.control_flow, Cases.recurrent]
