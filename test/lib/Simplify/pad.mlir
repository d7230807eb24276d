// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @pad_of_pad
// CHECK-NEXT: weft.pad %arg0, %arg1 low = [3] high = [2] interior = [1]
// CHECK-NEXT: return
func.func @pad_of_pad(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<12xf32> {
  %0 = weft.pad %x, %p low = [1] high = [2] interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = weft.pad %0, %p low = [2] high = [0] interior = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// What the first one removes is not there any more, and values may differ.
// CHECK-LABEL: func @not_merged
// CHECK-COUNT-4: weft.pad
func.func @not_merged(%x: tensor<4xf32>, %p: tensor<f32>, %q: tensor<f32>) -> (tensor<8xf32>, tensor<5xf32>) {
  %0 = weft.pad %x, %p low = [1] high = [1] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = weft.pad %0, %q low = [1] high = [1] interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = weft.pad %x, %p low = [-1] high = [1] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = weft.pad %2, %p low = [1] high = [0] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return %1, %3 : tensor<8xf32>, tensor<5xf32>
}

// CHECK-LABEL: func @negative
// CHECK-NEXT: weft.slice %arg0 [1:4, 0:end]
weft.dim "n" in [1, 64]
func.func @negative(%x: tensor<6x?xf32, #weft.encoding<[6, n]>>, %p: tensor<f32>) -> tensor<3x?xf32, #weft.encoding<[3, n]>> {
  %0 = weft.pad %x, %p low = [-1, 0] high = [-2, 0] interior = [0, 0] : (tensor<6x?xf32, #weft.encoding<[6, n]>>, tensor<f32>) -> tensor<3x?xf32, #weft.encoding<[3, n]>>
  return %0 : tensor<3x?xf32, #weft.encoding<[3, n]>>
}

// CHECK-LABEL: func @convolution
// CHECK-NOT: weft.pad
// CHECK: weft.convolution %arg0, %arg1 {{.*}}padding_high = array<i64: 2, 1>, padding_low = array<i64: 1, 1>
func.func @convolution(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x9x8xf32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %0 = weft.pad %x, %zero low = [0, 0, 1, 0] high = [0, 0, 2, 0] interior = [0, 0, 0, 0] : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x11x8xf32>
  %1 = weft.convolution %0, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 0, 1>, padding_high = array<i64: 0, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<1x2x11x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x9x8xf32>
  return %1 : tensor<1x4x9x8xf32>
}

// CHECK-LABEL: func @window
// CHECK-NEXT: weft.reduce_window max, %arg0 {{.*}}padding_high = array<i64: 1>, padding_low = array<i64: 1>
func.func @window(%x: tensor<8xf32>) -> tensor<8xf32> {
  %lowest = weft.constant dense<0xFF800000> : tensor<f32>
  %0 = weft.pad %x, %lowest low = [1] high = [1] interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = weft.reduce_window max, %0 {window_dimensions = array<i64: 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<10xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
