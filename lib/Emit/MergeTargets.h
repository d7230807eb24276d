//===- MergeTargets.h - One artifact for several targets ----------------------------------------------------===//

#ifndef WEFT_LIB_EMIT_MERGETARGETS_H
#define WEFT_LIB_EMIT_MERGETARGETS_H

#include "lib/Emit/Emit.h"
#include "llvm/Support/Error.h"

namespace weft::emit {

/// Adds the targets and variants of `from`, the same model compiled for other targets, to `into`. Weights and states
/// that are alike are stored once. The bytes of the weights stay where they are. An error where the two are not
/// programs of one model.
llvm::Error mergeTargets(EmittedProgram &into, EmittedProgram from);

} // namespace weft::emit

#endif
