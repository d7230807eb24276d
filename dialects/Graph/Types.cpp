//===- Types.cpp - Element types and tensor types of the Graph dialect ---------------------------===//

#include "dialects/Graph/Types.h"
#include "dialects/Graph/GraphDialect.h"

using namespace mlir;

namespace weft::graph {

bool isFloatElement(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
             Float8E5M2FNUZType, Float8E8M0FNUType, Float4E2M1FNType>(type);
}

bool isIntegerElement(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  unsigned width = integer.getWidth();
  return width == 2 || width == 4 || width == 8 || width == 16 || width == 32 || width == 64;
}

bool isBoolElement(Type type) { return type.isSignlessInteger(1); }
bool isUnsignedElement(Type type) { return type.isUnsignedInteger(); }

unsigned storageBits(Type elementType) { return isBoolElement(elementType) ? 8 : elementType.getIntOrFloatBitWidth(); }

Type scalarType(Type elementType) {
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

Type accumulationType(Type elementType) {
  if (isFloatElement(elementType) && elementType.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(elementType.getContext());
  return elementType;
}

bool hasNamedSizes(Type tensorType) {
  auto type = cast<RankedTensorType>(tensorType);
  return type.hasStaticShape() || isa_and_nonnull<EncodingAttr>(type.getEncoding());
}

Dim getDim(Type tensorType, unsigned dimension) {
  auto type = cast<RankedTensorType>(tensorType);
  if (!type.isDynamicDim(dimension))
    return Dim::constant(type.getContext(), type.getDimSize(dimension));
  if (auto encoding = dyn_cast_or_null<EncodingAttr>(type.getEncoding()))
    return Dim(encoding.getMap().getResult(dimension), encoding.getSymbols());
  return Dim::symbol(StringAttr::get(type.getContext(), "?"));
}

SmallVector<Dim> getDims(Type tensorType) {
  SmallVector<Dim> dims;
  for (int64_t i = 0, rank = cast<RankedTensorType>(tensorType).getRank(); i < rank; ++i)
    dims.push_back(getDim(tensorType, i));
  return dims;
}

bool hasSymbol(Type tensorType, StringAttr symbol) {
  auto encoding = dyn_cast_or_null<EncodingAttr>(cast<RankedTensorType>(tensorType).getEncoding());
  return encoding && llvm::is_contained(encoding.getSymbols(), symbol);
}

Dim getElementCount(Type tensorType) { return product(getDims(tensorType), tensorType.getContext()); }

RankedTensorType makeTensorType(ArrayRef<Dim> dims, Type elementType) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> symbols;
  for (const Dim &dim : dims) {
    shape.push_back(dim.isConstant() ? dim.getConstant() : ShapedType::kDynamic);
    llvm::append_range(symbols, dim.getSymbols());
  }
  if (symbols.empty())
    return RankedTensorType::get(shape, elementType);
  llvm::sort(symbols, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  symbols.erase(llvm::unique(symbols), symbols.end());
  SmallVector<AffineExpr> expressions;
  for (const Dim &dim : dims) {
    SmallVector<AffineExpr> replacements;
    for (StringAttr name : dim.getSymbols())
      replacements.push_back(getAffineSymbolExpr(llvm::find(symbols, name) - symbols.begin(), dim.getContext()));
    expressions.push_back(dim.getExpression().replaceSymbols(replacements));
  }
  MLIRContext *context = elementType.getContext();
  auto map = AffineMap::get(0, symbols.size(), expressions, context);
  return RankedTensorType::get(shape, elementType, EncodingAttr::get(context, symbols, map));
}

RankedTensorType withElementType(Type tensorType, Type elementType) {
  auto type = cast<RankedTensorType>(tensorType);
  return RankedTensorType::get(type.getShape(), elementType, type.getEncoding());
}

} // namespace weft::graph
