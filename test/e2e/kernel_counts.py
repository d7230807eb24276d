"""Kernels, library calls and bytes of whole models and small programs, as `weft explain` tells them: exact, so that a
change that moves more shows.

usage: kernel_counts.py --weft TOOL --folder WHERE
"""

import argparse
import os
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import make_bert
import make_resnet50
import weft_tool

EXTENT = 1024
SQUARE = 4 * EXTENT * EXTENT


def small(nodes, initializers=(), inputs=("x",)):
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info(name, TensorProto.FLOAT, [EXTENT, EXTENT]) for name in inputs],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], producer_name="weft-test")
    model.ir_version = 8
    return model


def vector(name):
    return numpy_helper.from_array(numpy.random.default_rng(0).normal(1, 0.1, EXTENT).astype(numpy.float32), name)


def softmax():
    return small([helper.make_node("Softmax", ["x"], ["y"], axis=-1)])


def layer_norm():
    return small([helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["y"], axis=-1)], [vector("scale"), vector("bias")])


def gelu_of_product():
    half, root, one = (numpy_helper.from_array(numpy.float32(value), name) for value, name in ((0.5, "half"), (2**0.5, "root"), (1, "one")))
    return small([helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Div", ["p", "root"], ["s"]), helper.make_node("Erf", ["s"], ["e"]),
                  helper.make_node("Add", ["e", "one"], ["t"]), helper.make_node("Mul", ["p", "t"], ["m"]), helper.make_node("Mul", ["m", "half"], ["y"])],
                 [half, root, one], ("x", "w"))


def residual_layer():
    return small([helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "bias"], ["b"]), helper.make_node("Relu", ["b"], ["a"]),
                  helper.make_node("Add", ["a", "r"], ["y"])], [vector("bias")], ("x", "w", "r"))


# What is expected: kernels after fusion and the bytes that they move, then launches and library calls of the program. Operands and results
# of the small programs are each moved once. ResNet-50 has 53 convolutions and a dense layer, everything elementwise in their epilogues;
# BERT's layers have six products with weights and two of the attention each.
CASES = {
    "softmax": (softmax, (), (1, 2 * SQUARE, 1, 0)),
    "layer_norm": (layer_norm, (), (1, 2 * SQUARE + 8 * EXTENT, 1, 0)),
    "gelu_of_product": (gelu_of_product, (), (1, 3 * SQUARE, 1, 1)),
    "residual_layer": (residual_layer, (), (1, 4 * SQUARE + 4 * EXTENT, 0, 1)),
    "resnet50": (make_resnet50.build, ("--shape", "batch=1"), (59, 216969344, 5, 54)),
    "bert": (make_bert.build, ("--shape", "batch=1", "--shape", "length=128"), (183, 549819904, 99, 96)),
}


def counts(weft, folder, name):
    make, options, _ = CASES[name]
    path = os.path.join(folder, name + ".onnx")
    onnx.save(make(), path)
    said = weft_tool.call(weft, "explain", path, *options)
    os.remove(path)
    text = said.stdout + said.stderr
    kernels, moved, program = (re.search(pattern, text) for pattern in (
        r"kernels: \d+ -> (\d+)", r"bytes: \d+ -> (\d+)", r"program: (\d+) launch\w*, (\d+) library call"))
    if not (kernels and moved and program):
        sys.exit(f"{name}: weft explain did not tell its counts:\n{text[-2000:]}")
    return int(kernels.group(1)), int(moved.group(1)), int(program.group(1)), int(program.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--folder", required=True)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    failed = False
    for name, (_, _, expected) in CASES.items():
        found = counts(os.path.abspath(arguments.weft), arguments.folder, name)
        failed |= found != expected
        print(f"{name}: kernels, bytes, launches, library calls {found}" + ("" if found == expected else f", expected {expected}"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
