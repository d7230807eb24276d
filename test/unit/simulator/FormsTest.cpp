//===- FormsTest.cpp - Every arithmetic form of PtxForms.def against a reference ------------===//
#include "test/unit/simulator/Exact.h"
#include "test/unit/simulator/Reference.h"
#include "test/unit/simulator/Simulation.h"

#include <cmath>
#include <random>

namespace weft::simulator {
namespace {

constexpr unsigned vectors = 512;
constexpr unsigned slots = 6; ///< 8-byte values a vector has.

struct OperandKind {
  Type type = Type::None;
  bool isPredicate = false;
  bool isLiteral = false;
};

struct FormTest {
  std::unique_ptr<Form> form;
  std::vector<OperandKind> sources;
  OperandKind destination;
  bool secondPredicate = false, carryIn = false, carryOut = false;
  std::string kernel;
};

Type widerType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

std::vector<std::string> split(std::string text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t comma = text.find(',');
    out.push_back(text.substr(0, comma));
    text = comma == std::string::npos ? "" : text.substr(comma + 1);
  }
  return out;
}

OperandKind kindOf(const Form &form, const std::string &token) {
  OperandKind kind;
  if (token == "p" || token == "P")
    kind.isPredicate = true;
  else if (token == "M")
    kind.isLiteral = true;
  else
    kind.type = token == "T"   ? form.type(0)
                : token == "U" ? form.type(1)
                : token == "W" ? widerType(form.type(0))
                               : typeFromSuffix(token);
  return kind;
}

/// "%rs3", "%r3" or "%rd3": a register as wide as the type.
std::string registerFor(const OperandKind &kind, unsigned number) {
  std::string digit = std::to_string(number);
  if (kind.isPredicate)
    return "%p" + digit;
  unsigned bytes = typeSize(kind.type);
  return (bytes <= 2 ? "%rs" : bytes == 4 ? "%r" : "%rd") + digit;
}

FormTest makeTest(const std::string &opcode, const FormPattern &pattern, unsigned number) {
  FormTest test;
  test.form = std::make_unique<Form>();
  makeForm(opcode, *test.form);
  const Form &form = *test.form;
  std::string signature = pattern.signature;
  size_t equals = signature.find('=');
  test.destination = kindOf(form, signature.substr(0, equals));
  for (const std::string &token : split(signature.substr(equals + 1)))
    test.sources.push_back(kindOf(form, token));
  test.secondPredicate = signature[0] == 'P' && form.opcode() == "setp";
  std::string_view op = form.opcode();
  test.carryIn = op == "addc" || op == "subc" || op == "madc";
  test.carryOut = form.has("cc");
  std::string body;
  auto line = [&](const std::string &text) { body += "    " + text + ";\n"; };
  std::string operands;
  for (unsigned i = 0; i < test.sources.size(); ++i) {
    const OperandKind &kind = test.sources[i];
    std::string offset = "[%rd30+" + std::to_string(8 * i) + "]";
    if (kind.isLiteral) {
      operands += ", 0xe8";
      continue;
    }
    if (kind.isPredicate) {
      line("ld.global.b32 %r40, " + offset);
      line("setp.ne.b32 %p" + std::to_string(i) + ", %r40, 0");
    } else {
      unsigned bytes = std::max(2u, typeSize(kind.type));
      line("ld.global.b" + std::to_string(bytes * 8) + " " + registerFor(kind, i) + ", " + offset);
    }
    operands += ", " + registerFor(kind, i);
  }
  if (test.carryIn) {
    line("ld.global.b32 %r41, [%rd30+32]");
    line("add.cc.u32 %r42, %r41, -1"); // sets CC.CF where the value is 1
    if (op == "subc")
      line("sub.cc.u32 %r42, 0, %r41"); // the borrow
  }
  std::string target = registerFor(test.destination, 9);
  line(opcode + " " + target + (test.secondPredicate ? "|%p8" : "") + operands);
  if (test.destination.isPredicate) {
    line("selp.b32 %r9, 1, 0, %p9");
    line("st.global.b32 [%rd31], %r9");
  } else {
    unsigned bytes = std::max(2u, typeSize(test.destination.type));
    line("st.global.b" + std::to_string(bytes * 8) + " [%rd31], " + target);
  }
  if (test.secondPredicate) {
    line("selp.b32 %r10, 1, 0, %p8");
    line("st.global.b32 [%rd31+8], %r10");
  }
  if (test.carryOut) {
    line("addc.u32 %r11, 0, 0");
    if (op[0] == 's')
      line("neg.s32 %r12, %r11");
    line("st.global.b32 [%rd31+8], %r11");
  }
  test.kernel = ".visible .entry k" + std::to_string(number) +
                "(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .pred %p<12>;\n.reg .b16 %rs<12>;\n.reg .b32 %r<48>;\n.reg .b64 %rd<32>;\n"
                "    ld.param.u64 %rd20, [in];\n    ld.param.u64 %rd21, [out];\n    mov.u32 %r30, %tid.x;\n"
                "    mad.wide.u32 %rd30, %r30, " +
                std::to_string(slots * 8) + ", %rd20;\n    mad.wide.u32 %rd31, %r30, 16, %rd21;\n" + body +
                "    ret;\n}\n";
  return test;
}

const FloatFormat *formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return &formatF16;
  case Type::BF16:
  case Type::BF16x2:
    return &formatBF16;
  case Type::F32:
  case Type::F32x2:
    return &formatF32;
  case Type::F64:
    return &formatF64;
  case Type::E4M3x2:
    return &formatE4M3;
  case Type::E5M2x2:
    return &formatE5M2;
  default:
    return nullptr;
  }
}

