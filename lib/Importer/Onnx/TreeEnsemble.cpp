//===- TreeEnsemble.cpp - ONNX's ensembles of decision trees ----------------------------------------------===//
//
// The nodes of all trees stand in tables, one row a node. Every sample walks down every tree at the same time: a step
// looks up where the sample's node sends it, and a leaf sends it to itself.

#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Learning.h"
#include "lib/Importer/Onnx/Loops.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

enum class Mode : int64_t { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Leaf };

struct TreeNode {
  int64_t feature = 0;
  double threshold = 0;
  Mode mode = Mode::Leaf;
  int64_t onTrue = 0, onFalse = 0; // places in the table
  bool missingIsTrue = false;
};

struct LeafWeight {
  int64_t node, target;
  double weight;
};

struct Ensemble {
  std::vector<TreeNode> nodes;
  SmallVector<int64_t> roots;
  std::vector<LeafWeight> weights;
  SmallVector<double> base;
  int64_t targets = 0;
  bool isWide = false; // thresholds and weights are doubles
  std::string aggregate = "SUM";
};

std::optional<Mode> modeCalled(StringRef name) {
  static constexpr StringRef kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
  const auto *found = llvm::find(kNames, name);
  return found == std::end(kNames) ? std::nullopt : std::optional(static_cast<Mode>(found - kNames));
}

/// A list of reals, or the tensor that newer models have in its place.
SmallVector<double> realsOf(Node &node, const std::string &name, bool &isWide) {
  if (!node.hasAttribute(name + "_as_tensor"))
    return node.realList(name);
  SmallVector<double> values;
  if (std::optional<TensorValue> tensor = node.tensor(name + "_as_tensor")) {
    isWide |= tensor->getElementType().isF64();
    for (int64_t i = 0; i < tensor->getElementCount(); ++i)
      values.push_back(tensor->getFloat(i));
  }
  return values;
}

/// The longest way from a root to a leaf; nothing where a node is its own ancestor.
std::optional<int64_t> depthOf(const Ensemble &trees) {
  std::vector<int64_t> heights(trees.nodes.size(), -1); // -2: an ancestor of what is looked at
  SmallVector<int64_t> stack(trees.roots);
  while (!stack.empty()) {
    int64_t at = stack.back();
    const TreeNode &node = trees.nodes[at];
    if (node.mode == Mode::Leaf || heights[at] >= 0) {
      heights[at] = std::max<int64_t>(heights[at], 0);
      stack.pop_back();
      continue;
    }
    heights[at] = -2;
    int64_t open = -1;
    for (int64_t child : {node.onTrue, node.onFalse}) {
      if (heights[child] == -2)
        return std::nullopt;
      if (heights[child] == -1 && trees.nodes[child].mode != Mode::Leaf)
        open = child;
    }
    if (open >= 0) {
      stack.push_back(open);
      continue;
    }
    auto height = [&](int64_t child) { return std::max<int64_t>(heights[child], 0); };
    heights[at] = 1 + std::max(height(node.onTrue), height(node.onFalse));
    stack.pop_back();
  }
  int64_t depth = 0;
  for (int64_t root : trees.roots)
    depth = std::max(depth, heights[root]);
  return depth;
}

bool verifyEnsemble(Node &node, const Ensemble &trees, int64_t &depth) {
  constexpr int64_t kMostCells = int64_t(1) << 28;
  int64_t count = static_cast<int64_t>(trees.nodes.size());
  auto fail = [&](const Twine &message) {
    node.error() << message.str();
    return false;
  };
  if (trees.targets < 1 || count < 1 || trees.roots.empty() || trees.targets > kMostCells / count)
    return fail("expected trees, and not more than 2^28 pairs of a node and a target");
  for (const TreeNode &one : trees.nodes)
    if (one.feature < 0 ||
        (one.mode != Mode::Leaf && (one.onTrue < 0 || one.onTrue >= count || one.onFalse < 0 || one.onFalse >= count)))
      return fail("a node of a tree names a feature or a child that is not there");
  for (const LeafWeight &weight : trees.weights)
    if (weight.node < 0 || weight.node >= count || weight.target < 0 || weight.target >= trees.targets)
      return fail("a weight names a leaf or a target that is not there");
  if (!trees.base.empty() && static_cast<int64_t>(trees.base.size()) != trees.targets && trees.base.size() != 1)
    return fail("attribute 'base_values': expected one a target");
  std::optional<int64_t> found = depthOf(trees);
  if (!found)
    return fail("a node of a tree is its own ancestor");
  depth = *found;
  return true;
}

