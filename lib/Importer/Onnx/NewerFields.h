//===- NewerFields.h - Fields of ONNX messages that the message definitions here lack -------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_NEWERFIELDS_H
#define WEFT_LIB_IMPORTER_ONNX_NEWERFIELDS_H

#include <memory>
#include <string>
#include <vector>

namespace onnx {
class AttributeProto;
class FunctionProto;
class NodeProto;
} // namespace onnx

namespace weft::importer {

/// The distribution's onnx.proto is older than the files that are read: what it does not know stays in a message as
/// unread bytes, which these functions look into.

/// Which of several functions of one name a node calls, and which one a function is (IR version 10); mostly empty.
std::string overloadOf(const onnx::NodeProto &node);
std::string overloadOf(const onnx::FunctionProto &function);
/// The attributes of a function that have a default (IR version 9).
std::vector<std::shared_ptr<const onnx::AttributeProto>> defaultAttributes(const onnx::FunctionProto &function);

} // namespace weft::importer

#endif
