//===- Select.cpp - The handlers that fit this machine --------------------------------------------===//
#include "runtime/Simulator/Interpreter/Handlers.h"

namespace weft::simulator {

const HandlerTable &handlers() {
#if defined(WEFT_SIMULATOR_HAS_AVX2)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (wide)
    return avx2::table();
#endif
  return baseline::table();
}

} // namespace weft::simulator
