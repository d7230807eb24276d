//===- EmitKernel.cpp - Which kernel a region becomes --------------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

FailureOr<KernelTiles> emitKernel(KernelEmitter &kernel) {
  if (isSerialKernel(kernel))
    return emitSerialKernel(kernel);
  for (Value result : kernel.results())
    if (elementsPerByte(elementType(result)) > 1)
      return emitPackedKernel(kernel);
  // What a region allows decides. Every region has a kernel by its scalar emission.
  if (isContractionKernel(kernel))
    return emitContractionKernel(kernel);
  if (isRowKernel(kernel))
    return emitRowKernel(kernel);
  if (isColumnKernel(kernel))
    return emitColumnKernel(kernel);
  if (isTransposeKernel(kernel))
    return emitTransposeKernel(kernel);
  return emitLoopKernel(kernel);
}

} // namespace weft::codegen::gpu
