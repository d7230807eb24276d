//===- MemoryFormsTest.cpp - Loads, stores, atomics and warp-wide forms against references ---------===//
#include "runtime/Simulator/Forms.h"
#include "test/unit/simulator/Exact.h"
#include "test/unit/simulator/Simulation.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace weft::simulator {
namespace {

/// One opcode of a pattern for each of its alternatives, and `more` random ones: some patterns stand for 100,000.
std::vector<std::string> sample(const std::string &pattern, unsigned more, std::mt19937 &random) {
  std::vector<std::vector<std::string>> parts; // alternatives; literal text is a single one
  std::string rest = pattern;
  while (!rest.empty()) {
    size_t open = rest.find('{');
    if (open != 0) {
      parts.push_back({rest.substr(0, open)});
      rest = open == std::string::npos ? "" : rest.substr(open);
      continue;
    }
    size_t close = rest.find('}');
    std::vector<std::string> alternatives;
    std::string inside = rest.substr(1, close - 1) + ",";
    for (size_t comma; (comma = inside.find(',')) != std::string::npos; inside = inside.substr(comma + 1))
      alternatives.push_back(inside.substr(0, comma));
    parts.push_back(alternatives);
    rest = rest.substr(close + 1);
  }
  std::set<std::string> out;
  auto draw = [&](size_t fixedPart, size_t fixedChoice) {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i)
      text += parts[i][i == fixedPart ? fixedChoice : random() % parts[i].size()];
    out.insert(text);
  };
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t choice = 0; choice < parts[i].size(); ++choice)
      draw(i, choice);
  for (unsigned i = 0; i < more; ++i)
    draw(parts.size(), 0);
  return {out.begin(), out.end()};
}

std::string spaceIn(const Form &form) {
  for (std::string_view modifier : form.modifiers)
    for (const char *space : {"global", "shared", "local", "const", "param"})
      if (modifier.substr(0, std::strlen(space)) == space)
        return space;
  return "";
}
unsigned vectorIn(const Form &form) { return form.has("v2") ? 2 : form.has("v4") ? 4 : form.has("v8") ? 8 : 1; }
uint8_t patternByte(size_t i) { return uint8_t(i * 37 + 11 + i / 256); }
std::string registerName(unsigned bytes, unsigned number) {
  // The kernels' addresses live in %rd1 to %rd10.
  return bytes <= 2   ? "%rs" + std::to_string(number)
         : bytes == 4 ? "%r" + std::to_string(number)
                      : "%rd" + std::to_string(number + 12);
}
std::string bits(unsigned bytes) { return ".b" + std::to_string(bytes * 8); }

/// `%rd1` input, `%rd2` output; %rd3 the thread's place in the space, of `bytes` bytes.
std::string prologue(const std::string &space, unsigned bytes, bool fill) {
  std::string text =
      "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r40, %tid.x;\nmad.wide.u32 %rd4, %r40, " +
      std::to_string(bytes) + ", %rd1;\n";
  if (space == "shared" || space == "const")
    text += "mov.u64 %rd5, " + std::string(space == "shared" ? "tile" : "table") + ";\nmad.wide.u32 %rd3, %r40, " +
            std::to_string(bytes) + ", %rd5;\n";
  else if (space == "local")
    text += "mov.u64 %rd3, depot;\n";
  else
    text += "mov.u64 %rd3, %rd4;\n";
  if (fill && (space == "shared" || space == "local"))
    for (unsigned i = 0; i < bytes; ++i)
      text += "ld.global.u8 %rs30, [%rd4+" + std::to_string(i) + "];\nst." + space + ".u8 [%rd3+" + std::to_string(i) +
              "], %rs30;\n";
  return text;
}
std::string kernel(unsigned number, const std::string &body) {
  return ".visible .entry k" + std::to_string(number) +
         "(.param .u64 in, .param .u64 out, .param .align 32 .b8 block[64])\n{\n.shared .align 32 .b8 "
         "tile[1024];\n.local .align 32 .b8 depot[64];\n"
         ".reg .pred %p<8>;\n.reg .b16 %rs<32>;\n.reg .b32 %r<48>;\n.reg .b64 %rd<32>;\n" +
         body + "ret;\n}\n";
}
std::string module(const std::string &kernels) {
  std::string text = ".version 9.0\n.target sm_100\n.address_size 64\n.const .align 32 .b8 table[1024] = {";
  for (size_t i = 0; i < 1024; ++i)
    text += (i ? "," : "") + std::to_string(patternByte(i));
  return text + "};\n" + kernels;
}
struct Block {
  uint8_t bytes[64];
};
Block parameterBlock() {
  Block block;
  for (size_t i = 0; i < 64; ++i)
    block.bytes[i] = patternByte(i);
  return block;
}

