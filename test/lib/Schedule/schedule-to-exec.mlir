// RUN: weft-opt %s --schedule-to-exec --verify-exec -split-input-file | FileCheck %s

// The first temporary is dead when the third is made and lends it its place; equal regions share a kernel; the last value is written into the output.
// CHECK: exec.kernel @k_loop_0
// CHECK-NOT: exec.kernel
// CHECK: exec.entry @main symbols = [] in [] to [] arena = #[[SIZE:.*]] attributes {inputs = [{name = "x"
// CHECK: %[[X:.*]] = exec.input "x"
// CHECK: %[[A:.*]] = exec.arena offset = #[[ZERO:.*]] :
// CHECK: %[[B:.*]] = exec.arena offset =
// CHECK: %[[C:.*]] = exec.arena offset = #[[ZERO]] :
// CHECK: %[[Y:.*]] = exec.output "y"
// CHECK: exec.launch @k_loop_0(%[[X]]) to(%[[A]])
// CHECK: exec.launch @k_loop_0(%[[A]]) to(%[[B]])
// CHECK: exec.launch @k_loop_0(%[[B]]) to(%[[C]])
// CHECK: exec.launch @k_loop_0(%[[C]]) to(%[[Y]])
func.func @main(%x: tensor<100xf32> {weft.input = "x"}) -> (tensor<100xf32> {weft.output = "y"}) {
  %0 = weft.fusion loop (%x) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %1 = weft.exponential %a : tensor<100xf32>
    weft.yield %1 : tensor<100xf32>
  }
  %2 = weft.fusion loop (%0) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %1 = weft.exponential %a : tensor<100xf32>
    weft.yield %1 : tensor<100xf32>
  }
  %3 = weft.fusion loop (%2) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %1 = weft.exponential %a : tensor<100xf32>
    weft.yield %1 : tensor<100xf32>
  }
  %4 = weft.fusion loop (%3) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %1 = weft.exponential %a : tensor<100xf32>
    weft.yield %1 : tensor<100xf32>
  }
  return %4 : tensor<100xf32>
}

// -----

// An input that is returned, and a value that is returned twice, are copied; a reshape is an alias.
// CHECK: exec.entry @main symbols = ["N"] in [1] to [8]
// CHECK: %[[X:.*]] = exec.input "x"
// CHECK: %[[B:.*]] = exec.output "b"
// CHECK: exec.alias
// CHECK: %[[A:.*]] = exec.output "a"
// CHECK: %[[C:.*]] = exec.output "c"
// CHECK: exec.launch
// CHECK: exec.copy %[[X]] to %[[A]]
// CHECK: exec.copy %{{.*}} to %[[C]]
weft.dim "N" in [1, 8]
func.func @main(%x: tensor<?x2xf32, #weft.encoding<[N, 2]>> {weft.input = "x"})
    -> (tensor<?x2xf32, #weft.encoding<[N, 2]>> {weft.output = "a"}, tensor<?xf32, #weft.encoding<[N * 2]>> {weft.output = "b"}, tensor<?x2xf32, #weft.encoding<[N, 2]>> {weft.output = "c"}) {
  %0 = weft.fusion loop (%x) : (tensor<?x2xf32, #weft.encoding<[N, 2]>>) -> tensor<?x2xf32, #weft.encoding<[N, 2]>> {
  ^bb0(%a: tensor<?x2xf32, #weft.encoding<[N, 2]>>):
    %1 = weft.negate %a : tensor<?x2xf32, #weft.encoding<[N, 2]>>
    weft.yield %1 : tensor<?x2xf32, #weft.encoding<[N, 2]>>
  }
  %2 = weft.reshape %0 : (tensor<?x2xf32, #weft.encoding<[N, 2]>>) -> tensor<?xf32, #weft.encoding<[N * 2]>>
  return %x, %2, %0 : tensor<?x2xf32, #weft.encoding<[N, 2]>>, tensor<?xf32, #weft.encoding<[N * 2]>>, tensor<?x2xf32, #weft.encoding<[N, 2]>>
}

// -----

// Carried values live in buffers that the body updates; a swap goes through a third.
// CHECK: exec.while %{{.*}}
// CHECK: exec.launch @[[COND:k_loop_[0-9]+]]
// CHECK: } do {
// CHECK: exec.copy %[[A:.*]] to %[[T1:.*]] :
// CHECK: exec.copy %[[B:.*]] to %[[T2:.*]] :
// CHECK: exec.copy %[[T1]] to %[[B]]
// CHECK: exec.copy %[[T2]] to %[[A]]
func.func @main(%x: tensor<i32> {weft.input = "x"}, %y: tensor<i32> {weft.input = "y"}) -> (tensor<i32> {weft.output = "a"}, tensor<i32> {weft.output = "b"}) {
  %0:2 = weft.while (%x, %y) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = weft.fusion loop (%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i1> {
    ^bb0(%c: tensor<i32>, %d: tensor<i32>):
      %2 = weft.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      weft.yield %2 : tensor<i1>
    }
    weft.yield %1 : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    weft.yield %b, %a : tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}

// -----

// A size that data decide has its value from memory before the launch whose buffers have it.
// CHECK: exec.entry @main symbols = ["found"] in [0] to [8]
// CHECK: exec.launch @k_{{.*}} to(%[[COUNT:.*]]) : {{.*}} -> !exec.buffer<i64, ()[s0] -> ()>
// CHECK: exec.bind_symbol "found" = %[[COUNT]] : <i64, ()[s0] -> ()>
// CHECK: exec.launch {{.*}} !exec.buffer<i64, ()[s0] -> (s0)>
weft.dim "found" in [0, 8]
func.func @main(%x: tensor<8xi64> {weft.input = "x"}) -> (tensor<?xi64, #weft.encoding<[found]>> {weft.output = "y"}) {
  %0 = weft.fusion row_reduction (%x) : (tensor<8xi64>) -> tensor<i64> {
  ^bb0(%a: tensor<8xi64>):
    %1 = weft.reduce sum, %a dims = [0] : (tensor<8xi64>) -> tensor<i64>
    weft.yield %1 : tensor<i64>
  }
  weft.bind_dim "found" = %0 : tensor<i64>
  %2 = weft.fusion loop (%x) : (tensor<8xi64>) -> tensor<?xi64, #weft.encoding<[found]>> {
  ^bb0(%a: tensor<8xi64>):
    %3 = weft.constant dense<0> : tensor<i64>
    %4 = weft.dynamic_slice %a at (%3) : (tensor<8xi64>, tensor<i64>) -> tensor<?xi64, #weft.encoding<[found]>>
    weft.yield %4 : tensor<?xi64, #weft.encoding<[found]>>
  }
  return %2 : tensor<?xi64, #weft.encoding<[found]>>
}
