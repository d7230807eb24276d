// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @lossless
// CHECK-DAG: %[[WIDE:.*]] = weft.convert %arg0 : (tensor<3xf16>) -> tensor<3xf64>
// CHECK-DAG: %[[FLOAT:.*]] = weft.convert %arg1 : (tensor<3xui8>) -> tensor<3xf32>
// CHECK: return %[[WIDE]], %arg0, %[[FLOAT]], %arg2 :
func.func @lossless(%h: tensor<3xf16>, %u: tensor<3xui8>, %b: tensor<3xbf16>)
    -> (tensor<3xf64>, tensor<3xf16>, tensor<3xf32>, tensor<3xbf16>) {
  %h32 = weft.convert %h : (tensor<3xf16>) -> tensor<3xf32>
  %0 = weft.convert %h32 : (tensor<3xf32>) -> tensor<3xf64>
  %1 = weft.convert %h32 : (tensor<3xf32>) -> tensor<3xf16>
  %u16 = weft.convert %u : (tensor<3xui8>) -> tensor<3xi16>
  %2 = weft.convert %u16 : (tensor<3xi16>) -> tensor<3xf32>
  %b64 = weft.convert %b : (tensor<3xbf16>) -> tensor<3xf64>
  %3 = weft.convert %b64 : (tensor<3xf64>) -> tensor<3xbf16>
  return %0, %1, %2, %3 : tensor<3xf64>, tensor<3xf16>, tensor<3xf32>, tensor<3xbf16>
}

// Each of these loses something in the middle.
// CHECK-LABEL: func @lossy
// CHECK-COUNT-8: weft.convert
func.func @lossy(%x: tensor<3xf32>, %n: tensor<3xi32>)
    -> (tensor<3xf32>, tensor<3xi64>, tensor<3xi32>, tensor<3xf32>) {
  %0 = weft.convert %x : (tensor<3xf32>) -> tensor<3xbf16>
  %1 = weft.convert %0 : (tensor<3xbf16>) -> tensor<3xf32>
  %2 = weft.convert %n : (tensor<3xi32>) -> tensor<3xui32>
  %3 = weft.convert %2 : (tensor<3xui32>) -> tensor<3xi64>
  %4 = weft.convert %n : (tensor<3xi32>) -> tensor<3xf32>
  %5 = weft.convert %4 : (tensor<3xf32>) -> tensor<3xi32>
  %6 = weft.convert %x : (tensor<3xf32>) -> tensor<3xi1>
  %7 = weft.convert %6 : (tensor<3xi1>) -> tensor<3xf32>
  return %1, %3, %5, %7 : tensor<3xf32>, tensor<3xi64>, tensor<3xi32>, tensor<3xf32>
}

// CHECK-LABEL: func @cuts_bits
// CHECK-NEXT: %[[LOW:.*]] = weft.convert %arg0 : (tensor<3xi64>) -> tensor<3xi8>
// CHECK-NEXT: return %[[LOW]]
func.func @cuts_bits(%n: tensor<3xi64>) -> tensor<3xi8> {
  %0 = weft.convert %n : (tensor<3xi64>) -> tensor<3xui16>
  %1 = weft.convert %0 : (tensor<3xui16>) -> tensor<3xi8>
  return %1 : tensor<3xi8>
}

// CHECK-LABEL: func @bits
// CHECK-NEXT: return %arg0
func.func @bits(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xi32>
  %1 = weft.bitcast_convert %0 : (tensor<3xi32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
