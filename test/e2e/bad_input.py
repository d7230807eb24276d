"""Bad input ends with exit status 1, a message that says what is wrong, and nothing left behind. Never a crash or a hang.

Needs no Python package: models are made from text by protoc. usage: bad_input.py WEFT WEFT_RUN ONNX_PROTO_DIR
"""

import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

MODEL = """
ir_version: 8 opset_import { version: 17 }
graph {
  name: "g"
  node { name: "scale" op_type: "Mul" input: "x" input: "w" output: "scaled" }
  node { name: "activate" op_type: "Relu" input: "scaled" output: "y" }
  initializer { name: "w" data_type: 1 dims: 4 float_data: [1, 2, 3, 4] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 4 } } } } }
}
"""
CYCLE = MODEL.replace('input: "x" input: "w"', 'input: "y" input: "w"')
UNKNOWN = MODEL.replace('op_type: "Mul"', 'op_type: "Frobnicate"').replace('op_type: "Relu"', 'domain: "com.example" op_type: "Twist"')
EXTERNAL = MODEL.replace(
    "float_data: [1, 2, 3, 4]",
    'data_location: EXTERNAL external_data { key: "location" value: "LOCATION" } external_data { key: "length" value: "16" }',
)
UNDEFINED = MODEL.replace('input: "scaled"', 'input: "nowhere"')
TYPE_MISMATCH = MODEL.replace("data_type: 1 dims: 4 float_data: [1, 2, 3, 4]", "data_type: 7 dims: 4 int64_data: [1, 2, 3, 4]")
SHAPE_MISMATCH = MODEL.replace("dims: 4 float_data: [1, 2, 3, 4]", "dims: 3 float_data: [1, 2, 3]")
SHORT_WEIGHT = MODEL.replace("dims: 4 float_data", "dims: 400000000 dims: 1000 float_data")
FUTURE_OPSET = MODEL.replace("version: 17", "version: 9999")


class Bench:
    """Runs commands in a scratch folder and judges each."""

    def __init__(self, weft, weft_run, onnx_proto, folder):
        self.weft, self.weft_run, self.onnx_proto, self.folder = weft, weft_run, onnx_proto, folder
        self.count, self.failures = 0, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as stream:
            stream.write(data)
        return name

    def model(self, name, text):
        made = subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", self.onnx_proto, "onnx/onnx.proto"], input=text.encode(),
                              stdout=subprocess.PIPE, check=True).stdout
        return self.write(name, made)

    def array(self, name, kind, shape, data):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode()
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        return self.write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)

    def call(self, *command):
        # An allocation in proportion to a number in a damaged file would exceed this.
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))

        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=60, preexec_fn=limit)

    def works(self, *command):
        result = self.call(*command)
        if result.returncode != 0:
            sys.exit(f"{command} should have worked:\n{result.stderr}")
        return result

    def rejects(self, what, command, *words):
        """The command must fail with status 1, say each of `words` (regular expressions), and leave no file behind."""
        before = set(os.listdir(self.folder))
        self.count += 1
        try:
            result = self.call(*command)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{what}: still running after 60 s")
            return
        problems = []
        if result.returncode != 1:
            problems.append(f"exit status {result.returncode}, expected 1")
        problems += [f"the message lacks /{word}/" for word in words if not re.search(word, result.stderr, re.IGNORECASE)]
        if not result.stderr.strip():
            problems.append("no message")
        left = set(os.listdir(self.folder)) - before
        if left:
            problems.append(f"left behind: {', '.join(sorted(left))}")
            for name in left:
                os.remove(self.path(name))
        if problems:
            self.failures.append(f"{what}: {'; '.join(problems)}\n    command: {' '.join(command)}\n    said: {result.stderr.strip()[:600]}")


