// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{encoding_c1: expected 2 sizes, got 1}}
func.func private @too_few_sizes(tensor<?x4xf32, #weft.encoding<[n]>>)

// -----

// expected-error @+1 {{encoding_c2: the size of dimension 1 does not match the type's}}
func.func private @static_size_differs(tensor<?x4xf32, #weft.encoding<[n, 5]>>)

// -----

// expected-error @+1 {{encoding_c2: the size of dimension 0 does not match the type's}}
func.func private @symbol_for_a_static_size(tensor<3x4xf32, #weft.encoding<[n, 4]>>)
