//===- KernelAnalysis.cpp - Whether a set of ops can be one kernel, of which kind, and at what cost -------===//

#include "lib/Fusion/KernelAnalysis.h"
#include "lib/Fusion/KernelForm.h"
#include "lib/Fusion/LibraryCallForm.h"
#include "lib/Fusion/Regions.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;

namespace {

constexpr llvm::StringLiteral kTooManyBuffers = "a kernel has at most 64 operands and results";
constexpr llvm::StringLiteral kTooManyOps = "a kernel has at most 192 ops";
constexpr llvm::StringLiteral kTooManyEmissions = "its ops would be repeated at too many different indices";
constexpr llvm::StringLiteral kHeroIndices = "only ops that work element by element follow a hero in its kernel";
constexpr llvm::StringLiteral kRepeatedReads = "this op reads its operand's elements many times";

/// Whether the transpose changes which of the dimensions that are not 1 runs fastest.
bool movesInnermostDimension(TransposeOp op) {
  RankedTensorType operand = tensorType(op.getOperand());
  int64_t innermost = operand.getRank() - 1;
  while (innermost >= 0 && operand.getDimSize(innermost) == 1)
    --innermost;
  for (int64_t dimension : llvm::reverse(op.getPermutation()))
    if (operand.getDimSize(dimension) != 1)
      return dimension != innermost;
  return false;
}

bool reducesTrailingDimensions(ReduceOp op) {
  int64_t rank = tensorType(op.getOperand()).getRank();
  ArrayRef<int64_t> dimensions = op.getDimensions();
  return !dimensions.empty() && dimensions.front() == rank - static_cast<int64_t>(dimensions.size());
}

/// The places of a kernel where elements of one value are computed or read, all at the same indices.
struct Context {
  uint64_t id;
  double elements; // how many in one run of the kernel
};

/// The context of the results, and of one element a row. The passes over the rows of a row kernel count up from
/// kFirstPass.
constexpr uint64_t kResult = 1, kRow = 2, kFirstPass = 16, kAfterPasses = uint64_t(1) << 32;
/// From so many operations an element, a row kernel keeps the value for its next pass instead of computing it again.
constexpr double kKeptOperations = 20;

/// The context behind an index map or a hero, apart from all of the above.
uint64_t derivedContext(llvm::hash_code code) { return static_cast<size_t>(code) | (uint64_t(1) << 63); }

struct Contexts {
  SmallVector<Context, 1> list;

  void add(Context context) {
    for (Context &known : list)
      if (known.id == context.id) {
        known.elements = std::max(known.elements, context.elements);
        return;
      }
    list.push_back(context);
  }
  double elements() const {
    double sum = 0;
    for (const Context &context : list)
      sum += context.elements;
    return sum;
  }
  /// The same with the passes over a row counted as one.
  double elementsOfOnePass() const {
    double sum = 0, pass = 0;
    for (const Context &context : list)
      if (context.id >= kFirstPass && context.id < kAfterPasses)
        pass = std::max(pass, context.elements);
      else
        sum += context.elements;
    return sum + pass;
  }
};

/// How an index map reads an operand for `elements` elements of its result. One that repeats elements reads as often;
/// any other reads no element twice.
double readsOfIndexMap(Operation *op, double elements, double operandElements, double resultElements) {
  if (isa<BroadcastInDimOp, GatherOp>(op) || resultElements <= 0)
    return elements;
  return elements * std::min(1.0, operandElements / resultElements);
}

/// One analysis: walks the ops backwards and finds out how often each is computed and each operand is read.
class Walk {
public:
  Walk(ArrayRef<Operation *> ops, ArrayRef<Value> outputs, KernelAnalyzer &analyzer)
      : ops(ops), outputs(outputs), analyzer(analyzer) {}

  KernelAnalysis run();

private:
  StringRef visit(unsigned position);
  void use(Value value, Context context);
  void price();

