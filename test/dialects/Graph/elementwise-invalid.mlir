// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @elementwise_c1(%a: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c1: expected}}
  %0 = "weft.add"(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @elementwise_c2(%a: tensor<3xf32>, %b: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c2: expected}}
  %0 = "weft.add"(%a, %b) : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @elementwise_c1(%p: tensor<4xi1>, %a: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c1: expected}}
  %0 = weft.select %p, %a, %a : (tensor<4xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @elementwise_c2(%p: tensor<3xi1>, %a: tensor<3xf32>, %b: tensor<3xf64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c2: expected}}
  %0 = weft.select %p, %a, %b : (tensor<3xi1>, tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @elementwise_c2(%a: tensor<3xf32>, %b: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c2: expected}}
  %0 = weft.compare EQ, %a, %b : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xi1>
  return
}

// -----

func.func @elementwise_c1(%a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{elementwise_c1: expected}}
  %0 = "weft.clamp"(%b, %a, %b) : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @inferred_type(%a: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s)}}
  %0 = "weft.tanh"(%a) : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @must_be(%a: tensor<3xi32>) {
  // expected-error @+1 {{must be}}
  %0 = "weft.tanh"(%a) : (tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @convert_c1(%a: tensor<3xf32>) {
  // expected-error @+1 {{convert_c1: expected}}
  %0 = weft.convert %a : (tensor<3xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @bitcast_convert_c1(%a: tensor<3xf32>) {
  // expected-error @+1 {{bitcast_convert_c1: expected}}
  %0 = weft.bitcast_convert %a : (tensor<3xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @bitcast_convert_c2(%a: tensor<3xf32>) {
  // expected-error @+1 {{bitcast_convert_c2: expected}}
  %0 = weft.bitcast_convert %a : (tensor<3xf32>) -> tensor<3xi64>
  return
}