TEST(MemoryForms, Loads) {
  std::mt19937 random(1);
  unsigned forms = 0;
  for (const FormPattern &pattern : formPatterns()) {
    if (pattern.family != Family::Load)
      continue;
    std::vector<std::string> opcodes = sample(pattern.pattern, 200, random);
    std::string kernels;
    std::vector<std::unique_ptr<Form>> made;
    for (const std::string &opcode : opcodes) {
      auto form = std::make_unique<Form>();
      makeForm(opcode, *form);
      if (form->types.empty())
        continue; // the empty alternative of the 256-bit forms
      unsigned size = typeSize(form->type()), n = vectorIn(*form), held = std::max(2u, size);
      std::string space = spaceIn(*form), body = prologue(space, size * n, true), targets;
      for (unsigned i = 0; i < n; ++i)
        targets += (i ? ", " : "") + registerName(held, i);
      body += opcode + " " + (n > 1 ? "{" + targets + "}" : targets) + ", [" + (space == "param" ? "block" : "%rd3") +
              (form->has("L2::cache_hint") ? "], %rd4;\n" : "];\n");
      body += "mad.wide.u32 %rd6, %r40, 64, %rd2;\n";
      for (unsigned i = 0; i < n; ++i)
        body += "st.global" + bits(held) + " [%rd6+" + std::to_string(8 * i) + "], " + registerName(held, i) + ";\n";
      kernels += kernel(unsigned(made.size()), body);
      made.push_back(std::move(form));
    }
    Simulation simulation;
    simulation.options.threads = 1;
    ASSERT_TRUE(simulation.load(module(kernels)));
    std::vector<uint8_t> input(1024);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = patternByte(i);
    uint64_t in = simulation.upload(input), out = simulation.upload(std::vector<uint64_t>(32 * 8));
    for (size_t k = 0; k < made.size(); ++k) {
      const Form &form = *made[k];
      ++forms;
      simulation.run("k" + std::to_string(k), {1, 1, 1}, {32, 1, 1}, in, out, parameterBlock());
      ASSERT_EQ(simulation.reports(), "") << form.name;
      std::vector<uint64_t> results = simulation.download<uint64_t>(out, 32 * 8);
      unsigned size = typeSize(form.type()), n = vectorIn(form), held = std::max(2u, size);
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned i = 0; i < n; ++i) {
          uint64_t want = 0;
          for (unsigned b = 0; b < size; ++b)
            want |= uint64_t(patternByte((spaceIn(form) == "param" ? 0 : t * size * n) + i * size + b)) << (8 * b);
          if (isSignedType(form.type()) && size == 1 && want & 0x80)
            want |= 0xff00;
          uint64_t mask = held == 8 ? ~uint64_t(0) : (uint64_t(1) << held * 8) - 1;
          ASSERT_EQ(results[t * 8 + i] & mask, want) << form.name << " thread " << t << " element " << i;
        }
    }
  }
  std::printf("%u forms\n", forms);
  EXPECT_GT(forms, 500u);
}