/// What the leaves of all trees give, [rows, targets], without base values.
struct Scores {
  Value sums;
  Value given; // whether any leaf has a weight for the target, where asked for
};

class Walk {
public:
  Walk(Node &node, const Ensemble &trees) : node(node), b(node.b), trees(trees) {}

  Scores run(Value samples, bool wantsGiven) {
    int64_t depth = 0;
    Value x = asRows(b, samples);
    if (!x || !verifyEnsemble(node, trees, depth))
      return {};
    int64_t mostFeature = 0;
    for (const TreeNode &one : trees.nodes)
      mostFeature = std::max(mostFeature, one.mode == Mode::Leaf ? 0 : one.feature);
    if (!b.facts.symbols.requireAtLeast(b.dim(x, 1), mostFeature + 1)) {
      node.error() << "the trees look at feature " << mostFeature << ", the samples are " << x.getType();
      return {};
    }
    real = trees.isWide || b.element(x).isF64() ? b.f64() : b.f32();
    x = b.convert(x, real);
    Value leaves = walk(x, depth);
    return leaves ? gather(leaves, wantsGiven) : Scores();
  }

private:
  template <typename Get> Value table(StringRef what, Type element, Get get) {
    TensorValue values(element, {static_cast<int64_t>(trees.nodes.size())});
    for (auto [i, one] : llvm::enumerate(trees.nodes)) {
      if constexpr (std::is_same_v<decltype(get(one)), double>)
        values.setFloat(i, get(one));
      else
        values.setInteger(i, get(one));
    }
    return node.importer.materialize((node.name() + "." + what).str(), values);
  }

  Value walk(Value x, int64_t depth) {
    Value features = table("features", b.i64(), [](const TreeNode &one) { return one.feature; });
    Value thresholds = table("thresholds", real, [](const TreeNode &one) { return one.threshold; });
    auto child = [&](bool onTrue) {
      TensorValue places(b.i64(), {static_cast<int64_t>(trees.nodes.size())});
      for (auto [i, one] : llvm::enumerate(trees.nodes))
        places.setInteger(i, one.mode == Mode::Leaf ? static_cast<int64_t>(i) : onTrue ? one.onTrue : one.onFalse);
      return node.importer.materialize((node.name() + (onTrue ? ".true" : ".false")).str(), places);
    };
    Value onTrue = child(true), onFalse = child(false);
    llvm::SmallDenseSet<int64_t> modes;
    bool tracksMissing = false;
    for (const TreeNode &one : trees.nodes)
      if (one.mode != Mode::Leaf) {
        modes.insert(static_cast<int64_t>(one.mode));
        tracksMissing |= one.missingIsTrue;
      }
    Value modeTable, missingTable;
    if (modes.size() > 1)
      modeTable = table("modes", b.i64(), [](const TreeNode &one) { return static_cast<int64_t>(one.mode); });
    if (tracksMissing)
      missingTable = table("missing", b.i64(), [](const TreeNode &one) { return int64_t(one.missingIsTrue); });
    SmallVector<Dim> all{b.dim(x, 0), b.size(static_cast<int64_t>(trees.roots.size()))};
    Value start = b.broadcastInDim(b.integers(trees.roots), all, 1);
    FailureOr<SmallVector<Value>> walked =
        buildCounted(b, b.size(depth), {start}, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
          Value at = arguments[1];
          Value seen = b.takeElements(x, b.take(features, at, 0), 1), limit = b.take(thresholds, at, 0);
          Value goes;
          for (int64_t mode = 0; mode < static_cast<int64_t>(Mode::Leaf); ++mode) {
            if (!modes.contains(mode))
              continue;
            static constexpr ComparisonDirection kDirections[] = {ComparisonDirection::LE, ComparisonDirection::LT,
                                                                  ComparisonDirection::GE, ComparisonDirection::GT,
                                                                  ComparisonDirection::EQ, ComparisonDirection::NE};
            Value holds = b.compare(kDirections[mode], seen, limit);
            goes = !goes ? holds
                         : b.select(b.compare(ComparisonDirection::EQ, b.take(modeTable, at, 0),
                                              b.integerScalar(b.i64(), mode)),
                                    holds, goes);
          }
          if (missingTable) {
            Value isMissing = b.compare(ComparisonDirection::NE, seen, seen);
            Value isTrue = b.compare(ComparisonDirection::NE, b.take(missingTable, at, 0), b.integerScalar(b.i64(), 0));
            goes = b.binary<OrOp>(goes, b.binary<AndOp>(isMissing, isTrue));
          }
          Value next = b.select(goes, b.take(onTrue, at, 0), b.take(onFalse, at, 0));
          if (!next)
            return failure();
          return SmallVector<Value>{next};
        });
    return succeeded(walked) ? walked->front() : Value();
  }

  Scores gather(Value leaves, bool wantsGiven) {
    int64_t count = static_cast<int64_t>(trees.nodes.size());
    bool isMost = trees.aggregate == "MAX", isLeast = trees.aggregate == "MIN";
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    TensorValue weights(real, {count, trees.targets}), given(b.i1(), {count, trees.targets});
    if (isMost || isLeast)
      for (int64_t i = 0; i < count * trees.targets; ++i)
        weights.setFloat(i, isMost ? -kInfinity : kInfinity);
    for (const LeafWeight &one : trees.weights) {
      int64_t cell = one.node * trees.targets + one.target;
      double before = given.getInteger(cell) ? weights.getFloat(cell) : isMost ? -kInfinity : isLeast ? kInfinity : 0;
      weights.setFloat(cell, isMost    ? std::max(before, one.weight)
                             : isLeast ? std::min(before, one.weight)
                                       : before + one.weight);
      given.setInteger(cell, 1);
    }
    auto rows = [&](StringRef what, const TensorValue &values) {
      return b.take(node.importer.materialize((node.name() + "." + what).str(), values), leaves, 0);
    };
    Value terms = rows("weights", weights);
    Scores scores;
    scores.sums = b.reduce(isMost    ? ReductionKind::max
                           : isLeast ? ReductionKind::min
                                     : ReductionKind::sum,
                           terms, {1},
                           /*keepDims=*/false);
    if (trees.aggregate == "AVERAGE")
      scores.sums = b.divide(scores.sums, static_cast<double>(trees.roots.size()));
    if (wantsGiven || isMost || isLeast) {
      Value counts = b.sum(b.convert(rows("given", given), b.i64()), {1}, /*keepDims=*/false);
      scores.given = b.compare(ComparisonDirection::GT, counts, b.integerScalar(b.i64(), 0));
    }
    if (isMost || isLeast)
      scores.sums = b.select(scores.given, scores.sums, b.scalar(real, 0));
    return scores;
  }

  Node &node;
  Builder &b;
  const Ensemble &trees;
  Type real;
};

