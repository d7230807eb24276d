//===- Normalization.h - Building normalizations, for those operators that are one ----------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_NORMALIZATION_H
#define WEFT_LIB_IMPORTER_ONNX_NORMALIZATION_H

#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// A normalization's result and, where they are wanted, the mean and the factor 1 / deviation, in the type computed in.
struct NormalizationResult {
  mlir::Value result, mean, factor;
};

/// Composites "layer_norm" and "rms_norm" over the dimensions from `axis` on, computed in `wide`. `bias` may be null.
NormalizationResult buildLayerNorm(Builder &b, mlir::Value x, mlir::Value scale, mlir::Value bias, int64_t axis,
                                   double epsilon, mlir::Type wide, bool wantsStatistics = false);
NormalizationResult buildRmsNorm(Builder &b, mlir::Value x, mlir::Value scale, int64_t axis, double epsilon,
                                 mlir::Type wide, bool wantsStatistics = false);
/// Normalizes groups of channels [batch, channels, ...], without scale and bias, to [batch, groups, channels of a
/// group,
/// ...]; null, with an error, where the groups do not divide the channels.
mlir::Value buildGroupNorm(Builder &b, mlir::Value x, int64_t groups, double epsilon, mlir::Type wide);

/// The result and the mask of a dropout whose ratio and whether it is a training are the inputs of these numbers (1 and
/// 2 of Dropout).
std::pair<mlir::Value, mlir::Value> buildDropout(Node &node, mlir::Value x, int64_t ratioInput, int64_t trainingInput);

} // namespace weft::importer

#endif
