//===- Float64.h - The same program in double precision: what rounding makes of a value ----------------------===//

#ifndef WEFT_LIB_INTERPRETER_FLOAT64_H
#define WEFT_LIB_INTERPRETER_FLOAT64_H

#include "lib/Support/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

/// A copy of a module of the Graph dialect that computes in f64 wherever it does in f32; other types stay, so that a
/// rounding to f16 or to an integer remains one. Null where that has no meaning (the bits of an f32 are used); no
/// diagnostic then.
mlir::OwningOpRef<mlir::ModuleOp> widenToFloat64(mlir::ModuleOp module);

/// The value, or its elements as f64 where they are f32.
graph::TensorValue widenToFloat64(const graph::TensorValue &value);

/// Every value of the store widened.
WeightStore widenToFloat64(const WeightStore &weights);

} // namespace weft

#endif
