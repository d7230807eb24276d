"""Programs for NVIDIA GPUs, end to end on the simulated GPU: one artifact for several targets, run by both tools under every check
of the simulator and several orders of execution, compared with numpy; and what is said where there is no such GPU.

usage: gpu.py --weft WEFT --weft-run WEFT_RUN --folder FOLDER
"""

import argparse
import os
import subprocess

import numpy
import onnx
from onnx import TensorProto, helper

CHECKS = "races,uninitialised,bounds"


def make_model(path):
    """softmax(relu(x @ w + b)), of any number of rows, and the mean of each row of x."""
    generator = numpy.random.default_rng(5)
    w = generator.normal(size=(12, 7)).astype(numpy.float32)
    b = generator.normal(size=7).astype(numpy.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], "product"),
        helper.make_node("Add", ["product", "b"], ["sum"], "bias"),
        helper.make_node("Relu", ["sum"], ["positive"], "activate"),
        helper.make_node("Softmax", ["positive"], ["y"], "probabilities", axis=-1),
        helper.make_node("ReduceMean", ["x"], ["mean"], "mean", axes=[1], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "gpu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 7]),
         helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["rows"])],
        [onnx.numpy_helper.from_array(w, "w"), onnx.numpy_helper.from_array(b, "b")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return w.astype(numpy.float64), b.astype(numpy.float64)


def expected(x, w, b):
    positive = numpy.maximum(x.astype(numpy.float64) @ w + b, 0)
    powers = numpy.exp(positive - positive.max(axis=1, keepdims=True))
    return {"y": powers / powers.sum(axis=1, keepdims=True), "mean": x.astype(numpy.float64).mean(axis=1)}


class Bench:
    def __init__(self, folder):
        self.folder, self.count, self.failures = folder, 0, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, arguments, environment=None, status=0):
        """Runs a command, which is to end with that status; its standard output and error."""
        self.count += 1
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=600, env={**os.environ, **(environment or {})})
        if result.returncode != status:
            self.failures.append(f"{' '.join(arguments)}\n  ended with status {result.returncode}, expected {status}\n  "
                                 f"{result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def says(self, text, part):
        self.count += 1
        if part not in text:
            self.failures.append(f"expected a message with '{part}', got: {text}")

    def compare(self, what, archive, reference):
        self.count += 1
        with numpy.load(archive) as values:
            for name, wanted in reference.items():
                off = numpy.abs(values[name] - wanted).max() if values[name].shape == wanted.shape else numpy.inf
                if not off <= 1e-5:
                    self.failures.append(f"{what}: output {name} is off by {off}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--weft", "--weft-run", "--folder"):
        parser.add_argument(option, required=True)
    arguments = parser.parse_args()
    weft, weft_run = arguments.weft, arguments.weft_run
    os.makedirs(arguments.folder, exist_ok=True)
    bench = Bench(arguments.folder)
    model, artifact, inputs, outputs = (bench.path(name) for name in ("model.onnx", "model.weft", "inputs.npz", "outputs.npz"))
    w, b = make_model(model)
    bench.call([weft, "compile", model, "--target=cpu,cuda:sm_80,cuda:sm_90", "--shape", "rows=1..300", "-o", artifact])
    simulated = ["--device=cuda", "--gpu-sim", f"--sim-check={CHECKS}"]
    for rows in (1, 5, 300):
        x = numpy.random.default_rng(rows).normal(size=(rows, 12)).astype(numpy.float32)
        numpy.savez(inputs, x=x)
        reference = expected(x, w, b)
        data = ["--inputs", inputs, "--outputs", outputs]
        for tool in ([weft, "run"], [weft_run]):
            bench.call([*tool, artifact, *data])
            bench.compare(f"{rows} rows on the CPU", outputs, reference)
            for seed in (0, 1, 2):
                bench.call([*tool, artifact, *data, *simulated, f"--sim-seed={seed}", "--repeat", "3"])
                bench.compare(f"{rows} rows on a simulated GPU, seed {seed}", outputs, reference)
        bench.call([weft_run, artifact, *data, "--device=cuda:1", "--gpu-sim=2", "--sim-architecture=80", "--check-nans", "--profile"])
        bench.compare(f"{rows} rows on the second of two simulated GPUs", outputs, reference)
    bench.says(bench.call([weft, "verify", model, "--shape", "rows=6", *simulated]), "verified: ")
    # The device decides what is compiled.
    bench.call([weft, "run", model, *data, *simulated, "--sim-architecture=100"])
    bench.compare("compiled for the device it runs on", outputs, reference)
    # What is not there is said, and nothing else is used in its place.
    nowhere = {"WEFT_CUDA_DRIVER": "/nowhere/libcuda.so.1"}
    for tool in ([weft, "run"], [weft_run]):
        bench.says(bench.call([*tool, artifact, "--random-inputs", "--device=cuda"], nowhere, 1), "no CUDA driver: looked for /nowhere")
        bench.says(bench.call([*tool, artifact, "--random-inputs", *simulated, "--sim-architecture=70"], status=1),
                   "older than any GPU" if tool[0] == weft else "the artifact was compiled for")
        bench.says(bench.call([*tool, artifact, "--random-inputs", "--device=cuda:1", "--gpu-sim"], status=1), "GPU")
        bench.says(bench.call([*tool, artifact, "--random-inputs", "--gpu-sim"], status=1), "give --device=cuda with it")
        bench.says(bench.call([*tool, artifact, "--random-inputs", "--device=cuda", "--gpu-sim", "--sim-check=luck"], status=1), "is none of races")
        bench.says(bench.call([*tool, artifact, "--random-inputs", "--device=abacus"], status=1), "abacus")
    for target in ("cuda", "cuda:", "cuda:sm_12", "cuda:sm_90+", "tpu", "cpu,,cpu", "cpu,cpu"):
        bench.says(bench.call([weft, "compile", model, f"--target={target}", "-o", bench.path("bad.weft")], status=1), "target '")
        if os.path.exists(bench.path("bad.weft")):
            bench.failures.append(f"--target={target} left a file behind")
    for failure in bench.failures:
        print(failure)
    print(f"gpu: {bench.count} checks, {len(bench.failures)} failures")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
