"""Random graphs compiled with fusion and without it: the same bits, as the numerics contract says.

Contractions run on the artifact's own kernels, whose order of a sum is that of the sizes; everything else has its order in the Spec. The
graphs are those of random_graphs.py. usage: fused_unfused.py --weft TOOL --folder WHERE [--first SEED] [--count N]
"""

import argparse
import os
import subprocess
import sys

import numpy
import onnx

import random_graphs
import weft_tool


def run(weft, folder, path, given, *options):
    made = os.path.join(folder, "made.npz")
    weft_tool.call(weft, "run", path, "--inputs", given, "--outputs", made, "--no-libraries", *options)
    with numpy.load(made) as archive:
        return {name: archive[name] for name in archive.files}


def differences(fused, unfused):
    """What differs in its bits; any NaN is as good as another."""
    if fused.keys() != unfused.keys():
        return f"results {sorted(fused)} and {sorted(unfused)}"
    for name, a in fused.items():
        b = unfused[name]
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{name} is {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        same = numpy.frombuffer(a.tobytes(), numpy.uint8) == numpy.frombuffer(b.tobytes(), numpy.uint8)
        same = same.reshape(-1, a.dtype.itemsize).all(1) if a.size else same
        if numpy.issubdtype(a.dtype, numpy.floating):
            same |= (numpy.isnan(a) & numpy.isnan(b)).ravel()
        if not same.all():
            first = numpy.flatnonzero(~same)[0]
            return f"{name}: {numpy.count_nonzero(~same)} of {a.size} differ, element {first} is {a.flat[first]!r} and {b.flat[first]!r}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    weft = os.path.abspath(arguments.weft)
    path, given = (os.path.join(arguments.folder, name) for name in ("graph.onnx", "inputs.npz"))
    failed = 0
    for index in range(arguments.first, arguments.first + arguments.count):
        # Every fourth seed is a connected graph; single operators have nothing to fuse.
        model, inputs = random_graphs.generate(4 * index)
        onnx.save(model, path)
        numpy.savez(given, **inputs)
        try:
            wrong = differences(run(weft, arguments.folder, path, given), run(weft, arguments.folder, path, given, "--no-fusion"))
        except (weft_tool.WeftError, subprocess.TimeoutExpired) as error:
            wrong = str(error)
        if wrong:
            failed += 1
            print(f"graph {index}: {wrong}", flush=True)
    print(f"{arguments.count} random graphs from {arguments.first} on, {failed} differ between fused and unfused")
    sys.exit(1 if failed or not arguments.count else 0)


if __name__ == "__main__":
    main()
