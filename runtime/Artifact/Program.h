// The contents of an artifact as plain structures: what the compiler fills in, the artifact stores and the executor
// runs.
#pragma once

#include "runtime/Core/ElementType.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weft::runtime {

// Bytes that belong to somebody else.
struct ByteSpan {
  const uint8_t *data = nullptr;
  uint64_t size = 0;
};

// ---------------------------------------------------------------------------------------------------------------------
// Symbols and expressions
// ---------------------------------------------------------------------------------------------------------------------

// Where the value of a symbol comes from in a run.
enum class SymbolSource : uint8_t {
  InputDimension = 0, // the dimension of an input that consists of this symbol alone
  Data = 1,           // a BindSymbol op; before it, the symbol has its maximum
};

// A named dimension. Values lie in [minimum, maximum], 0 <= minimum <= maximum.
struct Symbol {
  std::string name;
  int64_t minimum = 0;
  int64_t maximum = 0;
  SymbolSource source = SymbolSource::InputDimension;
};

enum class ExpressionOpcode : uint8_t {
  Constant = 0, // push value
  Symbol = 1,   // push the symbol of index value
  Add = 2,      // the rest pop two operands (the second on top) and push the result
  Subtract = 3,
  Multiply = 4,
  FloorDivide = 5, // rounds toward minus infinity; the divisor's bounds must be positive; so for the next two
  CeilDivide = 6,
  Modulo = 7, // result in [0, divisor)
  Minimum = 8,
  Maximum = 9,
};

struct ExpressionStep {
  ExpressionOpcode opcode = ExpressionOpcode::Constant;
  int64_t value = 0;
};

// An integer computed from symbols, in postfix order; at most 256 steps. A size is never negative at any legal values
// of the symbols, and nothing overflows int64: the reader proves it from the symbols' bounds before use.
struct Expression {
  std::vector<ExpressionStep> steps;

  Expression() = default;
  Expression(int64_t constant) : steps{{ExpressionOpcode::Constant, constant}} {}
  static Expression symbol(uint32_t index) {
    Expression result;
    result.steps = {{ExpressionOpcode::Symbol, static_cast<int64_t>(index)}};
    return result;
  }
  // left opcode right, for the two-operand opcodes.
  static Expression binary(ExpressionOpcode opcode, Expression left, const Expression &right) {
    left.steps.insert(left.steps.end(), right.steps.begin(), right.steps.end());
    left.steps.push_back({opcode, 0});
    return left;
  }
  bool isConstant() const { return steps.size() == 1 && steps[0].opcode == ExpressionOpcode::Constant; }
  bool isSymbol() const { return steps.size() == 1 && steps[0].opcode == ExpressionOpcode::Symbol; }
};

// ---------------------------------------------------------------------------------------------------------------------
// Tensors that have a name
// ---------------------------------------------------------------------------------------------------------------------

// An input or output of an entry point. No dims: a scalar. A dimension may be 0.
struct Port {
  std::string name;
  ElementType type = ElementType::Invalid;
  std::vector<Expression> dims;
};

// A constant tensor in the weights section. Byte count = that of its type and dims.
struct Weight {
  std::string name;
  ElementType type = ElementType::Invalid;
  std::vector<int64_t> dims;
  // Filled in by the writer: offset from the start of the weights section (a multiple of 64), bytes, XXH3-128 of them.
  uint64_t offset = 0;
  uint64_t size = 0;
  std::array<uint64_t, 2> hash = {0, 0};
};

// A tensor that outlives a run and is updated in place (a key/value cache, a generator's position). The caller holds
// it.
struct State {
  std::string name;
  ElementType type = ElementType::Invalid;
  std::vector<int64_t> dims;
  // Index of the weight it starts from, of the same type and dims; -1: it starts from zeros.
  int64_t initialWeight = -1;
};

// ---------------------------------------------------------------------------------------------------------------------
// Buffers and ops
// ---------------------------------------------------------------------------------------------------------------------

enum class BufferKind : uint8_t {
  Input = 0,  // index: the entry's input
  Output = 1, // index: the entry's output; the caller's memory, or memory the runtime allocates. Written by ops; may be
              // read back after it was written.
  Weight = 2, // index: the program's weight; read only
  State = 3,  // index: the program's state; may be written
  Arena = 4,  // memory of the run at `offset`; contents undefined at the start of a run
};

