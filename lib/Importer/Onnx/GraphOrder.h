//===- GraphOrder.h - The order in which the nodes of an ONNX graph can be imported --------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_GRAPHORDER_H
#define WEFT_LIB_IMPORTER_ONNX_GRAPHORDER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <google/protobuf/repeated_field.h>
#include <string>

namespace onnx {
class NodeProto;
} // namespace onnx

namespace weft::importer {

/// The indices of the nodes so that each comes after those it depends on (also through values that its subgraphs use);
/// the order of the file where that is such an order, as ONNX demands. Reports through `fail`: a value that two nodes
/// make, one that nobody makes, a cycle. `isDefined` knows the values from around the nodes.
mlir::FailureOr<llvm::SmallVector<int>> orderNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                                   llvm::function_ref<bool(llvm::StringRef)> isDefined,
                                                   llvm::function_ref<void(const std::string &)> fail);

} // namespace weft::importer

#endif
