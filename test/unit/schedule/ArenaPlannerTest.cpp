//===- ArenaPlannerTest.cpp - No two temporaries that are in use at once overlap -------------------------------===//

#include "lib/Schedule/ArenaPlanner.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace weft::schedule;
using weft::graph::Dim;

namespace {

int64_t at(const Dim &dim, int64_t batch, int64_t time) {
  return dim.evaluate([&](llvm::StringRef name) { return std::optional(name == "batch" ? batch : time); }).value();
}

TEST(ArenaPlanner, RandomProgramsNeverOverlap) {
  mlir::MLIRContext context;
  Dim batch = Dim::symbol(mlir::StringAttr::get(&context, "batch")),
      time = Dim::symbol(mlir::StringAttr::get(&context, "time"));
  std::mt19937 random(7);
  for (int program = 0; program < 50; ++program) {
    std::vector<Temporary> temporaries;
    for (int i = 0, count = 1 + random() % 40; i < count; ++i) {
      int64_t scale = 1 + random() % 5000;
      Dim sizes[] = {Dim::constant(&context, scale), batch * scale,
                     batch * time * scale,           batch * scale + 12,
                     time.floorDiv(2) * scale,       (time + 3).floorDiv(4) * batch * 4,
                     Dim::constant(&context, 0)};
      int64_t begin = random() % 60;
      temporaries.push_back({sizes[random() % std::size(sizes)], begin, begin + static_cast<int64_t>(random() % 10)});
    }
    ArenaPlan plan = planArena(temporaries, &context);
    for (int64_t batchSize : {1, 2, 7, 64})
      for (int64_t timeSize : {1, 3, 100}) {
        int64_t size = at(plan.size, batchSize, timeSize);
        for (size_t i = 0; i < temporaries.size(); ++i) {
          int64_t offset = at(plan.offsets[i], batchSize, timeSize),
                  bytes = at(temporaries[i].bytes, batchSize, timeSize);
          EXPECT_EQ(offset % 64, 0);
          EXPECT_LE(offset + bytes, size);
          for (size_t j = 0; j < i; ++j) {
            if (temporaries[i].end < temporaries[j].begin || temporaries[j].end < temporaries[i].begin)
              continue;
            int64_t other = at(plan.offsets[j], batchSize, timeSize);
            int64_t otherBytes = at(temporaries[j].bytes, batchSize, timeSize);
            EXPECT_TRUE(offset + bytes <= other || other + otherBytes <= offset)
                << "program " << program << ", temporaries " << i << " and " << j;
          }
        }
      }
  }
}

TEST(ArenaPlanner, ReusesWhatIsDead) {
  mlir::MLIRContext context;
  Dim batch = Dim::symbol(mlir::StringAttr::get(&context, "batch"));
  // A chain: each value dies when the next but one is made. Two places are enough, whatever the symbol.
  std::vector<Temporary> chain;
  for (int64_t i = 0; i < 10; ++i)
    chain.push_back({batch * 4096, i, i + 1});
  EXPECT_EQ(planArena(chain, &context).size, batch * 8192);
}

} // namespace
