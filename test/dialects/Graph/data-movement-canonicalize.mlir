// RUN: weft-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @nothing_moves
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @nothing_moves(%x: tensor<2x3xf32>, %v: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = weft.broadcast_in_dim %x dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = weft.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = weft.transpose %x perm = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = weft.slice %x [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = weft.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = weft.concatenate %x dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = weft.reverse %x dims = [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>
}

// The shapes are equal, the elements are not.
// CHECK-LABEL: func @square
// CHECK: weft.transpose
// CHECK: weft.reverse
func.func @square(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %0 = weft.transpose %x perm = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = weft.reverse %x dims = [0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0, %1 : tensor<3x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.+]]: tensor<2x3x4xf32>)
func.func @twice(%x: tensor<2x3x4xf32>) -> (tensor<4x6xf32>, tensor<3x4x2xf32>, tensor<2x3x4xf32>, tensor<5x2x3x4x7xf32>) {
  // CHECK-DAG: %[[R:.+]] = weft.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
  %a = weft.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %b = weft.reshape %a : (tensor<24xf32>) -> tensor<4x6xf32>
  // CHECK-DAG: %[[T:.+]] = weft.transpose %[[X]] perm = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %c = weft.transpose %x perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %d = weft.transpose %c perm = [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %e = weft.transpose %d perm = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[B:.+]] = weft.broadcast_in_dim %[[X]] dims = [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<5x2x3x4x7xf32>
  %f = weft.broadcast_in_dim %x dims = [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x4x7xf32>
  %g = weft.broadcast_in_dim %f dims = [1, 2, 3, 4] : (tensor<2x3x4x7xf32>) -> tensor<5x2x3x4x7xf32>
  // CHECK: return %[[R]], %[[T]], %[[X]], %[[B]]
  return %b, %d, %e, %g : tensor<4x6xf32>, tensor<3x4x2xf32>, tensor<2x3x4xf32>, tensor<5x2x3x4x7xf32>
}

// Of a symbolic size only [0:end] is the whole.
// CHECK-LABEL: func.func @symbolic_slice
// CHECK-SAME: (%[[X:.+]]: tensor<?xf32, #weft.encoding<[n]>>)
func.func @symbolic_slice(%x: tensor<?xf32, #weft.encoding<[n]>>) -> (tensor<?xf32, #weft.encoding<[n]>>, tensor<?xf32, #weft.encoding<[n - 1]>>) {
  %a = weft.slice %x [0:end] : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n]>>
  // CHECK: %[[S:.+]] = weft.slice %[[X]] [1:end]
  %b = weft.slice %x [1:end] : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n - 1]>>
  // CHECK: return %[[X]], %[[S]]
  return %a, %b : tensor<?xf32, #weft.encoding<[n]>>, tensor<?xf32, #weft.encoding<[n - 1]>>
}

weft.dim "n" in [1, 64]

// Back to the sizes it had: nothing; twice: once.
// CHECK-LABEL: func @assumed
// CHECK-SAME: %[[X:.+]]: tensor<?xf32, #weft.encoding<[n]>>
// CHECK-NEXT: %[[A:.+]] = weft.assume_shape %[[X]] : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<8xf32>
// CHECK-NEXT: return %[[X]], %[[A]]
func.func @assumed(%x: tensor<?xf32, #weft.encoding<[n]>>) -> (tensor<?xf32, #weft.encoding<[n]>>, tensor<8xf32>) {
  %0 = weft.assume_shape %x : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n floordiv 2 * 2]>>
  %1 = weft.assume_shape %0 : (tensor<?xf32, #weft.encoding<[n floordiv 2 * 2]>>) -> tensor<?xf32, #weft.encoding<[n]>>
  %2 = weft.assume_shape %0 : (tensor<?xf32, #weft.encoding<[n floordiv 2 * 2]>>) -> tensor<8xf32>
  return %1, %2 : tensor<?xf32, #weft.encoding<[n]>>, tensor<8xf32>
}
