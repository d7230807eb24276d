//===- MutantsTest.cpp - Damaged kernels are reported or give another result ----------------------===//
//
// From the PTX of sound kernels: a barrier dropped, a wait for fewer copies, a comparison loosened, an address or a
// number shifted, a shuffle over another distance. A mutant is found when something is reported or a byte of any buffer
// differs from the sound kernel's. The ones that are not are listed: most of them mean the same as the original.
//===------------------------------------------------------------------------------------------------===//
#include "runtime/Simulator/Nvrtc.h"
#include "test/unit/simulator/Simulation.h"

#include <fstream>
#include <random>
#include <sstream>

namespace weft::simulator {
namespace {

struct Argument {
  std::vector<uint8_t> bytes; ///< A buffer's contents, or a scalar.
  bool isBuffer = true;
  bool initialised = true;
};
struct Subject {
  const char *kernel;
  Coordinates grid, block;
  uint32_t shared;
  std::vector<Argument> arguments;
};

Argument numbers(size_t count, unsigned seed, bool integers) {
  std::mt19937 random(seed);
  Argument out;
  out.bytes.resize(count * 4);
  for (size_t i = 0; i < count; ++i) {
    float real = float(int(random() % 2001) - 1000) * 0.004f;
    uint32_t whole = random() % 1000;
    std::memcpy(&out.bytes[i * 4], integers ? static_cast<void *>(&whole) : static_cast<void *>(&real), 4);
  }
  return out;
}
Argument fresh(size_t bytes) {
  Argument out;
  out.bytes.resize(bytes);
  out.initialised = false;
  return out;
}
Argument zeros(size_t bytes) {
  Argument out;
  out.bytes.resize(bytes);
  return out;
}
Argument scalar(int value) {
  Argument out;
  out.isBuffer = false;
  out.bytes.resize(4);
  std::memcpy(out.bytes.data(), &value, 4);
  return out;
}
Argument halves(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Argument out;
  out.bytes.resize(count * 2);
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = uint16_t(0x3800 | (random() & 0x83ff)); // magnitudes from 0.5 to 1
    std::memcpy(&out.bytes[i * 2], &bits, 2);
  }
  return out;
}

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  auto add = [&](const char *kernel, Coordinates grid, Coordinates block, std::vector<Argument> arguments,
                 uint32_t shared = 0) { out.push_back({kernel, grid, block, shared, std::move(arguments)}); };
  add("vector_add", {4, 1, 1}, {64, 1, 1},
      {numbers(230, 1, false), numbers(230, 2, false), fresh(230 * 4), scalar(230)});
  add("reduce_shared", {3, 1, 1}, {256, 1, 1}, {numbers(2000, 3, true), fresh(3 * 4), scalar(2000)});
  add("scan_inclusive", {1, 1, 1}, {256, 1, 1}, {numbers(256, 4, true), fresh(256 * 4)});
  add("scan_warps", {1, 1, 1}, {256, 1, 1}, {numbers(250, 5, true), fresh(250 * 4), scalar(250)});
  add("scan_exclusive_work_efficient", {1, 1, 1}, {128, 1, 1}, {numbers(256, 6, true), fresh(256 * 4)}, 1024);
  add("transpose", {2, 2, 1}, {16, 16, 1}, {numbers(30 * 30, 7, true), fresh(30 * 30 * 4), scalar(30), scalar(30)});
  add("matmul_tiled", {2, 2, 1}, {16, 16, 1},
      {numbers(1024, 8, false), numbers(1024, 9, false), fresh(4096), scalar(32)});
  add("matmul_mma_f16", {1, 1, 1}, {32, 1, 1}, {halves(16 * 32, 10), halves(8 * 32, 11), fresh(512), scalar(32)});
  add("matmul_pipeline", {1, 1, 1}, {32, 1, 1}, {halves(16 * 64, 12), halves(8 * 64, 13), fresh(512), scalar(64)});
  add("softmax_rows", {2, 1, 1}, {64, 1, 1}, {numbers(180, 14, false), fresh(180 * 4), scalar(90)});
  add("layer_norm", {2, 1, 1}, {64, 1, 1},
      {numbers(180, 15, false), numbers(90, 16, false), numbers(90, 17, false), fresh(180 * 4), scalar(90)});
  add("nbody", {2, 1, 1}, {64, 1, 1}, {numbers(512, 18, false), fresh(2048), scalar(128)});
  add("stencil_2d", {2, 2, 1}, {16, 16, 1}, {numbers(900, 19, false), fresh(3600), scalar(30)});
  add("radix_sort_block", {1, 1, 1}, {256, 1, 1}, {numbers(256, 21, true)});
  add("compact_ballot", {1, 1, 1}, {32, 1, 1}, {numbers(30, 22, true), zeros(120), zeros(4), scalar(30)});
  return out;
}

