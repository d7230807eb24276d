//===- Pipeline.cpp - The order of the stages, and the compiler as one call ----------------------------------===//

#include "lib/Pipeline/Pipeline.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Graph/GraphDialect.h"
#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "lib/Emit/CubinAssembler.h"
#include "lib/Emit/MergeTargets.h"
#include "lib/Fusion/Passes.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Layout/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Simplify/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>

using namespace mlir;

namespace weft {

static constexpr llvm::StringLiteral kStageNames[] = {"import", "simplified", "layout",  "fused",
                                                      "exec",   "llvm",       "artifact"};

StringRef stageName(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

std::optional<Stage> stageFromName(StringRef name) {
  for (auto [index, known] : llvm::enumerate(kStageNames))
    if (name == known)
      return static_cast<Stage>(index);
  return std::nullopt;
}

void loadCompilerDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, exec::ExecDialect, func::FuncDialect>();
}

namespace {

/// One compilation for one target: what the stages share.
class Compilation {
public:
  Compilation(ModuleOp module, WeightStore weights, const CompileOptions &options, const CompileTarget &compileTarget)
      : module(module), options(options), compileTarget(compileTarget) {
    result.weights = std::move(weights);
  }

  FailureOr<CompiledModel> run() {
    // Each stage ends with a verifier that says what is legal after it; then it is timed, dumped and shown.
    if (failed(runStage(Stage::Import, [&] { return success(); })))
      return failure();

    // Meaning and shapes stay as they are; the graph becomes canonical.
    if (failed(runStage(Stage::Simplified, [&] { return runPasses(buildSimplifyPipeline); })))
      return failure();

    // For inference: batch norms disappear into weights, convolutions become channels-last, and what depends on frozen
    // parameters alone moves to @prepare.
    if (failed(runStage(Stage::Layout, [&] { return runPasses(buildLayoutPipeline); })))
      return failure();

    // Every op now belongs to one kernel or one library call.
    if (failed(runStage(Stage::Fused, [&] {
          return runPasses([&](OpPassManager &manager) {
            fusion::buildFusionPipeline(manager, compileTarget.deviceModel(), options.fusionReport, options.fuses);
          });
        })))
      return failure();

    // The work on parameters is done here, once; values become buffers, and the order is fixed.
    if (failed(runStage(Stage::Exec, [&] {
          if (failed(prepareWeights()))
            return failure();
          if (!options.kernelObserver)
            return runPasses(schedule::buildSchedulePipeline);
          if (failed(
                  runPasses([](OpPassManager &manager) { manager.addPass(schedule::createSplitLibraryEpilogues()); })))
            return failure();
          options.kernelObserver(module, result.weights);
          return runPasses(schedule::buildSchedulePipeline);
        })))
      return failure();

    // A function a kernel.
    if (failed(runStage(Stage::Llvm, [&] { return generateKernels(); })))
      return failure();

    if (failed(runStage(Stage::Artifact, [&] { return emitArtifact(); })))
      return failure();
    return std::move(result);
  }

private:
  LogicalResult runStage(Stage stage, llvm::function_ref<LogicalResult()> body) {
    if (options.stopAfter < stage)
      return success();
    auto start = std::chrono::steady_clock::now();
    if (failed(body()))
      return failure();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    result.times.push_back({stageName(stage).str(), seconds.count()});
    if (stage <= Stage::Exec && options.observer)
      options.observer(stage, module);
    return options.dumpDirectory.empty() ? success() : dump(stage);
  }

  LogicalResult runPasses(llvm::function_ref<void(OpPassManager &)> build) {
    PassManager manager(module.getContext());
    build(manager);
    return manager.run(module);
  }

  /// Runs @prepare on the parameters and replaces it by its results.
  LogicalResult prepareWeights() {
    auto main = module.lookupSymbol<func::FuncOp>(graph::GraphDialect::kMainName);
    auto prepare = module.lookupSymbol<func::FuncOp>(graph::GraphDialect::kPrepareName);
    if (!prepare)
      return success();
    FailureOr<SmallVector<graph::TensorValue>> values = evaluatePrepare(module, result.weights);
    if (failed(values))
      return failure();
    llvm::StringSet<> stillUsed;
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (auto name = main.getArgAttrOfType<StringAttr>(i, graph::GraphDialect::kParamName))
        stillUsed.insert(name.getValue());
    // What only @prepare took is not needed any more.
    for (unsigned i = 0; i < prepare.getNumArguments(); ++i)
      if (auto name = prepare.getArgAttrOfType<StringAttr>(i, graph::GraphDialect::kParamName))
        if (!stillUsed.contains(name.getValue()))
          result.weights.erase(name.getValue());
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      auto index = main.getArgAttrOfType<IntegerAttr>(i, graph::GraphDialect::kPreparedIndex);
      if (!index)
        continue;
      std::string name =
          result.weights.addUnique("prepared." + std::to_string(index.getInt()), (*values)[index.getInt()]);
      main.removeArgAttr(i, graph::GraphDialect::kPreparedIndex);
      main.setArgAttr(i, graph::GraphDialect::kParamName, StringAttr::get(module.getContext(), name));
    }
    prepare.erase();
    return success();
  }

