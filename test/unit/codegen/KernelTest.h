//===- KernelTest.h - Compiles a fusion, loads it and calls it as the runtime would ------------------===//

#ifndef WEFT_TEST_UNIT_CODEGEN_KERNELTEST_H
#define WEFT_TEST_UNIT_CODEGEN_KERNELTEST_H

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::test {

/// One compiled weft.fusion or weft.library_call of a module.
class CompiledKernel {
public:
  ~CompiledKernel();
  CompiledKernel(const CompiledKernel &) = delete;
  CompiledKernel &operator=(const CompiledKernel &) = delete;

  /// Runs the kernel on operands, in ranges of `tilesAtOnce` tiles from last to first (0: all at once), and gives the
  /// results. Symbols get their values from `symbols`.
  std::vector<graph::TensorValue> run(llvm::ArrayRef<graph::TensorValue> operands,
                                      const std::map<std::string, int64_t> &symbols = {}, int64_t tilesAtOnce = 0);

  codegen::KernelInfo info;
  std::string llvmText;

private:
  friend std::unique_ptr<CompiledKernel> compileKernel(mlir::MLIRContext &, llvm::StringRef, llvm::StringRef,
                                                       codegen::Numerics);
  CompiledKernel() = default;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<mlir::Type> resultTypes;
  std::vector<std::string> symbolNames;
  void *library = nullptr;
  void *function = nullptr;
};

/// Parses `text`, a module with one fusion or library call somewhere, and compiles that. Null, with a failed
/// expectation, where something goes wrong.
std::unique_ptr<CompiledKernel> compileKernel(mlir::MLIRContext &context, llvm::StringRef text,
                                              llvm::StringRef cpu = "native",
                                              codegen::Numerics numerics = codegen::Numerics::strict);

/// A context with the dialects loaded.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A tensor of random elements: floats from a normal distribution times `scale`, integers of the whole range of their
/// type (small ones with `scale` < 1), truth values.
graph::TensorValue makeRandom(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, unsigned seed, double scale = 1);
/// An element type by its name in MLIR.
mlir::Type parseElementType(mlir::MLIRContext &context, llvm::StringRef name);

/// Reads and writes f32 tensors.
graph::TensorValue makeFloats(mlir::MLIRContext &context, llvm::ArrayRef<int64_t> shape,
                              const std::vector<float> &values);

} // namespace weft::test

#endif