def models(bench):
    def compile_rejects(what, name, *words):
        bench.rejects(what, [bench.weft, "compile", name, "-o", "out.weft"], *words)

    good = bench.model("good.onnx", MODEL)
    with open(bench.path(good), "rb") as stream:
        data = stream.read()
    compile_rejects("no such file", "nowhere.onnx", "nowhere.onnx")
    compile_rejects("a folder", ".", r"\.|folder|directory")
    compile_rejects("empty file", bench.write("empty.onnx", b""), "empty.onnx")
    compile_rejects("not ONNX", bench.write("text.onnx", b"this is not a model, it is a sentence\n" * 20), "text.onnx")
    for length in sorted({1, 2, 5, len(data) // 4, len(data) // 2, len(data) - 30, len(data) - 1}):
        compile_rejects(f"truncated to {length} bytes", bench.write("cut.onnx", data[:length]), "cut.onnx")
    compile_rejects("cyclic graph", bench.model("cycle.onnx", CYCLE), "cycl|order|defined|scale")
    compile_rejects("undefined value", bench.model("undefined.onnx", UNDEFINED), "nowhere", "activate")
    compile_rejects("unknown operators, both listed", bench.model("unknown.onnx", UNKNOWN), "Frobnicate", "scale", "com.example", "Twist", "activate")
    compile_rejects("mixed types", bench.model("types.onnx", TYPE_MISMATCH), "scale", "f32|float", "i64|int64")
    compile_rejects("shapes that do not broadcast", bench.model("shapes.onnx", SHAPE_MISMATCH), "scale", "4", "3")
    compile_rejects("a weight shorter than its shape", bench.model("short.onnx", SHORT_WEIGHT), "'?w'?")
    compile_rejects("an opset of the future", bench.model("future.onnx", FUTURE_OPSET), "9999", "opset")
    compile_rejects("missing external data", bench.model("external.onnx", EXTERNAL.replace("LOCATION", "gone.bin")), "gone.bin")
    secret = bench.write("short.bin", b"\0" * 8)
    compile_rejects("external data too short", bench.model("external2.onnx", EXTERNAL.replace("LOCATION", secret)), "short.bin")
    os.makedirs(bench.path("models"))
    bench.write("outside.bin", b"\0" * 16)
    inside = bench.model("models/leaves.onnx", EXTERNAL.replace("LOCATION", "../outside.bin"))
    compile_rejects("external data outside the model's folder", inside, r"outside\.bin")
    absolute = bench.model("models/absolute.onnx", EXTERNAL.replace("LOCATION", bench.path("outside.bin")))
    compile_rejects("external data with an absolute path", absolute, r"outside\.bin")
    os.symlink(bench.path("outside.bin"), bench.path("models/link.bin"))
    linked = bench.model("models/linked.onnx", EXTERNAL.replace("LOCATION", "link.bin"))
    compile_rejects("external data through a link that leaves", linked, "link.bin")


def outputs(bench):
    bench.rejects("output in no folder", [bench.weft, "compile", "good.onnx", "-o", "nofolder/out.weft"], "nofolder")
    bench.rejects("output is a folder", [bench.weft, "compile", "good.onnx", "-o", "models"], "models")
    if os.path.exists("/dev/full"):
        bench.rejects("no disk space", [bench.weft, "compile", "good.onnx", "-o", "/dev/full"], "space|/dev/full")
    bench.rejects("unknown option", [bench.weft, "compile", "good.onnx", "-o", "out.weft", "--fastest"], "--fastest")
    bench.rejects("unknown CPU", [bench.weft, "compile", "good.onnx", "-o", "out.weft", "--cpu=z80"], "z80")
    bench.rejects("unknown target", [bench.weft, "compile", "good.onnx", "-o", "out.weft", "--target=abacus"], "abacus")
    bench.rejects("unknown stage", [bench.weft, "compile", "good.onnx", "--emit=soup"], "soup")


def inputs(bench):
    ones = struct.pack("<8f", *[1.0] * 8)
    bench.array("good.npy", "<f4", (2, 4), ones)
    bench.array("rank.npy", "<f4", (8,), ones)
    bench.array("extent.npy", "<f4", (4, 2), ones)
    bench.array("type.npy", "<i8", (2, 4), struct.pack("<8q", *range(8)))
    bench.array("cut.npy", "<f4", (2000, 4), ones)
    bench.write("text.npy", b"not an array")
    for tool, program in ((bench.weft, "run"), (bench.weft_run, None)):
        start = [tool] + ([program] if program else []) + ["good.weft"]
        name = os.path.basename(tool)
        bench.works(*start, "--input", "x=good.npy")
        bench.rejects(f"{name}: wrong input name", start + ["--input", "z=good.npy"], "'?z'?", "'?x'?")
        bench.rejects(f"{name}: missing input", start, "'?x'?")
        bench.rejects(f"{name}: wrong rank", start + ["--input", "x=rank.npy"], "'?x'?", "rank|dimension|shape")
        bench.rejects(f"{name}: wrong extent", start + ["--input", "x=extent.npy"], "'?x'?", "4", "2")
        bench.rejects(f"{name}: wrong type", start + ["--input", "x=type.npy"], "'?x'?", "f32|float", "i64|int64")
        bench.rejects(f"{name}: array cut short", start + ["--input", "x=cut.npy"], r"cut\.npy")
        bench.rejects(f"{name}: not an array", start + ["--input", "x=text.npy"], r"text\.npy")
        bench.rejects(f"{name}: no such array", start + ["--input", "x=gone.npy"], r"gone\.npy")
        bench.rejects(f"{name}: a device that is not there", start + ["--input", "x=good.npy", "--device=abacus"], "abacus")


def artifacts(bench):
    with open(bench.path("good.weft"), "rb") as stream:
        data = stream.read()
    start = [bench.weft_run, "bad.weft", "--input", "x=good.npy"]
    bench.rejects("artifact: empty", [bench.weft_run, "empty.onnx", "--input", "x=good.npy"], "empty.onnx")
    bench.rejects("artifact: an ONNX file", [bench.weft_run, "good.onnx", "--input", "x=good.npy"], "good.onnx")
    for length in sorted({1, 7, 63, 64, len(data) // 3, len(data) // 2, len(data) - 64, len(data) - 1}):
        bench.write("bad.weft", data[:length])
        bench.rejects(f"artifact: cut to {length} of {len(data)} bytes", start, r"bad\.weft")
    # Every bit counts outside the weights, and with --check inside them too; a step that is prime to 8 reaches each bit position.
    bits = len(data) * 8
    step = max(1, bits // 300) | 1
    for bit in range(0, bits, step):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << (bit % 8)
        bench.write("bad.weft", bytes(changed))
        bench.rejects(f"artifact: bit {bit % 8} of byte {bit // 8} flipped (of {len(data)})", start + ["--check"], r"bad\.weft")


def reproducers(bench):
    """A folder that shows the failure again, also elsewhere; none after a success."""

    def check(what, command, files):
        folder = bench.path("again")
        if bench.call(*command, "--reproducer=again").returncode != 1:
            bench.failures.append(f"{what}: expected a failure")
        elif sorted(os.listdir(folder)) != sorted(files + ["reproduce.sh"]):
            bench.failures.append(f"{what}: the folder holds {sorted(os.listdir(folder))}, expected {files} and reproduce.sh")
        else:
            moved = os.path.join(tempfile.mkdtemp(dir=bench.folder), "moved")
            shutil.move(folder, moved)
            path = os.path.dirname(bench.weft) + os.pathsep + os.environ["PATH"]
            first = bench.call(*command).stderr
            again = subprocess.run([os.path.join(moved, "reproduce.sh")], env={**os.environ, "PATH": path}, capture_output=True, text=True)
            if again.returncode != 1 or again.stderr != first:
                bench.failures.append(f"{what}: reproduced as {again.stderr!r}, expected {first!r}")
        bench.count += 1

    external = bench.model("kept.onnx", EXTERNAL.replace("LOCATION", "kept.bin").replace('op_type: "Relu"', 'op_type: "Twist"'))
    bench.write("kept.bin", b"\0" * 16)
    check("reproducer of a compilation", [bench.weft, "compile", external, "-o", "out.weft", "--shape", "n=3"], [external, "kept.bin"])
    bench.array("nan.npy", "<f4", (2, 4), struct.pack("<8f", *[float("nan")] * 8))
    run = [bench.weft, "run", "good.onnx", "--check-nans", "--input", "x=nan.npy"]
    check("reproducer of a run", run, ["good.onnx", "inputs.npz"])
    bench.rejects("reproducer into a folder that is not empty", run + ["--reproducer=models"], "not empty")
    bench.works(bench.weft, "run", "good.onnx", "--input", "x=good.npy", "--reproducer=again")
    if os.path.exists(bench.path("again")):
        bench.failures.append("a reproducer is left after a success")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], folder)
        models(bench)
        bench.works(bench.weft, "compile", "good.onnx", "-o", "good.weft")
        outputs(bench)
        inputs(bench)
        artifacts(bench)
        reproducers(bench)
    print("\n".join(bench.failures[:40]))
    print(f"{bench.count} bad inputs, {len(bench.failures)} not handled as they should be")
    sys.exit(1 if bench.failures or bench.count < 50 else 0)


if __name__ == "__main__":
    main()
