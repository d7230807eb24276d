// Every op of the Exec dialect is parsed, printed, and parsed again.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s

#bytes = affine_map<()[s0] -> (s0 * 64)>
#one = affine_map<()[s0] -> (1)>

// CHECK: exec.kernel @on_gpu kind = "loop" tiles = {{.*}} scratch = {{.*}} threads = 256 shared = 1024 max_blocks = 132 function = "copy_1" {
exec.kernel @on_gpu kind = "loop" tiles = #bytes scratch = #one threads = 256 shared = 1024 max_blocks = 132 function = "copy_1" {
^bb0(%x: tensor<?x16xf32, #weft.encoding<[N, 16]>>):
  weft.yield %x : tensor<?x16xf32, #weft.encoding<[N, 16]>>
}

// CHECK: exec.kernel @copy kind = "loop" tiles = {{.*}} grain = 4 scratch = {{.*}} function = "copy_0" {
exec.kernel @copy kind = "loop" tiles = #bytes grain = 4 scratch = #one function = "copy_0" {
^bb0(%x: tensor<?x16xf32, #weft.encoding<[N, 16]>>):
  weft.yield %x : tensor<?x16xf32, #weft.encoding<[N, 16]>>
}
exec.kernel @dot kind = "generic" {
^bb0(%x: tensor<?x16xf32, #weft.encoding<[N, 16]>>, %w: tensor<16x16xf32>):
  %0 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<?x16xf32, #weft.encoding<[N, 16]>>, tensor<16x16xf32>) -> tensor<?x16xf32, #weft.encoding<[N, 16]>>
  weft.yield %0 : tensor<?x16xf32, #weft.encoding<[N, 16]>>
}

// CHECK: exec.entry @main symbols = ["N"] in [1] to [64] arena =
exec.entry @main symbols = ["N"] in [1] to [64] arena = #bytes {
  // CHECK: exec.check_equal #{{.*}}, #{{.*}} "four at a time"
  exec.check_equal affine_map<()[s0] -> (s0 mod 4)>, affine_map<()[s0] -> (0)> "four at a time"
  // CHECK: exec.input "x" : <f32,
  %x = exec.input "x" : <f32, ()[s0] -> (s0, 16)>
  // CHECK: exec.weight "w"
  %w = exec.weight "w" : <f32, ()[s0] -> (16, 16)>
  // CHECK: exec.state "s"
  %s = exec.state "s" : <i1, ()[s0] -> ()>
  // CHECK: exec.arena offset =
  %a = exec.arena offset = affine_map<()[s0] -> (0)> : <f32, ()[s0] -> (s0, 16)>
  // CHECK: exec.output "y"
  %y = exec.output "y" : <f32, ()[s0] -> (s0 * 16)>
  // CHECK: exec.alias
  %z = exec.alias %y : <f32, ()[s0] -> (s0 * 16)> to <f32, ()[s0] -> (s0, 16)>
  // CHECK: exec.launch @copy
  exec.launch @copy(%x) to (%a) : (!exec.buffer<f32, ()[s0] -> (s0, 16)>) -> !exec.buffer<f32, ()[s0] -> (s0, 16)>
  // CHECK: exec.library_call "matmul"
  exec.library_call "matmul"(%a, %w) to %z config = {} epilogue = [] alternative = @dot(%a, %w)
    : (<f32, ()[s0] -> (s0, 16)>, <f32, ()[s0] -> (16, 16)>) to <f32, ()[s0] -> (s0, 16)>,
      (!exec.buffer<f32, ()[s0] -> (s0, 16)>, !exec.buffer<f32, ()[s0] -> (16, 16)>)
  // CHECK: exec.if
  exec.if %s : <i1, ()[s0] -> ()> {
    // CHECK: exec.copy
    exec.copy %x to %z : <f32, ()[s0] -> (s0, 16)> to <f32, ()[s0] -> (s0, 16)>
  } else {
  }
  // CHECK: exec.bind_symbol "N" = %{{.*}} : <i64,
  %n = exec.arena offset = affine_map<()[s0] -> (0)> : <i64, ()[s0] -> ()>
  exec.bind_symbol "N" = %n : <i64, ()[s0] -> ()>
  // CHECK: exec.while
  exec.while %s : <i1, ()[s0] -> ()> {
  } do {
    exec.copy %a to %z : <f32, ()[s0] -> (s0, 16)> to <f32, ()[s0] -> (s0, 16)>
  }
}
