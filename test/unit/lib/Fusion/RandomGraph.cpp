//===- RandomGraph.cpp - Programs made of random ops ---------------------------------------------------------===//

#include "test/unit/lib/Fusion/RandomGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <random>

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

/// The numbers in [from, to).
SmallVector<int64_t> range(int64_t from, int64_t to) {
  SmallVector<int64_t> result;
  for (int64_t i = from; i < to; ++i)
    result.push_back(i);
  return result;
}

class RandomGraph {
public:
  RandomGraph(MLIRContext &context, unsigned seed, bool symbolic)
      : builder(&context), random(seed), f32(builder.getF32Type()) {
    auto constant = [&](int64_t size) { return Dim::constant(&context, size); };
    Dim first = symbolic ? Dim::symbol(builder.getStringAttr("n")) : constant(4);
    shapes = {
        {first, constant(6)}, {first, constant(6)}, {first}, {first, constant(3), constant(6)}, {constant(6)}, {}};
  }

  OwningOpRef<ModuleOp> make(unsigned ops, bool symbolic);

private:
  unsigned below(size_t limit) { return static_cast<unsigned>(random() % limit); }
  Location location() { return NameLoc::get(builder.getStringAttr("node" + std::to_string(++nodes))); }
  RankedTensorType typeOf(ArrayRef<Dim> dims) { return makeTensorType(dims, f32); }

  /// A value seen so far; of f32 and with at least `rank` dimensions. Late ones come more often, so that chains arise.
  Value pick(int64_t rank = 0) {
    for (int attempt = 0; attempt < 64; ++attempt) {
      size_t count = values.size(), index = below(2) ? count - 1 - below(std::min<size_t>(count, 4)) : below(count);
      if (tensorType(values[index]).getRank() >= rank)
        return values[index];
    }
    for (Value value : llvm::reverse(values))
      if (tensorType(value).getRank() >= rank)
        return value;
    return {};
  }
  /// A value of these sizes: one that is there, or a broadcast.
  Value pickOfDims(ArrayRef<Dim> dims) {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (Value value = values[below(values.size())]; getDims(value.getType()) == SmallVector<Dim>(dims))
        return value;
    return below(3) == 0 ? constantOf(dims) : broadcastTo(dims);
  }
  Value constantOf(ArrayRef<Dim> dims) {
    float number = 0.5f + 0.25f * below(8);
    auto scalar = RankedTensorType::get({}, f32);
    Value value = ConstantOp::create(builder, location(), DenseElementsAttr::get(scalar, number));
    return dims.empty() ? value
                        : BroadcastInDimOp::create(builder, location(), typeOf(dims), value, ArrayRef<int64_t>{});
  }
  /// A value whose dimensions are some of these, in order, repeated along the others.
  Value broadcastTo(ArrayRef<Dim> dims) {
    for (int attempt = 0; attempt < 16; ++attempt) {
      Value value = pick();
      SmallVector<int64_t> map;
      int64_t next = 0, rank = static_cast<int64_t>(dims.size());
      for (const Dim &dim : getDims(value.getType())) {
        while (next < rank && dims[next] != dim)
          ++next;
        if (next == rank)
          break;
        map.push_back(next++);
      }
      if (static_cast<int64_t>(map.size()) == tensorType(value).getRank() && map.size() < dims.size())
        return BroadcastInDimOp::create(builder, location(), typeOf(dims), value, map);
    }
    return constantOf(dims);
  }

  void keep(Value value) {
    if (elementType(value) != f32)
      value = ConvertOp::create(builder, location(), typeOf(getDims(value.getType())), value);
    values.push_back(value);
  }
  void addOp(unsigned depth);
  void addUnary();
  void addBinary();
  void addSelect();
  void addMovement();
  void addReduction();
  void addHero();
  void addContraction();
  void addNorm();
  void addIf(unsigned depth);
  void addWhile(unsigned depth);

  OpBuilder builder;
  std::mt19937 random;
  Type f32;
  std::vector<SmallVector<Dim>> shapes;
  std::vector<Value> values;
  unsigned nodes = 0;
};

void RandomGraph::addUnary() {
  Value x = pick();
  switch (below(7)) {
  case 0:
    return keep(NegateOp::create(builder, location(), x));
  case 1:
    return keep(AbsOp::create(builder, location(), x));
  case 2:
    return keep(TanhOp::create(builder, location(), x));
  case 3:
    return keep(LogisticOp::create(builder, location(), x));
  case 4: {
    Value h = ConvertOp::create(builder, location(), withElementType(x.getType(), builder.getF16Type()), x);
    return keep(NegateOp::create(builder, location(), h));
  }
  case 5:
    return keep(FloorOp::create(builder, location(), x));
  default:
    return keep(SineOp::create(builder, location(), x));
  }
}

