"""Include scanner: who may include whom. The table RULES is the one of docs/Architecture.md, and this test enforces it."""

import os
import re
import tempfile

import source_tree

# What an include is, by how its path begins. `standard` is every <name> without a dot or slash, and the C headers.
EXTERNAL = {
    "mlir": ("mlir/", "mlir-c/", "llvm/", "llvm-c/"),
    "lld": ("lld/",),
    "protobuf": ("google/protobuf/", "onnx/"),
    "flatbuffers": ("flatbuffers/",),
    "xxhash": ("xxhash.h",),
    "json": ("nlohmann/",),
    "command-line": ("CLI/",),
    "compression": ("zlib.h", "zstd.h"),
    "onednn": ("oneapi/", "dnnl"),
    "cuda": ("cuda", "nvrtc", "nvJitLink", "nccl", "cublas", "cudnn", "vector_types.h"),
    "test": ("gtest/", "gmock/", "benchmark/"),
    "system": ("sys/", "linux/", "arpa/", "netinet/", "bits/"),
    "intrinsics": ("immintrin.h", "cpuid.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h", "pmmintrin.h", "arm_neon.h"),
}
C_STANDARD = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
POSIX = """cxxabi dirent dlfcn elf endian execinfo fcntl fnmatch ftw getopt glob ieee754 libgen link malloc netdb poll pthread
pwd sched semaphore spawn strings sysexits termios ucontext unistd utime""".split()

BASE = {"standard", "system"}
RUNTIME = BASE | {"runtime", "include/weft/runtime.h", "include/weft/kernel_abi.h", "include/weft/cpp", "flatbuffers", "xxhash",
                  "json", "compression", "intrinsics"}
STAGE = BASE | {"dialects", "lib/Support", "lib/DeviceModel", "mlir", "include/weft/kernel_abi.h", "json"}

# The longest prefix that fits a file decides. `self` is the rule's own folder; None is anything.
RULES = {
    "include": BASE | {"include"},
    "runtime": RUNTIME,
    "runtime/Device/Cuda": RUNTIME | {"cuda"},
    "runtime/Library/OneDnn": RUNTIME | {"onednn"},
    # The simulator is of use without the rest of Weft.
    "runtime/Simulator": BASE | {"self", "runtime/Core", "cuda", "json", "intrinsics"},
    "dialects/Mesh": BASE | {"self", "mlir"},
    "dialects/Exec": BASE | {"self", "mlir"},
    "dialects/Graph": BASE | {"self", "dialects/Mesh", "mlir"},
    "lib/Support": BASE | {"self", "dialects", "mlir", "json", "protobuf", "compression", "xxhash"},
    "lib/DeviceModel": BASE | {"self", "lib/Support", "dialects", "mlir", "json"},
    "lib": STAGE | {"self"},
    "lib/Importer": STAGE | {"self", "protobuf", "include/weft/operators.h"},
    "lib/Exporter": STAGE | {"self", "protobuf"},
    "lib/Codegen": STAGE | {"self", "lld"},
    "lib/Emit": STAGE | {"self", "runtime/Artifact", "flatbuffers", "xxhash", "lld"},
    # The one call of the whole compiler, and its C API.
    "lib/Pipeline": STAGE | {"lib", "include"},
    # The small runtime's tools must not reach into the compiler.
    "tools/weft-run": RUNTIME | {"self", "include", "command-line"},
    "tools/weft-ptx": RUNTIME | {"self", "include", "command-line", "cuda"},
    "tools": None,
    "test": None,
    "bench": None,
    # Examples embed Weft as a user does: through what is installed.
    "examples": BASE | {"self", "include"},
}
# In `lib` a stage is one folder: `self` there is lib/<Stage>.
SOURCES = (".h", ".hpp", ".c", ".cpp", ".cc", ".inc", ".def")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
# Test files that stand beside the code they test.
TEST_FILE = re.compile(r"(Test|Tests|_test)\.(cpp|h)$|/(test|tests|Tests)/")


def rule_of(path):
    """The rule's prefix and its set for the file, or (None, None)."""
    fitting = [prefix for prefix in RULES if path.startswith(prefix + "/") or path.startswith(prefix + ".")]
    if not fitting:
        return None, None
    prefix = max(fitting, key=len)
    return prefix, RULES[prefix]


def own_folder(path, prefix):
    if prefix == "lib":
        return "/".join(path.split("/")[:2])
    return prefix


def resolve(root, path, quote, target):
    """What an include names: ("external", group), ("ours", path from the root), or ("unknown", target)."""
    if quote == '"':
        beside = os.path.normpath(os.path.join(os.path.dirname(path), target)).replace(os.sep, "/")
        for candidate in (target, "include/" + target, beside):
            if os.path.exists(os.path.join(root, candidate)):
                return "ours", candidate
    first = target.split("/")[0]
    if first in ("runtime", "dialects", "lib", "tools", "test", "include", "bench"):
        return "ours", target  # a generated header: it mirrors its folder
    if first == "weft":
        return "ours", "include/" + target
    for group, beginnings in EXTERNAL.items():
        if target.startswith(beginnings):
            return "external", group
    if "/" not in target:
        name, dot, _ = target.partition(".")
        if not dot or name in C_STANDARD:
            return "external", "standard"
        if name in POSIX:
            return "external", "system"
    if quote == '"' and "/" not in target and target.endswith((".inc", "_generated.h", ".pb.h")):
        return "ours", os.path.dirname(path) + "/" + target  # generated, named without its folder
    return "unknown", target


