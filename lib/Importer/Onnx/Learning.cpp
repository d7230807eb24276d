//===- Learning.cpp - ONNX's operators of classical machine learning that are a few tensor operations ---===//

#include "lib/Importer/Onnx/Learning.h"
#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

//===----------------------------------------------------------------------===//
// Scores and labels
//===----------------------------------------------------------------------===//

StringRef whyNotLearning(StringRef opType) {
  return llvm::StringSwitch<StringRef>(opType)
      .Case("ZipMap", "gives maps, which Weft does not have; export the probabilities as a tensor (skl2onnx: option "
                      "zipmap=False)")
      .Cases({"DictVectorizer", "CastMap"}, "takes maps, which Weft does not have")
      .Case("CategoryMapper", "works on strings, which Weft does not have")
      .Default("");
}

Value asRows(Builder &b, Value x) {
  if (!x || b.rank(x) == 2)
    return x;
  if (b.rank(x) == 1)
    return b.expandDims(x, 0);
  b.error() << "expected samples [rows, features], got " << x.getType();
  return {};
}

namespace {

/// The square root of 2 times the inverse error function of 2x - 1, by Winitzki's formula, which ONNX's evaluator uses.
Value probit(Builder &b, Value x) {
  constexpr double pi = 3.14159, a = 0.147;
  Value centered = b.subtract(b.multiply(x, 2.0), 1.0);
  Value one = b.scalarLike(centered, 1);
  Value logarithm = b.log(b.multiply(b.subtract(one, centered), b.add(one, centered)));
  Value v = b.add(b.multiply(logarithm, 0.5), 2 / (pi * a));
  Value root = b.sqrt(b.subtract(b.sqrt(b.subtract(b.multiply(v, v), b.multiply(logarithm, 1 / a))), v));
  Value isNegative = b.compare(ComparisonDirection::LT, centered, 0.0);
  return b.multiply(b.select(isNegative, b.negate(root), root), std::sqrt(2.0));
}

/// A softmax over the columns in which zeros stay zeros.
Value softmaxOfNonzeros(Builder &b, Value x) {
  constexpr double kZero = 1e-7;
  Value largest = b.reduce(ReductionKind::max, x, {1}, /*keepDims=*/true);
  Value powers = b.exponential(b.subtract(x, largest));
  Value isZero = b.compare(ComparisonDirection::LE, b.abs(x), kZero);
  Value kept = b.select(isZero, b.multiply(x, b.exponential(b.negate(largest))), powers);
  return b.divide(kept, b.sum(kept, {1}, /*keepDims=*/true));
}

} // namespace

Value postTransformed(Node &node, Value scores, StringRef transform) {
  Builder &b = node.b;
  if (!scores || transform == "NONE")
    return scores;
  if (transform == "SOFTMAX")
    return buildSoftmax(b, scores, 1);
  if (transform == "LOGISTIC")
    return b.unary<LogisticOp>(scores);
  if (transform == "SOFTMAX_ZERO")
    return softmaxOfNonzeros(b, scores);
  if (transform == "PROBIT")
    return probit(b, scores);
  node.error() << "attribute 'post_transform': expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, got '"
               << transform << "'";
  return {};
}

Value withFirstScore(Node &node, Value score, SecondScore kind, StringRef transform) {
  Builder &b = node.b;
  if (kind == SecondScore::None)
    return postTransformed(node, score, transform);
  if (transform == "PROBIT") {
    node.error() << "attribute 'post_transform': PROBIT of a single score for two classes has no meaning";
    return {};
  }
  // Of the transformations only the logistic one is about single scores.
  bool isLogistic = transform == "LOGISTIC";
  if (isLogistic)
    return b.unary<LogisticOp>(b.concatenate({b.negate(score), score}, 1));
  Value first = kind == SecondScore::OneMinus ? b.subtract(b.scalarLike(score, 1), score) : b.negate(score);
  return b.concatenate({first, score}, 1);
}

int64_t countLabels(Node &node, StringRef integersName, StringRef stringsName) {
  int64_t integers = node.integerList(integersName).size(), strings = node.stringList(stringsName).size();
  return std::max(integers, strings);
}

Value labelsOf(Node &node, Value classes, StringRef integersName, StringRef stringsName) {
  SmallVector<int64_t> labels = node.integerList(integersName);
  if (labels.empty()) {
    node.error() << "attribute '" << stringsName << "': the labels are texts, which Weft does not have; export the "
                 << "model with integers as labels";
    return {};
  }
  return node.b.take(node.b.integers(labels), classes, 0);
}

