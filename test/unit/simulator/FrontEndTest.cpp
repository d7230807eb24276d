//===- FrontEndTest.cpp - What the parser and verifier refuse, and what LLVM emits --------------===//
#include "runtime/Simulator/Forms.h"
#include "test/unit/simulator/Simulation.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <unistd.h>

namespace weft::simulator {
namespace {

const char *const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Refusal {
  const char *name, *text, *message;
};

// The text follows the three lines of the header; the message starts with the line.
const Refusal refusals[] = {
    {"UnknownForm", ".visible .entry k()\n{\n.reg .b32 %r<3>;\nadd.wrong.s32 %r1, %r1, %r2;\n}",
     "7: error: unknown instruction form 'add.wrong.s32'"},
    {"UnknownDirective", ".frobnicate 3;", "4: error: unknown directive '.frobnicate'"},
    {"UnknownDirectiveInside", ".visible .entry k()\n{\n.frob;\n}",
     "6: error: unknown directive '.frob' in a function"},
    {"UnknownType", ".global .b33 x;", "4: error: unknown type '.b33' in a declaration"},
    {"RegisterWidth", ".visible .entry k()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nadd.s32 %r1, %rd1, %r2;\n}",
     "8: error: register '%rd1' is .b64, but 'add.s32' reads .s32 here"},
    {"DestinationWidth", ".visible .entry k()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nadd.s32 %rd1, %r1, %r2;\n}",
     "8: error: register '%rd1' is .b64, but 'add.s32' writes .s32"},
    {"OperandCount", ".visible .entry k()\n{\n.reg .b32 %r<3>;\nadd.s32 %r1, %r2;\n}",
     "7: error: 'add.s32' takes 3 operands, got 2"},
    {"UndeclaredName", ".visible .entry k()\n{\n.reg .b32 %r<3>;\nadd.s32 %r1, %r7, 1;\n}",
     "7: error: '%r7' is not declared"},
    {"UndefinedLabel", ".visible .entry k()\n{\nbra NOWHERE;\n}",
     "6: error: label 'NOWHERE' is not defined in function 'k'"},
    {"LabelTwice", ".visible .entry k()\n{\nA:\nA:\nret;\n}", "7: error: label 'A' is defined twice"},
    {"GuardIsNoPredicate", ".visible .entry k()\n{\n.reg .b32 %r<3>;\n@%r1 ret;\n}",
     "7: error: '%r1' is not a predicate register"},
    {"FunctionNotClosed", ".visible .entry k()\n{\nret;\n", "is not closed; expected '}'"},
    {"MissingSemicolon", ".visible .entry k()\n{\nret\n}", "7: error: expected"},
    {"CommentNotClosed", "/* what", "4: error: comment is not closed; expected '*/'"},
    {"BadCharacter", "\x01", "4: error: character '\\x01' has no meaning in PTX"},
    {"BadFloat", ".visible .entry k()\n{\n.reg .f32 %f<3>;\nmov.f32 %f1, 0f12;\n}", "expected 8 hexadecimal digits"},
    {"HugeNumber", ".global .b32 x[99999999999999999999999];", "does not fit 64 bits"},
    {"HugeArray", ".global .b32 x[99999999999][99999999999];", "larger than 2^40 elements"},
    {"TooManyInitialValues", ".global .b32 x[2] = {1, 2, 3};", "has 3 elements; the variable holds 2"},
    {"SharedInitialised", ".shared .b32 x = 1;", "only .global and .const variables can have an initialiser"},
    {"BadAlignment", ".global .align 3 .b32 x;", "alignment 3 is not a power of two"},
    {"SpaceMismatch", ".shared .b32 x;\n.visible .entry k()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [x];\n}",
     "8: error: 'x' lies in shared memory, but 'ld.global.u32' accesses global memory"},
    {"CallWithoutBody", ".extern .func f();\n.visible .entry k()\n{\ncall f;\n}",
     "7: error: function 'f' has no body in this module"},
    {"CallArguments", ".func f(.param .b32 a)\n{\nret;\n}\n.visible .entry k()\n{\ncall f;\n}",
     "10: error: 'f' takes 1 arguments and has 0 results; the call passes 0 and 0"},
    {"ParameterPastEnd", ".visible .entry k(.param .b32 a)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [a];\n}",
     "7: error: 'ld.param.u64' reads past the kernel's 4 bytes of parameters"},
    {"TextureOperand", ".visible .entry k()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [%r1, {%r2}];\n}",
     "coordinates are not supported"},
    {"VectorWidth",
     ".visible .entry k()\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<2>;\nld.global.v4.u32 {%r1, %r2}, [%rd1];\n}",
     "8: error: 'ld.global.v4.u32' has 4 destinations, got 2"},
    {"RedefinedFunction", ".visible .entry k()\n{\nret;\n}\n.visible .entry k()\n{\nret;\n}",
     "8: error: function 'k' was already defined at line 4"},
};

class Refused : public testing::TestWithParam<Refusal> {};
TEST_P(Refused, WithLineAndReason) {
  try {
    verifyModule(header + std::string(GetParam().text));
    FAIL() << "was accepted";
  } catch (const PtxError &error) {
    EXPECT_NE((":" + error.format("x").substr(2)).find(GetParam().message), std::string::npos) << error.format("x");
  }
}
INSTANTIATE_TEST_SUITE_P(FrontEnd, Refused, testing::ValuesIn(refusals),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(FrontEnd, WrongHeaders) {
  for (const char *text : {"", ".target sm_80", ".version 2.0\n.target sm_80", ".version 8.0\n.target sm_20",
                           ".version 8.0", ".version 8.0\n.target sm_80\n.address_size 32"})
    EXPECT_THROW(verifyModule(text), PtxError) << text;
}

TEST(FrontEnd, InitialValuesAndAddresses) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(std::string(header) + R"(
.global .align 8 .u64 pointer = numbers+4;
.global .align 4 .b32 numbers[3] = {1, -2, 0f3F800000};
.const .align 8 .f64 half = 0d3FE0000000000000;
)"));
  auto value = [&](const char *name, size_t index, auto zero) {
    std::memcpy(&zero,
                reinterpret_cast<const char *>(simulation.loaded->variables.at(name)->base) + index * sizeof zero,
                sizeof zero);
    return zero;
  };
  EXPECT_EQ(value("numbers", 1, int32_t()), -2);
  EXPECT_EQ(value("numbers", 2, float()), 1.0f);
  EXPECT_EQ(value("half", 0, double()), 0.5);
  EXPECT_EQ(value("pointer", 0, uint64_t()), simulation.loaded->variables.at("numbers")->base + 4);
}

/// Damaged texts are refused or, where they still mean something, run to an end; nothing crashes or hangs.
TEST(FrontEnd, DamagedTexts) {
  const std::string sound = std::string(header) + R"(
.global .align 4 .b32 numbers[3] = {1, -2, 0f3F800000};
.shared .align 4 .b8 tile[256];
.func (.param .b32 r) f(.param .b32 a)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [a];
  add.u32 %r2, %r1, 3;
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  { .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;
  call.uni (retval0), f, (param0); ld.param.b32 %r3, [retval0+0]; }
  mov.u32 %r4, tile; shl.b32 %r5, %r2, 2; add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;
  bar.sync 0;
LOOP:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra LOOP;
  shfl.sync.bfly.b32 %r6|%p2, %r3, 1, 31, -1;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  atom.global.add.u32 %r7, [%rd2], %r6;
  @!%p2 st.global.v2.u32 [%rd2], {%r6, %r7};
  cvt.rn.f32.u32 %f1, %r7; ex2.approx.f32 %f2, %f1; st.global.f32 [%rd2], %f2;
  ret;
}
)";
  verifyModule(sound);
  std::mt19937 random(3);
  unsigned refused = 0, ran = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = sound;
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      size_t at = random() % text.size(), length = 1 + random() % 6;
      if (round % 2) { // only another number: most of these still mean something
        at = text.find_first_of("0123456789", at);
        if (at != std::string::npos)
          text[at] = char('0' + random() % 10);
        continue;
      }
      switch (random() % 5) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      case 2:
        text[at] = char(random() % 256);
        break;
      case 3:
        text.resize(at + 1);
        break;
      default:
        text.replace(at, length, text.substr(random() % text.size(), length));
        break;
      }
    }
    Simulation simulation;
    try {
      simulation.loaded = loadModule(text, simulation.memory, 0, "module #1");
    } catch (const PtxError &) {
      ++refused;
      continue;
    }
    auto found = simulation.loaded->kernels.find("k");
    if (found == simulation.loaded->kernels.end())
      continue;
    LaunchConfiguration configuration;
    configuration.block = {64, 1, 1};
    configuration.parameters.resize(found->second->parameterBytes);
    uint64_t buffer = simulation.upload(std::vector<uint32_t>(64, 1));
    std::memcpy(configuration.parameters.data(), &buffer, std::min<size_t>(8, configuration.parameters.size()));
    simulation.options.stepLimit = 5000;
    simulation.options.checkRaces = true;
    if (checkConfiguration(*found->second, configuration, 227 * 1024).empty())
      launch(*found->second, simulation.memory, 0, 0, configuration, simulation.options, simulation.faults);
    ++ran;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(ran, 100u);
  std::printf("%u texts refused, %u run\n", refused, ran);
}

