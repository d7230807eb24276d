// RUN: weft-opt --simplify --layout %s | FileCheck %s
// RUN: weft-opt --simplify --layout %s | FileCheck %s --check-prefix=COUNT

// A residual network as exporters write it, channels first: batch normalizations, pooling, a projection, a depthwise convolution,
// a global mean and a classifier. Afterwards one transpose is left in @main, that of the input, and batch normalizations are
// in the weights: each convolution is followed by one addition.

// CHECK-LABEL: func.func @main
// CHECK: %[[INPUT:.*]] = weft.transpose %arg0 perm = [0, 2, 3, 1]
// CHECK-NEXT: weft.convolution %[[INPUT]], %arg{{[0-9]+}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
// CHECK-NOT: weft.transpose
// CHECK: weft.reduce_window max
// CHECK-NOT: weft.transpose
// CHECK: weft.reduce sum, %{{.*}} dims = [1, 2]
// CHECK: weft.dot_general %{{.*}}, %arg{{[0-9]+}} contract = [1] x [0]
// CHECK-NOT: weft.transpose
// CHECK: return
// CHECK-LABEL: func.func @prepare

// COUNT-LABEL: func.func @main
// COUNT: weft.transpose
// COUNT-NOT: weft.transpose
// COUNT-NOT: weft.rsqrt
// One multiplication, that of the mean.
// COUNT: weft.multiply
// COUNT-NOT: weft.multiply
// COUNT: return

