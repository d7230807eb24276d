"""A BERT encoder as an ONNX model, as exporters write it (opset 17, symbolic batch and length), from published or seeded weights.

Inputs: input_ids and attention_mask, i64 [batch, length]. Output: last_hidden_state, f32 [batch, length, hidden].
Weights go by their names in Hugging Face's BertModel. usage: make_bert.py OUTPUT.onnx [SEED]   (the shape of BERT-base)
"""

import json
import struct
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def read_safetensors(path):
    """Every tensor of a safetensors file by name: a length, a JSON header with types, shapes and offsets, the bytes."""
    types = {"F32": numpy.float32, "F16": numpy.float16, "I64": numpy.int64, "I32": numpy.int32}
    with open(path, "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
        data = stream.read()
    return {
        name: numpy.frombuffer(data[entry["data_offsets"][0] : entry["data_offsets"][1]], types[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def seeded_weights(layers, hidden, inner, vocabulary, positions, seed):
    """Weights of the scale that training leaves, for measurements that need a shape and no meaning."""
    random = numpy.random.default_rng(seed)

    def dense(out, given):
        return random.normal(0, given**-0.5, (out, given)).astype(numpy.float32), random.normal(0, 0.02, out).astype(numpy.float32)

    weights = {}

    def add(name, pair):
        weights[name + ".weight"], weights[name + ".bias"] = pair

    def norm():
        return random.uniform(0.8, 1.2, hidden).astype(numpy.float32), random.normal(0, 0.02, hidden).astype(numpy.float32)

    for name, count in (("word", vocabulary), ("position", positions), ("token_type", 2)):
        weights[f"embeddings.{name}_embeddings.weight"] = random.normal(0, 0.02, (count, hidden)).astype(numpy.float32)
    add("embeddings.LayerNorm", norm())
    for layer in range(layers):
        start = f"encoder.layer.{layer}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            add(start + "attention." + part, dense(hidden, hidden))
        add(start + "attention.output.LayerNorm", norm())
        add(start + "intermediate.dense", dense(inner, hidden))
        add(start + "output.dense", dense(hidden, inner))
        add(start + "output.LayerNorm", norm())
    return weights


class Encoder:
    """Builds the graph; each method adds nodes and returns the name of their result."""

    def __init__(self, weights, heads, epsilon):
        self.weights, self.heads, self.epsilon = weights, heads, epsilon
        self.hidden = weights["embeddings.LayerNorm.weight"].shape[0]
        self.nodes, self.initializers = [], []

    def node(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name, values):
        if all(existing.name != name for existing in self.initializers):
            self.initializers.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def integers(self, values):
        return self.constant("integers_" + "_".join(map(str, values)), numpy.array(values, numpy.int64))

    def number(self, value):
        return self.constant(f"number_{value}", numpy.array(value, numpy.float32))

    def dense(self, x, name):
        weight = self.constant(name + ".weight_transposed", self.weights[name + ".weight"].T)
        product = self.node("MatMul", [x, weight], name + ".matmul")
        return self.node("Add", [product, self.constant(name + ".bias", self.weights[name + ".bias"])], name + ".add")

    def norm(self, x, name):
        scale, bias = (self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=self.epsilon)

    def attention(self, x, bias, start):
        def split(part):
            shape = self.integers([0, 0, self.heads, self.hidden // self.heads])
            return self.node("Reshape", [self.dense(x, start + "self." + part), shape], f"{start}{part}.heads")

        query = self.node("Transpose", [split("query")], start + "query.transposed", perm=[0, 2, 1, 3])
        key = self.node("Transpose", [split("key")], start + "key.transposed", perm=[0, 2, 3, 1])
        value = self.node("Transpose", [split("value")], start + "value.transposed", perm=[0, 2, 1, 3])
        scores = self.node("MatMul", [query, key], start + "scores")
        scores = self.node("Div", [scores, self.number(float((self.hidden // self.heads) ** 0.5))], start + "scaled")
        scores = self.node("Add", [scores, bias], start + "masked")
        mixed = self.node("MatMul", [self.node("Softmax", [scores], start + "softmax", axis=-1), value], start + "mixed")
        mixed = self.node("Transpose", [mixed], start + "mixed.transposed", perm=[0, 2, 1, 3])
        return self.node("Reshape", [mixed, self.integers([0, 0, self.hidden])], start + "merged")

    def gelu(self, x, name):
        scaled = self.node("Div", [x, self.number(2**0.5)], name + ".scaled")
        shifted = self.node("Add", [self.node("Erf", [scaled], name + ".erf"), self.number(1.0)], name + ".shifted")
        return self.node("Mul", [self.node("Mul", [x, shifted], name + ".product"), self.number(0.5)], name)

    def layer(self, x, bias, start):
        attended = self.dense(self.attention(x, bias, start + "attention."), start + "attention.output.dense")
        x = self.norm(self.node("Add", [attended, x], start + "attention.residual"), start + "attention.output.LayerNorm")
        inner = self.gelu(self.dense(x, start + "intermediate.dense"), start + "gelu")
        outer = self.dense(inner, start + "output.dense")
        return self.norm(self.node("Add", [outer, x], start + "residual"), start + "output.LayerNorm")

    def build(self):
        table = {name: self.constant(name, self.weights[f"embeddings.{name}_embeddings.weight"]) for name in ("word", "position", "token_type")}
        words = self.node("Gather", [table["word"], "input_ids"], "embeddings.words")
        length = self.node("Gather", [self.node("Shape", ["input_ids"], "shape"), self.integers([1])], "length")
        # The first rows of the table, one a position.
        positions = self.node("Slice", [table["position"], self.integers([0]), length, self.integers([0])], "embeddings.positions")
        kind = self.node("Gather", [table["token_type"], self.constant("kind", numpy.array(0, numpy.int64))], "embeddings.kind")
        x = self.node("Add", [self.node("Add", [words, positions], "embeddings.placed"), kind], "embeddings.sum")
        x = self.norm(x, "embeddings.LayerNorm")
        mask = self.node("Cast", [self.node("Unsqueeze", ["attention_mask", self.integers([1, 2])], "mask.expanded")], "mask.float", to=TensorProto.FLOAT)
        masked = self.node("Sub", [self.number(1.0), mask], "mask.inverted")
        bias = self.node("Mul", [masked, self.number(-10000.0)], "mask.bias")
        layers = len({name.split(".")[2] for name in self.weights if name.startswith("encoder.layer.")})
        for index in range(layers):
            x = self.layer(x, bias, f"encoder.layer.{index}.")
        self.node("Identity", [x], "last_hidden_state")
        given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask")]
        made = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", self.hidden])]
        graph = helper.make_graph(self.nodes, "bert", given, made, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="weft-tests")
        model.ir_version = 8
        return model


def from_safetensors(path, heads, epsilon=1e-12):
    """The model and the size of its vocabulary, from the weights of a published BertModel."""
    weights = read_safetensors(path)
    return Encoder(weights, heads, epsilon).build(), weights["embeddings.word_embeddings.weight"].shape[0]


def build(layers=12, hidden=768, heads=12, inner=3072, vocabulary=30522, positions=512, seed=1):
    return Encoder(seeded_weights(layers, hidden, inner, vocabulary, positions, seed), heads, 1e-12).build()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    onnx.save(build(seed=int(sys.argv[2]) if len(sys.argv) == 3 else 1), sys.argv[1])


if __name__ == "__main__":
    main()
