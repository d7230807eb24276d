// What may not share a kernel, each with the kernels that come out. verify-fused runs on every one.
//
// RUN: weft-opt %s -split-input-file -fuse-ops -verify-fused | FileCheck %s

// A reduction that is read along another row than its own: computing it once an element would repeat it eight times.
// CHECK-LABEL: @reduction_read_elsewhere
// CHECK: %[[R:.*]] = weft.fusion row_reduction(%arg0)
// CHECK: weft.fusion loop(%[[R]], %arg1)
// CHECK-NOT: weft.reduce
// CHECK: return
func.func @reduction_read_elsewhere(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = weft.reduce sum, %x dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %b = weft.broadcast_in_dim %r dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %s = weft.add %y, %b : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// The same with a square, where the shapes alone would not tell: x + the sums of the rows, but of the wrong ones.
// CHECK-LABEL: @reduction_read_transposed
// CHECK: %[[R:.*]] = weft.fusion row_reduction(%arg0)
// CHECK: weft.fusion loop(%[[R]], %arg0)
func.func @reduction_read_transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = weft.reduce sum, %x dims = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %b = weft.broadcast_in_dim %r dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %s = weft.add %x, %b : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// -----

// Rows swapped by a slice and a concatenation: not each row's own.
// CHECK-LABEL: @reduction_rows_moved
// CHECK: weft.fusion row_reduction
// CHECK: weft.fusion loop
// CHECK-NOT: weft.reduce
// CHECK: return
func.func @reduction_rows_moved(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %r = weft.reduce sum, %x dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %a = weft.slice %r [0:2] : (tensor<4xf32>) -> tensor<2xf32>
  %b = weft.slice %r [2:4] : (tensor<4xf32>) -> tensor<2xf32>
  %c = weft.concatenate %b, %a dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Reductions over different dimensions, one after the other.
// CHECK-LABEL: @two_row_shapes
// CHECK: weft.fusion row_reduction(%arg0)
// CHECK: weft.fusion row_reduction
// CHECK: return
func.func @two_row_shapes(%x: tensor<4x8x16xf32>) -> tensor<4xf32> {
  %a = weft.reduce max, %x dims = [2] : (tensor<4x8x16xf32>) -> tensor<4x8xf32>
  %b = weft.reduce sum, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// Over the rows and over the columns of one tensor: two heroes.
// CHECK-LABEL: @rows_and_columns
// CHECK-DAG: weft.fusion row_reduction(%arg0)
// CHECK-DAG: weft.fusion generic(%arg0)
func.func @rows_and_columns(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = weft.reduce max, %x dims = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %b = weft.reduce max, %x dims = [0] : (tensor<8x8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// Two transposes are two layouts; one before a reduction over rows is another layout too.
// CHECK-LABEL: @one_layout
// CHECK-COUNT-3: weft.fusion transpose
// CHECK: weft.fusion row_reduction
func.func @one_layout(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %a = weft.transpose %x perm = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = weft.transpose %y perm = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %s = weft.add %a, %b : tensor<8x4xf32>
  %c = weft.transpose %z perm = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = weft.reduce sum, %c dims = [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  return %s, %r : tensor<8x4xf32>, tensor<8xf32>
}

// -----

// A transpose is read element by element only: a slice of it is another kernel.
// CHECK-LABEL: @index_map_after_hero
// CHECK: weft.fusion transpose
// CHECK: weft.fusion loop
func.func @index_map_after_hero(%x: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %a = weft.transpose %x perm = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = weft.slice %a [0:8:4, 0:4] : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// -----

// Nothing goes into the region of control flow or past it.
// CHECK-LABEL: @control_flow
// CHECK: %[[N:.*]] = weft.fusion loop(%arg0)
// CHECK: %[[I:.*]] = weft.if
// CHECK: weft.fusion loop(%[[N]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.exponential
// CHECK: weft.fusion loop(%[[I]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.abs
func.func @control_flow(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %n = weft.negate %x : tensor<8xf32>
  %i = weft.if %p : (tensor<i1>) -> tensor<8xf32> {
    %e = weft.exponential %n : tensor<8xf32>
    weft.yield %e : tensor<8xf32>
  } else {
    weft.yield %x : tensor<8xf32>
  }
  %a = weft.abs %i : tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// The negation and the sum would be one kernel with two results, were it not that the sort between needs the one and
// makes the other.
// CHECK-LABEL: @no_cycle
// CHECK: %[[N:.*]] = weft.fusion loop(%arg0)
// CHECK: %[[S:.*]] = weft.fusion generic(%[[N]])
// CHECK: weft.fusion loop(%[[S]], %[[N]])
func.func @no_cycle(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %n = weft.negate %x : tensor<512x512xf32>
  %s = weft.sort %n dim = 1 descending = false : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = weft.add %s, %n : tensor<512x512xf32>
  return %n, %a : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Two kernels that read %x and have one shape; the second needs what a sort makes of the first.
// CHECK-LABEL: @no_cycle_between_siblings
// CHECK: %[[E:.*]] = weft.fusion loop(%arg0)
// CHECK: %[[S:.*]] = weft.fusion generic(%[[E]])
// CHECK: weft.fusion loop
func.func @no_cycle_between_siblings(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %e = weft.exponential %x : tensor<512x512xf32>
  %s = weft.sort %e dim = 1 descending = false : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = weft.subtract %x, %s : tensor<512x512xf32>
  return %e, %a : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// A producer with results in the way of the order, which may run early: what its user needs is there already.
// CHECK-LABEL: @early
// CHECK: weft.fusion loop(%arg0)
// CHECK: weft.negate
// CHECK-NEXT: weft.exponential
// CHECK: weft.fusion generic
// CHECK: return
func.func @early(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %n = weft.negate %x : tensor<512x512xf32>
  %s = weft.sort %n dim = 1 descending = false : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %e = weft.exponential %n : tensor<512x512xf32>
  return %s, %e : tensor<512x512xf32>, tensor<512x512xf32>
}
