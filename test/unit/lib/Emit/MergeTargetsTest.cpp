//===- MergeTargetsTest.cpp - Programs of several targets in one artifact -----------------------------------===//

#include "lib/Emit/MergeTargets.h"
#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace weft;

namespace {

using Values = std::vector<float>;

/// A program for one target whose entry reads the weights in order.
struct Source {
  Source(std::string target, std::vector<std::pair<std::string, Values>> named) : weights(std::move(named)) {
    runtime::Program &program = emitted.program;
    program.symbols.push_back({"N", 1, 8, runtime::SymbolSource::InputDimension});
    runtime::Target made;
    made.name = target;
    if (target != "cpu") {
      made.device = "cuda";
      made.architecture = target;
    }
    program.targets.push_back(made);
    runtime::Entry entry;
    entry.inputs = {{"x", runtime::ElementType::F32, {runtime::Expression::symbol(0)}}};
    runtime::Variant variant;
    for (auto &[name, values] : weights) {
      runtime::Buffer buffer;
      buffer.kind = runtime::BufferKind::Weight;
      buffer.index = static_cast<uint32_t>(program.weights.size());
      buffer.type = runtime::ElementType::F32;
      buffer.dims = {static_cast<int64_t>(values.size())};
      variant.buffers.push_back(buffer);
      program.weights.push_back({name, runtime::ElementType::F32, {static_cast<int64_t>(values.size())}, 0, 0, {0, 0}});
      emitted.weights.push_back({values.data(), values.size() * sizeof(float)});
    }
    variant.blocks.emplace_back();
    entry.variants.push_back(variant);
    program.entries.push_back(entry);
  }
  std::vector<std::pair<std::string, Values>> weights;
  emit::EmittedProgram emitted;
};

/// What the variant's weights hold, in order.
std::vector<Values> valuesOf(const emit::EmittedProgram &program, size_t variant) {
  std::vector<Values> result;
  for (const runtime::Buffer &buffer : program.program.entries[0].variants[variant].buffers) {
    const runtime::WeightBytes &bytes = program.weights[buffer.index];
    auto *data = static_cast<const float *>(bytes.data);
    result.emplace_back(data, data + bytes.size / sizeof(float));
  }
  return result;
}

TEST(MergeTargets, WeightsThatAreAlikeAreStoredOnce) {
  // The second target packs w in another way, and calls the others by other names.
  Source cpu("cpu", {{"w", {1, 2}}, {"b", {3}}, {"e", {}}});
  Source gpu("sm_90", {{"b.packed", {3}}, {"w", {2, 1}}, {"w.1", {1, 2}}, {"e", {}}, {"long", {1, 2, 3}}});
  ASSERT_FALSE(bool(emit::mergeTargets(cpu.emitted, gpu.emitted)));
  const runtime::Program &program = cpu.emitted.program;
  EXPECT_EQ(program.weights.size(), 5u);
  std::set<std::string> names;
  for (const runtime::Weight &weight : program.weights)
    EXPECT_TRUE(names.insert(weight.name).second) << weight.name;
  ASSERT_EQ(program.targets.size(), 2u);
  ASSERT_EQ(program.entries[0].variants.size(), 2u);
  EXPECT_EQ(program.entries[0].variants[0].target, 0u);
  EXPECT_EQ(program.entries[0].variants[1].target, 1u);
  EXPECT_EQ(valuesOf(cpu.emitted, 0), (std::vector<Values>{{1, 2}, {3}, {}}));
  EXPECT_EQ(valuesOf(cpu.emitted, 1), (std::vector<Values>{{3}, {2, 1}, {1, 2}, {}, {1, 2, 3}}));
  // A third keeps the first two as they are.
  Source third("sm_80", {{"w", {2, 1}}});
  ASSERT_FALSE(bool(emit::mergeTargets(cpu.emitted, third.emitted)));
  EXPECT_EQ(program.weights.size(), 5u);
  EXPECT_EQ(valuesOf(cpu.emitted, 1), (std::vector<Values>{{3}, {2, 1}, {1, 2}, {}, {1, 2, 3}}));
  EXPECT_EQ(valuesOf(cpu.emitted, 2), (std::vector<Values>{{2, 1}}));
}

TEST(MergeTargets, StatesAreFoundByName) {
  Source cpu("cpu", {}), gpu("sm_90", {{"start", {7}}});
  cpu.emitted.program.states = {{"a", runtime::ElementType::F32, {1}, -1}};
  gpu.emitted.program.states = {{"b", runtime::ElementType::F32, {1}, 0}, {"a", runtime::ElementType::F32, {1}, -1}};
  runtime::Buffer state;
  state.kind = runtime::BufferKind::State;
  for (uint32_t index : {0u, 1u}) {
    state.index = index;
    gpu.emitted.program.entries[0].variants[0].buffers.push_back(state);
  }
  ASSERT_FALSE(bool(emit::mergeTargets(cpu.emitted, gpu.emitted)));
  const runtime::Program &program = cpu.emitted.program;
  ASSERT_EQ(program.states.size(), 2u);
  EXPECT_EQ(program.states[1].name, "b");
  EXPECT_EQ(program.states[1].initialWeight, 0);
  EXPECT_EQ(program.entries[0].variants[1].buffers[1].index, 1u);
  EXPECT_EQ(program.entries[0].variants[1].buffers[2].index, 0u);
}

TEST(MergeTargets, OtherModelsAreRefused) {
  auto refusal = [](const std::function<void(runtime::Program &)> &change) {
    Source cpu("cpu", {}), gpu("sm_90", {});
    cpu.emitted.program.states = gpu.emitted.program.states = {{"a", runtime::ElementType::F32, {1}, -1}};
    change(gpu.emitted.program);
    return llvm::toString(emit::mergeTargets(cpu.emitted, gpu.emitted));
  };
  EXPECT_EQ(refusal([](runtime::Program &) {}), "");
  EXPECT_EQ(refusal([](runtime::Program &p) { p.symbols[0].maximum = 9; }),
            "the programs of two targets differ in their symbols");
  EXPECT_EQ(refusal([](runtime::Program &p) { p.entries[0].inputs[0].name = "z"; }),
            "the programs of two targets differ in what entry point \"main\" takes and gives");
  EXPECT_EQ(refusal([](runtime::Program &p) { p.entries.push_back(p.entries[0]); }),
            "the programs of two targets differ in their entry points");
  EXPECT_EQ(refusal([](runtime::Program &p) { p.states[0].dims = {2}; }),
            "the programs of two targets differ in state \"a\"");
}

} // namespace
