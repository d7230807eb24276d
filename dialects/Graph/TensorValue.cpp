//===- TensorValue.cpp - A tensor in host memory, for folding and the interpreter -----------------===//

#include "dialects/Graph/TensorValue.h"
#include "dialects/Graph/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace weft::graph {

static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

TensorValue::TensorValue(Type type, ArrayRef<int64_t> sizes)
    : elementType(type), shape(sizes), elementCount(countElements(sizes)) {
  // Rounded up to whole 64-byte lines, as the buffers of a kernel are.
  size_t size = (getByteSize() + 63) / 64 * 64;
  void *data = std::aligned_alloc(64, size ? size : 64);
  if (!data)
    llvm::report_bad_alloc_error("tensor value");
  std::memset(data, 0, size ? size : 64);
  bytes = data;
  owner = std::shared_ptr<const void>(data, [](const void *pointer) { std::free(const_cast<void *>(pointer)); });
}

TensorValue::TensorValue(Type type, ArrayRef<int64_t> sizes, const void *data, std::shared_ptr<const void> keeper)
    : elementType(type), shape(sizes), elementCount(countElements(sizes)), bytes(data), owner(std::move(keeper)) {}

size_t TensorValue::getByteSize() const { return (elementCount * storageBits(elementType) + 7) / 8; }

TensorValue TensorValue::fromAttribute(ElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getType());
  TensorValue value(type.getElementType(), type.getShape());
  unsigned bits = storageBits(type.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute);
      dense && bits >= 8 && !isBoolElement(type.getElementType())) {
    ArrayRef<char> raw = dense.getRawData();
    char *target = value.mutableDataAs<char>();
    if (dense.isSplat()) {
      for (int64_t i = 0; i < value.elementCount; ++i)
        std::memcpy(target + i * (bits / 8), raw.data(), bits / 8);
    } else {
      std::memcpy(target, raw.data(), raw.size());
    }
    return value;
  }
  int64_t index = 0;
  if (isFloatElement(type.getElementType())) {
    for (const APFloat &element : attribute.getValues<APFloat>()) {
      APFloat wide = element;
      bool lost;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      value.setFloat(index++, wide.convertToDouble());
    }
  } else {
    for (const APInt &element : attribute.getValues<APInt>())
      value.setInteger(index++, element.getBitWidth() == 1 || isUnsignedElement(type.getElementType())
                                    ? static_cast<int64_t>(element.getZExtValue())
                                    : element.getSExtValue());
  }
  return value;
}

DenseElementsAttr TensorValue::toAttribute(RankedTensorType type) const {
  unsigned bits = storageBits(elementType);
  if (bits >= 8 && !isBoolElement(elementType))
    return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(dataAs<char>(), getByteSize()));
  SmallVector<APInt> elements;
  unsigned width = isBoolElement(elementType) ? 1 : bits;
  for (int64_t i = 0; i < elementCount; ++i)
    elements.push_back(APInt(width, static_cast<uint64_t>(getInteger(i)), /*isSigned=*/false, /*implicitTrunc=*/true));
  return DenseElementsAttr::get(type, elements);
}

double TensorValue::getFloat(int64_t index) const {
  if (elementType.isF32())
    return dataAs<float>()[index];
  if (elementType.isF64())
    return dataAs<double>()[index];
  if (!isFloatElement(elementType))
    return isUnsignedElement(elementType) ? static_cast<double>(static_cast<uint64_t>(getInteger(index)))
                                          : static_cast<double>(getInteger(index));
  unsigned width = elementType.getIntOrFloatBitWidth();
  uint64_t bits = width == 16 ? dataAs<uint16_t>()[index] : dataAs<uint8_t>()[index];
  APFloat value(cast<FloatType>(elementType).getFloatSemantics(), APInt(width, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

int64_t TensorValue::getInteger(int64_t index) const {
  if (isFloatElement(elementType))
    return static_cast<int64_t>(getFloat(index));
  bool isUnsigned = isUnsignedElement(elementType);
  switch (storageBits(elementType)) {
  case 64:
    return dataAs<int64_t>()[index];
  case 32:
    return isUnsigned ? static_cast<int64_t>(dataAs<uint32_t>()[index]) : dataAs<int32_t>()[index];
  case 16:
    return isUnsigned ? static_cast<int64_t>(dataAs<uint16_t>()[index]) : dataAs<int16_t>()[index];
  case 8:
    return isUnsigned || isBoolElement(elementType) ? static_cast<int64_t>(dataAs<uint8_t>()[index])
                                                    : dataAs<int8_t>()[index];
  default: {
    unsigned bits = storageBits(elementType), perByte = 8 / bits;
    unsigned raw = (dataAs<uint8_t>()[index / perByte] >> (index % perByte * bits)) & ((1u << bits) - 1);
    return isUnsigned ? raw : llvm::SignExtend64(raw, bits);
  }
  }
}

void TensorValue::setFloat(int64_t index, double value) {
  if (elementType.isF32()) {
    mutableDataAs<float>()[index] = static_cast<float>(value);
    return;
  }
  if (elementType.isF64()) {
    mutableDataAs<double>()[index] = value;
    return;
  }
  APFloat rounded(value);
  bool lost;
  rounded.convert(cast<FloatType>(elementType).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
  if (elementType.getIntOrFloatBitWidth() == 16)
    mutableDataAs<uint16_t>()[index] = static_cast<uint16_t>(bits);
  else
    mutableDataAs<uint8_t>()[index] = static_cast<uint8_t>(bits);
}

void TensorValue::setInteger(int64_t index, int64_t value) {
  if (isFloatElement(elementType)) {
    setFloat(index, static_cast<double>(value));
    return;
  }
  switch (storageBits(elementType)) {
  case 64:
    mutableDataAs<int64_t>()[index] = value;
    return;
  case 32:
    mutableDataAs<int32_t>()[index] = static_cast<int32_t>(value);
    return;
  case 16:
    mutableDataAs<int16_t>()[index] = static_cast<int16_t>(value);
    return;
  case 8:
    mutableDataAs<int8_t>()[index] = isBoolElement(elementType) ? value & 1 : static_cast<int8_t>(value);
    return;
  default: {
    unsigned bits = storageBits(elementType), perByte = 8 / bits, shift = index % perByte * bits;
    unsigned mask = ((1u << bits) - 1) << shift;
    uint8_t &byte = mutableDataAs<uint8_t>()[index / perByte];
    byte = static_cast<uint8_t>((byte & ~mask) | ((static_cast<unsigned>(value) << shift) & mask));
  }
  }
}

TensorValue TensorValue::reshaped(ArrayRef<int64_t> sizes) const {
  TensorValue result = *this;
  result.shape.assign(sizes.begin(), sizes.end());
  return result;
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

} // namespace weft::graph
