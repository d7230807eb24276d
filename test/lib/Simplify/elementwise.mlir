// RUN: weft-opt --simplify-graph %s | FileCheck %s

// CHECK-LABEL: func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg1 :
func.func @identities(%x: tensor<2x3xf32>, %n: tensor<4xi32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xi32>) {
  %one = weft.constant dense<1.0> : tensor<f32>
  %ones = weft.broadcast_in_dim %one dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %negative_zero = weft.constant dense<-0.0> : tensor<2x3xf32>
  %zero = weft.constant dense<0.0> : tensor<2x3xf32>
  %zeros = weft.constant dense<0> : tensor<4xi32>
  %0 = weft.multiply %ones, %x : tensor<2x3xf32>
  %1 = weft.add %x, %negative_zero : tensor<2x3xf32>
  %2 = weft.subtract %x, %zero : tensor<2x3xf32>
  %3 = weft.add %n, %zeros : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xi32>
}

// x + 0.0 is 0.0 where x is -0.0, and x * 0.0 is NaN where x is infinite.
// CHECK-LABEL: func @not_identities
// CHECK: weft.add
// CHECK: weft.subtract
// CHECK: weft.multiply
// CHECK: weft.subtract %arg0, %arg0
func.func @not_identities(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = weft.constant dense<0.0> : tensor<3xf32>
  %negative_zero = weft.constant dense<-0.0> : tensor<3xf32>
  %0 = weft.add %x, %zero : tensor<3xf32>
  %1 = weft.subtract %x, %negative_zero : tensor<3xf32>
  %2 = weft.multiply %x, %zero : tensor<3xf32>
  %3 = weft.subtract %x, %x : tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @signs
// CHECK-DAG: %[[SUBTRACT:.*]] = weft.subtract %arg0, %arg1
// CHECK-DAG: %[[ADD:.*]] = weft.add %arg0, %arg1
// CHECK-DAG: %[[MULTIPLY:.*]] = weft.multiply %arg0, %arg1
// CHECK-DAG: %[[ABS:.*]] = weft.abs %arg0
// CHECK-DAG: %[[NEGATE:.*]] = weft.negate %arg0
// CHECK: return %arg0, %[[SUBTRACT]], %[[ADD]], %[[MULTIPLY]], %[[ABS]], %[[NEGATE]]
func.func @signs(%x: tensor<3xf32>, %y: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %nx = weft.negate %x : tensor<3xf32>
  %ny = weft.negate %y : tensor<3xf32>
  %minus_one = weft.constant dense<-1.0> : tensor<3xf32>
  %0 = weft.negate %nx : tensor<3xf32>
  %1 = weft.add %x, %ny : tensor<3xf32>
  %2 = weft.subtract %x, %ny : tensor<3xf32>
  %3 = weft.multiply %nx, %ny : tensor<3xf32>
  %4 = weft.abs %nx : tensor<3xf32>
  %5 = weft.multiply %x, %minus_one : tensor<3xf32>
  return %0, %1, %2, %3, %4, %5
    : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -(a - b) is not b - a: where a equals b the one is -0.0, the other 0.0.
// CHECK-LABEL: func @negated_difference
// CHECK: weft.subtract %arg0, %arg1
// CHECK: weft.negate
func.func @negated_difference(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.subtract %x, %y : tensor<3xf32>
  %1 = weft.negate %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: func @divide
// CHECK-DAG: %[[QUARTER:.*]] = weft.constant dense<2.500000e-01>
// CHECK-DAG: %[[THREE:.*]] = weft.constant dense<3.000000e+00>
// CHECK-DAG: weft.multiply %arg0, %[[QUARTER]]
// CHECK-DAG: weft.divide %arg0, %[[THREE]]
func.func @divide(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %four = weft.constant dense<4.0> : tensor<3xf32>
  %three = weft.constant dense<3.0> : tensor<3xf32>
  %0 = weft.divide %x, %four : tensor<3xf32>
  %1 = weft.divide %x, %three : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func @square
// CHECK: weft.multiply %arg0, %arg0
// CHECK: weft.power %arg1
func.func @square(%x: tensor<3xf32>, %y: tensor<3xf64>) -> (tensor<3xf32>, tensor<3xf64>) {
  %two = weft.constant dense<2.0> : tensor<3xf32>
  %wide_two = weft.constant dense<2.0> : tensor<3xf64>
  %0 = weft.power %x, %two : tensor<3xf32>
  %1 = weft.power %y, %wide_two : tensor<3xf64>
  return %0, %1 : tensor<3xf32>, tensor<3xf64>
}

// CHECK-LABEL: func @select
// CHECK: %[[SELECT:.*]] = weft.select %arg0, %arg2, %arg1
// CHECK: return %[[SELECT]], %arg1, %arg0 :
func.func @select(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>) {
  %true = weft.constant dense<true> : tensor<i1>
  %trues = weft.broadcast_in_dim %true dims = [] : (tensor<i1>) -> tensor<3xi1>
  %falses = weft.constant dense<false> : tensor<3xi1>
  %not = weft.not %p : tensor<3xi1>
  %0 = weft.select %not, %x, %y : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = weft.select %trues, %x, %y : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = weft.select %p, %trues, %falses : (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>
}

// CHECK-LABEL: func @limits
// CHECK: %[[RELU:.*]] = weft.maximum
// CHECK-NEXT: return %arg0, %[[RELU]], %arg1
func.func @limits(%x: tensor<3xf32>, %n: tensor<3xui8>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xui8>) {
  %lowest = weft.constant dense<0xFF800000> : tensor<3xf32>
  %zero = weft.constant dense<0.0> : tensor<3xf32>
  %least = weft.constant dense<0> : tensor<3xui8>
  %0 = weft.maximum %x, %lowest : tensor<3xf32>
  %1 = weft.maximum %x, %zero : tensor<3xf32>
  %2 = weft.maximum %1, %zero : tensor<3xf32>
  %3 = weft.maximum %n, %least : tensor<3xui8>
  return %0, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xui8>
}

// The region of a composite is simplified, the composite stays.
// CHECK-LABEL: func @composite
// CHECK: weft.composite "gelu"
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<3xf32>):
// CHECK-NEXT: weft.yield %[[X]]
func.func @composite(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.composite "gelu" {} (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %1 = weft.negate %a : tensor<3xf32>
    %2 = weft.negate %1 : tensor<3xf32>
    weft.yield %2 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