// A contiguous row-major tensor in memory. Arena buffers may overlap (reuse); what a launch may assume of that is in
// kernel_abi.h. A buffer for an input, output, weight or state has its type and as many bytes, but may have other dims
// (a reshape). Type and dims are what observers, the check for NaNs, copies and library calls see.
struct Buffer {
  BufferKind kind = BufferKind::Arena;
  uint32_t index = 0;
  // Arena only: bytes from the arena's start, a multiple of 64 at any values of the symbols. offset + bytes must not
  // exceed the arena's size at any values of the symbols in the variant's ranges (checked from bounds).
  Expression offset = 0;
  ElementType type = ElementType::Invalid;
  std::vector<Expression> dims;
};

// Runs a kernel over [0, tiles).
struct Launch {
  // The symbol in the target's kernels.
  std::string kernel;
  // Indices into the variant's buffers; WeftArgs.buffers is inputs, then outputs.
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  Expression tiles = 1;
  // Bytes of scratch: on the CPU for each worker, on a GPU for the whole launch.
  Expression scratchBytes = 0;
  // The fewest tiles worth handing to a worker (>= 1): about 20 us of work. Of no meaning on a GPU.
  int64_t grain = 1;
  // On a GPU: threads of a block (1 to kMaximumThreads), bytes of dynamic shared memory, and the most blocks of a grid
  // (0: as many as tiles). All 0 on the CPU.
  int32_t threads = 0;
  int64_t sharedBytes = 0;
  int64_t maxBlocks = 0;
};

// What any GPU allows a launch.
inline constexpr int32_t kMaximumThreads = 1024;
inline constexpr int64_t kMaximumSharedBytes = 227 * 1024;
inline constexpr int64_t kMaximumBlocks = INT32_MAX;

// batch x (M,K) x (K,N), each operand contiguous in its buffer.
struct Matmul {
  Expression batch = 1; // 1: no batch dimension
  Expression m;
  Expression n;
  Expression k;
  bool transposeLeft = false;  // the left operand is stored (K,M)
  bool transposeRight = false; // the right operand is stored (N,K)
  bool rightHasBatch = false;  // else the same right operand serves each batch
};

// How the weights of a convolution are stored. O: all output channels, I: input channels of one group; with more than
// one group the output channels of a group are adjacent in O. `Spatial` stands for the 1 to 3 kernel dimensions.
enum class ConvolutionWeightsLayout : uint8_t {
  SpatialIO = 0, // HWIO
  OISpatial = 1, // OIHW
  OSpatialI = 2, // OHWI
};

// Input (N, spatial..., C) and output (N, spatial..., O): the dims of their buffers, which must be so.
// Cross-correlation, as ONNX and StableHLO define convolution.
struct Convolution {
  std::vector<int64_t> strides;
  std::vector<int64_t> paddingLow;
  std::vector<int64_t> paddingHigh;
  std::vector<int64_t> dilations; // 1: dense
  int64_t groups = 1;
  ConvolutionWeightsLayout weightsLayout = ConvolutionWeightsLayout::SpatialIO;
};

enum class PostOpKind : uint8_t {
  Bias = 0, // + buffer[column]; column: the last dimension of the output. First in the list when present
  Sum = 1,  // + alpha * what the output buffer held before the call
  Add = 2,  // value op buffer, `broadcast` says how the buffer spreads
  Subtract = 3,
  Multiply = 4,
  Divide = 5,
  Minimum = 6,
  Maximum = 7,
  Relu = 8, // x > 0 ? x : alpha * x
  GeluErf = 9,
  GeluTanh = 10,
  Tanh = 11,
  Logistic = 12,
  Swish = 13,  // x * logistic(alpha * x)
  Elu = 14,    // x > 0 ? x : alpha * (exp(x) - 1)
  Clip = 15,   // min(max(x, alpha), beta)
  Linear = 16, // alpha * x + beta
  Abs = 17,
  Sqrt = 18,
  Square = 19,
  Exp = 20,
  HardSwish = 21, // x * min(max(x/6 + 1/2, 0), 1)
};

enum class PostOpBroadcast : uint8_t {
  Full = 0,   // same shape as the output
  Column = 1, // one value an element of the last dimension
  Scalar = 2, // one value
};

// One step of an epilogue, applied in order to the accumulated value before it is rounded to the output's type.
struct PostOp {
  PostOpKind kind = PostOpKind::Relu;
  PostOpBroadcast broadcast = PostOpBroadcast::Full;
  uint32_t buffer = 0; // Bias and the two-operand kinds
  float alpha = 0;
  float beta = 0;
};