uint64_t edgeOrRandom(Type type, std::mt19937_64 &random) {
  unsigned bits = typeSize(type) * 8;
  if (const FloatFormat *f = formatOf(type)) {
    unsigned width = unsigned(f->fraction + f->exponent + 1);
    uint64_t out = 0;
    for (unsigned part = 0; part < bits / width; ++part) {
      uint64_t top = ((uint64_t(1) << f->exponent) - 1) << f->fraction, one = uint64_t(f->bias()) << f->fraction,
               ulp = uint64_t(1);
      uint64_t edges[] = {0,
                          top,
                          top | 1,
                          top | (uint64_t(1) << (f->fraction - 1)),
                          1,
                          (uint64_t(1) << f->fraction) - 1,
                          uint64_t(1) << f->fraction,
                          top - 1,
                          one,
                          one + ulp,
                          one - ulp,
                          one | (uint64_t(1) << (f->fraction - 1)),
                          one + (uint64_t(1) << f->fraction),
                          one - (uint64_t(1) << f->fraction)};
      uint64_t value;
      uint64_t choice = random() % 8;
      if (choice < 3)
        value = edges[random() % (sizeof edges / sizeof edges[0])];
      else if (choice < 6) // near 1, where sums and products cancel and round
        value = one + ((random() % 17 - 8) << f->fraction) + (random() & ((uint64_t(1) << f->fraction) - 1));
      else
        value = random();
      value = (value ^ (random() & 1 ? f->signBit() : 0)) & ((f->signBit() << 1) - 1);
      out |= value << (part * width);
    }
    return out;
  }
  uint64_t high = uint64_t(1) << (bits - 1);
  uint64_t edges[] = {0,  1,  2,   ~uint64_t(0), ~uint64_t(1), high,   high - 1, high + 1, 31,   32, 33, 63,
                      64, 65, 255, 256,          0x7fff,       0x8000, 0xffff,   0x80,     0x7f, 16, 15};
  switch (random() % 4) {
  case 0:
  case 1:
    return edges[random() % (sizeof edges / sizeof edges[0])];
  case 2:
    return random() % 100;
  default:
    return random();
  }
}

bool matches(const FormTest &test, uint64_t got, const ReferenceOutput &want, std::string &why) {
  Type type = test.destination.type;
  char text[160];
  if (want.approximate) {
    const FloatFormat *f = formatOf(type);
    uint64_t low = got & ((f->signBit() << 1) - 1);
    double value = Exact::fromBits(low, *f).approximate();
    double largest = Exact::fromBits((((uint64_t(1) << f->exponent) - 1) << f->fraction) - 1, *f).approximate();
    bool good;
    if (std::isnan(want.value))
      good = std::isnan(value);
    else if (std::isinf(want.value) || std::fabs(want.value) > largest)
      good = std::isinf(value) && std::signbit(value) == std::signbit(want.value);
    else
      good = std::fabs(value - want.value) <= std::max(want.absolute, std::fabs(want.value) * want.relative);
    std::snprintf(text, sizeof text, "got %.17g, expected %.17g", value, want.value);
    why = text;
    return good;
  }
  std::snprintf(text, sizeof text, "got %#llx, expected %#llx", static_cast<unsigned long long>(got),
                static_cast<unsigned long long>(want.bits[0]));
  why = text;
  if (got == want.bits[0])
    return true;
  const FloatFormat *f = formatOf(type);
  if (!want.anyNaN || !f)
    return false;
  unsigned width = unsigned(f->fraction + f->exponent + 1);
  for (unsigned at = 0; at < typeSize(type) * 8; at += width) {
    uint64_t mask = (f->signBit() << 1) - 1, a = (got >> at) & mask, b = (want.bits[0] >> at) & mask;
    bool bothNaN = Exact::fromBits(a, *f).kind == Exact::Kind::NaN && Exact::fromBits(b, *f).kind == Exact::Kind::NaN;
    if (a != b && !bothNaN)
      return false;
  }
  return true;
}

