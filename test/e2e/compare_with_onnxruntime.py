"""Compares every value of a model, compiled by Weft, with onnxruntime: max|a-b| <= 1e-4 max|b| for each node's output.

Two artifacts are compiled: of the model as it is, whose outputs are compared, and of the same model with every node's value
made an output, so that a wrong node is named. onnxruntime runs without graph optimizations, so that its nodes are the model's.

Some networks amplify rounding: a variance computed as E[x^2] - E[x]^2 of nearly constant values loses most of its digits, and
two right programs differ by more than the tolerance. Where a value does not agree, the model is evaluated a third time in
float64 (onnx's reference evaluator), and the value passes if it is no further from that than onnxruntime's is.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import models
import weft_tool

TOLERANCE = 1e-4
NOT_CHECKED = 77


def take_branches(graph, conditions):
    """Replaces each If, whose condition follows from `conditions` (input name to value), by the nodes of the branch taken."""
    wanted = [node for node in graph.node if node.op_type == "If"]
    if not wanted:
        return
    initializers = {i.name for i in graph.initializer}
    for node in wanted:
        taken = evaluate(graph, node.input[0], conditions)
        branch = next(a.g for a in node.attribute if a.name == ("then_branch" if taken else "else_branch"))
        position = list(graph.node).index(node)
        rename = {inner.name: outer for inner, outer in zip(branch.output, node.output)}
        nodes = list(graph.node)
        graph.initializer.extend(i for i in branch.initializer if i.name not in initializers)
        replaced = []
        for inner in branch.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(inner)
            rename_values(copy, rename)
            replaced.append(copy)
        del graph.node[:]
        graph.node.extend(nodes[:position] + replaced + nodes[position + 1 :])
    take_branches(graph, conditions)


def rename_values(node, rename):
    """Other names for values, also where graphs inside the node refer to them."""
    for names in (node.input, node.output):
        names[:] = [rename.get(name, name) for name in names]
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            own = {output for inner in graph.node for output in inner.output} | {value.name for value in graph.input}
            outer = {old: new for old, new in rename.items() if old not in own}
            for inner in graph.node:
                rename_values(inner, outer)
            for value in graph.output:
                value.name = outer.get(value.name, value.name)


def used_values(node):
    """The names a node reads, those that graphs inside it take from outside included (and, harmlessly, their own)."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            names |= {value.name for value in graph.output}.union(*map(used_values, graph.node))
    return names


def evaluate(graph, name, conditions):
    """The value of a condition that depends only on constants and on the inputs named in `conditions`."""
    needed, wanted = [], {name}
    for node in reversed(graph.node):
        if wanted & set(node.output):
            needed.insert(0, node)
            wanted |= used_values(node)
    part = onnx.helper.make_graph(
        needed,
        "condition",
        [value for value in graph.input if value.name in wanted],
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.BOOL, None)],
        [initializer for initializer in graph.initializer if initializer.name in wanted],
    )
    feeds = {key: numpy.array(value) for key, value in conditions.items() if key in wanted}
    model = onnx.helper.make_model(part, opset_imports=[onnx.helper.make_opsetid("", 18)])
    model.ir_version = 8
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return bool(session.run(None, feeds)[0])


def with_every_value(model, conditions):
    """A copy of the model in which every node's value is an output, without the declared types, which onnxruntime infers."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    take_branches(graph, conditions)
    declared = {output.name for output in graph.output}
    for node in graph.node:
        # The second value of Dropout is not defined alike by all; the further ones of BatchNormalization are for training.
        used = node.output[:1] if node.op_type in ("Dropout", "BatchNormalization") else node.output
        for name in used:
            if name and name not in declared:
                declared.add(name)
                graph.output.append(onnx.ValueInfoProto(name=name))
    return copy


class Reference:
    """onnxruntime on the model with every value as an output."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        options.intra_op_num_threads = 2
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.types = {output.name: output.type for output in self.session.get_outputs()}

    def run(self, inputs):
        return dict(zip(self.names, self.session.run(self.names, inputs)))


def declare_types(model, types):
    """Writes the element types that onnxruntime inferred to the outputs that have none; shapes stay undeclared."""
    elements = {
        "tensor(float)": onnx.TensorProto.FLOAT,
        "tensor(double)": onnx.TensorProto.DOUBLE,
        "tensor(float16)": onnx.TensorProto.FLOAT16,
        "tensor(int64)": onnx.TensorProto.INT64,
        "tensor(int32)": onnx.TensorProto.INT32,
        "tensor(bool)": onnx.TensorProto.BOOL,
        "tensor(uint8)": onnx.TensorProto.UINT8,
    }
    for output in model.graph.output:
        if not output.type.WhichOneof("value"):
            output.type.tensor_type.elem_type = elements[types[output.name]]


