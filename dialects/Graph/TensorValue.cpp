//===- TensorValue.cpp - A tensor in host memory, for folding and the interpreter -----------------===//

#include "dialects/Graph/TensorValue.h"
#include "dialects/Graph/NarrowFloat.h"
#include "dialects/Graph/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

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
  // Whole 64-byte lines, as the buffers of a kernel are. calloc gives a large tensor untouched zero pages.
  size_t size = (getByteSize() + 63) / 64 * 64 + 64;
  void *data = std::calloc(size, 1);
  if (!data)
    llvm::report_bad_alloc_error("tensor value");
  bytes = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(data) + 63) & ~uintptr_t(63));
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
    } else if (!raw.empty()) {
      std::memcpy(target, raw.data(), raw.size());
    }
    return value;
  }
  int64_t index = 0;
  if (isFloatElement(type.getElementType())) {
    for (const APFloat &element : attribute.getValues<APFloat>())
      value.setFloat(index++, toDouble(element));
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
  if (bits >= 8 && !isBoolElement(elementType)) {
    // One value repeated is stored once: every element equals the one before it.
    size_t size = getByteSize(), element = bits / 8;
    bool isSplat = size > element && std::memcmp(dataAs<char>(), dataAs<char>() + element, size - element) == 0;
    return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(dataAs<char>(), isSplat ? element : size));
  }
  if (isFloatElement(elementType)) {
    const llvm::fltSemantics &semantics = cast<FloatType>(elementType).getFloatSemantics();
    SmallVector<APFloat> floats;
    for (int64_t i = 0; i < elementCount; ++i)
      floats.push_back(roundTo(getFloat(i), semantics));
    return DenseElementsAttr::get(type, floats);
  }
  SmallVector<APInt> elements;
  unsigned width = isBoolElement(elementType) ? 1 : bits;
  for (int64_t i = 0; i < elementCount; ++i)
    elements.push_back(APInt(width, static_cast<uint64_t>(getInteger(i)), /*isSigned=*/false, /*implicitTrunc=*/true));
  return DenseElementsAttr::get(type, elements);
}

namespace {

/// Copies with conversion by the type of the storage; packed and narrow float types are left to the caller.
template <typename Stored, typename Value> void convertAll(const void *from, int64_t begin, MutableArrayRef<Value> to) {
  const Stored *elements = static_cast<const Stored *>(from) + begin;
  for (size_t i = 0, end = to.size(); i < end; ++i)
    to[i] = static_cast<Value>(elements[i]);
}

template <typename Stored, typename Value> void storeAll(ArrayRef<Value> from, void *to, int64_t begin) {
  Stored *elements = static_cast<Stored *>(to) + begin;
  for (size_t i = 0, end = from.size(); i < end; ++i)
    elements[i] = static_cast<Stored>(from[i]);
}

/// Integers truncate; NaN is 0 and values outside the range the nearest limit.
int64_t saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

} // namespace

void TensorValue::read(int64_t begin, MutableArrayRef<double> values) const {
  if (elementType.isF32())
    return convertAll<float>(bytes, begin, values);
  if (elementType.isF64())
    return convertAll<double>(bytes, begin, values);
  if (isFloatElement(elementType)) {
    if (unsigned bits = storageBits(elementType); bits <= 8) {
      const llvm::fltSemantics &semantics = cast<FloatType>(elementType).getFloatSemantics();
      for (size_t i = 0; i < values.size(); ++i) {
        uint64_t index = static_cast<uint64_t>(begin) + i;
        unsigned raw = dataAs<uint8_t>()[index * bits / 8] >> (index * bits % 8);
        values[i] = decodeWithSemantics(static_cast<uint8_t>(raw & ((1u << bits) - 1)), semantics);
      }
      return;
    }
    const uint16_t *elements = dataAs<uint16_t>() + begin;
    bool isBFloat = elementType.isBF16();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = isBFloat ? decodeBFloat16(elements[i]) : decodeFloat16(elements[i]);
    return;
  }
  bool isUnsigned = isUnsignedElement(elementType) || isBoolElement(elementType);
  switch (storageBits(elementType)) {
  case 64:
    return isUnsigned ? convertAll<uint64_t>(bytes, begin, values) : convertAll<int64_t>(bytes, begin, values);
  case 32:
    return isUnsigned ? convertAll<uint32_t>(bytes, begin, values) : convertAll<int32_t>(bytes, begin, values);
  case 16:
    return isUnsigned ? convertAll<uint16_t>(bytes, begin, values) : convertAll<int16_t>(bytes, begin, values);
  case 8:
    return isUnsigned ? convertAll<uint8_t>(bytes, begin, values) : convertAll<int8_t>(bytes, begin, values);
  default:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(getInteger(begin + static_cast<int64_t>(i)));
  }
}