void runTests(std::vector<FormTest> &tests, unsigned &failures) {
  std::string text = ".version 8.7\n.target sm_100\n.address_size 64\n";
  for (const FormTest &test : tests)
    text += test.kernel;
  Simulation simulation;
  simulation.options.threads = 1;
  ASSERT_TRUE(simulation.load(text)) << tests[0].form->name << " and following";
  for (size_t t = 0; t < tests.size(); ++t) {
    FormTest &test = tests[t];
    const Form &form = *test.form;
    std::mt19937_64 random(std::hash<std::string>()(form.name));
    std::vector<uint64_t> in(vectors * slots);
    std::vector<ReferenceInput> inputs(vectors);
    for (unsigned v = 0; v < vectors; ++v) {
      for (unsigned i = 0; i < test.sources.size(); ++i) {
        uint64_t value = test.sources[i].isLiteral     ? 0
                         : test.sources[i].isPredicate ? random() & 1
                                                       : edgeOrRandom(test.sources[i].type, random);
        if (v % 16 == 0 && i == 1)
          value = in[v * slots]; // equal operands now and then
        if (!test.sources[i].isLiteral && !test.sources[i].isPredicate && typeSize(test.sources[i].type) < 8)
          value &= (uint64_t(1) << typeSize(test.sources[i].type) * 8) - 1;
        in[v * slots + i] = inputs[v].source[i] = test.sources[i].isPredicate ? value & 1 : value;
      }
      inputs[v].sources = unsigned(test.sources.size());
      inputs[v].carry = random() & 1;
      in[v * slots + 4] = inputs[v].carry;
    }
    uint64_t pin = simulation.upload(in), pout = simulation.upload(std::vector<uint64_t>(vectors * 2, 0));
    bool completed = simulation.run("k" + std::to_string(t), {1, 1, 1}, {vectors, 1, 1}, pin, pout).completed;
    EXPECT_TRUE(completed) << form.name << "\n" << simulation.reports();
    std::vector<uint64_t> results = simulation.download<uint64_t>(pout, vectors * 2);
    for (unsigned v = 0; v < vectors; ++v) {
      ReferenceOutput want;
      ASSERT_TRUE(reference(form, inputs[v], want)) << "no reference for " << form.name;
      std::string why;
      bool good = matches(test, results[2 * v], want, why);
      if (good && test.secondPredicate)
        good = (results[2 * v + 1] & 1) == want.bits[1];
      if (good && test.carryOut) {
        // After a subtraction CC holds the borrow; addc reads it as a carry.
        good = (results[2 * v + 1] & 1) == uint64_t(want.carry);
        why += ", carry " + std::to_string(results[2 * v + 1] & 1) + " expected " + std::to_string(want.carry);
      }
      if (!good) {
        char operands[160];
        std::snprintf(operands, sizeof operands, " of %#llx, %#llx, %#llx, %#llx carry %d",
                      static_cast<unsigned long long>(inputs[v].source[0]),
                      static_cast<unsigned long long>(inputs[v].source[1]),
                      static_cast<unsigned long long>(inputs[v].source[2]),
                      static_cast<unsigned long long>(inputs[v].source[3]), int(inputs[v].carry));
        if (++failures <= 40)
          ADD_FAILURE() << form.name << operands << ": " << why;
        break; // one a form
      }
    }
    simulation.memory.free(*simulation.memory.findBase(pin), "test");
    simulation.memory.free(*simulation.memory.findBase(pout), "test");
  }
}

void testFamily(Family family) {
  std::vector<FormTest> tests;
  unsigned failures = 0, forms = 0;
  for (const FormPattern &pattern : formPatterns()) {
    if (pattern.family != family)
      continue;
    for (const std::string &opcode : expandPattern(pattern.pattern)) {
      tests.push_back(makeTest(opcode, pattern, unsigned(tests.size())));
      ++forms;
      if (tests.size() == 100) {
        runTests(tests, failures);
        tests.clear();
      }
    }
  }
  if (!tests.empty())
    runTests(tests, failures);
  EXPECT_EQ(failures, 0u);
  std::printf("%u forms, %u vectors each\n", forms, vectors);
}

TEST(Forms, Integer) { testFamily(Family::Integer); }
TEST(Forms, Predicate) { testFamily(Family::Predicate); }
TEST(Forms, Compare) { testFamily(Family::Compare); }
TEST(Forms, Float) { testFamily(Family::Float); }
TEST(Forms, Half) { testFamily(Family::Half); }
TEST(Forms, Convert) { testFamily(Family::Convert); }

} // namespace
} // namespace weft::simulator
