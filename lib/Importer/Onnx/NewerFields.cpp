//===- NewerFields.cpp - Fields of ONNX messages that the message definitions here lack -----------===//

#include "lib/Importer/Onnx/NewerFields.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using google::protobuf::internal::WireFormatLite;

namespace weft::importer {

namespace {

constexpr int kNodeOverload = 8, kFunctionDefaults = 11, kFunctionOverload = 13;

/// The values of a string or message field among unread bytes.
std::vector<std::string> unreadValues(const std::string &bytes, int field) {
  std::vector<std::string> values;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  while (uint32_t tag = stream.ReadTag()) {
    uint32_t length;
    if (WireFormatLite::GetTagFieldNumber(tag) == field &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      std::string value;
      if (!stream.ReadVarint32(&length) || !stream.ReadString(&value, static_cast<int>(length)))
        break;
      values.push_back(std::move(value));
    } else if (!WireFormatLite::SkipField(&stream, tag)) {
      break;
    }
  }
  return values;
}

std::string lastOf(std::vector<std::string> values) { return values.empty() ? std::string() : values.back(); }

} // namespace

std::string overloadOf(const onnx::NodeProto &node) {
  return lastOf(unreadValues(node.unknown_fields(), kNodeOverload));
}

std::string overloadOf(const onnx::FunctionProto &function) {
  return lastOf(unreadValues(function.unknown_fields(), kFunctionOverload));
}

std::vector<std::shared_ptr<const onnx::AttributeProto>> defaultAttributes(const onnx::FunctionProto &function) {
  std::vector<std::shared_ptr<const onnx::AttributeProto>> attributes;
  for (const std::string &bytes : unreadValues(function.unknown_fields(), kFunctionDefaults)) {
    auto attribute = std::make_shared<onnx::AttributeProto>();
    if (attribute->ParseFromString(bytes))
      attributes.push_back(std::move(attribute));
  }
  return attributes;
}

} // namespace weft::importer
