// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func @ordering
func.func @ordering(%x: tensor<2x9xf32>, %n: tensor<2x9xi32>) {
  // CHECK: weft.sort %{{.*}}, %{{.*}} dim = 1 descending = true : (tensor<2x9xf32>, tensor<2x9xi32>) -> (tensor<2x9xf32>, tensor<2x9xi32>)
  %0:2 = weft.sort %x, %n dim = 1 descending = true : (tensor<2x9xf32>, tensor<2x9xi32>) -> (tensor<2x9xf32>, tensor<2x9xi32>)
  // CHECK: weft.top_k %{{.*}} k = 3 dim = 1 largest = true index = i64 : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %1:2 = weft.top_k %x k = 3 dim = 1 largest = true index = i64 : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return
}
