// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @if_c1(%p: tensor<2xi1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{if_c1: expected}}
  %0 = weft.if %p : (tensor<2xi1>) -> tensor<3xf32> {
    weft.yield %x : tensor<3xf32>
  } else {
    weft.yield %x : tensor<3xf32>
  }
  return
}

// -----

func.func @if_c2(%p: tensor<i1>, %x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{if_c2}}
  %0 = weft.if %p : (tensor<i1>) -> tensor<3xf32> {
    weft.yield %x : tensor<3xf32>
  } else {
  // expected-note @+1 {{it yields}}
    weft.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @while_c1(%p: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{while_c1: expected}}
  %0 = weft.while(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<4xf32>):
    weft.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<3xf32>):
    weft.yield %v : tensor<3xf32>
  }
  return
}

// -----

func.func @while_c2(%x: tensor<3xf32>) {
  // expected-error @+1 {{while_c2}}
  %0 = weft.while(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    weft.yield %v : tensor<3xf32>
  } do {
  ^bb0(%v: tensor<3xf32>):
    weft.yield %v : tensor<3xf32>
  }
  return
}

// -----

func.func @while_c2(%p: tensor<i1>, %x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{while_c2}}
  %0 = weft.while(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    weft.yield %p : tensor<i1>
  } do {
  ^bb0(%v: tensor<3xf32>):
  // expected-note @+1 {{it yields}}
    weft.yield %y : tensor<4xf32>
  }
  return
}
