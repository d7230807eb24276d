// RUN: weft-opt --minimize-transposes --canonicalize --mlir-print-local-scope %s | FileCheck %s

// Between convolutions a shuffle of channel groups works on the channels-last image.
// CHECK-LABEL: func @main
// CHECK: %[[C:.*]] = weft.tanh %arg0
// CHECK-NEXT: %[[SPLIT:.*]] = weft.reshape %[[C]] : (tensor<2x4x5x6xf32>) -> tensor<2x4x5x2x3xf32>
// CHECK-NEXT: %[[SWAP:.*]] = weft.transpose %[[SPLIT]] perm = [0, 1, 2, 4, 3]
// CHECK-NEXT: %[[MERGE:.*]] = weft.reshape %[[SWAP]] : (tensor<2x4x5x3x2xf32>) -> tensor<2x4x5x6xf32>
// CHECK-NEXT: return %[[MERGE]]
func.func @main(%x: tensor<2x4x5x6xf32> {weft.input = "x"}) -> tensor<2x4x5x6xf32> {
  %0 = weft.transpose %x perm = [0, 3, 1, 2] : (tensor<2x4x5x6xf32>) -> tensor<2x6x4x5xf32>
  %1 = weft.tanh %0 : tensor<2x6x4x5xf32>
  %2 = weft.reshape %1 : (tensor<2x6x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %3 = weft.transpose %2 perm = [0, 2, 1, 3, 4] : (tensor<2x2x3x4x5xf32>) -> tensor<2x3x2x4x5xf32>
  %4 = weft.reshape %3 : (tensor<2x3x2x4x5xf32>) -> tensor<2x6x4x5xf32>
  %5 = weft.transpose %4 perm = [0, 2, 3, 1] : (tensor<2x6x4x5xf32>) -> tensor<2x4x5x6xf32>
  return %5 : tensor<2x4x5x6xf32>
}

// An image that is channels first anyway keeps its shuffle.
// CHECK-LABEL: func @channels_first
// CHECK: weft.transpose %{{.*}} perm = [0, 2, 1, 3, 4]
func.func @channels_first(%x: tensor<2x6x4x5xf32> {weft.input = "x"}) -> tensor<2x6x4x5xf32> {
  %0 = weft.reshape %x : (tensor<2x6x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %1 = weft.transpose %0 perm = [0, 2, 1, 3, 4] : (tensor<2x2x3x4x5xf32>) -> tensor<2x3x2x4x5xf32>
  %2 = weft.reshape %1 : (tensor<2x3x2x4x5xf32>) -> tensor<2x6x4x5xf32>
  return %2 : tensor<2x6x4x5xf32>
}
