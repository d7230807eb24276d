// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @dot_c1(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) {
  // expected-error @+1 {{dot_c1: expected}}
  %0 = weft.dot_general %a, %b contract = [1] x [] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot_c2(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) {
  // expected-error @+1 {{dot_c2: expected}}
  %0 = weft.dot_general %a, %b contract = [2] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot_c2(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) {
  // expected-error @+1 {{dot_c2: expected}}
  %0 = weft.dot_general %a, %b batch = [1] x [0] contract = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot_c3(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) {
  // expected-error @+1 {{dot_c3: dimension 1}}
  %0 = weft.dot_general %a, %b contract = [1] x [1] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @dot_c4(%a: tensor<4x5xf32>, %b: tensor<5x6xf64>) {
  // expected-error @+1 {{dot_c4: }}
  %0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dot_c5(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) {
  // expected-error @+1 {{dot_c5: expected}}
  %0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @conv_c1(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error @+1 {{conv_c1: expected}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
  return
}

// -----

func.func @conv_c2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error @+1 {{conv_c2: expected}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error @+1 {{conv_c3: expected}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 0>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error @+1 {{conv_c4: 4 input features}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 1 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf64>) {
  // expected-error @+1 {{conv_c5}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf64>) -> tensor<1x6x8x8xf32>
  return
}

// -----

func.func @conv_c6(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error @+1 {{conv_c6: expected}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x7xf32>
  return
}
