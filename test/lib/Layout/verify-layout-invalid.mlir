// RUN: weft-opt --verify-layout --split-input-file --verify-diagnostics %s

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  // expected-error @below {{'weft.fusion' op layout_c1: expected an op of the Graph dialect that is legal before fusion}}
  %0 = weft.fusion loop (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    weft.yield %a : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  // expected-error @below {{layout_c1: expected composite "batch_norm_inference" to be inlined}}
  %0 = weft.composite "batch_norm_inference" {} (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    weft.yield %a : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// expected-error @below {{layout_c1: expected a function @main with a body}}
module {
}

// -----

func.func @main(%x: tensor<1x3x8xf32> {weft.input = "x"}, %w: tensor<4x3x1xf32> {weft.param = "w"}) -> tensor<1x4x8xf32> {
  // expected-error @below {{layout_c2: expected the dimension numbers #weft.convolution_dimensions<[b, 0, f] x [0, i, o] -> [b, 0, f]>}}
  %0 = weft.convolution %x, %w dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> {window_strides = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, feature_group_count = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x1xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

// expected-error @below {{layout_c3: argument 0 takes result 0 : i64 of @prepare, which has 0 results}}
func.func @main(%x: tensor<3xf32> {weft.prepared = 0 : i64}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{layout_c3: argument 0 has type 'tensor<3xf32>', but result 0 of @prepare has type 'tensor<4xf32>'}}
func.func @main(%x: tensor<3xf32> {weft.prepared = 0 : i64}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// expected-note @below {{@prepare is here}}
func.func @prepare(%w: tensor<4xf32> {weft.param = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{layout_c3: result 0 of @prepare is taken by two arguments}}
func.func @main(%x: tensor<3xf32> {weft.prepared = 0 : i64}, %y: tensor<3xf32> {weft.prepared = 0 : i64}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @prepare(%w: tensor<3xf32> {weft.param = "w"}) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// expected-error @below {{layout_c3: result 0 is taken by no argument of @main}}
// expected-error @below {{layout_c4: argument 0 of @prepare is 'weft.trainable'; expected it to be used in @main only}}
func.func @prepare(%w: tensor<3xf32> {weft.param = "w", weft.trainable}) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

func.func @main(%w: tensor<3x4xf32> {weft.param = "w"}) -> tensor<4x3xf32> {
  // expected-error @below {{layout_c5: expected the transpose of frozen argument 0 of @main in @prepare}}
  %0 = weft.transpose %w perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
