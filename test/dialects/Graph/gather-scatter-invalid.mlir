// RUN: weft-opt %s -split-input-file -verify-diagnostics

func.func @gather_c1(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c1: expected 2 slice sizes}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c1(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c1: slice size}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 9>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c2: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 2, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c2: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c3: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c3: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 2>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c4: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 0, 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c5(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c5: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 3 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c6(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c6: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c6(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c6: batching dimensions 0 and 0}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, start_index_map = array<i64: 1>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @gather_c7(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{gather_c7: expected}}
  %0 = weft.gather %x, %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 8>} : (tensor<6x8xf32>, tensor<3x1xi64>) -> tensor<3x7xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c1: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf64>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c2: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1, 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c3: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0, 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c4: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c5(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c5: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 3 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c6(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c6: window}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c7(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c7: expected}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<4x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @scatter_c8(%x: tensor<6x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{scatter_c8: batching dimensions}}
  %0 = weft.scatter set, %x, %i, %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return
}
