//===- Handlers.h - The interpreter's instruction families -----------------------===//
#pragma once

#include "runtime/Simulator/Warp.h"

namespace weft::simulator {

/// How a load or store moves its value: `memoryBytes` in memory, `registerBytes` in a register, `vector` elements.
struct AccessShape {
  unsigned memoryBytes = 0;
  unsigned registerBytes = 0;
  unsigned vector = 1;
  bool isSigned = false;
};

/// One selector a family, compiled once for each instruction set of the host. A selector returns null where it has
/// nothing for the form; for a form of PtxForms.def that is a bug which a test finds.
struct HandlerTable {
  Handler (*integer)(const Form &);
  Handler (*predicate)(const Form &);
  Handler (*compare)(const Form &);
  Handler (*floating)(const Form &);
  Handler (*half)(const Form &);
  Handler (*convert)(const Form &);
  Handler (*load)(const Form &, const AccessShape &);
  Handler (*store)(const Form &, const AccessShape &);
  Handler (*parameterLoad)(const AccessShape &);
  Handler (*frameLoad)(const AccessShape &);
  Handler (*frameStore)(const AccessShape &);
  Handler (*atomic)(const Form &);
  Handler (*asyncCopy)(const Form &);
  Handler (*warpwide)(const Form &);
  Handler (*matrix)(const Form &);
  /// Copies of a register: `from` and `to` bytes wide, sign- or zero-extended or cut.
  Handler (*copy)(unsigned from, unsigned to, bool isSigned);
  /// mov.bN {a, b, ...} from and to a register; `elements` of `elementBytes`.
  Handler (*pack)(unsigned elements, unsigned elementBytes);
  Handler (*unpack)(unsigned elements, unsigned elementBytes);
  Handler (*readSpecial)(Special special, unsigned bytes);
  Handler (*isSpace)(Space space);
  Handler (*convertAddress)(Space space, bool toSpace);
  Handler (*activeMask)();
  Handler (*fence)(const Form &);
  Handler (*nothing)();
};

/// The table for this machine, chosen once.
const HandlerTable &handlers();

namespace baseline {
const HandlerTable &table();
}
namespace avx2 {
const HandlerTable &table();
}

} // namespace weft::simulator
