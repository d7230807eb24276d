// RUN: weft-onnx %s --export=%t.onnx
// RUN: weft-onnx %t.onnx | FileCheck %s

// A module without parameters, written as ONNX and read again: the symbolic size survives, the loop and the branch too.
// CHECK: weft.dim "n"
// CHECK: func.func @main(%[[X:.*]]: tensor<?x4xf32, #weft.encoding<[n, 4]>> {weft.input = "x"}, %[[FLAG:.*]]: tensor<i1> {weft.input = "flag"})
// CHECK-SAME: -> (tensor<?x4xf32, #weft.encoding<[n, 4]>> {weft.output = "y"}, tensor<2x4x4xf32> {weft.output = "windows"}, tensor<i64> {weft.output = "count"})
// CHECK: weft.if %[[FLAG]]
// CHECK: weft.while
weft.dim "n" in [1, 64]
func.func @main(%x: tensor<?x4xf32, #weft.encoding<[n, 4]>> {weft.input = "x"}, %flag: tensor<i1> {weft.input = "flag"})
    -> (tensor<?x4xf32, #weft.encoding<[n, 4]>> {weft.output = "y"}, tensor<2x4x4xf32> {weft.output = "windows"},
        tensor<i64> {weft.output = "count"}) {
  %y = weft.if %flag : (tensor<i1>) -> tensor<?x4xf32, #weft.encoding<[n, 4]>> {
    %t = weft.tanh %x : tensor<?x4xf32, #weft.encoding<[n, 4]>>
    weft.yield %t : tensor<?x4xf32, #weft.encoding<[n, 4]>>
  } else {
    %s = weft.logistic %x : tensor<?x4xf32, #weft.encoding<[n, 4]>>
    weft.yield %s : tensor<?x4xf32, #weft.encoding<[n, 4]>>
  }
  %iota = weft.iota dim = 1 : tensor<2x8x8xf32>
  %windows = weft.reduce_window max, %iota {window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>,
      base_dilations = array<i64: 1, 1, 1>, window_dilations = array<i64: 1, 1, 1>, padding_low = array<i64: 0, 0, 0>,
      padding_high = array<i64: 0, 0, 0>} : (tensor<2x8x8xf32>) -> tensor<2x4x4xf32>
  %zero = weft.constant dense<0> : tensor<i64>
  %count = weft.while (%zero) : (tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>):
    %limit = weft.constant dense<9> : tensor<i64>
    %less = weft.compare LT, %i, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    weft.yield %less : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>):
    %two = weft.constant dense<2> : tensor<i64>
    %next = weft.add %i, %two : tensor<i64>
    weft.yield %next : tensor<i64>
  }
  return %y, %windows, %count : tensor<?x4xf32, #weft.encoding<[n, 4]>>, tensor<2x4x4xf32>, tensor<i64>
}
