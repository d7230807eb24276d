// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @unit_dimensions
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %arg0 : (tensor<4x1x5xf32>) -> tensor<1x4x5xf32>
// CHECK-NEXT: return %[[RESHAPE]]
func.func @unit_dimensions(%x: tensor<4x1x5xf32>) -> tensor<1x4x5xf32> {
  %0 = weft.transpose %x perm = [1, 0, 2] : (tensor<4x1x5xf32>) -> tensor<1x4x5xf32>
  return %0 : tensor<1x4x5xf32>
}

// CHECK-LABEL: func @moves_elements
// CHECK: weft.transpose %arg0 perm = [2, 1, 0]
func.func @moves_elements(%x: tensor<4x1x5xf32>) -> tensor<5x1x4xf32> {
  %0 = weft.transpose %x perm = [2, 1, 0] : (tensor<4x1x5xf32>) -> tensor<5x1x4xf32>
  return %0 : tensor<5x1x4xf32>
}

// CHECK-LABEL: func @inverse_with_reshape_between
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %arg0 : (tensor<?x12x64xf32, {{.*}}>) -> tensor<?x3x4x64xf32
// CHECK-NEXT: return %[[RESHAPE]]
weft.dim "n" in [1, 64]
func.func @inverse_with_reshape_between(%x: tensor<?x12x64xf32, #weft.encoding<[n, 12, 64]>>) -> tensor<?x3x4x64xf32, #weft.encoding<[n, 3, 4, 64]>> {
  %0 = weft.transpose %x perm = [1, 2, 0] : (tensor<?x12x64xf32, #weft.encoding<[n, 12, 64]>>) -> tensor<12x64x?xf32, #weft.encoding<[12, 64, n]>>
  %1 = weft.reshape %0 : (tensor<12x64x?xf32, #weft.encoding<[12, 64, n]>>) -> tensor<3x4x64x?xf32, #weft.encoding<[3, 4, 64, n]>>
  %2 = weft.transpose %1 perm = [3, 0, 1, 2] : (tensor<3x4x64x?xf32, #weft.encoding<[3, 4, 64, n]>>) -> tensor<?x3x4x64xf32, #weft.encoding<[n, 3, 4, 64]>>
  return %2 : tensor<?x3x4x64xf32, #weft.encoding<[n, 3, 4, 64]>>
}

// Two transposes with a reshape between them are one, on the factors that stay together.
// CHECK-LABEL: func @two_are_one
// CHECK: weft.transpose
// CHECK-NOT: weft.transpose
// CHECK: return
func.func @two_are_one(%x: tensor<2x8x3x5xf32>) -> tensor<8x6x5xf32> {
  %0 = weft.transpose %x perm = [0, 2, 1, 3] : (tensor<2x8x3x5xf32>) -> tensor<2x3x8x5xf32>
  %1 = weft.reshape %0 : (tensor<2x3x8x5xf32>) -> tensor<6x8x5xf32>
  %2 = weft.transpose %1 perm = [1, 0, 2] : (tensor<6x8x5xf32>) -> tensor<8x6x5xf32>
  return %2 : tensor<8x6x5xf32>
}

// A reshape that cuts across what a transpose brought together stays as it is.
// CHECK-LABEL: func @across_factors
// CHECK: weft.transpose
// CHECK: weft.reshape
// CHECK: weft.transpose
func.func @across_factors(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %0 = weft.transpose %x perm = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = weft.reshape %0 : (tensor<6x4xf32>) -> tensor<8x3xf32>
  %2 = weft.transpose %1 perm = [1, 0] : (tensor<8x3xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// CHECK-LABEL: func @reverse
// CHECK-NEXT: %[[REVERSE:.*]] = weft.reverse %arg0 dims = [0]
// CHECK-NEXT: return %[[REVERSE]]
func.func @reverse(%x: tensor<4x6x1xf32>) -> tensor<4x6x1xf32> {
  %0 = weft.reverse %x dims = [0, 1] : (tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
  %1 = weft.reverse %0 dims = [1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
  return %1 : tensor<4x6x1xf32>
}
