//===- MergeTargets.cpp - One artifact for several targets --------------------------------------------------===//

#include "lib/Emit/MergeTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <map>

namespace weft::emit {

namespace {

llvm::Error different(const std::string &what) {
  return llvm::createStringError("the programs of two targets differ in " + what);
}

bool same(const runtime::Expression &a, const runtime::Expression &b) {
  return llvm::equal(a.steps, b.steps, [](const runtime::ExpressionStep &x, const runtime::ExpressionStep &y) {
    return x.opcode == y.opcode && x.value == y.value;
  });
}

bool same(const runtime::Port &a, const runtime::Port &b) {
  return a.name == b.name && a.type == b.type &&
         llvm::equal(a.dims, b.dims,
                     [](const runtime::Expression &x, const runtime::Expression &y) { return same(x, y); });
}

bool same(const std::vector<runtime::Port> &a, const std::vector<runtime::Port> &b) {
  return llvm::equal(a, b, [](const runtime::Port &x, const runtime::Port &y) { return same(x, y); });
}

/// Alike but for sizes, which a shape variant knows where the whole program has symbols.
bool alike(const std::vector<runtime::Port> &a, const std::vector<runtime::Port> &b) {
  return llvm::equal(a, b, [](const runtime::Port &x, const runtime::Port &y) {
    return x.name == y.name && x.type == y.type && x.dims.size() == y.dims.size();
  });
}

class Merger {
public:
  Merger(EmittedProgram &into, EmittedProgram from) : into(into), from(std::move(from)) {}

  llvm::Error run() {
    const runtime::Program &theirs = from.program;
    if (llvm::Error error = findRanges())
      return error;
    if (into.program.kernelMessages != theirs.kernelMessages)
      return different("their messages");
    mapWeights();
    if (llvm::Error error = mapStates())
      return error;
    auto firstTarget = static_cast<uint32_t>(into.program.targets.size());
    for (runtime::Target &target : from.program.targets)
      into.program.targets.push_back(std::move(target));
    if (into.program.entries.size() != theirs.entries.size())
      return different("their entry points");
    for (auto [ours, other] : llvm::zip(into.program.entries, from.program.entries)) {
      bool fits = ranges.empty() ? same(ours.inputs, other.inputs) && same(ours.outputs, other.outputs)
                                 : alike(ours.inputs, other.inputs) && alike(ours.outputs, other.outputs);
      if (ours.name != other.name || !fits)
        return different("what entry point \"" + ours.name + "\" takes and gives");
      for (runtime::Variant &variant : other.variants) {
        variant.target += firstTarget;
        for (runtime::Buffer &buffer : variant.buffers) {
          if (buffer.kind == runtime::BufferKind::Weight)
            buffer.index = weights[buffer.index];
          else if (buffer.kind == runtime::BufferKind::State)
            buffer.index = states[buffer.index];
        }
        variant.ranges = ranges;
        // The first that fits is run: what is made for few shapes comes before what is made for all.
        auto position =
            ranges.empty()
                ? ours.variants.end()
                : llvm::find_if(ours.variants, [](const runtime::Variant &known) { return known.ranges.empty(); });
        ours.variants.insert(position, std::move(variant));
      }
    }
    return llvm::Error::success();
  }

private:
  /// Where the other program's symbols are confined more than ours.
  llvm::Error findRanges() {
    const std::vector<runtime::Symbol> &ours = into.program.symbols, &theirs = from.program.symbols;
    if (ours.size() != theirs.size())
      return different("their symbols");
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].name != theirs[i].name || ours[i].source != theirs[i].source || theirs[i].minimum < ours[i].minimum ||
          theirs[i].maximum > ours[i].maximum)
        return different("their symbols");
      if (theirs[i].minimum != ours[i].minimum || theirs[i].maximum != ours[i].maximum)
        ranges.push_back({static_cast<uint32_t>(i), theirs[i].minimum, theirs[i].maximum});
    }
    return llvm::Error::success();
  }

  static uint64_t hashOf(const runtime::WeightBytes &bytes) {
    return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(static_cast<const uint8_t *>(bytes.data), bytes.size));
  }

  void mapWeights() {
    std::multimap<uint64_t, uint32_t> byContent;
    std::map<std::string, uint32_t> byName;
    for (auto [index, weight] : llvm::enumerate(into.program.weights)) {
      byContent.emplace(hashOf(into.weights[index]), static_cast<uint32_t>(index));
      byName[weight.name] = static_cast<uint32_t>(index);
    }
    for (auto [index, weight] : llvm::enumerate(from.program.weights)) {
      const runtime::WeightBytes &bytes = from.weights[index];
      std::optional<uint32_t> known;
      auto range = byContent.equal_range(hashOf(bytes));
      for (auto entry = range.first; entry != range.second && !known; ++entry) {
        const runtime::Weight &candidate = into.program.weights[entry->second];
        const runtime::WeightBytes &theirs = into.weights[entry->second];
        if (candidate.type == weight.type && candidate.dims == weight.dims && theirs.size == bytes.size &&
            (bytes.size == 0 || std::memcmp(theirs.data, bytes.data, bytes.size) == 0))
          known = entry->second;
      }
      if (!known) {
        known = static_cast<uint32_t>(into.program.weights.size());
        std::string name = weight.name;
        for (int suffix = 1; byName.count(name); ++suffix)
          name = weight.name + "." + std::to_string(suffix);
        byName[name] = *known;
        runtime::Weight added = weight;
        added.name = std::move(name);
        into.program.weights.push_back(std::move(added));
        into.weights.push_back(bytes);
      }
      weights.push_back(*known);
    }
  }

  llvm::Error mapStates() {
    for (const runtime::State &state : from.program.states) {
      auto known = llvm::find_if(into.program.states, [&](const runtime::State &s) { return s.name == state.name; });
      int64_t initial = state.initialWeight < 0 ? int64_t(-1) : weights[static_cast<size_t>(state.initialWeight)];
      states.push_back(static_cast<uint32_t>(known - into.program.states.begin()));
      if (known == into.program.states.end()) {
        into.program.states.push_back(state);
        into.program.states.back().initialWeight = initial;
      } else if (known->type != state.type || known->dims != state.dims || known->initialWeight != initial) {
        return different("state \"" + state.name + "\"");
      }
    }
    return llvm::Error::success();
  }

  EmittedProgram &into;
  EmittedProgram from;
  std::vector<uint32_t> weights, states; // from their index to ours
  std::vector<runtime::SymbolRange> ranges;
};

} // namespace

llvm::Error mergeTargets(EmittedProgram &into, EmittedProgram from) { return Merger(into, std::move(from)).run(); }

} // namespace weft::emit
