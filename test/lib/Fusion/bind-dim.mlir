// What has a size that data decide stays after the op that gives the size its value, though no value leads from one to the other.
//
// RUN: weft-opt %s -fuse-ops -verify-fused | FileCheck %s

weft.dim "found" in [0, 4096]

// Both read %x, and one kernel for the two would save reading it twice.
// CHECK-LABEL: @main
// CHECK: %[[COUNT:.*]] = weft.fusion row_reduction(%arg0) : (tensor<4096xi64>) -> tensor<i64>
// CHECK: weft.reduce sum
// CHECK: weft.bind_dim "found" = %[[COUNT]] : tensor<i64>
// CHECK: weft.fusion {{.*}}(%arg0) : (tensor<4096xi64>) -> tensor<?xi64, #weft.encoding<[found]>>
// CHECK: weft.dynamic_slice
// CHECK: weft.negate
// The sizes alone use the symbol here: the count of a new tensor.
// CHECK: weft.fusion {{.*}} -> tensor<i64>
// CHECK: weft.iota dim = 0 : tensor<?xi64, #weft.encoding<[found]>>
func.func @main(%x: tensor<4096xi64>) -> (tensor<?xi64, #weft.encoding<[found]>>, tensor<i64>) {
  %count = weft.reduce sum, %x dims = [0] : (tensor<4096xi64>) -> tensor<i64>
  weft.bind_dim "found" = %count : tensor<i64>
  %zero = weft.constant dense<0> : tensor<i64>
  %first = weft.dynamic_slice %x at (%zero) : (tensor<4096xi64>, tensor<i64>) -> tensor<?xi64, #weft.encoding<[found]>>
  %negated = weft.negate %first : tensor<?xi64, #weft.encoding<[found]>>
  %places = weft.iota dim = 0 : tensor<?xi64, #weft.encoding<[found]>>
  %sum = weft.reduce sum, %places dims = [0] : (tensor<?xi64, #weft.encoding<[found]>>) -> tensor<i64>
  return %negated, %sum : tensor<?xi64, #weft.encoding<[found]>>, tensor<i64>
}