  LogicalResult generateKernels() {
    auto entries = module.getOps<exec::EntryOp>();
    if (!entries.empty())
      for (Attribute name : (*entries.begin()).getSymbols())
        symbols.push_back(cast<StringAttr>(name).str());
    target.device = compileTarget.device;
    return compileTarget.isGpu() ? generateGpuKernels() : generateCpuKernels();
  }

  codegen::Numerics numerics() const {
    return options.numerics == "fast" ? codegen::Numerics::fast : codegen::Numerics::strict;
  }
  bool wantsText() const { return options.stopAfter == Stage::Llvm || !options.dumpDirectory.empty(); }

  /// A size over the program's symbols, as an attribute of a kernel.
  AffineMap mapOf(const graph::Dim &dim) {
    SmallVector<AffineExpr> replacements;
    for (StringAttr name : dim.getSymbols())
      replacements.push_back(
          getAffineSymbolExpr(llvm::find(symbols, name.getValue()) - symbols.begin(), module.getContext()));
    return AffineMap::get(0, symbols.size(), dim.getExpression().replaceSymbols(replacements));
  }

  /// Calls `make` with every kernel and its kind.
  LogicalResult forEachKernel(llvm::function_ref<LogicalResult(exec::KernelOp, graph::FusionKind)> make) {
    for (auto kernel : module.getOps<exec::KernelOp>()) {
      std::optional<graph::FusionKind> kind = graph::symbolizeFusionKind(kernel.getKind());
      if (!kind)
        return kernel.emitOpError("unknown kind ") << kernel.getKind();
      if (failed(make(kernel, *kind)))
        return failure();
    }
    return success();
  }

  LogicalResult generateCpuKernels() {
    codegen::CpuOptions cpuOptions;
    cpuOptions.cpu = options.cpu;
    cpuOptions.numerics = numerics();
    cpuOptions.symbols.assign(symbols.begin(), symbols.end());
    if (wantsText())
      cpuOptions.dumpLlvm = [&](StringRef, StringRef text) { result.llvmText += text; };
    codegen::CpuCodegen codegen(*module.getContext(), cpuOptions);
    if (failed(codegen.checkTarget(module.getLoc())))
      return failure();
    auto make = [&](exec::KernelOp kernel, graph::FusionKind kind) -> LogicalResult {
      FailureOr<codegen::KernelInfo> info = codegen.addKernel(kernel.getSymName(), kind, kernel.getBody());
      if (failed(info))
        return failure();
      kernel.setTiles(mapOf(info->tiles));
      kernel.setGrain(info->grain);
      kernel.setScratch(mapOf(info->scratchBytes));
      // Regions that are alike share the function of the first.
      if (info->name != kernel.getSymName())
        kernel.setFunction(info->name);
      return success();
    };
    if (failed(forEachKernel(make)))
      return failure();
    FailureOr<std::vector<uint8_t>> object = codegen.link();
    if (failed(object))
      return failure();
    target.name = options.cpu;
    target.features = codegen.requiredFeatures();
    target.kernels = std::move(*object);
    return success();
  }

  LogicalResult generateGpuKernels() {
    codegen::GpuOptions gpuOptions;
    gpuOptions.chip = compileTarget.chip;
    gpuOptions.numerics = numerics();
    gpuOptions.symbols.assign(symbols.begin(), symbols.end());
    if (wantsText())
      gpuOptions.dumpLlvm = [&](StringRef, StringRef text) { result.llvmText += text; };
    codegen::GpuCodegen codegen(*module.getContext(), gpuOptions);
    if (failed(codegen.checkTarget(module.getLoc())))
      return failure();
    auto make = [&](exec::KernelOp kernel, graph::FusionKind kind) -> LogicalResult {
      FailureOr<codegen::GpuKernelInfo> info = codegen.addKernel(kernel.getSymName(), kind, kernel.getBody());
      if (failed(info))
        return failure();
      kernel.setTiles(mapOf(info->tiles));
      kernel.setScratch(mapOf(info->scratchBytes));
      kernel.setThreads(info->threads);
      if (info->sharedBytes > 0)
        kernel.setShared(info->sharedBytes);
      if (info->maxBlocks > 0)
        kernel.setMaxBlocks(info->maxBlocks);
      if (info->name != kernel.getSymName())
        kernel.setFunction(info->name);
      return success();
    };
    if (failed(forEachKernel(make)))
      return failure();
    target.name = compileTarget.name();
    target.architecture = compileTarget.chip;
    if (module.getOps<exec::KernelOp>().empty())
      return success();
    FailureOr<std::string> ptx = codegen.ptx();
    if (failed(ptx))
      return failure();
    result.ptxText = *ptx;
    // With the NUL that the driver expects.
    target.kernels.assign(ptx->c_str(), ptx->c_str() + ptx->size() + 1);
    if (!compileTarget.cubin || options.stopAfter < Stage::Artifact)
      return success();
    llvm::Expected<std::vector<uint8_t>> cubin = emit::assembleCubin(*ptx, compileTarget.chip);
    if (!cubin)
      return emitError(module.getLoc()) << "target " << compileTarget.name()
                                        << "+cubin: " << llvm::toString(cubin.takeError());
    target.cubin = std::move(*cubin);
    return success();
  }

