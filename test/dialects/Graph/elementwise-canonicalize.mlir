// RUN: weft-opt %s --canonicalize | FileCheck %s

// Identities that are exact in every case of the type.
// CHECK-LABEL: func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg1, %arg1
func.func @identities(%n: tensor<4xi32>, %x: tensor<3xf32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<3xf32>, tensor<3xf32>) {
  %zeros = weft.constant dense<0> : tensor<4xi32>
  %ones = weft.constant dense<1> : tensor<4xi32>
  %one = weft.constant dense<1.0> : tensor<3xf32>
  %negative_zero = weft.constant dense<-0.0> : tensor<3xf32>
  %0 = weft.add %n, %zeros : tensor<4xi32>
  %1 = weft.multiply %n, %ones : tensor<4xi32>
  %2 = weft.multiply %x, %one : tensor<3xf32>
  %3 = weft.add %x, %negative_zero : tensor<3xf32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<3xf32>, tensor<3xf32>
}

// -0.0 + 0.0 is 0.0, infinity * 0.0 is NaN, NaN - NaN is NaN.
// CHECK-LABEL: func @not_identities
// CHECK: weft.add
// CHECK: weft.multiply
// CHECK: weft.subtract
func.func @not_identities(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = weft.constant dense<0.0> : tensor<3xf32>
  %0 = weft.add %x, %zero : tensor<3xf32>
  %1 = weft.multiply %x, %zero : tensor<3xf32>
  %2 = weft.subtract %x, %x : tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @select_of_equals
// CHECK-NEXT: return %arg1
func.func @select_of_equals(%p: tensor<3xi1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.select %p, %x, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @convert_to_itself
// CHECK-NEXT: return %arg0
func.func @convert_to_itself(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.convert %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[P:.+]]: tensor<2xi1>, %[[X:.+]]: tensor<2xf32>, %[[Y:.+]]: tensor<2xf32>)
func.func @select(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %yes = weft.constant dense<true> : tensor<2xi1>
  %no = weft.constant dense<false> : tensor<2xi1>
  %a = weft.select %p, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = weft.select %yes, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = weft.select %no, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: return %[[X]], %[[X]], %[[Y]]
  return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
