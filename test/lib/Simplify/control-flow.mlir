// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @if_of_constant
// CHECK-NEXT: %[[TANH:.*]] = weft.tanh %arg0
// CHECK-NEXT: return %[[TANH]]
func.func @if_of_constant(%x: tensor<3xf32>) -> tensor<3xf32> {
  %true = weft.constant dense<true> : tensor<i1>
  %0 = weft.if %true : (tensor<i1>) -> tensor<3xf32> {
    %1 = weft.tanh %x : tensor<3xf32>
    weft.yield %1 : tensor<3xf32>
  } else {
    weft.yield %x : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @while_never
// CHECK-NEXT: return %arg0
func.func @while_never(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.while (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %false = weft.constant dense<false> : tensor<i1>
    weft.yield %false : tensor<i1>
  } do {
  ^bb0(%a: tensor<3xf32>):
    %1 = weft.tanh %a : tensor<3xf32>
    weft.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
