// RUN: weft-opt --verify-simplified --split-input-file --verify-diagnostics %s

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  // expected-error @below {{'weft.fusion' op simplified_c1: expected an op of the Graph dialect that is legal before fusion}}
  %0 = weft.fusion loop (%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    weft.yield %a : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// expected-error @below {{simplified_c2: expected a function @main}}
module {
  func.func @other(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

// expected-error @below {{simplified_c2: expected a function with a body}}
func.func private @main(tensor<3xf32>) -> tensor<3xf32>

// -----

// expected-error @below {{simplified_c3: expected argument 1 to have one of 'weft.input', 'weft.param', 'weft.state' and 'weft.prepared', got 0}}
func.func @main(%x: tensor<3xf32> {weft.input = "x"}, %y: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{simplified_c3: expected argument 0 to have one of 'weft.input', 'weft.param', 'weft.state' and 'weft.prepared', got 2}}
func.func @main(%x: tensor<3xf32> {weft.input = "x", weft.param = "x"}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
// expected-error @below {{simplified_c3: expected argument 0 to be a 'weft.param'}}
func.func @prepare(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{simplified_c4: the size 'n' in}}
func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>> {weft.input = "x"}) -> tensor<?xf32, #weft.encoding<[n]>> {
  return %x : tensor<?xf32, #weft.encoding<[n]>>
}

// -----

// expected-error @below {{simplified_c5: parameter "w" has no use}}
func.func @main(%x: tensor<3xf32> {weft.input = "x"}, %w: tensor<3xf32> {weft.param = "w"}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32> {weft.input = "x"}) -> tensor<3xf32> {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op simplified_c1}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<3xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}
