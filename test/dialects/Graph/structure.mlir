// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK: weft.dim "rows" in [1, 1024]
weft.dim "rows" in [1, 1024]

// CHECK: weft.require <[rows mod 4, 0]> "four rows at a time"
weft.require <[rows mod 4, 0]> "four rows at a time"

// CHECK-LABEL: func @groups
func.func @groups(%x: tensor<?x4xf32, #weft.encoding<[rows, 4]>>, %w: tensor<4x3xf32>)
    -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  // CHECK: weft.library_call "matmul"(%{{.*}}, %{{.*}}) : (tensor<?x4xf32, #weft.encoding<[rows, 4]>>, tensor<4x3xf32>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  %0 = weft.library_call "matmul"(%x, %w) : (tensor<?x4xf32, #weft.encoding<[rows, 4]>>, tensor<4x3xf32>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  ^bb0(%a: tensor<?x4xf32, #weft.encoding<[rows, 4]>>, %b: tensor<4x3xf32>):
    %3 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<?x4xf32, #weft.encoding<[rows, 4]>>, tensor<4x3xf32>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>>
    weft.yield %3 : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
  }
  // CHECK: weft.fusion loop(%{{.*}}) : (tensor<?x3xf32, #weft.encoding<[rows, 3]>>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  %1 = weft.fusion loop(%0) : (tensor<?x3xf32, #weft.encoding<[rows, 3]>>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  ^bb0(%a: tensor<?x3xf32, #weft.encoding<[rows, 3]>>):
    %4 = weft.tanh %a : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
    weft.yield %4 : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
  }
  // CHECK: weft.composite "gelu" {approximate = "none"}(%{{.*}}) :
  %2 = weft.composite "gelu" {approximate = "none"} (%1) : (tensor<?x3xf32, #weft.encoding<[rows, 3]>>) -> tensor<?x3xf32, #weft.encoding<[rows, 3]>> {
  ^bb0(%a: tensor<?x3xf32, #weft.encoding<[rows, 3]>>):
    %5 = weft.erf %a : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
    weft.yield %5 : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
  }
  return %2 : tensor<?x3xf32, #weft.encoding<[rows, 3]>>
}

// CHECK: weft.dim "found" in [0, 8]
weft.dim "found" in [0, 8]

// CHECK-LABEL: func @bind_dim
func.func @bind_dim(%x: tensor<8xf32>, %count: tensor<i64>) -> tensor<?xf32, #weft.encoding<[found]>> {
  // CHECK: weft.bind_dim "found" = %{{.*}} : tensor<i64>
  weft.bind_dim "found" = %count : tensor<i64>
  %0 = weft.constant dense<0> : tensor<i64>
  %1 = weft.dynamic_slice %x at (%0) : (tensor<8xf32>, tensor<i64>) -> tensor<?xf32, #weft.encoding<[found]>>
  return %1 : tensor<?xf32, #weft.encoding<[found]>>
}
