//===- NodeNames.h - The model's nodes that an op comes from -------------------------------------------===//

#ifndef WEFT_LIB_SUPPORT_NODENAMES_H
#define WEFT_LIB_SUPPORT_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace weft {

/// The names in a location, outermost first, each once: every stage keeps the nodes' names there, and fuses the
/// locations of what it merges.
llvm::SmallVector<llvm::StringRef> nodeNames(mlir::Location location);

} // namespace weft

#endif
