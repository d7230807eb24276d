//===- ShapeVariant.cpp - A program for given values of symbols ----------------------------------------------===//

#include "lib/Pipeline/ShapeVariant.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft::graph;

namespace weft {

llvm::Expected<ShapeVariant> parseShapeVariant(StringRef text) {
  ShapeVariant variant;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    StringRef name = part.split('=').first.trim(), value = part.split('=').second.trim();
    int64_t size;
    if (name.empty() || value.getAsInteger(10, size) || size < 0)
      return llvm::createStringError("expected SYMBOL=SIZE, or several with commas");
    if (llvm::any_of(variant, [&](const auto &known) { return known.first == name; }))
      return llvm::createStringError(name + " is given twice");
    variant.emplace_back(name.str(), size);
  }
  return variant;
}

namespace {

/// Rewrites the types of a module.
class Specializer {
public:
  Specializer(ModuleOp module, const ShapeVariant &variant) : module(module) {
    for (const auto &[name, value] : variant)
      values[name] = value;
  }

  LogicalResult run() {
    if (failed(fixBounds()) || failed(fixConditions()))
      return failure();
    module.walk([&](Operation *op) {
      // Positions count from the end of a dimension only as long as that has no size.
      if (auto slice = dyn_cast<SliceOp>(op))
        fixPositions(slice);
      for (Value result : op->getResults())
        result.setType(fixed(result.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(fixed(argument.getType()));
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        auto all = [&](ArrayRef<Type> types) { return llvm::map_to_vector(types, [&](Type t) { return fixed(t); }); };
        FunctionType type = function.getFunctionType();
        function.setFunctionType(FunctionType::get(op->getContext(), all(type.getInputs()), all(type.getResults())));
      }
    });
    return verify(module);
  }

private:
  LogicalResult fixBounds() {
    for (const auto &entry : values) {
      SmallVector<DimOp> dims(module.getOps<DimOp>());
      auto *found = llvm::find_if(dims, [&](DimOp dim) { return dim.getName() == entry.getKey(); });
      if (found == dims.end()) {
        std::string known = llvm::join(llvm::map_range(dims, [](DimOp dim) { return dim.getName(); }), ", ");
        return module.emitError("variant: the model has no symbolic size '")
               << entry.getKey() << "'; it has " << (known.empty() ? "none" : known);
      }
      auto minimum = static_cast<int64_t>(found->getMin()), maximum = static_cast<int64_t>(found->getMax());
      if (entry.getValue() < minimum || entry.getValue() > maximum)
        return module.emitError("variant: '") << entry.getKey() << "' cannot be " << entry.getValue()
                                              << ": it lies in [" << minimum << ", " << maximum << "]";
      found->setMin(entry.getValue());
      found->setMax(entry.getValue());
    }
    return success();
  }

  LogicalResult fixConditions() {
    for (RequireOp require : llvm::make_early_inc_range(module.getOps<RequireOp>())) {
      Dim left = fixed(require.getLeft()), right = fixed(require.getRight());
      if (left == right) {
        require.erase();
        continue;
      }
      if (left.isConstant() && right.isConstant())
        return module.emitError("variant: ")
               << require.getReason() << ": " << require.getLeft() << " and " << require.getRight()
               << " must be equal, but are " << left << " and " << right;
      auto type = makeTensorType({left, right}, Float32Type::get(module.getContext()));
      require.setSizesAttr(cast<EncodingAttr>(type.getEncoding()));
    }
    return success();
  }

  void fixPositions(SliceOp slice) {
    SmallVector<int64_t> starts(slice.getStartIndices()), limits(slice.getLimitIndices());
    for (auto [dimension, size] : llvm::enumerate(getDims(slice.getOperand().getType()))) {
      // The operand's type may have been rewritten already; then its expression is a constant as well.
      Dim total = fixed(size);
      if (!total.isConstant())
        continue;
      for (int64_t *position : {&starts[dimension], &limits[dimension]})
        if (*position == SliceOp::kEnd)
          *position = total.getConstant();
        else if (*position < 0)
          *position += total.getConstant();
    }
    slice.setStartIndices(starts);
    slice.setLimitIndices(limits);
  }

  Dim fixed(const Dim &dim) const {
    SmallVector<AffineExpr> replacements;
    for (auto [position, name] : llvm::enumerate(dim.getSymbols())) {
      auto value = values.find(name.getValue());
      replacements.push_back(value == values.end() ? getAffineSymbolExpr(position, dim.getContext())
                                                   : getAffineConstantExpr(value->second, dim.getContext()));
    }
    return Dim(dim.getExpression().replaceSymbols(replacements), dim.getSymbols());
  }

  Type fixed(Type type) const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isa_and_nonnull<EncodingAttr>(tensor.getEncoding()))
      return type;
    SmallVector<Dim> dims = llvm::map_to_vector(getDims(type), [&](const Dim &dim) { return fixed(dim); });
    return makeTensorType(dims, tensor.getElementType());
  }

  ModuleOp module;
  llvm::StringMap<int64_t> values;
};

} // namespace

LogicalResult specialize(ModuleOp module, const ShapeVariant &variant) { return Specializer(module, variant).run(); }

} // namespace weft
