// RUN: weft-opt --reorder-flattened-weights --split-input-file --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-DAG: %[[PARTS:.*]] = weft.reshape %arg1 : (tensor<48x5xf32>) -> tensor<3x4x4x5xf32>
// CHECK-DAG: %[[ORDERED:.*]] = weft.transpose %[[PARTS]] perm = [1, 2, 0, 3]
// CHECK-DAG: %[[WEIGHTS:.*]] = weft.reshape %[[ORDERED]] : (tensor<4x4x3x5xf32>) -> tensor<48x5xf32>
// CHECK-DAG: %[[FLAT:.*]] = weft.reshape %arg0
// CHECK: weft.dot_general %[[FLAT]], %[[WEIGHTS]] contract = [1] x [0]
weft.dim "n" in [1, 8]
func.func @main(%x: tensor<?x4x4x3xf32, #weft.encoding<[n, 4, 4, 3]>> {weft.input = "x"}, %w: tensor<48x5xf32> {weft.param = "w"}) -> tensor<?x5xf32, #weft.encoding<[n, 5]>> {
  %0 = weft.transpose %x perm = [0, 3, 1, 2] : (tensor<?x4x4x3xf32, #weft.encoding<[n, 4, 4, 3]>>) -> tensor<?x3x4x4xf32, #weft.encoding<[n, 3, 4, 4]>>
  %1 = weft.reshape %0 : (tensor<?x3x4x4xf32, #weft.encoding<[n, 3, 4, 4]>>) -> tensor<?x48xf32, #weft.encoding<[n, 48]>>
  %2 = weft.dot_general %1, %w contract = [1] x [0] : (tensor<?x48xf32, #weft.encoding<[n, 48]>>, tensor<48x5xf32>) -> tensor<?x5xf32, #weft.encoding<[n, 5]>>
  return %2 : tensor<?x5xf32, #weft.encoding<[n, 5]>>
}

// -----

// The rows of the result would move, and weights that are an input cannot be reordered.
// CHECK-LABEL: func @main
// CHECK: weft.transpose %arg0
// CHECK: weft.transpose %arg2
func.func @main(%x: tensor<2x4x3x5xf32> {weft.input = "x"}, %w: tensor<5x6xf32> {weft.param = "w"}, %y: tensor<2x4x3xf32> {weft.input = "y"}, %v: tensor<12x6xf32> {weft.input = "v"}) -> (tensor<24x6xf32>, tensor<2x6xf32>) {
  %0 = weft.transpose %x perm = [0, 2, 1, 3] : (tensor<2x4x3x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = weft.reshape %0 : (tensor<2x3x4x5xf32>) -> tensor<24x5xf32>
  %2 = weft.dot_general %1, %w contract = [1] x [0] : (tensor<24x5xf32>, tensor<5x6xf32>) -> tensor<24x6xf32>
  %3 = weft.transpose %y perm = [0, 2, 1] : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %4 = weft.reshape %3 : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %5 = weft.dot_general %4, %v contract = [1] x [0] : (tensor<2x12xf32>, tensor<12x6xf32>) -> tensor<2x6xf32>
  return %2, %5 : tensor<24x6xf32>, tensor<2x6xf32>
}
