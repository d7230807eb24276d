//===- Numerics.h - How kernels compute floats --------------------------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_NUMERICS_H
#define WEFT_LIB_CODEGEN_NUMERICS_H

namespace weft::codegen {

/// How floats are computed: see the numerics contract.
enum class Numerics {
  strict, // results depend neither on the run nor on the number of threads, no contraction to FMA
  fast,   // multiplications and additions may be contracted
};

} // namespace weft::codegen

#endif
