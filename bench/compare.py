"""Times compiled models beside onnxruntime in one run: the same inputs, the same number of threads, taking turns.

usage: compare.py BUILD [--threads N] [--repeat N] [MODEL ...]     MODEL as in test/e2e/models.py; default: a selection
Times are of one run of a loaded model, in milliseconds, the median of all runs; loading and compiling are not in them.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "test", "e2e"))

import models  # noqa: E402
import weft_tool  # noqa: E402

DEFAULT = ["magika", "resnet50", "basic_pitch", "faster_whisper_vad", "silero_vad", "light_squeezenet", "light_shufflenet"]
# Turns of the two programs, so that a disturbance of the machine falls on both.
TURNS = 3


def weft_milliseconds(weft_run, artifact, inputs, threads, repeat):
    with tempfile.TemporaryDirectory() as folder:
        given = os.path.join(folder, "inputs.npz")
        numpy.savez(given, **inputs)
        said = weft_tool.call(weft_run, artifact, "--inputs", given, f"--threads={threads}", f"--repeat={repeat}").stdout
    found = re.search(r"median ([0-9.]+) ms", said)
    if not found:
        raise weft_tool.WeftError(f"no median among the times that weft-run printed:\n{said}")
    return float(found.group(1))


def peer_milliseconds(session, inputs, repeat):
    session.run(None, inputs)
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        session.run(None, inputs)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def main():
    import onnx
    import onnxruntime

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("models", nargs="*", default=DEFAULT)
    arguments = parser.parse_intermixed_args()
    weft, weft_run = (os.path.abspath(os.path.join(arguments.build, "bin", tool)) for tool in ("weft", "weft-run"))

    print(f"onnxruntime {onnxruntime.__version__}, {arguments.threads} threads, median of {TURNS} turns of {arguments.repeat} runs")
    print(f"{'model':20} {'input':28} {'weft ms':>9} {'onnxruntime ms':>15} {'ratio':>7}")
    for name in arguments.models:
        try:
            case = models.load(name)
        except models.NotHere as error:
            print(f"{name:20} not measured: {error}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            onnx.save(case.model, path)
            artifact = weft_tool.compile_model(weft, path, os.path.join(folder, "model.weft"), case.options)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = arguments.threads
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            for inputs in case.inputs:
                ours, theirs = [], []
                for _ in range(TURNS):
                    ours.append(weft_milliseconds(weft_run, artifact, inputs, arguments.threads, arguments.repeat))
                    theirs.append(peer_milliseconds(session, inputs, arguments.repeat))
                a, b = statistics.median(ours), statistics.median(theirs)
                shape = "x".join(str(extent) for extent in next(iter(inputs.values())).shape)
                print(f"{name:20} {shape:28} {a:9.3f} {b:15.3f} {a / b:7.2f}", flush=True)


if __name__ == "__main__":
    main()
