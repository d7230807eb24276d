"""Weft's demonstration: a published file classifier labels files of this repository, then a ResNet-50 runs.

`./dev demo` builds what is needed and calls this. Everything goes through the tools, as a user would call them; results are
compared with onnxruntime. usage: demo.py --weft TOOL [--folder WHERE] [FILES TO LABEL]
"""

import argparse
import os
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "e2e"))

import file_classifier  # noqa: E402
import make_resnet50  # noqa: E402
import weft_tool  # noqa: E402

FILES = ["README.md", "LICENSE", "dev", "CMakeLists.txt", "CMakePresets.json", ".ci/run", "examples/run_model.c",
         "test/e2e/make_resnet50.py", "test/lit.cfg.py", "include/weft/runtime.h"]


class Clock:
    """Seconds since it was made or last read."""

    def __init__(self):
        self.started = time.monotonic()

    def lap(self):
        now = time.monotonic()
        seconds, self.started = now - self.started, now
        return seconds


def reference(model, inputs):
    """onnxruntime's first output, or None where it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def agreement(ours, theirs):
    """One line about the comparison, and whether it came out well."""
    if theirs is None:
        return "   onnxruntime is not installed: NOT compared", True
    error = float(numpy.abs(ours - theirs).max())
    same = bool(numpy.array_equal(ours.argmax(-1), theirs.argmax(-1)))
    good = same and error <= 1e-4 * float(numpy.abs(theirs).max())
    said = "agrees" if good else "DISAGREES"
    return f"   onnxruntime {said}: {'the same' if same else 'OTHER'} labels, probabilities differ by at most {error:.1e}", good


def label_files(weft, folder, files):
    classifier = file_classifier.FileClassifier()
    size = os.path.getsize(classifier.model) / 1e6
    print(f"1. magika, a trained network that tells a file's type from its bytes ({size:.1f} MB of ONNX)")
    clock = Clock()
    artifact = weft_tool.compile_model(weft, classifier.model, os.path.join(folder, "magika.weft"))
    print(f"   compiled into one artifact for any number of files: {clock.lap():.1f} s")
    named, batch = classifier.batch(files)
    clock.lap()
    (probabilities,) = weft_tool.run(weft, artifact, {"bytes": batch}).values()
    print(f"   loaded and run on a batch of {len(named)} files: {clock.lap() * 1000:.0f} ms")
    width = max(len(os.path.relpath(name, ROOT)) for name in named)
    for name, row in zip(named, probabilities):
        label, probability = classifier.label(row)
        print(f"     {os.path.relpath(name, ROOT):{width}}  {label:12} {probability:.3f}")
    line, good = agreement(probabilities, reference(classifier.model, {"bytes": batch}))
    print(line)
    return good


def resnet50(weft, folder):
    clock = Clock()
    model = os.path.join(folder, "resnet50.onnx")
    if not os.path.exists(model):
        import onnx

        onnx.save(make_resnet50.build(), model + ".part")
        os.replace(model + ".part", model)
    print(f"2. ResNet-50 with seeded weights ({os.path.getsize(model) / 1e6:.0f} MB of ONNX, written in {clock.lap():.1f} s)")
    artifact = weft_tool.compile_model(weft, model, os.path.join(folder, "resnet50.weft"))
    print(f"   compiled: {clock.lap():.1f} s")
    image = numpy.random.default_rng(3).normal(0, 1, (1, 3, 224, 224)).astype(numpy.float32)
    clock.lap()
    (probabilities,) = weft_tool.run(weft, artifact, {"image": image}).values()
    print(f"   loaded and run on an image: {clock.lap() * 1000:.0f} ms")
    best = numpy.argsort(-probabilities[0])[:3]
    print("   first classes: " + ", ".join(f"{index} ({probabilities[0][index]:.3f})" for index in best))
    line, good = agreement(probabilities, reference(model, {"image": image}))
    print(line)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True, help="the weft tool")
    parser.add_argument("--folder", default=None, help="where models and artifacts go (default: demo beside the tool's folder)")
    parser.add_argument("files", nargs="*", help="files to label (default: some of this repository)")
    arguments = parser.parse_args()
    weft = os.path.abspath(arguments.weft)
    folder = arguments.folder or os.path.join(os.path.dirname(os.path.dirname(weft)), "demo")
    os.makedirs(folder, exist_ok=True)
    files = arguments.files or [path for path in (os.path.join(ROOT, name) for name in FILES) if os.path.exists(path)]
    clock = Clock()
    try:
        good = label_files(weft, folder, files)
        good = resnet50(weft, folder) and good
    except (weft_tool.WeftError, OSError) as error:
        sys.exit(f"demo: error: {error}")
    print(f"Done in {clock.lap():.1f} s. The artifacts are in {os.path.relpath(folder)}; next: {os.path.relpath(weft)} --help")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
