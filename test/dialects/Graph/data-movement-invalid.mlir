// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @broadcast_in_dim_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c1: expected}}
  %0 = weft.broadcast_in_dim %x dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @broadcast_in_dim_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c2: expected}}
  %0 = weft.broadcast_in_dim %x dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c3: expected}}
  %0 = weft.broadcast_in_dim %x dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c3: expected}}
  %0 = weft.broadcast_in_dim %x dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_in_dim_c4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{broadcast_in_dim_c4: operand dimension}}
  %0 = weft.broadcast_in_dim %x dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reshape_c1: expected}}
  %0 = weft.reshape %x : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{reshape_c2: the operand has 6 elements, the result 7}}
  %0 = weft.reshape %x : (tensor<2x3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{transpose_c1: expected}}
  %0 = weft.transpose %x perm = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{transpose_c1: expected}}
  %0 = weft.transpose %x perm = [1] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{slice_c1: expected}}
  %0 = weft.slice %x [0:1] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{slice_c2: dimension 1}}
  %0 = weft.slice %x [0:1, 2:4] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{slice_c2: dimension 1}}
  %0 = weft.slice %x [0:1, 2:1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{slice_c3: expected}}
  %0 = weft.slice %x [0:1, 0:3:0] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<2x3xf32>, %v: tensor<f64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{pad_c1: expected}}
  %0 = weft.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<2x3xf32>, %v: tensor<1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{pad_c1: expected}}
  %0 = weft.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{pad_c2: expected}}
  %0 = weft.pad %x, %v low = [0] high = [0, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{pad_c3: expected}}
  %0 = weft.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, -1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{pad_c4: dimension 0}}
  %0 = weft.pad %x, %v low = [-2, 0] high = [-1, 0] interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concatenate_c1() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{concatenate_c1: expected}}
  %0 = "weft.concatenate"() <{dimension = 0 : i64}> : () -> tensor<2x3xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{concatenate_c2: expected}}
  %0 = weft.concatenate %x, %x dim = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{concatenate_c3: }}
  %0 = weft.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{concatenate_c3: }}
  %0 = weft.concatenate %x, %y dim = 0 : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reverse_c1: expected}}
  %0 = weft.reverse %x dims = [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reverse_c1: expected}}
  %0 = weft.reverse %x dims = [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c1}}
  %0 = weft.dynamic_slice %x at(%i) : (tensor<2x3xf32>, tensor<i32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{dynamic_slice_c1}}
  %0 = weft.dynamic_slice %x at(%i, %j) : (tensor<2x3xf32>, tensor<i32>, tensor<i64>) -> tensor<1x3xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<2x3xf32>, %i: tensor<1xi32>) {
  // expected-error @+1 {{dynamic_slice_c1}}
  %0 = weft.dynamic_slice %x at(%i, %i) : (tensor<2x3xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c2: expected}}
  %0 = weft.dynamic_slice %x at(%i, %i) : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_slice_c3(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{dynamic_slice_c3: dimension 1}}
  %0 = weft.dynamic_slice %x at(%i, %i) : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dynamic_update_slice_c1}}
  %0 = weft.dynamic_update_slice %x, %x at(%i) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<2x3xf32>, %u: tensor<2x3xf64>, %i: tensor<i32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dynamic_update_slice_c2: expected}}
  %0 = weft.dynamic_update_slice %x, %u at(%i, %i) : (tensor<2x3xf32>, tensor<2x3xf64>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dynamic_update_slice_c3(%x: tensor<2x3xf32>, %u: tensor<4x3xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dynamic_update_slice_c3: dimension 0}}
  %0 = weft.dynamic_update_slice %x, %u at(%i, %i) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @assume_shape_c1(%x: tensor<?xf32, #weft.encoding<[n]>>) {
  // expected-error @+1 {{assume_shape_c1: expected element type}}
  %0 = weft.assume_shape %x : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<4xf64>
  return
}

// -----

func.func @assume_shape_c2(%x: tensor<?xf32, #weft.encoding<[n]>>) {
  // expected-error @+1 {{assume_shape_c2: expected rank 1, got 2}}
  %0 = weft.assume_shape %x : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<4x1xf32>
  return
}

// -----

func.func @assume_shape_c3(%x: tensor<?x3xf32, #weft.encoding<[n, 3]>>) {
  // expected-error @+1 {{assume_shape_c3: dimension 1: expected size 3, got 4}}
  %0 = weft.assume_shape %x : (tensor<?x3xf32, #weft.encoding<[n, 3]>>) -> tensor<?x4xf32, #weft.encoding<[n, 4]>>
  return
}
