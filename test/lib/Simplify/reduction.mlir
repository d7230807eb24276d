// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @unit_dimensions
// CHECK-NEXT: %[[WHOLE:.*]] = weft.reshape %arg0 : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
// CHECK: %[[SUM:.*]] = weft.reduce sum, %{{.*}} dims = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK: return %[[WHOLE]], %[[SUM]], %arg0
func.func @unit_dimensions(%x: tensor<3x1x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>, tensor<3x1x4xf32>) {
  %0 = weft.reduce sum, %x dims = [1] : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
  %1 = weft.reduce sum, %x dims = [1, 2] : (tensor<3x1x4xf32>) -> tensor<3xf32>
  %2 = weft.reduce max, %x dims = [] : (tensor<3x1x4xf32>) -> tensor<3x1x4xf32>
  return %0, %1, %2 : tensor<3x4xf32>, tensor<3xf32>, tensor<3x1x4xf32>
}

// A float sum depends on the order of its elements, a maximum and an integer sum do not.
// CHECK-LABEL: func @reduce_of_reduce
// CHECK: weft.reduce max, %arg0 dims = [0, 2]
// CHECK: weft.reduce sum, %arg1 dims = [0, 2]
// CHECK: weft.reduce sum, %arg0 dims = [2]
// CHECK: weft.reduce sum, %{{.*}} dims = [0]
func.func @reduce_of_reduce(%x: tensor<3x5x4xf32>, %n: tensor<3x5x4xi32>) -> (tensor<5xf32>, tensor<5xi32>, tensor<5xf32>) {
  %0 = weft.reduce max, %x dims = [2] : (tensor<3x5x4xf32>) -> tensor<3x5xf32>
  %1 = weft.reduce max, %0 dims = [0] : (tensor<3x5xf32>) -> tensor<5xf32>
  %2 = weft.reduce sum, %n dims = [0] : (tensor<3x5x4xi32>) -> tensor<5x4xi32>
  %3 = weft.reduce sum, %2 dims = [1] : (tensor<5x4xi32>) -> tensor<5xi32>
  %4 = weft.reduce sum, %x dims = [2] : (tensor<3x5x4xf32>) -> tensor<3x5xf32>
  %5 = weft.reduce sum, %4 dims = [0] : (tensor<3x5xf32>) -> tensor<5xf32>
  return %1, %3, %5 : tensor<5xf32>, tensor<5xi32>, tensor<5xf32>
}

// CHECK-LABEL: func @window_of_one
// CHECK-NEXT: weft.slice %arg0 [0:5, 0:7:2]
func.func @window_of_one(%x: tensor<5x7xf32>) -> tensor<5x4xf32> {
  %0 = weft.reduce_window max, %x {window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<5x7xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// A window's sum starts from 0.0: 0.0 + -0.0 is 0.0.
// CHECK-LABEL: func @window_sum_of_one
// CHECK-NEXT: weft.reduce_window sum, %arg0
func.func @window_sum_of_one(%x: tensor<7xf32>) -> tensor<4xf32> {
  %0 = weft.reduce_window sum, %x {window_dimensions = array<i64: 1>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<7xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @one_element
// CHECK-NEXT: %[[ZERO:.*]] = weft.constant dense<0> : tensor<3xi64>
// CHECK-NEXT: %[[SUM:.*]] = weft.cumulative sum, %arg0
// CHECK-NEXT: return %arg0, %[[ZERO]], %[[SUM]]
func.func @one_element(%x: tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<3xi64>, tensor<3x1xf32>) {
  %2 = weft.cumulative sum, %x dim = 1 exclusive = false reverse = true : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %0 = weft.cumulative max, %x dim = 1 exclusive = false reverse = true : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %1 = weft.arg_reduce max, %x dim = 1 last = false index = i64 : (tensor<3x1xf32>) -> tensor<3xi64>
  return %0, %1, %2 : tensor<3x1xf32>, tensor<3xi64>, tensor<3x1xf32>
}
