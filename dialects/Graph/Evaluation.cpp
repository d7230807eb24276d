//===- Evaluation.cpp - What the reference evaluation of the op families shares -------------------===//

#include "dialects/Graph/Evaluation.h"
#include "dialects/Graph/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <cmath>

using namespace mlir;

namespace weft::graph {

void parallelFor(int64_t count, int64_t minimum, llvm::function_ref<void(int64_t, int64_t)> body) {
  // Up to 64 parts, so that a slow part does not hold up the others.
  int64_t part = std::max((count + 63) / 64, minimum);
  part = (part + minimum - 1) / minimum * minimum;
  int64_t parts = part ? (count + part - 1) / part : 0;
  if (parts <= 1) {
    if (count > 0)
      body(0, count);
    return;
  }
  llvm::parallelFor(0, parts, [&](size_t index) {
    int64_t begin = static_cast<int64_t>(index) * part;
    body(begin, std::min(begin + part, count));
  });
}

TensorValue unpack(const TensorValue &value) {
  Type type = value.getElementType();
  if (storageBits(type) >= 8)
    return value;
  if (isFloatElement(type))
    return unpack(value.bitcast(IntegerType::get(type.getContext(), storageBits(type), IntegerType::Unsigned)));
  return pack(value, unpackedType(type));
}

Type unpackedType(Type type) {
  if (storageBits(type) >= 8)
    return type;
  auto integer = dyn_cast<IntegerType>(type);
  return IntegerType::get(type.getContext(), 8, integer ? integer.getSignedness() : IntegerType::Unsigned);
}

TensorValue pack(const TensorValue &value, Type elementType) {
  if (value.getElementType() == elementType)
    return value;
  if (isFloatElement(elementType)) {
    auto bits = IntegerType::get(elementType.getContext(), storageBits(elementType), IntegerType::Unsigned);
    return pack(value, bits).bitcast(elementType);
  }
  TensorValue result(elementType, value.getShape());
  int64_t count = value.getElementCount();
  parallelFor((count + kBlock - 1) / kBlock, kParallelElements / kBlock, [&](int64_t begin, int64_t end) {
    int64_t buffer[kBlock];
    for (int64_t at = begin * kBlock; at < std::min(end * kBlock, count); at += kBlock) {
      MutableArrayRef<int64_t> elements(buffer, std::min(kBlock, count - at));
      value.read(at, elements);
      result.write(at, elements);
    }
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Strided copy
//===----------------------------------------------------------------------===//

namespace {

struct Loop {
  int64_t size, to, from;
};

template <typename T> void copyPlane(T *to, const T *from, const Loop &outer, const Loop &inner) {
  if (inner.to == 1 && (inner.from == 1 || inner.from == 0)) {
    for (int64_t i = 0; i < outer.size; ++i) {
      const T *source = from + i * outer.from;
      T *target = to + i * outer.to;
      if (inner.from == 1)
        std::copy(source, source + inner.size, target);
      else
        std::fill(target, target + inner.size, *source);
    }
    return;
  }
  // Squares, so that both sides stay in cache whichever of them runs across the lines.
  constexpr int64_t kSquare = 32;
  for (int64_t i0 = 0; i0 < outer.size; i0 += kSquare)
    for (int64_t j0 = 0; j0 < inner.size; j0 += kSquare)
      for (int64_t i = i0, iEnd = std::min(i0 + kSquare, outer.size); i < iEnd; ++i)
        for (int64_t j = j0, jEnd = std::min(j0 + kSquare, inner.size); j < jEnd; ++j)
          to[i * outer.to + j * inner.to] = from[i * outer.from + j * inner.from];
}

template <typename T> void copyLoops(T *to, const T *from, ArrayRef<Loop> loops) {
  if (loops.size() == 2)
    return copyPlane(to, from, loops[0], loops[1]);
  for (int64_t i = 0; i < loops.front().size; ++i)
    copyLoops(to + i * loops.front().to, from + i * loops.front().from, loops.drop_front());
}

template <typename T> void copyParallel(T *to, const T *from, MutableArrayRef<Loop> loops, int64_t count) {
  Loop &outermost = loops.front();
  int64_t perItem = std::max<int64_t>(count / std::max<int64_t>(outermost.size, 1), 1);
  parallelFor(outermost.size, (kParallelElements + perItem - 1) / perItem, [&](int64_t begin, int64_t end) {
    SmallVector<Loop> part(loops);
    part.front().size = end - begin;
    copyLoops(to + begin * part.front().to, from + begin * part.front().from, ArrayRef<Loop>(part));
  });
}

} // namespace

void copyStrided(TensorValue &toTensor, const Strided &to, const TensorValue &fromTensor, const Strided &from,
                 ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  SmallVector<Loop> loops;
  for (auto [size, toStride, fromStride] : llvm::zip_equal(sizes, to.strides, from.strides)) {
    count *= size;
    if (size == 1)
      continue;
    // A loop that goes on where the one before it steps is the same loop.
    if (!loops.empty() && loops.back().to == toStride * size && loops.back().from == fromStride * size)
      loops.back() = {loops.back().size * size, toStride, fromStride};
    else
      loops.push_back({size, toStride, fromStride});
  }
  if (count == 0)
    return;
  // The innermost two loops: the one along the target, and inside the others the one along the source.
  auto smallest = [&](size_t end, int64_t Loop::*stride) {
    size_t best = end - 1;
    for (size_t i = 0; i < end; ++i)
      if (std::abs(loops[i].*stride) < std::abs(loops[best].*stride) && loops[i].*stride != 0)
        best = i;
    return best;
  };
  while (loops.size() < 2)
    loops.insert(loops.begin(), {1, 0, 0});
  std::rotate(loops.begin() + smallest(loops.size(), &Loop::to), loops.begin() + smallest(loops.size(), &Loop::to) + 1,
              loops.end());
  size_t second = smallest(loops.size() - 1, &Loop::from);
  if (std::abs(loops[second].from) < std::abs(loops.back().from))
    std::rotate(loops.begin() + second, loops.begin() + second + 1, loops.end() - 1);
  auto run = [&](auto zero) {
    using T = decltype(zero);
    copyParallel(toTensor.mutableDataAs<T>() + to.offset, fromTensor.dataAs<T>() + from.offset,
                 MutableArrayRef<Loop>(loops), count);
  };
  switch (storageBits(toTensor.getElementType())) {
  case 64:
    return run(uint64_t(0));
  case 32:
    return run(uint32_t(0));
  case 16:
    return run(uint16_t(0));
  default:
    return run(uint8_t(0));
  }
}

void forEachIndex(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  if (llvm::is_contained(sizes, 0))
    return;
  SmallVector<int64_t> index(sizes.size(), 0);
  while (true) {
    body(index);
    int64_t dimension = static_cast<int64_t>(sizes.size()) - 1;
    for (; dimension >= 0 && ++index[dimension] == sizes[dimension]; --dimension)
      index[dimension] = 0;
    if (dimension < 0)
      return;
  }
}

double maximumOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double minimumOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? a : b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

} // namespace weft::graph
