//===- Contrib.h - The importers of operators that ONNX Runtime defines ------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_CONTRIB_H
#define WEFT_LIB_IMPORTER_ONNX_CONTRIB_H

#include "lib/Importer/Onnx/Handlers.h"

namespace weft::importer {

/// Their domain.
inline constexpr llvm::StringLiteral kContribDomain = "com.microsoft";

/// One function a family, as in Handlers.h. Some take over handlers of ONNX's own domain: they come after those.
void addContribActivationHandlers(HandlerTable &table);
void addContribAttentionHandlers(HandlerTable &table);
void addContribContractionHandlers(HandlerTable &table);
void addContribNormalizationHandlers(HandlerTable &table);
void addContribQuantizationHandlers(HandlerTable &table);

} // namespace weft::importer

#endif
