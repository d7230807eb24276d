//===- GraphOrder.cpp - The order in which the nodes of an ONNX graph can be imported ------------===//

#include "lib/Importer/Onnx/GraphOrder.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace mlir;

namespace weft::importer {

namespace {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Calls `use` for every name that a node takes from around it.
void forEachUse(const onnx::NodeProto &node, llvm::function_ref<void(StringRef)> use);

void forEachFreeName(const onnx::GraphProto &graph, llvm::function_ref<void(StringRef)> use) {
  llvm::StringSet<> own;
  for (const onnx::ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const onnx::TensorProto &initializer : graph.initializer())
    own.insert(initializer.name());
  for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer())
    own.insert(initializer.values().name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      own.insert(output);
  auto useIfFree = [&](StringRef name) {
    if (!own.contains(name))
      use(name);
  };
  for (const onnx::NodeProto &node : graph.node())
    forEachUse(node, useIfFree);
  for (const onnx::ValueInfoProto &output : graph.output())
    useIfFree(output.name());
}

void forEachUse(const onnx::NodeProto &node, llvm::function_ref<void(StringRef)> use) {
  for (const std::string &input : node.input())
    if (!input.empty())
      use(input);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      forEachFreeName(attribute.g(), use);
    for (const onnx::GraphProto &graph : attribute.graphs())
      forEachFreeName(graph, use);
  }
}

std::string describe(const NodeList &nodes, int index) {
  const onnx::NodeProto &node = nodes.Get(index);
  return "node " + std::to_string(index) + " ('" + node.name() + "', " + node.op_type() + ")";
}

} // namespace

FailureOr<SmallVector<int>> orderNodes(const NodeList &nodes, llvm::function_ref<bool(StringRef)> isDefined,
                                       llvm::function_ref<void(const std::string &)> fail) {
  llvm::StringMap<int> makers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes.Get(i).output()) {
      if (output.empty())
        continue;
      auto [maker, isNew] = makers.insert({output, i});
      if (!isNew) {
        fail("value '" + output + "' is made twice, by " + describe(nodes, maker->second) + " and " +
             describe(nodes, i) + "; each value must have one maker");
        return failure();
      }
      if (isDefined(output)) {
        fail(describe(nodes, i) + " makes value '" + output +
             "', which is already an input, an initializer or a value of a graph around");
        return failure();
      }
    }
  SmallVector<SmallVector<int>> needs(nodes.size()), usedBy(nodes.size());
  for (int i = 0; i < nodes.size(); ++i) {
    std::string undefined;
    forEachUse(nodes.Get(i), [&](StringRef name) {
      auto maker = makers.find(name);
      if (maker != makers.end())
        needs[i].push_back(maker->second);
      else if (!isDefined(name) && undefined.empty())
        undefined = name.str();
    });
    if (!undefined.empty()) {
      fail(describe(nodes, i) + " uses value '" + undefined + "', which no node makes and which is no input");
      return failure();
    }
    llvm::sort(needs[i]);
    needs[i].erase(llvm::unique(needs[i]), needs[i].end());
    for (int need : needs[i])
      usedBy[need].push_back(i);
  }
  // The least index first: the order of the file is kept as far as it can be.
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  SmallVector<size_t> missing;
  for (int i = 0; i < nodes.size(); ++i) {
    missing.push_back(needs[i].size());
    if (needs[i].empty())
      ready.push(i);
  }
  SmallVector<int> order;
  while (!ready.empty()) {
    int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int user : usedBy[node])
      if (--missing[user] == 0)
        ready.push(user);
  }
  if (static_cast<int>(order.size()) == nodes.size())
    return order;
  // What is left has a cycle: follow the needs from any of it until a node comes again.
  int node = 0;
  while (missing[node] == 0)
    ++node;
  SmallVector<int> path;
  while (!llvm::is_contained(path, node)) {
    path.push_back(node);
    node = *llvm::find_if(needs[node], [&](int need) { return missing[need] != 0; });
  }
  std::string message = "the graph has a cycle: ";
  for (auto *step = llvm::find(path, node); step != path.end(); ++step)
    message += describe(nodes, *step) + " needs ";
  fail(message + describe(nodes, node));
  return failure();
}

} // namespace weft::importer
