//===- NodeNames.cpp - The model's nodes that an op comes from -----------------------------------------===//

#include "lib/Support/NodeNames.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

static void collect(Location location, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (!llvm::is_contained(names, name.getName().getValue()))
      names.push_back(name.getName().getValue());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location inner : fused.getLocations())
      collect(inner, names);
  } else if (auto site = dyn_cast<CallSiteLoc>(location)) {
    collect(site.getCallee(), names);
  }
}

llvm::SmallVector<StringRef> nodeNames(Location location) {
  SmallVector<StringRef> names;
  collect(location, names);
  return names;
}

} // namespace weft
