"""Gives the ImageNet nets with constant weights real ones: seeded, He-scaled, with non-trivial batch statistics.

The nets of ../shared/models named light_* keep only the structure: each weight is a ConstantOfShape node, so nearly any
mistake of a compiler leaves their output unchanged. Here each such node becomes an initializer drawn by what consumes it,
and the batch becomes symbolic (a leading 1 in a constant Reshape target becomes 0, which copies the input's extent).
usage: seed_weights.py INPUT.onnx OUTPUT.onnx [SEED]
"""

import sys

import numpy
import onnx
from onnx import numpy_helper

# The operand of BatchNormalization, by position: scale, bias, mean, variance.
BATCH_STATISTICS = {1: (0.8, 1.2), 2: (-0.2, 0.2), 3: (-0.2, 0.2), 4: (0.7, 1.3)}


def consumers(graph, name):
    """(node, operand position) pairs that read the value, looking through nodes that only change its shape."""
    for node in graph.node:
        for position, operand in enumerate(node.input):
            if operand == name:
                if node.op_type in ("Unsqueeze", "Reshape") and position == 0:
                    yield from consumers(graph, node.output[0])
                else:
                    yield node, position


def follows_relu(node, producers):
    """Whether the data that the node reads was rectified, so that half of its second moment is gone."""
    producer = producers.get(node.input[0])
    while producer is not None and producer.op_type in ("MaxPool", "AveragePool", "Reshape", "Transpose", "Concat", "LRN", "Dropout"):
        producer = producers.get(producer.input[0])
    return producer is not None and producer.op_type == "Relu"


def values(random, shape, node, position, gain):
    """Values for the operand `position` of `node`, chosen so that activations keep their scale through the depth."""
    if node.op_type == "BatchNormalization":
        return random.uniform(*BATCH_STATISTICS[position], shape)
    if node.op_type in ("Conv", "Gemm", "MatMul"):
        if position == 2:
            return random.normal(0, 0.1, shape)
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        fan_in = shape[0] if node.op_type != "Conv" and not transposed else int(numpy.prod(shape[1:]))
        return random.normal(0, (gain / fan_in) ** 0.5, shape)
    if node.op_type == "Mul":
        return random.uniform(0.8, 1.2, shape)
    if node.op_type in ("Add", "Sum"):
        return random.normal(0, 0.1, shape)
    raise ValueError(f"no rule for the weight that {node.op_type} '{node.name}' reads as operand {position}")


def seed_weights(model, seed=0):
    """Changes the model in place, and returns how many weights were written."""
    graph = model.graph
    random = numpy.random.default_rng(seed)
    initializers = {initializer.name: numpy_helper.to_array(initializer) for initializer in graph.initializer}
    producers = {output: node for node in graph.node for output in node.output}
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    shapes_used = {node.input[0] for node in fills}
    for node in fills:
        shape = [int(extent) for extent in initializers[node.input[0]]]
        name = node.output[0]
        users = list(consumers(graph, name))
        if len(users) != 1:
            raise ValueError(f"weight {name} is read by {len(users)} nodes; one was expected")
        user, position = users[0]
        drawn = values(random, shape, user, position, 2 if follows_relu(user, producers) else 1)
        if is_residual_branch(user, producers, graph):
            drawn = drawn * 0.3 if user.op_type == "BatchNormalization" and position == 1 else drawn
        graph.initializer.append(numpy_helper.from_array(drawn.astype(numpy.float32), name))
        graph.node.remove(node)
    for initializer in [i for i in graph.initializer if i.name in shapes_used]:
        graph.initializer.remove(initializer)
    for graph_input in [i for i in graph.input if i.name in shapes_used]:
        graph.input.remove(graph_input)
    make_batch_symbolic(graph)
    return len(fills)


def is_residual_branch(node, producers, graph):
    """Whether the normalization's result goes straight into a sum: such branches are scaled down, as trained ones are."""
    return node.op_type == "BatchNormalization" and any(
        user.op_type in ("Sum", "Add") and all(operand in producers for operand in user.input)
        for user, _ in consumers(graph, node.output[0])
    )


def make_batch_symbolic(graph):
    weights = {initializer.name: initializer for initializer in graph.initializer}
    for node in graph.node:
        if node.op_type == "Reshape" and node.input[1] in weights and node.input[0] not in weights:
            target = numpy_helper.to_array(weights[node.input[1]]).copy()
            if len(target) > 1 and target[0] == 1:
                target[0] = 0
                weights[node.input[1]].CopyFrom(numpy_helper.from_array(target, node.input[1]))
    for value in list(graph.input) + list(graph.output):
        if value.name not in weights:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del graph.value_info[:]


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    loaded = onnx.load(sys.argv[1])
    count = seed_weights(loaded, int(sys.argv[3]) if len(sys.argv) == 4 else 0)
    onnx.save(loaded, sys.argv[2])
    print(f"{count} weights written")
