// RUN: weft-opt --simplify %s | FileCheck %s

// CHECK: weft.dim "n"
// CHECK: func.func @main
// CHECK: weft.composite "gelu"
// CHECK: return
weft.dim "n" in [1, 8]
func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>> {weft.input = "x"}, %w: tensor<4xf32> {weft.param = "dead"}) -> (tensor<?xf32, #weft.encoding<[n]>> {weft.output = "y"}) {
  %0 = weft.composite "gelu" {} (%x) : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n]>> {
  ^bb0(%a: tensor<?xf32, #weft.encoding<[n]>>):
    %1 = weft.erf %a : tensor<?xf32, #weft.encoding<[n]>>
    weft.yield %1 : tensor<?xf32, #weft.encoding<[n]>>
  }
  return %0 : tensor<?xf32, #weft.encoding<[n]>>
}
