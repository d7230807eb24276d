// RUN: weft-opt %s -print-kernels -o %t 2>&1 | FileCheck %s

// A reshape and a constant are no kernels; an op outside of a fusion is one, and a symbolic size counts at its bound: 2 * 8 * 4 for the
// addition, 2 * 8 * 8 * 4 for the fusion, both of which read their operand once, and (8 * 8 + 8 + 8) * 4 for the library call.
// CHECK: kernels: 3, bytes: 896
weft.dim "n" in [1, 8]
func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>>, %y: tensor<8x8xf32>, %v: tensor<8xf32>)
    -> (tensor<?x1xf32, #weft.encoding<[n, 1]>>, tensor<8x8xf32>, tensor<8xf32>) {
  %s = weft.add %x, %x : tensor<?xf32, #weft.encoding<[n]>>
  %r = weft.reshape %s : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?x1xf32, #weft.encoding<[n, 1]>>
  %f = weft.fusion loop(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %c = weft.constant dense<1.0> : tensor<8x8xf32>
    %b = weft.add %a, %c : tensor<8x8xf32>
    %d = weft.multiply %a, %b : tensor<8x8xf32>
    weft.yield %d : tensor<8x8xf32>
  }
  %l = weft.library_call "matmul" (%y, %v) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8xf32>):
    %d = weft.dot_general %a, %b contract = [1] x [0] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
    weft.yield %d : tensor<8xf32>
  }
  return %r, %f, %l : tensor<?x1xf32, #weft.encoding<[n, 1]>>, tensor<8x8xf32>, tensor<8xf32>
}
