//===- Handlers.cpp - Which function imports which ONNX operator ---------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Attention.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Learning.h"
#include "lib/Importer/Onnx/Random.h"
#include "lib/Importer/Onnx/Training.h"

namespace weft::importer {

void HandlerTable::addIn(llvm::StringRef domain, llvm::StringRef opType, int since, Handler handler) {
  handlers[{domain.str(), opType.str()}][since] = std::move(handler);
}

const Handler *HandlerTable::find(llvm::StringRef domain, llvm::StringRef opType, int64_t opset) const {
  auto versions = handlers.find({domain.str(), opType.str()});
  if (versions == handlers.end())
    return nullptr;
  const Handler *found = nullptr;
  for (const auto &[since, handler] : versions->second)
    if (since <= opset)
      found = &handler;
  return found;
}

bool HandlerTable::knows(llvm::StringRef domain, llvm::StringRef opType) const {
  return handlers.count({domain.str(), opType.str()}) != 0;
}

HandlerTable makeHandlerTable() {
  HandlerTable table;
  addElementwiseHandlers(table);
  addActivationHandlers(table);
  addReductionHandlers(table);
  addContractionHandlers(table);
  addConvolutionHandlers(table);
  addPoolingHandlers(table);
  addNormalizationHandlers(table);
  addShapeHandlers(table);
  addMovementHandlers(table);
  addIndexingHandlers(table);
  addSamplingHandlers(table);
  addSequenceHandlers(table);
  addSignalHandlers(table);
  addTfIdfHandlers(table);
  addSelectionHandlers(table);
  addCreationHandlers(table);
  addControlFlowHandlers(table);
  addRecurrentHandlers(table);
  addLossHandlers(table);
  addResizeHandlers(table);
  addEinsumHandlers(table);
  addQuantizationHandlers(table);
  addAttentionHandlers(table);
  addRotaryEmbeddingHandlers(table);
  addLinearAttentionHandlers(table);
  addRandomHandlers(table);
  addTrainingHandlers(table);
  addLearningHandlers(table);
  addTreeEnsembleHandlers(table);
  addContribActivationHandlers(table);
  addContribAttentionHandlers(table);
  addContribContractionHandlers(table);
  addContribNormalizationHandlers(table);
  addContribQuantizationHandlers(table);
  return table;
}

} // namespace weft::importer
