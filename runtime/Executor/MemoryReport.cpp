// Lives of the arena's buffers, in the order the ops run.
#include "runtime/Executor/MemoryReport.h"

#include "runtime/Artifact/Expressions.h"

#include <algorithm>
#include <map>

namespace weft::runtime {
namespace {

int64_t bytesOf(ElementType type, const std::vector<Expression> &dims, const std::vector<int64_t> &symbols) {
  std::vector<int64_t> values(dims.size());
  int64_t bytes = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (!evaluate(dims[axis], symbols.data(), values[axis]))
      return 0;
  return byteCountOf(type, values.data(), values.size(), bytes) ? bytes : 0;
}

// From the first op that touches a buffer to the last.
struct Life {
  size_t first = SIZE_MAX, last = 0;
  std::string writer; // the first op
};

class Lives {
public:
  explicit Lives(const Variant &variant) : lives(variant.buffers.size()), variant_(variant) { walk(0); }
  std::vector<Life> lives;
  std::vector<std::string> ops; // in the order they run

private:
  void touch(const std::vector<uint32_t> &buffers) {
    for (uint32_t buffer : buffers) {
      Life &life = lives[buffer];
      if (life.first == SIZE_MAX) {
        life.first = ops.size() - 1;
        life.writer = ops.back();
      }
      life.last = ops.size() - 1;
    }
  }
  void touch(const Launch &launch) {
    touch(launch.inputs);
    touch(launch.outputs);
  }
  void walk(uint32_t block) {
    for (const Op &op : variant_.blocks[block].ops) {
      ops.push_back(op.name);
      if (const auto *launch = std::get_if<Launch>(&op.body)) {
        touch(*launch);
      } else if (const auto *call = std::get_if<LibraryCall>(&op.body)) {
        touch(call->alternative);
      } else if (const auto *copy = std::get_if<Copy>(&op.body)) {
        touch({copy->source, copy->destination});
      } else if (const auto *fill = std::get_if<Fill>(&op.body)) {
        touch({fill->destination});
      } else if (const auto *bind = std::get_if<BindSymbol>(&op.body)) {
        touch({bind->buffer});
      } else if (const auto *branch = std::get_if<If>(&op.body)) {
        touch({branch->condition});
        walk(branch->thenBlock);
        walk(branch->elseBlock);
      } else if (const auto *loop = std::get_if<While>(&op.body)) {
        walk(loop->conditionBlock);
        touch({loop->condition});
        walk(loop->bodyBlock);
      }
    }
  }
  const Variant &variant_;
};

std::string describePeak(const Variant &variant, const std::vector<int64_t> &symbols) {
  Lives found(variant);
  size_t peak = 0;
  int64_t most = 0;
  // One memory seen under several shapes counts once.
  std::map<int64_t, std::pair<int64_t, size_t>> live;
  for (size_t op = 0; op < found.ops.size(); ++op) {
    std::map<int64_t, std::pair<int64_t, size_t>> here;
    int64_t sum = 0;
    for (size_t index = 0; index < found.lives.size(); ++index) {
      const Buffer &buffer = variant.buffers[index];
      int64_t offset;
      if (buffer.kind != BufferKind::Arena || found.lives[index].first > op || found.lives[index].last < op ||
          !evaluate(buffer.offset, symbols.data(), offset))
        continue;
      int64_t bytes = bytesOf(buffer.type, buffer.dims, symbols);
      auto [entry, isNew] = here.try_emplace(offset, bytes, index);
      if (!isNew && bytes > entry->second.first) {
        sum += bytes - entry->second.first;
        entry->second = {bytes, index};
      } else if (isNew) {
        sum += bytes;
      }
    }
    if (sum > most) {
      most = sum;
      peak = op;
      live = std::move(here);
    }
  }
  if (most == 0)
    return "";
  std::vector<std::pair<int64_t, size_t>> largest;
  for (const auto &entry : live)
    largest.push_back(entry.second);
  std::sort(largest.begin(), largest.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  constexpr size_t kShown = 5;
  std::string text = "; the arena is fullest at op " + quoted(found.ops[peak]) + ", where " + std::to_string(most) +
                     " bytes are in use:";
  for (size_t index = 0; index < largest.size() && index < kShown; ++index)
    text += (index ? ", " : " ") + std::to_string(largest[index].first) + " of " +
            quoted(found.lives[largest[index].second].writer);
  if (largest.size() > kShown)
    text += " and " + std::to_string(largest.size() - kShown) + " more buffers";
  return text;
}

} // namespace

std::string describeMemory(const Program &program, const LoadedVariant &variant, const std::vector<int64_t> &symbols,
                           uint64_t weightBytes) {
  int64_t inputs = 0, outputs = 0, states = 0, arena = 0;
  for (const Port &port : variant.entry->inputs)
    inputs += bytesOf(port.type, port.dims, symbols);
  for (const Port &port : variant.entry->outputs)
    outputs += bytesOf(port.type, port.dims, symbols);
  for (const State &state : program.states)
    states += bytesOf(state.type, std::vector<Expression>(state.dims.begin(), state.dims.end()), symbols);
  evaluate(variant.variant->arenaBytes, symbols.data(), arena);
  std::string text = std::to_string(weightBytes) + " bytes of weights, " + std::to_string(inputs) + " of inputs, " +
                     std::to_string(outputs) + " of outputs, ";
  if (states > 0)
    text += std::to_string(states) + " of state, ";
  return text + std::to_string(arena) + " of arena" + describePeak(*variant.variant, symbols);
}

} // namespace weft::runtime
