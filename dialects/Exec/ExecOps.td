//===- ExecOps.td - The Exec dialect: a straight program over buffers ----------------*- tablegen -*-===//

#ifndef WEFT_DIALECTS_EXEC_EXECOPS_TD
#define WEFT_DIALECTS_EXEC_EXECOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::weft::exec";
  let summary = "A scheduled program: launches, library calls, copies and control flow over buffers.";
  let description = [{
    What Schedule makes of a fused graph and Emit writes into the artifact, one to one. A program is an `exec.entry` and the
    kernels it launches. Sizes are affine maps of the symbols that the entry lists: `affine_map<()[s0] -> (s0 * 64)>`.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypes();";
}

def Exec_Buffer : TypeDef<Exec_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A contiguous row-major tensor in memory";
  let description = "The element type and the sizes, one result of the map a dimension.";
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::AffineMap":$shape);
  let assemblyFormat = "`<` $elementType `,` $shape `>`";
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_KernelOp : Exec_Op<"kernel", [IsolatedFromAbove, Symbol]> {
  let summary = "The meaning of one kernel: a region of Graph ops on tensors";
  let description = [{
    Code generation makes one function of the name from the region. `kind` is the fusion kind. After code generation `tiles` is the size of
    the iteration space, `grain` the fewest tiles worth a thread and `scratch` the bytes of scratch a worker needs, all over the module's symbols, and `function` the
    name of the function where it is not the kernel's own. A kernel of a GPU has no grain; it has the `threads` of a block, the bytes of dynamic
    shared memory where it needs any (`shared`), and the most blocks of a grid (`max_blocks`, absent: as many as tiles), and its scratch is that of
    the whole launch.

    Rules: kernel_c1: 1 <= threads <= 1024. kernel_c2: shared and max_blocks are not negative and come with threads.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, OptionalAttr<AffineMapAttr>:$tiles,
                       OptionalAttr<I64Attr>:$grain, OptionalAttr<AffineMapAttr>:$scratch,
                       OptionalAttr<StrAttr>:$function, OptionalAttr<I64Attr>:$threads, OptionalAttr<I64Attr>:$shared,
                       OptionalAttr<I64Attr>:$max_blocks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `kind` `=` $kind (`tiles` `=` $tiles^)? (`grain` `=` $grain^)? (`scratch` `=` $scratch^)? (`threads` `=` $threads^)? (`shared` `=` $shared^)? (`max_blocks` `=` $max_blocks^)? (`function` `=` $function^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Exec_EntryOp : Exec_Op<"entry", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "An entry point of the program";
  let description = [{
    `symbols` names the symbolic dimensions in the order in which every affine map of the module counts them, `minimums` and `maximums` are their
    bounds. `arena` is the bytes of the arena. The attributes `inputs` and `outputs` list the ports in the model's order.

    Rules: entry_c1: one minimum and one maximum a symbol. entry_c2: 0 <= minimum <= maximum. entry_c3: the arena's size is one expression of the
    symbols.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$symbols, DenseI64ArrayAttr:$minimums,
                       DenseI64ArrayAttr:$maximums, AffineMapAttr:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `symbols` `=` $symbols `in` $minimums `to` $maximums `arena` `=` $arena attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

class Exec_BufferOp<string mnemonic, string text> : Exec_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = text # ".";
  let arguments = (ins StrAttr:$name);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$name attr-dict `:` type($buffer)";
}
def Exec_InputOp : Exec_BufferOp<"input", "The memory of a model input, by name">;
def Exec_OutputOp : Exec_BufferOp<"output", "The memory of a model output, by name">;
def Exec_WeightOp : Exec_BufferOp<"weight", "A value of the weight store, by name">;
def Exec_StateOp : Exec_BufferOp<"state", "A tensor that outlives a run, by name">;

def Exec_ArenaOp : Exec_Op<"arena", [Pure]> {
  let summary = "A piece of the run's arena";
  let description = [{
    `offset` is in bytes. Pieces whose lives do not overlap may share memory.

    Rules: arena_c1: the offset is one expression of symbols. arena_c2: it is a multiple of 64.
  }];
  let arguments = (ins AffineMapAttr:$offset);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "`offset` `=` $offset attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Exec_AliasOp : Exec_Op<"alias", [Pure]> {
  let summary = "The same memory under another shape";
  let description = "A reshape without a kernel.";
  let arguments = (ins Exec_Buffer:$source);
  let results = (outs Exec_Buffer:$buffer);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($buffer)";
}

def Exec_LaunchOp : Exec_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "Runs a kernel over its tiles";
  let description = [{
    The buffers are the kernel region's arguments, then what it yields.

    Rules: launch_c1: the kernel is in the module. launch_c2: as many buffers as the kernel takes and gives.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs, Variadic<Exec_Buffer>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` `to` `(` $outputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Exec_LibraryCallOp : Exec_Op<"library_call", [AttrSizedOperandSegments]> {
  let summary = "Runs a contraction by a library, or its alternative kernel where the library cannot";
  let description = [{
    `callee` is `matmul` or `convolution`, `config` its sizes and options by the names of the artifact's schema. `epilogue` lists the
    post-ops, each a dictionary {kind, alpha, beta, broadcast, operand}: `operand` counts in `extra`. The alternative takes
    `alternative_inputs`.
  }];
  let arguments = (ins StrAttr:$callee, FlatSymbolRefAttr:$alternative, DictionaryAttr:$config, ArrayAttr:$epilogue,
                       Exec_Buffer:$left, Exec_Buffer:$right, Variadic<Exec_Buffer>:$extra,
                       Variadic<Exec_Buffer>:$alternative_inputs, Exec_Buffer:$output);
  let assemblyFormat = [{
    $callee `(` $left `,` $right (`,` $extra^)? `)` `to` $output `config` `=` $config `epilogue` `=` $epilogue
    `alternative` `=` $alternative `(` $alternative_inputs `)` attr-dict
    `:` `(` type($left) `,` type($right) (`,` type($extra)^)? `)` `to` type($output) `,` `(` type($alternative_inputs) `)`
  }];
}

def Exec_CopyOp : Exec_Op<"copy"> {
  let summary = "Copies all bytes of one buffer to another";
  let description = "Both have as many bytes.";
  let arguments = (ins Exec_Buffer:$source, Exec_Buffer:$destination);
  let assemblyFormat = "$source `to` $destination attr-dict `:` type($source) `to` type($destination)";
}

def Exec_CheckEqualOp : Exec_Op<"check_equal", [ParentOneOf<["exec::EntryOp"]>]> {
  let summary = "Ends the run with an error unless two sizes are equal";
  let description = [{
    What the program needs of the symbols. `message` begins the error.

    Rules: check_equal_c1: each side is one expression of the entry's symbols.
  }];
  let arguments = (ins AffineMapAttr:$left, AffineMapAttr:$right, StrAttr:$message);
  let assemblyFormat = "$left `,` $right $message attr-dict";
  let hasVerifier = 1;
}

def Exec_BindSymbolOp : Exec_Op<"bind_symbol"> {
  let summary = "Gives a symbol the value that a scalar in memory has";
  let description = [{
    For sizes that depend on data: until then buffers have their sizes at the symbol's maximum. A value outside the symbol's bounds ends the run
    with an error.

    Rules: bind_symbol_c1: the entry lists the symbol. bind_symbol_c2: the value is a scalar of i32, i64, ui32 or ui64.
  }];
  let arguments = (ins StrAttr:$symbol, Exec_Buffer:$value);
  let assemblyFormat = "$symbol `=` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Exec_IfOp : Exec_Op<"if", [NoTerminator, SingleBlock]> {
  let summary = "Runs one of two blocks according to a truth value in memory";
  let description = "The blocks write their results into buffers from outside.";
  let arguments = (ins Exec_Buffer:$condition);
  let regions = (region SizedRegion<1>:$true_block, SizedRegion<1>:$false_block);
  let assemblyFormat = "$condition attr-dict `:` type($condition) $true_block `else` $false_block";
}

def Exec_WhileOp : Exec_Op<"while", [NoTerminator, SingleBlock]> {
  let summary = "Repeats a block while the condition block leaves a true value in memory";
  let description = "Carried values live in buffers from outside, which the body updates.";
  let arguments = (ins Exec_Buffer:$condition);
  let regions = (region SizedRegion<1>:$condition_block, SizedRegion<1>:$body_block);
  let assemblyFormat = "$condition attr-dict `:` type($condition) $condition_block `do` $body_block";
}

#endif
