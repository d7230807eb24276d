// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @dot
func.func @dot(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<2x4x5xbf16>, %d: tensor<2x6x5xbf16>) {
  // CHECK: weft.dot_general %{{.*}}, %{{.*}} contract = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  // CHECK: weft.dot_general %{{.*}}, %{{.*}} batch = [0] x [0] contract = [2] x [2] : (tensor<2x4x5xbf16>, tensor<2x6x5xbf16>) -> tensor<2x4x6xf32>
  %1 = weft.dot_general %c, %d batch = [0] x [0] contract = [2] x [2] : (tensor<2x4x5xbf16>, tensor<2x6x5xbf16>) -> tensor<2x4x6xf32>
  return
}

// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // CHECK: weft.convolution %{{.*}}, %{{.*}} dims = {{.*}} {
  // CHECK-SAME: feature_group_count = 2
  // CHECK-SAME: : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32>
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 2, 1>,
    padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>,
    rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32>
  return
}