/// What LLVM emits for functions of many kinds has no form outside PtxForms.def.
TEST(FrontEnd, LlvmCorpus) {
  const char *llc = std::getenv("WEFT_LLC");
  std::string program = llc ? llc : "llc-22";
  if (std::system((program + " --version > /dev/null 2>&1").c_str()) != 0) {
    std::printf("not checked: %s absent\n", program.c_str());
    GTEST_SKIP() << "not checked: llc absent";
  }
  std::string ir = "target triple = \"nvptx64-nvidia-cuda\"\n";
  std::string attributes;
  unsigned functions = 0;
  // One kernel an operation and type: loads two values, applies it, stores the result.
  auto kernel = [&](const std::string &type, const std::string &body, const std::string &result) {
    ir += "define ptx_kernel void @k" + std::to_string(functions++) +
          "(ptr addrspace(1) %p, ptr addrspace(1) %q) {\n  %a = load " + type + ", ptr addrspace(1) %p\n  %b = load " +
          type + ", ptr addrspace(1) %q\n" + body + "  store " + result + " %r, ptr addrspace(1) %p\n  ret void\n}\n";
  };
  for (const char *type : {"i8", "i16", "i32", "i64"}) {
    for (const char *op :
         {"add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "and", "or", "xor", "shl", "lshr", "ashr"})
      kernel(type, std::string("  %r = ") + op + " " + type + " %a, %b\n", type);
    for (const char *predicate : {"eq", "ne", "slt", "ult", "sge", "uge"})
      kernel(type,
             std::string("  %c = icmp ") + predicate + " " + type + " %a, %b\n  %r = select i1 %c, " + type + " %a, " +
                 type + " %b\n",
             type);
    for (const char *call : {"smax", "smin", "umax", "umin"})
      kernel(type,
             std::string("  %r = call ") + type + " @llvm." + call + "." + type + "(" + type + " %a, " + type +
                 " %b)\n",
             type);
    for (const char *call : {"ctpop", "bitreverse"})
      kernel(type, std::string("  %r = call ") + type + " @llvm." + call + "." + type + "(" + type + " %a)\n", type);
    for (const char *to : {"half", "bfloat", "float", "double"}) {
      kernel(type, std::string("  %r = sitofp ") + type + " %a to " + to + "\n", to);
      kernel(type, std::string("  %r = uitofp ") + type + " %a to " + to + "\n", to);
    }
  }
  for (const char *type : {"half", "bfloat", "float", "double"}) {
    for (const char *op : {"fadd", "fsub", "fmul", "fdiv"})
      kernel(type, std::string("  %r = ") + op + " " + type + " %a, %b\n", type);
    for (const char *predicate : {"oeq", "one", "olt", "ole", "ord", "uno", "ueq", "une", "ult", "uge"})
      kernel(type,
             std::string("  %c = fcmp ") + predicate + " " + type + " %a, %b\n  %r = select i1 %c, " + type + " %a, " +
                 type + " %b\n",
             type);
    kernel(type, std::string("  %r = fneg ") + type + " %a\n", type);
    std::string suffix = std::string(type) == "half"     ? "f16"
                         : std::string(type) == "bfloat" ? "bf16"
                         : std::string(type) == "float"  ? "f32"
                                                         : "f64";
    for (const char *call : {"fabs", "floor", "ceil", "trunc", "rint", "roundeven"})
      kernel(type, std::string("  %r = call ") + type + " @llvm." + call + "." + suffix + "(" + type + " %a)\n", type);
    for (const char *call : {"minnum", "maxnum", "minimum", "maximum", "copysign"})
      kernel(type,
             std::string("  %r = call ") + type + " @llvm." + call + "." + suffix + "(" + type + " %a, " + type +
                 " %b)\n",
             type);
    kernel(type,
           std::string("  %r = call ") + type + " @llvm.fma." + suffix + "(" + type + " %a, " + type + " %b, " + type +
               " %b)\n",
           type);
    for (const char *to : {"i8", "i16", "i32", "i64"}) {
      kernel(type, std::string("  %r = fptosi ") + type + " %a to " + to + "\n", to);
      kernel(type, std::string("  %r = fptoui ") + type + " %a to " + to + "\n", to);
    }
  }
  for (const char *type : {"float", "double"}) {
    kernel(type,
           std::string("  %r = call ") + type + " @llvm.sqrt." + (type[0] == 'f' ? "f32" : "f64") + "(" + type +
               " %a)\n",
           type);
    kernel(type, std::string("  %r = atomicrmw fadd ptr addrspace(1) %q, ") + type + " %a seq_cst\n", type);
  }
  for (const char *type :
       {"<2 x half>", "<2 x bfloat>", "<4 x float>", "<2 x double>", "<4 x i8>", "<8 x i16>", "<4 x i32>"}) {
    bool isFloat = type[5] != 'i';
    kernel(type, std::string("  %r = ") + (isFloat ? "fadd " : "add ") + type + " %a, %b\n", type);
    kernel(type, std::string("  %r = ") + (isFloat ? "fmul " : "mul ") + type + " %a, %b\n", type);
  }
  for (const char *op : {"add", "min", "umax", "and", "or", "xor", "xchg"})
    for (const char *type : {"i32", "i64"})
      kernel(type, std::string("  %r = atomicrmw ") + op + " ptr addrspace(1) %q, " + type + " %a monotonic\n", type);
  kernel("i32",
         "  %x = cmpxchg ptr addrspace(1) %q, i32 %a, i32 %b acq_rel acquire\n  %r = extractvalue {i32, i1} %x, 0\n",
         "i32");
  kernel("i128", "  %r = add i128 %a, %b\n", "i128");
  kernel("i128", "  %r = mul i128 %a, %b\n", "i128");
  char folder[] = "simulator-corpus-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string base = folder;
  std::ofstream(base + "/corpus.ll") << ir;
  for (const char *chip : {"sm_80", "sm_90", "sm_100"}) {
    for (const char *option : {"", "-nvptx-fma-level=2 -nvptx-prec-divf32=0 -nvptx-prec-sqrtf32=0"}) {
      std::string command = program + " -O2 -march=nvptx64 -mcpu=" + chip + " " + option + " " + base +
                            "/corpus.ll -o " + base + "/corpus.ptx";
      ASSERT_EQ(std::system(command.c_str()), 0) << command;
      std::ifstream file(base + "/corpus.ptx");
      std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      // Each function that is refused is named, not only the first.
      try {
        verifyModule(text);
      } catch (const PtxError &error) {
        ADD_FAILURE() << chip << " " << option << ": " << error.format("corpus.ptx");
      }
    }
  }
  std::printf("%u functions for three targets\n", functions);
  for (const char *name : {"/corpus.ll", "/corpus.ptx"})
    unlink((base + name).c_str());
  rmdir(folder);
}

TEST(Forms, ModifiersInTheOrdersThatHeadersUse) {
  for (const char *opcode : {"atom.add.release.gpu.u32", "atom.global.cta.add.u32", "atom.cas.acquire.sys.b64",
                             "red.and.relaxed.cta.b32", "max.s32.relu", "min.s16x2.relu"}) {
    Form form;
    makeForm(opcode, form);
    EXPECT_EQ(form.patterns.size(), 1u) << opcode;
  }
  for (const char *opcode : {"atom.release.add.u99", "max.relu.u32", "add.f32.rn", "atom.add.max.u32"}) {
    Form form;
    makeForm(opcode, form);
    EXPECT_TRUE(form.patterns.empty()) << opcode;
  }
}

TEST(Parser, TheSizeOfAWarpHasAName) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param .u64 out", "ld.param.u64 %rd1, [out];\nmov.u32 %r1, WARP_SZ;\n"
                                                            "add.s32 %r1, %r1, -WARP_SZ;\nadd.s32 %r1, %r1, WARP_SZ;\n"
                                                            "st.global.u32 [%rd1], %r1;\nret;")));
  uint64_t out = simulation.allocate(4);
  simulation.run("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(simulation.reports(), "");
  EXPECT_EQ(simulation.download<uint32_t>(out, 1)[0], 32u);
}

