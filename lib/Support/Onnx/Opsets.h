//===- Opsets.h - Which ONNX operators exist, and since which opset each means what --------------===//

#ifndef WEFT_LIB_SUPPORT_ONNX_OPSETS_H
#define WEFT_LIB_SUPPORT_ONNX_OPSETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <limits>

namespace weft {

/// An operator of ONNX's own domain, over all of its versions.
struct OnnxOperator {
  static constexpr int kMany = std::numeric_limits<int>::max();

  llvm::StringRef name;
  int minInputs, maxInputs, minOutputs, maxOutputs;
  llvm::ArrayRef<int> versions; // ascending

  /// The version in force in an opset; 0 where the operator is newer than it.
  int versionIn(int64_t opset) const;
};

/// The opsets of ONNX's own domain that the table covers.
inline constexpr int64_t kOldestOnnxOpset = 1;
inline constexpr int64_t kNewestOnnxOpset = 28;

/// The operator, or null.
const OnnxOperator *findOnnxOperator(llvm::StringRef name);

/// The domain with its two spellings of ONNX's own made one: "ai.onnx" is "".
llvm::StringRef canonicalDomain(llvm::StringRef domain);

} // namespace weft

#endif