weft.dim "n" in [1, 64]
func.func @main(%input: tensor<?x3x32x32xf32, #weft.encoding<[n, 3, 32, 32]>> {weft.input = "x"}, %w0: tensor<8x3x7x7xf32> {weft.param = "w0"}, %p1: tensor<8xf32> {weft.param = "p1"}, %p2: tensor<8xf32> {weft.param = "p2"}, %p3: tensor<8xf32> {weft.param = "p3"}, %p4: tensor<8xf32> {weft.param = "p4"}, %w5: tensor<8x8x3x3xf32> {weft.param = "w5"}, %p6: tensor<8xf32> {weft.param = "p6"}, %p7: tensor<8xf32> {weft.param = "p7"}, %p8: tensor<8xf32> {weft.param = "p8"}, %p9: tensor<8xf32> {weft.param = "p9"}, %w10: tensor<8x1x3x3xf32> {weft.param = "w10"}, %p11: tensor<8xf32> {weft.param = "p11"}, %p12: tensor<8xf32> {weft.param = "p12"}, %p13: tensor<8xf32> {weft.param = "p13"}, %p14: tensor<8xf32> {weft.param = "p14"}, %w15: tensor<16x8x3x3xf32> {weft.param = "w15"}, %p16: tensor<16xf32> {weft.param = "p16"}, %p17: tensor<16xf32> {weft.param = "p17"}, %p18: tensor<16xf32> {weft.param = "p18"}, %p19: tensor<16xf32> {weft.param = "p19"}, %w20: tensor<16x16x3x3xf32> {weft.param = "w20"}, %p21: tensor<16xf32> {weft.param = "p21"}, %p22: tensor<16xf32> {weft.param = "p22"}, %p23: tensor<16xf32> {weft.param = "p23"}, %p24: tensor<16xf32> {weft.param = "p24"}, %w25: tensor<16x8x1x1xf32> {weft.param = "w25"}, %p26: tensor<16xf32> {weft.param = "p26"}, %p27: tensor<16xf32> {weft.param = "p27"}, %p28: tensor<16xf32> {weft.param = "p28"}, %p29: tensor<16xf32> {weft.param = "p29"}, %fc: tensor<10x16xf32> {weft.param = "fc"}, %fcb: tensor<10xf32> {weft.param = "fcb"}) -> (tensor<?x10xf32, #weft.encoding<[n, 10]>> {weft.output = "y"}) {
  %v1 = weft.convolution %input, %w0 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 2, 2>, padding_low = array<i64: 3, 3>, padding_high = array<i64: 3, 3>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<?x3x32x32xf32, #weft.encoding<[n, 3, 32, 32]>>, tensor<8x3x7x7xf32>) -> tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %v2 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v1, %p1, %p2, %p3, %p4) : (tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>> {
^bb0(%x: tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>, %scale: tensor<8xf32>, %bias: tensor<8xf32>, %mean: tensor<8xf32>, %variance: tensor<8xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<8xf32>
  %a = weft.add %variance, %e : tensor<8xf32>
  %r = weft.rsqrt %a : tensor<8xf32>
  %s = weft.multiply %scale, %r : tensor<8xf32>
  %m = weft.multiply %mean, %s : tensor<8xf32>
  %b = weft.subtract %bias, %m : tensor<8xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<8xf32>) -> tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<8xf32>) -> tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %y = weft.multiply %x, %sb : tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %z = weft.add %y, %bb : tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  weft.yield %z : tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
}
  %v3 = weft.constant dense<0.0> : tensor<f32>
  %v4 = weft.broadcast_in_dim %v3 dims = [] : (tensor<f32>) -> tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %v5 = weft.maximum %v2, %v4 : tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>
  %v6 = weft.reduce_window max, %v5 {window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>, base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, padding_low = array<i64: 0, 0, 1, 1>, padding_high = array<i64: 0, 0, 1, 1>} : (tensor<?x8x16x16xf32, #weft.encoding<[n, 8, 16, 16]>>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v7 = weft.convolution %v6, %w5 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<8x8x3x3xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v8 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v7, %p6, %p7, %p8, %p9) : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>> {
^bb0(%x: tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, %scale: tensor<8xf32>, %bias: tensor<8xf32>, %mean: tensor<8xf32>, %variance: tensor<8xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<8xf32>
  %a = weft.add %variance, %e : tensor<8xf32>
  %r = weft.rsqrt %a : tensor<8xf32>
  %s = weft.multiply %scale, %r : tensor<8xf32>
  %m = weft.multiply %mean, %s : tensor<8xf32>
  %b = weft.subtract %bias, %m : tensor<8xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %y = weft.multiply %x, %sb : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %z = weft.add %y, %bb : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  weft.yield %z : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
}
  %v9 = weft.constant dense<0.0> : tensor<f32>
  %v10 = weft.broadcast_in_dim %v9 dims = [] : (tensor<f32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v11 = weft.maximum %v8, %v10 : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v12 = weft.convolution %v11, %w10 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 8 : i64} : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<8x1x3x3xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v13 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v12, %p11, %p12, %p13, %p14) : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>> {
^bb0(%x: tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, %scale: tensor<8xf32>, %bias: tensor<8xf32>, %mean: tensor<8xf32>, %variance: tensor<8xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<8xf32>
  %a = weft.add %variance, %e : tensor<8xf32>
  %r = weft.rsqrt %a : tensor<8xf32>
  %s = weft.multiply %scale, %r : tensor<8xf32>
  %m = weft.multiply %mean, %s : tensor<8xf32>
  %b = weft.subtract %bias, %m : tensor<8xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<8xf32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %y = weft.multiply %x, %sb : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %z = weft.add %y, %bb : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  weft.yield %z : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
}
  %v14 = weft.add %v6, %v13 : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v15 = weft.constant dense<0.0> : tensor<f32>
  %v16 = weft.broadcast_in_dim %v15 dims = [] : (tensor<f32>) -> tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v17 = weft.maximum %v14, %v16 : tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>
  %v18 = weft.convolution %v17, %w15 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 2, 2>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<16x8x3x3xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v19 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v18, %p16, %p17, %p18, %p19) : (tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>> {
^bb0(%x: tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, %scale: tensor<16xf32>, %bias: tensor<16xf32>, %mean: tensor<16xf32>, %variance: tensor<16xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<16xf32>
  %a = weft.add %variance, %e : tensor<16xf32>
  %r = weft.rsqrt %a : tensor<16xf32>
  %s = weft.multiply %scale, %r : tensor<16xf32>
  %m = weft.multiply %mean, %s : tensor<16xf32>
  %b = weft.subtract %bias, %m : tensor<16xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %y = weft.multiply %x, %sb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %z = weft.add %y, %bb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  weft.yield %z : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
}
  %v20 = weft.constant dense<0.0> : tensor<f32>
  %v21 = weft.broadcast_in_dim %v20 dims = [] : (tensor<f32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v22 = weft.maximum %v19, %v21 : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v23 = weft.convolution %v22, %w20 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, tensor<16x16x3x3xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v24 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v23, %p21, %p22, %p23, %p24) : (tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>> {
^bb0(%x: tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, %scale: tensor<16xf32>, %bias: tensor<16xf32>, %mean: tensor<16xf32>, %variance: tensor<16xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<16xf32>
  %a = weft.add %variance, %e : tensor<16xf32>
  %r = weft.rsqrt %a : tensor<16xf32>
  %s = weft.multiply %scale, %r : tensor<16xf32>
  %m = weft.multiply %mean, %s : tensor<16xf32>
  %b = weft.subtract %bias, %m : tensor<16xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %y = weft.multiply %x, %sb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %z = weft.add %y, %bb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  weft.yield %z : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
}
  %v25 = weft.convolution %v17, %w25 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 2, 2>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<?x8x8x8xf32, #weft.encoding<[n, 8, 8, 8]>>, tensor<16x8x1x1xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v26 = weft.composite "batch_norm_inference" {epsilon = 1.0e-5 : f32} (%v25, %p26, %p27, %p28, %p29) : (tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>> {
^bb0(%x: tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>, %scale: tensor<16xf32>, %bias: tensor<16xf32>, %mean: tensor<16xf32>, %variance: tensor<16xf32>):
  %e = weft.constant dense<1.0e-5> : tensor<16xf32>
  %a = weft.add %variance, %e : tensor<16xf32>
  %r = weft.rsqrt %a : tensor<16xf32>
  %s = weft.multiply %scale, %r : tensor<16xf32>
  %m = weft.multiply %mean, %s : tensor<16xf32>
  %b = weft.subtract %bias, %m : tensor<16xf32>
  %sb = weft.broadcast_in_dim %s dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<16xf32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %y = weft.multiply %x, %sb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %z = weft.add %y, %bb : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  weft.yield %z : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
}
  %v27 = weft.add %v26, %v24 : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v28 = weft.constant dense<0.0> : tensor<f32>
  %v29 = weft.broadcast_in_dim %v28 dims = [] : (tensor<f32>) -> tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v30 = weft.maximum %v27, %v29 : tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>
  %v31 = weft.reduce sum, %v30 dims = [2, 3] : (tensor<?x16x4x4xf32, #weft.encoding<[n, 16, 4, 4]>>) -> tensor<?x16xf32, #weft.encoding<[n, 16]>>
  %v32 = weft.constant dense<0.0625> : tensor<f32>
  %v33 = weft.broadcast_in_dim %v32 dims = [] : (tensor<f32>) -> tensor<?x16xf32, #weft.encoding<[n, 16]>>
  %v34 = weft.multiply %v31, %v33 : tensor<?x16xf32, #weft.encoding<[n, 16]>>
  %v35 = weft.dot_general %v34, %fc contract = [1] x [1] : (tensor<?x16xf32, #weft.encoding<[n, 16]>>, tensor<10x16xf32>) -> tensor<?x10xf32, #weft.encoding<[n, 10]>>
  %v36 = weft.broadcast_in_dim %fcb dims = [1] : (tensor<10xf32>) -> tensor<?x10xf32, #weft.encoding<[n, 10]>>
  %v37 = weft.add %v35, %v36 : tensor<?x10xf32, #weft.encoding<[n, 10]>>
  return %v37 : tensor<?x10xf32, #weft.encoding<[n, 10]>>
}
