// RUN: weft-opt --remove-dead-parameters %s | FileCheck %s

// CHECK: weft.dim "n"
// CHECK-NOT: weft.dim "unused"
weft.dim "n" in [1, 8]
weft.dim "unused" in [1, 8]
// CHECK: func.func @main(%arg0: tensor<?xf32, {{.*}}> {weft.input = "x"}, %arg1: tensor<4xf32> {weft.input = "ignored"}, %arg2: tensor<f32> {weft.param = "used"})
// CHECK-SAME: -> (tensor<f32> {weft.output = "y"})
func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>> {weft.input = "x"}, %w: tensor<4xf32> {weft.param = "dead"},
                %i: tensor<4xf32> {weft.input = "ignored"}, %u: tensor<f32> {weft.param = "used"}) -> (tensor<f32> {weft.output = "y"}) {
  %0 = weft.reduce sum, %x dims = [0] : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<f32>
  %1 = weft.add %0, %u : tensor<f32>
  return %1 : tensor<f32>
}
