//===- Select.cpp - The handlers that fit this machine --------------------------------------------===//
#include "runtime/Simulator/Interpreter/Handlers.h"

#include <stdexcept>

namespace weft::simulator {

const HandlerTable &handlers() {
#if defined(WEFT_SIMULATOR_HAS_AVX2)
  static const bool wide =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (wide)
    return avx2::table();
#endif
#if defined(WEFT_SIMULATOR_HAS_BASELINE)
  return baseline::table();
#else
  throw std::runtime_error(
      "this build of the simulator needs a processor with AVX2, FMA and F16C (WEFT_SIMULATOR_PORTABLE is off)");
#endif
}

} // namespace weft::simulator
