//===- Symbols.cpp - The symbolic sizes of a model and their bounds ------------------------------===//

#include "lib/Importer/Onnx/Symbols.h"
#include "dialects/Graph/Structure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>

using namespace mlir;
using weft::graph::Dim;

namespace weft::importer {

namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(), kHighest = std::numeric_limits<int64_t>::max();

int64_t addSaturated(int64_t a, int64_t b) {
  int64_t sum;
  if (!llvm::AddOverflow(a, b, sum))
    return sum;
  return a < 0 ? kLowest : kHighest;
}

int64_t multiplySaturated(int64_t a, int64_t b) {
  int64_t product;
  if (!llvm::MulOverflow(a, b, product))
    return product;
  return (a < 0) != (b < 0) ? kLowest : kHighest;
}

/// An identifier made of any text.
std::string identifier(StringRef text) {
  std::string name;
  for (char character : text)
    name += llvm::isAlnum(character) || character == '_' ? character : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name = "_" + name;
  if (name == "floordiv" || name == "ceildiv" || name == "mod")
    name += "_";
  return name;
}

} // namespace

StringAttr Symbols::add(StringRef wanted, Interval fallback) {
  std::string base = identifier(wanted), unique = base;
  for (unsigned suffix = 1; symbols.count(StringAttr::get(context, unique)); ++suffix)
    unique = base + "_" + std::to_string(suffix);
  auto name = StringAttr::get(context, unique);
  auto bounds = given.find(wanted);
  symbols[name] = bounds == given.end() ? Symbol{fallback, true} : Symbol{bounds->second, /*isDefault=*/false};
  return nameOf[wanted] = name;
}

Dim Symbols::get(StringRef wanted, Interval fallback) {
  auto known = nameOf.find(wanted);
  StringAttr name = known == nameOf.end() ? add(wanted, fallback) : known->second;
  Interval bounds = symbols[name].bounds;
  return bounds.min == bounds.max ? Dim::constant(context, bounds.min) : Dim::symbol(name);
}

Dim Symbols::create(StringRef wanted, Interval fallback) {
  StringAttr name = add(wanted, fallback);
  symbols[name].isData = true;
  return Dim::symbol(name);
}

void Symbols::setBounds(StringRef wanted, Interval bounds) { given[wanted] = bounds; }

SmallVector<std::string> Symbols::unusedBounds() const {
  SmallVector<std::string> unused;
  for (const auto &entry : given)
    if (!nameOf.count(entry.getKey()))
      unused.push_back(entry.getKey().str());
  llvm::sort(unused);
  return unused;
}

SmallVector<std::string> Symbols::names() const {
  SmallVector<std::string> all;
  for (const auto &[name, symbol] : symbols)
    all.push_back(name.str());
  return all;
}

Interval Symbols::boundsOf(const Dim &dim) const { return boundsOf(dim.getExpression(), dim.getSymbols()); }

Interval Symbols::boundsOf(AffineExpr expression, ArrayRef<StringAttr> names) const {
  if (auto value = dyn_cast<AffineConstantExpr>(expression))
    return {value.getValue(), value.getValue()};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    auto found = symbols.find(names[symbol.getPosition()]);
    return found == symbols.end() ? Interval{0, kHighest} : found->second.bounds;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Interval a = boundsOf(binary.getLHS(), names), b = boundsOf(binary.getRHS(), names);
  auto divided = [&](int64_t (*divide)(int64_t, int64_t)) -> Interval {
    if (b.min != b.max || b.min <= 0)
      return {kLowest, kHighest};
    return {a.min == kLowest ? kLowest : divide(a.min, b.min), a.max == kHighest ? kHighest : divide(a.max, b.min)};
  };
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return {addSaturated(a.min, b.min), addSaturated(a.max, b.max)};
  case AffineExprKind::Mul: {
    int64_t corners[] = {multiplySaturated(a.min, b.min), multiplySaturated(a.min, b.max),
                         multiplySaturated(a.max, b.min), multiplySaturated(a.max, b.max)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  case AffineExprKind::FloorDiv:
    return divided([](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, y); });
  case AffineExprKind::CeilDiv:
    return divided([](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, y); });
  case AffineExprKind::Mod:
    return b.max > 0 && b.max != kHighest ? Interval{0, b.max - 1} : Interval{kLowest, kHighest};
  default:
    return {kLowest, kHighest};
  }
}

bool Symbols::requireAtLeast(const Dim &dim, int64_t value) {
  if (isAtLeast(dim, value))
    return true;
  for (bool raise : {true, false})
    for (StringAttr name : dim.getSymbols()) {
      auto found = symbols.find(name);
      if (found == symbols.end() || !found->second.isDefault)
        continue;
      Interval &bounds = found->second.bounds;
      const Interval before = bounds;
      // Sizes grow or shrink with a symbol, nearly always: look for the bound that is enough, but no narrower.
      auto holdsAt = [&](int64_t bound) {
        (raise ? bounds.min : bounds.max) = bound;
        return isAtLeast(dim, value);
      };
      int64_t fails = raise ? before.min : before.max, holds = raise ? before.max : before.min;
      bool enough = holdsAt(holds);
      while (enough && std::abs(holds - fails) > 1) {
        int64_t middle = fails + (holds - fails) / 2;
        (holdsAt(middle) ? holds : fails) = middle;
      }
      // A symbol of one value would have to be replaced by it in all types: not what a default may decide.
      if (enough && holdsAt(holds) && bounds.min < bounds.max)
        return true;
      bounds = before;
    }
  return false;
}

bool Symbols::requireEqual(const Dim &left, const Dim &right, StringRef reason) {
  if (left == right)
    return true;
  for (const auto &[a, b] : equal)
    if ((a == left && b == right) || (a == right && b == left))
      return true;
  if (branches > 0)
    return false;
  // Conditions are checked before anything is computed: they cannot be about sizes that data decide.
  for (const Dim &dim : {left, right})
    for (StringAttr name : dim.getSymbols())
      if (auto found = symbols.find(name); found != symbols.end() && found->second.isData)
        return false;
  Interval a = boundsOf(left), b = boundsOf(right);
  if ((left.isConstant() && right.isConstant()) || a.max < b.min || b.max < a.min)
    return false;
  if (llvm::none_of(conditions, [&](const Condition &known) {
        return (known.left == left && known.right == right) || (known.left == right && known.right == left);
      }))
    conditions.push_back({left, right, reason.str()});
  return true;
}

void Symbols::declare(OpBuilder &builder, Location location) const {
  for (const auto &[name, symbol] : symbols)
    if (symbol.bounds.min != symbol.bounds.max || symbol.isData)
      graph::DimOp::create(builder, location, name, symbol.bounds.min, symbol.bounds.max);
  for (const Condition &condition : conditions) {
    auto type = graph::makeTensorType({condition.left, condition.right}, Float32Type::get(context));
    graph::RequireOp::create(builder, location, cast<graph::EncodingAttr>(type.getEncoding()), condition.reason);
  }
}

} // namespace weft::importer
