//===- RegionEmitter.cpp - Emits elements of the values in a fusion's region ------------------------===//

#include "lib/Codegen/RegionEmitter.h"
#include "dialects/Graph/DataMovement.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft::codegen {

namespace {

/// The elements of one op's operands.
class OperandSource : public graph::ElementSource {
public:
  OperandSource(RegionEmitter &region, Operation *op)
      : ElementSource(region.builder, region.location), region(region), op(op) {}

  Value get(unsigned operand, ValueRange indices) override { return region.get(op->getOperand(operand), indices); }
  Value size(const graph::Dim &dim) override { return region.size(dim); }
  Value constant(ElementsAttr value, ValueRange indices) override { return region.constant(value, indices); }
  Value reduce(graph::ReductionKind kind, Type elementType, ValueRange extents,
               function_ref<Value(ValueRange)> element) override {
    return region.reduce(kind, elementType, extents, element);
  }

private:
  RegionEmitter &region;
  Operation *op;
};

/// Equal for indices that are the same value or the same constant.
SmallVector<const void *, 4> makeKey(ValueRange indices) {
  SmallVector<const void *, 4> key;
  for (Value index : indices) {
    Attribute constant;
    key.push_back(matchPattern(index, m_Constant(&constant)) ? constant.getAsOpaquePointer()
                                                             : index.getAsOpaquePointer());
  }
  return key;
}

} // namespace

bool areSameIndices(ValueRange lhs, ValueRange rhs) { return makeKey(lhs) == makeKey(rhs); }

bool RegionEmitter::isVisible(Value element) const {
  Block *home = element.getParentBlock();
  for (Block *block = builder.getInsertionBlock(); block;
       block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr)
    if (block == home)
      return true;
  return false;
}

Value RegionEmitter::lookup(Value tensor, ArrayRef<const void *> key) {
  auto found = known.find(tensor);
  if (found == known.end())
    return {};
  // What is not visible any more will not be again.
  llvm::erase_if(found->second, [&](const Entry &entry) { return !isVisible(entry.element); });
  for (const Entry &entry : found->second)
    if (ArrayRef<const void *>(entry.key) == key)
      return entry.element;
  return {};
}

void RegionEmitter::define(Value tensor, ValueRange indices, Value element) {
  known[tensor].push_back({makeKey(indices), element});
}

Value RegionEmitter::get(Value tensor, ValueRange indices) {
  SmallVector<const void *, 4> key = makeKey(indices);
  if (Value element = lookup(tensor, key))
    return element;
  Value element;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    element = loadArgument(argument, indices);
  } else if (Value held = find(tensor, indices)) {
    element = held;
  } else if (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>(); reshape && linear) {
    SmallVector<Value> source(graph::tensorType(reshape.getOperand()).getRank(), scalars().index(0));
    if (!source.empty() && !indices.empty())
      source.back() = indices.back();
    element = get(reshape.getOperand(), source);
  } else {
    Operation *op = tensor.getDefiningOp();
    auto emission = dyn_cast<graph::EmissionInterface>(op);
    if (emission && !failed) {
      OperandSource source(*this, op);
      FailureOr<Value> result = emission.emitElement(source, cast<OpResult>(tensor).getResultNumber(), indices);
      if (succeeded(result))
        element = *result;
    } else if (!emission) {
      op->emitOpError("cannot stand inside a kernel: it has no scalar emission");
    }
    if (!element) {
      failed = true;
      return scalars().zero(graph::elementType(tensor));
    }
    emitted(tensor, indices, element);
  }
  known[tensor].push_back({std::move(key), element});
  return element;
}

Value RegionEmitter::size(const graph::Dim &dim) {
  if (dim.isConstant())
    return scalars().index(dim.getConstant());
  SmallVector<Value> values;
  for (StringAttr name : dim.getSymbols())
    values.push_back(symbol(name));
  return affine::expandAffineExpr(builder, location, dim.getExpression(), {}, values);
}

SmallVector<Value> RegionEmitter::sizes(ArrayRef<graph::Dim> dims) {
  SmallVector<Value> values;
  for (const graph::Dim &dim : dims)
    values.push_back(size(dim));
  return values;
}

} // namespace weft::codegen
