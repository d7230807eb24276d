//===- Passes.td - The passes of the Simplify stage -----------------------------------*- tablegen -*-===//

#ifndef WEFT_LIB_SIMPLIFY_PASSES_TD
#define WEFT_LIB_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyGraph : Pass<"simplify-graph", "::mlir::ModuleOp"> {
  let summary = "Folds constants, canonicalizes, and rewrites by algebra that is exact under the strict numerics contract";
  let description = [{
    Applies the dialect's folds and canonicalizations and the pattern families of this folder (elementwise, conversion, reshape and
    transpose, broadcast, slice and concatenate, pad, reduction, control flow) until none applies, and removes ops without uses. Every
    rewrite gives the same bits for every input (NaN payloads aside); nothing is reassociated. Composites are kept, and their regions
    are simplified as everything else.

    Precondition: a module of the Graph dialect before fusion.

    ```mlir
    // Before
    %one = weft.constant dense<1.0> : tensor<f32>
    %ones = weft.broadcast_in_dim %one dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %0 = weft.multiply %x, %ones : tensor<2x3xf32>
    %1 = weft.transpose %0 perm = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %2 = weft.transpose %1 perm = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
    // After
    return %x : tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::weft::graph::GraphDialect"];
}

def EliminateCommonSubexpressions : Pass<"eliminate-common-subexpressions", "::mlir::ModuleOp"> {
  let summary = "Computes equal values once, keeping the locations of all of them";
  let description = [{
    Of two pure ops of one kind with equal operands, attributes and regions the later one is replaced by the earlier one, whose
    location becomes the fusion of both: a kernel made from it still names every model node it came from. Values from outside a
    region that is not isolated are visible in it.

    Precondition: a module of the Graph dialect before fusion.

    ```mlir
    // Before
    %0 = weft.tanh %x : tensor<4xf32> loc("a")
    %1 = weft.tanh %x : tensor<4xf32> loc("b")
    %2 = weft.add %0, %1 : tensor<4xf32>
    // After
    %0 = weft.tanh %x : tensor<4xf32> loc(fused["a", "b"])
    %2 = weft.add %0, %0 : tensor<4xf32>
    ```
  }];
}

def RemoveDeadParameters : Pass<"remove-dead-parameters", "::mlir::ModuleOp"> {
  let summary = "Removes parameters that nothing uses";
  let description = [{
    Arguments of `@main` and `@prepare` with `weft.param` and without uses are removed from the signature, and so are the
    declarations of symbolic dimensions that no type mentions. Inputs and state stay: they are the model's interface.

    Precondition: none.

    ```mlir
    // Before
    func.func @main(%x: tensor<4xf32> {weft.input = "x"}, %w: tensor<4xf32> {weft.param = "w"}) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    // After
    func.func @main(%x: tensor<4xf32> {weft.input = "x"}) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    ```
  }];
}

def VerifySimplified : Pass<"verify-simplified", "::mlir::ModuleOp"> {
  let summary = "Checks what later stages may rely on after Simplify";
  let description = [{
    Legal after Simplify: `weft.dim` declarations, `func.func @main` and possibly `@prepare` with `return`, and in them every op of
    the Graph dialect but `weft.fusion` and `weft.library_call`. Rules:

    - simplified_c1: no other op.
    - simplified_c2: the module has a function `@main`.
    - simplified_c3: each argument of `@main` has exactly one of `weft.input`, `weft.param`, `weft.state` and `weft.prepared`; each of
      `@prepare` has `weft.param`.
    - simplified_c4: every symbol in a type is declared by `weft.dim`.
    - simplified_c5: a parameter has a use.

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