  ArrayRef<Operation *> ops;
  ArrayRef<Value> outputs;
  KernelAnalyzer &analyzer;
  KernelForm form;
  KernelAnalysis analysis;
  llvm::SmallDenseMap<Operation *, unsigned, 16> index;
  SmallVector<Contexts> computed; // one an op
  SmallVector<Contexts, 4> read;  // one an operand of the kernel
  llvm::SmallDenseMap<Value, unsigned, 8> operandIndex;
  double rows = 0, fullElements = 0;
};

void Walk::use(Value value, Context context) {
  Operation *definition = value.getDefiningOp();
  if (definition)
    if (auto found = index.find(definition); found != index.end()) {
      computed[found->second].add(context);
      return;
    }
  if (definition && analyzer.getFacts(definition).rematerialized)
    return;
  auto [found, isNew] = operandIndex.try_emplace(value, analysis.operands.size());
  if (isNew) {
    analysis.operands.push_back(value);
    read.emplace_back();
  }
  read[found->second].add(context);
}

/// Adds the contexts in which an op reads its operands to these.
StringRef Walk::visit(unsigned position) {
  Operation *op = ops[position];
  // A copy: the analyzer may move its facts when it looks up those of an operand.
  const OpFacts facts = analyzer.getFacts(op);
  const Contexts &contexts = computed[position];
  bool inRows = !form.states.empty();
  switch (facts.role) {
  case FusionRole::Elementwise:
    for (Value operand : op->getOperands())
      for (const Context &context : contexts.list)
        use(operand, context);
    return {};
  case FusionRole::IndexMap: {
    bool isHero = op == form.hero, ofRows = inRows && form.states[position] != RowState::Independent;
    if (isHero && (contexts.list.size() != 1 || contexts.list.front().id != kResult))
      return kHeroIndices;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      double operandElements = analyzer.getElements(operand.getType());
      for (const Context &context : contexts.list) {
        if (ofRows) {
          // Reshapes and repeats the value of the row: it is computed once a row.
          use(operand, {kRow, rows});
          continue;
        }
        uint64_t id = derivedContext(llvm::hash_combine(context.id, op, number));
        // A single element is computed once, before the loop.
        double elements =
            operandElements <= 1 ? 1 : readsOfIndexMap(op, context.elements, operandElements, facts.elements);
        use(operand, {operandElements <= 1 ? uint64_t(0) : id, elements});
      }
    }
    return {};
  }
  case FusionRole::Reduction:
    if (inRows) {
      use(op->getOperand(0), {kFirstPass + form.levels[position], fullElements});
      return {};
    }
    [[fallthrough]];
  case FusionRole::Generic: {
    if (contexts.list.size() != 1 || contexts.list.front().id != kResult)
      return kHeroIndices;
    auto fusible = cast<FusibilityInterface>(op);
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      double operandElements = analyzer.getElements(operand.getType());
      bool once = fusible.readsEachElementOnce(number);
      double elements = once ? operandElements : facts.operations;
      bool isInside = operand.getDefiningOp() && index.contains(operand.getDefiningOp());
      if (isInside && !once && elements <= operandElements)
        return kRepeatedReads;
      use(operand, {derivedContext(llvm::hash_combine(op, number)), elements});
    }
    return {};
  }
  default:
    return {};
  }
}