def in_float64(model):
    """A copy of the model that computes in float64 where the model does in float32."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)

    def widen(tensor):
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(numpy.float64), tensor.name))

    for initializer in copy.graph.initializer:
        widen(initializer)
    for node in copy.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                widen(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == onnx.TensorProto.FLOAT:
                attribute.i = onnx.TensorProto.DOUBLE
    for value in list(copy.graph.input) + list(copy.graph.output):
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    return copy


class GlobalMaxPool(OpRun):
    """As the operator's definition says; the reference evaluator's own one drops the pooled axes."""

    def _run(self, x):
        return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


def values_in_float64(model, inputs):
    """Every output of the model, computed in float64 by onnx's reference evaluator."""
    evaluator = ReferenceEvaluator(in_float64(model), new_ops=[GlobalMaxPool])
    widened = {key: value.astype(numpy.float64) if value.dtype == numpy.float32 else value for key, value in inputs.items()}
    names = [output.name for output in model.graph.output]
    return dict(zip(names, evaluator.run(names, widened)))


def difference(got, expected):
    """max|got - expected| / max|expected|, infinite for another shape, type or pattern of infinities and NaNs."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return numpy.inf
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind != "f":
        return 0.0 if numpy.array_equal(got, expected) else numpy.inf
    finite = numpy.isfinite(expected)
    same = numpy.array_equal(numpy.isnan(got), numpy.isnan(expected)) and numpy.array_equal(
        got[numpy.isinf(expected)], expected[numpy.isinf(expected)]
    )
    if not same:
        return numpy.inf
    got, expected = got[finite].astype(numpy.float64), expected[finite].astype(numpy.float64)
    if expected.size == 0:
        return 0.0
    error, scale = numpy.abs(got - expected).max(), numpy.abs(expected).max()
    if not numpy.isfinite(error):
        return numpy.inf
    return error / scale if scale else (0.0 if error == 0 else numpy.inf)


def differences(got, expected, producers):
    """(relative difference, value name, node) for every expected value, worst first."""
    found = []
    for name, value in expected.items():
        ratio = difference(got[name], value) if name in got else numpy.inf
        found.append((ratio, name, producers.get(name, "?")))
    return sorted(found, key=lambda entry: -entry[0])


def as_near_as(truth, got, expected):
    """Whether the value is no further from the float64 one than onnxruntime's is (or than the tolerance)."""
    ours, theirs = (difference(value.astype(numpy.float64), truth) for value in (got, expected))
    return ours <= max(TOLERANCE, theirs) and numpy.isfinite(theirs)


def list_wrong(got, expected, producers):
    """A line for each value that differs by more than the tolerance, worst first; empty where none does."""
    found = differences(got, expected, producers)
    return "\n".join(
        f"  {value} of {node}: max|a-b|/max|b| = {ratio:.3e}" for ratio, value, node in found if not ratio <= TOLERANCE
    )


def check_classes(name, value):
    """The values over the classes must differ, or the comparison would miss most mistakes."""
    rows = value.reshape(value.shape[0], -1)
    distinct = min(len(numpy.unique(row)) for row in rows)
    if distinct < 20:
        raise AssertionError(f"output {name} has {distinct} distinct values over {rows.shape[1]} classes: it would hide mistakes")


def compare_with_interpreter(weft, model, case):
    """`weft verify` compares every op's value with the interpreter's; it fails where one differs."""
    with tempfile.TemporaryDirectory() as scratch:
        options = case.verify_options
        if options is None:
            given = os.path.join(scratch, "inputs.npz")
            numpy.savez(given, **case.inputs[0])
            options = ["--inputs", given]
        started = time.monotonic()
        said = weft_tool.call(weft, "verify", model, *options, f"--tolerance={TOLERANCE}").stdout.strip().splitlines()
        print(f"  interpreter: {said[-1][:200] if said else 'agrees'} ({time.monotonic() - started:.1f} s)")


