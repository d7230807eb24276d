// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @as_reshape
// CHECK-NEXT: weft.reshape %arg0 : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
func.func @as_reshape(%x: tensor<3x4xf32>) -> tensor<3x1x4xf32> {
  %0 = weft.broadcast_in_dim %x dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// A broadcast that moves dimensions is not a reshape.
// CHECK-LABEL: func @permutes
// CHECK-NEXT: weft.broadcast_in_dim %arg0 dims = [1, 0]
func.func @permutes(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = weft.broadcast_in_dim %x dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func @of_reshape
// CHECK-NEXT: weft.broadcast_in_dim %arg0 dims = [1] : (tensor<8xf32>) -> tensor<?x8x5x5xf32
weft.dim "n" in [1, 64]
func.func @of_reshape(%x: tensor<8xf32>) -> tensor<?x8x5x5xf32, #weft.encoding<[n, 8, 5, 5]>> {
  %0 = weft.reshape %x : (tensor<8xf32>) -> tensor<1x8x1x1xf32>
  %1 = weft.broadcast_in_dim %0 dims = [0, 1, 2, 3] : (tensor<1x8x1x1xf32>) -> tensor<?x8x5x5xf32, #weft.encoding<[n, 8, 5, 5]>>
  return %1 : tensor<?x8x5x5xf32, #weft.encoding<[n, 8, 5, 5]>>
}

// CHECK-LABEL: func @of_broadcast
// CHECK-NEXT: weft.broadcast_in_dim %arg0 dims = [2]
// CHECK-NEXT: return
func.func @of_broadcast(%x: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %0 = weft.broadcast_in_dim %x dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = weft.broadcast_in_dim %0 dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// Work on what is repeated is done once.
// CHECK-LABEL: func @elementwise_first
// CHECK: %[[SUM:.*]] = weft.add %arg0, %arg1 : tensor<4xf32>
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.multiply %[[SUM]], %{{.*}} : tensor<4xf32>
// CHECK-NEXT: %[[RESULT:.*]] = weft.broadcast_in_dim %[[PRODUCT]] dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[RESULT]]
func.func @elementwise_first(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %three = weft.constant dense<3.0> : tensor<3x4xf32>
  %0 = weft.broadcast_in_dim %x dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = weft.broadcast_in_dim %y dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = weft.add %0, %1 : tensor<3x4xf32>
  %3 = weft.multiply %2, %three : tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// CHECK-LABEL: func @moved_splat
// CHECK: %[[SPLAT:.*]] = weft.broadcast_in_dim %{{.*}} dims = [] : (tensor<f32>) -> tensor<4x?xf32
// CHECK-NEXT: return %[[SPLAT]]
func.func @moved_splat(%x: tensor<?x8xf32, #weft.encoding<[n, 8]>>) -> tensor<4x?xf32, #weft.encoding<[4, n]>> {
  %two = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.broadcast_in_dim %two dims = [] : (tensor<f32>) -> tensor<?x8xf32, #weft.encoding<[n, 8]>>
  %1 = weft.slice %0[0:end, 0:4] : (tensor<?x8xf32, #weft.encoding<[n, 8]>>) -> tensor<?x4xf32, #weft.encoding<[n, 4]>>
  %2 = weft.transpose %1 perm = [1, 0] : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<4x?xf32, #weft.encoding<[4, n]>>
  return %2 : tensor<4x?xf32, #weft.encoding<[4, n]>>
}
