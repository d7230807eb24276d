// RUN: weft-opt --fold-channel-arithmetic --split-input-file --mlir-print-local-scope %s | FileCheck %s

// A factor and an addend a channel, as batch normalization has them, after a depthwise convolution with a bias.
// CHECK-LABEL: func @main
// CHECK-DAG: %[[FACTOR:.*]] = weft.broadcast_in_dim %arg3 dims = [0] : (tensor<4xf32>) -> tensor<4x1x3x3xf32>
// CHECK-DAG: %[[WEIGHTS:.*]] = weft.multiply %arg1, %[[FACTOR]] : tensor<4x1x3x3xf32>
// CHECK-DAG: %[[CONVOLUTION:.*]] = weft.convolution %arg0, %[[WEIGHTS]]
// CHECK-DAG: %[[SCALED:.*]] = weft.multiply %arg2, %arg3 : tensor<4xf32>
// CHECK-DAG: %[[BIAS:.*]] = weft.add %[[SCALED]], %arg4 : tensor<4xf32>
// CHECK-DAG: %[[WIDE:.*]] = weft.broadcast_in_dim %[[BIAS]] dims = [1]
// CHECK: %[[SUM:.*]] = weft.add %[[CONVOLUTION]], %[[WIDE]] : tensor<?x4x8x8xf32
// CHECK-NEXT: return %[[SUM]]
weft.dim "n" in [1, 64]
func.func @main(%x: tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>> {weft.input = "x"}, %w: tensor<4x1x3x3xf32> {weft.param = "w"},
                %b: tensor<4xf32> {weft.param = "b"}, %s: tensor<4xf32> {weft.param = "s"}, %t: tensor<4xf32> {weft.param = "t"})
    -> tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>> {
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 4 : i64} : (tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>, tensor<4x1x3x3xf32>) -> tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %1 = weft.broadcast_in_dim %b dims = [1] : (tensor<4xf32>) -> tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %2 = weft.add %0, %1 : tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %3 = weft.broadcast_in_dim %s dims = [1] : (tensor<4xf32>) -> tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %4 = weft.multiply %2, %3 : tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %5 = weft.broadcast_in_dim %t dims = [1] : (tensor<4xf32>) -> tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  %6 = weft.add %4, %5 : tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
  return %6 : tensor<?x4x8x8xf32, #weft.encoding<[n, 4, 8, 8]>>
}

// -----

// Division by a scalar, subtraction, and frozen values with dimensions of size 1.
// CHECK-LABEL: func @main
// CHECK-DAG: %[[WEIGHTS:.*]] = weft.divide %arg1, %{{.*}} : tensor<4x3xf32>
// CHECK-DAG: %[[DOT:.*]] = weft.dot_general %arg0, %[[WEIGHTS]]
// CHECK-DAG: weft.negate %arg2
// CHECK-NOT: weft.subtract
// CHECK: weft.add %[[DOT]]
func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.param = "w"}, %b: tensor<1x3xf32> {weft.param = "b"}) -> tensor<2x3xf32> {
  %0 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %c = weft.constant dense<3.0> : tensor<f32>
  %1 = weft.broadcast_in_dim %c dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %2 = weft.divide %0, %1 : tensor<2x3xf32>
  %3 = weft.broadcast_in_dim %b dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %4 = weft.subtract %2, %3 : tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// -----

// Not folded: a factor a row, a factor that is an input, trainable weights, a result with two uses, narrow floats.
// CHECK-LABEL: func @main
// CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf16>
func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %i: tensor<3xf32> {weft.input = "i"}, %w: tensor<4x3xf32> {weft.param = "w"},
                %trained: tensor<4x3xf32> {weft.param = "t", weft.trainable}, %row: tensor<2xf32> {weft.param = "row"}, %s: tensor<3xf32> {weft.param = "s"},
                %h: tensor<2x4xf16> {weft.input = "h"}, %wh: tensor<4x3xf16> {weft.param = "wh"}, %sh: tensor<3xf16> {weft.param = "sh"})
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf16>) {
  %rows = weft.broadcast_in_dim %row dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %inputs = weft.broadcast_in_dim %i dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %scales = weft.broadcast_in_dim %s dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %half = weft.broadcast_in_dim %sh dims = [1] : (tensor<3xf16>) -> tensor<2x3xf16>
  %0 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = weft.multiply %0, %rows : tensor<2x3xf32>
  %2 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %3 = weft.multiply %2, %inputs : tensor<2x3xf32>
  %4 = weft.dot_general %x, %trained contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %5 = weft.multiply %4, %scales : tensor<2x3xf32>
  %6 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %7 = weft.multiply %6, %scales : tensor<2x3xf32>
  %8 = weft.dot_general %h, %wh contract = [1] x [0] : (tensor<2x4xf16>, tensor<4x3xf16>) -> tensor<2x3xf16>
  %9 = weft.multiply %8, %half : tensor<2x3xf16>
  return %1, %3, %5, %6, %7, %9 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf16>
}
