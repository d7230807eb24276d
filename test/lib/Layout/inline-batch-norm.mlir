// RUN: weft-opt --inline-batch-norm --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[S:.*]] = weft.broadcast_in_dim %arg1 dims = [1] {{.*}} loc("bn")
// CHECK-NEXT: weft.multiply %arg0, %[[S]] : tensor<2x3xf32> loc("inner")
// CHECK-NEXT: weft.composite "softmax"
// CHECK-NOT: batch_norm
func.func @main(%x: tensor<2x3xf32> {weft.input = "x"}, %s: tensor<3xf32> {weft.param = "s"}) -> tensor<2x3xf32> {
  %0 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%x, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<3xf32>):
    %1 = weft.broadcast_in_dim %b dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32> loc(unknown)
    %2 = weft.multiply %a, %1 : tensor<2x3xf32> loc("inner")
    weft.yield %2 : tensor<2x3xf32>
  } loc("bn")
  %3 = weft.composite "softmax" {axis = 1 : i64} (%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<2x3xf32>):
    weft.yield %a : tensor<2x3xf32>
  }
  return %3 : tensor<2x3xf32>
}
