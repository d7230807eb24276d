//===- GpuKernelTest.h - Compiles a fusion for a GPU and runs it on the simulated driver -------------===//

#ifndef WEFT_TEST_UNIT_CODEGEN_GPUKERNELTEST_H
#define WEFT_TEST_UNIT_CODEGEN_GPUKERNELTEST_H

#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "test/unit/codegen/KernelTest.h"

namespace weft::test {

/// Sums over a launch, from the simulator's counters.
struct Traffic {
  uint64_t requests = 0, bytes = 0, sectors = 0, wavefronts = 0;
  uint64_t requestsOf16 = 0; // bytes a lane
};

struct GpuRun {
  /// Order of blocks and warps.
  unsigned seed = 0;
  /// Blocks at most, beside what the kernel says; 0 for no other limit.
  int64_t maxBlocks = 0;
  bool checkRaces = true;
  /// Hands the PTX to the real assembler where it is found.
  bool assemble = false;
};

/// One compiled weft.fusion or weft.library_call of a module.
class GpuKernel {
public:
  /// Runs the kernel on operands and gives the results. Whatever the simulator's checks find fails the test.
  std::vector<graph::TensorValue> run(llvm::ArrayRef<graph::TensorValue> operands,
                                      const std::map<std::string, int64_t> &symbols = {}, const GpuRun &how = {});

  codegen::GpuKernelInfo info;
  std::string ptx, llvmText;
  /// Of the last run.
  Traffic globalLoads, globalStores, sharedLoads, sharedStores, localLoads, localStores;
  int32_t error = 0;

private:
  friend std::unique_ptr<GpuKernel> compileGpuKernel(mlir::MLIRContext &, llvm::StringRef, llvm::StringRef,
                                                     codegen::Numerics);
  GpuKernel() = default;

  std::string chip;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<mlir::Type> resultTypes;
  std::vector<std::string> symbolNames;
};

/// As compileKernel.
std::unique_ptr<GpuKernel> compileGpuKernel(mlir::MLIRContext &context, llvm::StringRef text, llvm::StringRef chip,
                                            codegen::Numerics numerics = codegen::Numerics::strict);

/// A module whose @main is one fusion. In `body` operands are %a, %b, %c, ... and results %r0, %r1, ...
std::string makeModule(const std::string &kind, const std::vector<std::string> &operands, const std::string &body,
                       const std::vector<std::string> &results, const std::string &dims = "");

/// Whether this build has the simulated driver.
bool hasSimulator();

} // namespace weft::test

#endif
