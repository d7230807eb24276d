//===- ShapeVariant.h - A program for given values of symbols ------------------------------------------------===//

#ifndef WEFT_LIB_PIPELINE_SHAPEVARIANT_H
#define WEFT_LIB_PIPELINE_SHAPEVARIANT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Symbols with a value each.
using ShapeVariant = std::vector<std::pair<std::string, int64_t>>;

/// "batch=1" or "batch=1,time=128".
llvm::Expected<ShapeVariant> parseShapeVariant(llvm::StringRef text);

/// Replaces symbols by their values in all types of an imported module. The symbols stay declared, with the value as
/// both bounds, so that the program has the same list of symbols as without. An error names a symbol that the module
/// does not have, a value outside its bounds, or a condition of the module that the values break.
llvm::LogicalResult specialize(mlir::ModuleOp module, const ShapeVariant &variant);

} // namespace weft

#endif
