// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @if
func.func @if(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: weft.if %{{.*}} : (tensor<i1>) -> tensor<3xf32> {
  // CHECK: weft.yield %{{.*}} : tensor<3xf32>
  // CHECK: } else {
  %0 = weft.if %p : (tensor<i1>) -> tensor<3xf32> {
    %1 = weft.negate %x : tensor<3xf32>
    weft.yield %1 : tensor<3xf32>
  } else {
    weft.yield %x : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @while
func.func @while(%n: tensor<i32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %one = weft.constant dense<1> : tensor<i32>
  %zero = weft.constant dense<0> : tensor<i32>
  // CHECK: weft.while(%{{.*}}, %{{.*}}) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  // CHECK: weft.yield %{{.*}} : tensor<i1>
  // CHECK: } do {
  %0:2 = weft.while(%n, %x) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
    %more = weft.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    weft.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
    %next = weft.subtract %i, %one : tensor<i32>
    %doubled = weft.add %v, %v : tensor<3xf32>
    weft.yield %next, %doubled : tensor<i32>, tensor<3xf32>
  }
  return %0#1 : tensor<3xf32>
}