KernelAnalysis Walk::run() {
  // The copies of rematerialized ops that a finished region holds do not count: there are none before it is made.
  auto counts = [&](Operation *op) { return !op || !analyzer.getFacts(op).rematerialized; };
  if (ops.size() > KernelLimits::kOps && llvm::count_if(ops, counts) > static_cast<int64_t>(KernelLimits::kOps)) {
    analysis.reason = kTooManyOps;
    return analysis;
  }
  form = findKernelForm(ops, outputs, analyzer);
  analysis.kind = form.kind;
  analysis.reason = form.reason;
  if (!form.reason.empty())
    return analysis;
  for (auto [position, op] : llvm::enumerate(ops))
    index[op] = position;
  computed.resize(ops.size());
  if (form.fullType) {
    fullElements = analyzer.getElements(form.fullType);
    rows = analyzer.getElements(makeTensorType(ArrayRef<Dim>(getDims(form.fullType)).take_front(form.rowDimensions),
                                               form.fullType.getElementType()));
  }
  for (Value output : outputs) {
    Operation *definition = output.getDefiningOp();
    auto found = definition ? index.find(definition) : index.end();
    Context context{kResult, analyzer.getElements(output.getType())};
    if (form.fullType) {
      unsigned level = found == index.end() ? 0 : form.levels[found->second];
      bool isFull = haveSameDims(output.getType(), form.fullType);
      context = isFull ? Context{kFirstPass + level + 1, fullElements} : Context{kRow, rows};
    }
    use(output, context);
  }
  size_t emissions = 0;
  for (unsigned position = ops.size(); position-- > 0;) {
    if (analyzer.getFacts(ops[position]).rematerialized)
      continue;
    emissions += computed[position].list.size();
    if (emissions > KernelLimits::kEmissions) {
      analysis.reason = kTooManyEmissions;
      return analysis;
    }
    analysis.reason = visit(position);
    if (!analysis.reason.empty())
      return analysis;
  }
  // The walk went backwards.
  std::reverse(analysis.operands.begin(), analysis.operands.end());
  std::reverse(read.begin(), read.end());
  if (ops.size() > 1 && analysis.operands.size() + outputs.size() > KernelLimits::kBuffers) {
    analysis.reason = kTooManyBuffers;
    return analysis;
  }
  price();
  return analysis;
}

void Walk::price() {
  const DeviceDescription &device = analyzer.getDevice();
  KernelWork &work = analysis.work;
  for (auto [position, op] : llvm::enumerate(ops)) {
    const OpFacts &facts = analyzer.getFacts(op);
    if (facts.rematerialized)
      continue;
    const Contexts &contexts = computed[position];
    bool isKept = facts.operations >= kKeptOperations * facts.elements;
    double times =
        facts.elements <= 0 ? 1 : (isKept ? contexts.elementsOfOnePass() : contexts.elements()) / facts.elements;
    switch (facts.role) {
    case FusionRole::IndexMap:
      // What it costs to find the place: nothing where that follows from the place of the neighbour.
      work.operations += isa<BroadcastInDimOp>(op) ? 0 : computed[position].elements();
      break;
    case FusionRole::Elementwise:
      work.operations += facts.operations * times;
      break;
    default:
      work.operations += facts.operations;
    }
  }
  double units = static_cast<double>(std::max<int64_t>(device.units, 1));
  for (auto [operand, contexts] : llvm::zip(analysis.operands, read)) {
    double bytes = analyzer.getBytes(operand.getType()), elements = analyzer.getElements(operand.getType());
    double bytesRead = elements > 0 ? contexts.elements() * bytes / elements : 0;
    double firstTouch = std::min(bytes, bytesRead);
    work.firstTouchBytes += firstTouch;
    if (elements <= 1 || bytesRead <= firstTouch)
      continue;
    double footprint = bytes;
    // The passes over a row follow one another, so that a unit comes back after one row.
    if (form.fullType && rows > 0 && haveSameDims(operand.getType(), form.fullType))
      footprint = bytes / rows * std::min(rows, units);
    work.rereads.push_back({bytesRead - firstTouch, footprint});
  }
  double resultElements = 0;
  for (Value output : outputs) {
    work.firstTouchBytes += analyzer.getBytes(output.getType());
    resultElements = std::max(resultElements, analyzer.getElements(output.getType()));
  }
  analysis.bytes = work.firstTouchBytes;
  double tile = static_cast<double>(std::max<int64_t>(device.elementsPerUnit, 1));
  double size = std::max({resultElements, fullElements, form.hero ? work.operations : 0});
  work.parallelUnits = std::max(1.0, size / tile);
  if (form.fullType)
    work.parallelUnits = std::max(1.0, std::min(rows, work.parallelUnits));
  else if (form.hero)
    work.parallelUnits = std::max(1.0, std::min(resultElements, work.parallelUnits));
  analysis.seconds = kernelSeconds(device, work);
}

} // namespace

