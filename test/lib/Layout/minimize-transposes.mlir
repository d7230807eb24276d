// RUN: weft-opt --minimize-transposes --canonicalize --split-input-file --mlir-print-local-scope %s | FileCheck %s

// Ops of every kind between two transposes work in the other layout.
// CHECK-LABEL: func @main
// CHECK-NOT: weft.transpose
// CHECK: weft.pad %arg0, %{{.*}} low = [0, 1, 2, 0] high = [0, 2, 1, 0] interior = [0, 0, 1, 0]
// CHECK: weft.slice %{{.*}} [0:2, 1:7, 0:8:2, 0:3]
// CHECK: weft.concatenate {{.*}} dim = 3
// CHECK: weft.reverse {{.*}} dims = [2]
// CHECK: weft.reduce_window max, {{.*}}window_dimensions = array<i64: 1, 2, 3, 1>
// CHECK: weft.cumulative sum, {{.*}} dim = 3
// CHECK: weft.composite "silu"
// CHECK: ^bb0(%[[A:.*]]: tensor<2x5x2x6xf32>):
// CHECK: weft.logistic %[[A]] : tensor<2x5x2x6xf32>
// CHECK: weft.add {{.*}} : tensor<2x5x2x6xf32>
// CHECK-NOT: weft.transpose
// CHECK: return
func.func @main(%x: tensor<2x5x4x3xf32> {weft.input = "x"}, %b: tensor<6xf32> {weft.input = "b"}) -> tensor<2x5x2x6xf32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %0 = weft.transpose %x perm = [0, 3, 1, 2] : (tensor<2x5x4x3xf32>) -> tensor<2x3x5x4xf32>
  %1 = weft.pad %0, %zero low = [0, 0, 1, 2] high = [0, 0, 2, 1] interior = [0, 0, 0, 1] : (tensor<2x3x5x4xf32>, tensor<f32>) -> tensor<2x3x8x10xf32>
  %2 = weft.slice %1[0:2, 0:3, 1:7, 0:8:2] : (tensor<2x3x8x10xf32>) -> tensor<2x3x6x4xf32>
  %3 = weft.concatenate %2, %2 dim = 1 : (tensor<2x3x6x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x6x6x4xf32>
  %4 = weft.reverse %3 dims = [3] : (tensor<2x6x6x4xf32>) -> tensor<2x6x6x4xf32>
  %5 = weft.reduce_window max, %4 {window_dimensions = array<i64: 1, 1, 2, 3>, window_strides = array<i64: 1, 1, 1, 1>, base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, padding_low = array<i64: 0, 0, 0, 0>, padding_high = array<i64: 0, 0, 0, 0>} : (tensor<2x6x6x4xf32>) -> tensor<2x6x5x2xf32>
  %6 = weft.cumulative sum, %5 dim = 1 exclusive = false reverse = false : (tensor<2x6x5x2xf32>) -> tensor<2x6x5x2xf32>
  %7 = weft.composite "silu" {} (%6) : (tensor<2x6x5x2xf32>) -> tensor<2x6x5x2xf32> {
  ^bb0(%a: tensor<2x6x5x2xf32>):
    %c = weft.logistic %a : tensor<2x6x5x2xf32>
    %d = weft.multiply %a, %c : tensor<2x6x5x2xf32>
    weft.yield %d : tensor<2x6x5x2xf32>
  }
  %8 = weft.broadcast_in_dim %b dims = [1] : (tensor<6xf32>) -> tensor<2x6x5x2xf32>
  %9 = weft.add %7, %8 : tensor<2x6x5x2xf32>
  %10 = weft.transpose %9 perm = [0, 2, 3, 1] : (tensor<2x6x5x2xf32>) -> tensor<2x5x2x6xf32>
  return %10 : tensor<2x5x2x6xf32>
}

// -----

