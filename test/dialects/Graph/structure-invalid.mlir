// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @region_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{region_c1: expected}}
  %0 = weft.fusion loop(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = weft.constant dense<0.0> : tensor<3xf32>
    weft.yield %1 : tensor<3xf32>
  }
  return
}

// -----

func.func @region_c2(%x: tensor<3xf32>) {
  // expected-error @+1 {{region_c2: expected}}
  %0 = weft.composite "gelu" {} (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %1 = weft.constant dense<0.0> : tensor<4xf32>
  // expected-note @+1 {{it yields}}
    weft.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @library_call_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{library_call_c1: expected callee}}
  %0 = weft.library_call "fft"(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    weft.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @library_call_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{library_call_c1: expected one}}
  %0 = weft.library_call "matmul"(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    weft.yield %a : tensor<3xf32>
  }
  return
}

// -----

// expected-error @+1 {{dim_c1: expected 0 <= min <= max}}
weft.dim "n" in [5, 4]

// -----

// expected-error @+1 {{dim_c1: expected 0 <= min <= max}}
weft.dim "n" in [-1, 4]

// -----

// expected-note @+1 {{declared}}
weft.dim "n" in [1, 4]
// expected-error @+1 {{dim_c2: "n" is declared twice}}
weft.dim "n" in [1, 8]

// -----

weft.dim "n" in [1, 8]
// expected-error @+1 {{require_c1: expected 2 sizes, got 3}}
weft.require <[n, 4, 5]> "three"

// -----

weft.dim "n" in [0, 4]
func.func @bind_dim_c1(%count: tensor<1xi64>) {
  // expected-error @+1 {{bind_dim_c1: expected a scalar of 32 or 64 bits as the count}}
  weft.bind_dim "n" = %count : tensor<1xi64>
  return
}

// -----

weft.dim "n" in [0, 4]
func.func @bind_dim_c1(%count: tensor<i8>) {
  // expected-error @+1 {{bind_dim_c1: expected a scalar of 32 or 64 bits as the count}}
  weft.bind_dim "n" = %count : tensor<i8>
  return
}

// -----

func.func @bind_dim_c2(%count: tensor<i64>) {
  // expected-error @+1 {{bind_dim_c2: expected weft.dim to declare "n"}}
  weft.bind_dim "n" = %count : tensor<i64>
  return
}

// -----

weft.dim "n" in [0, 4]
func.func @bind_dim_c3(%x: tensor<?xf32, #weft.encoding<[n]>>, %count: tensor<i64>) {
  // expected-error @+1 {{bind_dim_c3: expected a symbol that data alone determine, but argument 0 has "n" in its type}}
  weft.bind_dim "n" = %count : tensor<i64>
  return
}
