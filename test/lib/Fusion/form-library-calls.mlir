// RUN: weft-opt %s -split-input-file -form-library-calls | FileCheck %s

// Bias, relu and a residual. The bias stays a vector; the zero is in the region.
// CHECK-LABEL: @epilogue
// CHECK-NEXT: %[[Y:.*]] = weft.library_call "matmul"(%arg0, %arg1, %arg2, %arg3)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>, %[[R:.*]]: tensor<4x16xf32>):
// CHECK-NEXT: %[[D:.*]] = weft.dot_general %[[X]], %[[W]]
// CHECK-NEXT: %[[BB:.*]] = weft.broadcast_in_dim %[[B]] dims = [1]
// CHECK-NEXT: %[[S:.*]] = weft.add %[[D]], %[[BB]]
// CHECK-NEXT: %[[Z:.*]] = weft.constant dense<0.0
// CHECK-NEXT: %[[ZZ:.*]] = weft.broadcast_in_dim %[[Z]]
// CHECK-NEXT: %[[M:.*]] = weft.maximum %[[S]], %[[ZZ]]
// CHECK-NEXT: %[[O:.*]] = weft.add %[[M]], %[[R]]
// CHECK-NEXT: weft.yield %[[O]]
// CHECK: return %[[Y]]
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %r: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %zeros = weft.broadcast_in_dim %zero dims = [] : (tensor<f32>) -> tensor<4x16xf32>
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %bias = weft.broadcast_in_dim %b dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
  %s = weft.add %d, %bias : tensor<4x16xf32>
  %m = weft.maximum %s, %zeros : tensor<4x16xf32>
  %o = weft.add %m, %r : tensor<4x16xf32>
  return %o : tensor<4x16xf32>
}

// -----

