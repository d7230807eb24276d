//===- TargetsTest.cpp - What --target accepts --------------------------------------------------------------===//

#include "lib/Pipeline/Targets.h"
#include <gtest/gtest.h>

using namespace weft;

namespace {

std::string read(llvm::StringRef text) {
  llvm::Expected<std::vector<CompileTarget>> targets = parseTargets(text);
  if (!targets)
    return "error: " + llvm::toString(targets.takeError());
  std::string names;
  for (const CompileTarget &target : *targets)
    names += target.name() + (target.cubin ? "+cubin " : " ") + target.deviceModel() + ";";
  return names;
}

TEST(Targets, Lists) {
  EXPECT_EQ(read("cpu"), "cpu cpu;");
  EXPECT_EQ(read("cuda:sm_80"), "cuda:sm_80 a100;");
  EXPECT_EQ(read("cpu,cuda:sm_80,cuda:sm_90+cubin"), "cpu cpu;cuda:sm_80 a100;cuda:sm_90+cubin h100;");
  EXPECT_EQ(read("cuda:sm_100, cpu"), "cuda:sm_100 b200;cpu cpu;");
}

TEST(Targets, MistakesAreNamed) {
  for (llvm::StringRef word :
       {"", "tpu", "cuda", "cuda:", "cuda:sm_1", "cuda:sm_90+", "cuda:sm_90+ptx", "CPU", "cpu+cubin"}) {
    std::string message = read(word);
    EXPECT_NE(message.find("error: target '" + word.str() + "': expected cpu, or cuda: and one of"), std::string::npos)
        << message;
  }
  EXPECT_NE(read("cpu,").find("target ''"), std::string::npos);
  EXPECT_EQ(read("cuda:sm_90,cuda:sm_90+cubin"), "error: target 'cuda:sm_90' is there twice");
}

TEST(Targets, ChipsForDevices) {
  EXPECT_EQ(chipForArchitecture(80), "sm_80");
  EXPECT_EQ(chipForArchitecture(90), "sm_90");
  EXPECT_EQ(chipForArchitecture(70), "");
}

} // namespace
