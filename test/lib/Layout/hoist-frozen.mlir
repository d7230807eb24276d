// RUN: weft-opt --hoist-frozen --split-input-file --mlir-print-local-scope %s | FileCheck %s

// Chains move whole; what is still used as it is stays an argument; trainable parameters stay out of it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<2x4xf32> {weft.input = "x"}, %arg1: tensor<3x4xf32> {weft.param = "t", weft.trainable}, %arg2: tensor<3xf32> {weft.param = "b"}, %arg3: tensor<4x3xf32> {weft.prepared = 0 : i64}, %arg4: tensor<3xf32> {weft.prepared = 1 : i64})
// CHECK: weft.transpose %arg1
// CHECK-NOT: weft.exponential
// CHECK: return %{{.*}}, %{{.*}}, %arg2, %arg4
// CHECK-LABEL: func.func @prepare
// CHECK-SAME: (%arg0: tensor<3x4xf32> {weft.param = "w"}, %arg1: tensor<3xf32> {weft.param = "b"}) -> (tensor<4x3xf32>, tensor<3xf32>)
// CHECK: %[[T:.*]] = weft.transpose %arg0
// CHECK: %[[C:.*]] = weft.constant
// CHECK: %[[M:.*]] = weft.multiply %[[T]], %[[C]]
// CHECK: %[[E:.*]] = weft.exponential %arg1
// CHECK: return %[[M]], %[[E]]
func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.param = "w"}, %t: tensor<3x4xf32> {weft.param = "t", weft.trainable}, %b: tensor<3xf32> {weft.param = "b"})
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = weft.transpose %w perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %c = weft.constant dense<2.0> : tensor<4x3xf32>
  %1 = weft.multiply %0, %c : tensor<4x3xf32>
  %2 = weft.dot_general %x, %1 contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %3 = weft.transpose %t perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %4 = weft.dot_general %x, %3 contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %5 = weft.exponential %b : tensor<3xf32>
  return %2, %4, %b, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// A broadcast is made where it is used, what it comes from is stored; a constant stays a constant; a contraction is
// stored however large.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<100x100xf32> {weft.input = "x"}, %arg1: tensor<100xf32> {weft.prepared = 0 : i64}, %arg2: tensor<100x100xf32> {weft.prepared = 1 : i64})
// CHECK-DAG: weft.constant dense<2.000000e+00> : tensor<100x100xf32>
// CHECK-DAG: weft.iota
// CHECK-DAG: weft.broadcast_in_dim %arg1 dims = [1]
// CHECK-LABEL: func.func @prepare
// CHECK-SAME: %arg0: tensor<100xf32> {weft.param = "s"}) -> (tensor<100xf32>, tensor<100x100xf32>)
// CHECK: weft.sqrt
// CHECK: weft.dot_general
func.func @main(%x: tensor<100x100xf32> {weft.input = "x"}, %s: tensor<100xf32> {weft.param = "s"}) -> tensor<100x100xf32> {
  %0 = weft.sqrt %s : tensor<100xf32>
  %1 = weft.broadcast_in_dim %0 dims = [1] : (tensor<100xf32>) -> tensor<100x100xf32>
  %2 = weft.add %x, %1 : tensor<100x100xf32>
  %c = weft.constant dense<2.0> : tensor<100x100xf32>
  %3 = weft.multiply %2, %c : tensor<100x100xf32>
  %i = weft.iota dim = 0 : tensor<100x100xf32>
  %4 = weft.add %3, %i : tensor<100x100xf32>
  %5 = weft.dot_general %1, %1 contract = [1] x [1] : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %6 = weft.add %4, %5 : tensor<100x100xf32>
  return %6 : tensor<100x100xf32>
}

// -----

// From inside a loop, and continuing a @prepare that is there: result 0 goes, result 1 becomes 0.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg2: tensor<3xf32> {weft.prepared = 0 : i64}, %arg3: tensor<3xf32> {weft.prepared = 1 : i64})
// CHECK: do
// CHECK-NOT: weft.tanh
// CHECK: weft.add %{{.*}}, %arg3
// CHECK-LABEL: func.func @prepare
// CHECK-SAME: (%arg0: tensor<3xf32> {weft.param = "v"}, %arg1: tensor<3xf32> {weft.param = "w"}) -> (tensor<3xf32>, tensor<3xf32>)
// CHECK: %[[S:.*]] = weft.sine %arg0
// CHECK: %[[ABS:.*]] = weft.abs %arg1
// CHECK: %[[TANH:.*]] = weft.tanh %[[ABS]]
// CHECK: return %[[S]], %[[TANH]]
func.func @main(%x: tensor<3xf32> {weft.input = "x"}, %p: tensor<i1> {weft.input = "p"}, %a: tensor<3xf32> {weft.prepared = 0 : i64}, %b: tensor<3xf32> {weft.prepared = 1 : i64}) -> tensor<3xf32> {
  %0 = weft.while (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%c: tensor<3xf32>):
    weft.yield %p : tensor<i1>
  } do {
  ^bb0(%c: tensor<3xf32>):
    %1 = weft.tanh %a : tensor<3xf32>
    %2 = weft.add %c, %1 : tensor<3xf32>
    %3 = weft.multiply %2, %b : tensor<3xf32>
    weft.yield %3 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
func.func @prepare(%v: tensor<3xf32> {weft.param = "v"}, %w: tensor<3xf32> {weft.param = "w"}) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = weft.sine %v : tensor<3xf32>
  %1 = weft.abs %w : tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<3xf32>
}
