// Validation of symbols, tensors, entries and blocks; ValidateOps.cpp has the single ops.
#include "runtime/Artifact/Validate.h"

#include "runtime/Artifact/CpuFeatures.h"
#include "runtime/Artifact/CudaArchitecture.h"
#include "runtime/Artifact/Expressions.h"
#include "runtime/Artifact/ValidateOps.h"

#include <cstring>
#include <set>

namespace weft::runtime {
namespace {

Status damaged(const std::string &message) { return Status(StatusCode::DataLoss, message); }

std::string quote(const std::string &text) { return "\"" + text + "\""; }

// Names people and programs look things up by: unique, not empty, no NUL inside.
class Names {
public:
  explicit Names(std::string kind) : kind_(std::move(kind)) {}
  Status add(const std::string &name) {
    if (name.empty() || name.find('\0') != std::string::npos)
      return damaged("a " + kind_ + " without a proper name");
    if (!seen_.insert(name).second)
      return damaged("two of " + kind_ + " " + quote(name));
    return Status();
  }

private:
  std::string kind_;
  std::set<std::string> seen_;
};

template <typename Dims> Status checkTypeAndRank(const std::string &what, ElementType type, const Dims &dims) {
  if (!isValid(type))
    return damaged(what + " has unknown element type " + std::to_string(static_cast<int>(type)));
  if (dims.size() > kMaximumRank)
    return damaged(what + " has rank " + std::to_string(dims.size()) + ", more than " + std::to_string(kMaximumRank));
  return Status();
}

Status validateSymbols(const Program &program) {
  Names names("symbol");
  for (const Symbol &symbol : program.symbols) {
    WEFT_RETURN_IF_ERROR(names.add(symbol.name));
    if (symbol.minimum < 0 || symbol.maximum < symbol.minimum)
      return damaged("symbol " + quote(symbol.name) + " has bounds " + std::to_string(symbol.minimum) + " to " +
                     std::to_string(symbol.maximum));
    if (symbol.source != SymbolSource::InputDimension && symbol.source != SymbolSource::Data)
      return damaged("symbol " + quote(symbol.name) + " has an unknown source");
  }
  return Status();
}

Status validateWeightsAndStates(const Program &program) {
  Names weightNames("weight");
  for (const Weight &weight : program.weights) {
    WEFT_RETURN_IF_ERROR(weightNames.add(weight.name));
    std::string what = "weight " + quote(weight.name);
    WEFT_RETURN_IF_ERROR(checkTypeAndRank(what, weight.type, weight.dims));
    int64_t bytes;
    if (!byteCountOf(weight.type, weight.dims.data(), weight.dims.size(), bytes))
      return damaged(what + " has impossible dimensions");
  }
  Names stateNames("state");
  for (const State &state : program.states) {
    WEFT_RETURN_IF_ERROR(stateNames.add(state.name));
    std::string what = "state " + quote(state.name);
    WEFT_RETURN_IF_ERROR(checkTypeAndRank(what, state.type, state.dims));
    int64_t bytes;
    if (!byteCountOf(state.type, state.dims.data(), state.dims.size(), bytes))
      return damaged(what + " has impossible dimensions");
    if (state.initialWeight < -1 || state.initialWeight >= static_cast<int64_t>(program.weights.size()))
      return damaged(what + " starts from weight " + std::to_string(state.initialWeight) + " of " +
                     std::to_string(program.weights.size()));
    if (state.initialWeight >= 0) {
      const Weight &weight = program.weights[static_cast<size_t>(state.initialWeight)];
      if (weight.type != state.type || weight.dims != state.dims)
        return damaged(what + " starts from weight " + quote(weight.name) + " of another type or shape");
    }
  }
  return Status();
}

Status validateTargets(const Program &program) {
  for (const Target &target : program.targets) {
    if (target.device.empty() || target.architecture.empty())
      return damaged("target " + quote(target.name) + " without device or architecture");
    CudaArchitecture architecture;
    if (target.device == "cuda" && !parseCudaArchitecture(target.architecture, architecture))
      return damaged("target " + quote(target.name) + " has architecture " + quote(target.architecture) +
                     ", expected one like \"sm_90\"");
    for (const std::string &feature : target.features)
      if (feature.empty())
        return damaged("target " + quote(target.name) + " requires a feature without a name");
  }
  return Status();
}

} // namespace

Status validateImages(const Target &target, ByteSpan kernels, ByteSpan cubin) {
  std::string what = "target " + quote(target.name);
  if (target.device != "cuda")
    return cubin.size == 0 ? Status() : damaged(what + " has a cubin and is for device " + quote(target.device));
  if (kernels.size > 0 && (kernels.data[kernels.size - 1] != 0 || std::memchr(kernels.data, 0, kernels.size - 1)))
    return damaged(what + " has PTX that does not end in its only NUL");
  static constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F', 2, 1};
  // The ELF header of a 64-bit file.
  constexpr uint64_t kSmallest = 64;
  if (cubin.size > 0 && (cubin.size < kSmallest || std::memcmp(cubin.data, kElf, sizeof(kElf)) != 0))
    return damaged(what + " has a cubin that is no 64-bit ELF file");
  if (cubin.size > 0 && kernels.size == 0)
    return damaged(what + " has a cubin without the PTX that it was made of");
  return Status();
}

namespace {

// A port's dims: sound expressions. Which of the entry's symbols have a value is collected in `bound`.
Status validatePort(const Program &program, const std::string &what, const Port &port) {
  WEFT_RETURN_IF_ERROR(checkTypeAndRank(what, port.type, port.dims));
  std::vector<Bounds> bounds;
  for (const Symbol &symbol : program.symbols)
    bounds.push_back({symbol.minimum, symbol.maximum});
  for (size_t axis = 0; axis < port.dims.size(); ++axis) {
    std::string where = what + ", dimension " + std::to_string(axis);
    std::string fault = checkExpressionForm(port.dims[axis], program.symbols.size());
    if (!fault.empty())
      return damaged(where + ": " + fault);
    Bounds range;
    if (!evaluateBounds(port.dims[axis], bounds.data(), range))
      return damaged(where + ": may overflow");
    if (range.maximum < 0)
      return damaged(where + ": is always negative");
  }
  return Status();
}

// Blocks form a tree rooted at block 0, each child with a higher index than its parent, not nested too deeply.
Status validateBlockTree(const std::string &where, const Variant &variant) {
  std::vector<uint32_t> depth(variant.blocks.size(), 0); // 0: not reached
  depth[0] = 1;
  for (size_t block = 0; block < variant.blocks.size(); ++block) {
    if (depth[block] == 0)
      return damaged(where + ": block " + std::to_string(block) + " is not used");
    if (depth[block] > kMaximumBlockNesting)
      return damaged(where + ": blocks nest deeper than " + std::to_string(kMaximumBlockNesting));
    for (const Op &op : variant.blocks[block].ops) {
      std::array<uint32_t, 2> children;
      if (const auto *branch = std::get_if<If>(&op.body))
        children = {branch->thenBlock, branch->elseBlock};
      else if (const auto *loop = std::get_if<While>(&op.body))
        children = {loop->conditionBlock, loop->bodyBlock};
      else
        continue;
      for (uint32_t child : children) {
        if (child >= variant.blocks.size() || child <= block || depth[child] != 0)
          return damaged(where + ", op " + quote(op.name) + ": block " + std::to_string(child) +
                         " does not exist, precedes its parent or is used twice");
        depth[child] = depth[block] + 1;
      }
    }
  }
  return Status();
}

Status validateVariant(const Program &program, const Entry &entry, const std::vector<bool> &boundSymbols,
                       const std::string &where, const Variant &variant) {
  if (variant.target >= program.targets.size())
    return damaged(where + ": target " + std::to_string(variant.target) + " of " +
                   std::to_string(program.targets.size()));
  if (variant.blocks.empty())
    return damaged(where + ": no blocks");
  VariantScope scope(program, entry, variant, boundSymbols);
  for (const SymbolRange &range : variant.ranges) {
    if (range.symbol >= program.symbols.size() || range.minimum > range.maximum ||
        range.minimum < program.symbols[range.symbol].minimum || range.maximum > program.symbols[range.symbol].maximum)
      return damaged(where + ": a range for symbol " + std::to_string(range.symbol) +
                     " that does not exist or does not lie within the symbol's own bounds");
    if (program.symbols[range.symbol].source != SymbolSource::InputDimension || !boundSymbols[range.symbol])
      return damaged(where + ": a range for symbol " + quote(program.symbols[range.symbol].name) +
                     ", which the inputs of the entry do not bind");
    scope.setBounds(range.symbol, {range.minimum, range.maximum});
  }
  Status status = scope.checkSize("the arena", variant.arenaBytes);
  if (!status.ok())
    return status.withContext(where);
  for (size_t index = 0; index < variant.buffers.size(); ++index) {
    Status bufferStatus = scope.checkBuffer(index);
    if (!bufferStatus.ok())
      return bufferStatus.withContext(where + ", buffer " + std::to_string(index));
  }
  WEFT_RETURN_IF_ERROR(validateBlockTree(where, variant));
  for (const Block &block : variant.blocks)
    for (const Op &op : block.ops) {
      Status opStatus = scope.checkOp(op);
      if (!opStatus.ok())
        return opStatus.withContext(where + ", op " + quote(op.name));
    }
  return Status();
}

Status validateEntry(const Program &program, const Entry &entry) {
  std::string where = "entry " + quote(entry.name);
  Names inputNames("input"), outputNames("output");
  // A symbol that the inputs bind, or that ops bind from data, has a value in this entry.
  std::vector<bool> bound;
  for (const Symbol &symbol : program.symbols)
    bound.push_back(symbol.source == SymbolSource::Data);
  for (const Port &input : entry.inputs) {
    Status status = inputNames.add(input.name);
    if (!status.ok())
      return status.withContext(where);
    WEFT_RETURN_IF_ERROR(validatePort(program, where + ", input " + quote(input.name), input));
    for (const Expression &dim : input.dims)
      if (dim.isSymbol())
        bound[static_cast<size_t>(dim.steps[0].value)] = true;
  }
  auto checkSymbolsBound = [&](const std::string &what, const Port &port, bool allowData) {
    for (const Expression &dim : port.dims)
      for (const ExpressionStep &step : dim.steps) {
        if (step.opcode != ExpressionOpcode::Symbol)
          continue;
        const Symbol &symbol = program.symbols[static_cast<size_t>(step.value)];
        if (!bound[static_cast<size_t>(step.value)] || (symbol.source == SymbolSource::Data && !allowData))
          return damaged(what + ": no input has symbol " + quote(symbol.name) + " as a dimension by itself");
      }
    return Status();
  };
  for (const Port &input : entry.inputs)
    WEFT_RETURN_IF_ERROR(checkSymbolsBound(where + ", input " + quote(input.name), input, /*allowData=*/false));
  for (const Port &output : entry.outputs) {
    Status status = outputNames.add(output.name);
    if (!status.ok())
      return status.withContext(where);
    std::string what = where + ", output " + quote(output.name);
    WEFT_RETURN_IF_ERROR(validatePort(program, what, output));
    WEFT_RETURN_IF_ERROR(checkSymbolsBound(what, output, /*allowData=*/true));
  }
  if (entry.variants.empty())
    return damaged(where + ": no variants");
  for (size_t index = 0; index < entry.variants.size(); ++index)
    WEFT_RETURN_IF_ERROR(
        validateVariant(program, entry, bound, where + ", variant " + std::to_string(index), entry.variants[index]));
  return Status();
}

} // namespace

Status validateProgram(const Program &program) {
  WEFT_RETURN_IF_ERROR(validateSymbols(program));
  WEFT_RETURN_IF_ERROR(validateWeightsAndStates(program));
  WEFT_RETURN_IF_ERROR(validateTargets(program));
  if (program.entries.empty())
    return damaged("no entry points");
  Names names("entry");
  for (const Entry &entry : program.entries)
    WEFT_RETURN_IF_ERROR(names.add(entry.name));
  for (const Entry &entry : program.entries)
    WEFT_RETURN_IF_ERROR(validateEntry(program, entry));
  return Status();
}

} // namespace weft::runtime
