// RUN: weft-opt --convert-convolution-layout --mlir-print-local-scope %s | FileCheck %s

// One, two and three spatial dimensions; one that is channels-last already.
// CHECK-LABEL: func @main
// CHECK-DAG: %[[X:.*]] = weft.transpose %arg0 perm = [0, 2, 1]
// CHECK-DAG: %[[W:.*]] = weft.transpose %arg1 perm = [2, 1, 0]
// CHECK: %[[ONE:.*]] = weft.convolution %[[X]], %[[W]] dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]>
// CHECK-NEXT: weft.transpose %[[ONE]] perm = [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
// CHECK: %[[TWO:.*]] = weft.convolution %{{.*}}, %{{.*}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> {{.*}} -> tensor<2x6x5x4xf32>
// CHECK-NEXT: weft.transpose %[[TWO]] perm = [0, 3, 1, 2] : (tensor<2x6x5x4xf32>) -> tensor<2x4x6x5xf32>
// CHECK-DAG: weft.transpose %arg4 perm = [0, 2, 3, 4, 1]
// CHECK-DAG: weft.transpose %arg5 perm = [2, 3, 4, 1, 0]
// CHECK: %[[THREE:.*]] = weft.convolution %{{.*}}, %{{.*}} dims = <[b, 0, 1, 2, f] x [0, 1, 2, i, o] -> [b, 0, 1, 2, f]>
// CHECK-NEXT: weft.transpose %[[THREE]] perm = [0, 4, 1, 2, 3]
// CHECK-NEXT: weft.convolution %arg6, %arg7
// CHECK-NEXT: return
func.func @main(%a: tensor<2x3x8xf32>, %wa: tensor<4x3x3xf32>, %b: tensor<2x3x8x6xf32>, %wb: tensor<4x3x3x2xf32>,
                %c: tensor<1x2x4x4x4xf32>, %wc: tensor<5x2x1x1x1xf32>, %d: tensor<1x4x4x2xf32>, %wd: tensor<1x1x2x3xf32>)
    -> (tensor<2x4x6xf32>, tensor<2x4x6x5xf32>, tensor<1x5x4x4x4xf32>, tensor<1x4x4x3xf32>) {
  %0 = weft.convolution %a, %wa dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> {window_strides = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, feature_group_count = 1 : i64} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  %1 = weft.convolution %b, %wb dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<2x3x8x6xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x6x5xf32>
  %2 = weft.convolution %c, %wc dims = <[b, f, 0, 1, 2] x [o, i, 0, 1, 2] -> [b, f, 0, 1, 2]> {window_strides = array<i64: 1, 1, 1>, padding_low = array<i64: 0, 0, 0>, padding_high = array<i64: 0, 0, 0>, lhs_dilation = array<i64: 1, 1, 1>, rhs_dilation = array<i64: 1, 1, 1>, feature_group_count = 1 : i64} : (tensor<1x2x4x4x4xf32>, tensor<5x2x1x1x1xf32>) -> tensor<1x5x4x4x4xf32>
  %3 = weft.convolution %d, %wd dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  return %0, %1, %2, %3 : tensor<2x4x6xf32>, tensor<2x4x6x5xf32>, tensor<1x5x4x4x4xf32>, tensor<1x4x4x3xf32>
}
