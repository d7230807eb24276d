// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_c1: expected}}
  %0 = weft.reduce sum, %x dims = [1, 0] : (tensor<2x3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_c1: expected}}
  %0 = weft.reduce sum, %x dims = [3] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_c2}}
  %0 = weft.reduce all, %x dims = [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3xi1>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_c2}}
  %0 = weft.reduce sum, %x dims = [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @arg_reduce_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{arg_reduce_c1: expected}}
  %0 = weft.arg_reduce sum, %x dim = 2 last = false index = i64 : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  return
}

// -----

func.func @arg_reduce_c2(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{arg_reduce_c2}}
  %0 = weft.arg_reduce max, %x dim = 3 last = false index = i64 : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  return
}

// -----

func.func @arg_reduce_c3(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{arg_reduce_c3: expected}}
  %0 = weft.arg_reduce max, %x dim = 2 last = false index = f32 : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  return
}

// -----

func.func @arg_reduce_c4(%x: tensor<2x0xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{arg_reduce_c4: dimension 1}}
  %0 = weft.arg_reduce max, %x dim = 1 last = false index = i64 : (tensor<2x0xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @reduce_window_c1(%x: tensor<1x6xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_window_c1: expected}}
  %0 = weft.reduce_window max, %x {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x6xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @reduce_window_c2(%x: tensor<1x6xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_window_c2: expected}}
  %0 = weft.reduce_window max, %x {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 0>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x6xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @reduce_window_c3(%x: tensor<1x6xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_window_c3}}
  %0 = weft.reduce_window any, %x {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>} : (tensor<1x6xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @cumulative_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{cumulative_c1}}
  %0 = weft.cumulative sum, %x dim = 3 exclusive = false reverse = false : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @cumulative_c2(%x: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{cumulative_c2}}
  %0 = weft.cumulative any, %x dim = 0 exclusive = false reverse = false : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @reduce_window_c4(%x: tensor<?x6xf32, #weft.encoding<[n, 6]>>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_window_c4: negative padding}}
  %0 = weft.reduce_window max, %x {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding_low = array<i64: -1, 0>, padding_high = array<i64: 0, 0>} : (tensor<?x6xf32, #weft.encoding<[n, 6]>>) -> tensor<?x4xf32, #weft.encoding<[n, 4]>>
  return
}