void TensorValue::read(int64_t begin, MutableArrayRef<int64_t> values) const {
  if (isFloatElement(elementType)) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = saturate(getFloat(begin + static_cast<int64_t>(i)));
    return;
  }
  bool isUnsigned = isUnsignedElement(elementType) || isBoolElement(elementType);
  switch (unsigned bits = storageBits(elementType)) {
  case 64:
    return convertAll<int64_t>(bytes, begin, values);
  case 32:
    return isUnsigned ? convertAll<uint32_t>(bytes, begin, values) : convertAll<int32_t>(bytes, begin, values);
  case 16:
    return isUnsigned ? convertAll<uint16_t>(bytes, begin, values) : convertAll<int16_t>(bytes, begin, values);
  case 8:
    return isUnsigned ? convertAll<uint8_t>(bytes, begin, values) : convertAll<int8_t>(bytes, begin, values);
  default:
    unsigned perByte = 8 / bits, mask = (1u << bits) - 1;
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t index = static_cast<uint64_t>(begin) + i;
      unsigned raw = dataAs<uint8_t>()[index / perByte] >> (index % perByte * bits) & mask;
      values[i] = isUnsigned ? raw : llvm::SignExtend64(raw, bits);
    }
  }
}

void TensorValue::write(int64_t begin, ArrayRef<double> values) {
  if (elementType.isF32())
    return storeAll<float>(values, getMutableData(), begin);
  if (elementType.isF64())
    return storeAll<double>(values, getMutableData(), begin);
  if (!isFloatElement(elementType)) {
    for (size_t i = 0; i < values.size(); ++i)
      setInteger(begin + static_cast<int64_t>(i), isBoolElement(elementType) ? values[i] != 0 : saturate(values[i]));
    return;
  }
  if (unsigned bits = storageBits(elementType); bits <= 8) {
    const llvm::fltSemantics &semantics = cast<FloatType>(elementType).getFloatSemantics();
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t index = static_cast<uint64_t>(begin) + i;
      unsigned shift = static_cast<unsigned>(index * bits % 8), mask = ((1u << bits) - 1) << shift;
      uint8_t &byte = mutableDataAs<uint8_t>()[index * bits / 8];
      byte = static_cast<uint8_t>((byte & ~mask) | (encodeWithSemantics(values[i], semantics) << shift & mask));
    }
    return;
  }
  uint16_t *elements = mutableDataAs<uint16_t>() + begin;
  bool isBFloat = elementType.isBF16();
  for (size_t i = 0; i < values.size(); ++i)
    elements[i] = isBFloat ? encodeBFloat16(values[i]) : encodeFloat16(values[i]);
}

void TensorValue::write(int64_t begin, ArrayRef<int64_t> values) {
  if (isFloatElement(elementType)) {
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t index = begin + static_cast<int64_t>(i);
      // A direct conversion rounds once; for the narrower types odd rounding keeps the second one harmless.
      if (elementType.isF32())
        mutableDataAs<float>()[index] = static_cast<float>(values[i]);
      else if (elementType.isF64())
        mutableDataAs<double>()[index] = static_cast<double>(values[i]);
      else
        setFloat(index, roundToOdd(values[i], /*isUnsigned=*/false));
    }
    return;
  }
  if (isBoolElement(elementType)) {
    for (size_t i = 0; i < values.size(); ++i)
      mutableDataAs<uint8_t>()[begin + i] = values[i] != 0;
    return;
  }
  switch (unsigned bits = storageBits(elementType)) {
  case 64:
    return storeAll<int64_t>(values, getMutableData(), begin);
  case 32:
    return storeAll<int32_t>(values, getMutableData(), begin);
  case 16:
    return storeAll<int16_t>(values, getMutableData(), begin);
  case 8:
    return storeAll<int8_t>(values, getMutableData(), begin);
  default:
    unsigned perByte = 8 / bits;
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t index = static_cast<uint64_t>(begin) + i;
      unsigned shift = static_cast<unsigned>(index % perByte * bits), mask = ((1u << bits) - 1) << shift;
      uint8_t &byte = mutableDataAs<uint8_t>()[index / perByte];
      byte = static_cast<uint8_t>((byte & ~mask) | (static_cast<unsigned>(values[i]) << shift & mask));
    }
  }
}

double TensorValue::getFloat(int64_t index) const {
  double value;
  read(index, MutableArrayRef<double>(value));
  return value;
}

int64_t TensorValue::getInteger(int64_t index) const {
  int64_t value;
  read(index, MutableArrayRef<int64_t>(value));
  return value;
}

void TensorValue::setFloat(int64_t index, double value) { write(index, ArrayRef<double>(value)); }
void TensorValue::setInteger(int64_t index, int64_t value) { write(index, ArrayRef<int64_t>(value)); }

TensorValue TensorValue::reshaped(ArrayRef<int64_t> sizes) const {
  TensorValue result = *this;
  result.shape.assign(sizes.begin(), sizes.end());
  return result;
}

TensorValue TensorValue::bitcast(Type type) const {
  TensorValue result = *this;
  result.elementType = type;
  return result;
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

} // namespace weft::graph
