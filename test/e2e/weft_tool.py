"""Calls the `weft` tool as a user does: files in, files out, errors on standard error."""

import os
import subprocess
import tempfile

import numpy


class WeftError(Exception):
    """The tool ended with an error; the message is what it said."""


def call(weft, *arguments, timeout=600):
    result = subprocess.run([weft, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)
    if result.returncode != 0:
        raise WeftError(f"weft {' '.join(map(str, arguments))}\nexit status {result.returncode}\n{result.stderr}{result.stdout}")
    return result


def compile_model(weft, model, artifact, options=()):
    call(weft, "compile", model, "-o", artifact, *options)
    return artifact


def run(weft, program, inputs, options=()):
    """Runs an artifact (or a model) on the arrays of `inputs` by name; returns the outputs by name."""
    with tempfile.TemporaryDirectory() as folder:
        given = os.path.join(folder, "inputs.npz")
        made = os.path.join(folder, "outputs.npz")
        numpy.savez(given, **inputs)
        call(weft, "run", program, "--inputs", given, "--outputs", made, *options)
        with numpy.load(made) as archive:
            return {name: archive[name] for name in archive.files}