TEST(MemoryForms, Stores) {
  std::mt19937 random(2);
  unsigned forms = 0;
  for (const FormPattern &pattern : formPatterns()) {
    if (pattern.family != Family::Store)
      continue;
    std::string kernels;
    std::vector<std::unique_ptr<Form>> made;
    for (const std::string &opcode : sample(pattern.pattern, 200, random)) {
      auto form = std::make_unique<Form>();
      makeForm(opcode, *form);
      unsigned size = typeSize(form->type()), n = vectorIn(*form), held = std::max(2u, size);
      std::string space = spaceIn(*form), body = prologue(space, size * n, false), values;
      for (unsigned i = 0; i < n; ++i) {
        body += "ld.global" + bits(size) + " " + registerName(held, i) + ", [%rd4+" + std::to_string(size * i) + "];\n";
        values += (i ? ", " : "") + registerName(held, i);
      }
      // Generic and global forms write the output itself; the others are read back byte for byte.
      body += "mad.wide.u32 %rd6, %r40, 64, %rd2;\n";
      bool direct = space.empty() || space == "global";
      if (space == "param")
        body += "{ .param .align 32 .b8 param0[64];\n";
      std::string place = space == "param" ? "param0" : direct ? "%rd6" : "%rd3";
      body += opcode + " [" + place + "], " + (n > 1 ? "{" + values + "}" : values) +
              (form->has("L2::cache_hint") ? ", %rd4" : "") + ";\n";
      for (unsigned i = 0; !direct && i < size * n; ++i)
        body += "ld." + space + ".u8 %rs30, [" + place + "+" + std::to_string(i) + "];\nst.global.u8 [%rd6+" +
                std::to_string(i) + "], %rs30;\n";
      if (space == "param")
        body += "}\n";
      kernels += kernel(unsigned(made.size()), body);
      made.push_back(std::move(form));
    }
    Simulation simulation;
    simulation.options.threads = 1;
    ASSERT_TRUE(simulation.load(module(kernels)));
    std::vector<uint8_t> input(1024);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = patternByte(i);
    uint64_t in = simulation.upload(input);
    for (size_t k = 0; k < made.size(); ++k) {
      const Form &form = *made[k];
      ++forms;
      uint64_t out = simulation.upload(std::vector<uint8_t>(32 * 64, 0xee));
      simulation.run("k" + std::to_string(k), {1, 1, 1}, {32, 1, 1}, in, out, parameterBlock());
      ASSERT_EQ(simulation.reports(), "") << form.name;
      std::vector<uint8_t> results = simulation.download<uint8_t>(out, 32 * 64);
      unsigned bytes = typeSize(form.type()) * vectorIn(form);
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned i = 0; i < 64; ++i)
          ASSERT_EQ(results[t * 64 + i], i < bytes ? patternByte(t * bytes + i) : 0xee)
              << form.name << " thread " << t << " byte " << i;
      simulation.memory.free(*simulation.memory.findBase(out), "test");
    }
  }
  std::printf("%u forms\n", forms);
  EXPECT_GT(forms, 300u);
}

/// What an atomic leaves in memory.
uint64_t atomicResult(const Form &form, uint64_t old, uint64_t b, uint64_t c) {
  Type type = form.type();
  unsigned width = typeSize(type) * 8;
  uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  auto value = [&](uint64_t x) {
    return isSignedType(type) && x >> (width - 1) & 1 ? __int128(x) - (__int128(1) << width) : __int128(x);
  };
  if (form.has("exch"))
    return b;
  if (form.has("cas"))
    return old == b ? c : old;
  if (form.has("inc"))
    return old >= b ? 0 : old + 1;
  if (form.has("dec"))
    return old == 0 || old > b ? b : old - 1;
  if (form.has("min"))
    return value(old) < value(b) ? old : b;
  if (form.has("max"))
    return value(old) > value(b) ? old : b;
  if (form.has("and"))
    return old & b;
  if (form.has("or"))
    return old | b;
  if (form.has("xor"))
    return old ^ b;
  if (!isFloatType(type))
    return (old + b) & mask;
  const FloatFormat &format = type == Type::F32                          ? formatF32
                              : type == Type::F64                        ? formatF64
                              : type == Type::F16 || type == Type::F16x2 ? formatF16
                                                                         : formatBF16;
  unsigned part = unsigned(format.fraction + format.exponent + 1);
  uint64_t partMask = part == 64 ? ~uint64_t(0) : (uint64_t(1) << part) - 1, out = 0;
  for (unsigned at = 0; at < width; at += part)
    out |= add(Exact::fromBits(old >> at & partMask, format), Exact::fromBits(b >> at & partMask, format), false)
               .round(format, Direction::NearestEven, partMask >> 1)
           << at;
  return out;
}

