//===- Opsets.cpp - Which ONNX operators exist, and since which opset each means what ------------===//

#include "lib/Support/Onnx/Opsets.h"
#include "llvm/ADT/StringMap.h"

namespace weft {

namespace {

constexpr int kMany = OnnxOperator::kMany;

#define ONNX_OP(name, minInputs, maxInputs, minOutputs, maxOutputs, ...)                                               \
  constexpr int kVersionsOf##name[] = {__VA_ARGS__};
#include "lib/Support/Onnx/Opsets.def"

const OnnxOperator kOperators[] = {
#define ONNX_OP(name, minInputs, maxInputs, minOutputs, maxOutputs, ...)                                               \
  {#name, minInputs, maxInputs, minOutputs, maxOutputs, kVersionsOf##name},
#include "lib/Support/Onnx/Opsets.def"
};

} // namespace

int OnnxOperator::versionIn(int64_t opset) const {
  int found = 0;
  for (int version : versions)
    if (version <= opset)
      found = version;
  return found;
}

const OnnxOperator *findOnnxOperator(llvm::StringRef name) {
  static const llvm::StringMap<const OnnxOperator *> byName = [] {
    llvm::StringMap<const OnnxOperator *> map;
    for (const OnnxOperator &op : kOperators)
      map[op.name] = &op;
    return map;
  }();
  return byName.lookup(name);
}

llvm::StringRef canonicalDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

} // namespace weft
