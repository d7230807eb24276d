"""An ONNX graph of fixed sizes as a function of jax.numpy, node by node; for the benchmark's programs only.

What depends on shapes and constants alone is computed by numpy while tracing. Large weights are arguments of the function, so that
XLA neither folds nor copies them; convolutions' are given in the order that its CPU kernels read (spatial, in, out).
"""

import numpy
from onnx import helper, numpy_helper


class NotTranslated(Exception):
    """The graph has an operator that this table lacks."""


def attributes_of(node):
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def translate(model):
    """(function, weights): function(weights, *inputs) gives the outputs as a tuple."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    graph = model.graph
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    constants, weights = {}, {}
    kernels = {node.input[1] for node in graph.node if node.op_type == "Conv"}
    for initializer in graph.initializer:
        value = numpy_helper.to_array(initializer)
        if value.size <= 64 or not numpy.issubdtype(value.dtype, numpy.floating):
            constants[initializer.name] = value
        else:
            weights[initializer.name] = numpy.ascontiguousarray(numpy.moveaxis(value, (0, 1), (-1, -2))) if initializer.name in kernels else value

    def is_known(value):
        return value is None or isinstance(value, (numpy.ndarray, numpy.generic))

    def integers(value):
        return [int(entry) for entry in numpy.asarray(value).ravel()]

    def window(a, x):
        spatial = x.ndim - 2
        pads = a.get("pads", [0] * 2 * spatial)
        return (1, 1) + tuple(a["kernel_shape"]), (1, 1) + tuple(a.get("strides", [1] * spatial)), ((0, 0), (0, 0)) + tuple(
            zip(pads[:spatial], pads[spatial:]))

    def conv(a, x, w, b=None):
        # Small kernels stayed constants, in the model's order.
        spatial = x.ndim - 2
        order = "OIHW"[: 2 + spatial] if isinstance(w, numpy.ndarray) else "HW"[:spatial] + "IO"
        image = "NCHW"[: 2 + spatial]
        pads = a.get("pads", [0] * 2 * spatial)
        y = lax.conv_general_dilated(x, w, a.get("strides", [1] * spatial), list(zip(pads[:spatial], pads[spatial:])),
                                     rhs_dilation=a.get("dilations"), dimension_numbers=(image, order, image),
                                     feature_group_count=a.get("group", 1))
        return y if b is None else y + b.reshape((1, -1) + (1,) * spatial)

    def axes_of(a, axes):
        return tuple(integers(axes)) if axes is not None else tuple(a["axes"]) if "axes" in a else None

    def reduction(function):
        return lambda xp, a, x, axes=None: getattr(xp, function)(x, axis=axes_of(a, axes), keepdims=bool(a.get("keepdims", 1)))

    def layer_norm(_, a, x, scale, bias=None):
        mean = x.mean(-1, keepdims=True)
        y = (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + a.get("epsilon", 1e-5)) * scale
        return y if bias is None else y + bias

    def batch_norm(_, a, x, scale, bias, mean, variance):
        shape = (1, -1) + (1,) * (x.ndim - 2)
        factor = scale / jnp.sqrt(variance + a.get("epsilon", 1e-5))
        return x * factor.reshape(shape) + (bias - mean * factor).reshape(shape)

    def reshape(xp, _, x, shape):
        return xp.reshape(x, [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(integers(shape))])

    def slicing(_, a, x, starts, ends, axes=None, steps=None):
        places = [slice(None)] * x.ndim
        starts, ends = integers(starts), integers(ends)
        for start, end, axis, step in zip(starts, ends, integers(axes) if axes is not None else range(len(starts)),
                                          integers(steps) if steps is not None else [1] * len(starts)):
            places[axis] = slice(start, max(-2**31, min(end, 2**31)) if end >= 0 or step > 0 else None, step)
        return x[tuple(places)]

    def split(xp, a, x, parts=None):
        return tuple(xp.split(x, numpy.cumsum(integers(parts))[:-1].tolist(), axis=a.get("axis", 0)))

    def gemm(_, a, x, y, z=None):
        x, y = x.T if a.get("transA") else x, y.T if a.get("transB") else y
        r = x @ y * a.get("alpha", 1.0)
        return r if z is None else r + z * a.get("beta", 1.0)

    def lstm(_, a, x, w, r, b):
        size = a["hidden_size"]
        if a.get("direction", b"forward") != b"forward":
            raise NotTranslated("an LSTM that runs backward")
        given = x @ w[0].T + (b[0, : 4 * size] + b[0, 4 * size :])

        def step(state, row):
            hidden, cell = state
            gates = row + hidden @ r[0].T
            entry, out, forget = (jax.nn.sigmoid(gates[:, k * size : (k + 1) * size]) for k in range(3))
            cell = forget * cell + entry * jnp.tanh(gates[:, 3 * size :])
            hidden = out * jnp.tanh(cell)
            return (hidden, cell), hidden

        zero = jnp.zeros((x.shape[1], size), x.dtype)
        (hidden, cell), all_hidden = lax.scan(step, (zero, zero), given)
        return all_hidden[:, None], hidden[None], cell[None]

    def resize(_, a, x, roi=None, scales=None, sizes=None):
        if a.get("mode") != b"nearest" or a.get("coordinate_transformation_mode") != b"asymmetric" or scales is None:
            raise NotTranslated("a Resize other than of nearest elements")
        for axis, scale in enumerate(numpy.asarray(scales)):
            if scale != int(scale):
                raise NotTranslated("a Resize by a fraction")
            x = jnp.repeat(x, int(scale), axis=axis) if scale != 1 else x
        return x

    def binary(name):
        return lambda xp, a, x, y: getattr(xp, name)(x, y)

    def unary(name):
        return lambda xp, a, x: getattr(xp, name)(x)

    def squeeze(xp, a, x, axes=None):
        return xp.squeeze(x, axis=axes_of(a, axes))

    table = {
        **{operator: binary(name) for operator, name in (("Add", "add"), ("Sub", "subtract"), ("Mul", "multiply"), ("Equal", "equal"),
                                                          ("MatMul", "matmul"), ("Max", "maximum"), ("Min", "minimum"))},
        **{operator: unary(name) for operator, name in (("Sqrt", "sqrt"), ("Exp", "exp"), ("Tanh", "tanh"), ("Reciprocal", "reciprocal"), ("Neg", "negative"))},
        **{operator: reduction(name) for operator, name in (("ReduceSum", "sum"), ("ReduceMean", "mean"), ("ReduceMax", "max"))},
        "Div": lambda xp, a, x, y: x // y if numpy.issubdtype(x.dtype, numpy.integer) else x / y,
        "Pow": lambda xp, a, x, y: x ** (int(y) if is_known(y) and y == int(y) else y),
        "Erf": lambda xp, a, x: lax.erf(x),
        "Sigmoid": lambda xp, a, x: jax.nn.sigmoid(x),
        "Relu": lambda xp, a, x: jnp.maximum(x, 0),
        "Clip": lambda xp, a, x, low, high: jnp.clip(x, low, high),
        "Softmax": lambda xp, a, x: jax.nn.softmax(x, axis=a.get("axis", -1)),
        "LayerNormalization": layer_norm,
        "BatchNormalization": batch_norm,
        "Conv": lambda xp, a, *v: conv(a, *v),
        "Gemm": gemm,
        "MaxPool": lambda xp, a, x: lax.reduce_window(x, -jnp.inf, lax.max, *window(a, x)),
        "GlobalAveragePool": lambda xp, a, x: x.mean(tuple(range(2, x.ndim)), keepdims=True),
        "GlobalMaxPool": lambda xp, a, x: x.max(tuple(range(2, x.ndim)), keepdims=True),
        "Flatten": lambda xp, a, x: x.reshape(int(numpy.prod(x.shape[: a.get("axis", 1)])), -1),
        "Reshape": reshape,
        "Transpose": lambda xp, a, x: xp.transpose(x, a.get("perm")),
        "Concat": lambda xp, a, *v: xp.concatenate(v, axis=a["axis"]),
        "Split": split,
        "Slice": slicing,
        "Gather": lambda xp, a, x, i: xp.take(x, i, axis=a.get("axis", 0)),
        "Unsqueeze": lambda xp, a, x, axes: xp.expand_dims(x, tuple(integers(axes))),
        "Squeeze": squeeze,
        "Shape": lambda xp, a, x: numpy.array(x.shape, numpy.int64),
        "Cast": lambda xp, a, x: x.astype(helper.tensor_dtype_to_np_dtype(a["to"])),
        "Identity": lambda xp, a, x: x,
        "Expand": lambda xp, a, x, shape: xp.broadcast_to(x, numpy.broadcast_shapes(x.shape, tuple(integers(shape)))),
        "Where": lambda xp, a, c, x, y: xp.where(c, x, y),
        "LSTM": lstm,
        "Resize": resize,
        "Constant": lambda xp, a: numpy_helper.to_array(a["value"]),
    }
    missing = sorted({node.op_type for node in graph.node} - set(table))
    if missing or opset < 13:
        raise NotTranslated(f"no translation of {', '.join(missing) or f'opset {opset}'}")
    names = [value.name for value in graph.input if value.name not in constants and value.name not in weights]

    def function(given, *inputs):
        values = {"": None, **constants, **given, **dict(zip(names, inputs))}
        for node in graph.node:
            operands = [values[name] for name in node.input]
            xp = numpy if all(is_known(operand) for operand in operands) else jnp
            results = table[node.op_type](xp, attributes_of(node), *operands)
            values.update(zip(node.output, results if isinstance(results, tuple) else (results,)))
        return tuple(jnp.asarray(values[value.name]) for value in graph.output)

    return function, weights
