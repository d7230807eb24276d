//===- ModelFile.cpp - An ONNX file in memory, and the values of its tensors ---------------------===//

#include "lib/Importer/Onnx/ModelFile.h"
#include "dialects/Graph/Types.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using weft::graph::TensorValue;

namespace weft::importer {

namespace {

/// No tensor of a model has as many elements; sizes above are damage.
constexpr int64_t kMostTensorElements = int64_t(1) << 40;
/// A tensor that its file does not hold element by element (a sparse one) may become as large as this, in bytes.
constexpr int64_t kMostMadeBytes = int64_t(1) << 32;

/// The fields that hold elements where raw_data does not, one message field a group of types.
enum class Field { Float, Int32, Int64, Double, Uint64 };

Field fieldOf(OnnxType type) {
  switch (type) {
  case OnnxType::Float:
    return Field::Float;
  case OnnxType::Int64:
    return Field::Int64;
  case OnnxType::Double:
    return Field::Double;
  case OnnxType::Uint32:
  case OnnxType::Uint64:
    return Field::Uint64;
  default:
    return Field::Int32;
  }
}

/// Bytes to elements where the storage is not the message's own: i1 as 0 and 1.
void normalizeBools(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    bytes[i] = bytes[i] != 0;
}

template <typename Out, typename In> void copyNarrowed(const In &field, void *out) {
  auto *elements = static_cast<Out *>(out);
  for (int i = 0; i < field.size(); ++i)
    elements[i] = static_cast<Out>(field.Get(i));
}

bool holdsOnlyBools(ArrayRef<char> bytes) {
  return llvm::all_of(bytes, [](char byte) { return byte == 0 || byte == 1; });
}

} // namespace

ModelFile::ModelFile() : proto(std::make_shared<onnx::ModelProto>()) {}

std::unique_ptr<ModelFile> ModelFile::read(StringRef path, Location location) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    emitError(location) << "cannot read '" << path << "': " << buffer.getError().message();
    return nullptr;
  }
  std::unique_ptr<ModelFile> file = parse({(*buffer)->getBufferStart(), (*buffer)->getBufferSize()}, location);
  if (file) {
    StringRef parent = llvm::sys::path::parent_path(path);
    file->folder = parent.empty() ? "." : parent.str();
  }
  return file;
}

std::unique_ptr<ModelFile> ModelFile::parse(ArrayRef<char> bytes, Location location) {
  if (bytes.empty()) {
    emitError(location) << "the file is empty; expected an ONNX model";
    return nullptr;
  }
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    emitError(location) << "the file has " << bytes.size()
                        << " bytes; a protobuf message has fewer than 2 GiB. Save the weights as external data";
    return nullptr;
  }
  std::unique_ptr<ModelFile> file(new ModelFile());
  if (!file->proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    emitError(location) << "not an ONNX model, or a truncated one: the protobuf message does not parse";
    return nullptr;
  }
  if (!file->proto->has_graph()) {
    emitError(location) << "not an ONNX model: it holds no graph";
    return nullptr;
  }
  return file;
}

FailureOr<ArrayRef<char>> ModelFile::externalData(const onnx::TensorProto &tensor, const std::string &subject,
                                                  Location location, std::shared_ptr<const llvm::MemoryBuffer> &owner) {
  auto error = [&]() { return emitError(location) << subject << ": external data: "; };
  std::string name;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location") {
      name = value.str();
    } else if (key == "offset" || key == "length") {
      if (value.getAsInteger(10, key == "offset" ? offset : length))
        return error() << "expected an integer as " << key << ", got '" << value << "'", failure();
      hasLength |= key == "length";
    }
  }
  if (name.empty())
    return error() << "no location is given", failure();
  if (folder.empty())
    return error() << "the model was given as bytes, so '" << name
                   << "' cannot be found; give the model's path, or embed its weights",
           failure();
  // The file must lie in the model's folder, also when symbolic links are followed.
  bool leaves = llvm::sys::path::is_absolute(name);
  for (auto part = llvm::sys::path::begin(name), end = llvm::sys::path::end(name); part != end; ++part)
    leaves |= *part == "..";
  SmallString<256> path(folder), realFolder, realPath;
  llvm::sys::path::append(path, name);
  if (!leaves) {
    if (std::error_code code = llvm::sys::fs::real_path(path, realPath))
      return error() << "cannot read '" << path << "': " << code.message(), failure();
    if (std::error_code code = llvm::sys::fs::real_path(folder, realFolder))
      return error() << "cannot read '" << folder << "': " << code.message(), failure();
    if (realFolder != "/")
      realFolder += "/";
    leaves = !StringRef(realPath).starts_with(realFolder);
  }
  if (leaves)
    return error() << "'" << name << "' leaves the model's folder; copy the file next to the model", failure();
  std::shared_ptr<const llvm::MemoryBuffer> &buffer = files[realPath];
  if (!buffer) {
    auto opened = llvm::MemoryBuffer::getFile(realPath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!opened)
      return error() << "cannot read '" << path << "': " << opened.getError().message(), failure();
    buffer = std::move(*opened);
  }
  if (!hasLength && offset <= buffer->getBufferSize())
    length = buffer->getBufferSize() - offset;
  if (offset > buffer->getBufferSize() || length > buffer->getBufferSize() - offset)
    return error() << "bytes " << offset << " to " << offset << " + " << length << " do not lie in '" << name
                   << "', which has " << buffer->getBufferSize(),
           failure();
  owner = buffer;
  return ArrayRef<char>(buffer->getBufferStart() + offset, length);
}