TEST(MemoryForms, Atomics) {
  std::mt19937 random(3);
  unsigned forms = 0;
  for (const FormPattern &pattern : formPatterns()) {
    if (pattern.family != Family::Atomic)
      continue;
    std::string kernels;
    std::vector<std::unique_ptr<Form>> made;
    for (const std::string &opcode : sample(pattern.pattern, 60, random)) {
      auto form = std::make_unique<Form>();
      makeForm(opcode, *form);
      unsigned size = typeSize(form->type());
      std::string space = spaceIn(*form), body = prologue(space, 8, true);
      // Per thread: 8 bytes each of old value, operand and second operand, in three arrays.
      body += "ld.global" + bits(size) + " " + registerName(size, 1) + ", [%rd4+256];\nld.global" + bits(size) + " " +
              registerName(size, 2) + ", [%rd4+512];\n";
      bool hasResult = form->opcode() == "atom";
      body += opcode + " " + (hasResult ? registerName(size, 7) + ", " : std::string()) + "[%rd3], " +
              registerName(size, 1) + (form->has("cas") ? ", " + registerName(size, 2) : std::string()) + ";\n";
      body += "mad.wide.u32 %rd6, %r40, 16, %rd2;\nld." + std::string(space == "shared" ? "shared" : "global") +
              bits(size) + " " + registerName(size, 8) + ", [%rd3];\nst.global" + bits(size) + " [%rd6], " +
              registerName(size, 8) + ";\n";
      if (hasResult)
        body += "st.global" + bits(size) + " [%rd6+8], " + registerName(size, 7) + ";\n";
      kernels += kernel(unsigned(made.size()), body);
      made.push_back(std::move(form));
    }
    Simulation simulation;
    simulation.options.threads = 1;
    ASSERT_TRUE(simulation.load(module(kernels)));
    for (size_t k = 0; k < made.size(); ++k) {
      const Form &form = *made[k];
      ++forms;
      std::vector<uint64_t> input(96);
      for (uint64_t &x : input)
        x = random() % 3 ? uint64_t(random()) << 32 | random() : random() % 4;
      // Moderate exponents for floats; equal operands now and then for cas.
      if (isFloatType(form.type()))
        for (uint64_t &x : input)
          x &= form.type() == Type::F64 ? 0xbfffffffffffffff : 0xbfffbfffbfffbfff;
      for (size_t i = 0; i < 32; i += 3)
        input[32 + i] = input[i];
      uint64_t in = simulation.upload(input), out = simulation.upload(std::vector<uint64_t>(64));
      simulation.run("k" + std::to_string(k), {1, 1, 1}, {32, 1, 1}, in, out, parameterBlock());
      ASSERT_EQ(simulation.reports(), "") << form.name;
      std::vector<uint64_t> results = simulation.download<uint64_t>(out, 64);
      unsigned width = typeSize(form.type()) * 8;
      uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
      for (size_t t = 0; t < 32; ++t) {
        uint64_t old = input[t] & mask, b = input[32 + t] & mask, c = input[64 + t] & mask;
        ASSERT_EQ(results[2 * t] & mask, atomicResult(form, old, b, c)) << form.name << " of " << old << ", " << b;
        if (form.opcode() == "atom")
          ASSERT_EQ(results[2 * t + 1] & mask, old) << form.name;
      }
      simulation.memory.free(*simulation.memory.findBase(in), "test");
      simulation.memory.free(*simulation.memory.findBase(out), "test");
    }
  }
  std::printf("%u forms\n", forms);
  EXPECT_GT(forms, 300u);
}

