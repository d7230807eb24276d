//===- FormBits.h - Modifiers that handlers read when they run ------------------------------===//
#pragma once

#include "runtime/Simulator/Forms.h"

namespace weft::simulator {

/// What Instruction::immediate holds for comparisons and conversions.
enum FormBits : int64_t {
  RoundMask = 3, ///< 0 nearest even, 1 toward zero, 2 down, 3 up
  RoundToInteger = 4,
  RoundAway = 8, ///< rna: to nearest, ties away from zero
  FlushDenormals = 16,
  Saturate = 32,
  Relu = 64,
  SatFinite = 128,
  CombineAnd = 256,
  CombineOr = 512,
  CombineXor = 1024
};

inline int64_t formBits(const Form &form) {
  int64_t bits = 0;
  for (std::string_view m : form.modifiers) {
    if (m == "rz" || m == "rzi")
      bits |= 1;
    if (m == "rm" || m == "rmi")
      bits |= 2;
    if (m == "rp" || m == "rpi")
      bits |= 3;
    if (m == "rni" || m == "rzi" || m == "rmi" || m == "rpi")
      bits |= RoundToInteger;
    if (m == "rna")
      bits |= RoundAway;
    if (m == "ftz")
      bits |= FlushDenormals;
    if (m == "sat")
      bits |= Saturate;
    if (m == "relu")
      bits |= Relu;
    if (m == "satfinite")
      bits |= SatFinite;
    if (m == "and")
      bits |= CombineAnd;
    if (m == "or")
      bits |= CombineOr;
    if (m == "xor")
      bits |= CombineXor;
  }
  return bits;
}

} // namespace weft::simulator
