// Symbolic sizes: text and normal form.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK-LABEL: func.func private @sizes
func.func private @sizes(
  // CHECK-SAME: tensor<?x64xf32, #weft.encoding<[batch, 64]>>
  tensor<?x64xf32, #weft.encoding<[batch, 64]>>,
  // CHECK-SAME: tensor<?x?xf32, #weft.encoding<[batch * 2, time floordiv 4 + 1]>>
  tensor<?x?xf32, #weft.encoding<[batch * 2, time floordiv 4 + 1]>>,
  // CHECK-SAME: tensor<?xf32, #weft.encoding<[batch * time * 8]>>
  tensor<?xf32, #weft.encoding<[2 * time * 4 * batch]>>,
  // CHECK-SAME: tensor<?xf32, #weft.encoding<[(batch + 1) floordiv 2]>>
  tensor<?xf32, #weft.encoding<[batch ceildiv 2]>>,
  // CHECK-SAME: tensor<?xf32, #weft.encoding<[batch + time - 3]>>
  tensor<?xf32, #weft.encoding<[-(3 - time) + batch]>>,
  // CHECK-SAME: tensor<?xf32, #weft.encoding<["batch size" + 1]>>
  tensor<?xf32, #weft.encoding<["batch size" + 1]>>)
