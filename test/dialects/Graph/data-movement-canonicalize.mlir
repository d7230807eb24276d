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
