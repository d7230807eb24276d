//===- Tensors.cpp - Values of inputs and outputs: files, random numbers, the runtime's views
//-----------------------===//

#include "tools/weft/Tensors.h"
#include "dialects/Graph/Types.h"
#include "lib/Importer/Onnx/ModelFile.h"
#include "mlir/AsmParser/AsmParser.h"
#include "runtime/Artifact/Expressions.h"
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"
#include "runtime/Data/RandomInputs.h"
#include "tools/weft/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace mlir;
using weft::graph::TensorValue;

namespace weft::tool {

Type elementTypeOf(runtime::ElementType type, MLIRContext *context) {
  return parseType(runtime::elementTypeName(type), context);
}

runtime::ElementType elementTypeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return runtime::elementTypeFromName(name);
}

WeftTensorView viewOf(const TensorValue &value) {
  return {const_cast<void *>(value.getData()), static_cast<WeftElementType>(elementTypeOf(value.getElementType())),
          static_cast<int32_t>(value.getRank()), value.getShape().data(), nullptr};
}

TensorValue copyOf(const WeftTensorView &view, MLIRContext *context) {
  TensorValue value(elementTypeOf(static_cast<runtime::ElementType>(view.type), context),
                    ArrayRef<int64_t>(view.dims, view.rank));
  if (value.getByteSize())
    std::memcpy(value.getMutableData(), view.data, value.getByteSize());
  return value;
}

runtime::StatusOr<runtime::Array> arrayOf(const TensorValue &value) {
  std::vector<int64_t> dims(value.getShape().begin(), value.getShape().end());
  runtime::StatusOr<runtime::Array> array = runtime::makeArray(elementTypeOf(value.getElementType()), dims);
  if (array.ok() && value.getByteSize())
    std::memcpy(array->data.data(), value.getData(), value.getByteSize());
  return array;
}

namespace {

std::string shapeText(ArrayRef<int64_t> dims) {
  return "[" + llvm::join(llvm::map_range(dims, [](int64_t d) { return std::to_string(d); }), ", ") + "]";
}

class InputGatherer {
public:
  InputGatherer(const runtime::Program &program, const runtime::Entry &entry, MLIRContext *context)
      : program(program), entry(entry), context(context), values(entry.inputs.size()) {}

  bool readFiles(const DataOptions &options) {
    if (!options.inputsArchive.empty()) {
      runtime::StatusOr<runtime::NamedArrays> arrays = runtime::readNpz(options.inputsArchive);
      if (!arrays.ok())
        return fail(arrays.status().message()), false;
      for (auto &[name, array] : *arrays)
        if (!set(name, std::move(array), options.inputsArchive))
          return false;
    }
    for (const std::string &item : options.inputs) {
      auto [name, path] = StringRef(item).split('=');
      if (name.empty() || path.empty())
        return fail("--input " + item + ": expected NAME=FILE"), false;
      if (llvm::sys::path::extension(path) == ".pb") {
        FailureOr<TensorValue> value = importer::readTensorFile(path, UnknownLoc::get(context));
        if (mlir::failed(value) || !setValue(name, *value))
          return false;
        continue;
      }
      runtime::StatusOr<runtime::Array> array = runtime::readNpy(path.str());
      if (!array.ok())
        return fail(array.status().message()), false;
      if (!set(name, std::move(*array), path))
        return false;
    }
    return true;
  }

  bool fillRandom(uint64_t seed, ArrayRef<std::string> shapes, int64_t defaultSize) {
    std::vector<int64_t> symbols;
    for (const runtime::Symbol &symbol : program.symbols) {
      int64_t value = std::clamp(std::max<int64_t>(symbol.minimum, defaultSize), symbol.minimum, symbol.maximum);
      for (const std::string &shape : shapes) {
        auto [name, text] = StringRef(shape).split('=');
        int64_t given;
        if (name == symbol.name && !text.getAsInteger(10, given))
          value = given;
      }
      symbols.push_back(value);
    }
    // What files have settled already binds the symbols of the other inputs too.
    for (size_t i = 0; i < values.size(); ++i)
      for (size_t d = 0; values[i] && d < entry.inputs[i].dims.size(); ++d)
        if (const runtime::Expression &dim = entry.inputs[i].dims[d]; dim.isSymbol())
          symbols[dim.steps[0].value] = values[i].getShape()[d];
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i])
        continue;
      SmallVector<int64_t> dims;
      for (const runtime::Expression &dim : entry.inputs[i].dims) {
        int64_t size = 0;
        if (!runtime::evaluate(dim, symbols.data(), size) || size < 0)
          return fail("input \"" + entry.inputs[i].name + "\": no size for " + runtime::toString(dim, program.symbols)),
                 false;
        dims.push_back(size);
      }
      values[i] = TensorValue(elementTypeOf(entry.inputs[i].type, context), dims);
      runtime::fillRandom(entry.inputs[i].type, values[i].getElementCount(), seed, i, values[i].getMutableData());
    }
    return true;
  }

  FailureOr<std::vector<NamedTensor>> take() {
    std::vector<NamedTensor> named;
    for (auto [port, value] : llvm::zip(entry.inputs, values)) {
      if (!value) {
        fail("input \"" + port.name + "\" is missing: give --input " + port.name +
             "=FILE.npy, --inputs FILE.npz or --random-inputs");
        return failure();
      }
      named.push_back({port.name, std::move(value)});
    }
    return named;
  }

