//===- ContractionKernel.cpp - Kernels around one dot_general or convolution ----------------------------===//
//
// Output dimensions that matter to one operand alone are its side of a matrix product: the rows those of the one, the
// columns those of the other, among them the innermost. A tile is a square of 64 by 64 outputs. The block goes along
// the contracted dimensions, a slice of both operands in shared memory at a time; each thread adds up a square of four
// by four, or, for f16 and bf16, each warp one of 32 by 32 with the tensor cores. The elementwise rest follows while
// the sums are in registers.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Contraction.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

constexpr int64_t kSide = 64;      // of a tile of outputs
constexpr int64_t kThreadSide = 4; // of what a thread adds up
constexpr int64_t kLeastSide = 8;  // of a product that is worth a tile
constexpr int64_t kPadding = 4;    // elements behind a row of a slice
constexpr int64_t kMatrixPadding = 8;

bool isMultiple(const Dim &dim, int64_t of) { return dim.isConstant() && dim.getConstant() % of == 0; }

/// One side of the product: the output dimensions that matter to one operand alone.
struct Side {
  bool isLhs = false;
  SmallVector<int64_t> dimensions;
  SmallVector<Value> sizes;
  Dim count;
  Value countValue;
  bool isContractedInner = false; // the operand is contiguous along the contracted dimension
  int64_t vector = 1;             // neighbours that are read at once
  LocalMemory slice;
};

/// The tensor cores multiply f16 and bf16 and add in f32.
bool usesMatrixUnits(const Contraction &form) {
  Type lhs = elementType(form.lhs()), rhs = elementType(form.rhs());
  return lhs == rhs && (lhs.isF16() || lhs.isBF16()) && form.wide.isF32();
}

class ContractionKernel {
public:
  ContractionKernel(KernelEmitter &kernel, Contraction form)
      : kernel(kernel), form(std::move(form)), zero(kernel.index(0)), useMatrixUnits(usesMatrixUnits(this->form)) {}

  /// Whether there are rows and columns to make tiles of.
  bool chooseSides() {
    // Packed sums would share bytes of shared memory.
    if (form.groups > 1 || elementsPerByte(form.wide) > 1)
      return false;
    int64_t column = -1;
    for (int64_t i = static_cast<int64_t>(form.dims.size()) - 1; i >= 0 && column < 0; --i)
      if (!isOne(form.dims[i]))
        column = i;
    if (column < 0 || form.inLhs[column] == form.inRhs[column])
      return false;
    columns.isLhs = form.inLhs[column];
    rows.isLhs = !columns.isLhs;
    MLIRContext *context = kernel.builder.getContext();
    batch = rows.count = columns.count = Dim::constant(context, 1);
    for (int64_t i = 0; i < static_cast<int64_t>(form.dims.size()); ++i) {
      if (form.inLhs[i] && form.inRhs[i]) {
        batchDimensions.push_back(i);
        batch = batch * form.dims[i];
        continue;
      }
      Side &side = form.inLhs[i] == columns.isLhs ? columns : rows;
      side.dimensions.push_back(i);
      side.count = side.count * form.dims[i];
    }
    for (const Side *side : {&rows, &columns})
      if (side->count.isConstant() && side->count.getConstant() < kLeastSide)
        return false;
    return true;
  }