// A contraction that a library computes when it is present and fast at it; otherwise `alternative` runs. Both write the
// same output from the same operands, up to the order of sums. Every step of the epilogue keeps a NaN; Minimum,
// Maximum, Clip and Relu too.
struct LibraryCall {
  std::string library = "onednn";
  std::variant<Matmul, Convolution> operation;
  uint32_t left = 0;  // matmul: left operand; convolution: input
  uint32_t right = 0; // matmul: right operand; convolution: weights
  uint32_t output = 0;
  std::vector<PostOp> epilogue;
  Launch alternative;
};

// Copies all bytes; both buffers have the same byte count at any values of the symbols, and either do not overlap or
// are the same.
struct Copy {
  uint32_t source = 0;
  uint32_t destination = 0;
};

// Sets every element to one value, given as its bytes (storage bits / 8, at least 1).
struct Fill {
  uint32_t destination = 0;
  std::vector<uint8_t> pattern;
};

// Runs a block of the variant according to an i1 scalar.
struct If {
  uint32_t condition = 0;
  uint32_t thenBlock = 0;
  uint32_t elseBlock = 0;
};

// while (condition block leaves a true i1 scalar in `condition`) body block.
struct While {
  uint32_t conditionBlock = 0;
  uint32_t condition = 0;
  uint32_t bodyBlock = 0;
};

// Fails the run with `message` unless the two values are equal.
struct CheckEqual {
  Expression left;
  Expression right;
  std::string message;
};

// Reads an integer scalar (i32, i64, ui32 or ui64) from a buffer, checks it against the symbol's bounds and makes it
// the symbol's value from here on. The symbol's source must be Data.
struct BindSymbol {
  uint32_t symbol = 0;
  uint32_t buffer = 0;
  std::string message; // said, before the numbers, when the value is out of bounds
};

using OpBody = std::variant<Launch, LibraryCall, Copy, Fill, If, While, CheckEqual, BindSymbol>;

struct Op {
  // For people: "conv1_relu_fusion". Need not be unique.
  std::string name;
  // The model's nodes this op computes; for profiles and error messages.
  std::vector<std::string> sourceNodes;
  OpBody body;
};

// Ops in the order they run.
struct Block {
  std::vector<Op> ops;
};

// ---------------------------------------------------------------------------------------------------------------------
// Programs
// ---------------------------------------------------------------------------------------------------------------------

struct SymbolRange {
  uint32_t symbol = 0;
  int64_t minimum = 0;
  int64_t maximum = 0;
};

// One way to run an entry point: for some target and some values of the symbols.
struct Variant {
  uint32_t target = 0;
  // Symbols not listed: the symbol's own range.
  std::vector<SymbolRange> ranges;
  // Bytes of the run's arena.
  Expression arenaBytes = 0;
  std::vector<Buffer> buffers;
  // blocks[0] is the program; every other block is used by exactly one If or While of a block with a lower index.
  std::vector<Block> blocks;
};

// A function that can be run. The runtime takes the first variant whose target fits the machine and whose ranges fit
// the inputs.
struct Entry {
  std::string name = "main";
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Variant> variants;
};

// A kind of machine, and the kernels for it.
struct Target {
  // "cpu" or "cuda".
  std::string device = "cpu";
  // "x86_64"; on "cuda" what the kernels were compiled for: "sm_80", "sm_90", or "sm_90a" (that GPU alone).
  std::string architecture = "x86_64";
  // What the user asked for: "x86-64-v3", "native (znver3)"; for messages only.
  std::string name;
  // Names of runtime/Artifact/CpuFeatures.h, all required.
  std::vector<std::string> features;
  // "cpu": an ELF shared object without needed libraries, that defines the kernels as dynamic symbols. "cuda": the text
  // of one PTX module and the NUL that ends it.
  std::vector<uint8_t> kernels;
  // "cuda": the same module assembled for the architecture, which saves the driver that work when it loads; or nothing.
  std::vector<uint8_t> cubin;
};

struct Program {
  // What made it ("weft 0.1.0") and from what; for inspection.
  std::string producer;
  std::string modelName;
  // "strict" or "fast".
  std::string numerics = "strict";
  std::vector<std::pair<std::string, std::string>> metadata;

  std::vector<Symbol> symbols;
  std::vector<Weight> weights;
  std::vector<State> states;
  // The texts of kernel errors WEFT_KERNEL_MESSAGE_BASE + i.
  std::vector<std::string> kernelMessages;
  std::vector<Target> targets;
  std::vector<Entry> entries;
};

} // namespace weft::runtime
