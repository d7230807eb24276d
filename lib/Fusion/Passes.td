//===- Passes.td - The passes of the Fusion stage ------------------------------------*- tablegen -*-===//

#ifndef WEFT_LIB_FUSION_PASSES_TD
#define WEFT_LIB_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

class Fusion_Pass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::weft::graph::GraphDialect"];
}

def InlineComposites : Fusion_Pass<"inline-composites"> {
  let summary = "Replaces every composite by the plain ops of its region";
  let description = [{
    Precondition: none. Composites inside composites and inside the regions of `if` and `while` are inlined too; @prepare is left
    alone. Nothing later needs the name: the same plain ops fuse as well. An inlined op carries the composite's location besides its own.

    Before:
    ```mlir
    %y = weft.composite "softmax" {axis = 1} (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>):
      %m = weft.reduce max, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
      ...
      weft.yield %q : tensor<4x8xf32>
    }
    ```
    After:
    ```mlir
    %m = weft.reduce max, %x dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ...
    ```
  }];
}

def FormLibraryCalls : Fusion_Pass<"form-library-calls"> {
  let summary = "Puts every dot_general and convolution, with the elementwise ops after it, into a library call";
  let description = [{
    Precondition: no composites. Each contraction becomes the hero of a `weft.library_call`. The epilogue grows over the
    elementwise ops that follow, as far as one value remains that others read; an operand from outside is a scalar,
    a vector along the columns (the features of a convolution), or a tensor of the result's size that does not depend on the hero.
    A contraction whose form no library takes becomes a library call too: the alternative kernel is always made.

    Before:
    ```mlir
    %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %b = weft.broadcast_in_dim %bias dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
    %s = weft.add %d, %b : tensor<4x16xf32>
    ```
    After:
    ```mlir
    %s = weft.library_call "matmul"(%x, %w, %bias) : (...) -> tensor<4x16xf32> {
    ^bb0(%0: tensor<4x8xf32>, %1: tensor<8x16xf32>, %2: tensor<16xf32>):
      %d = weft.dot_general %0, %1 contract = [1] x [0] : ...
      %b = weft.broadcast_in_dim %2 dims = [1] : ...
      %s = weft.add %d, %b : tensor<4x16xf32>
      weft.yield %s : tensor<4x16xf32>
    }
    ```
  }];
  let options = [Option<"alone", "alone", "bool", "false", "Contractions without epilogues, to compare with">];
}

def FuseOps : Fusion_Pass<"fuse-ops"> {
  let summary = "Groups all other ops into fusions, one kernel each, by what they cost on the device";
  let description = [{
    Precondition: no composites; contractions are inside library calls. Works on the body of every function but @prepare and on the
    regions of `if` and `while`. The README of this folder says how pairs are priced and which regions each kind of fusion may
    hold. A reshape outside stays: it is another name for the same bytes.

    Before:
    ```mlir
    %a = weft.exponential %x : tensor<4x8xf32>
    %s = weft.reduce sum, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %s = weft.fusion row_reduction(%x) : (tensor<4x8xf32>) -> tensor<4xf32> {
    ^bb0(%0: tensor<4x8xf32>):
      %a = weft.exponential %0 : tensor<4x8xf32>
      %r = weft.reduce sum, %a dims = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
      weft.yield %r : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", "\"cpu\"", "Name of the device whose costs decide">,
    Option<"print", "print", "bool", "false", "Write the decisions to standard error">,
    Option<"alone", "alone", "bool", "false", "One kernel an op, to compare with">
  ];
}

def VerifyFused : Fusion_Pass<"verify-fused"> {
  let summary = "Checks that a module is what the Fusion stage promises";
  let description = [{
    Precondition: the Fusion stage has run. Outside @prepare only `weft.fusion`, `weft.library_call`, `weft.reshape`, `weft.if`,
    `weft.while`, `weft.bind_dim`, `weft.yield` and `func.return` are left; each fusion's region is of its kind, each library call's a hero with
    an epilogue. The rules, fused_c1 to fused_c4, are in the README of this folder.

    Before and after:
    ```mlir
    %s = weft.fusion loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%0: tensor<4xf32>):
      %1 = weft.negate %0 : tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }
    ```
  }];
}

def PrintKernels : Fusion_Pass<"print-kernels"> {
  let summary = "Writes the number of kernels of a module and the bytes they move to standard error";
  let description = [{
    Precondition: none; an op that stands outside a fusion and a library call counts as a kernel of its own, a reshape as none, a
    constant as one where it has to be stored. Bytes are those of operands, as far as they are read, and results, at the upper bounds of the symbols.

    Before and after:
    ```mlir
    %s = weft.negate %x : tensor<4xf32>   // 1 kernel, 32 bytes
    ```
  }];
}

#endif