// x * sigmoid(x): a value that two ops of the epilogue read.
// CHECK-LABEL: @swish
// CHECK-NEXT: weft.library_call
// CHECK: weft.dot_general
// CHECK-NEXT: weft.logistic
// CHECK-NEXT: weft.multiply
// CHECK-NEXT: weft.yield
func.func @swish(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %s = weft.logistic %d : tensor<4x16xf32>
  %y = weft.multiply %d, %s : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// The sum is needed outside too: the epilogue ends there.
// CHECK-LABEL: @needed_outside
// CHECK: %[[S:.*]] = weft.library_call
// CHECK: weft.negate
// CHECK-NEXT: weft.yield
// CHECK: %[[E:.*]] = weft.exponential %[[S]]
// CHECK-NEXT: return %[[S]], %[[E]]
func.func @needed_outside(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %n = weft.negate %d : tensor<4x16xf32>
  %e = weft.exponential %n : tensor<4x16xf32>
  return %n, %e : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// The other operand of the subtraction depends on the hero through a reduction: putting it into the call would be a cycle.
// CHECK-LABEL: @cycle
// CHECK: %[[D:.*]] = weft.library_call
// CHECK-NOT: weft.subtract
// CHECK: weft.yield
// CHECK: weft.reduce max, %[[D]]
// CHECK: weft.subtract %[[D]]
func.func @cycle(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %m = weft.reduce max, %d dims = [1] : (tensor<4x16xf32>) -> tensor<4xf32>
  %b = weft.broadcast_in_dim %m dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
  %s = weft.subtract %d, %b : tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// -----

// The same through a region of control flow.
// CHECK-LABEL: @cycle_through_region
// CHECK: %[[D:.*]] = weft.library_call
// CHECK-NEXT: ^bb0
// CHECK-NEXT: weft.dot_general
// CHECK-NEXT: weft.yield
// CHECK: weft.if
// CHECK: weft.add %[[D]]
func.func @cycle_through_region(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %p: tensor<i1>) -> tensor<4x16xf32> {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %i = weft.if %p : (tensor<i1>) -> tensor<4x16xf32> {
    weft.yield %d : tensor<4x16xf32>
  } else {
    %n = weft.negate %d : tensor<4x16xf32>
    weft.yield %n : tensor<4x16xf32>
  }
  %s = weft.add %d, %i : tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// -----

// A vector along the rows is not what a library adds: the epilogue ends before it.
// CHECK-LABEL: @along_rows
// CHECK: weft.dot_general
// CHECK-NEXT: weft.negate
// CHECK-NEXT: weft.yield
// CHECK: weft.broadcast_in_dim
// CHECK: weft.add
func.func @along_rows(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<4xf32>) -> tensor<4x16xf32> {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %n = weft.negate %d : tensor<4x16xf32>
  %bias = weft.broadcast_in_dim %b dims = [0] : (tensor<4xf32>) -> tensor<4x16xf32>
  %s = weft.add %n, %bias : tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// -----

// Two products and their sum: the first takes the sum, and runs after the second.
// CHECK-LABEL: @two_heroes
// CHECK: %[[B:.*]] = weft.library_call "matmul"(%arg0, %arg2)
// CHECK: weft.library_call "matmul"(%arg0, %arg1, %[[B]])
// CHECK: weft.add
func.func @two_heroes(%x: tensor<4x8xf32>, %v: tensor<8x16xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %a = weft.dot_general %x, %v contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %b = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %s = weft.add %a, %b : tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// -----

// A convolution with a symbolic batch, a bias along its features and a cast; a constant kernel is an operand all the same.
// CHECK-LABEL: @convolution
// CHECK: %[[K:.*]] = weft.constant
// CHECK: weft.library_call "convolution"(%arg0, %[[K]], %arg1)
// CHECK: weft.convolution
// CHECK: weft.add
// CHECK: weft.convert
// CHECK: weft.yield
weft.dim "n" in [1, 64]
func.func @convolution(%x: tensor<?x5x5x2xf32, #weft.encoding<[n, 5, 5, 2]>>, %b: tensor<3xf32>)
    -> tensor<?x5x5x3xf16, #weft.encoding<[n, 5, 5, 3]>> {
  %k = weft.constant dense<0.5> : tensor<1x1x2x3xf32>
  %c = weft.convolution %x, %k dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
      {window_strides = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>,
       rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64}
      : (tensor<?x5x5x2xf32, #weft.encoding<[n, 5, 5, 2]>>, tensor<1x1x2x3xf32>) -> tensor<?x5x5x3xf32, #weft.encoding<[n, 5, 5, 3]>>
  %bias = weft.broadcast_in_dim %b dims = [3] : (tensor<3xf32>) -> tensor<?x5x5x3xf32, #weft.encoding<[n, 5, 5, 3]>>
  %s = weft.add %c, %bias : tensor<?x5x5x3xf32, #weft.encoding<[n, 5, 5, 3]>>
  %h = weft.convert %s : (tensor<?x5x5x3xf32, #weft.encoding<[n, 5, 5, 3]>>) -> tensor<?x5x5x3xf16, #weft.encoding<[n, 5, 5, 3]>>
  return %h : tensor<?x5x5x3xf16, #weft.encoding<[n, 5, 5, 3]>>
}

// -----

// Batched, and inside control flow; the same tensor on both sides is one operand.
// CHECK-LABEL: @batched
// CHECK: weft.if
// CHECK: weft.library_call "matmul"(%arg0)
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x4x8xf32>)
// CHECK-NEXT: weft.dot_general %[[A]], %[[A]] batch
func.func @batched(%x: tensor<2x4x8xf32>, %p: tensor<i1>, %o: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %i = weft.if %p : (tensor<i1>) -> tensor<2x4x4xf32> {
    %d = weft.dot_general %x, %x batch = [0] x [0] contract = [2] x [2] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x4xf32>
    weft.yield %d : tensor<2x4x4xf32>
  } else {
    weft.yield %o : tensor<2x4x4xf32>
  }
  return %i : tensor<2x4x4xf32>
}
