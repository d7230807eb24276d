// Ops on constants become constants, by the code that the interpreter runs.
// RUN: weft-opt %s --canonicalize | FileCheck %s

// An iota stays what it is, where it is not tiny.
// CHECK-LABEL: func.func @iota
func.func @iota() -> (tensor<3xi32>, tensor<100xi32>) {
  // CHECK-DAG: %[[SMALL:.+]] = weft.constant dense<[0, 1, 2]> : tensor<3xi32>
  // CHECK-DAG: %[[LARGE:.+]] = weft.iota dim = 0 : tensor<100xi32>
  %0 = weft.iota dim = 0 : tensor<3xi32>
  %1 = weft.iota dim = 0 : tensor<100xi32>
  // CHECK: return %[[SMALL]], %[[LARGE]]
  return %0, %1 : tensor<3xi32>, tensor<100xi32>
}

// Equal constants become one.
// CHECK-LABEL: func.func @creation
func.func @creation() -> (tensor<2xi32>, tensor<2xi32>) {
  // CHECK-COUNT-1: weft.constant
  %0 = weft.constant dense<7> : tensor<2xi32>
  %1 = weft.constant dense<7> : tensor<2xi32>
  // CHECK-NOT: weft.constant
  return %0, %1 : tensor<2xi32>, tensor<2xi32>
}

// Constants are computed as the interpreter computes them.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise() -> (tensor<3xi8>, tensor<2xf32>, tensor<2xi1>, tensor<2xi32>) {
  %a = weft.constant dense<[127, -128, 5]> : tensor<3xi8>
  %b = weft.constant dense<[1, -1, 0]> : tensor<3xi8>
  %x = weft.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %y = weft.constant dense<[4.0, 2.0]> : tensor<2xf32>
  // CHECK-DAG: %[[SUM:.+]] = weft.constant dense<[-128, 127, 5]> : tensor<3xi8>
  // CHECK-DAG: %[[MAX:.+]] = weft.constant dense<[4.000000e+00, 0x7FC00000]> : tensor<2xf32>
  // CHECK-DAG: %[[LESS:.+]] = weft.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-DAG: %[[INT:.+]] = weft.constant dense<[1, 0]> : tensor<2xi32>
  %0 = weft.add %a, %b : tensor<3xi8>
  %1 = weft.maximum %x, %y : tensor<2xf32>
  %2 = weft.compare LT, %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %3 = weft.convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // CHECK: return %[[SUM]], %[[MAX]], %[[LESS]], %[[INT]]
  return %0, %1, %2, %3 : tensor<3xi8>, tensor<2xf32>, tensor<2xi1>, tensor<2xi32>
}

// CHECK-LABEL: func.func @data_movement
func.func @data_movement() -> (tensor<2x2xi8>, tensor<3xi8>, tensor<5xi8>, tensor<1000xi8>, tensor<1000x4xi8>) {
  %a = weft.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %z = weft.constant dense<0> : tensor<i8>
  // CHECK-DAG: %[[T:.+]] = weft.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi8>
  %0 = weft.reshape %a : (tensor<4xi8>) -> tensor<2x2xi8>
  %1 = weft.transpose %0 perm = [1, 0] : (tensor<2x2xi8>) -> tensor<2x2xi8>
  // CHECK-DAG: %[[S:.+]] = weft.constant dense<[4, 3, 2]> : tensor<3xi8>
  %2 = weft.reverse %a dims = [0] : (tensor<4xi8>) -> tensor<4xi8>
  %3 = weft.slice %2 [0:3] : (tensor<4xi8>) -> tensor<3xi8>
  // CHECK-DAG: %[[P:.+]] = weft.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi8>
  %4 = weft.pad %a, %z low = [1] high = [0] interior = [0] : (tensor<4xi8>, tensor<i8>) -> tensor<5xi8>
  // One value repeated is stored once; anything else that grows stays an op.
  // CHECK-DAG: %[[Z:.+]] = weft.constant dense<0> : tensor<1000xi8>
  %5 = weft.broadcast_in_dim %z dims = [] : (tensor<i8>) -> tensor<1000xi8>
  // CHECK-DAG: %[[B:.+]] = weft.broadcast_in_dim %{{.+}} dims = [1] : (tensor<4xi8>) -> tensor<1000x4xi8>
  %6 = weft.broadcast_in_dim %a dims = [1] : (tensor<4xi8>) -> tensor<1000x4xi8>
  // CHECK: return %[[T]], %[[S]], %[[P]], %[[Z]], %[[B]]
  return %1, %3, %4, %5, %6 : tensor<2x2xi8>, tensor<3xi8>, tensor<5xi8>, tensor<1000xi8>, tensor<1000x4xi8>
}

