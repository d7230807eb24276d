// C API: loading and inspection.
#include "runtime/Executor/CApi.h"

#include "runtime/Artifact/ArtifactFormat.h"
#include "runtime/Artifact/Expressions.h"

#include <cstring>

using namespace weft::runtime;

namespace {

WeftProgram::Tensor makeTensor(const std::string &name, ElementType type, const std::vector<Expression> &dims,
                               const std::vector<Symbol> &symbols) {
  WeftProgram::Tensor tensor;
  std::vector<Bounds> bounds;
  for (const Symbol &symbol : symbols)
    bounds.push_back({symbol.minimum, symbol.maximum});
  tensor.texts.reserve(dims.size());
  for (const Expression &dim : dims) {
    tensor.texts.push_back(toString(dim, symbols));
    Bounds range;
    evaluateBounds(dim, bounds.data(), range);
    tensor.dims.push_back({std::max<int64_t>(0, range.minimum), range.maximum, tensor.texts.back().c_str()});
  }
  tensor.info = {name.c_str(), static_cast<WeftElementType>(type), static_cast<int32_t>(dims.size()),
                 tensor.dims.data()};
  return tensor;
}

void describe(WeftProgram &handle) {
  const Program &program = handle.program->program();
  auto ports = [&](const std::vector<Port> &from, std::vector<WeftProgram::Tensor> &to) {
    for (const Port &port : from)
      to.push_back(makeTensor(port.name, port.type, port.dims, program.symbols));
  };
  for (const LoadedEntry &entry : handle.program->entries()) {
    handle.entries.emplace_back();
    ports(entry.entry->inputs, handle.entries.back().inputs);
    ports(entry.entry->outputs, handle.entries.back().outputs);
  }
  auto constants = [](const std::vector<int64_t> &dims) { return std::vector<Expression>(dims.begin(), dims.end()); };
  for (const Weight &weight : program.weights)
    handle.weights.push_back(makeTensor(weight.name, weight.type, constants(weight.dims), program.symbols));
  for (const State &state : program.states)
    handle.states.push_back(makeTensor(state.name, state.type, constants(state.dims), program.symbols));
  handle.metadata = {{"producer", program.producer},
                     {"model", program.modelName},
                     {"numerics", program.numerics},
                     {"target", handle.program->targetName()},
                     {"kernel_abi", std::to_string(WEFT_KERNEL_ABI_VERSION)},
                     {"format", std::to_string(kArtifactFormatVersion)}};
  handle.metadata.insert(handle.metadata.end(), program.metadata.begin(), program.metadata.end());
}

Status toOptions(const WeftLoadOptions *options, LoadOptions &result) {
  if (!options)
    return Status();
  // Those of a program that was compiled before the last fields were added.
  constexpr size_t kFirstSize = offsetof(WeftLoadOptions, cuda_driver);
  if (options->struct_size != sizeof(WeftLoadOptions) && options->struct_size != kFirstSize)
    return Status(StatusCode::InvalidArgument, "the load options have size " + std::to_string(options->struct_size) +
                                                   ", expected " + std::to_string(sizeof(WeftLoadOptions)) +
                                                   "; initialize them with weft_load_options_init");
  if (options->device)
    result.device = options->device;
  if (options->thread_pool)
    result.threadPool = options->thread_pool->pool;
  result.useLibraries = options->use_libraries != 0;
  result.checkWeights = options->check_weights != 0;
  if (options->allocator.allocate || options->allocator.release) {
    if (!options->allocator.allocate || !options->allocator.release)
      return Status(StatusCode::InvalidArgument, "the allocator needs both functions, allocate and release");
    result.allocator = options->allocator;
  }
  result.log = options->log;
  result.logUser = options->log_user;
  if (options->struct_size > kFirstSize && options->cuda_driver)
    result.cudaDriver = options->cuda_driver;
  return Status();
}

WeftStatus *finishLoading(StatusOr<std::shared_ptr<LoadedProgram>> loaded, WeftProgram **program) {
  if (!loaded.ok())
    return toC(loaded.status());
  auto handle = std::make_unique<WeftProgram>();
  handle->program = std::move(*loaded);
  describe(*handle);
  *program = handle.release();
  return nullptr;
}

Status outOfRange(const char *what, int32_t index, size_t count) {
  return Status(StatusCode::InvalidArgument,
                std::string("no ") + what + " " + std::to_string(index) + ", there are " + std::to_string(count));
}

bool inRange(int32_t index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

Status tensorInfo(const std::vector<WeftProgram::Tensor> &tensors, const char *what, int32_t index,
                  WeftTensorInfo *info) {
  if (!info)
    return nullArgument("info");
  if (!inRange(index, tensors.size()))
    return outOfRange(what, index, tensors.size());
  *info = tensors[static_cast<size_t>(index)].info;
  return Status();
}

const WeftProgram::EntryTensors *findEntry(const WeftProgram *program, int32_t entry) {
  return program && inRange(entry, program->entries.size()) ? &program->entries[static_cast<size_t>(entry)] : nullptr;
}

const LoadedVariant *findVariant(const WeftProgram *program, int32_t entry, int32_t variant) {
  if (!findEntry(program, entry))
    return nullptr;
  const auto &variants = program->program->entries()[static_cast<size_t>(entry)].variants;
  return inRange(variant, variants.size()) ? variants[static_cast<size_t>(variant)].get() : nullptr;
}

const char *kindName(const OpBody &body) {
  static constexpr const char *kNames[] = {"launch", "library_call", "copy", "fill", "if", "while", "check", "bind"};
  static_assert(std::variant_size_v<OpBody> == sizeof(kNames) / sizeof(kNames[0]));
  return kNames[body.index()];
}

} // namespace

void weft_load_options_init(WeftLoadOptions *options) {
  if (!options)
    return;
  *options = {};
  options->struct_size = sizeof(WeftLoadOptions);
  options->use_libraries = 1;
}

WeftStatus *weft_program_load_file(const char *path, const WeftLoadOptions *options, WeftProgram **program) {
  WeftStatus *failure = nullptr;
  WeftStatus *thrown = guarded([&] {
    if (!path)
      return nullArgument("path");
    if (!program)
      return nullArgument("program");
    LoadOptions loadOptions;
    WEFT_RETURN_IF_ERROR(toOptions(options, loadOptions));
    failure = finishLoading(LoadedProgram::loadFile(path, std::move(loadOptions)), program);
    return Status();
  });
  return thrown ? thrown : failure;
}

WeftStatus *weft_program_load_memory(const void *data, size_t size, const WeftLoadOptions *options,
                                     WeftProgram **program) {
  WeftStatus *failure = nullptr;
  WeftStatus *thrown = guarded([&] {
    if (!data && size > 0)
      return nullArgument("data");
    if (!program)
      return nullArgument("program");
    LoadOptions loadOptions;
    WEFT_RETURN_IF_ERROR(toOptions(options, loadOptions));
    failure = finishLoading(LoadedProgram::loadMemory(data, size, std::move(loadOptions)), program);
    return Status();
  });
  return thrown ? thrown : failure;
}

void weft_program_free(WeftProgram *program) { delete program; }

const char *weft_program_metadata(const WeftProgram *program, const char *key) {
  if (program && key)
    for (const auto &item : program->metadata)
      if (item.first == key)
        return item.second.c_str();
  return nullptr;
}

int32_t weft_program_symbol_count(const WeftProgram *program) {
  return program ? static_cast<int32_t>(program->program->program().symbols.size()) : 0;
}

WeftStatus *weft_program_symbol(const WeftProgram *program, int32_t symbol, WeftSymbolInfo *info) {
  return guarded([&] {
    if (!program || !info)
      return nullArgument(program ? "info" : "program");
    const std::vector<Symbol> &symbols = program->program->program().symbols;
    if (!inRange(symbol, symbols.size()))
      return outOfRange("symbol", symbol, symbols.size());
    const Symbol &found = symbols[static_cast<size_t>(symbol)];
    *info = {found.name.c_str(), found.minimum, found.maximum, found.source == SymbolSource::Data};
    return Status();
  });
}

int32_t weft_program_entry_count(const WeftProgram *program) {
  return program ? static_cast<int32_t>(program->entries.size()) : 0;
}

const char *weft_program_entry_name(const WeftProgram *program, int32_t entry) {
  return findEntry(program, entry) ? program->program->entries()[static_cast<size_t>(entry)].entry->name.c_str()
                                   : nullptr;
}

int32_t weft_program_input_count(const WeftProgram *program, int32_t entry) {
  const WeftProgram::EntryTensors *found = findEntry(program, entry);
  return found ? static_cast<int32_t>(found->inputs.size()) : 0;
}

int32_t weft_program_output_count(const WeftProgram *program, int32_t entry) {
  const WeftProgram::EntryTensors *found = findEntry(program, entry);
  return found ? static_cast<int32_t>(found->outputs.size()) : 0;
}

WeftStatus *weft_program_input(const WeftProgram *program, int32_t entry, int32_t index, WeftTensorInfo *info) {
  return guarded([&] {
    const WeftProgram::EntryTensors *found = findEntry(program, entry);
    return found ? tensorInfo(found->inputs, "input", index, info)
                 : outOfRange("entry", entry, program ? program->entries.size() : 0);
  });
}

WeftStatus *weft_program_output(const WeftProgram *program, int32_t entry, int32_t index, WeftTensorInfo *info) {
  return guarded([&] {
    const WeftProgram::EntryTensors *found = findEntry(program, entry);
    return found ? tensorInfo(found->outputs, "output", index, info)
                 : outOfRange("entry", entry, program ? program->entries.size() : 0);
  });
}

int32_t weft_program_weight_count(const WeftProgram *program) {
  return program ? static_cast<int32_t>(program->weights.size()) : 0;
}

WeftStatus *weft_program_weight(const WeftProgram *program, int32_t index, WeftTensorInfo *info) {
  return guarded(
      [&] { return program ? tensorInfo(program->weights, "weight", index, info) : nullArgument("program"); });
}

WeftStatus *weft_program_weight_data(const WeftProgram *program, int32_t index, const void **data, size_t *size) {
  return guarded([&] {
    if (!program || !data || !size)
      return nullArgument(!program ? "program" : !data ? "data" : "size");
    if (!inRange(index, program->weights.size()))
      return outOfRange("weight", index, program->weights.size());
    const ByteSpan &bytes = program->program->weights()[static_cast<size_t>(index)];
    *data = bytes.data;
    *size = static_cast<size_t>(bytes.size);
    return Status();
  });
}

int32_t weft_program_state_count(const WeftProgram *program) {
  return program ? static_cast<int32_t>(program->states.size()) : 0;
}

WeftStatus *weft_program_state(const WeftProgram *program, int32_t index, WeftTensorInfo *info) {
  return guarded([&] { return program ? tensorInfo(program->states, "state", index, info) : nullArgument("program"); });
}

int32_t weft_program_variant_count(const WeftProgram *program, int32_t entry) {
  return findEntry(program, entry)
             ? static_cast<int32_t>(program->program->entries()[static_cast<size_t>(entry)].variants.size())
             : 0;
}

int32_t weft_program_op_count(const WeftProgram *program, int32_t entry, int32_t variant) {
  const LoadedVariant *found = findVariant(program, entry, variant);
  return found ? static_cast<int32_t>(found->ops.size()) : 0;
}

WeftStatus *weft_program_op(const WeftProgram *program, int32_t entry, int32_t variant, int32_t op, WeftOpInfo *info) {
  return guarded([&] {
    const LoadedVariant *found = findVariant(program, entry, variant);
    if (!info)
      return nullArgument("info");
    if (!found || !inRange(op, found->ops.size()))
      return outOfRange("op", op, found ? found->ops.size() : 0);
    const LoadedOp &loaded = found->ops[static_cast<size_t>(op)];
    *info = {loaded.op->name.c_str(),
             kindName(loaded.op->body),
             loaded.implementation.c_str(),
             loaded.reason.c_str(),
             static_cast<int32_t>(loaded.sourceNodes.size()),
             loaded.sourceNodes.data()};
    return Status();
  });
}
