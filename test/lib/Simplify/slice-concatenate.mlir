// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @slice_of_slice
// CHECK-NEXT: weft.slice %arg0 [4:17:6, 0:3] : (tensor<20x5xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: return
func.func @slice_of_slice(%x: tensor<20x5xf32>) -> tensor<3x3xf32> {
  %0 = weft.slice %x[1:20:3, 0:5] : (tensor<20x5xf32>) -> tensor<7x5xf32>
  %1 = weft.slice %0[1:6:2, 0:3] : (tensor<7x5xf32>) -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// CHECK-LABEL: func @slice_of_symbolic_slice
// CHECK-NEXT: weft.slice %arg0 [1:-1, 2:4]
// CHECK-NEXT: return
weft.dim "n" in [4, 64]
func.func @slice_of_symbolic_slice(%x: tensor<?x5xf32, #weft.encoding<[n, 5]>>) -> tensor<?x2xf32, #weft.encoding<[n - 2, 2]>> {
  %0 = weft.slice %x[1:-1, 0:5] : (tensor<?x5xf32, #weft.encoding<[n, 5]>>) -> tensor<?x5xf32, #weft.encoding<[n - 2, 5]>>
  %1 = weft.slice %0[0:end, 2:4] : (tensor<?x5xf32, #weft.encoding<[n - 2, 5]>>) -> tensor<?x2xf32, #weft.encoding<[n - 2, 2]>>
  return %1 : tensor<?x2xf32, #weft.encoding<[n - 2, 2]>>
}

// CHECK-LABEL: func @slice_of_concatenate
// CHECK-NEXT: %[[LAST:.*]] = weft.slice %arg1 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[TWO:.*]] = weft.concatenate %arg0, %arg1 dim = 0
// CHECK-NEXT: %[[ACROSS:.*]] = weft.slice %[[TWO]] [2:5]
// CHECK-NEXT: return %arg1, %[[LAST]], %[[ACROSS]]
func.func @slice_of_concatenate(%a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<5xf32>) -> (tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = weft.concatenate %a, %b, %c dim = 0 : (tensor<3xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<12xf32>
  %1 = weft.slice %0[3:7] : (tensor<12xf32>) -> tensor<4xf32>
  %2 = weft.slice %0[4:7] : (tensor<12xf32>) -> tensor<3xf32>
  %3 = weft.slice %0[2:5] : (tensor<12xf32>) -> tensor<3xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @slice_of_pad
// CHECK-NEXT: %[[SLICE:.*]] = weft.slice %arg0 [1:3]
// CHECK-NEXT: return %[[SLICE]]
func.func @slice_of_pad(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<2xf32> {
  %0 = weft.pad %x, %p low = [2] high = [2] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = weft.slice %0[3:5] : (tensor<8xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func @slice_of_padding
// CHECK: weft.pad
// CHECK: weft.slice
func.func @slice_of_padding(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<2xf32> {
  %0 = weft.pad %x, %p low = [2] high = [2] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = weft.slice %0[1:3] : (tensor<8xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func @flatten
// CHECK-NEXT: %[[FLAT:.*]] = weft.concatenate %arg0, %arg1, %arg0 dim = 0
// CHECK-NEXT: return %[[FLAT]]
func.func @flatten(%a: tensor<3xf32>, %b: tensor<4xf32>, %empty: tensor<0xf32>) -> tensor<10xf32> {
  %0 = weft.concatenate %a, %b dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %1 = weft.concatenate %0, %empty, %a dim = 0 : (tensor<7xf32>, tensor<0xf32>, tensor<3xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}

// CHECK-LABEL: func @split_and_join
// CHECK-NEXT: return %arg0
func.func @split_and_join(%x: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %0 = weft.slice %x[0:2, 0:2] : (tensor<6x2xf32>) -> tensor<2x2xf32>
  %1 = weft.slice %x[2:5, 0:2] : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %2 = weft.slice %x[5:6, 0:2] : (tensor<6x2xf32>) -> tensor<1x2xf32>
  %3 = weft.concatenate %0, %1, %2 dim = 0 : (tensor<2x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<6x2xf32>
  return %3 : tensor<6x2xf32>
}

// The start is clamped, so that the box lies inside.
// CHECK-LABEL: func @dynamic_slice_at_constant
// CHECK-NEXT: weft.slice %arg0 [0:2, 3:7]
func.func @dynamic_slice_at_constant(%x: tensor<5x7xf32>) -> tensor<2x4xf32> {
  %before = weft.constant dense<-3> : tensor<i64>
  %after = weft.constant dense<9> : tensor<i64>
  %0 = weft.dynamic_slice %x at (%before, %after) : (tensor<5x7xf32>, tensor<i64>, tensor<i64>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
