"""What is timed, each behind the same four methods; a worker process holds one of them (worker.py).

`__init__` loads the library, `load(model, inputs, threads, folder)` makes the program ready to run, `run()` runs it once and
waits for it, `outputs()` gives the results of the last run as arrays, in the order of the model.
"""

import ctypes
import hashlib
import os
import subprocess
import time

import numpy


def aligned(array, alignment=64):
    """A copy of the array at an address that every peer uses in place."""
    memory = numpy.empty(array.nbytes + alignment, numpy.uint8)
    offset = -memory.ctypes.data % alignment
    copy = memory[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def cached(folder, data, suffix):
    """The path that holds what was made of the data by this version of a peer, and whether it is there already."""
    path = os.path.join(folder, hashlib.sha256(data).hexdigest()[:16] + suffix)
    return path, os.path.exists(path)


class TensorView(ctypes.Structure):
    """WeftTensorView of include/weft/runtime.h."""

    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class LoadOptions(ctypes.Structure):
    """WeftLoadOptions of include/weft/runtime.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("thread_pool", ctypes.c_void_p),
                ("use_libraries", ctypes.c_int32), ("check_weights", ctypes.c_int32), ("allocator", ctypes.c_void_p * 3),
                ("log", ctypes.c_void_p), ("log_user", ctypes.c_void_p), ("cuda_driver", ctypes.c_char_p)]


class OutputInfo(ctypes.Structure):
    """WeftTensorInfo of include/weft/runtime.h."""

    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32), ("dims", ctypes.c_void_p)]


# WeftElementType.
ELEMENT_TYPES = {"bool": 1, "int8": 4, "int16": 5, "int32": 6, "int64": 7, "uint8": 10, "uint16": 11, "uint32": 12, "uint64": 13,
                 "float16": 14, "float32": 16, "float64": 17}


class Weft:
    """The compiled artifact on the runtime's shared library; `model` is the artifact."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["WEFT_RUNTIME"])
        self.library.weft_status_message.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p
        self.check(function(*arguments))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.weft_status_message(ctypes.c_void_p(status)).decode())

    def load(self, model, inputs, threads, folder):
        pool, program, self.handle = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("weft_thread_pool_create", ctypes.c_int32(threads), ctypes.byref(pool))
        options = LoadOptions()
        self.library.weft_load_options_init(ctypes.byref(options))
        options.thread_pool = pool.value
        self.call("weft_program_load_file", model.encode(), ctypes.byref(options), ctypes.byref(program))
        self.call("weft_run_create", program, None, ctypes.byref(self.handle))
        self.kept = []
        for name, value in inputs.items():
            value = aligned(value)
            dims = (ctypes.c_int64 * value.ndim)(*value.shape)
            view = TensorView(value.ctypes.data, ELEMENT_TYPES[value.dtype.name], value.ndim, dims, None)
            self.kept.append((value, dims))
            self.call("weft_run_set_input", self.handle, name.encode(), ctypes.byref(view))
        self.names = []
        for index in range(self.library.weft_program_output_count(program, 0)):
            info = OutputInfo()
            self.call("weft_program_output", program, 0, index, ctypes.byref(info))
            self.names.append(info.name)
        self.execute = self.library.weft_run_execute
        self.execute.restype = ctypes.c_void_p

    def run(self):
        self.check(self.execute(self.handle))

    def outputs(self):
        kinds = {number: name for name, number in ELEMENT_TYPES.items()}
        results = []
        for name in self.names:
            view = TensorView()
            self.call("weft_run_output", self.handle, name, ctypes.byref(view))
            kind = numpy.dtype(kinds[view.type])
            shape = [view.dims[axis] for axis in range(view.rank)]
            data = ctypes.string_at(view.data, int(numpy.prod(shape)) * kind.itemsize)
            results.append(numpy.frombuffer(data, kind).reshape(shape))
        return results


class OnnxRuntime:
    """A session with bound inputs and outputs, so that no run copies them."""

    def __init__(self):
        import onnxruntime

        self.library = onnxruntime

    def load(self, model, inputs, threads, folder):
        options = self.library.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.session = self.library.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.kept = [self.library.OrtValue.ortvalue_from_numpy(value) for value in inputs.values()]
        for name, value in zip(inputs, self.kept):
            self.binding.bind_ortvalue_input(name, value)
        for value in self.session.get_outputs():
            self.binding.bind_ortvalue_output(value.name, self.library.OrtValue.ortvalue_from_shape_and_type(
                value.shape, {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64}[value.type]))

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


