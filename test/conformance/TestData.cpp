//===- TestData.cpp - The values of a test's inputs and outputs ------------------------------------===//

#include "test/conformance/TestData.h"
#include "lib/Importer/Onnx/ModelFile.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <set>

using namespace mlir;
using weft::graph::TensorValue;

namespace weft::conformance {

namespace {

/// The numbers of the fields of SequenceProto and OptionalProto, which the distribution's onnx.proto does not have.
constexpr int kSequenceTensors = 3, kOptionalTensor = 3, kOptionalSequence = 5;

/// The messages that stand in one field of a serialized message.
std::vector<std::string> messagesIn(StringRef bytes, int field) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  std::vector<std::string> found;
  while (uint32_t tag = stream.ReadTag()) {
    uint32_t length;
    if (WireFormatLite::GetTagFieldNumber(tag) != field ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&stream, tag))
        break;
      continue;
    }
    std::string message;
    if (!stream.ReadVarint32(&length) || !stream.ReadString(&message, static_cast<int>(length)))
      break;
    found.push_back(std::move(message));
  }
  return found;
}

LogicalResult addTensor(PortValue &value, StringRef bytes, const std::string &name, const onnx::TypeProto &type,
                        Location location) {
  FailureOr<TensorValue> tensor = importer::readTensor(bytes, "'" + name + "'", location);
  if (failed(tensor))
    return failure();
  // Test data older than numpy's bfloat16 hold its bits.
  Type bfloat = BFloat16Type::get(location.getContext());
  bool holdsBits = type.has_tensor_type() && tensor->getElementType().isUnsignedInteger(16) &&
                   type.tensor_type().elem_type() == static_cast<int>(OnnxType::Bfloat16);
  value.tensors.push_back({name, holdsBits ? tensor->bitcast(bfloat) : *tensor});
  return success();
}

LogicalResult addValue(PortValue &value, StringRef bytes, const std::string &name, const onnx::TypeProto &type,
                       Location location) {
  if (type.has_optional_type()) {
    const onnx::TypeProto &element = type.optional_type().elem_type();
    std::vector<std::string> inner =
        messagesIn(bytes, element.has_sequence_type() ? kOptionalSequence : kOptionalTensor);
    value.isAbsent = inner.empty();
    return inner.empty() ? success() : addValue(value, inner[0], name, element, location);
  }
  if (!type.has_sequence_type())
    return addTensor(value, bytes, name, type, location);
  value.isSequence = true;
  for (const std::string &element : messagesIn(bytes, kSequenceTensors))
    if (failed(addTensor(value, element, name + "[" + std::to_string(value.tensors.size()) + "]",
                         type.sequence_type().elem_type(), location)))
      return failure();
  return success();
}

} // namespace

std::optional<Signature> signatureOf(StringRef model) {
  auto buffer = llvm::MemoryBuffer::getFile(model, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  onnx::ModelProto proto;
  if (!buffer || !proto.ParseFromArray((*buffer)->getBufferStart(), static_cast<int>((*buffer)->getBufferSize())))
    return std::nullopt;
  std::set<std::string> initializers;
  for (const onnx::TensorProto &tensor : proto.graph().initializer())
    initializers.insert(tensor.name());
  Signature signature;
  for (const onnx::ValueInfoProto &input : proto.graph().input())
    if (!initializers.count(input.name()))
      signature.inputs.push_back({input.name(), input.type()});
  for (const onnx::ValueInfoProto &output : proto.graph().output())
    signature.outputs.push_back({output.name(), output.type()});
  return signature;
}

std::vector<std::string> PortValue::shapeOptions(const std::string &name) const {
  if (isAbsent)
    return {name + "=none"};
  std::vector<std::string> options;
  if (!isSequence)
    return options;
  options.push_back(name + "[]=" + std::to_string(tensors.size()));
  for (const auto &[element, tensor] : tensors) {
    std::string sizes;
    for (int64_t size : tensor.getShape())
      sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
    options.push_back(element + "=" + (sizes.empty() ? "scalar" : sizes));
  }
  return options;
}

FailureOr<PortValue> readPort(StringRef file, const ModelPort &port, Location location) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return LogicalResult(emitError(location) << "cannot read '" << file << "': " << buffer.getError().message());
  PortValue value;
  if (failed(addValue(value, (*buffer)->getBuffer(), port.name, port.type, location)))
    return failure();
  return value;
}

} // namespace weft::conformance