/// Runs one warp over a, b, c; the kernel's destination and second predicate a lane.
void runWarp(const std::string &instruction, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
             const std::vector<uint32_t> &c, std::vector<uint32_t> &d, std::vector<uint32_t> &p) {
  Simulation simulation;
  std::string body = prologue("", 4, false) +
                     "ld.global.b32 %r1, [%rd4];\nld.global.b32 %r2, [%rd4+128];\nld.global.b32 %r3, "
                     "[%rd4+256];\nand.b32 %r4, %r1, 1;\n"
                     "setp.ne.u32 %p1, %r4, 0;\ncvt.u64.u32 %rd10, %r1;\nmov.u32 %r9, 0;\nsetp.ne.u32 %p2, %r9, 0;\n" +
                     instruction +
                     "\nmad.wide.u32 %rd6, %r40, 8, %rd2;\nst.global.b32 [%rd6], %r9;\nselp.u32 %r10, 1, 0, "
                     "%p2;\nst.global.b32 [%rd6+4], %r10;\n";
  ASSERT_TRUE(simulation.load(module(kernel(0, body))));
  std::vector<uint32_t> input(a);
  input.insert(input.end(), b.begin(), b.end());
  input.insert(input.end(), c.begin(), c.end());
  uint64_t in = simulation.upload(input), out = simulation.upload(std::vector<uint32_t>(64));
  simulation.run("k0", {1, 1, 1}, {32, 1, 1}, in, out, parameterBlock());
  ASSERT_EQ(simulation.reports(), "") << instruction;
  std::vector<uint32_t> results = simulation.download<uint32_t>(out, 64);
  for (size_t lane = 0; lane < 32; ++lane) {
    d.push_back(results[2 * lane]);
    p.push_back(results[2 * lane + 1]);
  }
}

TEST(WarpForms, Shuffles) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    for (const char *mode : {"up", "down", "bfly", "idx"}) {
      std::vector<uint32_t> a(32), b(32), c(32), d, p;
      uint32_t width = 1u << random() % 6, shared = random();
      for (size_t lane = 0; lane < 32; ++lane) {
        a[lane] = random();
        b[lane] = round % 2 ? random() : shared;
        c[lane] = (32 - width) << 8 | (std::string(mode) == "up" ? 0 : 31);
      }
      runWarp(std::string("shfl.sync.") + mode + ".b32 %r9|%p2, %r1, %r2, %r3, -1;", a, b, c, d, p);
      for (uint32_t lane = 0; lane < 32; ++lane) { // the specification's pseudo-code
        uint32_t bval = b[lane] & 31, cval = c[lane] & 31, mask = c[lane] >> 8 & 31;
        uint32_t maxLane = (lane & mask) | (cval & ~mask), minLane = lane & mask;
        int j = 0;
        bool pval = false;
        if (std::string(mode) == "up") {
          j = int(lane) - int(bval);
          pval = j >= int(maxLane);
        } else if (std::string(mode) == "down") {
          j = int(lane + bval);
          pval = j <= int(maxLane);
        } else if (std::string(mode) == "bfly") {
          j = int(lane ^ bval);
          pval = j <= int(maxLane);
        } else {
          j = int(minLane | (bval & ~mask));
          pval = j <= int(maxLane);
        }
        if (!pval)
          j = int(lane);
        ASSERT_EQ(d[lane], a[size_t(j)]) << mode << " lane " << lane << " distance " << bval << " width " << width;
        ASSERT_EQ(p[lane], uint32_t(pval));
      }
    }
  }
}