def compare(weft, name, folder, break_value=None, interpreter=False, options=()):
    case = models.load(name)
    case.options += options
    os.makedirs(folder, exist_ok=True)
    plain, every = os.path.join(folder, "model.onnx"), os.path.join(folder, "every_value.onnx")
    onnx.save(case.model, plain)
    # The branches that the first inputs take.
    instrumented = with_every_value(case.model, {**case.inputs[0], **case.conditions})
    onnx.save(instrumented, every)
    reference = Reference(every)
    declare_types(instrumented, reference.types)
    onnx.save(instrumented, every)
    producers = {output: f"{node.op_type} {node.name}" for node in instrumented.graph.node for output in node.output}
    outputs = [output.name for output in case.model.graph.output]

    started = time.monotonic()
    artifact = weft_tool.compile_model(weft, plain, os.path.join(folder, "model.weft"), case.options)
    seconds = time.monotonic() - started
    every_artifact = weft_tool.compile_model(weft, every, os.path.join(folder, "every_value.weft"), case.options)
    print(f"{name}: compiled in {seconds:.1f} s")

    failed = 0
    for index, inputs in enumerate(case.inputs):
        shapes = ", ".join(f"{key} {list(value.shape)}" for key, value in inputs.items())
        expected = reference.run(inputs)
        taken = {name: value for name, value in inputs.items() if name not in case.fixed}
        if case.classifies:
            check_classes(outputs[0], expected[outputs[0]])
        compared = [("outputs", weft_tool.run(weft, artifact, taken), outputs)]
        if index < case.every_value_on:
            compared.append(("every value", weft_tool.run(weft, every_artifact, taken), reference.names))
        got_every = compared[-1][1]
        if break_value:
            # For the test of this script: one element of one value is made slightly wrong.
            broken = got_every[break_value].copy()
            broken.flat[broken.size // 2] += 1e-3 * max(1.0, float(numpy.abs(broken).max()))
            got_every[break_value] = broken
        truth = None
        for title, got, names in compared:
            found = differences(got, {name: expected[name] for name in names}, producers)
            wrong = [entry for entry in found if not entry[0] <= (case.output_tolerance if title == "outputs" else TOLERANCE)]
            amplified = 0
            if wrong:
                truth = truth or values_in_float64(instrumented, inputs)
                remaining = [
                    entry
                    for entry in wrong
                    if entry[1] not in got
                    or got[entry[1]].dtype.kind != "f"
                    or not as_near_as(truth[entry[1]], got[entry[1]], expected[entry[1]])
                ]
                amplified, wrong = len(wrong) - len(remaining), remaining
            failed += len(wrong)
            worst = found[0]
            print(f"  {shapes}: {title}: {len(found)} compared, {len(wrong)} differ; worst {worst[0]:.2e} at {worst[1]} ({worst[2]})")
            if amplified:
                print(f"    {amplified} more amplify rounding and are no further from float64 than onnxruntime's")
            # In the order of the model: the first wrong node is the one to look at.
            order = {output: index for index, output in enumerate(producers)}
            for ratio, value, node in sorted(wrong, key=lambda entry: order.get(entry[1], 0))[:5]:
                print(f"    wrong: {value} of node {node}: max|a-b|/max|b| = {ratio:.3e}, allowed {TOLERANCE:.0e}")
    if interpreter:
        compare_with_interpreter(weft, plain, case)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True, help="the weft tool")
    parser.add_argument("--folder", required=True, help="where the models and artifacts of this comparison go")
    parser.add_argument("--interpreter", action="store_true", help="compare with Weft's interpreter too, on the first inputs")
    parser.add_argument("--compile-option", action="append", default=[], help="one more option of weft compile; may be repeated")
    parser.add_argument("--break-value", help="make this value wrong, to see that it is reported")
    parser.add_argument("model", choices=sorted(models.CASES))
    arguments = parser.parse_args()
    try:
        failed = compare(os.path.abspath(arguments.weft), arguments.model, arguments.folder, arguments.break_value, arguments.interpreter, arguments.compile_option)
    except models.NotHere as error:
        print(f"NOT CHECKED: {error}")
        sys.exit(NOT_CHECKED)
    except (weft_tool.WeftError, AssertionError) as error:
        print(f"{arguments.model}: {error}")
        sys.exit(1)
    finally:
        # Some models are hundreds of megabytes.
        for name in ("model.onnx", "every_value.onnx", "model.weft", "every_value.weft"):
            path = os.path.join(arguments.folder, name)
            if os.path.exists(path) and "WEFT_KEEP" not in os.environ:
                os.remove(path)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
