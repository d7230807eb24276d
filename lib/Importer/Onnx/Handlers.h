//===- Handlers.h - Which function imports which ONNX operator -----------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_HANDLERS_H
#define WEFT_LIB_IMPORTER_ONNX_HANDLERS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <string>

namespace weft::importer {

class Node;

/// Imports one node: builds its meaning and sets its outputs.
using Handler = std::function<mlir::LogicalResult(Node &)>;

/// Handlers by domain, operator and the first opset that each is right for.
class HandlerTable {
public:
  /// Registers a handler of ONNX's own domain, for opsets from `since` on (up to the next one's).
  void add(llvm::StringRef opType, int since, Handler handler) { addIn("", opType, since, std::move(handler)); }
  void add(llvm::StringRef opType, Handler handler) { addIn("", opType, 1, std::move(handler)); }
  void addIn(llvm::StringRef domain, llvm::StringRef opType, int since, Handler handler);

  /// The handler in force in an opset, or null.
  const Handler *find(llvm::StringRef domain, llvm::StringRef opType, int64_t opset) const;
  /// Whether any opset has one.
  bool knows(llvm::StringRef domain, llvm::StringRef opType) const;

private:
  std::map<std::pair<std::string, std::string>, std::map<int, Handler>> handlers;
};

/// One function a family of operators; each stands in the file of its name.
void addElementwiseHandlers(HandlerTable &table);
void addActivationHandlers(HandlerTable &table);
void addReductionHandlers(HandlerTable &table);
void addContractionHandlers(HandlerTable &table);
void addConvolutionHandlers(HandlerTable &table);
void addPoolingHandlers(HandlerTable &table);
void addNormalizationHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addMovementHandlers(HandlerTable &table);
void addIndexingHandlers(HandlerTable &table);
void addSamplingHandlers(HandlerTable &table);
void addSequenceHandlers(HandlerTable &table);
void addTfIdfHandlers(HandlerTable &table);
void addSignalHandlers(HandlerTable &table);
void addSelectionHandlers(HandlerTable &table);
void addCreationHandlers(HandlerTable &table);
void addControlFlowHandlers(HandlerTable &table);
void addRecurrentHandlers(HandlerTable &table);
void addLossHandlers(HandlerTable &table);
void addResizeHandlers(HandlerTable &table);
void addEinsumHandlers(HandlerTable &table);
void addQuantizationHandlers(HandlerTable &table);

/// All of them.
HandlerTable makeHandlerTable();

} // namespace weft::importer

#endif
