//===- CpuCodegen.cpp - Native kernels from fusions ---------------------------------------------------===//

#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "lib/Codegen/Cpu/Lowering.h"
#include "lib/Codegen/Optimize.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

using namespace mlir;

namespace weft::codegen {

namespace {

/// A kernel on its way to an object file.
struct PendingKernel {
  KernelInfo info;
  Location location;
  std::string mlirText;
  llvm::SmallVector<unsigned> streamed; // buffers that are written past the caches
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::SmallVector<char, 0> object;
  std::string llvmText, assemblyText, error;

  explicit PendingKernel(Location location) : location(location) {}
};

/// The results that outgrow the caches: half of a last-level cache, beside what the kernel reads.
llvm::SmallVector<unsigned> findStreamed(Region &body) {
  constexpr int64_t kCacheBytes = 16 << 20;
  llvm::SmallVector<unsigned> streamed;
  for (auto [i, type] : llvm::enumerate(body.front().getTerminator()->getOperandTypes())) {
    graph::Dim count = graph::getElementCount(type);
    if (count.isConstant() &&
        count.getConstant() >= kCacheBytes * 8 / graph::storageBits(cast<RankedTensorType>(type).getElementType()))
      streamed.push_back(body.getNumArguments() + i);
  }
  return streamed;
}

} // namespace

struct CpuCodegen::Implementation {
  Implementation(MLIRContext &context, CpuOptions options) : context(context), options(std::move(options)) {
    llvm::Expected<cpu::Target> made = cpu::makeTarget(this->options.cpu);
    if (made)
      target = *made;
    else
      targetError = llvm::toString(made.takeError());
  }

  MLIRContext &context;
  CpuOptions options;
  std::optional<cpu::Target> target;
  std::string targetError;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<PendingKernel>> bySignature;
  std::vector<std::shared_ptr<PendingKernel>> kernels;

  FailureOr<std::shared_ptr<PendingKernel>> build(StringRef name, graph::FusionKind kind, Region &body);
  void compile(PendingKernel &kernel);
};

CpuCodegen::CpuCodegen(MLIRContext &context, CpuOptions options)
    : implementation(std::make_unique<Implementation>(context, std::move(options))) {
  cpu::registerLoweringDialects(context);
}

CpuCodegen::~CpuCodegen() = default;

LogicalResult CpuCodegen::checkTarget(Location location) const {
  if (!implementation->target)
    return emitError(location) << implementation->targetError;
  return success();
}

std::vector<std::string> CpuCodegen::requiredFeatures() const {
  return implementation->target ? implementation->target->enabledFeatures : std::vector<std::string>();
}

FailureOr<std::shared_ptr<PendingKernel>> CpuCodegen::Implementation::build(StringRef name, graph::FusionKind kind,
                                                                            Region &body) {
  auto pending = std::make_shared<PendingKernel>(body.getLoc());
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(&context);
  cpu::KernelEmitter kernel(builder, *module, name, body, options.symbols);
  FailureOr<cpu::KernelTiles> tiles = cpu::emitKernel(kernel, kind);
  if (failed(tiles) || kernel.hasFailed())
    return failure();
  kernel.finish();
  pending->info.name = name.str();
  pending->info.tiles = tiles->tiles;
  pending->info.grain = tiles->grain;
  pending->info.scratchBytes = kernel.getScratchBytes();
  pending->info.requiredFeatures = target->enabledFeatures;
  if (options.dumpMlir) {
    llvm::raw_string_ostream stream(pending->mlirText);
    module->print(stream);
  }
  if (failed(cpu::lowerToLlvm(*module)))
    return failure();
  pending->context = std::make_unique<llvm::LLVMContext>();
  pending->module = cpu::translateToLlvm(*module, *pending->context, *target, options.numerics);
  if (!pending->module)
    return emitError(body.getLoc(), "the kernel '") << name << "' could not be translated to LLVM IR";
  pending->streamed = findStreamed(body);
  return pending;
}

FailureOr<KernelInfo> CpuCodegen::addKernel(StringRef name, graph::FusionKind kind, Region &body) {
  Implementation &self = *implementation;
  if (failed(checkTarget(body.getLoc())))
    return failure();
  std::string signature = makeSignature(kind, body);
  {
    std::lock_guard<std::mutex> lock(self.mutex);
    auto found = self.bySignature.find(signature);
    if (found != self.bySignature.end())
      return found->second->info;
  }
  FailureOr<std::shared_ptr<PendingKernel>> pending = self.build(name, kind, body);
  if (failed(pending))
    return failure();
  std::lock_guard<std::mutex> lock(self.mutex);
  auto [entry, isNew] = self.bySignature.insert({signature, *pending});
  if (isNew)
    self.kernels.push_back(*pending);
  return entry->second->info;
}

void CpuCodegen::Implementation::compile(PendingKernel &kernel) {
  std::unique_ptr<llvm::TargetMachine> machine = cpu::makeTargetMachine(*target, options.numerics);
  kernel.module->setDataLayout(machine->createDataLayout());
  cpu::alignStreamedBuffers(*kernel.module, kernel.streamed);
  optimize(*kernel.module, *machine, /*vectorize=*/true);
  cpu::streamStores(*kernel.module, kernel.streamed);
  if (options.dumpLlvm) {
    llvm::raw_string_ostream stream(kernel.llvmText);
    kernel.module->print(stream, nullptr);
  }
  if (options.dumpAssembly) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*kernel.module);
    if (auto text = cpu::emitCode(*copy, *machine, /*assembly=*/true))
      kernel.assemblyText.assign(text->begin(), text->end());
    else
      llvm::consumeError(text.takeError());
  }
  if (auto object = cpu::emitCode(*kernel.module, *machine, /*assembly=*/false))
    kernel.object = std::move(*object);
  else
    kernel.error = llvm::toString(object.takeError());
  kernel.module.reset();
  kernel.context.reset();
}

