// Program to FlatBuffer.
#include "runtime/Artifact/Artifact_generated.h"
#include "runtime/Artifact/FlatConversion.h"

namespace weft::runtime {
namespace {

using flatbuffers::Offset;
template <typename T> using VectorOffset = Offset<flatbuffers::Vector<T>>;

class Encoder {
public:
  Offset<flat::Program> encode(const Program &program, const std::vector<TargetRanges> &kernels);
  flatbuffers::FlatBufferBuilder builder{64 * 1024};

private:
  Offset<flatbuffers::String> text(const std::string &value) { return builder.CreateString(value); }
  template <typename T> auto numbers(const std::vector<T> &values) { return builder.CreateVector(values); }

  // Encodes each element with `encodeOne` and gathers the results.
  template <typename T, typename Function> auto list(const std::vector<T> &values, Function encodeOne) {
    using Element = decltype(encodeOne(values.front()));
    std::vector<Element> offsets;
    offsets.reserve(values.size());
    for (const T &value : values)
      offsets.push_back(encodeOne(value));
    return builder.CreateVector(offsets);
  }
  auto texts(const std::vector<std::string> &values) {
    return list(values, [&](const std::string &value) { return text(value); });
  }

  Offset<flat::Expression> expression(const Expression &value) {
    std::vector<flat::ExpressionStep> steps;
    steps.reserve(value.steps.size());
    for (const ExpressionStep &step : value.steps)
      steps.emplace_back(step.value, static_cast<uint8_t>(step.opcode));
    return flat::CreateExpression(builder, builder.CreateVectorOfStructs(steps));
  }
  auto expressions(const std::vector<Expression> &values) {
    return list(values, [&](const Expression &value) { return expression(value); });
  }

