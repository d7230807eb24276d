// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @sort_c1() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{sort_c1: expected}}
  "weft.sort"() <{dimension = 0 : i64, descending = false}> : () -> ()
  return
}

// -----

func.func @sort_c1(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{sort_c1: expected}}
  %0:2 = weft.sort %x, %y dim = 0 descending = false : (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @sort_c2(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{sort_c2: expected}}
  %0 = weft.sort %x dim = 1 descending = false : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{top_k_c1: expected}}
  %0:2 = weft.top_k %x k = 2 dim = 1 largest = true index = i64 : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// -----

func.func @top_k_c2(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{top_k_c2: k = 4}}
  %0:2 = weft.top_k %x k = 4 dim = 0 largest = true index = i64 : (tensor<3xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return
}

// -----

func.func @top_k_c3(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{top_k_c3: expected}}
  %0:2 = weft.top_k %x k = 2 dim = 0 largest = true index = f32 : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}
