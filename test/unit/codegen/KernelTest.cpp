//===- KernelTest.cpp - Compiles a fusion, loads it and calls it as the runtime would ----------------===//

#include "test/unit/codegen/KernelTest.h"
#include "include/weft/kernel_abi.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

/// Memory as the runtime gives it, with guard bytes behind that must not change.
class AlignedBuffer {
public:
  explicit AlignedBuffer(size_t size) : size(size) {
    memory = static_cast<unsigned char *>(std::aligned_alloc(
        WEFT_BUFFER_ALIGNMENT, (size + 2 * WEFT_BUFFER_ALIGNMENT) / WEFT_BUFFER_ALIGNMENT * WEFT_BUFFER_ALIGNMENT));
    std::memset(memory, 0xA5, (size + 2 * WEFT_BUFFER_ALIGNMENT) / WEFT_BUFFER_ALIGNMENT * WEFT_BUFFER_ALIGNMENT);
  }
  ~AlignedBuffer() { std::free(memory); }
  AlignedBuffer(const AlignedBuffer &) = delete;
  AlignedBuffer &operator=(const AlignedBuffer &) = delete;

  bool isGuardIntact() const {
    for (size_t i = size; i < (size + 2 * WEFT_BUFFER_ALIGNMENT) / WEFT_BUFFER_ALIGNMENT * WEFT_BUFFER_ALIGNMENT; ++i)
      if (memory[i] != 0xA5)
        return false;
    return true;
  }

  unsigned char *memory;
  size_t size;
};

} // namespace

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<GraphDialect, func::FuncDialect>();
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::unique_ptr<CompiledKernel> compileKernel(MLIRContext &context, StringRef text, StringRef cpu,
                                              codegen::Numerics numerics) {
  std::unique_ptr<CompiledKernel> kernel(new CompiledKernel());
  kernel->module = parseSourceString<ModuleOp>(text, &context);
  if (!kernel->module) {
    ADD_FAILURE() << "the module does not parse:\n" << text.str();
    return nullptr;
  }
  codegen::CpuOptions options;
  options.cpu = cpu.str();
  options.numerics = numerics;
  for (DimOp dim : kernel->module->getOps<DimOp>())
    options.symbols.push_back(dim.getName().str());
  kernel->symbolNames = options.symbols;
  options.dumpLlvm = [&](StringRef, StringRef text) { kernel->llvmText = text.str(); };
  Region *body = nullptr;
  graph::FusionKind kind = graph::FusionKind::generic;
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
  codegen::CpuCodegen codegen(context, options);
  FailureOr<codegen::KernelInfo> info = codegen.addKernel("kernel_0", kind, *body);
  if (failed(info)) {
    ADD_FAILURE() << "no kernel for:\n" << text.str();
    return nullptr;
  }
  kernel->info = *info;
  FailureOr<std::vector<uint8_t>> object = codegen.link();
  if (failed(object)) {
    ADD_FAILURE() << "the kernel does not link:\n" << text.str();
    return nullptr;
  }
  int file = memfd_create("kernels", MFD_CLOEXEC);
  EXPECT_EQ(write(file, object->data(), object->size()), static_cast<ssize_t>(object->size()));
  std::string path = "/proc/self/fd/" + std::to_string(file);
  kernel->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!kernel->library) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  close(file);
  kernel->function = dlsym(kernel->library, kernel->info.name.c_str());
  EXPECT_NE(kernel->function, nullptr);
  return kernel;
}

CompiledKernel::~CompiledKernel() {
  if (library)
    dlclose(library);
}

std::vector<TensorValue> CompiledKernel::run(ArrayRef<TensorValue> operands,
                                             const std::map<std::string, int64_t> &symbols, int64_t tilesAtOnce) {
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
    auto found = symbols.find(name.str());
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<std::unique_ptr<AlignedBuffer>> buffers;
  std::vector<void *> pointers;
  for (const TensorValue &operand : operands) {
    buffers.push_back(std::make_unique<AlignedBuffer>(operand.getByteSize()));
    std::memcpy(buffers.back()->memory, operand.getData(), operand.getByteSize());
    pointers.push_back(buffers.back()->memory);
  }
  std::vector<TensorValue> results;
  for (Type type : resultTypes) {
    SmallVector<int64_t> shape;
    for (const Dim &dim : getDims(type))
      shape.push_back(dim.evaluate(valueOf).value());
    results.emplace_back(cast<RankedTensorType>(type).getElementType(), shape);
    buffers.push_back(std::make_unique<AlignedBuffer>(results.back().getByteSize()));
    pointers.push_back(buffers.back()->memory);
  }
  std::vector<int64_t> symbolValues;
  for (const std::string &name : symbolNames)
    symbolValues.push_back(valueOf(name).value());
  AlignedBuffer scratch(info.scratchBytes.evaluate(valueOf).value());
  int32_t error = 0;
  WeftArgs arguments = {
      sizeof(WeftArgs), WEFT_KERNEL_ABI_VERSION, pointers.data(), symbolValues.data(), scratch.memory, 0, 0, &error};
  int64_t tiles = info.tiles.evaluate(valueOf).value();
  int64_t step = tilesAtOnce ? tilesAtOnce : std::max<int64_t>(tiles, 1);
  auto kernel = reinterpret_cast<WeftKernel>(function);
  for (int64_t end = tiles; end > 0; end -= step)
    EXPECT_EQ(kernel(&arguments, std::max<int64_t>(end - step, 0), end), 0);
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(scratch.isGuardIntact());
  for (const auto &buffer : buffers)
    EXPECT_TRUE(buffer->isGuardIntact());
  for (size_t i = 0; i < results.size(); ++i)
    std::memcpy(results[i].getMutableData(), pointers[operands.size() + i], results[i].getByteSize());
  return results;
}

TensorValue makeRandom(Type elementType, ArrayRef<int64_t> shape, unsigned seed, double scale) {
  TensorValue tensor(elementType, shape);
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, scale);
  for (int64_t i = 0; i < tensor.getElementCount(); ++i) {
    if (isFloatElement(elementType))
      tensor.setFloat(i, normal(generator));
    else if (isBoolElement(elementType))
      tensor.setInteger(i, generator() & 1);
    else if (scale < 1)
      tensor.setInteger(i, static_cast<int64_t>(generator() % 7) - (isUnsignedElement(elementType) ? 0 : 3));
    else
      tensor.setInteger(i, static_cast<int64_t>(generator()));
  }
  return tensor;
}

Type parseElementType(MLIRContext &context, StringRef name) { return parseType(name, &context); }

TensorValue makeFloats(MLIRContext &context, ArrayRef<int64_t> shape, const std::vector<float> &values) {
  TensorValue tensor(Float32Type::get(&context), shape);
  EXPECT_EQ(tensor.getElementCount(), static_cast<int64_t>(values.size()));
  std::memcpy(tensor.getMutableData(), values.data(), values.size() * sizeof(float));
  return tensor;
}

} // namespace weft::test
