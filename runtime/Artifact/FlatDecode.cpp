// FlatBuffer to Program, with a budget on the memory a damaged buffer can ask for.
#include "runtime/Artifact/Artifact_generated.h"
#include "runtime/Artifact/FlatConversion.h"

namespace weft::runtime {
namespace {

// Offsets in a FlatBuffer may point to one table many times, so a small buffer can describe a huge program. What the
// writer makes shares nothing, and then decoded bytes stay below this multiple of the encoded ones.
constexpr uint64_t kBudgetFactor = 64;
constexpr uint64_t kBudgetBase = 1 << 20;

struct BudgetExceeded {};
struct Malformed {
  const char *what;
};

class Decoder {
public:
  explicit Decoder(size_t size) : budget_(kBudgetFactor * size + kBudgetBase) {}
  void decode(const flat::Program *source, Program &program, std::vector<TargetRanges> &kernels);

private:
  void spend(uint64_t bytes) {
    if (bytes > budget_)
      throw BudgetExceeded();
    budget_ -= bytes;
  }
  std::string text(const flatbuffers::String *source) {
    if (!source)
      return {};
    spend(source->size());
    return source->str();
  }
  template <typename T> std::vector<T> numbers(const flatbuffers::Vector<T> *source) {
    if (!source)
      return {};
    spend(uint64_t(source->size()) * sizeof(T));
    // The verifier does not look at the alignment of elements, which in a damaged file may be any.
    static_assert(FLATBUFFERS_LITTLEENDIAN && std::is_arithmetic_v<T>, "elements are copied as they lie in the file");
    std::vector<T> result(source->size());
    if (!result.empty())
      std::memcpy(result.data(), source->Data(), result.size() * sizeof(T));
    return result;
  }
  template <typename T, typename Source, typename Function>
  std::vector<T> list(const flatbuffers::Vector<flatbuffers::Offset<Source>> *source, Function decodeOne) {
    std::vector<T> result;
    if (!source)
      return result;
    spend(uint64_t(source->size()) * sizeof(T));
    result.reserve(source->size());
    for (const Source *item : *source)
      result.push_back(decodeOne(item));
    return result;
  }
  std::vector<std::string> texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *source) {
    return list<std::string>(source, [&](const flatbuffers::String *item) { return text(item); });
  }

  // An absent expression has no steps, which validation rejects.
  Expression expression(const flat::Expression *source) {
    Expression result;
    if (!source || !source->steps())
      return result;
    spend(uint64_t(source->steps()->size()) * sizeof(ExpressionStep));
    result.steps.reserve(source->steps()->size());
    for (flatbuffers::uoffset_t i = 0; i < source->steps()->size(); ++i) {
      // Copied first, as numbers are.
      flat::ExpressionStep step;
      std::memcpy(&step, source->steps()->Data() + i * sizeof step, sizeof step);
      result.steps.push_back({static_cast<ExpressionOpcode>(step.opcode()), step.value()});
    }
    return result;
  }
  std::vector<Expression> expressions(const flatbuffers::Vector<flatbuffers::Offset<flat::Expression>> *source) {
    return list<Expression>(source, [&](const flat::Expression *item) { return expression(item); });
  }
  Port port(const flat::Port *source) {
    return {text(source->name()), static_cast<ElementType>(source->type()), expressions(source->dims())};
  }
  Buffer buffer(const flat::Buffer *source) {
    Buffer result;
    result.kind = static_cast<BufferKind>(source->kind());
    result.index = source->index();
    result.offset = expression(source->offset());
    result.type = static_cast<ElementType>(source->type());
    result.dims = expressions(source->dims());
    return result;
  }
  Launch launch(const flat::Launch *source) {
    if (!source)
      throw Malformed{"a library call without an alternative kernel"};
    Launch result;
    result.kernel = text(source->kernel());
    result.inputs = numbers(source->inputs());
    result.outputs = numbers(source->outputs());
    result.tiles = expression(source->tiles());
    result.scratchBytes = expression(source->scratch_bytes());
    result.grain = source->grain();
    result.threads = source->threads();
    result.sharedBytes = source->shared_bytes();
    result.maxBlocks = source->max_blocks();
    return result;
  }
  LibraryCall libraryCall(const flat::LibraryCall *source);
  OpBody opBody(const flat::Op *source);
  Variant variant(const flat::Variant *source);