TEST(Parser, DirectivesMayFollowEachOtherWithoutASpace) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param.u64 out", "{.reg.b32 here;\nmov.u32 here, 7;\nld.param.u64 %rd1, "
                                                           "[out];\nst.global.u32 [%rd1], here;\nret;}")));
  uint64_t out = simulation.allocate(4);
  simulation.run("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(simulation.reports(), "");
  EXPECT_EQ(simulation.download<uint32_t>(out, 1)[0], 7u);
}

TEST(Decode, CachePoliciesAndHintsChangeNothing) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param .u64 in, .param .u64 out",
                                         "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
                                         "createpolicy.fractional.L2::evict_last.b64 %rd3, 0f3F000000;\n"
                                         "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd4;\n"
                                         "prefetchu.L1 [%rd1];\nprefetch.global.L2::evict_last [%rd1];\n"
                                         "applypriority.global.L2::evict_normal [%rd1], 128;\npmevent 1;\n"
                                         "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r1, [%rd1], %rd3;\n"
                                         "st.global.L2::cache_hint.u32 [%rd2], %r1, %rd4;\nret;")));
  uint64_t in = simulation.upload(std::vector<uint32_t>{42}), out = simulation.allocate(4);
  simulation.run("k", {1, 1, 1}, {1, 1, 1}, in, out);
  EXPECT_EQ(simulation.reports(), "");
  EXPECT_EQ(simulation.download<uint32_t>(out, 1)[0], 42u);
}

} // namespace
} // namespace weft::simulator
