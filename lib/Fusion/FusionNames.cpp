//===- FusionNames.cpp - How reports name ops and kernels -----------------------------------------------===//

#include "lib/Fusion/FusionNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::fusion {

namespace {

/// The names in a location, outermost first.
void collectNames(Location location, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (!llvm::is_contained(names, name.getName().getValue()))
      names.push_back(name.getName().getValue());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location inner : fused.getLocations())
      collectNames(inner, names);
  }
}

} // namespace

std::string nameOp(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  SmallVector<StringRef> names;
  collectNames(op->getLoc(), names);
  if (!names.empty())
    text += " \"" + llvm::join(names, "\", \"") + "\"";
  return text;
}

std::string nameCluster(FusionGraph &graph, unsigned cluster) {
  std::string text = nameOp(graph.getRoot(cluster));
  size_t members = graph[cluster].members.size();
  if (members > 1)
    text += " and " + std::to_string(members - 1) + " more";
  return text;
}

} // namespace weft::fusion
