//===- GpuCodegen.cpp - PTX kernels from fusions ------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "lib/Codegen/Gpu/Lowering.h"
#include "lib/Codegen/Gpu/WidenAccesses.h"
#include "lib/Codegen/Optimize.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

using namespace mlir;

namespace weft::codegen {

namespace {

/// A kernel on its way to PTX.
struct PendingKernel {
  GpuKernelInfo info;
  Location location;
  std::string mlirText, llvmText, ptx, error;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;

  explicit PendingKernel(Location location) : location(location) {}
};

} // namespace

struct GpuCodegen::Implementation {
  Implementation(MLIRContext &context, GpuOptions options) : context(context), options(std::move(options)) {
    llvm::Expected<gpu::Target> made = gpu::makeTarget(this->options.chip);
    if (made)
      target = *made;
    else
      targetError = llvm::toString(made.takeError());
  }

  MLIRContext &context;
  GpuOptions options;
  std::optional<gpu::Target> target;
  std::string targetError;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<PendingKernel>> bySignature;
  std::vector<std::shared_ptr<PendingKernel>> kernels;

  FailureOr<std::shared_ptr<PendingKernel>> build(StringRef name, Region &body);
  void compile(PendingKernel &kernel);
};

GpuCodegen::GpuCodegen(MLIRContext &context, GpuOptions options)
    : implementation(std::make_unique<Implementation>(context, std::move(options))) {
  gpu::registerLoweringDialects(context);
}

GpuCodegen::~GpuCodegen() = default;

LogicalResult GpuCodegen::checkTarget(Location location) const {
  if (!implementation->target)
    return emitError(location) << implementation->targetError;
  return success();
}

FailureOr<std::shared_ptr<PendingKernel>> GpuCodegen::Implementation::build(StringRef name, Region &body) {
  auto pending = std::make_shared<PendingKernel>(body.getLoc());
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(&context);
  gpu::KernelEmitter kernel(builder, *module, name, body, options.symbols, target->multiprocessors);
  FailureOr<gpu::KernelTiles> tiles = gpu::emitKernel(kernel);
  if (failed(tiles) || kernel.hasFailed())
    return failure();
  kernel.finish();
  pending->info.name = name.str();
  pending->info.tiles = tiles->tiles;
  pending->info.threads = kernel.getThreads();
  pending->info.maxBlocks = tiles->maxBlocks;
  pending->info.scratchBytes = kernel.getScratchBytes();
  if (options.dumpMlir) {
    llvm::raw_string_ostream stream(pending->mlirText);
    module->print(stream);
  }
  if (failed(gpu::lowerToLlvm(*module, kernel.getIndexBits())))
    return failure();
  pending->context = std::make_unique<llvm::LLVMContext>();
  pending->module =
      gpu::translateToLlvm(*module, *pending->context, name, *target, kernel.getThreads(), options.numerics);
  if (!pending->module)
    return emitError(body.getLoc(), "the kernel '") << name << "' could not be translated to LLVM IR";
  return pending;
}

FailureOr<GpuKernelInfo> GpuCodegen::addKernel(StringRef name, graph::FusionKind kind, Region &body) {
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
  FailureOr<std::shared_ptr<PendingKernel>> pending = self.build(name, body);
  if (failed(pending))
    return failure();
  std::lock_guard<std::mutex> lock(self.mutex);
  auto [entry, isNew] = self.bySignature.insert({signature, *pending});
  if (isNew)
    self.kernels.push_back(*pending);
  return entry->second->info;
}

void GpuCodegen::Implementation::compile(PendingKernel &kernel) {
  std::unique_ptr<llvm::TargetMachine> machine = gpu::makeTargetMachine(*target, options.numerics);
  // Lanes are threads; only accesses become wider.
  optimize(*kernel.module, *machine, /*vectorize=*/false);
  gpu::widenAccesses(*kernel.module);
  if (options.dumpLlvm) {
    llvm::raw_string_ostream stream(kernel.llvmText);
    kernel.module->print(stream, nullptr);
  }
  if (llvm::Expected<std::string> ptx = gpu::emitPtx(*kernel.module, *machine))
    kernel.ptx = std::move(*ptx);
  else
    kernel.error = llvm::toString(ptx.takeError());
  kernel.module.reset();
  kernel.context.reset();
}

FailureOr<std::string> GpuCodegen::ptx() {
  Implementation &self = *implementation;
  if (failed(checkTarget(UnknownLoc::get(&self.context))))
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

  std::vector<std::string> texts;
  for (const std::shared_ptr<PendingKernel> &kernel : self.kernels) {
    if (!kernel->error.empty())
      return emitError(kernel->location) << "the kernel '" << kernel->info.name << "': " << kernel->error;
    if (self.options.dumpMlir)
      self.options.dumpMlir(kernel->info.name, kernel->mlirText);
    if (self.options.dumpLlvm)
      self.options.dumpLlvm(kernel->info.name, kernel->llvmText);
    if (self.options.dumpAssembly)
      self.options.dumpAssembly(kernel->info.name, kernel->ptx);
    texts.push_back(kernel->ptx);
  }
  return gpu::joinPtx(texts);
}

} // namespace weft::codegen
