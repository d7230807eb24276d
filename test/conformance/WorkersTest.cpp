//===- WorkersTest.cpp - A step that crashes or hangs costs itself alone ----------------------------===//

#include "test/conformance/Workers.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

using namespace weft::conformance;

namespace {

std::string misbehave(size_t step) {
  switch (step) {
  case 0:
    return "fine";
  case 1:
    std::fprintf(stderr, "LIBRARY ERROR: cannot\n");
    std::abort();
  case 2:
    for (;;)
      pause();
  case 3:
    _exit(3);
  case 4:
    _exit(0);
  case 5:
    std::fprintf(stderr, "a warning\n");
    return std::string(300000, 'x') + "\n\"end\"";
  case 6:
    raise(SIGSEGV);
    return "";
  default:
    return "";
  }
}

TEST(Workers, EveryStepEndsWithItsOwnResult) {
  for (unsigned processes : {1u, 3u}) {
    std::vector<StepEnd> ends(8);
    size_t done = 0;
    runSteps(ends.size(), {processes, /*secondsPerStep=*/1}, misbehave, [&](size_t step, const StepEnd &end) {
      ends[step] = end;
      ++done;
    });
    EXPECT_EQ(done, 8u);
    EXPECT_TRUE(ends[0].returned);
    EXPECT_EQ(ends[0].text, "fine");
    EXPECT_FALSE(ends[1].returned);
    EXPECT_EQ(ends[1].text, "CRASHES: Aborted: LIBRARY ERROR: cannot");
    EXPECT_FALSE(ends[2].returned);
    EXPECT_EQ(ends[2].text, "HANGS: still running after 1 s");
    EXPECT_FALSE(ends[3].returned);
    EXPECT_EQ(ends[3].text, "CRASHES: the process ended with status 3");
    EXPECT_FALSE(ends[4].returned);
    EXPECT_TRUE(ends[5].returned);
    EXPECT_EQ(ends[5].text, std::string(300000, 'x') + "\n\"end\"");
    EXPECT_FALSE(ends[6].returned);
    EXPECT_EQ(ends[6].text, "CRASHES: Segmentation fault");
    EXPECT_TRUE(ends[7].returned);
    EXPECT_EQ(ends[7].text, "");
  }
}

} // namespace
