//===- DimTest.cpp - Symbolic sizes: text, canonical form, arithmetic, evaluation -------------------===//

#include "test/unit/dialects/Graph/EvaluateText.h"
#include <functional>
#include <random>

using namespace weft;
using graph::Dim;

namespace {

class DimTest : public test::EvaluateText {
protected:
  Dim symbol(llvm::StringRef name) { return Dim::symbol(mlir::StringAttr::get(&context, name)); }
  Dim constant(int64_t value) { return Dim::constant(&context, value); }
  static std::string text(const Dim &dim) {
    std::string result;
    llvm::raw_string_ostream(result) << dim;
    return result;
  }
  /// The size that text in an encoding means; the other dimension keeps it from being all integers.
  Dim parse(llvm::StringRef text) {
    errors.clear();
    mlir::Attribute attribute = mlir::parseAttribute(("#weft.encoding<[" + text + ", other]>").str(), &context);
    auto encoding = llvm::dyn_cast_or_null<graph::EncodingAttr>(attribute);
    return encoding ? Dim(encoding.getMap().getResult(0), encoding.getSymbols()) : Dim();
  }
  static std::optional<int64_t> at(const Dim &dim, int64_t a, int64_t b = 0) {
    return dim.evaluate([=](llvm::StringRef name) -> std::optional<int64_t> {
      return name == "a" ? std::optional(a) : name == "b" ? std::optional(b) : std::nullopt;
    });
  }
};

TEST_F(DimTest, EqualSizesAreEqual) {
  Dim a = symbol("a"), b = symbol("b");
  EXPECT_EQ(a + b, b + a);
  EXPECT_EQ(a * b, b * a);
  EXPECT_EQ((a + 1) * 2, a * 2 + 2);
  EXPECT_EQ(a + b - b, a);
  EXPECT_EQ(a - a, constant(0));
  EXPECT_EQ((a * 6).floorDiv(2), a * 3);
  EXPECT_EQ((a * b) * 2, (b * 2) * a);
  EXPECT_EQ((a + b) * a, a * a + a * b);
  EXPECT_EQ((a - 1) * 2 + 1, a * 2 - 1);
  EXPECT_NE(a, b);
  EXPECT_NE(a + 1, a);
  EXPECT_TRUE((a - a + 3).isConstant());
  EXPECT_EQ((a - a + 3).getConstant(), 3);
  EXPECT_EQ((a + b - a).getSymbols().size(), 1u);
  EXPECT_EQ(graph::product({a, constant(3), b}, &context), b * a * 3);
}

TEST_F(DimTest, TextAndBack) {
  Dim a = symbol("a"), b = symbol("b");
  for (const Dim &dim : {a, a + 1, a * 2 - 1, a * b, (a + b) * 3, (a + 1).floorDiv(2), (a * 2 + b).ceilDiv(4) + 1,
                         a - b, (a * b + 1).floorDiv(3) * 2, a * a * b, (a.floorDiv(2) + b).floorDiv(3)}) {
    EXPECT_EQ(parse(text(dim)), dim) << text(dim) << " " << errors;
  }
  EXPECT_EQ(parse("a mod 4"), parse(text(parse("a mod 4"))));
  EXPECT_EQ(parse("2 * (a + 3)"), a * 2 + 6);
  EXPECT_EQ(parse("-a + 3 * b - -2"), b * 3 - a + 2);
  EXPECT_EQ(text(a * 2 + 1), "a * 2 + 1");
  // Names that are no identifiers stand in quotes.
  EXPECT_EQ(parse("\"my batch\" + 1"), symbol("my batch") + 1);
  EXPECT_EQ(parse(text(symbol("my batch") + 1)), symbol("my batch") + 1) << errors;
  EXPECT_EQ(parse(text(symbol("floordiv") + 1)), symbol("floordiv") + 1) << errors;
  EXPECT_EQ(parse(text(symbol("a\"b"))), symbol("a\"b")) << errors;
}

TEST_F(DimTest, TextThatMeansNothing) {
  for (const char *wrong :
       {"a floordiv 0", "a floordiv b", "a mod -1", "a +", "(a", "a a", "1.5", "", "99999999999999999999",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a"}) {
    EXPECT_FALSE(mlir::parseAttribute(("#weft.encoding<[" + llvm::Twine(wrong) + ", other]>").str(), &context))
        << wrong;
  }
}

TEST_F(DimTest, ExactQuotients) {
  Dim a = symbol("a"), b = symbol("b");
  EXPECT_EQ((a * 6).divideExactly(constant(2)), a * 3);
  EXPECT_EQ((a * 6 + 4).divideExactly(constant(2)), a * 3 + 2);
  EXPECT_EQ((a * b).divideExactly(b), a);
  EXPECT_EQ((a * b * 6).divideExactly(a * 3), b * 2);
  EXPECT_EQ((a + 1).divideExactly(a + 1), constant(1));
  EXPECT_EQ(constant(12).divideExactly(constant(4)), constant(3));
  EXPECT_EQ((a * 3).divideExactly(constant(2)), std::nullopt);
  EXPECT_EQ(a.divideExactly(b), std::nullopt);
  EXPECT_EQ(a.divideExactly(constant(0)), std::nullopt);
  EXPECT_EQ(constant(7).divideExactly(constant(2)), std::nullopt);
  EXPECT_EQ(constant(0).divideExactly(constant(2)), constant(0));
}

TEST_F(DimTest, Evaluation) {
  Dim a = symbol("a"), b = symbol("b");
  EXPECT_EQ(at((a * 3 + b - 1).floorDiv(2), 5, 4), 9);
  EXPECT_EQ(at((a - 7).floorDiv(2), 2), -3);
  EXPECT_EQ(at((a - 7).ceilDiv(2), 2), -2);
  EXPECT_EQ(at(symbol("c"), 1), std::nullopt);
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(at(a + 1, most), std::nullopt);
  EXPECT_EQ(at(a * 2, most), std::nullopt);
  EXPECT_EQ(at(a * b, most, most), std::nullopt);
  EXPECT_EQ(at(a * b, int64_t(1) << 31, int64_t(1) << 31), int64_t(1) << 62);
}

TEST_F(DimTest, SizesThatOverflowAreNoSizes) {
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_LT((constant(most) + 1).getConstant(), 0);
  EXPECT_LT((constant(most) * 2).getConstant(), 0);
  EXPECT_EQ(at(symbol("a") * most + most, 1), std::nullopt);
}

TEST_F(DimTest, FloorDivisionsMeet) {
  Dim a = symbol("a"), b = symbol("b");
  EXPECT_EQ(a.ceilDiv(2), (a + 1).floorDiv(2));
  EXPECT_EQ((a - 1).floorDiv(2) + 1, a.ceilDiv(2)); // a slice by two, and a pooling of one by two
  EXPECT_EQ((a * 2 + 1).floorDiv(2), a);
  EXPECT_EQ((a * 6 + 4).floorDiv(4), (a * 3).floorDiv(2) + 1);
  EXPECT_EQ(a.floorDiv(2).floorDiv(3), a.floorDiv(6));
  EXPECT_EQ((a.floorDiv(2) + 1).floorDiv(2), (a + 2).floorDiv(4));
  EXPECT_EQ((a * 4 + b).floorDiv(4), a + b.floorDiv(4));
  EXPECT_EQ(parse("a mod 4"), a - a.floorDiv(4) * 4);
  EXPECT_EQ(parse("a mod 4 + a floordiv 4 * 4"), a);
  EXPECT_NE(a.floorDiv(2) * 2, a);
}

/// A size made of random operations, and the same as a function of plain integers.
struct RandomSize {
  Dim dim;
  std::function<int64_t(int64_t, int64_t)> value;
};

TEST_F(DimTest, NormalFormKeepsTheValue) {
  std::mt19937 random(7);
  auto floorDiv = [](int64_t x, int64_t d) { return x >= 0 ? x / d : -((-x + d - 1) / d); };
  std::function<RandomSize(int)> make = [&](int depth) -> RandomSize {
    unsigned choice = depth == 0 ? random() % 3 : random() % 8;
    int64_t number = static_cast<int64_t>(random() % 9) - 4, divisor = static_cast<int64_t>(random() % 6) + 1;
    if (choice == 0)
      return {constant(number), [=](int64_t, int64_t) { return number; }};
    if (choice == 1)
      return {symbol("a"), [](int64_t a, int64_t) { return a; }};
    if (choice == 2)
      return {symbol("b"), [](int64_t, int64_t b) { return b; }};
    RandomSize x = make(depth - 1);
    if (choice == 3)
      return {x.dim.floorDiv(divisor), [=](int64_t a, int64_t b) { return floorDiv(x.value(a, b), divisor); }};
    if (choice == 4)
      return {x.dim.ceilDiv(divisor), [=](int64_t a, int64_t b) { return -floorDiv(-x.value(a, b), divisor); }};
    RandomSize y = make(depth - 1);
    if (choice == 5)
      return {x.dim * y.dim, [=](int64_t a, int64_t b) { return x.value(a, b) * y.value(a, b); }};
    if (choice == 6)
      return {x.dim - y.dim, [=](int64_t a, int64_t b) { return x.value(a, b) - y.value(a, b); }};
    return {x.dim + y.dim, [=](int64_t a, int64_t b) { return x.value(a, b) + y.value(a, b); }};
  };
  for (int round = 0; round < 2000; ++round) {
    RandomSize size = make(4);
    for (auto [a, b] : {std::pair<int64_t, int64_t>{0, 0}, {1, 5}, {7, 2}, {-3, 11}, {64, -9}, {1001, 17}})
      ASSERT_EQ(at(size.dim, a, b), size.value(a, b)) << text(size.dim) << " at " << a << ", " << b;
    if (!size.dim.isConstant())
      ASSERT_EQ(parse(text(size.dim)), size.dim) << text(size.dim) << " " << errors;
    RandomSize other = make(2);
    if (other.dim != constant(0)) {
      auto quotient = (size.dim * other.dim).divideExactly(other.dim);
      ASSERT_TRUE(quotient) << text(size.dim) << " times " << text(other.dim);
      ASSERT_EQ(*quotient, size.dim) << text(other.dim);
    }
  }
}

TEST_F(DimTest, TensorTypes) {
  Dim a = symbol("a"), b = symbol("b");
  mlir::RankedTensorType type = graph::makeTensorType({a, constant(4), b * 2}, elementType("f32"));
  EXPECT_EQ(mlir::Type(type), mlir::parseType("tensor<?x4x?xf32, #weft.encoding<[a, 4, b * 2]>>", &context)) << errors;
  EXPECT_EQ(graph::getDim(type, 2), b * 2);
  EXPECT_EQ(graph::getElementCount(type), a * b * 8);
  EXPECT_FALSE(graph::makeTensorType({constant(4)}, elementType("f32")).getEncoding());
  EXPECT_FALSE(graph::hasNamedSizes(mlir::parseType("tensor<?xf32>", &context)));
}

} // namespace