FailureOr<TensorValue> ModelFile::valueOf(const onnx::TensorProto &tensor, const std::string &subject,
                                          Location location) {
  auto error = [&]() { return emitError(location) << subject << ": "; };
  auto type = static_cast<OnnxType>(tensor.data_type());
  Type elementType = elementTypeOf(type, location.getContext());
  if (!elementType)
    return error() << "Weft has no tensors of type " << nameOf(type), failure();
  SmallVector<int64_t> shape;
  int64_t count = 1;
  for (int64_t size : tensor.dims()) {
    if (size < 0)
      return error() << "dimension " << shape.size() << " has size " << size, failure();
    shape.push_back(size);
  }
  bool isEmpty = llvm::is_contained(shape, 0);
  for (int64_t size : shape)
    if (!isEmpty && (llvm::MulOverflow(count, size, count) || count > kMostTensorElements))
      return error() << "a tensor of more than 2^40 elements", failure();
  if (isEmpty)
    count = 0;
  if (tensor.has_segment())
    return error() << "tensors in segments are not supported; save the model with whole tensors", failure();
  unsigned bits = graph::storageBits(elementType);
  auto byteSize = static_cast<uint64_t>(llvm::divideCeil(static_cast<uint64_t>(count) * bits, uint64_t(8)));

  bool isExternal = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if (isExternal || tensor.has_raw_data()) {
    ArrayRef<char> bytes;
    std::shared_ptr<const void> owner;
    if (isExternal) {
      std::shared_ptr<const llvm::MemoryBuffer> buffer;
      FailureOr<ArrayRef<char>> found = externalData(tensor, subject, location, buffer);
      if (failed(found))
        return failure();
      bytes = *found;
      owner = buffer;
    } else {
      bytes = {tensor.raw_data().data(), tensor.raw_data().size()};
      owner = proto;
    }
    if (bytes.size() != byteSize)
      return error() << "a tensor of shape ["
                     << llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), ", ")
                     << "] and type " << nameOf(type) << " has " << byteSize << " bytes, but " << bytes.size()
                     << " are given",
             failure();
    // A copy where the elements are not as a view needs them.
    bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % std::max<uint64_t>(1, bits / 8) == 0;
    bool asItIs = aligned && (type != OnnxType::Bool || holdsOnlyBools(bytes));
    if (asItIs)
      return TensorValue(elementType, shape, bytes.data(), owner);
    TensorValue value(elementType, shape);
    if (byteSize)
      std::memcpy(value.getMutableData(), bytes.data(), byteSize);
    if (type == OnnxType::Bool)
      normalizeBools(value.mutableDataAs<uint8_t>(), count);
    return value;
  }

  Field field = fieldOf(type);
  int64_t given = field == Field::Float    ? tensor.float_data_size()
                  : field == Field::Int64  ? tensor.int64_data_size()
                  : field == Field::Double ? tensor.double_data_size()
                  : field == Field::Uint64 ? tensor.uint64_data_size()
                                           : tensor.int32_data_size();
  // Elements narrower than a byte are packed, a byte an entry.
  int64_t expected = bits < 8 ? static_cast<int64_t>(byteSize) : count;
  if (given != expected)
    return error() << "a tensor of " << count << " elements of type " << nameOf(type) << " needs " << expected
                   << " entries, but " << given << " are given",
           failure();
  if (type == OnnxType::Float && count)
    return TensorValue(elementType, shape, tensor.float_data().data(), proto);
  if (type == OnnxType::Int64 && count)
    return TensorValue(elementType, shape, tensor.int64_data().data(), proto);
  if (type == OnnxType::Double && count)
    return TensorValue(elementType, shape, tensor.double_data().data(), proto);
  TensorValue value(elementType, shape);
  void *out = value.getMutableData();
  if (type == OnnxType::Uint64)
    copyNarrowed<uint64_t>(tensor.uint64_data(), out);
  else if (type == OnnxType::Uint32)
    copyNarrowed<uint32_t>(tensor.uint64_data(), out);
  else if (bits == 32)
    copyNarrowed<int32_t>(tensor.int32_data(), out);
  else if (bits == 16)
    copyNarrowed<uint16_t>(tensor.int32_data(), out);
  else
    copyNarrowed<uint8_t>(tensor.int32_data(), out);
  if (type == OnnxType::Bool)
    normalizeBools(value.mutableDataAs<uint8_t>(), count);
  return value;
}

