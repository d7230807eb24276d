// RUN: weft-opt %s | weft-opt | FileCheck %s

weft.dim "n" in [1, 64]

// CHECK-LABEL: func @shapes
func.func @shapes(%x: tensor<2x3x4xf32>, %s: tensor<?x4xf32, #weft.encoding<[n, 4]>>) {
  // CHECK: weft.broadcast_in_dim %{{.*}} dims = [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
  %0 = weft.broadcast_in_dim %x dims = [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
  // CHECK: weft.reshape %{{.*}} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = weft.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: weft.reshape %{{.*}} : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<?xf32, #weft.encoding<[n * 4]>>
  %2 = weft.reshape %s : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<?xf32, #weft.encoding<[n * 4]>>
  // CHECK: weft.transpose %{{.*}} perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = weft.transpose %x perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: weft.reverse %{{.*}} dims = [0, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = weft.reverse %x dims = [0, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: weft.concatenate %{{.*}}, %{{.*}} dim = 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  %5 = weft.concatenate %x, %x dim = 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// CHECK-LABEL: func @boxes
func.func @boxes(%x: tensor<6x8xf32>, %s: tensor<?x4xf32, #weft.encoding<[n, 4]>>, %zero: tensor<f32>, %i: tensor<i32>) {
  // CHECK: weft.slice %{{.*}} [0:6:2, 1:5] : (tensor<6x8xf32>) -> tensor<3x4xf32>
  %0 = weft.slice %x [0:6:2, 1:5:1] : (tensor<6x8xf32>) -> tensor<3x4xf32>
  // CHECK: weft.pad %{{.*}}, %{{.*}} low = [1, -1] high = [2, 0] interior = [0, 1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<9x14xf32>
  %1 = weft.pad %x, %zero low = [1, -1] high = [2, 0] interior = [0, 1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<9x14xf32>
  // CHECK: weft.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<6x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  %2 = weft.dynamic_slice %x at(%i, %i) : (tensor<6x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  // CHECK: weft.dynamic_update_slice %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<6x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  %3 = weft.dynamic_update_slice %x, %2 at(%i, %i) : (tensor<6x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  return
}

// CHECK-LABEL: func @indices
func.func @indices(%x: tensor<6x8xf32>, %rows: tensor<3x1xi64>, %updates: tensor<3x8xf32>) {
  // CHECK: weft.gather %{{.*}}, %{{.*}} {collapsed_slice_dims = array<i64: 0>
  // CHECK-SAME: : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  %0 = weft.gather %x, %rows {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
    operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>,
    index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  // CHECK: weft.scatter sum, %{{.*}}, %{{.*}}, %{{.*}} {
  // CHECK-SAME: : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  %1 = weft.scatter sum, %x, %rows, %updates {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>,
    operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>,
    scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64}
    : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// CHECK-LABEL: func @assume_shape
func.func @assume_shape(%x: tensor<?x4xf32, #weft.encoding<[n, 4]>>) {
  // CHECK: weft.assume_shape %{{.*}} : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<?x4xf32, #weft.encoding<[(n + 1) floordiv 2 * 2, 4]>>
  %0 = weft.assume_shape %x : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<?x4xf32, #weft.encoding<[(n + 1) floordiv 2 * 2, 4]>>
  // CHECK: weft.assume_shape %{{.*}} : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<8x4xf32>
  %1 = weft.assume_shape %x : (tensor<?x4xf32, #weft.encoding<[n, 4]>>) -> tensor<8x4xf32>
  return
}