// A reduction takes its operand in either layout, unless the order of a float sum would change.
// CHECK-LABEL: func @main
// CHECK-DAG: weft.reduce sum, %arg0 dims = [1, 2]
// CHECK-DAG: weft.reduce max, %{{.*}} dims = [0, 1]
// CHECK-DAG: weft.arg_reduce max, %arg0 dim = 3
// CHECK-DAG: %[[T:.*]] = weft.transpose %arg1 perm = [1, 0, 2]
// CHECK-DAG: weft.reduce sum, %[[T]] dims = [0, 1]
func.func @main(%x: tensor<2x5x4x3xf32> {weft.input = "x"}, %y: tensor<7x8x9xf32> {weft.input = "y"}, %z: tensor<7x8x9xf32> {weft.input = "z"}) -> (tensor<2x3xf32>, tensor<2x5x4xi64>, tensor<9xf32>, tensor<9xf32>) {
  %0 = weft.transpose %x perm = [0, 3, 1, 2] : (tensor<2x5x4x3xf32>) -> tensor<2x3x5x4xf32>
  %1 = weft.reduce sum, %0 dims = [2, 3] : (tensor<2x3x5x4xf32>) -> tensor<2x3xf32>
  %2 = weft.arg_reduce max, %0 dim = 1 last = false index = i64 : (tensor<2x3x5x4xf32>) -> tensor<2x5x4xi64>
  %3 = weft.transpose %y perm = [1, 0, 2] : (tensor<7x8x9xf32>) -> tensor<8x7x9xf32>
  %4 = weft.reduce max, %3 dims = [0, 1] : (tensor<8x7x9xf32>) -> tensor<9xf32>
  %5 = weft.reduce sum, %3 dims = [0, 1] : (tensor<8x7x9xf32>) -> tensor<9xf32>
  return %1, %2, %4, %5 : tensor<2x3xf32>, tensor<2x5x4xi64>, tensor<9xf32>, tensor<9xf32>
}

// -----

// The smaller tensor is transposed: before a conversion that widens, and before a padding.
// CHECK-LABEL: func @main
// CHECK: %[[T:.*]] = weft.transpose %arg0 perm = [1, 0] : (tensor<40x30xui8>) -> tensor<30x40xui8>
// CHECK: %[[C:.*]] = weft.convert %[[T]]
// CHECK: weft.pad %[[C]], %{{.*}} low = [6, 5]
// CHECK-NOT: weft.transpose
// CHECK: return
func.func @main(%x: tensor<40x30xui8> {weft.input = "x"}) -> tensor<36x45xf32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %0 = weft.convert %x : (tensor<40x30xui8>) -> tensor<40x30xf32>
  %1 = weft.pad %0, %zero low = [5, 6] high = [0, 0] interior = [0, 0] : (tensor<40x30xf32>, tensor<f32>) -> tensor<45x36xf32>
  %2 = weft.transpose %1 perm = [1, 0] : (tensor<45x36xf32>) -> tensor<36x45xf32>
  return %2 : tensor<36x45xf32>
}

// -----

// Nothing is gained: nothing changes.
// CHECK-LABEL: func @main
// CHECK-NEXT: %[[T:.*]] = weft.transpose %arg0
// CHECK-NEXT: %[[A:.*]] = weft.tanh %[[T]]
// CHECK-NEXT: return %[[A]]
func.func @main(%x: tensor<4x3xf32> {weft.input = "x"}) -> tensor<3x4xf32> {
  %0 = weft.transpose %x perm = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = weft.tanh %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// An output in one layout, work in the other: one transpose serves the output, and the work needs none.
// CHECK-LABEL: func @main
// CHECK-DAG: %[[T:.*]] = weft.transpose %arg0 perm = [1, 0]
// CHECK-DAG: %[[A:.*]] = weft.tanh %arg0 : tensor<4x3xf32>
// CHECK-DAG: %[[B:.*]] = weft.sine %[[A]] : tensor<4x3xf32>
// CHECK: return %[[T]], %[[B]]
func.func @main(%x: tensor<4x3xf32> {weft.input = "x"}) -> (tensor<3x4xf32>, tensor<4x3xf32>) {
  %0 = weft.transpose %x perm = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = weft.tanh %0 : tensor<3x4xf32>
  %2 = weft.sine %1 : tensor<3x4xf32>
  %3 = weft.transpose %2 perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0, %3 : tensor<3x4xf32>, tensor<4x3xf32>
}

// -----

// Inside a loop too. What a branch uses from outside keeps its layout there.
// CHECK-LABEL: func @main
// CHECK: weft.while
// CHECK: do
// CHECK-NOT: weft.transpose
// CHECK: weft.tanh %{{.*}} : tensor<4x3xf32>
// CHECK-NOT: weft.transpose
// CHECK: return
func.func @main(%x: tensor<4x3xf32> {weft.input = "x"}, %p: tensor<i1> {weft.input = "p"}) -> tensor<4x3xf32> {
  %0 = weft.while (%x) : (tensor<4x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x3xf32>):
    weft.yield %p : tensor<i1>
  } do {
  ^bb0(%a: tensor<4x3xf32>):
    %1 = weft.transpose %a perm = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
    %2 = weft.tanh %1 : tensor<3x4xf32>
    %3 = weft.transpose %2 perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    weft.yield %3 : tensor<4x3xf32>
  }
  return %0 : tensor<4x3xf32>
}
