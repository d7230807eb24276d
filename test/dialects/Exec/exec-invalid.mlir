// What the verifiers of the Exec dialect refuse.
// RUN: weft-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{entry_c1: expected a minimum and a maximum for each of the 1 symbols}}
exec.entry @main symbols = ["N"] in [] to [64] arena = affine_map<()[s0] -> (0)> {
}

// -----

// expected-error@+1 {{entry_c2: expected 0 <= minimum <= maximum, got 8 and 4}}
exec.entry @main symbols = ["N"] in [8] to [4] arena = affine_map<()[s0] -> (0)> {
}

// -----

// expected-error@+1 {{entry_c3: expected the arena's size as one expression of 0 symbols}}
exec.entry @main symbols = [] in [] to [] arena = affine_map<()[s0] -> (s0)> {
}

// -----

exec.entry @main symbols = [] in [] to [] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{arena_c1: expected the offset as one expression of symbols}}
  %0 = exec.arena offset = affine_map<(d0) -> (d0)> : <f32, () -> (4)>
}

// -----

exec.entry @main symbols = [] in [] to [] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{arena_c2: expected an offset that is a multiple of 64 bytes}}
  %0 = exec.arena offset = affine_map<() -> (32)> : <f32, () -> (4)>
}

// -----

exec.entry @main symbols = [] in [] to [] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{launch_c1: expected a kernel named @missing}}
  exec.launch @missing() to () : () -> ()
}

// -----

exec.kernel @copy kind = "loop" {
^bb0(%x: tensor<4xf32>):
  weft.yield %x : tensor<4xf32>
}
exec.entry @main symbols = [] in [] to [] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{launch_c2: the kernel takes 1 and gives 1 buffers, the launch has 0 and 0}}
  exec.launch @copy() to () : () -> ()
}

// -----

// expected-error@+1 {{kernel_c1: expected 1 to 1024 threads of a block, got 2048}}
exec.kernel @copy kind = "loop" threads = 2048 {
^bb0(%x: tensor<4xf32>):
  weft.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{kernel_c2: expected shared and max_blocks not negative and only where there are threads}}
exec.kernel @copy kind = "loop" shared = 64 {
^bb0(%x: tensor<4xf32>):
  weft.yield %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{kernel_c2: expected shared and max_blocks not negative and only where there are threads}}
exec.kernel @copy kind = "loop" threads = 32 max_blocks = -1 {
^bb0(%x: tensor<4xf32>):
  weft.yield %x : tensor<4xf32>
}

// -----

exec.entry @main symbols = ["n"] in [1] to [8] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{check_equal_c1: expected one expression of 1 symbols}}
  exec.check_equal affine_map<()[s0] -> (s0)>, affine_map<()[s0, s1] -> (s1)> "no such symbol"
}

// -----

exec.entry @main symbols = ["n"] in [0] to [4] arena = affine_map<()[s0] -> (64)> {
  %0 = exec.arena offset = affine_map<()[s0] -> (0)> : <i64, ()[s0] -> ()>
  // expected-error@+1 {{bind_symbol_c1: expected a symbol that the entry lists, got "m"}}
  exec.bind_symbol "m" = %0 : <i64, ()[s0] -> ()>
}

// -----

exec.entry @main symbols = ["n"] in [0] to [4] arena = affine_map<()[s0] -> (64)> {
  %0 = exec.arena offset = affine_map<()[s0] -> (0)> : <f32, ()[s0] -> ()>
  // expected-error@+1 {{bind_symbol_c2: expected a scalar of i32, i64, ui32 or ui64}}
  exec.bind_symbol "n" = %0 : <f32, ()[s0] -> ()>
}