/// The attributes that the regressor and the classifier share; `what` is "target" or "class".
std::optional<Ensemble> readEnsemble(Node &node, const std::string &what) {
  Ensemble trees;
  SmallVector<int64_t> treeIds = node.integerList("nodes_treeids"), nodeIds = node.integerList("nodes_nodeids"),
                       features = node.integerList("nodes_featureids"), onTrue = node.integerList("nodes_truenodeids"),
                       onFalse = node.integerList("nodes_falsenodeids"),
                       missing = node.integerList("nodes_missing_value_tracks_true");
  SmallVector<std::string> modes = node.stringList("nodes_modes");
  SmallVector<double> thresholds = realsOf(node, "nodes_values", trees.isWide);
  node.ignore("nodes_hitrates");
  node.ignore("nodes_hitrates_as_tensor");
  SmallVector<int64_t> leafTrees = node.integerList(what + "_treeids"), leafNodes = node.integerList(what + "_nodeids"),
                       targets = node.integerList(what + "_ids");
  SmallVector<double> weights = realsOf(node, what + "_weights", trees.isWide);
  trees.base = realsOf(node, "base_values", trees.isWide);
  if (node.failed())
    return std::nullopt;
  auto fail = [&](const std::string &message) -> std::optional<Ensemble> {
    node.error() << message;
    return std::nullopt;
  };
  size_t count = treeIds.size();
  for (size_t size : {nodeIds.size(), features.size(), onTrue.size(), onFalse.size(), modes.size(), thresholds.size()})
    if (size != count)
      return fail("expected as many entries in every attribute 'nodes_...'");
  if (!missing.empty() && missing.size() != count)
    return fail("attribute 'nodes_missing_value_tracks_true': expected one entry a node");
  if (leafTrees.size() != weights.size() || leafNodes.size() != weights.size() || targets.size() != weights.size())
    return fail("expected as many entries in every attribute '" + what + "_...'");
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < count; ++i)
    if (!places.insert({{treeIds[i], nodeIds[i]}, static_cast<int64_t>(i)}).second)
      return fail("a node of a tree is listed twice");
  auto placeOf = [&](int64_t tree, int64_t id) {
    auto found = places.find({tree, id});
    return found == places.end() ? int64_t(-1) : found->second;
  };
  std::vector<bool> isChild(count, false);
  for (size_t i = 0; i < count; ++i) {
    std::optional<Mode> mode = modeCalled(modes[i]);
    if (!mode)
      return fail("attribute 'nodes_modes': Weft knows no mode '" + modes[i] + "'");
    TreeNode one{features[i], thresholds[i], *mode, -1, -1, !missing.empty() && missing[i] != 0};
    if (*mode != Mode::Leaf) {
      one.onTrue = placeOf(treeIds[i], onTrue[i]);
      one.onFalse = placeOf(treeIds[i], onFalse[i]);
      for (int64_t child : {one.onTrue, one.onFalse})
        if (child >= 0)
          isChild[child] = true;
    } else {
      one.feature = 0;
    }
    trees.nodes.push_back(one);
  }
  for (size_t i = 0; i < count; ++i)
    if (!isChild[i])
      trees.roots.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < weights.size(); ++i)
    trees.weights.push_back({placeOf(leafTrees[i], leafNodes[i]), targets[i], weights[i]});
  return trees;
}

