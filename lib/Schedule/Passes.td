//===- Passes.td - The Schedule stage: order, buffers, Exec -------------------------*- tablegen -*-===//

#ifndef WEFT_LIB_SCHEDULE_PASSES_TD
#define WEFT_LIB_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitLibraryEpilogues : Pass<"split-library-epilogues", "::mlir::ModuleOp"> {
  let summary = "Leaves in a library call what the library can do, and makes the rest a kernel of ours";
  let description = [{
    Precondition: a fused module (verify-fused). The longest prefix of each library call's epilogue that can be a chain of post-ops stays; the ops after it
    become a `loop` fusion. A call whose contraction no library can take becomes a `generic` fusion.

    ```mlir
    %0 = weft.library_call "matmul"(%x, %w) ... { dot_general; sine; yield }
    ```
    becomes
    ```mlir
    %1 = weft.library_call "matmul"(%x, %w) ... { dot_general; yield }
    %0 = weft.fusion loop(%1) ... { sine; yield }
    ```
  }];
  let dependentDialects = ["::weft::graph::GraphDialect"];
}

def ScheduleToExec : Pass<"schedule-to-exec", "::mlir::ModuleOp"> {
  let summary = "Turns @main into an exec.entry over buffers, and its fusions into exec.kernel";
  let description = [{
    Precondition: a fused module without @prepare, after split-library-epilogues. Values become buffers: inputs, outputs, weights, states, and pieces
    of one arena. Pieces whose lives do not overlap share memory; a top-level reshape is an alias; a value that is returned is written straight into the
    output. Equal fusions share a kernel.

    ```mlir
    func.func @main(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) {
      %0 = weft.fusion loop(%x) ...
      return %0
    ```
    becomes
    ```mlir
    exec.kernel @exp_0 kind = "loop" { ... }
    exec.entry @main symbols = [] ... {
      %0 = exec.input "x" : !exec.buffer<f32, affine_map<() -> (4)>>
      %1 = exec.output "y" : !exec.buffer<f32, affine_map<() -> (4)>>
      exec.launch @exp_0(%0) to (%1)
    ```
  }];
  let dependentDialects = ["::weft::exec::ExecDialect", "::weft::graph::GraphDialect"];
}

def VerifyExec : Pass<"verify-exec", "::mlir::ModuleOp"> {
  let summary = "Checks that the module is a scheduled program";
  let description = [{
    Precondition: schedule-to-exec ran. Legal after Schedule: exec.entry and exec.kernel in the module; in an entry only Exec ops; in a kernel only
    Graph ops. Pieces of the arena that are in use at the same time must not overlap where their offsets are constants.
  }];
}

#endif