  LogicalResult emitArtifact() {
    emit::EmitOptions emitOptions;
    emitOptions.modelName = options.modelName;
    emitOptions.numerics = options.numerics;
    emitOptions.target = std::move(target);
    FailureOr<emit::EmittedProgram> emitted = emit::emitProgram(module, result.weights, emitOptions);
    if (failed(emitted))
      return failure();
    result.emitted = std::move(*emitted);
    return success();
  }

  LogicalResult dump(Stage stage) {
    if (stage == Stage::Artifact)
      return success();
    std::string name =
        llvm::formatv("{0:D2}-{1}{2}.{3}", static_cast<int>(stage) + 1, stage == Stage::Import ? "" : "after-",
                      stageName(stage), stage == Stage::Llvm ? "ll" : "mlir");
    llvm::SmallString<128> path(options.dumpDirectory);
    std::error_code error = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, name);
    if (!error) {
      llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
      if (!error) {
        if (stage == Stage::Llvm)
          file.os() << result.llvmText;
        else
          module.print(file.os(), OpPrintingFlags().elideLargeElementsAttrs(4096));
        file.keep();
      }
    }
    if (!error && stage == Stage::Llvm && compileTarget.isGpu()) {
      llvm::sys::path::replace_extension(path, "ptx");
      llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
      if (!error) {
        file.os() << result.ptxText;
        file.keep();
      }
    }
    if (error)
      return emitError(module.getLoc()) << "cannot write " << path.str() << ": " << error.message();
    return success();
  }

  ModuleOp module;
  const CompileOptions &options;
  const CompileTarget &compileTarget;
  SmallVector<std::string> symbols;
  CompiledModel result;
  runtime::Target target;
};

/// The options of a further program of the artifact: what is shown is shown of the first, and files go to a folder of
/// its own.
CompileOptions furtherOptions(const CompileOptions &options, StringRef name) {
  CompileOptions further = options;
  further.observer = nullptr;
  further.kernelObserver = nullptr;
  further.fusionReport = nullptr;
  if (!options.dumpDirectory.empty()) {
    llvm::SmallString<128> folder(options.dumpDirectory);
    llvm::sys::path::append(folder, name);
    further.dumpDirectory = folder.str().str();
  }
  return further;
}

/// A program beside the first one.
struct FurtherProgram {
  const CompileTarget *target;
  std::string name;
  OwningOpRef<ModuleOp> module;
};

} // namespace

FailureOr<CompiledModel> compile(ModuleOp module, WeightStore weights, const CompileOptions &options) {
  if (options.targets.empty())
    return emitError(module.getLoc()) << "expected at least one target";
  // Only an artifact holds more than one; a stage shows the first.
  std::vector<FurtherProgram> further;
  if (options.stopAfter == Stage::Artifact)
    for (auto [index, target] : llvm::enumerate(options.targets)) {
      if (index > 0)
        further.push_back({&target, target.isGpu() ? target.chip : target.device, module.clone()});
      for (const ShapeVariant &variant : options.shapeVariants) {
        further.push_back({&target, target.isGpu() ? target.chip : target.device, module.clone()});
        for (const auto &[symbol, value] : variant)
          further.back().name += "-" + symbol + "-" + std::to_string(value);
        if (failed(specialize(*further.back().module, variant)))
          return failure();
      }
    }
  WeightStore original = further.empty() ? WeightStore() : weights;
  FailureOr<CompiledModel> result = Compilation(module, std::move(weights), options, options.targets.front()).run();
  if (failed(result))
    return failure();
  for (FurtherProgram &part : further) {
    CompileOptions partOptions = furtherOptions(options, part.name);
    FailureOr<CompiledModel> other = Compilation(*part.module, original, partOptions, *part.target).run();
    if (failed(other))
      return failure();
    if (llvm::Error error = emit::mergeTargets(result->emitted, std::move(other->emitted)))
      return emitError(module.getLoc()) << llvm::toString(std::move(error));
    result->targetWeights.push_back(std::move(other->weights));
    for (StageTime &time : other->times)
      result->times.push_back({time.name + ", " + part.name, time.seconds});
  }
  return result;
}

} // namespace weft
