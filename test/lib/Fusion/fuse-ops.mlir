// RUN: weft-opt %s -split-input-file -fuse-ops -verify-fused | FileCheck %s

// A chain of elementwise ops and index maps is one loop; the constant is inside, the vector is the operand.
// CHECK-LABEL: @loop
// CHECK-NEXT: %[[Y:.*]] = weft.fusion loop(%arg1, %arg0) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x6xf32>
// CHECK: weft.broadcast_in_dim
// CHECK: weft.constant
// CHECK: weft.slice
// CHECK-NEXT: weft.yield
// CHECK: return %[[Y]]
func.func @loop(%x: tensor<4x8xf32>, %v: tensor<8xf32>) -> tensor<4x6xf32> {
  %two = weft.constant dense<2.0> : tensor<f32>
  %twos = weft.broadcast_in_dim %two dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %b = weft.broadcast_in_dim %v dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %s = weft.add %x, %b : tensor<4x8xf32>
  %m = weft.multiply %s, %twos : tensor<4x8xf32>
  %y = weft.slice %m [0:4, 1:7] : (tensor<4x8xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// One reduction, results a row each: row_reduction. What precedes it and the ops on the rows are inside.
// CHECK-LABEL: @row_reduction
// CHECK-NEXT: weft.fusion row_reduction(%arg0)
// CHECK: weft.abs
// CHECK-NEXT: weft.reduce max
// CHECK-NEXT: weft.sqrt
// CHECK-NEXT: weft.reshape
// CHECK-NEXT: weft.negate
// CHECK-NEXT: weft.yield
func.func @row_reduction(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %a = weft.abs %x : tensor<4x8xf32>
  %r = weft.reduce max, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %s = weft.sqrt %r : tensor<4xf32>
  %k = weft.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
  %n = weft.negate %k : tensor<4x1xf32>
  return %n : tensor<4x1xf32>
}

// -----

// Several trailing dimensions, a symbolic number of rows, kept dimensions of size 1 and results of both shapes.
// CHECK-LABEL: @row_multipass
// CHECK-NEXT: weft.fusion row_multipass(%arg0)
// CHECK-NOT: weft.fusion
// CHECK: return
weft.dim "n" in [1, 64]
func.func @row_multipass(%x: tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>)
    -> (tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>, tensor<?x1x1xf32, #weft.encoding<[n, 1, 1]>>) {
  %m = weft.reduce sum, %x dims = [1, 2] : (tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>) -> tensor<?xf32, #weft.encoding<[n]>>
  %k = weft.reshape %m : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?x1x1xf32, #weft.encoding<[n, 1, 1]>>
  %b = weft.broadcast_in_dim %k dims = [0, 1, 2] : (tensor<?x1x1xf32, #weft.encoding<[n, 1, 1]>>) -> tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>
  %d = weft.subtract %x, %b : tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>
  %n = weft.negate %k : tensor<?x1x1xf32, #weft.encoding<[n, 1, 1]>>
  return %d, %n : tensor<?x4x8xf32, #weft.encoding<[n, 4, 8]>>, tensor<?x1x1xf32, #weft.encoding<[n, 1, 1]>>
}

// -----

// A transpose with what precedes and follows it; the one that leaves the innermost dimension in place is an index map of a loop.
// CHECK-LABEL: @transposes
// CHECK: weft.fusion transpose(%arg0, %arg1)
// CHECK: weft.exponential
// CHECK: weft.transpose
// CHECK: weft.add
// CHECK: weft.fusion loop(%arg2)
// CHECK: weft.transpose
// CHECK: weft.negate
func.func @transposes(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>, %z: tensor<2x3x4xf32>) -> (tensor<4x8xf32>, tensor<3x2x4xf32>) {
  %e = weft.exponential %x : tensor<8x4xf32>
  %t = weft.transpose %e perm = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %s = weft.add %t, %y : tensor<4x8xf32>
  %u = weft.transpose %z perm = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %n = weft.negate %u : tensor<3x2x4xf32>
  return %s, %n : tensor<4x8xf32>, tensor<3x2x4xf32>
}

// -----

// Heroes with loops of their own. A reduction over the rows takes what precedes and follows it; a sort takes nothing.
// CHECK-LABEL: @generic
// CHECK: weft.fusion generic(%arg0)
// CHECK: weft.multiply
// CHECK-NEXT: weft.reduce sum
// CHECK-NEXT: weft.sqrt
// CHECK-NEXT: weft.yield
// CHECK: weft.fusion loop(%arg0)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.negate
// CHECK-NEXT: weft.yield
// CHECK: weft.fusion generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.sort
// CHECK-NEXT: weft.yield
// CHECK: weft.fusion loop
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.abs
func.func @generic(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  %m = weft.multiply %x, %x : tensor<4x8xf32>
  %r = weft.reduce sum, %m dims = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  %s = weft.sqrt %r : tensor<8xf32>
  %n = weft.negate %x : tensor<4x8xf32>
  %o = weft.sort %n dim = 1 descending = false : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = weft.abs %o : tensor<4x8xf32>
  return %s, %a : tensor<8xf32>, tensor<4x8xf32>
}

// -----

// A reshape outside is another name for the same bytes; between ops of one kernel it is inside.
// CHECK-LABEL: @reshapes
// CHECK-NEXT: %[[A:.*]] = weft.reshape %arg0
// CHECK-NEXT: %[[F:.*]] = weft.fusion loop(%[[A]]) : (tensor<32xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.negate
// CHECK-NEXT: weft.reshape
// CHECK-NEXT: weft.exponential
// CHECK-NEXT: weft.yield
// CHECK: %[[R:.*]] = weft.reshape %[[F]]
// CHECK-NEXT: return %[[R]], %[[A]]
func.func @reshapes(%x: tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<32xf32>) {
  %a = weft.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %n = weft.negate %a : tensor<32xf32>
  %b = weft.reshape %n : (tensor<32xf32>) -> tensor<8x4xf32>
  %e = weft.exponential %b : tensor<8x4xf32>
  %c = weft.reshape %e : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return %c, %a : tensor<2x16xf32>, tensor<32xf32>
}

// -----

// In control flow. A constant that a region gives is stored by a fusion of its own; a value from around is an operand.
// CHECK-LABEL: @control_flow
// CHECK: %[[E:.*]] = weft.fusion loop(%arg0)
// CHECK: weft.if
// CHECK: weft.fusion loop(%[[E]])
// CHECK: weft.negate
// CHECK-NEXT: weft.abs
// CHECK: else
// CHECK: %[[C:.*]] = weft.fusion loop()
// CHECK: weft.constant
// CHECK: weft.yield %[[C]]
// CHECK: weft.while
// CHECK: weft.fusion loop
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.constant
// CHECK-NEXT: weft.compare
// CHECK: do
// CHECK: weft.fusion loop
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.constant
// CHECK-NEXT: weft.add
func.func @control_flow(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %ten = weft.constant dense<10.0> : tensor<f32>
  %e = weft.exponential %x : tensor<f32>
  %i = weft.if %p : (tensor<i1>) -> tensor<f32> {
    %n = weft.negate %e : tensor<f32>
    %a = weft.abs %n : tensor<f32>
    weft.yield %a : tensor<f32>
  } else {
    weft.yield %ten : tensor<f32>
  }
  %w = weft.while (%i) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    %c = weft.compare LT, %a, %ten : (tensor<f32>, tensor<f32>) -> tensor<i1>
    weft.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<f32>):
    %b = weft.add %a, %ten : tensor<f32>
    weft.yield %b : tensor<f32>
  }
  return %w : tensor<f32>
}

// -----

// Several results: a value that is needed outside and its user; two kernels that read the same tensor.
// CHECK-LABEL: @several_results
// CHECK-NEXT: %[[F:.*]]:2 = weft.fusion loop(%arg0)
// CHECK: weft.negate
// CHECK-NEXT: weft.exponential
// CHECK-NEXT: weft.yield
// CHECK: %[[G:.*]]:2 = weft.fusion loop(%arg1)
// CHECK: return %[[F]]#0, %[[F]]#1, %[[G]]#0, %[[G]]#1
func.func @several_results(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %a = weft.negate %x : tensor<64x64xf32>
  %b = weft.exponential %a : tensor<64x64xf32>
  %c = weft.abs %y : tensor<64x64xf32>
  %d = weft.sqrt %y : tensor<64x64xf32>
  return %a, %b, %c, %d : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// An argument given back stays, @prepare is left alone, dead ops go.
// CHECK-LABEL: @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {weft.prepared = 0 : i64}) -> tensor<4xf32> {
  %dead = weft.negate %w : tensor<4xf32>
  return %x : tensor<4xf32>
}
// CHECK-LABEL: @prepare
// CHECK-NEXT: weft.negate
func.func @prepare(%w: tensor<4xf32> {weft.param = "w"}) -> tensor<4xf32> {
  %n = weft.negate %w : tensor<4xf32>
  return %n : tensor<4xf32>
}
