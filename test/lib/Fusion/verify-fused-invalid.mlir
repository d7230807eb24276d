// RUN: weft-opt %s -split-input-file -verify-fused -verify-diagnostics

func.func @left_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'weft.negate' op fused_c1: expected only fusion, library_call, reshape, if, while, bind_dim, yield and return}}
  %n = weft.negate %x : tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

func.func @left_over_in_region(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %i = weft.if %p : (tensor<i1>) -> tensor<4xf32> {
    // expected-error@+1 {{'weft.constant' op fused_c1}}
    %c = weft.constant dense<1.0> : tensor<4xf32>
    weft.yield %c : tensor<4xf32>
  } else {
    weft.yield %x : tensor<4xf32>
  }
  return %i : tensor<4xf32>
}

// -----

func.func @two_heroes(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'weft.fusion' op fused_c2: the region is not one kernel, because a kernel has one hero}}
  %f = weft.fusion generic(%x) : (tensor<4x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %c = weft.cumulative sum, %a dim = 0 exclusive = false reverse = false : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = weft.reduce sum, %c dims = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    weft.yield %r : tensor<8xf32>
  }
  return %f : tensor<8xf32>
}

// -----

func.func @two_shapes(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>) {
  // expected-error@+1 {{fused_c2: the region is not one kernel, because the results of a kernel have one shape}}
  %f:2 = weft.fusion loop(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %n = weft.negate %a : tensor<4x8xf32>
    %s = weft.slice %a [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    weft.yield %n, %s : tensor<4x8xf32>, tensor<2x8xf32>
  }
  return %f#0, %f#1 : tensor<4x8xf32>, tensor<2x8xf32>
}

// -----

func.func @another_row(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{fused_c2: the region is not one kernel, because a reduction's result is read along its own row only}}
  %f = weft.fusion row_multipass(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %r = weft.reduce sum, %a dims = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
    %b = weft.broadcast_in_dim %r dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
    %s = weft.add %a, %b : tensor<8x8xf32>
    weft.yield %s : tensor<8x8xf32>
  }
  return %f : tensor<8x8xf32>
}

// -----

func.func @contraction(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{fused_c2: the region is not one kernel, because control flow, library calls and groups are not part}}
  %f = weft.fusion generic(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>):
    %d = weft.dot_general %a, %a contract = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    weft.yield %d : tensor<8x8xf32>
  }
  return %f : tensor<8x8xf32>
}

// -----

func.func @kind(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'weft.fusion' op fused_c3: expected kind row_reduction, got loop}}
  %f = weft.fusion loop(%x) : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %r = weft.reduce sum, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    weft.yield %r : tensor<4xf32>
  }
  return %f : tensor<4xf32>
}

// -----

func.func @epilogue(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = weft.library_call "matmul"(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %d = weft.dot_general %a, %b contract = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    // expected-error@+1 {{'weft.transpose' op fused_c4: the epilogue of a library call holds only elementwise ops}}
    %t = weft.transpose %d perm = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    weft.yield %t : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// -----

func.func @epilogue_rows(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8xf32>) -> tensor<8x8xf32> {
  %y = weft.library_call "matmul"(%x, %w, %v) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8xf32>):
    %d = weft.dot_general %a, %b contract = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = weft.broadcast_in_dim %c dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    // expected-error@+1 {{'weft.add' op fused_c4: operand of type 'tensor<8x8xf32>' repeats along other dimensions than the columns}}
    %s = weft.add %d, %r : tensor<8x8xf32>
    weft.yield %s : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// -----

func.func @prologue(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = weft.library_call "matmul"(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %n = weft.negate %a : tensor<8x8xf32>
    // expected-error@+1 {{'weft.dot_general' op fused_c4: expected the operands of the hero of a library call to be arguments}}
    %d = weft.dot_general %n, %b contract = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    weft.yield %d : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}
