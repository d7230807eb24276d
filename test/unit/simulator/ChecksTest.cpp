//===- ChecksTest.cpp - Planted faults: each is found, named rightly, and nothing else --------===//
//
// Every case is a pair of kernels that differ in the fault alone. The sound one runs clean under 100 orders of blocks
// and warps; the other one's only finding has the kind, the line and the words that the case expects.
//===-------------------------------------------------------------------------------------------===//
#include "test/unit/simulator/Simulation.h"

#include <set>

namespace weft::simulator {
namespace {

struct PlantedFault {
  const char *name;
  FaultKind kind;
  const char *faulty, *sound;
  const char *line;  ///< Part of the PTX line that the report must show.
  const char *words; ///< Part of the report.
  unsigned blocks = 1;
};

// In the bodies: %rd1 256 numbers, %rd2 256 never written, %rd3 freed; %r1 the thread, %r2 the block, %rd11 and %rd12
// the thread's place in the first two, %r4 its place in the shared array "tile" of 128 numbers.
/// Nothing in the tile is uninitialised then: what is left is the race.
#define CLEARED "st.shared.u32 [%r4], 0;\n bar.sync 0;\n"

const PlantedFault cases[] = {
    {"GlobalReadPastEnd", FaultKind::OutOfBounds, "ld.global.u32 %r10, [%rd11+600];",
     "ld.global.u32 %r10, [%rd11+512];", "[%rd11+600]", "past the end of the buffer would be read"},
    {"GlobalWritePastEnd", FaultKind::OutOfBounds, "st.global.u32 [%rd11+516], %r1;", "st.global.u32 [%rd11+512], %r1;",
     "[%rd11+516]", "4 bytes past the end of the buffer would be written"},
    {"GlobalBeforeStart", FaultKind::OutOfBounds, "ld.global.u32 %r10, [%rd11+-4];", "ld.global.u32 %r10, [%rd11+4];",
     "[%rd11+-4]", ""},
    {"NullPointer", FaultKind::OutOfBounds, "ld.global.u32 %r10, [%rd10];", "ld.global.u32 %r10, [%rd11];", "[%rd10]",
     "null pointer"},
    {"MisalignedGlobal", FaultKind::Misaligned, "ld.global.u32 %r10, [%rd11+2];", "ld.global.u32 %r10, [%rd11+4];",
     "[%rd11+2]", "not a multiple of 4"},
    {"MisalignedVectorShared", FaultKind::Misaligned, "st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};",
     "setp.eq.u32 %p1, %r1, 0;\n @%p1 st.shared.v4.u32 [wide], {%r1, %r1, %r1, %r1};", "st.shared.v4.u32 [tile]",
     "not a multiple of 16"},
    {"UseAfterFree", FaultKind::UseAfterFree, "ld.global.u32 %r10, [%rd3];", "ld.global.u32 %r10, [%rd1];", "[%rd3]",
     "after it was freed by test free"},
    {"UninitialisedGlobal", FaultKind::UninitialisedRead, "ld.global.u32 %r10, [%rd12];",
     "st.global.u32 [%rd12], 1;\n ld.global.u32 %r10, [%rd12];", "[%rd12]", "of the buffer was never written"},
    {"UninitialisedShared", FaultKind::UninitialisedRead, "ld.shared.u32 %r10, [%r4];",
     "st.shared.u32 [%r4], 1;\n ld.shared.u32 %r10, [%r4];", "ld.shared.u32", "shared variable"},
    {"UninitialisedLocal", FaultKind::UninitialisedRead, "ld.local.u32 %r10, [depot+8];",
     "st.local.u32 [depot+8], 1;\n ld.local.u32 %r10, [depot+8];", "[depot+8]", "that the thread has not written"},
    {"LocalPastEnd", FaultKind::OutOfBounds,
     "mov.u64 %rd20, depot;\n add.u64 %rd20, %rd20, 4096;\n st.local.u32 [%rd20], 1;",
     "mov.u64 %rd20, depot;\n add.u64 %rd20, %rd20, 12;\n st.local.u32 [%rd20], 1;", "st.local.u32 [%rd20]",
     "local memory"},
    {"WriteToConstant", FaultKind::WriteToConstant, "mov.u64 %rd20, table;\n st.global.u32 [%rd20], 1;",
     "mov.u64 %rd20, table;\n ld.const.u32 %r10, [%rd20];", "st.global.u32 [%rd20]", "variable 'table'"},
    {"SharedPastEnd", FaultKind::OutOfBounds, "st.shared.u32 [%r4+4], 1;", "st.shared.u32 [%r4], 1;", "[%r4+4]",
     "leaves its shared variable"},
    {"SharedFarOutside", FaultKind::OutOfBounds, "mov.u32 %r10, 100000;\n st.shared.u32 [%r10], 1;",
     "setp.eq.u32 %p1, %r1, 0;\n mov.u32 %r10, tile;\n @%p1 st.shared.u32 [%r10], 1;", "st.shared.u32 [%r10]",
     "outside the block's shared memory"},
    {"WriteToParameters", FaultKind::OutOfBounds, "mov.u64 %rd20, 17179869184;\n st.u32 [%rd20], 1;",
     "mov.u64 %rd20, 17179869184;\n ld.u32 %r10, [%rd20];", "st.u32 [%rd20]", "read-only"},
    {"SharedReadAfterWrite", FaultKind::SharedRace,
     CLEARED
     "st.shared.u32 [%r4], %r1;\n xor.b32 %r10, %r3, 256;\n add.u32 %r11, %r5, %r10;\n ld.shared.u32 %r12, [%r11];",
     CLEARED "st.shared.u32 [%r4], %r1;\n bar.sync 0;\n xor.b32 %r10, %r3, 256;\n add.u32 %r11, %r5, %r10;\n "
             "ld.shared.u32 %r12, [%r11];",
     "%r12, [%r11]|st.shared.u32 [%r4]", "no __syncthreads lies between"},
    {"SharedWriteAfterWrite", FaultKind::SharedRace, "st.shared.u32 [tile], %r1;",
     "setp.eq.u32 %p1, %r1, 0;\n @%p1 st.shared.u32 [tile], %r1;", "st.shared.u32 [tile]",
     "a write and an earlier write"},
    {"SharedWriteAfterRead", FaultKind::SharedRace,
     "st.shared.u32 [%r4], %r1;\n bar.sync 0;\n xor.b32 %r10, %r3, 256;\n add.u32 %r11, %r5, %r10;\n ld.shared.u32 "
     "%r12, [%r11];\n st.shared.u32 [%r4], %r12;",
     "st.shared.u32 [%r4], %r1;\n bar.sync 0;\n xor.b32 %r10, %r3, 256;\n add.u32 %r11, %r5, %r10;\n ld.shared.u32 "
     "%r12, [%r11];\n bar.sync 0;\n st.shared.u32 [%r4], %r12;",
     "[%r4], %r12|%r12, [%r11]", "are not ordered"},
    {"SharedWithinWarp", FaultKind::SharedRace,
     CLEARED
     "st.shared.u32 [%r4], %r1;\n xor.b32 %r10, %r3, 4;\n add.u32 %r11, %r5, %r10;\n ld.shared.u32 %r12, [%r11];",
     CLEARED "st.shared.u32 [%r4], %r1;\n bar.warp.sync -1;\n xor.b32 %r10, %r3, 4;\n add.u32 %r11, %r5, %r10;\n "
             "ld.shared.u32 %r12, [%r11];",
     "ld.shared.u32 %r12", "__syncwarp"},
    {"GlobalBetweenBlocks", FaultKind::GlobalRace, "st.global.u32 [%rd11], %r2;",
     "mul.wide.u32 %rd20, %r2, 512;\n add.u64 %rd21, %rd11, %rd20;\n st.global.u32 [%rd21], %r2;",
     "st.global.u32 [%rd11]", "blocks of a grid are not ordered", 2},
    {"GlobalWithinBlock", FaultKind::GlobalRace,
     "st.global.u32 [%rd11], %r1;\n xor.b32 %r10, %r1, 64;\n mad.wide.u32 %rd20, %r10, 4, %rd1;\n ld.global.u32 %r12, "
     "[%rd20];",
     "st.global.u32 [%rd11], %r1;\n bar.sync 0;\n xor.b32 %r10, %r1, 64;\n mad.wide.u32 %rd20, %r10, 4, %rd1;\n "
     "ld.global.u32 %r12, [%rd20];",
     "ld.global.u32 %r12|st.global.u32 [%rd11]", "no __syncthreads"},
    {"AtomicAgainstPlain", FaultKind::GlobalRace, "red.global.add.u32 [%rd1], 1;\n st.global.u32 [%rd1], %r1;",
     "red.global.add.u32 [%rd1], 1;\n atom.global.exch.b32 %r10, [%rd1], %r1;", "[%rd1]", "are not ordered"},
    {"BarrierUnderPredicate", FaultKind::BarrierDivergence, "setp.lt.u32 %p1, %r1, 16;\n @%p1 bar.sync 0;",
     "setp.lt.u32 %p1, %r1, 128;\n @%p1 bar.sync 0;", "bar.sync 0", "only lanes 0-15"},
    {"BarrierInBranch", FaultKind::BarrierDivergence,
     "and.b32 %r10, %r1, 1;\n setp.eq.u32 %p1, %r10, 0;\n @%p1 bra ODD;\n bar.sync 0;\n bra END;\nODD:\n bar.sync "
     "0;\nEND:",
     "and.b32 %r10, %r1, 1;\n setp.eq.u32 %p1, %r10, 0;\n @%p1 bra ODD;\n add.u32 %r10, %r10, 1;\nODD:\n bar.sync 0;",
     "bar.sync 0", "lanes of one warp wait at different barriers"},
    {"BarriersThatNeverMeet", FaultKind::BarrierDivergence, "shr.u32 %r10, %r1, 6;\n bar.sync %r10;",
     "shr.u32 %r10, %r1, 6;\n bar.sync %r10, 64;", "bar.sync %r10", "the block waits for ever"},
    {"BarriersAtTwoPlaces", FaultKind::BarrierDivergence,
     "setp.lt.u32 %p1, %r1, 64;\n @%p1 bra LOW;\n bar.sync 0;\n bra END;\nLOW:\n bar.sync 0;\nEND:",
     "setp.lt.u32 %p1, %r1, 64;\n @%p1 bra LOW;\n add.u32 %r10, %r1, 1;\nLOW:\n bar.sync 0;", "bar.sync 0",
     "barriers of different places"},
    {"ShuffleWithoutSomeLanes", FaultKind::WarpSyncDivergence,
     "and.b32 %r10, %r1, 31;\n setp.ge.u32 %p1, %r10, 16;\n @%p1 bra END;\n shfl.sync.idx.b32 %r11, %r1, 0, 31, "
     "-1;\nEND:",
     "and.b32 %r10, %r1, 31;\n setp.ge.u32 %p1, %r10, 16;\n @%p1 bra END;\n shfl.sync.idx.b32 %r11, %r1, 0, 31, "
     "65535;\nEND:",
     "shfl.sync.idx", "never come"},
    {"ShuffleFromAbsentLane", FaultKind::WarpSyncDivergence,
     "and.b32 %r10, %r1, 31;\n setp.ge.u32 %p1, %r10, 16;\n @%p1 bra END;\n shfl.sync.idx.b32 %r11, %r1, 20, 31, "
     "65535;\nEND:",
     "and.b32 %r10, %r1, 31;\n setp.ge.u32 %p1, %r10, 16;\n @%p1 bra END;\n shfl.sync.idx.b32 %r11, %r1, 3, 31, "
     "65535;\nEND:",
     "shfl.sync.idx", "from lane 20"},
    {"LaneOutsideItsMask", FaultKind::WarpSyncDivergence, "bar.warp.sync 1;", "bar.warp.sync -1;", "bar.warp.sync 1",
     "is not in the member mask"},
    {"VoteUnderPredicate", FaultKind::WarpSyncDivergence,
     "and.b32 %r10, %r1, 31;\n setp.lt.u32 %p1, %r10, 8;\n @%p1 vote.sync.ballot.b32 %r11, %p1, -1;",
     "and.b32 %r10, %r1, 31;\n setp.lt.u32 %p1, %r10, 8;\n vote.sync.ballot.b32 %r11, %p1, -1;", "vote.sync",
     "a predicate keeps them"},
    {"AsyncCopyBeforeWait", FaultKind::AsyncCopyBeforeWait,
     "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.commit_group;\n ld.shared.u32 %r10, [%r4];",
     "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.commit_group;\n cp.async.wait_group 0;\n ld.shared.u32 "
     "%r10, [%r4];",
     "ld.shared.u32 %r10", "before the copying thread waited"},
    {"AsyncCopyWaitsForTooFew", FaultKind::AsyncCopyBeforeWait,
     "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.commit_group;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 "
     "cp.async.ca.shared.global [wide], [%rd1], 4;\n cp.async.commit_group;\n cp.async.wait_group 2;\n ld.shared.u32 "
     "%r10, [%r4];\n cp.async.wait_all;",
     "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.commit_group;\n cp.async.wait_group 0;\n ld.shared.u32 "
     "%r10, [%r4];",
     "ld.shared.u32 %r10", "cp.async.wait_group"},
    {"AsyncCopyWithoutBarrier", FaultKind::SharedRace,
     CLEARED "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.wait_all;\n xor.b32 %r10, %r3, 256;\n add.u32 "
             "%r11, %r5, %r10;\n ld.shared.u32 %r12, [%r11];",
     CLEARED "cp.async.ca.shared.global [%r4], [%rd11], 4;\n cp.async.wait_all;\n bar.sync 0;\n xor.b32 %r10, %r3, "
             "256;\n add.u32 %r11, %r5, %r10;\n ld.shared.u32 %r12, [%r11];",
     "", ""},
    {"EndlessLoop", FaultKind::StepLimit, "LOOP:\n add.u32 %r10, %r10, 1;\n bra LOOP;",
     "mov.u32 %r10, 0;\nLOOP:\n add.u32 %r10, %r10, 1;\n setp.lt.u32 %p1, %r10, 100;\n @%p1 bra LOOP;", "bra LOOP",
     "more than 100000 instructions"},
    {"Trap", FaultKind::Trap, "setp.eq.u32 %p1, %r1, 5;\n @%p1 trap;", "setp.eq.u32 %p1, %r1, 500;\n @%p1 trap;",
     "trap", "thread (5,0,0)"},
    {"BarrierNumber", FaultKind::InvalidInstruction, "mov.u32 %r10, 16;\n bar.sync %r10;",
     "mov.u32 %r10, 15;\n bar.sync %r10;", "bar.sync %r10", "barrier 16 does not exist"},
    {"BarrierThreadCount", FaultKind::InvalidInstruction, "mov.u32 %r10, 100;\n bar.sync 1, %r10;",
     "mov.u32 %r10, 128;\n bar.sync 1, %r10;", "bar.sync 1", "multiple of 32"},
    {"BranchTableIndex", FaultKind::InvalidInstruction, "T: .branchtargets A, B;\n brx.idx %r1, T;\nA:\nB:",
     "T: .branchtargets A, B;\n and.b32 %r10, %r1, 1;\n brx.idx %r10, T;\nA:\nB:", "brx.idx %r1", "past the 2 targets"},
};

std::string textOf(const char *body) {
  return kernelText(".param .u64 numbers, .param .u64 raw, .param .u64 freed", std::string(R"(
    .shared .align 4 .b8 tile[512];
    .shared .align 16 .b8 wide[128];
    .local .align 4 .b8 depot[16];
    ld.param.u64 %rd1, [numbers];
    ld.param.u64 %rd2, [raw];
    ld.param.u64 %rd3, [freed];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r1, 2;
    mov.u32 %r5, tile;
    add.u32 %r4, %r5, %r3;
    mul.wide.u32 %rd10, %r1, 4;
    add.u64 %rd11, %rd1, %rd10;
    add.u64 %rd12, %rd2, %rd10;
)") + body + "\n ret;",
                    ".const .align 4 .u32 table[4] = {1, 2, 3, 4};");
}

struct Prepared {
  Simulation simulation;
  uint64_t numbers = 0, raw = 0, freed = 0;
  explicit Prepared(const char *body) {
    simulation.options.checkRaces = true;
    simulation.options.stepLimit = 100000;
    EXPECT_TRUE(simulation.load(textOf(body)));
    numbers = simulation.upload(std::vector<uint32_t>(256, 7));
    raw = simulation.allocate(1024);
    freed = simulation.upload(std::vector<uint32_t>(256, 7));
    simulation.memory.free(*simulation.memory.findBase(freed), "test free");
  }
};

class Planted : public testing::TestWithParam<PlantedFault> {};

TEST_P(Planted, IsFoundAndNamed) {
  const PlantedFault &planted = GetParam();
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    Prepared prepared(planted.faulty);
    Simulation &simulation = prepared.simulation;
    simulation.options.seed = seed;
    simulation.run("k", {planted.blocks, 1, 1}, {128, 1, 1}, prepared.numbers, prepared.raw, prepared.freed);
    std::vector<Fault> faults = simulation.faults.faults();
    ASSERT_FALSE(faults.empty()) << "seed " << seed;
    std::string report = simulation.reports();
    for (const Fault &fault : faults) {
      EXPECT_EQ(int(fault.kind), int(planted.kind)) << report;
      // The order of a race's two sides depends on the seed: either line may be the one that reports.
      std::string wanted = planted.line, either;
      size_t bar = wanted.find('|');
      if (bar != std::string::npos) {
        either = wanted.substr(bar + 1);
        wanted.resize(bar);
      }
      bool named = fault.instruction.find(wanted) != std::string::npos ||
                   (!either.empty() && fault.instruction.find(either) != std::string::npos);
      EXPECT_TRUE(named) << report;
      EXPECT_EQ(fault.kernel, "k");
      EXPECT_TRUE(fault.hasThread);
      EXPECT_GT(fault.line, 0u);
    }
    EXPECT_NE(report.find(planted.words), std::string::npos) << report;
  }
}

TEST_P(Planted, SoundVersionIsClean) {
  const PlantedFault &planted = GetParam();
  Prepared prepared(planted.sound);
  Simulation &simulation = prepared.simulation;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    simulation.options.seed = seed;
    bool completed =
        simulation.run("k", {planted.blocks, 1, 1}, {128, 1, 1}, prepared.numbers, prepared.raw, prepared.freed)
            .completed;
    ASSERT_TRUE(completed) << "seed " << seed << "\n" << simulation.reports();
    ASSERT_EQ(simulation.reports(), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Checks, Planted, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Checks, EveryKindOfKernelFaultIsPlanted) {
  std::set<FaultKind> planted;
  for (const PlantedFault &fault : cases)
    planted.insert(fault.kind);
  // Peer access, stream order and leaks belong to the driver and are tested there.
  for (int kind = 0; kind <= int(FaultKind::InvalidInstruction); ++kind)
    if (FaultKind(kind) != FaultKind::PeerAccess)
      EXPECT_TRUE(planted.count(FaultKind(kind))) << faultKindName(FaultKind(kind));
  EXPECT_GE(sizeof cases / sizeof cases[0], 30u);
}

/// The last of several blocks sums what the others wrote: fence and atomic counter order them.
TEST(Checks, FenceAndAtomicOrderBlocks) {
  for (bool withFence : {true, false}) {
    Simulation simulation;
    simulation.options.checkRaces = true;
    std::string fence = withFence ? "membar.gl;\n" : "";
    ASSERT_TRUE(simulation.load(kernelText(".param .u64 parts, .param .u64 count, .param .u64 out", R"(
      .shared .align 4 .b8 isLast[4];
      ld.param.u64 %rd1, [parts];
      ld.param.u64 %rd2, [count];
      ld.param.u64 %rd3, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      mad.wide.u32 %rd4, %r2, 4, %rd1;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra WAIT;
      st.global.u32 [%rd4], %r2;
      )" + fence + R"(
      atom.global.add.u32 %r3, [%rd2], 1;
      setp.eq.u32 %p2, %r3, 3;
      selp.u32 %r4, 1, 0, %p2;
      st.shared.u32 [isLast], %r4;
      )" + fence + R"(
WAIT:
      bar.sync 0;
      ld.shared.u32 %r5, [isLast];
      setp.eq.u32 %p3, %r5, 0;
      @%p3 bra DONE;
      setp.ge.u32 %p4, %r1, 4;
      @%p4 bra DONE;
      mad.wide.u32 %rd5, %r1, 4, %rd1;
      ld.global.u32 %r6, [%rd5];
      red.global.add.u32 [%rd3], %r6;
DONE:
      ret;)")));
    uint64_t parts = simulation.allocate(16), count = simulation.upload(std::vector<uint32_t>(1)),
             out = simulation.upload(std::vector<uint32_t>(1));
    EXPECT_TRUE(simulation.run("k", {4, 1, 1}, {64, 1, 1}, parts, count, out).completed);
    if (withFence) {
      EXPECT_EQ(simulation.reports(), "");
      EXPECT_EQ(simulation.download<uint32_t>(out, 1)[0], 6u);
    } else {
      EXPECT_NE(simulation.reports().find("global-memory race"), std::string::npos);
    }
  }
}

} // namespace
} // namespace weft::simulator