std::string extract(const std::string &module, const std::string &kernel) {
  size_t start = module.find(".entry " + kernel + "(");
  start = module.rfind('\n', start) + 1;
  size_t end = module.find("\n}\n", start);
  std::string dynamic;
  size_t shared = module.find(".extern .shared");
  if (shared != std::string::npos)
    dynamic = module.substr(shared, module.find('\n', shared) - shared + 1);
  return ".version 9.0\n.target sm_80\n.address_size 64\n" + dynamic + module.substr(start, end - start) + "\n}\n";
}

/// Runs a text; the contents of all buffers afterwards, and what was reported ("refused" where it did not load).
std::string run(const Subject &subject, const std::string &text, std::vector<uint8_t> &contents) {
  Simulation simulation;
  simulation.options.checkRaces = true;
  simulation.options.stepLimit = 200000;
  simulation.options.threads = 1;
  try {
    simulation.loaded = loadModule(text, simulation.memory, 0, "module #1");
  } catch (const PtxError &error) {
    return std::string("refused: ") + error.what();
  }
  const CompiledKernel &kernel = *simulation.loaded->kernels.at(subject.kernel);
  LaunchConfiguration configuration;
  configuration.grid = subject.grid;
  configuration.block = subject.block;
  configuration.dynamicShared = subject.shared;
  configuration.parameters.resize(kernel.parameterBytes);
  std::vector<Allocation *> buffers;
  for (size_t i = 0; i < subject.arguments.size(); ++i) {
    const Argument &argument = subject.arguments[i];
    uint8_t *parameter = configuration.parameters.data() + kernel.parameterLayout.at(i).first;
    if (!argument.isBuffer) {
      std::memcpy(parameter, argument.bytes.data(), argument.bytes.size());
      continue;
    }
    Allocation *made = simulation.memory.allocate(0, argument.bytes.size(), AllocationKind::Device, "test buffer");
    std::memcpy(reinterpret_cast<void *>(made->base), argument.bytes.data(), argument.bytes.size());
    if (argument.initialised)
      simulation.memory.markInitialised(*made, made->base, made->size);
    std::memcpy(parameter, &made->base, 8);
    buffers.push_back(made);
  }
  launch(kernel, simulation.memory, 0, 0, configuration, simulation.options, simulation.faults);
  contents.clear();
  for (Allocation *buffer : buffers) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(buffer->base);
    contents.insert(contents.end(), bytes, bytes + buffer->size);
    // A byte that was written and one that was not differ, whatever they hold.
    for (uint64_t i = 0; i < buffer->size; i += 4)
      contents.push_back(simulation.memory.firstUninitialised(*buffer, buffer->base + i, 1) == 1);
  }
  return simulation.reports();
}