FailureOr<std::vector<uint8_t>> CpuCodegen::link() {
  Implementation &self = *implementation;
  Location location = UnknownLoc::get(&self.context);
  if (failed(checkTarget(location)))
    return failure();
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < self.kernels.size(); i = next++)
      if (self.kernels[i]->module)
        self.compile(*self.kernels[i]);
  };
  std::vector<std::thread> threads;
  size_t count = std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), self.kernels.size());
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();

  std::vector<llvm::SmallVector<char, 0>> objects;
  std::vector<std::string> names;
  for (const std::shared_ptr<PendingKernel> &kernel : self.kernels) {
    if (!kernel->error.empty())
      return emitError(kernel->location) << "the kernel '" << kernel->info.name << "': " << kernel->error;
    if (self.options.dumpMlir)
      self.options.dumpMlir(kernel->info.name, kernel->mlirText);
    if (self.options.dumpLlvm)
      self.options.dumpLlvm(kernel->info.name, kernel->llvmText);
    if (self.options.dumpAssembly)
      self.options.dumpAssembly(kernel->info.name, kernel->assemblyText);
    objects.push_back(kernel->object);
    names.push_back(kernel->info.name);
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> functions = cpu::makeRuntimeFunctions(context, *self.target);
  std::unique_ptr<llvm::TargetMachine> machine = cpu::makeTargetMachine(*self.target, self.options.numerics);
  if (!functions)
    return emitError(location, "the functions that kernels share are not valid LLVM IR");
  functions->setDataLayout(machine->createDataLayout());
  llvm::Expected<llvm::SmallVector<char, 0>> object = cpu::emitCode(*functions, *machine, /*assembly=*/false);
  if (!object)
    return emitError(location) << llvm::toString(object.takeError());
  objects.push_back(std::move(*object));
  llvm::Expected<std::vector<uint8_t>> linked = cpu::linkObjects(objects, names);
  if (!linked)
    return emitError(location) << llvm::toString(linked.takeError());
  return std::move(*linked);
}

} // namespace weft::codegen
