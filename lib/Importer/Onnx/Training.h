//===- Training.h - The importers of optimizer steps -----------------------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_TRAINING_H
#define WEFT_LIB_IMPORTER_ONNX_TRAINING_H

#include "lib/Importer/Onnx/Handlers.h"

namespace weft::importer {

void addTrainingHandlers(HandlerTable &table);

} // namespace weft::importer

#endif
