// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @constant
func.func @constant() -> (tensor<2x2xf32>, tensor<ui8>, tensor<3xi1>) {
  // CHECK: weft.constant dense<{{.*}}> : tensor<2x2xf32>
  %0 = weft.constant dense<[[1.0, -0.0], [0x7FC00000, 0x7F800000]]> : tensor<2x2xf32>
  // CHECK: weft.constant dense<255> : tensor<ui8>
  %1 = weft.constant dense<255> : tensor<ui8>
  // CHECK: weft.constant dense<[true, false, true]> : tensor<3xi1>
  %2 = weft.constant dense<[true, false, true]> : tensor<3xi1>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<ui8>, tensor<3xi1>
}

// CHECK-LABEL: func @iota
func.func @iota() -> (tensor<4x5xi64>, tensor<7xbf16>) {
  // CHECK: weft.iota dim = 1 : tensor<4x5xi64>
  %0 = weft.iota dim = 1 : tensor<4x5xi64>
  // CHECK: weft.iota dim = 0 : tensor<7xbf16>
  %1 = weft.iota dim = 0 : tensor<7xbf16>
  return %0, %1 : tensor<4x5xi64>, tensor<7xbf16>
}
