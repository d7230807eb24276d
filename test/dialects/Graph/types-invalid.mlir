// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{encoding_c1: expected 2 sizes, got 1}}
func.func private @too_few_sizes(tensor<?x4xf32, #weft.encoding<[n]>>)

// -----

// expected-error @+1 {{encoding_c2: the size of dimension 1 does not match the type's}}
func.func private @static_size_differs(tensor<?x4xf32, #weft.encoding<[n, 5]>>)

// -----

// expected-error @+1 {{encoding_c2: the size of dimension 0 does not match the type's}}
func.func private @symbol_for_a_static_size(tensor<3x4xf32, #weft.encoding<[n, 4]>>)

// -----


// expected-error@+1 {{expected at least one size that is not an integer}}
func.func private @test(tensor<4xf32, #weft.encoding<[4]>>)

// -----

// expected-error@+1 {{expected a positive integer after 'floordiv'}}
func.func private @test(tensor<?xf32, #weft.encoding<[n floordiv 0]>>)

// -----

// expected-error@+1 {{expected a positive integer after 'mod'}}
func.func private @test(tensor<?xf32, #weft.encoding<[n mod m]>>)

// -----

// expected-error@+1 {{expected a size: an integer or the name of a symbol}}
func.func private @test(tensor<?xf32, #weft.encoding<[n + ]>>)

// -----

// expected-error@+1 {{expression is nested too deeply}}
func.func private @test(tensor<?xf32, #weft.encoding<[((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((n))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))]>>)