namespace {

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

/// X * coefficients^T + intercepts, [rows, outputs].
Value linearScores(Node &node, int64_t outputs) {
  Builder &b = node.b;
  Value x = asRows(b, node.input(0));
  SmallVector<double> coefficients = node.realList("coefficients"), intercepts = node.realList("intercepts");
  if (!x || node.failed())
    return {};
  if (outputs < 1 || coefficients.empty() || coefficients.size() % outputs != 0) {
    node.error() << "attribute 'coefficients': expected as many a class or target, for " << outputs << ", got "
                 << coefficients.size();
    return {};
  }
  int64_t features = static_cast<int64_t>(coefficients.size()) / outputs;
  if (b.dim(x, 1) != b.size(features) || (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != outputs)) {
    node.error() << "expected samples of " << features << " features and " << outputs << " intercepts, got "
                 << x.getType() << " and " << intercepts.size();
    return {};
  }
  TensorValue weights(b.f32(), {outputs, features});
  for (auto [i, value] : llvm::enumerate(coefficients))
    weights.setFloat(i, value);
  Value scores = b.dotGeneral(b.convert(x, b.f32()),
                              node.importer.materialize(node.name().str() + ".coefficients", weights), 1, 1);
  return intercepts.empty() ? scores : b.add(scores, b.floats(intercepts, b.f32()));
}

LogicalResult importLinearRegressor(Node &node) {
  std::string transform = node.string("post_transform", "NONE");
  Value scores = linearScores(node, node.integer("targets", 1));
  return node.output(0, postTransformed(node, scores, transform));
}

LogicalResult importLinearClassifier(Node &node) {
  Builder &b = node.b;
  std::string transform = node.string("post_transform", "NONE");
  node.ignore("multi_class"); // Says how the model was trained.
  int64_t labels = countLabels(node, "classlabels_ints", "classlabels_strings");
  SmallVector<double> intercepts = node.realList("intercepts");
  int64_t outputs = intercepts.empty() ? std::max<int64_t>(labels, 1) : static_cast<int64_t>(intercepts.size());
  if (outputs != labels && !(outputs == 1 && labels == 2))
    return node.fail("expected a label a score, or two labels for one score, got " + std::to_string(labels) +
                     " labels and " + std::to_string(outputs) + " scores");
  Value scores = linearScores(node, outputs);
  if (!scores)
    return failure();
  bool isBinary = outputs == 1 && labels == 2;
  Value classes;
  if (isBinary)
    classes = b.convert(b.dropDims(b.compare(ComparisonDirection::GT, scores, 0.0), 1), b.i64());
  else
    classes = b.inferred<ArgReduceOp>(scores.getType(), ReductionKind::max, scores, int64_t(1), false, b.i64());
  if (node.wants(0) && failed(node.output(0, labelsOf(node, classes, "classlabels_ints", "classlabels_strings"))))
    return failure();
  return node.wants(1) ? node.output(1, withFirstScore(node, scores,
                                                       isBinary ? SecondScore::OneMinus : SecondScore::None, transform))
                       : success();
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult importArrayFeatureExtractor(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), places = node.input(1);
  if (b.rank(x) == 0)
    return node.fail("expected a tensor of rank 1 or more");
  Value flat = b.reshape(places, getElementCount(places.getType()));
  Value taken = b.take(x, b.convert(flat, b.i64()), b.rank(x) - 1);
  return node.output(0, b.rank(x) == 1 ? b.expandDims(taken, 0) : taken);
}

LogicalResult importBinarizer(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  return node.output(0, b.convert(b.compare(ComparisonDirection::GT, x, node.real("threshold", 0)), b.element(x)));
}

LogicalResult importFeatureVectorizer(Node &node) {
  Builder &b = node.b;
  SmallVector<int64_t> sizes = node.integerList("inputdimensions");
  SmallVector<Value> parts;
  for (int64_t i = 0; i < node.inputCount(); ++i) {
    Value rows = asRows(b, node.input(i));
    if (rows && i < static_cast<int64_t>(sizes.size()) && b.dim(rows, 1) != b.size(sizes[i]))
      return node.fail("attribute 'inputdimensions': input " + std::to_string(i) + " does not have " +
                       std::to_string(sizes[i]) + " features");
    parts.push_back(b.convert(rows, b.f32()));
  }
  return node.output(0, b.concatenate(parts, 1));
}

LogicalResult importNormalizer(Node &node) {
  Builder &b = node.b;
  std::string norm = node.string("norm", "MAX");
  Value x = b.convert(node.input(0), b.f32());
  int64_t last = b.rank(x) - 1;
  if (last < 0)
    return node.fail("expected a tensor of rank 1 or more");
  Value size;
  if (norm == "MAX")
    size = b.reduce(ReductionKind::max, x, {last}, /*keepDims=*/true);
  else if (norm == "L1")
    size = b.sum(b.abs(x), {last}, /*keepDims=*/true);
  else if (norm == "L2")
    size = b.sqrt(b.sum(b.multiply(x, x), {last}, /*keepDims=*/true));
  else
    return node.fail("attribute 'norm': expected MAX, L1 or L2, got '" + norm + "'");
  // What has no size stays.
  Value isZero = b.compare(ComparisonDirection::EQ, size, 0.0);
  return node.output(0, b.divide(x, b.select(isZero, b.scalar(b.f32(), 1), size)));
}

/// A list of one entry, or of one a feature, that is broadcast against the samples.
Value perFeature(Node &node, StringRef name, ArrayRef<double> values, Type element, const Dim &features) {
  if (values.size() != 1 && node.b.size(static_cast<int64_t>(values.size())) != features) {
    node.error() << "attribute '" << name << "': expected 1 or " << features << " entries, got " << values.size();
    return {};
  }
  return node.b.floats(values, element);
}

LogicalResult importScaler(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<double> offset = node.realList("offset"), scale = node.realList("scale");
  if (node.failed() || b.rank(x) < 1)
    return node.failed() ? failure() : node.fail("expected a tensor of rank 1 or more");
  Dim features = b.dim(x, b.rank(x) - 1);
  Value result = b.convert(x, b.f32());
  if (!offset.empty())
    result = b.subtract(result, perFeature(node, "offset", offset, b.f32(), features));
  if (!scale.empty())
    result = b.multiply(result, perFeature(node, "scale", scale, b.f32(), features));
  return node.output(0, result);
}

LogicalResult importImputer(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  if (b.rank(x) < 1)
    return node.fail("expected a tensor of rank 1 or more");
  Dim features = b.dim(x, b.rank(x) - 1);
  Type element = b.element(x);
  if (b.isFloat(x)) {
    double replaced = node.real("replaced_value_float", 0);
    node.ignore("replaced_value_int64");
    Value imputed = perFeature(node, "imputed_value_floats", node.realList("imputed_value_floats"), element, features);
    Value isMissing = std::isnan(replaced) ? b.compare(ComparisonDirection::NE, x, x)
                                           : b.compare(ComparisonDirection::EQ, x, replaced);
    return node.output(0, b.select(isMissing, imputed, x));
  }
  int64_t replaced = node.integer("replaced_value_int64", 0);
  node.ignore("replaced_value_float");
  SmallVector<int64_t> values = node.integerList("imputed_value_int64s");
  if (node.failed())
    return failure();
  if (values.size() != 1 && b.size(static_cast<int64_t>(values.size())) != features)
    return node.fail("attribute 'imputed_value_int64s': expected 1 entry or one a feature");
  Value isMissing = b.compare(ComparisonDirection::EQ, x, b.integerScalar(element, replaced));
  return node.output(0, b.select(isMissing, b.integers(values, element), x));
}

LogicalResult importOneHotEncoder(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<int64_t> categories = node.integerList("cats_int64s");
  node.ignore("zeros"); // Whether a value of no category is an error, or a row of zeros, which it is here in any case.
  if (node.hasAttribute("cats_strings") || categories.empty())
    return node.fail("expected attribute 'cats_int64s'; Weft has no strings");
  Value known = b.integers(categories);
  Value same = b.compare(ComparisonDirection::EQ, b.expandDims(b.convert(x, b.i64()), b.rank(x)), known);
  return node.output(0, b.convert(same, b.f32()));
}

//===----------------------------------------------------------------------===//
// LabelEncoder
//===----------------------------------------------------------------------===//

/// Attribute `tensor`, or one of the lists, as a vector.
std::optional<TensorValue> listOf(Node &node, StringRef tensor, StringRef integers, StringRef floats) {
  Builder &b = node.b;
  if (node.hasAttribute(tensor)) {
    std::optional<TensorValue> value = node.tensor(tensor);
    return value ? std::optional(value->reshaped({value->getElementCount()})) : std::nullopt;
  }
  if (node.hasAttribute(integers)) {
    SmallVector<int64_t> values = node.integerList(integers);
    TensorValue result(b.i64(), {static_cast<int64_t>(values.size())});
    for (auto [i, value] : llvm::enumerate(values))
      result.setInteger(i, value);
    return result;
  }
  if (node.hasAttribute(floats)) {
    SmallVector<double> values = node.realList(floats);
    TensorValue result(b.f32(), {static_cast<int64_t>(values.size())});
    for (auto [i, value] : llvm::enumerate(values))
      result.setFloat(i, value);
    return result;
  }
  return std::nullopt;
}

LogicalResult importLabelEncoder(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  std::optional<TensorValue> keys = listOf(node, "keys_tensor", "keys_int64s", "keys_floats"),
                             values = listOf(node, "values_tensor", "values_int64s", "values_floats");
  if (node.failed())
    return failure();
  if (!keys || !values)
    return node.fail("expected keys and values that are numbers; Weft has no strings");
  int64_t count = keys->getElementCount();
  if (values->getElementCount() != count || keys->getElementType() != b.element(x))
    return node.fail("expected as many values as keys, and keys of the input's type");
  // Behind the values stands what others become.
  Type element = values->getElementType();
  TensorValue table(element, {count + 1});
  if (isFloatElement(element)) {
    for (int64_t i = 0; i < count; ++i)
      table.setFloat(i, values->getFloat(i));
    table.setFloat(count, node.real("default_float", -0.0));
    node.ignore("default_int64");
  } else {
    for (int64_t i = 0; i < count; ++i)
      table.setInteger(i, values->getInteger(i));
    table.setInteger(count, node.integer("default_int64", -1));
    node.ignore("default_float");
  }
  node.ignore("default_string");
  if (node.hasAttribute("default_tensor")) {
    std::optional<TensorValue> other = node.tensor("default_tensor");
    if (!other)
      return failure();
    if (other->getElementType() != element || other->getElementCount() != 1)
      return node.fail("attribute 'default_tensor': expected one element of the values' type");
    if (isFloatElement(element))
      table.setFloat(count, other->getFloat(0));
    else
      table.setInteger(count, other->getInteger(0));
  }
  Value known = node.importer.materialize(node.name().str() + ".keys", *keys);
  Value wide = b.expandDims(x, b.rank(x));
  Value same = b.compare(ComparisonDirection::EQ, wide, known);
  if (b.isFloat(x)) {
    // NaN is a key as any other.
    Value areNaN = b.binary<AndOp>(b.compare(ComparisonDirection::NE, wide, wide),
                                   b.compare(ComparisonDirection::NE, known, known));
    same = b.binary<OrOp>(same, areNaN);
  }
  if (!same)
    return failure();
  // The first of equal keys counts.
  Value place = b.iota(b.i64(), b.dims(same), b.rank(same) - 1);
  Value first = b.reduce(ReductionKind::min, b.select(same, place, b.integerScalar(b.i64(), count)), {b.rank(x)},
                         /*keepDims=*/false);
  if (count == 0)
    first = b.splat(b.i64(), 0, b.dims(x));
  return node.output(0, b.take(node.importer.materialize(node.name().str() + ".values", table), first, 0));
}

} // namespace

void addLearningHandlers(HandlerTable &table) {
  table.addIn(kLearningDomain, "ArrayFeatureExtractor", 1, importArrayFeatureExtractor);
  table.addIn(kLearningDomain, "Binarizer", 1, importBinarizer);
  table.addIn(kLearningDomain, "FeatureVectorizer", 1, importFeatureVectorizer);
  table.addIn(kLearningDomain, "Imputer", 1, importImputer);
  table.addIn(kLearningDomain, "LabelEncoder", 2, importLabelEncoder);
  table.addIn(kLearningDomain, "LinearClassifier", 1, importLinearClassifier);
  table.addIn(kLearningDomain, "LinearRegressor", 1, importLinearRegressor);
  table.addIn(kLearningDomain, "Normalizer", 1, importNormalizer);
  table.addIn(kLearningDomain, "OneHotEncoder", 1, importOneHotEncoder);
  table.addIn(kLearningDomain, "Scaler", 1, importScaler);
}

} // namespace weft::importer