double KernelAnalyzer::getElements(Type type) {
  auto [found, isNew] = elements.try_emplace(type, 0);
  if (isNew)
    found->second = upperBoundElements(type, scope);
  return found->second;
}

double KernelAnalyzer::getBytes(Type type) {
  return getElements(type) * storageBits(cast<RankedTensorType>(type).getElementType()) / 8;
}

const OpFacts &KernelAnalyzer::getFacts(Operation *op) {
  auto [found, isNew] = facts.try_emplace(op);
  if (!isNew)
    return found->second;
  OpFacts result;
  if (auto role = dyn_cast<FusibilityInterface>(op); role && op->getNumResults()) {
    result.role = role.getFusionRole();
    result.elements = getElements(op->getResult(0).getType());
    result.operations = cast<CostInterface>(op).getCost().operations;
    result.rematerialized = isRematerialized(op);
    if (auto transpose = dyn_cast<TransposeOp>(op))
      result.movesInnermost = movesInnermostDimension(transpose);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      result.trailingReduction = reducesTrailingDimensions(reduce);
    // Their loops are over something else than the elements of their results.
    result.alone = isa<SortOp, TopKOp, ScatterOp>(op);
  }
  return facts[op] = result;
}

KernelAnalysis KernelAnalyzer::analyze(ArrayRef<Operation *> ops, ArrayRef<Value> outputs) {
  return Walk(ops, outputs, *this).run();
}

KernelSummary summarizeKernels(Operation *root, const DeviceDescription &device) {
  KernelAnalyzer analyzer(device, root);
  KernelSummary summary;
  auto summarizeRegion = [&](Region &region) {
    SmallVector<Operation *> ops;
    for (Operation &op : region.front().without_terminator())
      ops.push_back(&op);
    SmallVector<Value> outputs(region.front().getTerminator()->getOperands());
    return analyzer.analyze(ops, outputs);
  };
  auto add = [&](double bytes, double seconds) {
    ++summary.kernels;
    summary.bytes += bytes;
    summary.seconds += seconds;
  };
  auto addWhole = [&](Operation *op) {
    KernelWork work;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(operands, operand)) {
        operands.push_back(operand);
        work.firstTouchBytes += analyzer.getBytes(operand.getType());
      }
    for (Type type : op->getResultTypes())
      work.firstTouchBytes += analyzer.getBytes(type);
    work.contractionOperations = cast<CostInterface>(op).getCost().operations;
    add(work.firstTouchBytes, kernelSeconds(device, work));
  };
  // What uses a constant without copying it, so that it has to be stored.
  auto isPartOfKernel = [&](Operation *user) {
    FusionRole role = analyzer.getFacts(user).role;
    return role != FusionRole::Opaque && role != FusionRole::Group && role != FusionRole::Contraction;
  };
  forEachFusibleBlock(root, [&](Block &block) {
    for (Operation &op : block) {
      const OpFacts &facts = analyzer.getFacts(&op);
      if (auto fusion = dyn_cast<FusionOp>(op)) {
        KernelAnalysis analysis = summarizeRegion(fusion.getBody());
        add(analysis.bytes, analysis.seconds);
      } else if (facts.role == FusionRole::Group || facts.role == FusionRole::Contraction) {
        addWhole(&op);
      } else if (facts.rematerialized) {
        if (llvm::any_of(op.getUsers(), [&](Operation *user) { return !isPartOfKernel(user); })) {
          KernelAnalysis analysis = analyzer.analyze({}, op.getResult(0));
          add(analysis.bytes, analysis.seconds);
        }
      } else if (facts.role != FusionRole::Opaque && !isa<ReshapeOp>(op)) {
        KernelAnalysis analysis = analyzer.analyze(&op, SmallVector<Value>(op.getResults()));
        add(analysis.bytes, analysis.seconds);
      }
    }
  });
  return summary;
}

} // namespace weft::fusion