private:
  bool set(StringRef name, runtime::Array array, StringRef path) {
    const runtime::Port *port = find(name);
    if (!port)
      return false;
    runtime::StatusOr<runtime::Array> typed = runtime::asElementType(std::move(array), port->type);
    if (!typed.ok())
      return fail("input \"" + name + "\" from " + path + ": " + typed.status().message()), false;
    TensorValue value(elementTypeOf(port->type, context), typed->dims);
    if (value.getByteSize())
      std::memcpy(value.getMutableData(), typed->data.data(), value.getByteSize());
    return setValue(name, value);
  }

  bool setValue(StringRef name, TensorValue value) {
    const runtime::Port *port = find(name);
    if (!port)
      return false;
    if (elementTypeOf(value.getElementType()) != port->type)
      return fail("input \"" + name + "\": expected " + std::string(runtime::elementTypeName(port->type)) + ", got " +
                  std::string(runtime::elementTypeName(elementTypeOf(value.getElementType())))),
             false;
    bool fits = value.getRank() == static_cast<int64_t>(port->dims.size());
    for (size_t d = 0; fits && d < port->dims.size(); ++d)
      fits = !port->dims[d].isConstant() || port->dims[d].steps[0].value == value.getShape()[d];
    if (!fits) {
      std::string expected = llvm::join(
          llvm::map_range(port->dims, [&](const runtime::Expression &e) { return toString(e, program.symbols); }),
          ", ");
      return fail("input \"" + name + "\": expected shape [" + expected + "], got " + shapeText(value.getShape())),
             false;
    }
    values[port - entry.inputs.data()] = std::move(value);
    return true;
  }

  const runtime::Port *find(StringRef name) {
    for (const runtime::Port &port : entry.inputs)
      if (port.name == name)
        return &port;
    std::string known = llvm::join(llvm::map_range(entry.inputs, [](const runtime::Port &p) { return p.name; }), ", ");
    fail("there is no input \"" + name + "\"; the model takes: " + known);
    return nullptr;
  }

  const runtime::Program &program;
  const runtime::Entry &entry;
  MLIRContext *context;
  std::vector<TensorValue> values;
};

} // namespace

FailureOr<NamedTensor> parseFixedInput(StringRef text, MLIRContext *context) {
  auto [name, given] = text.split('=');
  auto problem = [&](const llvm::Twine &what) { return fail("--fix " + text + ": " + what), failure(); };
  if (name.empty() || given.empty())
    return problem("expected INPUT=FILE, or INPUT= and integers with commas");
  StringRef extension = llvm::sys::path::extension(given);
  if (extension == ".pb") {
    FailureOr<TensorValue> value = importer::readTensorFile(given, UnknownLoc::get(context));
    return mlir::failed(value) ? FailureOr<NamedTensor>() : NamedTensor{name.str(), *value};
  }
  if (extension == ".npy") {
    runtime::StatusOr<runtime::Array> array = runtime::readNpy(given.str());
    if (!array.ok())
      return problem(array.status().message());
    TensorValue value(elementTypeOf(array->type, context), array->dims);
    if (value.getByteSize())
      std::memcpy(value.getMutableData(), array->data.data(), value.getByteSize());
    return NamedTensor{name.str(), value};
  }
  SmallVector<StringRef> parts;
  given.split(parts, ',');
  SmallVector<int64_t> shape;
  if (parts.size() > 1)
    shape.push_back(static_cast<int64_t>(parts.size()));
  TensorValue value(IntegerType::get(context, 64), shape);
  for (auto [index, part] : llvm::enumerate(parts)) {
    int64_t number;
    if (part.trim().getAsInteger(10, number))
      return problem("expected a .npy or .pb file, or integers with commas");
    value.setInteger(static_cast<int64_t>(index), number);
  }
  return NamedTensor{name.str(), value};
}

FailureOr<std::vector<NamedTensor>> gatherInputs(const DataOptions &options, ArrayRef<std::string> shapes,
                                                 const runtime::Program &program, const runtime::Entry &entry,
                                                 MLIRContext *context, int64_t defaultSize) {
  InputGatherer gatherer(program, entry, context);
  if (!gatherer.readFiles(options) || (options.randomInputs && !gatherer.fillRandom(options.seed, shapes, defaultSize)))
    return failure();
  return gatherer.take();
}

} // namespace weft::tool