class OpenVino:
    """A model compiled for latency in f32; bf16 is not asked for."""

    def __init__(self):
        import openvino

        self.library = openvino

    def load(self, model, inputs, threads, folder):
        core = self.library.Core()
        compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                                                      "INFERENCE_PRECISION_HINT": "f32"})
        self.request = compiled.create_infer_request()
        self.kept = [aligned(value) for value in inputs.values()]
        for name, value in zip(inputs, self.kept):
            self.request.set_tensor(name, self.library.Tensor(value, shared_memory=True))
        self.count = len(compiled.outputs)

    def run(self):
        self.request.infer()

    def outputs(self):
        return [self.request.get_output_tensor(index).data.copy() for index in range(self.count)]


class Jax:
    """The graph node by node in jax.numpy, jitted; the number of threads is the worker's environment."""

    def __init__(self):
        import jax

        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.library = jax

    def load(self, model, inputs, threads, folder):
        import onnx
        import onnx_to_jax

        self.library.config.update("jax_compilation_cache_dir", os.path.join(folder, "jax"))
        function, weights = onnx_to_jax.translate(onnx.load(model))
        self.weights = self.library.device_put(weights)
        self.inputs = [self.library.device_put(value) for value in inputs.values()]
        self.function = self.library.jit(function).lower(self.weights, *self.inputs).compile()

    def run(self):
        self.results = self.library.block_until_ready(self.function(self.weights, *self.inputs))

    def outputs(self):
        return [numpy.asarray(value) for value in self.results]


class Iree:
    """Compiled for this CPU from IREE's own ONNX import."""

    def __init__(self):
        import iree.runtime

        self.library = iree.runtime

    def load(self, model, inputs, threads, folder):
        from iree.compiler.tools import core

        with open(model, "rb") as stream:
            path, is_there = cached(folder, stream.read(), ".vmfb")
        if not is_there:
            imported = path + ".mlir"
            # Each step in a process of its own: neither its memory nor its threads are the run's.
            subprocess.run(["iree-import-onnx", model, "-o", imported, "--opset-version", "17"], check=True, capture_output=True)
            flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host",
                     "--iree-opt-level=O3", "--iree-input-type=onnx", "--iree-llvmcpu-stack-allocation-limit=1048576"]
            made = subprocess.run(["iree-compile", imported, "-o", path + ".part", *flags], capture_output=True, text=True)
            os.remove(imported)
            if made.returncode != 0:
                raise RuntimeError("does not compile: " + next((line for line in made.stderr.splitlines() if "error" in line), "no reason given"))
            os.rename(path + ".part", path)
        self.library.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = self.library.Config("local-task" if threads > 1 else "local-sync")
        self.module = self.library.load_vm_module(self.library.VmModule.mmap(config.vm_instance, path), config)
        function = next(name for name in self.module.vm_module.function_names if not name.startswith("__") and "$async" not in name)
        self.function = self.module[function]
        self.inputs = [self.library.asdevicearray(config.device, value) for value in inputs.values()]

    def run(self):
        results = self.function(*self.inputs)
        self.results = results if isinstance(results, tuple) else (results,)

    def outputs(self):
        return [value.to_host() for value in self.results]


class Copy:
    """A copy loop of `model` = "READ WRITTEN" floats, by the tool bench_copy: a process beside the worker."""

    def __init__(self):
        self.process = None

    def load(self, model, inputs, threads, folder):
        self.process = subprocess.Popen([os.environ["WEFT_BENCH_COPY"], *model.split(), str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def timed_run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def run(self):
        self.timed_run()

    def outputs(self):
        return []


PEERS = {"weft": Weft, "onnxruntime": OnnxRuntime, "openvino": OpenVino, "jax": Jax, "iree": Iree, "copy": Copy}


def environment(peer, threads):
    """Variables that set a library's threads before it is loaded."""
    # XLA's thread pool has as many threads as NPROC says.
    return {"NPROC": str(threads), "OMP_NUM_THREADS": str(threads)} if peer == "jax" else {}


def timed(peer):
    """Seconds of one run."""
    if hasattr(peer, "timed_run"):
        return peer.timed_run()
    started = time.perf_counter()
    peer.run()
    return time.perf_counter() - started
