"""Promises about what was built: a small runtime without LLVM, only our API exported, no static constructors, a fast start.

usage: binaries.py constructors BUILD NM [ALLOWED OBJECT NAMES...]
       binaries.py runtime WEFT_RUN RUNTIME_LIBRARY NM STRIP
       binaries.py start WEFT WEFT_RUN MODEL.textproto ONNX_PROTO_DIR
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# "under 2 MB stripped together"
MAXIMUM_BYTES = 2_000_000
FORBIDDEN = re.compile(r"LLVM|MLIR|libomp|libgomp|OpenCL|libdnnl|protobuf|libonnx|libcuda", re.IGNORECASE)
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|/lib.*/ld-linux|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so)")
START_MILLISECONDS = 20


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def constructors(build, nm, *allowed):
    """Registration is explicit, so that a program pays for what it uses and in an order that it says.

    Not ours: what protoc writes (`allowed`), and the constructor that <iostream> gives to each file that includes it, which
    protobuf's headers do. Libraries of tests are not looked at: GoogleTest registers so.
    """
    libraries = [
        library
        for library in sorted(glob.glob(os.path.join(build, "lib", "libweft_*.a")))
        if not re.search("test|random|fuzz", os.path.basename(library))
    ]
    found = []
    for library in libraries:
        members = {}
        member = "?"
        for line in output(nm, library).splitlines():
            if line.endswith(":"):
                member = line[:-1].split(":")[-1]
            elif line:
                members.setdefault(member, []).append(line.split()[-1])
        for member, symbols in members.items():
            own = [symbol for symbol in symbols if symbol.startswith("_GLOBAL__sub_I_")]
            if own and member not in allowed and "_ZNSt8ios_base4InitC1Ev" not in symbols:
                found.append(f"{os.path.basename(library)}: {member} has a static constructor: {own[0]}")
    print("\n".join(found + [f"{len(libraries)} libraries looked at, {len(found)} static constructor(s)"]))
    return bool(libraries) and not found


def needed(path):
    """(name, file or None) of the libraries that the dynamic linker loads for the file."""
    for line in output("ldd", path).splitlines():
        words = line.split()
        if words:
            yield words[0], (words[2] if len(words) > 2 and words[1] == "=>" else None)


def runtime(weft_run, library, nm, strip):
    good = True
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in [(os.path.basename(weft_run), weft_run)] + list(needed(weft_run)):
            if FORBIDDEN.search(name):
                print(f"weft-run needs {name}, which the small runtime may not")
                good = False
            if SYSTEM.match(name) or path is None:
                continue
            stripped = os.path.join(folder, os.path.basename(path))
            shutil.copy(path, stripped)
            subprocess.run([strip, stripped], check=True)
            size = os.path.getsize(stripped)
            total += size
            print(f"{size:9} bytes stripped: {name}")
    print(f"{total:9} bytes together, at most {MAXIMUM_BYTES} allowed")
    exported = [line.split()[-1] for line in output(nm, "--dynamic", "--defined-only", library).splitlines()]
    foreign = [name for name in exported if not name.startswith("weft_")]
    ours = len(exported) - len(foreign)
    print(f"{os.path.basename(library)} exports {ours} functions of the API" + (f", and also {', '.join(foreign[:10])}" if foreign else ""))
    return good and 0 < total <= MAXIMUM_BYTES and ours > 20 and not foreign


def start(weft, weft_run, model, onnx_proto):
    """The best of several starts: others may be using the machine."""
    with tempfile.TemporaryDirectory() as folder:
        onnx, artifact = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.weft")
        with open(model, "rb") as text, open(onnx, "wb") as binary:
            subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", onnx_proto, "onnx/onnx.proto"], stdin=text, stdout=binary, check=True)
        subprocess.run([weft, "compile", onnx, "-o", artifact], check=True)
        times = []
        for _ in range(25):
            started = time.monotonic()
            subprocess.run([weft_run, artifact, "--random-inputs", "--seed=1"], check=True, stdout=subprocess.DEVNULL)
            times.append((time.monotonic() - started) * 1000)
    print(f"weft-run starts and runs a small model in {min(times):.1f} ms at best, {sorted(times)[len(times) // 2]:.1f} ms in the "
          f"median; at most {START_MILLISECONDS} allowed at best")
    return min(times) <= START_MILLISECONDS


if __name__ == "__main__":
    checks = {"constructors": constructors, "runtime": runtime, "start": start}
    if len(sys.argv) < 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    sys.exit(0 if checks[sys.argv[1]](*sys.argv[2:]) else 1)