void RandomGraph::addBinary() {
  Value x = pick(), y = pickOfDims(getDims(x.getType()));
  switch (below(5)) {
  case 0:
    return keep(AddOp::create(builder, location(), x, y));
  case 1:
    return keep(SubtractOp::create(builder, location(), x, y));
  case 2:
    return keep(MultiplyOp::create(builder, location(), x, y));
  case 3:
    return keep(MaximumOp::create(builder, location(), y, x));
  default:
    return keep(MinimumOp::create(builder, location(), x, y));
  }
}

void RandomGraph::addSelect() {
  Value x = pick();
  SmallVector<Dim> dims = getDims(x.getType());
  Value y = pickOfDims(dims), z = pickOfDims(dims);
  Value less = CompareOp::create(builder, location(), ComparisonDirection::LT, x, y);
  keep(SelectOp::create(builder, location(), less, z, x));
}

void RandomGraph::addMovement() {
  Value x = pick(1);
  RankedTensorType type = tensorType(x);
  SmallVector<Dim> dims = getDims(type);
  int64_t rank = type.getRank();
  switch (below(6)) {
  case 0: {
    SmallVector<int64_t> permutation = range(0, rank);
    std::shuffle(permutation.begin(), permutation.end(), random);
    return keep(TransposeOp::create(builder, location(), x, permutation));
  }
  case 1: {
    SmallVector<int64_t> dimensions{static_cast<int64_t>(below(rank))};
    return keep(ReverseOp::create(builder, location(), x, dimensions));
  }
  case 2: {
    // Two halves, the other way round.
    int64_t last = rank - 1, size = type.getDimSize(last);
    if (ShapedType::isDynamic(size) || size < 2)
      return addUnary();
    SmallVector<int64_t> starts(rank, 0), limits(rank, SliceOp::kEnd), strides(rank, 1);
    for (int64_t i = 0; i < rank; ++i)
      if (!type.isDynamicDim(i))
        limits[i] = type.getDimSize(i);
    limits[last] = size / 2;
    Value left = SliceOp::create(builder, location(), x, starts, limits, strides);
    starts[last] = size / 2;
    limits[last] = size;
    Value right = SliceOp::create(builder, location(), x, starts, limits, strides);
    return keep(ConcatenateOp::create(builder, location(), ValueRange{right, left}, last));
  }
  case 3: {
    Value zero = constantOf({});
    SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
    low[rank - 1] = 1;
    high[rank - 1] = -1;
    if (type.isDynamicDim(rank - 1))
      return addUnary();
    return keep(PadOp::create(builder, location(), x, zero, low, high, interior));
  }
  case 4: {
    // All of it in one dimension and back.
    Value flat = ReshapeOp::create(builder, location(), typeOf(product(dims, builder.getContext())), x);
    Value negated = below(2) ? Value(NegateOp::create(builder, location(), flat)) : flat;
    return keep(ReshapeOp::create(builder, location(), type, negated));
  }
  default: {
    // A dimension of size 1 more, and what can be done with it.
    SmallVector<Dim> larger(dims);
    larger.insert(larger.begin() + below(rank + 1), Dim::constant(builder.getContext(), 1));
    Value reshaped = ReshapeOp::create(builder, location(), typeOf(larger), x);
    Value tanh = TanhOp::create(builder, location(), reshaped);
    return keep(ReshapeOp::create(builder, location(), type, tanh));
  }
  }
}

void RandomGraph::addReduction() {
  Value x = pick(1);
  int64_t rank = tensorType(x).getRank();
  int64_t from = below(rank), to = below(3) ? rank : from + 1;
  ReductionKind kind = below(2) ? ReductionKind::sum : ReductionKind::max;
  SmallVector<int64_t> dimensions = range(from, to);
  keep(ReduceOp::create(builder, location(), kind, x, dimensions));
}

void RandomGraph::addHero() {
  Value x = pick(1);
  RankedTensorType type = tensorType(x);
  int64_t last = type.getRank() - 1;
  if (type.isDynamicDim(last))
    return addUnary();
  switch (below(4)) {
  case 0:
    return keep(CumulativeOp::create(builder, location(), ReductionKind::sum, x, last, false, below(2) == 0));
  case 1:
    return keep(ArgReduceOp::create(builder, location(), ReductionKind::max, x, last, false, builder.getI32Type()));
  case 2: {
    auto top = TopKOp::create(builder, location(), x, 2, last, true, builder.getI64Type());
    keep(top.getValues());
    return keep(top.getIndices());
  }
  default: {
    SmallVector<int64_t> ones(type.getRank(), 1), zeros(type.getRank(), 0), window(ones), low(zeros), high(zeros);
    window[last] = 3;
    low[last] = high[last] = 1;
    return keep(
        ReduceWindowOp::create(builder, location(), ReductionKind::sum, x, window, ones, ones, ones, low, high));
  }
  }
}

void RandomGraph::addContraction() {
  SmallVector<Dim> weights(2, Dim::constant(builder.getContext(), 6));
  Value x = pick(1), w = pickOfDims(weights);
  int64_t last = tensorType(x).getRank() - 1;
  if (getDim(x.getType(), last) != weights[0])
    return addBinary();
  keep(DotGeneralOp::create(builder, location(), x.getType(), x, w, ArrayRef<int64_t>{last}, ArrayRef<int64_t>{0}));
  // With an epilogue now and then.
  for (unsigned i = below(4); i > 0; --i)
    below(2) ? addUnary() : addBinary();
}