FailureOr<TensorValue> ModelFile::valueOf(const onnx::SparseTensorProto &tensor, const std::string &subject,
                                          Location location) {
  auto error = [&]() { return emitError(location) << subject << ": sparse tensor: "; };
  FailureOr<TensorValue> values = valueOf(tensor.values(), subject, location),
                         indices = valueOf(tensor.indices(), subject, location);
  if (failed(values) || failed(indices))
    return failure();
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(count, size, count) || count > kMostMadeBytes / 8)
      return error() << "its shape is negative or too large", failure();
  int64_t entries = values->getElementCount(), rank = shape.size();
  bool linear = indices->getRank() == 1;
  if (!indices->getElementType().isSignlessInteger(64) || values->getRank() != 1 ||
      indices->getElementCount() != (linear ? entries : entries * rank))
    return error() << "expected one index an entry, or one a dimension and entry", failure();
  TensorValue dense(values->getElementType(), shape);
  for (int64_t entry = 0; entry < entries; ++entry) {
    int64_t position = 0;
    bool inside = true;
    if (linear) {
      position = indices->getInteger(entry);
      inside = position >= 0 && position < count;
    } else {
      for (int64_t i = 0; i < rank; ++i) {
        int64_t index = indices->getInteger(entry * rank + i);
        inside &= index >= 0 && index < shape[i];
        position = position * shape[i] + (inside ? index : 0);
      }
    }
    if (!inside)
      return error() << "entry " << entry << " lies outside", failure();
    if (graph::isFloatElement(dense.getElementType()))
      dense.setFloat(position, values->getFloat(entry));
    else
      dense.setInteger(position, values->getInteger(entry));
  }
  return dense;
}

static void collectExternalFiles(const onnx::TensorProto &tensor, std::set<std::string> &names) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    for (const onnx::StringStringEntryProto &entry : tensor.external_data())
      if (entry.key() == "location")
        names.insert(entry.value());
}

static void collectExternalFiles(const onnx::GraphProto &graph, std::set<std::string> &names);

template <typename Nodes> static void collectFromNodes(const Nodes &nodes, std::set<std::string> &names) {
  for (const onnx::NodeProto &node : nodes)
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      collectExternalFiles(attribute.t(), names);
      for (const onnx::TensorProto &tensor : attribute.tensors())
        collectExternalFiles(tensor, names);
      if (attribute.has_g())
        collectExternalFiles(attribute.g(), names);
      for (const onnx::GraphProto &graph : attribute.graphs())
        collectExternalFiles(graph, names);
    }
}

static void collectExternalFiles(const onnx::GraphProto &graph, std::set<std::string> &names) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    collectExternalFiles(tensor, names);
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    collectExternalFiles(tensor.values(), names);
    collectExternalFiles(tensor.indices(), names);
  }
  collectFromNodes(graph.node(), names);
}

std::vector<std::string> externalDataFiles(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  onnx::ModelProto model;
  if (!buffer || (*buffer)->getBufferSize() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !model.ParseFromArray((*buffer)->getBufferStart(), static_cast<int>((*buffer)->getBufferSize())))
    return {};
  std::set<std::string> names;
  collectExternalFiles(model.graph(), names);
  for (const onnx::FunctionProto &function : model.functions())
    collectFromNodes(function.node(), names);
  // Those that leave the folder are never read either.
  std::vector<std::string> found(names.begin(), names.end());
  llvm::erase_if(found, [](StringRef name) {
    return name.empty() || llvm::sys::path::is_absolute(name) ||
           std::any_of(llvm::sys::path::begin(name), llvm::sys::path::end(name),
                       [](StringRef part) { return part == ".."; });
  });
  return found;
}

FailureOr<TensorValue> readTensorFile(StringRef path, Location location) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(location) << "cannot read '" << path << "': " << buffer.getError().message(), failure();
  return readTensor((*buffer)->getBuffer(), "'" + path.str() + "'", location);
}

FailureOr<TensorValue> readTensor(StringRef serialized, const std::string &where, Location location) {
  // A tensor's value is found through a model, which keeps it alive: make one that holds nothing else.
  onnx::ModelProto holder;
  onnx::TensorProto *tensor = holder.mutable_graph()->add_initializer();
  if (serialized.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !tensor->ParseFromArray(serialized.data(), static_cast<int>(serialized.size())))
    return emitError(location) << where << " does not hold a tensor of ONNX", failure();
  std::string bytes = holder.SerializeAsString();
  std::unique_ptr<ModelFile> file = ModelFile::parse({bytes.data(), bytes.size()}, location);
  return file ? file->valueOf(file->model().graph().initializer(0), "tensor", location) : FailureOr<TensorValue>();
}

} // namespace weft::importer