Value withBase(Builder &b, Value scores, ArrayRef<double> base) {
  return base.empty() || !scores ? scores : b.add(scores, b.floats(base, b.element(scores)));
}

LogicalResult importTreeEnsembleRegressor(Node &node) {
  Builder &b = node.b;
  std::optional<Ensemble> trees = readEnsemble(node, "target");
  std::string transform = node.string("post_transform", "NONE");
  if (!trees)
    return failure();
  trees->targets = node.integer("n_targets", 1);
  trees->aggregate = node.string("aggregate_function", "SUM");
  if (!llvm::is_contained({"SUM", "AVERAGE", "MIN", "MAX"}, StringRef(trees->aggregate)))
    return node.fail("attribute 'aggregate_function': expected SUM, AVERAGE, MIN or MAX, got '" + trees->aggregate +
                     "'");
  Scores scores = Walk(node, *trees).run(node.input(0), /*wantsGiven=*/false);
  Value result = postTransformed(node, withBase(b, scores.sums, trees->base), transform);
  return node.output(0, b.convert(result, b.f32()));
}

LogicalResult importTreeEnsembleClassifier(Node &node) {
  Builder &b = node.b;
  std::optional<Ensemble> trees = readEnsemble(node, "class");
  std::string transform = node.string("post_transform", "NONE");
  if (!trees)
    return failure();
  StringRef integers = "classlabels_int64s", strings = "classlabels_strings";
  trees->targets = countLabels(node, integers, strings);
  llvm::SmallDenseSet<int64_t> used;
  bool allPositive = true;
  for (const LeafWeight &one : trees->weights) {
    used.insert(one.target);
    allPositive &= one.weight >= 0;
  }
  Scores scores = Walk(node, *trees).run(node.input(0), /*wantsGiven=*/true);
  Value sums = withBase(b, scores.sums, trees->base);
  if (!sums)
    return failure();
  Value classes, values;
  if (trees->targets == 2 && used.size() == 1) {
    // One score says how much is for the second class.
    int64_t column = *used.begin();
    Value score = b.slice(sums, 1, column, column + 1);
    classes = b.compare(ComparisonDirection::GT, b.dropDims(score, 1), allPositive ? 0.5 : 0.0);
    classes = b.convert(classes, b.i64());
    values = column == 1
                 ? postTransformed(node, sums, transform)
                 : withFirstScore(node, score, allPositive ? SecondScore::OneMinus : SecondScore::Negated, transform);
  } else {
    // Classes that no leaf has a weight for do not take part.
    Value lowest = b.scalar(b.element(sums), -std::numeric_limits<double>::infinity());
    Value chosen = trees->base.empty() ? b.select(scores.given, sums, lowest) : sums;
    if (!chosen)
      return failure();
    classes = b.inferred<ArgReduceOp>(chosen.getType(), ReductionKind::max, chosen, int64_t(1), false, b.i64());
    values = postTransformed(node, sums, transform);
  }
  if (node.wants(0) && failed(node.output(0, labelsOf(node, classes, integers, strings))))
    return failure();
  return node.wants(1) ? node.output(1, b.convert(values, b.f32())) : success();
}

//===----------------------------------------------------------------------===//
// TreeEnsemble, since opset 5
//===----------------------------------------------------------------------===//