  KernelTiles emit() {
    kernel.setThreads(useMatrixUnits ? 128 : 256);
    depth = useMatrixUnits ? 32 : 16;
    Dim contracted = Dim::constant(kernel.builder.getContext(), 1);
    for (const Dim &extent : form.extents) {
      extents.push_back(kernel.size(extent));
      contracted = contracted * extent;
    }
    contractedCount = kernel.size(contracted);
    isWholeDepth = isMultiple(contracted, depth);
    prepareSide(rows);
    prepareSide(columns);
    Dim rowBlocks = rows.count.ceilDiv(kSide), columnBlocks = columns.count.ceilDiv(kSide);
    SmallVector<Value> space;
    for (int64_t dimension : batchDimensions)
      space.push_back(kernel.size(form.dims[dimension]));
    space.push_back(kernel.size(rowBlocks));
    space.push_back(kernel.size(columnBlocks));
    Value steps = kernel.size(contracted.ceilDiv(depth));
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      SmallVector<Value> position = scalars.delinearize(tile, space);
      batchIndices.assign(form.dims.size(), zero);
      for (auto [i, dimension] : llvm::enumerate(batchDimensions))
        batchIndices[dimension] = position[i];
      Value firstColumn = scalars.mulIndex(position.pop_back_val(), kernel.index(kSide));
      Value firstRow = scalars.mulIndex(position.pop_back_val(), kernel.index(kSide));
      SmallVector<Value> initial(useMatrixUnits ? 32 : kThreadSide * kThreadSide, scalars.zero(form.wide));
      auto loop = scf::ForOp::create(kernel.builder, kernel.location, zero, steps, kernel.index(1), initial);
      {
        OpBuilder::InsertionGuard guard(kernel.builder);
        kernel.builder.setInsertionPointToStart(loop.getBody());
        Value start = kernel.scalars().mulIndex(loop.getInductionVar(), kernel.index(depth));
        loadSlice(rows, firstRow, start);
        loadSlice(columns, firstColumn, start);
        kernel.barrier();
        SmallVector<Value> sums(loop.getRegionIterArgs());
        useMatrixUnits ? multiplyMatrices(sums) : multiplyElements(sums);
        kernel.barrier();
        scf::YieldOp::create(kernel.builder, kernel.location, sums);
      }
      SmallVector<Value> sums(loop.getResults());
      useMatrixUnits ? storeMatrices(firstRow, firstColumn, sums) : storeSquare(firstRow, firstColumn, sums);
    });
    return {batch * rowBlocks * columnBlocks, kernel.getMultiprocessors() * (2048 / kernel.getThreads())};
  }

