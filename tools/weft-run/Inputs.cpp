// Inputs from .npy and .npz files, and random ones.
#include "tools/weft-run/Inputs.h"

#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"
#include "runtime/Data/RandomInputs.h"

#include <algorithm>
#include <map>
#include <optional>

namespace weft::run {
namespace {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArrays;

WeftTensorInfo inputInfo(WeftProgram *program, int32_t entry, int32_t index) {
  WeftTensorInfo info;
  check(weft_program_input(program, entry, index, &info));
  return info;
}

std::string inputNames(WeftProgram *program, int32_t entry) {
  std::string names;
  for (int32_t index = 0; index < weft_program_input_count(program, entry); ++index)
    names += (index ? ", \"" : "\"") + std::string(inputInfo(program, entry, index).name) + "\"";
  return names.empty() ? "none" : names;
}

Array convert(Array array, const std::string &source, const WeftTensorInfo &info) {
  auto converted = runtime::asElementType(std::move(array), static_cast<ElementType>(info.type));
  if (!converted.ok())
    throw Failure("input \"" + std::string(info.name) + "\" from '" + source + "': " + converted.status().message());
  return std::move(*converted);
}

// Sizes of symbolic dimensions: what --shape says, else what the given inputs have, else the smallest above 0.
class Shapes {
public:
  Shapes(const Arguments &arguments, WeftProgram *program) {
    std::string names;
    for (int32_t index = 0; index < weft_program_symbol_count(program); ++index) {
      WeftSymbolInfo symbol;
      check(weft_program_symbol(program, index, &symbol));
      values_[symbol.name] = std::max(symbol.minimum, std::min<int64_t>(1, symbol.maximum));
      names += (names.empty() ? "" : ", ") + std::string(symbol.name) + " (" + std::to_string(symbol.minimum) + " to " +
               std::to_string(symbol.maximum) + ")";
    }
    for (const auto &[name, value] : arguments.shape) {
      if (!values_.count(name))
        throw Failure("--shape: the model has no symbolic dimension '" + name + "'; it has " +
                      (names.empty() ? "none" : names));
      values_[name] = value;
      fixed_[name] = value;
    }
  }

  void learn(const WeftTensorInfo &info, const Array &array) {
    for (int32_t axis = 0; axis < info.rank && array.dims.size() == static_cast<size_t>(info.rank); ++axis)
      if (values_.count(info.dims[axis].text) && !fixed_.count(info.dims[axis].text))
        values_[info.dims[axis].text] = array.dims[static_cast<size_t>(axis)];
  }

  std::vector<int64_t> dims(const WeftTensorInfo &info) const {
    std::vector<int64_t> result;
    for (int32_t axis = 0; axis < info.rank; ++axis) {
      const WeftDimension &dimension = info.dims[axis];
      if (dimension.minimum == dimension.maximum) {
        result.push_back(dimension.minimum);
        continue;
      }
      auto symbol = values_.find(dimension.text);
      if (symbol == values_.end())
        throw Failure("input \"" + std::string(info.name) + "\" has a computed dimension, " + dimension.text +
                      ": random values cannot be made for it, give it with --input");
      result.push_back(symbol->second);
    }
    return result;
  }

private:
  std::map<std::string, int64_t> values_, fixed_;
};

Array randomArray(const WeftTensorInfo &info, const std::vector<int64_t> &dims, uint64_t seed, int32_t index) {
  auto array = runtime::makeArray(static_cast<ElementType>(info.type), dims);
  check(array.status());
  runtime::fillRandom(array->type, array->elementCount(), seed, static_cast<uint64_t>(index), array->data.data());
  return std::move(*array);
}

} // namespace

void bindInputs(const Arguments &arguments, WeftProgram *program, int32_t entry, WeftRun *run, NamedArrays &arrays) {
  struct Given {
    Array array;
    std::string source;
  };
  std::map<std::string, Given> given;
  if (!arguments.inputsFile.empty()) {
    auto read = runtime::readNpz(arguments.inputsFile);
    check(read.status());
    for (auto &[name, array] : *read)
      given[name] = {std::move(array), arguments.inputsFile};
  }
  for (const auto &[name, file] : arguments.inputs) {
    auto read = runtime::readNpy(file);
    check(read.status());
    given[name] = {std::move(*read), file};
  }

  int32_t count = weft_program_input_count(program, entry);
  Shapes shapes(arguments, program);
  std::vector<std::optional<Array>> bound(static_cast<size_t>(count));
  for (int32_t index = 0; index < count; ++index) {
    WeftTensorInfo info = inputInfo(program, entry, index);
    auto found = given.find(info.name);
    if (found == given.end())
      continue;
    bound[static_cast<size_t>(index)] = convert(std::move(found->second.array), found->second.source, info);
    shapes.learn(info, *bound[static_cast<size_t>(index)]);
    given.erase(found);
  }
  if (!given.empty())
    throw Failure("'" + given.begin()->second.source + "' gives input \"" + given.begin()->first +
                  "\", which the model does not have; its inputs are " + inputNames(program, entry));
  std::string missing;
  for (int32_t index = 0; index < count; ++index) {
    auto &array = bound[static_cast<size_t>(index)];
    WeftTensorInfo info = inputInfo(program, entry, index);
    if (!array && arguments.randomInputs)
      array = randomArray(info, shapes.dims(info), arguments.seed, index);
    if (!array)
      missing += (missing.empty() ? "\"" : ", \"") + std::string(info.name) + "\"";
    else
      arrays.emplace_back(info.name, std::move(*array));
  }
  if (!missing.empty())
    throw Failure("no value for input " + missing +
                  ": give --input NAME=FILE.npy, --inputs FILE.npz or --random-inputs");
  for (auto &[name, array] : arrays) {
    WeftTensorView view = {array.data.data(), static_cast<WeftElementType>(array.type),
                           static_cast<int32_t>(array.dims.size()), array.dims.data(), nullptr};
    check(weft_run_set_input(run, name.c_str(), &view));
  }
}

} // namespace weft::run
