//===- GraphAttributes.cpp - Parsing, printing and verification of the attributes -----------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/Graph/GraphEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Graph/GraphAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

Attribute EncodingAttr::parse(AsmParser &parser, Type) {
  SmallVector<Dim> dims;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<Dim> dim = Dim::parse(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  auto encoding = makeTensorType(dims, Float32Type::get(parser.getContext())).getEncoding();
  if (!encoding) {
    parser.emitError(parser.getNameLoc(), "expected at least one size that is not an integer");
    return {};
  }
  return encoding;
}

void EncodingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getMap().getResults(), printer.getStream(),
                        [&](AffineExpr expression) { printer.getStream() << Dim(expression, getSymbols()); });
  printer << "]>";
}

LogicalResult EncodingAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  if (getMap().getNumResults() != shape.size())
    return emitError() << "encoding_c1: expected " << shape.size() << " sizes, got " << getMap().getNumResults();
  for (auto [index, size] : llvm::enumerate(shape)) {
    auto constant = dyn_cast<AffineConstantExpr>(getMap().getResult(index));
    if (constant ? size != constant.getValue() : !ShapedType::isDynamic(size))
      return emitError() << "encoding_c2: the size of dimension " << index << " does not match the type's";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ConvolutionDimensions
//===----------------------------------------------------------------------===//

namespace {

struct Side {
  int64_t first = -1, second = -1; // b and f, or i and o
  SmallVector<int64_t> spatial;
};

/// Parses `[b, 0, 1, f]`: one entry a dimension, `first` and `second` and the spatial numbers each once.
FailureOr<Side> parseSide(AsmParser &parser, StringRef first, StringRef second) {
  Side side;
  SmallVector<std::pair<int64_t, int64_t>> spatial; // number, dimension
  int64_t dimension = 0;
  SMLoc location = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult integer = parser.parseOptionalInteger(number);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      spatial.push_back({number, dimension++});
      return success();
    }
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, {first, second})))
      return parser.emitError(parser.getCurrentLocation(), "expected '")
             << first << "', '" << second << "' or the number of a spatial dimension";
    int64_t &slot = keyword == first ? side.first : side.second;
    if (slot != -1)
      return parser.emitError(parser.getCurrentLocation(), "'") << keyword << "' stands twice";
    slot = dimension++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  llvm::sort(spatial);
  for (auto [expected, entry] : llvm::enumerate(spatial)) {
    if (entry.first != static_cast<int64_t>(expected))
      return parser.emitError(location, "spatial dimensions must be numbered 0, 1, ... without gaps"), failure();
    side.spatial.push_back(entry.second);
  }
  if (side.first == -1 || side.second == -1)
    return parser.emitError(location, "expected '") << first << "' and '" << second << "'", failure();
  return side;
}

void printSide(raw_ostream &os, StringRef first, int64_t firstDimension, StringRef second, int64_t secondDimension,
               ArrayRef<int64_t> spatial) {
  SmallVector<std::string> names(spatial.size() + 2);
  auto put = [&](int64_t dimension, std::string name) {
    if (dimension >= 0 && dimension < static_cast<int64_t>(names.size()))
      names[dimension] = std::move(name);
  };
  put(firstDimension, first.str());
  put(secondDimension, second.str());
  for (auto [number, dimension] : llvm::enumerate(spatial))
    put(dimension, std::to_string(number));
  os << "[";
  llvm::interleaveComma(names, os);
  os << "]";
}

} // namespace

Attribute ConvolutionDimensionsAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Side> input = parseSide(parser, "b", "f");
  if (failed(input) || parser.parseKeyword("x"))
    return {};
  FailureOr<Side> kernel = parseSide(parser, "i", "o");
  if (failed(kernel) || parser.parseArrow())
    return {};
  FailureOr<Side> output = parseSide(parser, "b", "f");
  if (failed(output) || parser.parseGreater())
    return {};
  return get(parser.getContext(), input->first, input->second, input->spatial, kernel->first, kernel->second,
             kernel->spatial, output->first, output->second, output->spatial);
}

void ConvolutionDimensionsAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  os << "<";
  printSide(os, "b", getInputBatchDimension(), "f", getInputFeatureDimension(), getInputSpatialDimensions());
  os << " x ";
  printSide(os, "i", getKernelInputFeatureDimension(), "o", getKernelOutputFeatureDimension(),
            getKernelSpatialDimensions());
  os << " -> ";
  printSide(os, "b", getOutputBatchDimension(), "f", getOutputFeatureDimension(), getOutputSpatialDimensions());
  os << ">";
}

} // namespace weft::graph