private:
  static bool isOne(const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

  //===------------------------------------------------------------------===//
  // Slices of the operands
  //===------------------------------------------------------------------===//

  Type sliceType(const Side &side) {
    return useMatrixUnits ? elementType(side.isLhs ? form.lhs() : form.rhs()) : form.wide;
  }
  /// Elements from one row of a slice to the next. A row holds the places of one depth or, for the tensor cores, the
  /// depths of one place.
  int64_t stride() const { return useMatrixUnits ? depth + kMatrixPadding : kSide + kPadding; }

  void prepareSide(Side &side) {
    for (int64_t dimension : side.dimensions)
      side.sizes.push_back(kernel.size(form.dims[dimension]));
    side.countValue = kernel.size(side.count);
    side.isContractedInner = side.isLhs ? form.isLhsContractedInner : form.isRhsContractedInner;
    // A vector lies whole in the innermost loop, or is not one.
    Value operand = side.isLhs ? form.lhs() : form.rhs();
    int64_t width = std::min<int64_t>(useMatrixUnits ? 8 : 4, 128 / std::max(storageBits(elementType(operand)), 8u));
    Dim inner = side.isContractedInner ? form.extents.back() : form.dims[side.dimensions.back()];
    side.vector = isMultiple(inner, width) ? width : 1;
    side.slice = kernel.allocateShared(sliceType(side), (useMatrixUnits ? kSide : depth) * stride());
  }

  /// Full indices of place `position + offset` of a side; with vectors both lie in one.
  void setPlace(SmallVectorImpl<Value> &indices, const Side &side, Value position, int64_t offset) {
    ScalarBuilder scalars = kernel.scalars();
    SmallVector<Value> place;
    if (side.vector > 1 && !side.isContractedInner) {
      place = scalars.delinearize(position, side.sizes);
      place.back() = scalars.addIndex(place.back(), kernel.index(offset));
    } else {
      place = scalars.delinearize(scalars.addIndex(position, kernel.index(offset)), side.sizes);
    }
    for (auto [dimension, value] : llvm::zip(side.dimensions, place))
      indices[dimension] = value;
  }
  SmallVector<Value> contractedIndices(const Side &side, Value position, int64_t offset) {
    ScalarBuilder scalars = kernel.scalars();
    if (side.vector == 1 || !side.isContractedInner)
      return scalars.delinearize(scalars.addIndex(position, kernel.index(offset)), extents);
    SmallVector<Value> contracted = scalars.delinearize(position, extents);
    contracted.back() = scalars.addIndex(contracted.back(), kernel.index(offset));
    return contracted;
  }

  /// The elements of `vector` neighbours, the first at these positions.
  SmallVector<Value> elementsAt(const Side &side, Value place, Value contracted) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < side.vector; ++i) {
      SmallVector<Value> indices(batchIndices);
      setPlace(indices, side, place, side.isContractedInner ? 0 : i);
      SmallVector<Value> at = contractedIndices(side, contracted, side.isContractedInner ? i : 0);
      elements.push_back(side.isLhs ? form.lhsElement(kernel, indices, at, {}, useMatrixUnits)
                                    : form.rhsElement(kernel, indices, at, useMatrixUnits));
    }
    return elements;
  }

  void loadSlice(const Side &side, Value firstPlace, Value firstDepth) {
    int64_t threads = kernel.getThreads(), units = kSide * depth / side.vector;
    // Neighbouring threads read neighbouring elements.
    int64_t inner = (side.isContractedInner ? depth : kSide) / side.vector;
    SmallVector<SmallVector<Value>> loaded;
    SmallVector<std::pair<Value, Value>> places;
    for (int64_t unit = 0; unit < units; unit += threads) {
      ScalarBuilder scalars = kernel.scalars();
      Value number = scalars.addIndex(kernel.getThread(), kernel.index(unit));
      Value along = scalars.mulIndex(scalars.remIndex(number, kernel.index(inner)), kernel.index(side.vector));
      Value across = scalars.divIndex(number, kernel.index(inner));
      Value place = side.isContractedInner ? across : along, deep = side.isContractedInner ? along : across;
      places.push_back({place, deep});
      Value position = scalars.addIndex(firstPlace, place), contracted = scalars.addIndex(firstDepth, deep);
      // Places past the end repeat the last; what they give is not stored.
      if (!isMultiple(side.count, kSide)) {
        int64_t step = side.isContractedInner ? 1 : side.vector;
        position = scalars.minIndex(position, scalars.subIndex(side.countValue, kernel.index(step)));
      }
      if (isWholeDepth) {
        loaded.push_back(elementsAt(side, position, contracted));
        continue;
      }
      // Past the contracted dimensions there is zero.
      SmallVector<Type> types(side.vector, scalarType(sliceType(side)));
      auto branch = scf::IfOp::create(kernel.builder, kernel.location, types,
                                      scalars.lessThan(contracted, contractedCount), /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(kernel.builder);
      kernel.builder.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(kernel.builder, kernel.location, elementsAt(side, position, contracted));
      kernel.builder.setInsertionPointToStart(branch.elseBlock());
      SmallVector<Value> zeros(side.vector, kernel.scalars().zero(sliceType(side)));
      scf::YieldOp::create(kernel.builder, kernel.location, zeros);
      loaded.push_back(SmallVector<Value>(branch.getResults()));
    }
    for (auto [where, elements] : llvm::zip(places, loaded))
      for (auto [i, element] : llvm::enumerate(elements)) {
        ScalarBuilder scalars = kernel.scalars();
        Value offset = kernel.index(i);
        Value place = side.isContractedInner ? where.first : scalars.addIndex(where.first, offset);
        Value deep = side.isContractedInner ? scalars.addIndex(where.second, offset) : where.second;
        Value row = useMatrixUnits ? place : deep, column = useMatrixUnits ? deep : place;
        kernel.store(side.slice, scalars.addIndex(scalars.mulIndex(row, kernel.index(stride())), column), element);
      }
  }

  //===------------------------------------------------------------------===//
  // Sums of a thread
  //===------------------------------------------------------------------===//

  Value threadRow() {
    return kernel.scalars().mulIndex(kernel.scalars().divIndex(kernel.getThread(), kernel.index(kSide / kThreadSide)),
                                     kernel.index(kThreadSide));
  }
  Value threadColumn() {
    return kernel.scalars().mulIndex(kernel.scalars().remIndex(kernel.getThread(), kernel.index(kSide / kThreadSide)),
                                     kernel.index(kThreadSide));
  }

  void multiplyElements(SmallVectorImpl<Value> &sums) {
    ScalarBuilder scalars = kernel.scalars();
    Value row = threadRow(), column = threadColumn();
    for (int64_t deep = 0; deep < depth; ++deep) {
      SmallVector<Value> left, right;
      Value base = kernel.index(deep * stride());
      for (int64_t i = 0; i < kThreadSide; ++i) {
        left.push_back(kernel.load(rows.slice, scalars.addIndex(scalars.addIndex(row, base), kernel.index(i))));
        right.push_back(kernel.load(columns.slice, scalars.addIndex(scalars.addIndex(column, base), kernel.index(i))));
      }
      for (int64_t i = 0; i < kThreadSide; ++i)
        for (int64_t j = 0; j < kThreadSide; ++j) {
          Value &sum = sums[i * kThreadSide + j];
          // The order of a contraction is free, and so is its rounding.
          if (isa<FloatType>(form.wide))
            sum = math::FmaOp::create(kernel.builder, kernel.location, left[i], right[j], sum);
          else
            sum = scalars.add(form.wide, sum, scalars.multiply(form.wide, left[i], right[j]));
        }
    }
  }

  void storeSquare(Value firstRow, Value firstColumn, ArrayRef<Value> sums) {
    Value row = kernel.scalars().addIndex(firstRow, threadRow());
    Value column = kernel.scalars().addIndex(firstColumn, threadColumn());
    for (int64_t i = 0; i < kThreadSide; ++i)
      storeLine(kernel.scalars().addIndex(row, kernel.index(i)), column, sums.slice(i * kThreadSide, kThreadSide));
  }

  /// Stores the results for neighbouring sums of one row.
  void storeLine(Value row, Value column, ArrayRef<Value> sums) {
    ScalarBuilder scalars = kernel.scalars();
    int64_t count = sums.size();
    bool isVector = isMultiple(form.dims[columns.dimensions.back()], count);
    Value inside = isMultiple(rows.count, kSide) ? Value() : scalars.lessThan(row, rows.countValue);
    if (isVector) {
      if (!isMultiple(columns.count, kSide))
        inside = scalars.both(inside, scalars.lessThan(column, columns.countValue));
      return whereInside(inside, [&] { storeNeighbours(row, column, sums); });
    }
    for (int64_t i = 0; i < count; ++i) {
      Value at = scalars.addIndex(column, kernel.index(i));
      whereInside(scalars.both(inside, scalars.lessThan(at, columns.countValue)),
                  [&] { storeNeighbours(row, at, sums.slice(i, 1)); });
    }
  }

  void storeNeighbours(Value row, Value column, ArrayRef<Value> sums) {
    Value result = form.op->getResult(0);
    ScalarBuilder scalars = kernel.scalars();
    SmallVector<Value> rowPlace = scalars.delinearize(row, rows.sizes);
    SmallVector<Value> columnPlace = scalars.delinearize(column, columns.sizes);
    SmallVector<SmallVector<Value>> places, elements;
    for (size_t i = 0; i < sums.size(); ++i) {
      SmallVector<Value> indices(batchIndices);
      for (auto [dimension, value] : llvm::zip(rows.dimensions, rowPlace))
        indices[dimension] = value;
      for (auto [dimension, value] : llvm::zip(columns.dimensions, columnPlace))
        indices[dimension] = value;
      Value &last = indices[columns.dimensions.back()];
      last = kernel.scalars().addIndex(last, kernel.index(i));
      kernel.define(result, indices, kernel.scalars().convert(sums[i], form.wide, elementType(result)));
      elements.emplace_back();
      for (Value yielded : kernel.results())
        elements.back().push_back(kernel.get(yielded, indices));
      places.push_back(std::move(indices));
    }
    for (size_t number = 0; number < kernel.results().size(); ++number)
      for (size_t i = 0; i < sums.size(); ++i)
        kernel.store(number, places[i], elements[i][number]);
  }

  void whereInside(Value condition, function_ref<void()> body) {
    if (condition)
      kernel.branch(condition, body);
    else
      body();
  }

  //===------------------------------------------------------------------===//
  // Sums of a warp: m16n8k16, two products down and four across
  //===------------------------------------------------------------------===//

  /// The thread's part of a fragment: which group of four threads it is in, and which of the four it is.
  Value quad() { return kernel.scalars().divIndex(inWarp(), kernel.index(4)); }
  Value inQuad() { return kernel.scalars().remIndex(inWarp(), kernel.index(4)); }
  Value inWarp() { return kernel.scalars().remIndex(kernel.getThread(), kernel.index(kWarp)); }
  Value warpRow() {
    Value warp = kernel.scalars().divIndex(kernel.getThread(), kernel.index(kWarp));
    return kernel.scalars().mulIndex(kernel.scalars().divIndex(warp, kernel.index(2)), kernel.index(32));
  }
  Value warpColumn() {
    Value warp = kernel.scalars().divIndex(kernel.getThread(), kernel.index(kWarp));
    return kernel.scalars().mulIndex(kernel.scalars().remIndex(warp, kernel.index(2)), kernel.index(32));
  }

  /// Two neighbouring depths of a place, as a register.
  Value loadPair(const Side &side, Value place, int64_t deep) {
    ScalarBuilder scalars = kernel.scalars();
    LocalMemory words = {side.slice.pointer, kernel.builder.getI32Type(), side.slice.scope};
    Value offset = scalars.addIndex(inQuad(), kernel.index(deep / 2));
    Value word = kernel.load(words, scalars.addIndex(scalars.mulIndex(place, kernel.index(stride() / 2)), offset));
    if (!sliceType(side).isF16())
      return word;
    return LLVM::BitcastOp::create(kernel.builder, kernel.location, VectorType::get(2, kernel.builder.getF16Type()),
                                   word);
  }

  void multiplyMatrices(SmallVectorImpl<Value> &sums) {
    OpBuilder &builder = kernel.builder;
    ScalarBuilder scalars = kernel.scalars();
    Type f32 = builder.getF32Type();
    auto struct4 = LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
    NVVM::MMATypes type = sliceType(rows).isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    for (int64_t deep = 0; deep < depth; deep += 16) {
      SmallVector<SmallVector<Value>> left, right;
      for (int64_t i = 0; i < 2; ++i) {
        Value place = scalars.addIndex(scalars.addIndex(warpRow(), quad()), kernel.index(16 * i));
        Value below = scalars.addIndex(place, kernel.index(8));
        left.push_back({loadPair(rows, place, deep), loadPair(rows, below, deep), loadPair(rows, place, deep + 8),
                        loadPair(rows, below, deep + 8)});
      }
      for (int64_t j = 0; j < 4; ++j) {
        Value place = scalars.addIndex(scalars.addIndex(warpColumn(), quad()), kernel.index(8 * j));
        right.push_back({loadPair(columns, place, deep), loadPair(columns, place, deep + 8)});
      }
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 4; ++j) {
          MutableArrayRef<Value> sum = MutableArrayRef<Value>(sums).slice((i * 4 + j) * 4, 4);
          Value product = NVVM::MmaOp::create(
              builder, kernel.location, struct4, left[i], right[j], ArrayRef<Value>(sum), ArrayRef<int64_t>{16, 8, 16},
              std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
              std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
          for (int64_t part = 0; part < 4; ++part)
            sum[part] = LLVM::ExtractValueOp::create(builder, kernel.location, product, part);
        }
    }
  }

  void storeMatrices(Value firstRow, Value firstColumn, ArrayRef<Value> sums) {
    ScalarBuilder scalars = kernel.scalars();
    Value row = scalars.addIndex(firstRow, scalars.addIndex(warpRow(), quad()));
    Value column =
        scalars.addIndex(scalars.addIndex(firstColumn, warpColumn()), scalars.mulIndex(inQuad(), kernel.index(2)));
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        ArrayRef<Value> sum = sums.slice((i * 4 + j) * 4, 4);
        Value at = scalars.addIndex(column, kernel.index(8 * j));
        storeLine(scalars.addIndex(row, kernel.index(16 * i)), at, sum.take_front(2));
        storeLine(scalars.addIndex(row, kernel.index(16 * i + 8)), at, sum.drop_front(2));
      }
  }

  KernelEmitter &kernel;
  Contraction form;
  Value zero, contractedCount;
  Side rows, columns;
  SmallVector<int64_t> batchDimensions;
  SmallVector<Value> extents, batchIndices;
  Dim batch;
  int64_t depth = 16; // of a slice
  bool isWholeDepth = false, useMatrixUnits;
};

} // namespace

bool isContractionKernel(KernelEmitter &kernel) {
  std::optional<Contraction> form = findContraction(kernel.body(), kernel.results());
  return form && ContractionKernel(kernel, *form).chooseSides();
}

FailureOr<KernelTiles> emitContractionKernel(KernelEmitter &kernel) {
  ContractionKernel contraction(kernel, *findContraction(kernel.body(), kernel.results()));
  if (!contraction.chooseSides())
    return failure();
  return contraction.emit();
}

} // namespace weft::codegen::gpu
