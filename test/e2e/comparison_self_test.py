"""Tests the comparison with onnxruntime itself: a difference of each kind must be found, rounding must not."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import compare_with_onnxruntime as comparison
import seed_weights


def test_difference():
    expected = numpy.linspace(-3, 5, 1000, dtype=numpy.float32).reshape(10, 100)

    def changed(change):
        copy = expected.copy()
        change(copy)
        return copy

    def put(value):
        return lambda copy: copy.__setitem__((5, 50), value)

    assert comparison.difference(expected, expected) == 0
    assert comparison.difference(changed(lambda c: c.__iadd__(1e-5)), expected) < comparison.TOLERANCE
    assert comparison.difference(changed(put(expected[5, 50] + 1e-3)), expected) > comparison.TOLERANCE
    assert comparison.difference(changed(put(numpy.nan)), expected) == numpy.inf
    assert comparison.difference(changed(put(numpy.inf)), expected) == numpy.inf
    assert comparison.difference(expected.T, expected) == numpy.inf, "shape"
    assert comparison.difference(expected.astype(numpy.float64), expected) == numpy.inf, "type"
    special = changed(put(numpy.inf))
    special[0, 0] = numpy.nan
    assert comparison.difference(special, special) == 0
    assert comparison.difference(special, changed(put(-numpy.inf))) == numpy.inf
    zero = numpy.zeros(3, numpy.float32)
    assert comparison.difference(zero, zero) == 0 and comparison.difference(zero + 1e-9, zero) == numpy.inf
    integers = numpy.arange(6)
    assert comparison.difference(integers, integers) == 0
    assert comparison.difference(integers, integers + (integers == 3)) == numpy.inf
    assert comparison.differences({}, {"missing": zero}, {})[0][0] == numpy.inf, "a missing value counts as wrong"


def test_branches():
    """Nodes inside the taken branch of an If become comparable, and the result stays what it was."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])

    def branch(name, operator):
        out = helper.make_tensor_value_info(name + "_out", TensorProto.FLOAT, ["n"])
        nodes = [helper.make_node(operator, ["x"], [name + "_inner"]), helper.make_node("Neg", [name + "_inner"], [name + "_out"])]
        return helper.make_graph(nodes, name, [], [out])

    rate = helper.make_tensor_value_info("rate", TensorProto.INT64, [])
    nodes = [
        helper.make_node("Equal", ["rate", "sixteen"], ["is_sixteen"]),
        helper.make_node("If", ["is_sixteen"], ["y"], then_branch=branch("then", "Exp"), else_branch=branch("else", "Abs")),
    ]
    graph = helper.make_graph(nodes, "g", [x, rate], [y], [helper.make_tensor("sixteen", TensorProto.INT64, [], [16])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    values = numpy.array([0.5, -1], numpy.float32)
    for sixteen, inner in ((16, "then_inner"), (8, "else_inner")):
        every = comparison.with_every_value(model, {"rate": sixteen})
        assert not any(node.op_type == "If" for node in every.graph.node)
        onnx.checker.check_model(model)
        path = every.SerializeToString()
        result = comparison.Reference(path).run({"x": values, "rate": numpy.array(sixteen, numpy.int64)})
        assert inner in result, result.keys()
        function = numpy.exp if sixteen == 16 else numpy.abs
        assert numpy.allclose(result["y"], -function(values))


def test_seeded_weights():
    """Each constant weight is replaced, by values of the right kind, and the batch becomes symbolic."""
    nodes = [
        helper.make_node("ConstantOfShape", ["w_shape"], ["w"], value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])),
        helper.make_node("ConstantOfShape", ["v_shape"], ["variance"]),
        helper.make_node("ConstantOfShape", ["v_shape"], ["scale"]),
        helper.make_node("ConstantOfShape", ["v_shape"], ["bias"]),
        helper.make_node("ConstantOfShape", ["v_shape"], ["mean"]),
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "variance"], ["y"]),
    ]
    shapes = [helper.make_tensor("w_shape", TensorProto.INT64, [4], [8, 3, 3, 3]), helper.make_tensor("v_shape", TensorProto.INT64, [1], [8])]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 6, 6])],
        shapes,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)])
    assert seed_weights.seed_weights(model) == 5
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer}
    assert set(weights) == {"w", "scale", "bias", "mean", "variance"}
    assert weights["w"].shape == (8, 3, 3, 3) and weights["w"].std() > 0.1
    assert weights["variance"].min() > 0.5 and len(numpy.unique(weights["variance"])) == 8
    assert not any(node.op_type == "ConstantOfShape" for node in model.graph.node)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_float64():
    """A value that differs from float64 more than onnxruntime's does is wrong; one that differs less is not."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([helper.make_node("Mul", ["x", "third"], ["y"])], "g", [x], [y], [numpy_helper.from_array(numpy.float32(1 / 3), "third")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    truth = comparison.values_in_float64(model, {"x": numpy.array([3, 6], numpy.float32)})["y"]
    assert truth.dtype == numpy.float64 and numpy.allclose(truth, [3 * float(numpy.float32(1 / 3)), 6 * float(numpy.float32(1 / 3))], rtol=1e-15)
    theirs = (truth * 1.01).astype(numpy.float32)
    assert comparison.as_near_as(truth, (truth * 1.005).astype(numpy.float32), theirs)
    assert not comparison.as_near_as(truth, (truth * 0.98).astype(numpy.float32), theirs)
    assert not comparison.as_near_as(truth, numpy.full(2, numpy.nan, numpy.float32), theirs)


def test_classes():
    comparison.check_classes("good", numpy.random.default_rng(0).normal(size=(2, 100)))
    try:
        comparison.check_classes("constant", numpy.ones((2, 100)))
    except AssertionError:
        return
    raise AssertionError("equal values over the classes were not noticed")


if __name__ == "__main__":
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function()
            print(f"{name}: passed")