LogicalResult importTreeEnsemble(Node &node) {
  Builder &b = node.b;
  Ensemble trees;
  trees.targets = node.integer("n_targets", 1);
  static constexpr StringRef kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"},
                             kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = node.integer("aggregate_function", 1), transform = node.integer("post_transform", 0);
  SmallVector<int64_t> roots = node.integerList("tree_roots"), features = node.integerList("nodes_featureids"),
                       onTrue = node.integerList("nodes_truenodeids"), trueLeafs = node.integerList("nodes_trueleafs"),
                       onFalse = node.integerList("nodes_falsenodeids"),
                       falseLeafs = node.integerList("nodes_falseleafs"), targets = node.integerList("leaf_targetids"),
                       missing = node.integerList("nodes_missing_value_tracks_true");
  node.ignore("nodes_hitrates");
  std::optional<TensorValue> splits = node.tensor("nodes_splits"), modes = node.tensor("nodes_modes"),
                             weights = node.tensor("leaf_weights"), members;
  if (node.hasAttribute("membership_values"))
    members = node.tensor("membership_values");
  if (node.failed())
    return failure();
  if (!splits || !modes || !weights)
    return node.fail("expected attributes 'nodes_splits', 'nodes_modes' and 'leaf_weights'");
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return node.fail("attributes 'aggregate_function' and 'post_transform': expected a number in [0, 3] and [0, 4]");
  trees.aggregate = kAggregates[aggregate];
  trees.isWide = splits->getElementType().isF64() || weights->getElementType().isF64();
  int64_t inner = static_cast<int64_t>(features.size()), leaves = weights->getElementCount();
  if (splits->getElementCount() != inner || modes->getElementCount() != inner ||
      static_cast<int64_t>(targets.size()) != leaves ||
      (!missing.empty() && static_cast<int64_t>(missing.size()) != inner))
    return node.fail("expected as many entries in every attribute 'nodes_...', and a target a leaf");
  for (const SmallVector<int64_t> &list : {onTrue, trueLeafs, onFalse, falseLeafs})
    if (static_cast<int64_t>(list.size()) != inner)
      return node.fail("expected as many entries in every attribute 'nodes_...'");
  // Leaves stand behind the inner nodes.
  auto childAt = [&](int64_t place, bool isLeaf) {
    int64_t limit = isLeaf ? leaves : inner;
    return place < 0 || place >= limit ? int64_t(-1) : isLeaf ? inner + place : place;
  };
  for (int64_t i = 0; i < inner; ++i)
    trees.nodes.push_back({features[i], splits->getFloat(i), static_cast<Mode>(modes->getInteger(i)),
                           childAt(onTrue[i], trueLeafs[i] != 0), childAt(onFalse[i], falseLeafs[i] != 0),
                           !missing.empty() && missing[i] != 0});
  for (int64_t i = 0; i < leaves; ++i) {
    trees.nodes.emplace_back();
    trees.weights.push_back({inner + i, targets[i], weights->getFloat(i)});
  }
  // Whether a value is one of several is asked one after the other. The lists end with NaN, one a node of this mode.
  constexpr int64_t kMember = 6;
  int64_t next = 0;
  for (int64_t i = 0; i < inner; ++i) {
    int64_t mode = modes->getInteger(i);
    if (mode < 0 || mode > kMember)
      return node.fail("attribute 'nodes_modes': expected numbers in [0, 6], got " + std::to_string(mode));
    if (mode != kMember)
      continue;
    SmallVector<double> values;
    for (; members && next < members->getElementCount() && !std::isnan(members->getFloat(next)); ++next)
      values.push_back(members->getFloat(next));
    ++next;
    if (values.empty())
      return node.fail("attribute 'membership_values': expected values for every node of mode 6");
    int64_t at = i;
    for (size_t k = 0; k < values.size(); ++k) {
      trees.nodes[at].mode = Mode::Equal;
      trees.nodes[at].threshold = values[k];
      if (k + 1 == values.size())
        break;
      TreeNode rest = trees.nodes[at];
      trees.nodes[at].onFalse = static_cast<int64_t>(trees.nodes.size());
      at = trees.nodes[at].onFalse;
      trees.nodes.push_back(rest);
    }
  }
  for (int64_t root : roots) {
    if (root < 0 || root >= inner)
      return node.fail("attribute 'tree_roots': expected places of nodes");
    trees.roots.push_back(root);
  }
  Scores scores = Walk(node, trees).run(node.input(0), /*wantsGiven=*/false);
  return node.output(0,
                     b.convert(postTransformed(node, scores.sums, kTransforms[transform]), b.element(node.input(0))));
}

} // namespace

void addTreeEnsembleHandlers(HandlerTable &table) {
  table.addIn(kLearningDomain, "TreeEnsembleRegressor", 1, importTreeEnsembleRegressor);
  table.addIn(kLearningDomain, "TreeEnsembleClassifier", 1, importTreeEnsembleClassifier);
  table.addIn(kLearningDomain, "TreeEnsemble", 5, importTreeEnsemble);
}

} // namespace weft::importer