/// The mutants of one line, as texts that replace it.
std::vector<std::string> mutantsOf(const std::string &line) {
  std::vector<std::string> out;
  auto replaced = [&](const std::string &from, const std::string &to) {
    size_t at = line.find(from);
    if (at != std::string::npos)
      out.push_back(line.substr(0, at) + to + line.substr(at + from.size()));
    return at != std::string::npos;
  };
  if (line.find("bar.sync") != std::string::npos || line.find("bar.warp.sync") != std::string::npos ||
      line.find("barrier.sync") != std::string::npos)
    out.push_back("");
  replaced("cp.async.wait_group 0", "cp.async.wait_group 1") ||
      replaced("cp.async.wait_group 1", "cp.async.wait_group 2");
  for (auto [from, to] : {std::make_pair("setp.lt.", "setp.le."), std::make_pair("setp.ge.", "setp.gt."),
                          std::make_pair("setp.gt.", "setp.ge."), std::make_pair("setp.le.", "setp.lt."),
                          std::make_pair("setp.eq.", "setp.ne."), std::make_pair("setp.ne.", "setp.eq.")})
    // Of floats, ties alone would tell the two apart.
    if (line.find(".f32") == std::string::npos && replaced(from, to))
      break;
  bool access = line.find("ld.global") != std::string::npos || line.find("st.global") != std::string::npos ||
                line.find("ld.shared") != std::string::npos || line.find("st.shared") != std::string::npos;
  if (access) {
    size_t close = line.find(']');
    out.push_back(line.substr(0, close) + (line.find('+') < close ? "" : "+4") + line.substr(close));
    if (out.back() == line)
      out.pop_back();
  }
  if (line.find("shfl.sync") != std::string::npos)
    replaced(", 1, ", ", 2, ") || replaced(", 16, ", ", 8, ") || replaced(", 4, ", ", 2, ");
  for (const char *op : {"add.s32", "shl.b32", "mad.lo.s32", "add.s64"}) {
    size_t comma = line.rfind(", ");
    if (line.find(op) != std::string::npos && comma != std::string::npos && comma + 2 < line.size() &&
        isdigit(line[comma + 2]))
      out.push_back(line.substr(0, comma + 2) + std::to_string(std::atoi(line.c_str() + comma + 2) + 1) + ";");
  }
  return out;
}

/// For a loosened order: a trap where both sides are equal. Where it never fires, the mutant is the original.
std::string equalityProbe(const std::string &line, const std::string &mutant) {
  size_t setp = line.find("setp.");
  if (setp == std::string::npos || mutant.find("setp.eq") != std::string::npos ||
      mutant.find("setp.ne") != std::string::npos)
    return "";
  size_t type = line.find('.', setp + 5) + 1, space = line.find_first_of(" \t", type), comma = line.find(',');
  return "{ .reg .pred probe; setp.eq." + line.substr(type, space - type) + " probe" + line.substr(comma) +
         " @probe trap; }\n";
}

TEST(Mutants, AreReportedOrVisible) {
  if (!hasNvrtc()) {
    std::printf("not checked: NVRTC absent\n");
    GTEST_SKIP() << "not checked: NVRTC absent";
  }
  std::ifstream file(WEFT_SIMULATOR_KERNELS);
  std::stringstream source;
  source << file.rdbuf();
  std::string module, log;
  ASSERT_TRUE(compileCuda(source.str(), "kernels.cu", 80, {}, module, log)) << log;
  unsigned total = 0, reported = 0, visible = 0, unreached = 0, equivalent = 0;
  std::string survivors;
  for (const Subject &subject : subjects()) {
    std::string text = extract(module, subject.kernel);
    std::vector<uint8_t> wanted, got;
    ASSERT_EQ(run(subject, text, wanted), "") << subject.kernel;
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line);
    for (size_t i = 0; i < lines.size(); ++i) {
      auto with = [&](const std::string &line) {
        std::string changed;
        for (size_t n = 0; n < lines.size(); ++n)
          changed += (n == i ? line : lines[n]) + "\n";
        return changed;
      };
      std::vector<std::string> mutants = mutantsOf(lines[i]);
      // What the inputs never reach cannot tell a mutant apart: a trap in its place shows.
      if (mutants.empty() || run(subject, with("trap;\n" + lines[i]), got) == "") {
        unreached += unsigned(mutants.size());
        continue;
      }
      for (const std::string &mutant : mutants) {
        std::string probe = equalityProbe(lines[i], mutant);
        if (!probe.empty() && run(subject, with(probe + lines[i]), got) == "") {
          ++equivalent;
          continue;
        }
        std::string changed = with(mutant);
        ++total;
        if (run(subject, changed, got) != "")
          ++reported;
        else if (got != wanted)
          ++visible;
        else
          survivors += std::string(subject.kernel) + ": " + lines[i] + "  ->  " + mutant + "\n";
      }
    }
  }
  double found = double(reported + visible) / total;
  std::printf("%u mutants: %u reported, %u with another result, %u not seen; %u more in code that the inputs do not "
              "reach, %u of bounds that are never met exactly\n%s",
              total, reported, visible, total - reported - visible, unreached, equivalent, survivors.c_str());
  EXPECT_GE(total, 200u);
  // What is left and listed was looked at: counters that only bound a loop, and barriers that another one makes
  // redundant.
  EXPECT_GE(found, 0.93);
}

} // namespace
} // namespace weft::simulator
