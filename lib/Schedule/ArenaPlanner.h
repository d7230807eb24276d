//===- ArenaPlanner.h - Where each temporary lies in the arena ---------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_ARENAPLANNER_H
#define WEFT_LIB_SCHEDULE_ARENAPLANNER_H

#include "dialects/Graph/Dim.h"
#include <vector>

namespace weft::schedule {

/// A temporary: its bytes, and the positions in the program between which it is in use, both inclusive.
struct Temporary {
  graph::Dim bytes;
  int64_t begin = 0, end = 0;
};

struct ArenaPlan {
  std::vector<graph::Dim> offsets; // bytes, multiples of 64, one a temporary
  graph::Dim size;                 // bytes
};

/// Places temporaries so that no two that are in use at the same time overlap, whatever the symbols' values (which are
/// not negative).
///
/// Sizes that are a constant times one expression of the symbols (`batch * 4096`, `batch * 1024`) share a region in
/// units of that expression; so do the integer sizes. The regions follow each other. Within a region the largest
/// temporary is placed first, at the lowest offset that is free.
ArenaPlan planArena(const std::vector<Temporary> &temporaries, mlir::MLIRContext *context);

} // namespace weft::schedule

#endif
