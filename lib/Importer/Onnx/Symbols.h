//===- Symbols.h - The symbolic sizes of a model and their bounds --------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_SYMBOLS_H
#define WEFT_LIB_IMPORTER_ONNX_SYMBOLS_H

#include "dialects/Graph/Dim.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace weft::importer {

/// Both ends belong to it. The limits of int64_t stand for "no bound".
struct Interval {
  int64_t min = 0, max = 0;
};

/// The symbols that the sizes of the inputs introduce. What the model needs of a size (a reflecting pad of 64 needs at
/// least 65 elements) narrows the bounds of a symbol as long as they are defaults; where the user gave them, it is an
/// error.
class Symbols {
public:
  explicit Symbols(mlir::MLIRContext *context) : context(context) {}

  /// The symbol of a dimension called `wanted` in the model (any text; characters that a name cannot have become `_`).
  /// The same text gives the same symbol. `fallback` are the bounds of a new one.
  graph::Dim get(llvm::StringRef wanted, Interval fallback);
  /// A new symbol for a size that data decide. Equal texts give different symbols; bounds given for the text hold for
  /// all of them.
  graph::Dim create(llvm::StringRef wanted, Interval fallback);
  /// Bounds that the user gave to a symbol, by its name in the model. To be called before `get` and `create`.
  void setBounds(llvm::StringRef wanted, Interval bounds);
  /// The user's bounds that no dimension has asked for: misspelt names.
  llvm::SmallVector<std::string> unusedBounds() const;
  /// Names as they stand in the IR, in order of introduction.
  llvm::SmallVector<std::string> names() const;

  Interval boundsOf(const graph::Dim &dim) const;
  bool isAtLeast(const graph::Dim &dim, int64_t value) const { return boundsOf(dim).min >= value; }
  /// Whether `dim` is at least `value` for all values of the symbols, after narrowing bounds that are defaults.
  bool requireAtLeast(const graph::Dim &dim, int64_t value);

  /// Whether two sizes are equal for some values of the symbols, as far as their bounds say. Where that does not follow
  /// for all values it becomes a condition of the program, which is checked when it is run; `reason` says in the error
  /// what needs it.
  bool requireEqual(const graph::Dim &left, const graph::Dim &right, llvm::StringRef reason);

  /// Between the two what is imported may never run: nothing that it needs can be a condition of the program.
  void enterBranch() { ++branches; }
  void leaveBranch() { --branches; }
  /// Between the two what is imported runs only where the sizes are equal.
  void enterEqual(const graph::Dim &left, const graph::Dim &right) { equal.emplace_back(left, right); }
  void leaveEqual() { equal.pop_back(); }

  /// Writes a `weft.dim` for each symbol at the builder's position, and a `weft.require` for each condition.
  void declare(mlir::OpBuilder &builder, mlir::Location location) const;

private:
  struct Symbol {
    Interval bounds;
    bool isDefault = true;
    bool isData = false; // data decide, within the bounds
  };
  mlir::StringAttr add(llvm::StringRef wanted, Interval fallback);
  Interval boundsOf(mlir::AffineExpr expression, llvm::ArrayRef<mlir::StringAttr> names) const;

  mlir::MLIRContext *context;
  llvm::MapVector<mlir::StringAttr, Symbol> symbols;
  llvm::StringMap<mlir::StringAttr> nameOf; // by the name in the model
  llvm::StringMap<Interval> given;
  struct Condition {
    graph::Dim left, right;
    std::string reason;
  };
  llvm::SmallVector<Condition> conditions;
  int branches = 0;
  llvm::SmallVector<std::pair<graph::Dim, graph::Dim>> equal;
};

} // namespace weft::importer

#endif
