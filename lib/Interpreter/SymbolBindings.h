//===- SymbolBindings.h - Values of the symbolic sizes, from the shapes of arguments ----------------===//

#ifndef WEFT_LIB_INTERPRETER_SYMBOLBINDINGS_H
#define WEFT_LIB_INTERPRETER_SYMBOLBINDINGS_H

#include "dialects/Graph/Dim.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace weft {

/// The values of a module's symbols for one run.
class SymbolBindings {
public:
  /// One dimension of one argument: what the type says, and what was given.
  struct Equation {
    std::string argument; // as errors name it
    unsigned dimension;
    graph::Dim expected;
    int64_t given;
  };

  /// Finds every symbol that an equation with one unknown determines, then checks all equations and the bounds that
  /// `module` declares. Emits an error at `location` that names the argument and the dimension.
  llvm::LogicalResult solve(llvm::ArrayRef<Equation> equations, mlir::ModuleOp module, mlir::Location location);

  /// Gives a symbol its value, which data decided.
  void bind(llvm::StringRef symbol, int64_t value) { values[symbol] = value; }

  std::optional<int64_t> lookup(llvm::StringRef symbol) const;
  /// The size, or nothing where a symbol in it has no value or it overflows.
  std::optional<int64_t> evaluate(const graph::Dim &dim) const;

private:
  llvm::StringMap<int64_t> values;
};

} // namespace weft

#endif
