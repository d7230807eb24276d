//===- GpuKernelTest.cpp - Compiles a fusion for a GPU and runs it on the simulated driver -----------===//

#include "test/unit/codegen/GpuKernelTest.h"
#include "include/weft/kernel_abi.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

#if defined(WEFT_TEST_HAS_SIMULATOR)
#include "runtime/Simulator/Driver/Control.h"
#include "runtime/Simulator/Driver/DriverTypes.h"
#endif

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

std::string join(const std::vector<std::string> &parts) {
  std::string result;
  for (const std::string &part : parts)
    result += (result.empty() ? "" : ", ") + part;
  return result;
}

} // namespace

std::string makeModule(const std::string &kind, const std::vector<std::string> &operands, const std::string &body,
                       const std::vector<std::string> &results, const std::string &dims) {
  std::string arguments, blockArguments, names, yields, returned;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string name(1, static_cast<char>('a' + i)), comma = i ? ", " : "";
    arguments += comma + "%" + name + "_in: " + operands[i];
    blockArguments += comma + "%" + name + ": " + operands[i];
    names += comma + "%" + name + "_in";
  }
  for (size_t i = 0; i < results.size(); ++i) {
    yields += (i ? ", %r" : "%r") + std::to_string(i);
    returned += (i ? ", %f#" : "%f#") + std::to_string(i);
  }
  std::string count = std::to_string(results.size());
  return dims + "func.func @main(" + arguments + ") -> (" + join(results) + ") {\n  %f:" + count + " = weft.fusion " +
         kind + " (" + names + ") : (" + join(operands) + ") -> (" + join(results) + ") {\n  ^bb0(" + blockArguments +
         "):\n" + body + "\n    weft.yield " + yields + " : " + join(results) + "\n  }\n  return " + returned + " : " +
         join(results) + "\n}";
}

std::unique_ptr<GpuKernel> compileGpuKernel(MLIRContext &context, StringRef text, StringRef chip,
                                            codegen::Numerics numerics) {
  std::unique_ptr<GpuKernel> kernel(new GpuKernel());
  kernel->chip = chip.str();
  kernel->module = parseSourceString<ModuleOp>(text, &context);
  if (!kernel->module) {
    ADD_FAILURE() << "the module does not parse:\n" << text.str();
    return nullptr;
  }
  codegen::GpuOptions options;
  options.chip = chip.str();
  options.numerics = numerics;
  for (DimOp dim : kernel->module->getOps<DimOp>())
    options.symbols.push_back(dim.getName().str());
  kernel->symbolNames = options.symbols;
  options.dumpLlvm = [&](StringRef, StringRef text) { kernel->llvmText = text.str(); };
  Region *body = nullptr;
  FusionKind kind = FusionKind::generic;
  kernel->module->walk([&](Operation *op) {
    if (auto fusion = dyn_cast<FusionOp>(op)) {
      body = &fusion.getBody();
      kind = fusion.getKind();
    } else if (auto call = dyn_cast<LibraryCallOp>(op)) {
      body = &call.getBody();
    }
  });
  if (!body) {
    ADD_FAILURE() << "no fusion in the module";
    return nullptr;
  }
  kernel->resultTypes = llvm::to_vector(body->getParentOp()->getResultTypes());
  codegen::GpuCodegen codegen(context, options);
  FailureOr<codegen::GpuKernelInfo> info = codegen.addKernel("kernel_0", kind, *body);
  if (failed(info)) {
    ADD_FAILURE() << "no kernel for:\n" << text.str();
    return nullptr;
  }
  kernel->info = *info;
  FailureOr<std::string> ptx = codegen.ptx();
  if (failed(ptx)) {
    ADD_FAILURE() << "no PTX for:\n" << text.str();
    return nullptr;
  }
  kernel->ptx = *ptx;
  return kernel;
}

#if defined(WEFT_TEST_HAS_SIMULATOR)

bool hasSimulator() { return true; }

namespace {

std::string grow(size_t (*function)(char *, size_t)) {
  std::string out(function(nullptr, 0) + 1, 0);
  function(out.data(), out.size());
  out.pop_back();
  return out;
}

#define WEFT_CHECK_DRIVER(call)                                                                                        \
  do {                                                                                                                 \
    CUresult status = (call);                                                                                          \
    if (status != CUDA_SUCCESS) {                                                                                      \
      ADD_FAILURE() << #call << " gave " << status << ": " << grow(weftSimulatorLastReason) << "\n"                    \
                    << grow(weftSimulatorReport);                                                                      \
      return {};                                                                                                       \
    }                                                                                                                  \
  } while (false)

Traffic readTraffic(const llvm::json::Object &launch, StringRef name) {
  Traffic traffic;
  const llvm::json::Object *values = launch.getObject(name);
  if (!values)
    if (const llvm::json::Object *counters = launch.getObject("counters"))
      values = counters->getObject(name);
  if (!values) {
    ADD_FAILURE() << "no counters of " << name.str();
    return traffic;
  }
  traffic.requests = values->getInteger("requests").value_or(0);
  traffic.bytes = values->getInteger("bytes").value_or(0);
  traffic.sectors = values->getInteger("sectors").value_or(0);
  traffic.wavefronts = values->getInteger("wavefronts").value_or(0);
  if (const llvm::json::Object *widths = values->getObject("requests_by_bytes"))
    traffic.requestsOf16 = widths->getInteger("16").value_or(0);
  return traffic;
}

} // namespace

