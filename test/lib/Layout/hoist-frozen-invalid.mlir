// RUN: weft-opt --hoist-frozen --split-input-file --verify-diagnostics %s

// expected-error @below {{argument 0 takes result 2 of @prepare, which there is not; expected a function @prepare with that result}}
func.func @main(%x: tensor<3xf32> {weft.prepared = 2 : i64}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
