//===- CustomOperators.h - Operators that programs and shared libraries register -----------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_CUSTOMOPERATORS_H
#define WEFT_LIB_IMPORTER_ONNX_CUSTOMOPERATORS_H

#include "include/weft/operators.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

/// One lowering, as `WeftOperatorRegistry::add` takes it.
struct CustomOperator {
  std::string domain, opType;
  int64_t since = 1;
  WeftLowerFunction lower = nullptr;
  void *user = nullptr;
};

/// What the function registers is appended to `operators`.
llvm::Error collectOperators(WeftRegisterOperators function, std::vector<CustomOperator> &operators);
/// The same for the function of a shared library, which stays loaded.
llvm::Error loadOperators(const std::string &path, std::vector<CustomOperator> &operators);

namespace importer {

class HandlerTable;

void addCustomHandlers(HandlerTable &table, const std::vector<CustomOperator> &operators);

} // namespace importer
} // namespace weft

#endif