std::vector<TensorValue> GpuKernel::run(ArrayRef<TensorValue> operands, const std::map<std::string, int64_t> &symbols,
                                        const GpuRun &how) {
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
    auto found = symbols.find(name.str());
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  std::string architecture =
      StringRef(chip).drop_front(3).take_while([](char c) { return c >= '0' && c <= '9'; }).str();
  setenv("WEFT_SIMULATOR_ARCHITECTURE", architecture.c_str(), 1);
  setenv("WEFT_SIMULATOR_CHECKS", how.checkRaces ? "uninitialised,races,counters" : "uninitialised,counters", 1);
  setenv("WEFT_SIMULATOR_SEED", std::to_string(how.seed).c_str(), 1);
  setenv("WEFT_SIMULATOR_ASSEMBLER", how.assemble ? "1" : "0", 1);
  weftSimulatorReset();
  CUcontext context;
  CUmodule loaded;
  CUfunction function;
  WEFT_CHECK_DRIVER(cuInit(0));
  WEFT_CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
  WEFT_CHECK_DRIVER(cuCtxSetCurrent(context));
  WEFT_CHECK_DRIVER(cuModuleLoadData(&loaded, ptx.c_str()));
  WEFT_CHECK_DRIVER(cuModuleGetFunction(&function, loaded, info.name.c_str()));

  std::vector<uint64_t> parameters;
  auto allocate = [&](size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAlloc(&pointer, std::max<size_t>(bytes, 1)), CUDA_SUCCESS);
    return static_cast<uint64_t>(pointer);
  };
  for (const TensorValue &operand : operands) {
    parameters.push_back(allocate(operand.getByteSize()));
    if (operand.getByteSize())
      WEFT_CHECK_DRIVER(cuMemcpyHtoD(parameters.back(), operand.getData(), operand.getByteSize()));
  }
  std::vector<TensorValue> results;
  bool isEmpty = true;
  for (Type type : resultTypes) {
    SmallVector<int64_t> shape;
    for (const Dim &dim : getDims(type))
      shape.push_back(dim.evaluate(valueOf).value());
    results.emplace_back(cast<RankedTensorType>(type).getElementType(), shape);
    isEmpty &= results.back().getElementCount() == 0;
    parameters.push_back(allocate(results.back().getByteSize()));
  }
  for (const std::string &name : symbolNames)
    parameters.push_back(static_cast<uint64_t>(valueOf(name).value()));
  int64_t tiles = info.tiles.evaluate(valueOf).value(), scratch = info.scratchBytes.evaluate(valueOf).value();
  parameters.push_back(static_cast<uint64_t>(tiles));
  parameters.push_back(scratch ? allocate(scratch) : 0);
  parameters.push_back(0);
  parameters.push_back(0);
  parameters.push_back(allocate(sizeof(int32_t)));
  WEFT_CHECK_DRIVER(cuMemcpyHtoD(parameters.back(), "\0\0\0", sizeof(int32_t)));
  std::vector<void *> pointers;
  for (uint64_t &parameter : parameters)
    pointers.push_back(&parameter);
  if (tiles > 0 && !isEmpty) {
    int64_t grid = tiles;
    for (int64_t limit : {info.maxBlocks, how.maxBlocks})
      if (limit > 0)
        grid = std::min(grid, limit);
    WEFT_CHECK_DRIVER(
        cuLaunchKernel(function, grid, 1, 1, info.threads, 1, 1, info.sharedBytes, nullptr, pointers.data(), nullptr));
    WEFT_CHECK_DRIVER(cuCtxSynchronize());
    llvm::Expected<llvm::json::Value> counters = llvm::json::parse(grow(weftSimulatorCounters));
    if (!counters) {
      ADD_FAILURE() << llvm::toString(counters.takeError());
      return {};
    }
    const llvm::json::Array *launches = counters->getAsArray();
    if (!launches || launches->size() != 1 || !launches->front().getAsObject()) {
      ADD_FAILURE() << "expected the counters of one launch: " << grow(weftSimulatorCounters);
      return {};
    }
    const llvm::json::Object &launch = *launches->front().getAsObject();
    globalLoads = readTraffic(launch, "global_loads");
    globalStores = readTraffic(launch, "global_stores");
    sharedLoads = readTraffic(launch, "shared_loads");
    sharedStores = readTraffic(launch, "shared_stores");
    localLoads = readTraffic(launch, "local_loads");
    localStores = readTraffic(launch, "local_stores");
  }
  EXPECT_EQ(weftSimulatorFaultCount(), 0u) << grow(weftSimulatorReport) << "\n" << ptx;
  WEFT_CHECK_DRIVER(cuMemcpyDtoH(&error, parameters.back(), sizeof(int32_t)));
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].getByteSize())
      WEFT_CHECK_DRIVER(
          cuMemcpyDtoH(results[i].getMutableData(), parameters[operands.size() + i], results[i].getByteSize()));
  weftSimulatorReset();
  return results;
}

#else

bool hasSimulator() { return false; }

std::vector<TensorValue> GpuKernel::run(ArrayRef<TensorValue>, const std::map<std::string, int64_t> &, const GpuRun &) {
  ADD_FAILURE() << "this build has no simulated GPU";
  return {};
}

#endif

} // namespace weft::test
