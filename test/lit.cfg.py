# lit configuration of the FileCheck tests: which files are tests, which tools they find, which substitutions they have.
#
#   %encode_onnx    reads an ONNX model in protobuf's text form on standard input, writes the binary form. A test that is
#                   such a model itself (.textproto; its comments start with #, so RUN and CHECK lines fit) needs
#                   no binary file in the repository:   # RUN: %encode_onnx < %s > %t.onnx
#   %python         the interpreter that CMake found
#   %weft_source    the root of the source tree
import os

import lit.formats

config.name = "Weft"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".textproto", ".ptx"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.weft_build_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.weft_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
for name in ("WEFT_VENV", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%encode_onnx", f"{config.protoc} --encode=onnx.ModelProto -I {config.onnx_proto_dir} onnx/onnx.proto"),
    ("%python", config.python),
    ("%weft_source", config.weft_source_root),
]