  uint64_t budget_;
};

LibraryCall Decoder::libraryCall(const flat::LibraryCall *source) {
  LibraryCall result;
  result.library = text(source->library());
  if (!source->operation())
    throw Malformed{"a library call without an operation"};
  if (const flat::Matmul *matmul = source->operation_as_Matmul()) {
    result.operation = Matmul{expression(matmul->batch()), expression(matmul->m()),  expression(matmul->n()),
                              expression(matmul->k()),     matmul->transpose_left(), matmul->transpose_right(),
                              matmul->right_has_batch()};
  } else if (const flat::Convolution *convolution = source->operation_as_Convolution()) {
    result.operation = Convolution{numbers(convolution->strides()),
                                   numbers(convolution->padding_low()),
                                   numbers(convolution->padding_high()),
                                   numbers(convolution->dilations()),
                                   convolution->groups(),
                                   static_cast<ConvolutionWeightsLayout>(convolution->weights_layout())};
  } else {
    throw Malformed{"a library call without an operation"};
  }
  result.left = source->left();
  result.right = source->right();
  result.output = source->output();
  result.epilogue = list<PostOp>(source->epilogue(), [](const flat::PostOp *item) {
    return PostOp{static_cast<PostOpKind>(item->kind()), static_cast<PostOpBroadcast>(item->broadcast()),
                  item->buffer(), item->alpha(), item->beta()};
  });
  result.alternative = launch(source->alternative());
  return result;
}

OpBody Decoder::opBody(const flat::Op *source) {
  // The verifier lets a union without a value pass.
  if (!source->body())
    throw Malformed{"an op without a body"};
  switch (source->body_type()) {
  case flat::OpBody_Launch:
    return launch(source->body_as_Launch());
  case flat::OpBody_LibraryCall:
    return libraryCall(source->body_as_LibraryCall());
  case flat::OpBody_Copy:
    return Copy{source->body_as_Copy()->source(), source->body_as_Copy()->destination()};
  case flat::OpBody_Fill:
    return Fill{source->body_as_Fill()->destination(), numbers(source->body_as_Fill()->pattern())};
  case flat::OpBody_If: {
    const flat::If *body = source->body_as_If();
    return If{body->condition(), body->then_block(), body->else_block()};
  }
  case flat::OpBody_While: {
    const flat::While *body = source->body_as_While();
    return While{body->condition_block(), body->condition(), body->body_block()};
  }
  case flat::OpBody_CheckEqual: {
    const flat::CheckEqual *body = source->body_as_CheckEqual();
    return CheckEqual{expression(body->left()), expression(body->right()), text(body->message())};
  }
  case flat::OpBody_BindSymbol: {
    const flat::BindSymbol *body = source->body_as_BindSymbol();
    return BindSymbol{body->symbol(), body->buffer(), text(body->message())};
  }
  default:
    throw Malformed{"an op of a kind this runtime does not know"};
  }
}

Variant Decoder::variant(const flat::Variant *source) {
  Variant result;
  result.target = source->target();
  result.ranges = list<SymbolRange>(source->ranges(), [](const flat::SymbolRange *item) {
    return SymbolRange{item->symbol(), item->minimum(), item->maximum()};
  });
  result.arenaBytes = expression(source->arena_bytes());
  result.buffers = list<Buffer>(source->buffers(), [&](const flat::Buffer *item) { return buffer(item); });
  result.blocks = list<Block>(source->blocks(), [&](const flat::Block *block) {
    return Block{list<Op>(block->ops(), [&](const flat::Op *item) {
      return Op{text(item->name()), texts(item->source_nodes()), opBody(item)};
    })};
  });
  return result;
}

void Decoder::decode(const flat::Program *source, Program &program, std::vector<TargetRanges> &kernels) {
  program.producer = text(source->producer());
  program.modelName = text(source->model_name());
  program.numerics = text(source->numerics());
  program.metadata = list<std::pair<std::string, std::string>>(source->metadata(), [&](const flat::Metadata *item) {
    return std::make_pair(text(item->key()), text(item->value()));
  });
  program.symbols = list<Symbol>(source->symbols(), [&](const flat::Symbol *item) {
    return Symbol{text(item->name()), item->minimum(), item->maximum(), static_cast<SymbolSource>(item->source())};
  });
  program.weights = list<Weight>(source->weights(), [&](const flat::Weight *item) {
    Weight weight{text(item->name()),    static_cast<ElementType>(item->type()),
                  numbers(item->dims()), item->offset(),
                  item->size(),          {0, 0}};
    if (item->hash())
      weight.hash = {item->hash()->low(), item->hash()->high()};
    return weight;
  });
  program.states = list<State>(source->states(), [&](const flat::State *item) {
    return State{text(item->name()), static_cast<ElementType>(item->type()), numbers(item->dims()),
                 item->initial_weight()};
  });
  program.kernelMessages = texts(source->kernel_messages());
  program.targets = list<Target>(source->targets(), [&](const flat::Target *item) {
    kernels.push_back({{item->kernels_offset(), item->kernels_size()}, {item->cubin_offset(), item->cubin_size()}});
    return Target{
        text(item->device()), text(item->architecture()), text(item->name()), texts(item->features()), {}, {}};
  });
  program.entries = list<Entry>(source->entries(), [&](const flat::Entry *item) {
    Entry entry;
    entry.name = text(item->name());
    entry.inputs = list<Port>(item->inputs(), [&](const flat::Port *p) { return port(p); });
    entry.outputs = list<Port>(item->outputs(), [&](const flat::Port *p) { return port(p); });
    entry.variants = list<Variant>(item->variants(), [&](const flat::Variant *v) { return variant(v); });
    return entry;
  });
}

} // namespace

Status decodeProgram(const uint8_t *data, size_t size, Program &program, std::vector<TargetRanges> &kernels) {
  // Every table takes at least four bytes, so a buffer that claims more of them shares or is damaged.
  flatbuffers::Verifier verifier(data, size, /*max_depth=*/64, static_cast<flatbuffers::uoffset_t>(size / 4 + 1));
  if (size < 8 || !flat::VerifyProgramBuffer(verifier))
    return Status(StatusCode::DataLoss, "its structure section is damaged");
  try {
    Decoder(size).decode(flat::GetProgram(data), program, kernels);
  } catch (const BudgetExceeded &) {
    return Status(StatusCode::DataLoss, "its structure section describes more than it can hold");
  } catch (const Malformed &malformed) {
    return Status(StatusCode::DataLoss, std::string("its structure section holds ") + malformed.what);
  }
  return Status();
}

} // namespace weft::runtime
