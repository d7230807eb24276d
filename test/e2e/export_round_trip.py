"""Imports models and exports them again; onnxruntime must give the same for the exported model as for the original.

Nothing of Weft computes here: what is compared is the meaning that the importer gives a model and the exporter gives the
Graph dialect. usage: export_round_trip.py --weft-onnx TOOL --folder WHERE [--first SEED] [--count N] [MODEL...]
"""

import argparse
import os
import subprocess
import sys

import onnx
import onnxruntime

import compare_with_onnxruntime as comparison
import models
import random_graphs


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(model, inputs):
    opened = session(model)
    names = [output.name for output in opened.get_outputs()]
    return dict(zip(names, opened.run(names, inputs)))


def compare(tool, folder, name, model, input_sets):
    """An empty text where the exported model agrees with the original, else what is wrong."""
    path, exported = os.path.join(folder, f"{name}.onnx"), os.path.join(folder, f"{name}.exported.onnx")
    onnx.save(model, path)
    made = subprocess.run([tool, path, f"--export={exported}"], capture_output=True, text=True, timeout=600)
    if made.returncode != 0:
        return made.stderr.strip() or f"exit status {made.returncode}"
    producers = {output: f"{node.op_type} {node.name}" for node in model.graph.node for output in node.output}
    for inputs in input_sets:
        expected = run(path, inputs)
        try:
            got = run(exported, inputs)
        except Exception as error:  # onnxruntime's own types are not public.
            return f"onnxruntime does not take the exported model: {error}"
        wrong = comparison.list_wrong(got, expected, producers)
        if wrong:
            return wrong
    os.remove(path)
    os.remove(exported)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft-onnx", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    tool = os.path.abspath(arguments.weft_onnx)
    failed, checked, missing = 0, 0, 0

    def check(name, model, input_sets):
        nonlocal failed, checked
        checked += 1
        wrong = compare(tool, arguments.folder, name, model, input_sets)
        if wrong:
            failed += 1
            print(f"{name} (kept in {arguments.folder}):\n{wrong}")

    for seed in range(arguments.first, arguments.first + arguments.count):
        model, inputs = random_graphs.connected(seed)
        check(f"random_{seed}", model, [inputs])
    for name in arguments.models:
        try:
            case = models.load(name)
        except models.NotHere as reason:
            missing += 1
            print(f"NOT CHECKED: {name}: {reason}")
            continue
        check(name, case.model, case.inputs)
    print(f"{checked} models exported again, {failed} differ from the original in onnxruntime")
    if failed or not checked + missing:
        sys.exit(1)
    sys.exit(comparison.NOT_CHECKED if missing else 0)


if __name__ == "__main__":
    main()
