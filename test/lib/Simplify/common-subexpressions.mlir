// RUN: weft-opt --eliminate-common-subexpressions --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// CHECK-LABEL: func @merged
// CHECK-NEXT: %[[TANH:.*]] = weft.tanh %arg0 : tensor<4xf32> loc(fused["a", "b"])
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[TANH]], %[[TANH]] : tensor<4xf32> loc("c")
func.func @merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.tanh %x : tensor<4xf32> loc("a")
  %1 = weft.tanh %x : tensor<4xf32> loc("b")
  %2 = weft.add %0, %1 : tensor<4xf32> loc("c")
  return %2 : tensor<4xf32>
}

// Commuted operands, attributes that differ, and values in regions.
// CHECK-LABEL: func @which
// CHECK: weft.add %arg0, %arg1
// CHECK-NOT: weft.add
// CHECK: weft.reduce sum, %arg0
// CHECK: weft.reduce max, %arg0
// CHECK: weft.if
// CHECK-NOT: weft.add %arg
// CHECK: else
// CHECK: weft.tanh
// CHECK: weft.tanh
func.func @which(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.add %x, %y : tensor<4xf32>
  %1 = weft.add %y, %x : tensor<4xf32>
  %2 = weft.reduce sum, %x dims = [0] : (tensor<4xf32>) -> tensor<f32>
  %3 = weft.reduce max, %x dims = [0] : (tensor<4xf32>) -> tensor<f32>
  %4 = weft.if %p : (tensor<i1>) -> tensor<4xf32> {
    %5 = weft.add %x, %y : tensor<4xf32>
    weft.yield %5 : tensor<4xf32>
  } else {
    %5 = weft.tanh %x : tensor<4xf32>
    weft.yield %5 : tensor<4xf32>
  }
  %6 = weft.tanh %x : tensor<4xf32>
  return %0, %1, %2, %3, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @composites
// CHECK: weft.composite
// CHECK-NOT: weft.composite
// CHECK: weft.multiply
func.func @composites(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.composite "silu" {} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = weft.logistic %a : tensor<4xf32>
    weft.yield %s : tensor<4xf32>
  }
  %1 = weft.composite "silu" {} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %t = weft.logistic %b : tensor<4xf32>
    weft.yield %t : tensor<4xf32>
  }
  %2 = weft.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
