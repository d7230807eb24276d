//===- Passes.td - The passes of the Layout stage -------------------------------------*- tablegen -*-===//

#ifndef WEFT_LIB_LAYOUT_PASSES_TD
#define WEFT_LIB_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineBatchNorm : Pass<"inline-batch-norm", "::mlir::ModuleOp"> {
  let summary = "Takes the decomposition of the normalizations between convolutions";
  let description = [{
    A composite `batch_norm_inference` becomes its region: a scale and a shift a channel, which the folds of this stage then see. So does
    `instance_norm`, whose reductions can then work in the layout of the convolutions.

    Precondition: a module after Simplify.

    ```mlir
    // Before
    %0 = weft.composite "batch_norm_inference" {} (%x, %scale) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
    ^bb0(%a: tensor<2x3xf32>, %s: tensor<3xf32>):
      %1 = weft.broadcast_in_dim %s dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %2 = weft.multiply %a, %1 : tensor<2x3xf32>
      weft.yield %2 : tensor<2x3xf32>
    }
    // After
    %1 = weft.broadcast_in_dim %scale dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %2 = weft.multiply %x, %1 : tensor<2x3xf32>
    ```
  }];
}

def FoldChannelArithmetic : Pass<"fold-channel-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Folds multiplication and addition of frozen values a channel into frozen weights and one bias";
  let description = [{
    A contraction (convolution or dot_general) with a frozen operand and one use, multiplied or divided by a frozen value that varies
    only along the frozen operand's own dimensions, has that factor multiplied into the frozen operand. A factor after a frozen
    addition is distributed over it first, and several frozen additions become one. Only f32 and f64: rounding weights to a
    narrower type again would cost accuracy, and the factor is cheap in an epilogue. The result differs from the unfolded one within the
    tolerance of inference folds.

    Precondition: a module after Simplify, batch normalizations inlined.

    ```mlir
    // Before
    %0 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %1 = weft.broadcast_in_dim %s dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %2 = weft.multiply %0, %1 : tensor<2x3xf32>
    // After
    %0 = weft.broadcast_in_dim %s dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
    %1 = weft.multiply %w, %0 : tensor<4x3xf32>
    %2 = weft.dot_general %x, %1 contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    ```
  }];
}

def ConvertConvolutionLayout : Pass<"convert-convolution-layout", "::mlir::ModuleOp"> {
  let summary = "Makes convolutions channels-last, with transposes around them";
  let description = [{
    Every convolution gets the dimension numbers `[b, 0, 1, ..., f] x [0, 1, ..., i, o] -> [b, 0, 1, ..., f]`, for any number of spatial
    dimensions; what was laid out otherwise is transposed before and after. `minimize-transposes` then removes what cancels.

    Precondition: a module after Simplify.

    ```mlir
    // Before
    %0 = weft.convolution %x, %w dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> ...
    // After
    %1 = weft.transpose %x perm = [0, 2, 1] ...
    %2 = weft.transpose %w perm = [2, 1, 0] ...
    %3 = weft.convolution %1, %2 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> ...
    %4 = weft.transpose %3 perm = [0, 2, 1] ...
    ```
  }];
}

def ConvertDotLayout : Pass<"convert-dot-layout", "::mlir::ModuleOp"> {
  let summary = "Absorbs transposes into dot_general's dimension numbers and makes its operands row-major";
  let description = [{
    A transpose that feeds a dot_general disappears into the dimension numbers where the free dimensions keep their order and a library can
    still read the operand (batching dimensions first, then free and contracting ones, either first); one of the result disappears by swapping
    the sides. A frozen right operand is transposed (in `@prepare`, later) to batching, contracting, free dimensions: (K, N); a frozen left
    operand to batching, free, contracting: (M, K). Another operand is transposed so only where no library could read it.

    Precondition: a module after Simplify.

    ```mlir
    // Before
    %0 = weft.transpose %x perm = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %1 = weft.dot_general %0, %w contract = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
    // After, with %w a frozen parameter
    %0 = weft.transpose %w perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %1 = weft.dot_general %x, %0 contract = [0] x [0] : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    ```
  }];
}

