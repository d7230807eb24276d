// What is legal and not worth it, or worth it only in part.
//
// RUN: weft-opt %s -split-input-file -fuse-ops -verify-fused | FileCheck %s

// A vector of 4,096 tangents that 250 rows would each compute again: it is stored instead.
// CHECK-LABEL: @recomputed
// CHECK: %[[T:.*]] = weft.fusion loop(%arg0) : (tensor<4096xf32>) -> tensor<4096xf32>
// CHECK: weft.fusion loop(%[[T]], %arg1)
// CHECK-NOT: weft.tan
// CHECK: return
func.func @recomputed(%v: tensor<4096xf32>, %x: tensor<250x4096xf32>) -> tensor<250x4096xf32> {
  %a = weft.tan %v : tensor<4096xf32>
  %b = weft.tan %a : tensor<4096xf32>
  %c = weft.tan %b : tensor<4096xf32>
  %d = weft.tan %c : tensor<4096xf32>
  %e = weft.tan %d : tensor<4096xf32>
  %f = weft.tan %e : tensor<4096xf32>
  %g = weft.tan %f : tensor<4096xf32>
  %h = weft.tan %g : tensor<4096xf32>
  %i = weft.broadcast_in_dim %h dims = [1] : (tensor<4096xf32>) -> tensor<250x4096xf32>
  %j = weft.add %x, %i : tensor<250x4096xf32>
  return %j : tensor<250x4096xf32>
}

// -----

// Once a row or once altogether costs less than a kernel of its own.
// CHECK-LABEL: @recomputed_a_little
// CHECK-NEXT: weft.fusion loop
// CHECK-NOT: weft.fusion
// CHECK: return
func.func @recomputed_a_little(%v: tensor<f32>, %x: tensor<250x4096xf32>) -> tensor<250x4096xf32> {
  %a = weft.tan %v : tensor<f32>
  %i = weft.broadcast_in_dim %a dims = [] : (tensor<f32>) -> tensor<250x4096xf32>
  %j = weft.add %x, %i : tensor<250x4096xf32>
  return %j : tensor<250x4096xf32>
}

// -----

// The cast makes a quarter of its operand, which nothing else needs. Fused into its user, which runs after other kernels, it would keep
// the operand in memory past them.
// CHECK-LABEL: @peak_memory
// CHECK: %[[S:.*]] = weft.fusion generic(%arg0)
// CHECK: %[[C:.*]] = weft.fusion loop(%[[S]]) : (tensor<1024x1024xf32>) -> tensor<1024x1024xi8>
// CHECK: weft.fusion generic
// CHECK: weft.fusion loop({{.*}}%[[C]]
func.func @peak_memory(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xi8>) -> tensor<1024x1024xi8> {
  %s = weft.sort %x dim = 1 descending = false : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = weft.convert %s : (tensor<1024x1024xf32>) -> tensor<1024x1024xi8>
  %t = weft.sort %y dim = 1 descending = false : (tensor<1024x1024xi8>) -> tensor<1024x1024xi8>
  %a = weft.add %t, %c : tensor<1024x1024xi8>
  return %a : tensor<1024x1024xi8>
}

// -----

// With nothing in between it does fuse.
// CHECK-LABEL: @no_peak
// CHECK: weft.fusion generic
// CHECK: weft.fusion loop
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.convert
// CHECK-NEXT: weft.negate
func.func @no_peak(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xi8> {
  %s = weft.sort %x dim = 1 descending = false : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = weft.convert %s : (tensor<1024x1024xf32>) -> tensor<1024x1024xi8>
  %a = weft.negate %c : tensor<1024x1024xi8>
  return %a : tensor<1024x1024xi8>
}

// -----

// A single row keeps one unit busy: of a large tensor, what follows the reduction has a kernel that keeps all busy.
// CHECK-LABEL: @one_long_row
// CHECK: weft.fusion row_reduction
// CHECK: weft.fusion loop
func.func @one_long_row(%x: tensor<4194304xf32>) -> tensor<4194304xf32> {
  %r = weft.reduce max, %x dims = [0] : (tensor<4194304xf32>) -> tensor<f32>
  %b = weft.broadcast_in_dim %r dims = [] : (tensor<f32>) -> tensor<4194304xf32>
  %d = weft.subtract %x, %b : tensor<4194304xf32>
  return %d : tensor<4194304xf32>
}

// -----

// CHECK-LABEL: @one_short_row
// CHECK-NEXT: weft.fusion row_multipass
// CHECK-NOT: weft.fusion
// CHECK: return
func.func @one_short_row(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %r = weft.reduce max, %x dims = [0] : (tensor<1000xf32>) -> tensor<f32>
  %b = weft.broadcast_in_dim %r dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %d = weft.subtract %x, %b : tensor<1000xf32>
  return %d : tensor<1000xf32>
}

// -----

// The sort needs the broadcast in memory; the addition reads the vector instead.
// CHECK-LABEL: @copied
// CHECK: %[[B:.*]] = weft.fusion loop(%arg0)
// CHECK: weft.fusion generic(%[[B]])
// CHECK: weft.fusion loop(%arg0, %arg1)
func.func @copied(%v: tensor<1024xf32>, %x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %b = weft.broadcast_in_dim %v dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %s = weft.sort %b dim = 1 descending = false : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %a = weft.add %x, %b : tensor<1024x1024xf32>
  return %s, %a : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// -----

// An average over windows reads each element nine times: what precedes it is computed before, not nine times.
// CHECK-LABEL: @windows
// CHECK: weft.fusion loop
// CHECK: weft.fusion generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.reduce_window
func.func @windows(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %a = weft.tanh %x : tensor<1024x1024xf32>
  %b = weft.tanh %a : tensor<1024x1024xf32>
  %c = weft.tanh %b : tensor<1024x1024xf32>
  %d = weft.tanh %c : tensor<1024x1024xf32>
  %e = weft.tanh %d : tensor<1024x1024xf32>
  %f = weft.tanh %e : tensor<1024x1024xf32>
  %w = weft.reduce_window sum, %f {window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>,
      window_dilations = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>}
      : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %w : tensor<1024x1024xf32>
}

// -----

// As @peak_memory, but the operand is in memory anyway: another kernel reads it in the end. It comes from something fixed.
// CHECK-LABEL: @kept_anyway
// CHECK: %[[I:.*]] = weft.if
// CHECK: weft.negate
// CHECK-NOT: weft.fusion loop
// CHECK: weft.fusion generic
// CHECK: weft.fusion loop
// CHECK: weft.convert
// CHECK: weft.add
// CHECK: return
func.func @kept_anyway(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xi8>, %p: tensor<i1>)
    -> (tensor<1024x1024xi8>, tensor<1024x1024xf32>) {
  %i = weft.if %p : (tensor<i1>) -> tensor<1024x1024xf32> {
    weft.yield %x : tensor<1024x1024xf32>
  } else {
    %n = weft.negate %x : tensor<1024x1024xf32>
    weft.yield %n : tensor<1024x1024xf32>
  }
  %c = weft.convert %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xi8>
  %t = weft.sort %y dim = 1 descending = false : (tensor<1024x1024xi8>) -> tensor<1024x1024xi8>
  %a = weft.add %t, %c : tensor<1024x1024xi8>
  %s = weft.sort %i dim = 0 descending = false : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %a, %s : tensor<1024x1024xi8>, tensor<1024x1024xf32>
}
