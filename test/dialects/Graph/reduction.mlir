// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<2x3x4xf32>, %p: tensor<2x3xi1>) {
  // CHECK: weft.reduce sum, %{{.*}} dims = [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %0 = weft.reduce sum, %x dims = [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  // CHECK: weft.reduce max, %{{.*}} dims = [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  %1 = weft.reduce max, %x dims = [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  // CHECK: weft.reduce any, %{{.*}} dims = [0] : (tensor<2x3xi1>) -> tensor<3xi1>
  %2 = weft.reduce any, %p dims = [0] : (tensor<2x3xi1>) -> tensor<3xi1>
  // CHECK: weft.arg_reduce max, %{{.*}} dim = 2 last = false index = i64 : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  %3 = weft.arg_reduce max, %x dim = 2 last = false index = i64 : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  // CHECK: weft.cumulative product, %{{.*}} dim = 0 exclusive = true reverse = false : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = weft.cumulative product, %x dim = 0 exclusive = true reverse = false : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @window
func.func @window(%x: tensor<1x6xf32>) {
  // CHECK: weft.reduce_window max, %{{.*}} {
  // CHECK-SAME: window_dimensions = array<i64: 1, 3>
  // CHECK-SAME: : (tensor<1x6xf32>) -> tensor<1x3xf32>
  %0 = weft.reduce_window max, %x {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>,
    base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 1>,
    padding_high = array<i64: 0, 0>} : (tensor<1x6xf32>) -> tensor<1x3xf32>
  return
}