TEST(WarpForms, VotesMatchesAndReductions) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<uint32_t> a(32), none(32);
    uint32_t range = round < 4 ? 1 : 1 + random() % 6;
    for (uint32_t &x : a)
      x = (round % 3 == 0 ? 0xfffffff0u : 0u) + random() % range;
    auto check = [&](const std::string &instruction, auto wanted, bool second, auto wantedSecond) {
      std::vector<uint32_t> d, p;
      runWarp(instruction, a, none, none, d, p);
      for (size_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(d[lane], uint32_t(wanted(lane))) << instruction << " lane " << lane;
        if (second)
          ASSERT_EQ(p[lane], uint32_t(wantedSecond(lane))) << instruction;
      }
    };
    auto nothing = [](size_t) { return 0u; };
    uint32_t ballot = 0;
    for (size_t lane = 0; lane < 32; ++lane)
      ballot |= (a[lane] & 1) << lane;
    bool same = std::all_of(a.begin(), a.end(), [&](uint32_t x) { return x == a[0]; });
    check("vote.sync.ballot.b32 %r9, %p1, -1;", [&](size_t) { return ballot; }, false, nothing);
    check("vote.sync.ballot.b32 %r9, !%p1, -1;", [&](size_t) { return ~ballot; }, false, nothing);
    check("vote.sync.all.pred %p2, %p1, -1;", nothing, true, [&](size_t) { return ballot == ~0u; });
    check("vote.sync.any.pred %p2, %p1, -1;", nothing, true, [&](size_t) { return ballot != 0; });
    check("vote.sync.uni.pred %p2, %p1, -1;", nothing, true, [&](size_t) { return ballot == 0 || ballot == ~0u; });
    auto equalLanes = [&](size_t lane) {
      uint32_t mask = 0;
      for (size_t other = 0; other < 32; ++other)
        mask |= uint32_t(a[other] == a[lane]) << other;
      return mask;
    };
    check("match.any.sync.b32 %r9, %r1, -1;", equalLanes, false, nothing);
    check("match.any.sync.b64 %r9, %rd10, -1;", equalLanes, false, nothing);
    for (const char *text : {"match.all.sync.b32 %r9|%p2, %r1, -1;", "match.all.sync.b64 %r9|%p2, %rd10, -1;"})
      check(text, [&](size_t) { return same ? ~0u : 0u; }, true, [&](size_t) { return same; });
    auto fold = [&](auto f) {
      uint32_t value = a[0];
      for (size_t lane = 1; lane < 32; ++lane)
        value = f(value, a[lane]);
      return [value](size_t) { return value; };
    };
    check("redux.sync.add.u32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return x + y; }), false, nothing);
    check("redux.sync.add.s32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return x + y; }), false, nothing);
    check("redux.sync.min.u32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return std::min(x, y); }), false,
          nothing);
    check("redux.sync.max.u32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return std::max(x, y); }), false,
          nothing);
    check("redux.sync.min.s32 %r9, %r1, -1;",
          fold([](uint32_t x, uint32_t y) { return uint32_t(std::min(int32_t(x), int32_t(y))); }), false, nothing);
    check("redux.sync.max.s32 %r9, %r1, -1;",
          fold([](uint32_t x, uint32_t y) { return uint32_t(std::max(int32_t(x), int32_t(y))); }), false, nothing);
    check("redux.sync.and.b32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return x & y; }), false, nothing);
    check("redux.sync.or.b32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return x | y; }), false, nothing);
    check("redux.sync.xor.b32 %r9, %r1, -1;", fold([](uint32_t x, uint32_t y) { return x ^ y; }), false, nothing);
    check("elect.sync %r9|%p2, -1;", nothing, true, [](size_t lane) { return lane == 0; });
    check("activemask.b32 %r9;", [](size_t) { return ~0u; }, false, nothing);
  }
}

} // namespace
} // namespace weft::simulator
