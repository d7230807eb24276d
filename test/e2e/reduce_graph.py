"""Makes a graph that shows a fault smaller, for random_graphs.py."""

import numpy
import onnx
from onnx import helper

import random_graphs


def pruned(model, inputs, outputs, values):
    """The part of the model that computes `outputs`; where a node's input is a key of `values` it becomes an input of the graph."""
    needed, nodes, arguments = list(outputs), [], {}
    for node in reversed(model.graph.node):
        if any(output in needed for output in node.output):
            nodes.insert(0, node)
            for name in names_read(node):
                if name in values:
                    arguments[name] = values[name]
                elif name and name not in needed:
                    needed.append(name)
    read = {name for node in nodes for name in names_read(node)}
    arguments.update({name: array for name, array in inputs.items() if name in read})
    made = {output for node in nodes for output in node.output}
    arguments = {name: array for name, array in arguments.items() if name not in made}
    graph = helper.make_graph(
        nodes,
        "reduced",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in arguments.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [tensor for tensor in model.graph.initializer if tensor.name in read],
    )
    small = helper.make_model(graph, opset_imports=model.opset_import, producer_name="weft-test")
    small.ir_version = model.ir_version
    return small, arguments


def names_read(node):
    """The values a node reads, those that its subgraphs take from outside included."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            made = {value.name for value in attribute.g.input} | {tensor.name for tensor in attribute.g.initializer}
            for inner in attribute.g.node:
                names += [name for name in names_read(inner) if name not in made]
                made.update(inner.output)
    return names


def every_value(model, inputs):
    """What the reference computes for every value of the model."""
    names = [output for node in model.graph.node for output in node.output if output]
    widened, arguments = pruned(model, inputs, names, {})
    return {name: numpy.asarray(array) for name, array in random_graphs.reference(widened, arguments).items()}


def reduce(model, inputs, accepts, wrong):
    """The smallest part found that the reference takes and for which `wrong(model, inputs)` is not empty."""

    def fails(candidate):
        return accepts(*candidate) and wrong(*candidate)

    best = model, inputs
    for output in [value.name for value in model.graph.output]:
        candidate = pruned(model, inputs, [output], {})
        if len(candidate[0].graph.node) < len(best[0].graph.node) and fails(candidate):
            best = candidate
    # A single node on the values that it should have been given.
    values = every_value(*best)
    for node in best[0].graph.node:
        candidate = pruned(best[0], best[1], [name for name in node.output if name], values)
        if len(best[0].graph.node) > 1 and fails(candidate):
            return candidate
    # Else ever fewer nodes at the beginning.
    again = True
    while again:
        again = False
        for node in best[0].graph.node[:-1]:
            cut = {name: values[name] for name in node.output if name in values}
            candidate = pruned(best[0], best[1], [value.name for value in best[0].graph.output], cut)
            if len(candidate[0].graph.node) < len(best[0].graph.node) and fails(candidate):
                best, again = candidate, True
                break
    return best
