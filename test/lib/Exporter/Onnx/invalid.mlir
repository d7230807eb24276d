// RUN: not weft-onnx %s --export=%t.onnx 2>&1 | FileCheck %s

// All that ONNX cannot say is reported at once.
// CHECK: error: cannot be written as ONNX: ONNX (opset 18) has no such operator
// CHECK: error: cannot be written as ONNX: ONNX has running sums only
// CHECK-NOT: error:
func.func @main(%x: tensor<4xi32> {weft.input = "x"}) -> (tensor<4xi32> {weft.output = "y"}, tensor<4xi32> {weft.output = "z"}) {
  %y = weft.popcnt %x : tensor<4xi32>
  %z = weft.cumulative max, %x dim = 0 exclusive = false reverse = false : (tensor<4xi32>) -> tensor<4xi32>
  %unrelated = weft.negate %y : tensor<4xi32>
  return %unrelated, %z : tensor<4xi32>, tensor<4xi32>
}
