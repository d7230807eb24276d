// RUN: weft-opt --convert-dot-layout --split-input-file %s | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[W:.*]] = weft.transpose %arg1 perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: weft.dot_general %arg0, %[[W]] contract = [1] x [0]
func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.param = "w"}) -> tensor<2x3xf32> {
  %0 = weft.dot_general %x, %w contract = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A left operand that is frozen becomes batching, free, contracting; trainable weights stay.
// CHECK-LABEL: func @main
// CHECK: %[[W:.*]] = weft.transpose %arg1 perm = [1, 2, 0] : (tensor<4x5x3xf32>) -> tensor<5x3x4xf32>
// CHECK: weft.dot_general %[[W]], %arg0 batch = [0] x [0] contract = [2] x [1]
// CHECK: weft.dot_general %arg2, %arg3 contract = [1] x [1]
func.func @main(%x: tensor<5x4x2xf32> {weft.input = "x"}, %w: tensor<4x5x3xf32> {weft.param = "w"}, %y: tensor<2x4xf32> {weft.input = "y"},
                %t: tensor<3x4xf32> {weft.param = "t", weft.trainable}) -> (tensor<5x3x2xf32>, tensor<2x3xf32>) {
  %0 = weft.dot_general %w, %x batch = [1] x [0] contract = [0] x [1] : (tensor<4x5x3xf32>, tensor<5x4x2xf32>) -> tensor<5x3x2xf32>
  %1 = weft.dot_general %y, %t contract = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<5x3x2xf32>, tensor<2x3xf32>
}

// -----

// A transpose of keys is absorbed. One that puts heads before time stays, since no library reads batches inside rows, and
// so does one that changes the order of free dimensions.
// CHECK-LABEL: func @main
// CHECK: %[[HEADS:.*]] = weft.transpose %arg0 perm = [0, 2, 1, 3]
// CHECK: weft.dot_general %[[HEADS]], %arg1 batch = [0, 1] x [0, 1] contract = [3] x [3]
// CHECK: %[[SWAPPED:.*]] = weft.transpose %arg2
// CHECK: weft.dot_general %[[SWAPPED]], %arg3
func.func @main(%q: tensor<2x8x4x16xf32> {weft.input = "q"}, %k: tensor<2x4x9x16xf32> {weft.input = "k"},
                %a: tensor<3x2x5xf32> {weft.input = "a"}, %b: tensor<5x7xf32> {weft.input = "b"}) -> (tensor<2x4x8x9xf32>, tensor<2x3x7xf32>) {
  %0 = weft.transpose %q perm = [0, 2, 1, 3] : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = weft.transpose %k perm = [0, 1, 3, 2] : (tensor<2x4x9x16xf32>) -> tensor<2x4x16x9xf32>
  %2 = weft.dot_general %0, %1 batch = [0, 1] x [0, 1] contract = [3] x [2] : (tensor<2x4x8x16xf32>, tensor<2x4x16x9xf32>) -> tensor<2x4x8x9xf32>
  %3 = weft.transpose %a perm = [1, 0, 2] : (tensor<3x2x5xf32>) -> tensor<2x3x5xf32>
  %4 = weft.dot_general %3, %b contract = [2] x [0] : (tensor<2x3x5xf32>, tensor<5x7xf32>) -> tensor<2x3x7xf32>
  return %2, %4 : tensor<2x4x8x9xf32>, tensor<2x3x7xf32>
}

// -----

// A transpose of the result swaps the sides; an operand that no library can read is transposed.
// CHECK-LABEL: func @main
// CHECK: weft.dot_general %arg0, %{{.*}} contract = [2] x [0] : (tensor<2x8x4xf32>, tensor<4x3xf32>) -> tensor<2x8x3xf32>
// CHECK: %[[ROWS:.*]] = weft.transpose %arg2 perm = [1, 0, 2] : (tensor<5x2x4xf32>) -> tensor<2x5x4xf32>
// CHECK: weft.dot_general %[[ROWS]], %arg3 batch = [0] x [0] contract = [2] x [1]
func.func @main(%x: tensor<2x8x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.param = "w"}, %a: tensor<5x2x4xf32> {weft.input = "a"},
                %b: tensor<2x4x6xf32> {weft.input = "b"}) -> (tensor<2x8x3xf32>, tensor<2x5x6xf32>) {
  %0 = weft.dot_general %w, %x contract = [1] x [2] : (tensor<3x4xf32>, tensor<2x8x4xf32>) -> tensor<3x2x8xf32>
  %1 = weft.transpose %0 perm = [1, 2, 0] : (tensor<3x2x8xf32>) -> tensor<2x8x3xf32>
  %2 = weft.dot_general %a, %b batch = [1] x [0] contract = [2] x [1] : (tensor<5x2x4xf32>, tensor<2x4x6xf32>) -> tensor<2x5x6xf32>
  return %1, %2 : tensor<2x8x3xf32>, tensor<2x5x6xf32>
}

// -----

// A large weight that a library reads as it is stays so: a transposed copy would be in memory while compiling.
// CHECK-LABEL: func @main
// CHECK-NOT: weft.transpose
// CHECK: weft.dot_general %arg0, %arg1 contract = [1] x [1]
func.func @main(%x: tensor<2x4096xf32> {weft.input = "x"}, %w: tensor<4096x4096xf32> {weft.param = "w"}) -> tensor<2x4096xf32> {
  %0 = weft.dot_general %x, %w contract = [1] x [1] : (tensor<2x4096xf32>, tensor<4096x4096xf32>) -> tensor<2x4096xf32>
  return %0 : tensor<2x4096xf32>
}
