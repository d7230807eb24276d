// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @iota_c1() {
  // expected-error @+1 {{iota_c1: expected}}
  %0 = weft.iota dim = 2 : tensor<4x5xi64>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @+1 {{iota_c1: expected}}
  %0 = weft.iota dim = -1 : tensor<4x5xi64>
  return
}

// -----

func.func @constant_c1() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{constant_c1: expected}}
  %0 = "weft.constant"() <{value = dense<1.0> : vector<2xf32>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @constant_c2() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{constant_c2: expected}}
  %0 = "weft.constant"() <{value = sparse<[[0]], [1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @inferred_type() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s)}}
  %0 = "weft.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}