/// x - max(x) along the last dimension, then a sum and a quotient.
void RandomGraph::addNorm() {
  Value x = pick(1);
  int64_t rank = tensorType(x).getRank();
  SmallVector<int64_t> rows = range(0, rank - 1), last{rank - 1};
  Value largest = ReduceOp::create(builder, location(), ReductionKind::max, x, last);
  Value repeated = BroadcastInDimOp::create(builder, location(), x.getType(), largest, rows);
  Value difference = SubtractOp::create(builder, location(), x, repeated);
  Value power = ExponentialOp::create(builder, location(), difference);
  Value sum = ReduceOp::create(builder, location(), ReductionKind::sum, power, last);
  keep(sum);
  Value divisor = BroadcastInDimOp::create(builder, location(), x.getType(), sum, rows);
  keep(DivideOp::create(builder, location(), power, divisor));
}

void RandomGraph::addIf(unsigned depth) {
  Value scalar = pick();
  SmallVector<int64_t> all = range(0, tensorType(scalar).getRank());
  Value sum = all.empty() ? scalar : Value(ReduceOp::create(builder, location(), ReductionKind::max, scalar, all));
  Value predicate = CompareOp::create(builder, location(), ComparisonDirection::GT, sum, constantOf({}));
  Value pattern = pick();
  SmallVector<Dim> dims = getDims(pattern.getType());
  OperationState state(location(), IfOp::getOperationName());
  state.addOperands(predicate);
  state.addTypes(pattern.getType());
  for (int branch = 0; branch < 2; ++branch) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(state.addRegion());
    size_t outside = values.size();
    for (unsigned i = 0; i < 4; ++i)
      addOp(depth + 1);
    YieldOp::create(builder, location(), pickOfDims(dims));
    values.resize(outside);
  }
  keep(builder.create(state)->getResult(0));
}

/// Twice round a loop that changes one tensor.
void RandomGraph::addWhile(unsigned depth) {
  Value start = pick();
  Type counterType = RankedTensorType::get({}, builder.getI32Type());
  auto number = [&](int32_t value) {
    return Value(ConstantOp::create(builder, location(), DenseElementsAttr::get(cast<ShapedType>(counterType), value)));
  };
  OperationState state(location(), WhileOp::getOperationName());
  state.addOperands({number(0), start});
  state.addTypes({counterType, start.getType()});
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locations(2, location());
    Block *condition = builder.createBlock(state.addRegion(), {}, state.types, locations);
    Value less = CompareOp::create(builder, location(), ComparisonDirection::LT, condition->getArgument(0), number(2));
    YieldOp::create(builder, location(), less);
    Block *body = builder.createBlock(state.addRegion(), {}, state.types, locations);
    size_t outside = values.size();
    values.push_back(body->getArgument(1));
    for (unsigned i = 0; i < 3; ++i)
      addOp(depth + 1);
    Value next = AddOp::create(builder, location(), body->getArgument(0), number(1));
    YieldOp::create(builder, location(), ValueRange{next, pickOfDims(getDims(start.getType()))});
    values.resize(outside);
  }
  keep(builder.create(state)->getResult(1));
}

void RandomGraph::addOp(unsigned depth) {
  unsigned choice = below(100);
  if (choice < 25)
    addUnary();
  else if (choice < 50)
    addBinary();
  else if (choice < 55)
    addSelect();
  else if (choice < 70)
    addMovement();
  else if (choice < 80)
    addReduction();
  else if (choice < 85)
    addHero();
  else if (choice < 90)
    addContraction();
  else if (choice < 96)
    addNorm();
  else if (depth > 1)
    addUnary();
  else if (choice < 98)
    addIf(depth);
  else
    addWhile(depth);
}

OwningOpRef<ModuleOp> RandomGraph::make(unsigned ops, bool symbolic) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  if (symbolic)
    DimOp::create(builder, builder.getUnknownLoc(), "n", 1, 8);
  SmallVector<Type> arguments;
  for (const SmallVector<Dim> &dims : shapes)
    arguments.push_back(typeOf(dims));
  auto function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType(arguments, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  llvm::append_range(values, body->getArguments());
  for (unsigned i = 0; i < ops; ++i)
    addOp(0);
  SmallVector<Value> results{values.back()};
  for (unsigned i = below(4); i > 0; --i)
    results.push_back(values[below(values.size())]);
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  function.setFunctionType(builder.getFunctionType(arguments, TypeRange(ValueRange(results))));
  return module;
}

} // namespace

OwningOpRef<ModuleOp> makeRandomGraph(MLIRContext &context, unsigned seed, unsigned ops, bool symbolic) {
  return RandomGraph(context, seed, symbolic).make(ops, symbolic);
}

} // namespace weft::test