def allowed(path, prefix, rule, kind, what):
    if kind == "external":
        return what in rule
    for entry in rule:
        if entry == "self":
            entry = own_folder(path, prefix)
        if entry == "include/weft/cpp":
            # The thin C++ wrapper of the runtime's C API.
            if what == "include/weft/runtime.hpp":
                return True
            continue
        if what == entry or what.startswith(entry + "/"):
            return True
    return False


def check(root):
    violations = []
    count = 0
    for path in source_tree.files(root, SOURCES):
        contents = source_tree.text(root, path)
        if contents is None:
            continue
        prefix, rule = rule_of(path)
        is_test = bool(TEST_FILE.search(path))
        for match in INCLUDE.finditer(contents):
            count += 1
            line = contents.count("\n", 0, match.start()) + 1
            where = f"{path}:{line}"
            if prefix is None:
                violations.append(f"{where}: no rule for this folder; give it one in test/house/includes.py")
                break
            if rule is None:
                continue
            kind, what = resolve(root, path, match.group(1), match.group(2))
            if is_test and what == "test":
                continue
            if kind == "unknown":
                violations.append(
                    f"{where}: '{match.group(2)}' is neither a file of the tree nor a known dependency; include paths start at the "
                    "root, and a new dependency gets a line in dependencies.txt and a group in test/house/includes.py"
                )
            elif not allowed(path, prefix, rule, kind, what):
                described = what if kind == "ours" else f"{match.group(2)} ({what})"
                violations.append(f"{where}: {prefix}/ may not include {described}; allowed: {', '.join(sorted(rule))}")
    return violations, count


def self_test():
    good = {
        "runtime/Core/Status.cpp": '#include "runtime/Core/Status.h"\n#include "weft/runtime.h"\n#include <vector>\n#include <sys/mman.h>\n',
        "runtime/Core/Status.h": "#include <string>\n",
        "include/weft/runtime.h": "#include <stdint.h>\n",
        "include/weft/kernel_abi.h": "#include <stdint.h>\n",
        "dialects/Graph/Graph.h": '#include "mlir/IR/Dialect.h"\n#include "dialects/Graph/GraphOps.h.inc"\n',
        "dialects/Mesh/Mesh.h": '#include "mlir/IR/Dialect.h"\n',
        "lib/Support/Diagnostics.h": '#include "mlir/IR/Diagnostics.h"\n',
        "lib/Fusion/Passes.h": '#include "dialects/Graph/Graph.h"\n#include "lib/Support/Diagnostics.h"\n',
        "lib/Pipeline/Pipeline.cpp": '#include "lib/Fusion/Passes.h"\n',
        "lib/Emit/Emit.cpp": '#include "runtime/Artifact/Artifact.h"\n#include "flatbuffers/flatbuffers.h"\n',
        "runtime/Artifact/Artifact.h": "#include <cstdint>\n",
        "tools/weft/main.cpp": '#include "lib/Pipeline/Pipeline.h"\n#include "CLI/CLI.hpp"\n',
        "examples/embed.c": "#include <weft/runtime.h>\n#include <stdio.h>\n",
    }
    planted = {
        "runtime/Core/Bad1.cpp": '#include "llvm/ADT/StringRef.h"\n',
        "runtime/Core/Bad2.cpp": '#include "dialects/Graph/Graph.h"\n',
        "runtime/Core/Bad3.cpp": "#include <weft/compiler.h>\n",
        "runtime/Core/Bad4.cpp": "#include <oneapi/dnnl/dnnl.h>\n",
        "runtime/Simulator/Bad5.cpp": '#include "runtime/Artifact/Artifact.h"\n',
        "dialects/Mesh/Bad6.cpp": '#include "dialects/Graph/Graph.h"\n',
        "dialects/Graph/Bad7.cpp": '#include "lib/Support/Diagnostics.h"\n',
        "lib/Schedule/Bad8.cpp": '#  include "lib/Fusion/Passes.h"\n',
        "lib/Schedule/Bad9.cpp": '#include "../Fusion/Passes.h"\n',
        "lib/Fusion/Bad10.cpp": '#include "runtime/Artifact/Artifact.h"\n',
        "lib/Support/Bad11.cpp": '#include "lib/Fusion/Passes.h"\n',
        "include/weft/bad12.h": '#include "mlir/IR/Dialect.h"\n',
        "tools/weft-run/Bad13.cpp": '#include "lib/Pipeline/Pipeline.h"\n',
        "examples/bad14.c": '#include "runtime/Core/Status.h"\n',
        "lib/Fusion/Bad15.cpp": '#include "boost/optional.hpp"\n',
        "extra/Bad16.cpp": "#include <vector>\n",
    }
    with tempfile.TemporaryDirectory() as root:
        for path, contents in good.items():
            source_tree.plant(root, path, contents)
        violations, count = check(root)
        assert not violations, violations
        assert count == sum(contents.count("#include") for contents in good.values()), count
        for path, contents in planted.items():
            source_tree.plant(root, path, contents)
        violations, _ = check(root)
        found = sorted(violation.split(":")[0] for violation in violations)
        assert found == sorted(planted), (found, sorted(planted))


if __name__ == "__main__":
    source_tree.run(check, self_test, __doc__)
