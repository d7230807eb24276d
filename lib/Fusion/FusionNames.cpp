//===- FusionNames.cpp - How reports name ops and kernels -----------------------------------------------===//

#include "lib/Fusion/FusionNames.h"
#include "lib/Support/NodeNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::fusion {

std::string nameOp(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  SmallVector<StringRef> names = nodeNames(op->getLoc());
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