  Offset<flat::Port> port(const Port &value) {
    auto name = text(value.name);
    auto dims = expressions(value.dims);
    return flat::CreatePort(builder, name, static_cast<uint8_t>(value.type), dims);
  }
  Offset<flat::Buffer> buffer(const Buffer &value) {
    auto offset = expression(value.offset);
    auto dims = expressions(value.dims);
    return flat::CreateBuffer(builder, static_cast<uint8_t>(value.kind), value.index, offset,
                              static_cast<uint8_t>(value.type), dims);
  }
  Offset<flat::Launch> launch(const Launch &value) {
    auto kernel = text(value.kernel);
    auto inputs = numbers(value.inputs);
    auto outputs = numbers(value.outputs);
    auto tiles = expression(value.tiles);
    auto scratch = expression(value.scratchBytes);
    return flat::CreateLaunch(builder, kernel, inputs, outputs, tiles, scratch, value.grain, value.threads,
                              value.sharedBytes, value.maxBlocks);
  }
  Offset<flat::LibraryCall> libraryCall(const LibraryCall &value);
  Offset<flat::Op> op(const Op &value);
  Offset<flat::Variant> variant(const Variant &value);
  Offset<flat::Entry> entry(const Entry &value);
};

Offset<flat::LibraryCall> Encoder::libraryCall(const LibraryCall &value) {
  auto library = text(value.library);
  flat::LibraryOperation kind;
  Offset<void> operation;
  if (const auto *matmul = std::get_if<Matmul>(&value.operation)) {
    auto batch = expression(matmul->batch);
    auto m = expression(matmul->m);
    auto n = expression(matmul->n);
    auto k = expression(matmul->k);
    kind = flat::LibraryOperation_Matmul;
    operation = flat::CreateMatmul(builder, batch, m, n, k, matmul->transposeLeft, matmul->transposeRight,
                                   matmul->rightHasBatch)
                    .Union();
  } else {
    const auto &convolution = std::get<Convolution>(value.operation);
    auto strides = numbers(convolution.strides);
    auto low = numbers(convolution.paddingLow);
    auto high = numbers(convolution.paddingHigh);
    auto dilations = numbers(convolution.dilations);
    kind = flat::LibraryOperation_Convolution;
    operation = flat::CreateConvolution(builder, strides, low, high, dilations, convolution.groups,
                                        static_cast<uint8_t>(convolution.weightsLayout))
                    .Union();
  }
  auto epilogue = list(value.epilogue, [&](const PostOp &step) {
    return flat::CreatePostOp(builder, static_cast<uint8_t>(step.kind), static_cast<uint8_t>(step.broadcast),
                              step.buffer, step.alpha, step.beta);
  });
  auto alternative = launch(value.alternative);
  return flat::CreateLibraryCall(builder, library, kind, operation, value.left, value.right, value.output, epilogue,
                                 alternative);
}

Offset<flat::Op> Encoder::op(const Op &value) {
  auto name = text(value.name);
  auto nodes = texts(value.sourceNodes);
  flat::OpBody kind = flat::OpBody_NONE;
  Offset<void> body;
  auto set = [&](flat::OpBody bodyKind, auto offset) {
    kind = bodyKind;
    body = offset.Union();
  };
  if (const auto *x = std::get_if<Launch>(&value.body)) {
    set(flat::OpBody_Launch, launch(*x));
  } else if (const auto *x = std::get_if<LibraryCall>(&value.body)) {
    set(flat::OpBody_LibraryCall, libraryCall(*x));
  } else if (const auto *x = std::get_if<Copy>(&value.body)) {
    set(flat::OpBody_Copy, flat::CreateCopy(builder, x->source, x->destination));
  } else if (const auto *x = std::get_if<Fill>(&value.body)) {
    set(flat::OpBody_Fill, flat::CreateFill(builder, x->destination, numbers(x->pattern)));
  } else if (const auto *x = std::get_if<If>(&value.body)) {
    set(flat::OpBody_If, flat::CreateIf(builder, x->condition, x->thenBlock, x->elseBlock));
  } else if (const auto *x = std::get_if<While>(&value.body)) {
    set(flat::OpBody_While, flat::CreateWhile(builder, x->conditionBlock, x->condition, x->bodyBlock));
  } else if (const auto *x = std::get_if<CheckEqual>(&value.body)) {
    auto left = expression(x->left);
    auto right = expression(x->right);
    set(flat::OpBody_CheckEqual, flat::CreateCheckEqual(builder, left, right, text(x->message)));
  } else if (const auto *x = std::get_if<BindSymbol>(&value.body)) {
    set(flat::OpBody_BindSymbol, flat::CreateBindSymbol(builder, x->symbol, x->buffer, text(x->message)));
  }
  return flat::CreateOp(builder, name, nodes, kind, body);
}

Offset<flat::Variant> Encoder::variant(const Variant &value) {
  auto ranges = list(value.ranges, [&](const SymbolRange &range) {
    return flat::CreateSymbolRange(builder, range.symbol, range.minimum, range.maximum);
  });
  auto arena = expression(value.arenaBytes);
  auto buffers = list(value.buffers, [&](const Buffer &item) { return buffer(item); });
  auto blocks = list(value.blocks, [&](const Block &block) {
    return flat::CreateBlock(builder, list(block.ops, [&](const Op &item) { return op(item); }));
  });
  return flat::CreateVariant(builder, value.target, ranges, arena, buffers, blocks);
}

Offset<flat::Entry> Encoder::entry(const Entry &value) {
  auto name = text(value.name);
  auto inputs = list(value.inputs, [&](const Port &item) { return port(item); });
  auto outputs = list(value.outputs, [&](const Port &item) { return port(item); });
  auto variants = list(value.variants, [&](const Variant &item) { return variant(item); });
  return flat::CreateEntry(builder, name, inputs, outputs, variants);
}

Offset<flat::Program> Encoder::encode(const Program &program, const std::vector<TargetRanges> &kernels) {
  auto producer = text(program.producer);
  auto modelName = text(program.modelName);
  auto numerics = text(program.numerics);
  auto metadata = list(program.metadata, [&](const std::pair<std::string, std::string> &item) {
    auto key = text(item.first);
    return flat::CreateMetadata(builder, key, text(item.second));
  });
  auto symbols = list(program.symbols, [&](const Symbol &symbol) {
    return flat::CreateSymbol(builder, text(symbol.name), symbol.minimum, symbol.maximum,
                              static_cast<uint8_t>(symbol.source));
  });
  auto weights = list(program.weights, [&](const Weight &weight) {
    auto name = text(weight.name);
    auto dims = numbers(weight.dims);
    flat::Hash hash(weight.hash[0], weight.hash[1]);
    return flat::CreateWeight(builder, name, static_cast<uint8_t>(weight.type), dims, weight.offset, weight.size,
                              &hash);
  });
  auto states = list(program.states, [&](const State &state) {
    auto name = text(state.name);
    return flat::CreateState(builder, name, static_cast<uint8_t>(state.type), numbers(state.dims), state.initialWeight);
  });
  auto messages = texts(program.kernelMessages);
  size_t index = 0;
  auto targets = list(program.targets, [&](const Target &target) {
    auto device = text(target.device);
    auto architecture = text(target.architecture);
    auto name = text(target.name);
    auto features = texts(target.features);
    const TargetRanges &ranges = kernels[index++];
    return flat::CreateTarget(builder, device, architecture, name, features, ranges.kernels.offset, ranges.kernels.size,
                              ranges.cubin.offset, ranges.cubin.size);
  });
  auto entries = list(program.entries, [&](const Entry &item) { return entry(item); });
  return flat::CreateProgram(builder, producer, modelName, numerics, metadata, symbols, weights, states, messages,
                             targets, entries);
}

} // namespace

std::vector<uint8_t> encodeProgram(const Program &program, const std::vector<TargetRanges> &kernels) {
  Encoder encoder;
  encoder.builder.Finish(encoder.encode(program, kernels));
  const uint8_t *data = encoder.builder.GetBufferPointer();
  return std::vector<uint8_t>(data, data + encoder.builder.GetSize());
}

} // namespace weft::runtime
