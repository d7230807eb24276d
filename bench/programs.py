"""The programs of the benchmark by name: a model of fixed sizes and the inputs that it is run on."""

import hashlib
import os
import sys

import numpy
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "test", "e2e"))

import make_bert  # noqa: E402
import make_resnet50  # noqa: E402
import models  # noqa: E402
import networks  # noqa: E402


def resnet50(batch):
    return networks.with_sizes(make_resnet50.build(), {"batch": batch})


def bert(batch):
    return networks.with_sizes(make_bert.build(), {"batch": batch, "length": 128})


def magika():
    case = models.load("magika")
    sizes = {dimension.dim_param: given.shape[axis] for value, given in zip(case.model.graph.input, case.inputs[0].values())
             for axis, dimension in enumerate(value.type.tensor_type.shape.dim) if dimension.dim_param}
    return networks.with_sizes(case.model, sizes)


PROGRAMS = {
    "resnet50": lambda: resnet50(1),
    "resnet50 x16": lambda: resnet50(16),
    "mobilenet": networks.mobilenet,
    "mlp": networks.mlp,
    "bert": lambda: bert(1),
    "bert x8": lambda: bert(8),
    "decoder step": networks.decoder_step,
    "lstm": networks.lstm,
    "magika": magika,
    "yolo": networks.yolo,
    "softmax": networks.softmax,
    "layer norm": networks.layer_norm,
    "gelu": networks.gelu,
    "row sum": networks.row_sum,
}

# Reads and writes of one run, in floats, of the programs that memory bounds; a copy loop moves as many bytes beside them.
MEMORY_BOUND = {"softmax": (4096 * 4096, 4096 * 4096), "layer norm": (4096 * 4096, 4096 * 4096), "gelu": (4096 * 4096, 4096 * 4096),
                "row sum": (4096 * 4096, 4096)}


def make_inputs(model, seed=0):
    """Values for every input: normal floats, and integers small enough for any table (ones for a mask)."""
    random = numpy.random.default_rng(seed)
    values = {}
    weights = {initializer.name for initializer in model.graph.initializer}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        shape = [dimension.dim_value for dimension in tensor.shape.dim]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if numpy.issubdtype(kind, numpy.floating):
            values[value.name] = random.standard_normal(shape).astype(kind)
        elif "mask" in value.name:
            values[value.name] = numpy.ones(shape, kind)
        else:
            values[value.name] = random.integers(0, 255, shape).astype(kind)
    return values


def prepare(name, folder):
    """Writes the model and its inputs to the folder, unless they are there; returns both paths."""
    sources = b"".join(open(path, "rb").read() for path in sorted(
        module.__file__ for module in (networks, make_bert, make_resnet50, models, sys.modules[__name__])))
    key = hashlib.sha256(sources + name.encode()).hexdigest()[:12]
    path = os.path.join(folder, f"{name.replace(' ', '_')}-{key}.onnx")
    inputs = path.removesuffix(".onnx") + ".npz"
    if not os.path.exists(inputs):
        os.makedirs(folder, exist_ok=True)
        model = PROGRAMS[name]()
        onnx.save(model, path)
        numpy.savez(inputs, **make_inputs(model))
    return path, inputs
