//===- Report.h - What the checks found -----------------------------------------===//
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace weft::simulator {

enum class FaultKind : uint8_t {
  OutOfBounds,
  Misaligned,
  UseAfterFree,
  UninitialisedRead,
  WriteToConstant,
  PeerAccess, ///< Memory of another device without cuCtxEnablePeerAccess.
  SharedRace,
  GlobalRace,
  BarrierDivergence,   ///< Threads wait at different barriers, or some left and the rest waits for ever.
  WarpSyncDivergence,  ///< A lane of a member mask never comes, or a value is taken from a lane that is not there.
  AsyncCopyBeforeWait, ///< Data of cp.async read or overwritten before its wait.
  StepLimit,
  Trap,
  InvalidInstruction, ///< Operands that the instruction does not allow (a barrier number past 15).
  StreamRace,         ///< Two operations touch the same bytes and nothing orders them.
  Leak
};
const char *faultKindName(FaultKind kind);

struct Coordinates {
  uint32_t x = 0, y = 0, z = 0;
  std::string format() const {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  }
};

/// One finding. A race or a missing order has the other side in `other`.
struct Fault {
  FaultKind kind = FaultKind::Trap;
  bool fatal = false; ///< The launch ended here; else it went on.
  std::string kernel;
  bool hasThread = false;
  Coordinates block, thread;
  unsigned line = 0;       ///< In the PTX text; 0 where there is none.
  std::string instruction; ///< That line.
  bool hasAddress = false;
  uint64_t address = 0; ///< In its space.
  unsigned bytes = 0;
  std::string space;
  std::string allocation;   ///< What the address belongs to, and where that was made.
  std::string message;      ///< What is wrong, what was expected, what to do.
  std::string other;        ///< The other access of a race, with its block, thread and line.
  uint64_t occurrences = 1; ///< Same kind at the same line and allocation.

  std::string format() const;
  std::string json() const;
};

/// Collects findings from all threads of the host; the same finding at the same place is counted, not repeated.
class FaultLog {
public:
  void add(Fault fault);
  std::vector<Fault> faults() const;
  size_t size() const;
  void clear();

private:
  mutable std::mutex mutex;
  std::vector<Fault> entries;
};

/// "text" with JSON's escapes and quotes.
std::string jsonString(const std::string &text);

} // namespace weft::simulator
