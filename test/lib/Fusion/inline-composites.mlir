// RUN: weft-opt %s -inline-composites -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// A composite in a composite, and the names of both with the ops.
// CHECK-LABEL: func.func @main
// CHECK: weft.negate %{{.*}} loc(fused["outer", "inner", "node"])
// CHECK: weft.exponential %{{.*}} loc("outer")
// CHECK-NOT: weft.composite
// CHECK: weft.if
// CHECK: weft.abs
// CHECK-NOT: weft.composite
// CHECK: else
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %y = weft.composite "outer" {} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %b = weft.composite "inner" {} (%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%c: tensor<4xf32>):
      %n = weft.negate %c : tensor<4xf32> loc("node")
      weft.yield %n : tensor<4xf32>
    } loc("inner")
    %e = weft.exponential %b : tensor<4xf32> loc(unknown)
    weft.yield %e : tensor<4xf32>
  } loc("outer")
  %r = weft.if %p : (tensor<i1>) -> tensor<4xf32> {
    %z = weft.composite "abs" {} (%y) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %n = weft.abs %a : tensor<4xf32>
      weft.yield %n : tensor<4xf32>
    }
    weft.yield %z : tensor<4xf32>
  } else {
    weft.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @prepare
// CHECK: weft.composite
func.func @prepare(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = weft.composite "negate" {} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %b = weft.negate %a : tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
