// RUN: weft-opt %s --split-library-epilogues -split-input-file | FileCheck %s

// A chain that is post-ops from end to end stays whole.
// CHECK-LABEL: func.func @main
// CHECK: weft.library_call "matmul"(%arg0, %arg1, %arg2, %arg3)
// CHECK-NOT: weft.fusion
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>, %r: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = weft.library_call "matmul"(%x, %w, %b, %r) : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> {
  ^bb0(%a: tensor<8x4xf32>, %c: tensor<4x6xf32>, %d: tensor<6xf32>, %e: tensor<8x6xf32>):
    %zero = weft.constant dense<0.0> : tensor<8x6xf32>
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %2 = weft.broadcast_in_dim %d dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    %3 = weft.add %1, %2 : tensor<8x6xf32>
    %4 = weft.add %e, %3 : tensor<8x6xf32>
    %5 = weft.maximum %4, %zero : tensor<8x6xf32>
    weft.yield %5 : tensor<8x6xf32>
  }
  return %0 : tensor<8x6xf32>
}

// -----

// What no library does, and all after it, becomes a loop; a value used twice ends the library's part.
// CHECK-LABEL: func.func @main
// CHECK: %[[CALL:.*]] = weft.library_call "matmul"(%arg0, %arg1) :
// CHECK: weft.dot_general
// CHECK-NEXT: weft.yield
// CHECK: weft.fusion loop(%[[CALL]], %arg2)
// CHECK: weft.sine
// CHECK: weft.multiply
// CHECK: weft.add
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = weft.library_call "matmul"(%x, %w, %b) : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> {
  ^bb0(%a: tensor<8x4xf32>, %c: tensor<4x6xf32>, %d: tensor<8x6xf32>):
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %2 = weft.sine %1 : tensor<8x6xf32>
    %3 = weft.multiply %1, %2 : tensor<8x6xf32>
    %4 = weft.add %3, %d : tensor<8x6xf32>
    weft.yield %4 : tensor<8x6xf32>
  }
  return %0 : tensor<8x6xf32>
}

// -----

// An integer product is no library's: our own kernel does all of it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: weft.library_call
// CHECK: weft.fusion generic(%arg0, %arg1)
func.func @main(%x: tensor<8x4xi32>, %w: tensor<4x6xi32>) -> tensor<8x6xi32> {
  %0 = weft.library_call "matmul"(%x, %w) : (tensor<8x4xi32>, tensor<4x6xi32>) -> tensor<8x6xi32> {
  ^bb0(%a: tensor<8x4xi32>, %c: tensor<4x6xi32>):
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<8x4xi32>, tensor<4x6xi32>) -> tensor<8x6xi32>
    weft.yield %1 : tensor<8x6xi32>
  }
  return %0 : tensor<8x6xi32>
}

// -----

// A per-row addend is not a bias of a library.
// CHECK-LABEL: func.func @main
// CHECK: weft.library_call "matmul"(%arg0, %arg1) :
// CHECK: weft.fusion loop
func.func @main(%x: tensor<6x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<6x6xf32> {
  %0 = weft.library_call "matmul"(%x, %w, %b) : (tensor<6x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<6x6xf32> {
  ^bb0(%a: tensor<6x4xf32>, %c: tensor<4x6xf32>, %d: tensor<6xf32>):
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
    %2 = weft.broadcast_in_dim %d dims = [0] : (tensor<6xf32>) -> tensor<6x6xf32>
    %3 = weft.add %1, %2 : tensor<6x6xf32>
    weft.yield %3 : tensor<6x6xf32>
  }
  return %0 : tensor<6x6xf32>
}

// -----

// After a step that the runtime applies itself (a rectifier keeps NaNs there, a library's does not; a second product has
// another factor) come only those that it can apply: the tangent becomes a loop.
// CHECK-LABEL: func.func @main
// CHECK: %[[CALL:.*]] = weft.library_call "matmul"(%arg0, %arg1, %arg2)
// CHECK: weft.tanh
// CHECK: weft.multiply
// CHECK: weft.add
// CHECK-NEXT: weft.maximum
// CHECK-NEXT: weft.yield
// CHECK: weft.fusion loop(%[[CALL]])
// CHECK: weft.tanh
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %b: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = weft.library_call "matmul"(%x, %w, %b) : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32> {
  ^bb0(%a: tensor<8x4xf32>, %c: tensor<4x6xf32>, %d: tensor<8x6xf32>):
    %two = weft.constant dense<2.0> : tensor<8x6xf32>
    %half = weft.constant dense<0.5> : tensor<8x6xf32>
    %zero = weft.constant dense<0.0> : tensor<8x6xf32>
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %2 = weft.multiply %1, %two : tensor<8x6xf32>
    %3 = weft.tanh %2 : tensor<8x6xf32>
    %4 = weft.multiply %3, %half : tensor<8x6xf32>
    %5 = weft.add %4, %d : tensor<8x6xf32>
    %6 = weft.maximum %5, %zero : tensor<8x6xf32>
    %7 = weft.tanh %6 : tensor<8x6xf32>
    weft.yield %7 : tensor<8x6xf32>
  }
  return %0 : tensor<8x6xf32>
}

// -----

// The library's exponential turns a NaN into infinity.
// CHECK-LABEL: func.func @main
// CHECK: %[[CALL:.*]] = weft.library_call "matmul"(%arg0, %arg1) :
// CHECK: weft.fusion loop(%[[CALL]])
// CHECK: weft.exponential
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = weft.library_call "matmul"(%x, %w) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> {
  ^bb0(%a: tensor<8x4xf32>, %c: tensor<4x6xf32>):
    %1 = weft.dot_general %a, %c contract = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %2 = weft.exponential %1 : tensor<8x6xf32>
    weft.yield %2 : tensor<8x6xf32>
  }
  return %0 : tensor<8x6xf32>
}