// CHECK-LABEL: func.func @reduction
func.func @reduction() -> (tensor<i32>, tensor<2xi64>, tensor<4xi32>, tensor<2xi32>) {
  %a = weft.constant dense<[4, -1, 7, 2]> : tensor<4xi32>
  %m = weft.reshape %a : (tensor<4xi32>) -> tensor<2x2xi32>
  // CHECK-DAG: %[[SUM:.+]] = weft.constant dense<12> : tensor<i32>
  %0 = weft.reduce sum, %a dims = [0] : (tensor<4xi32>) -> tensor<i32>
  // CHECK-DAG: %[[ARG:.+]] = weft.constant dense<1> : tensor<2xi64>
  %1 = weft.arg_reduce max, %m dim = 0 last = false index = i64 : (tensor<2x2xi32>) -> tensor<2xi64>
  // CHECK-DAG: %[[SCAN:.+]] = weft.constant dense<[4, 3, 10, 12]> : tensor<4xi32>
  %4 = weft.cumulative sum, %a dim = 0 exclusive = false reverse = false : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-DAG: %[[POOL:.+]] = weft.constant dense<[4, 7]> : tensor<2xi32>
  %5 = weft.reduce_window max, %a {base_dilations = array<i64: 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xi32>) -> tensor<2xi32>
  // CHECK: return %[[SUM]], %[[ARG]], %[[SCAN]], %[[POOL]]
  return %0, %1, %4, %5 : tensor<i32>, tensor<2xi64>, tensor<4xi32>, tensor<2xi32>
}

// Over no elements.
// CHECK-LABEL: func.func @over_no_elements
func.func @over_no_elements() -> (tensor<f32>, tensor<f32>) {
  %a = weft.constant dense<> : tensor<0xf32>
  // CHECK-DAG: %[[SUM:.+]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[MAX:.+]] = weft.constant dense<0xFF800000> : tensor<f32>
  %0 = weft.reduce sum, %a dims = [0] : (tensor<0xf32>) -> tensor<f32>
  %1 = weft.reduce max, %a dims = [0] : (tensor<0xf32>) -> tensor<f32>
  // CHECK: return %[[SUM]], %[[MAX]]
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @contraction
func.func @contraction() -> (tensor<2xi32>, tensor<1x1x3xi8>) {
  %a = weft.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %b = weft.constant dense<[100, 50]> : tensor<2xi8>
  // CHECK-DAG: %[[DOT:.+]] = weft.constant dense<[200, 500]> : tensor<2xi32>
  %0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<2x2xi8>, tensor<2xi8>) -> tensor<2xi32>
  %x = weft.constant dense<[[[1, 2, 3, 4]]]> : tensor<1x1x4xi8>
  %w = weft.constant dense<[[[10, 1]]]> : tensor<1x1x2xi8>
  // CHECK-DAG: %[[CONV:.+]] = weft.constant dense<{{\[\[\[}}12, 23, 34]]]> : tensor<1x1x3xi8>
  %1 = weft.convolution %x, %w dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> {feature_group_count = 1 : i64, lhs_dilation = array<i64: 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, rhs_dilation = array<i64: 1>, window_strides = array<i64: 1>} : (tensor<1x1x4xi8>, tensor<1x1x2xi8>) -> tensor<1x1x3xi8>
  // CHECK: return %[[DOT]], %[[CONV]]
  return %0, %1 : tensor<2xi32>, tensor<1x1x3xi8>
}

// CHECK-LABEL: func.func @ordering
func.func @ordering() -> (tensor<4xi32>, tensor<2xi32>, tensor<2xi64>) {
  %a = weft.constant dense<[4, -1, 7, 2]> : tensor<4xi32>
  // CHECK-DAG: %[[SORTED:.+]] = weft.constant dense<[7, 4, 2, -1]> : tensor<4xi32>
  %0 = weft.sort %a dim = 0 descending = true : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-DAG: %[[VALUES:.+]] = weft.constant dense<[-1, 2]> : tensor<2xi32>
  // CHECK-DAG: %[[INDICES:.+]] = weft.constant dense<[1, 3]> : tensor<2xi64>
  %v, %i = weft.top_k %a k = 2 dim = 0 largest = false index = i64 : (tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi64>)
  // CHECK: return %[[SORTED]], %[[VALUES]], %[[INDICES]]
  return %0, %v, %i : tensor<4xi32>, tensor<2xi32>, tensor<2xi64>
}