def MinimizeTransposes : Pass<"minimize-transposes", "::mlir::ModuleOp"> {
  let summary = "Chooses the layout of every op between transposes so that the fewest bytes are transposed";
  let description = [{
    For each permutation that occurs, the ops that can work in either layout (elementwise ops and composites of them, pad, slice, concatenate,
    reverse, reduce_window, cumulative, dynamic slices, sort, reductions, ...) and the values between them form a graph in which every op takes one
    of two layouts. A value that is made in one layout and used in the other costs its bytes once. A minimum cut gives the cheapest
    choice; it is taken only where it is cheaper than what is there, or as cheap with more work in the layout of the convolutions, so
    that the pass ends. Values of frozen parameters, constants, broadcasts and iotas can be had in any
    layout. A sum of floats is left alone where its order would change.

    Precondition: a module after Simplify.

    ```mlir
    // Before
    %1 = weft.transpose %0 perm = [0, 2, 1] : (tensor<2x8x3xf32>) -> tensor<2x3x8xf32>
    %2 = weft.tanh %1 : tensor<2x3x8xf32>
    %3 = weft.transpose %2 perm = [0, 2, 1] : (tensor<2x3x8xf32>) -> tensor<2x8x3xf32>
    // After
    %1 = weft.tanh %0 : tensor<2x8x3xf32>
    ```
  }];
}

def ReorderFlattenedWeights : Pass<"reorder-flattened-weights", "::mlir::ModuleOp"> {
  let summary = "Removes a transpose before a flattening by reordering the frozen weights behind it";
  let description = [{
    Where an image is transposed, flattened and multiplied with frozen weights, as at the end of older convolutional networks, it is flattened
    as it lies, and the weights' rows are put in that order (in `@prepare`, later).

    Precondition: a module after Simplify, transposes minimized.

    ```mlir
    // Before
    %0 = weft.transpose %x perm = [0, 3, 1, 2] : (tensor<2x4x4x3xf32>) -> tensor<2x3x4x4xf32>
    %1 = weft.reshape %0 : (tensor<2x3x4x4xf32>) -> tensor<2x48xf32>
    %2 = weft.dot_general %1, %w contract = [1] x [0] : (tensor<2x48xf32>, tensor<48x5xf32>) -> tensor<2x5xf32>
    // After
    %0 = weft.reshape %x : (tensor<2x4x4x3xf32>) -> tensor<2x48xf32>
    %1 = weft.reshape %w : (tensor<48x5xf32>) -> tensor<3x4x4x5xf32>
    %2 = weft.transpose %1 perm = [1, 2, 0, 3] : (tensor<3x4x4x5xf32>) -> tensor<4x4x3x5xf32>
    %3 = weft.reshape %2 : (tensor<4x4x3x5xf32>) -> tensor<48x5xf32>
    %4 = weft.dot_general %0, %3 contract = [1] x [0] : (tensor<2x48xf32>, tensor<48x5xf32>) -> tensor<2x5xf32>
    ```
  }];
}

def HoistFrozen : Pass<"hoist-frozen", "::mlir::ModuleOp"> {
  let summary = "Moves the work on frozen parameters to @prepare";
  let description = [{
    Every op of `@main` (also inside its branches and loops) whose operands are only frozen parameters and constants moves to `@prepare`,
    which runs once; what the rest of `@main` uses of it becomes an argument with `weft.prepared = k`, k being the result's number. A value
    that is much larger than the parameters that it comes from (a broadcast, an iota) is not stored but made where it is used, unless much
    work goes into it. Constants stay constants. Parameters that only `@prepare` uses are no longer arguments of `@main`. Parameters with
    `weft.trainable` never pass through it. An existing `@prepare` is continued; results of it that are no longer used are removed.

    Precondition: a module after Simplify.

    ```mlir
    // Before
    func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %w: tensor<3x4xf32> {weft.param = "w"}) -> tensor<2x3xf32> {
      %0 = weft.transpose %w perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
      %1 = weft.dot_general %x, %0 contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }
    // After
    func.func @main(%x: tensor<2x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.prepared = 0 : i64}) -> tensor<2x3xf32> {
      %1 = weft.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }
    func.func @prepare(%w: tensor<3x4xf32> {weft.param = "w"}) -> tensor<4x3xf32> {
      %0 = weft.transpose %w perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
      return %0 : tensor<4x3xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def VerifyLayout : Pass<"verify-layout", "::mlir::ModuleOp"> {
  let summary = "Checks what later stages may rely on after Layout";
  let description = [{
    Legal after Layout: what is legal after Simplify, and:

    - layout_c1: no `weft.fusion`, no `weft.library_call`, no composite `batch_norm_inference`, and no op outside the Graph dialect but functions.
    - layout_c2: convolutions are channels-last: `[b, 0, 1, ..., f] x [0, 1, ..., i, o] -> [b, 0, 1, ..., f]`.
    - layout_c3: an argument of `@main` with `weft.prepared = k` has the type of result k of `@prepare`, and each result is used once.
    - layout_c4: `@prepare` takes only `weft.param` arguments, none of them `weft.trainable`.
    - layout_c5: a transpose of a parameter that is not trainable is in `@prepare`.

    Precondition: none. The module is not changed.

    ```mlir
    // Accepted
    func.func @main(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) {
      %0 = weft.tanh %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif
