// RUN: weft-opt %s --verify-exec -verify-diagnostics -split-input-file

// expected-error@+1 {{after Schedule a module holds exec.entry and exec.kernel only}}
func.func @main() {
  return
}

// -----

exec.entry @main symbols = [] in [] to [] arena = affine_map<() -> (0)> {
  // expected-error@+1 {{is not legal here after Schedule}}
  %0 = weft.constant dense<0.0> : tensor<f32>
}
