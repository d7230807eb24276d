// Matmul as row tiles, or as column tiles when there are few rows.
#include "runtime/Library/FewRows.h"
#include "runtime/Library/OneDnn/EpilogueTail.h"
#include "runtime/Library/OneDnn/Tiled.h"

#include <algorithm>

namespace weft::runtime::onednn {
namespace {

Status unsuitable(const std::string &reason) { return Status(StatusCode::UnsupportedDevice, reason); }

int64_t ceilDivide(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Splits `extent` into pieces of about `wanted`, equal but for the last, each a multiple of `multiple` but for the
// last.
int64_t pieceSize(int64_t extent, int64_t wanted, int64_t multiple) {
  int64_t pieces = std::max<int64_t>(1, extent / std::max<int64_t>(1, wanted));
  return std::min(extent, ceilDivide(ceilDivide(extent, pieces), multiple) * multiple);
}

class MatmulOperation : public TiledOperation {
public:
  using TiledOperation::TiledOperation;

protected:
  bool canPack(const LibrarySizes &sizes) const override { return sizes.batch == 1 || !matmul().rightHasBatch; }
  Status cut(const LibrarySizes &sizes, const TensorReference *operands, Cut &result) const override;
  dnnl_status_t describe(const KernelForm &form, const Kernel &kernel, const dnnl_memory_desc_t &weights, bool hasBias,
                         const Attributes &attributes, PrimitiveDescription &result) const override;

private:
  const Matmul &matmul() const { return std::get<Matmul>(call_.operation); }
  Status check(const LibrarySizes &sizes, const TensorReference *operands) const;
  bool hasFewRows(const LibrarySizes &sizes, const TensorReference *operands) const;
};

Status MatmulOperation::check(const LibrarySizes &sizes, const TensorReference *operands) const {
  const int64_t batch = sizes.batch, m = sizes.m, n = sizes.n, k = sizes.k;
  if (batch == 0 || m == 0 || n == 0 || k == 0)
    return unsuitable("an operand is empty");
  // The products were proven to fit when the buffers' sizes were evaluated; here only their agreement is in question.
  int64_t left, right, output;
  auto product = [](int64_t a, int64_t b, int64_t c, int64_t &value) {
    return !__builtin_mul_overflow(a, b, &value) && !__builtin_mul_overflow(value, c, &value);
  };
  if (!product(batch, m, k, left) || !product(matmul().rightHasBatch ? batch : 1, k, n, right) ||
      !product(batch, m, n, output) || elementCount(operands[0]) != left || elementCount(operands[1]) != right ||
      elementCount(operands[2]) != output)
    return unsuitable("the operands' sizes do not fit the contraction");
  for (size_t index = 0; index < call_.epilogue.size(); ++index) {
    const PostOp &step = call_.epilogue[index];
    if (!hasOperand(step.kind))
      continue;
    bool column = step.kind == PostOpKind::Bias || step.broadcast == PostOpBroadcast::Column;
    int64_t expected = column ? n : step.broadcast == PostOpBroadcast::Scalar ? 1 : output;
    if (elementCount(operands[3 + index]) != expected)
      return unsuitable("an epilogue operand has another size than the output");
  }
  for (size_t index = 0; index < 3 + call_.epilogue.size(); ++index)
    if ((index < 3 || hasOperand(call_.epilogue[index - 3].kind)) &&
        dataType(operands[index].type) == dnnl_data_type_undef)
      return unsuitable("element type " + std::string(elementTypeName(operands[index].type)) +
                        " is left to our kernel");
  return Status();
}

// Whether our own product of few rows takes the call, its whole epilogue with it.
bool MatmulOperation::hasFewRows(const LibrarySizes &sizes, const TensorReference *operands) const {
  FewRowsOperand left = {nullptr, sizes.k, 1}, right = {nullptr, sizes.n, 1};
  if (matmul().transposeLeft && sizes.m > 1)
    left = {nullptr, 1, sizes.m};
  if (matmul().transposeRight)
    right = {nullptr, 1, sizes.k};
  if (!canMultiplyFewRows(sizes.m, left, right) || !canApplyTail(call_.epilogue, 0))
    return false;
  for (size_t index = 0; index < 3 + call_.epilogue.size(); ++index)
    if ((index < 3 || hasOperand(call_.epilogue[index - 3].kind)) && operands[index].type != ElementType::F32)
      return false;
  return true;
}

Status MatmulOperation::cut(const LibrarySizes &sizes, const TensorReference *operands, Cut &result) const {
  WEFT_RETURN_IF_ERROR(check(sizes, operands));
  const int64_t batch = sizes.batch, m = sizes.m, n = sizes.n, k = sizes.k;
  // About a tenth of a millisecond on one core: enough tiles for many cores, each long against handing it out. Fewer
  // rows than 64 would read the right operand from memory too often.
  constexpr double kTileOperations = 8e6;
  constexpr int64_t kLeastRows = 64;
  double perRow = 2.0 * static_cast<double>(n) * static_cast<double>(k);
  int64_t wantedRows = std::max<int64_t>(kLeastRows, static_cast<int64_t>(std::min(kTileOperations / perRow, 1e9)));
  int64_t rows = m <= wantedRows ? m : pieceSize(m, wantedRows, 16);
  int64_t columns = n;
  // Where a tile of all columns is far more than that, tiles nearer to squares have less of both operands to reorder.
  constexpr int64_t kSquareRows = 256, kLeastColumns = 192;
  if (batch == 1 && m > kLeastRows && n >= 2 * kLeastColumns &&
      perRow * static_cast<double>(kLeastRows) > 4 * kTileOperations) {
    rows = m <= kSquareRows ? m : pieceSize(m, kSquareRows, 16);
    columns = pieceSize(n, std::max(kLeastColumns, n / 8), 64);
  } else if (rows == m && batch == 1) {
    double perColumn = 2.0 * static_cast<double>(m) * static_cast<double>(k);
    // With one or few rows the time goes into reading the right operand: 128 KiB of it a tile.
    int64_t byMemory = std::max<int64_t>(1, (32 << 10) / k);
    int64_t wantedColumns = std::max<int64_t>(
        64, std::min(static_cast<int64_t>(std::min(kTileOperations / perColumn, 1e9)), m <= 16 ? byMemory : n));
    columns = n <= wantedColumns ? n : pieceSize(n, wantedColumns, 64);
  }
  result.hasFewRows = hasFewRows(sizes, operands);
  // Wide tiles: each row of the right operand is read in one piece.
  if (result.hasFewRows && batch == 1 && k * n > (64 << 10))
    columns = std::min(n, std::clamp<int64_t>(ceilDivide(ceilDivide(n, 8), 64) * 64, 128, 1024));
  View right = matmul().transposeRight ? View{{k, n}, {1, k}} : View{{k, n}, {n, 1}};
  auto addForm = [&](int64_t formRows, int64_t formColumns) {
    KernelForm form;
    // A single row lies in one piece either way.
    bool transposeLeft = matmul().transposeLeft && m > 1;
    form.source = {{formRows, k}, transposeLeft ? std::vector<int64_t>{1, m} : std::vector<int64_t>{k, 1}};
    form.weights = {{k, formColumns}, right.strides};
    form.output = {{formRows, formColumns}, {n, 1}};
    form.columnDims = form.biasDims = {1, formColumns};
    form.scalarDims = {1, 1};
    form.rows = formRows;
    form.columns = formColumns;
    form.rowStride = n;
    result.forms.push_back(std::move(form));
    return result.forms.size() - 1;
  };
  std::map<std::pair<int64_t, int64_t>, size_t> formIndex;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row = 0; row < m; row += rows)
      for (int64_t column = 0; column < n; column += columns) {
        std::pair<int64_t, int64_t> extent = {std::min(rows, m - row), std::min(columns, n - column)};
        auto found = formIndex.find(extent);
        if (found == formIndex.end())
          found = formIndex.emplace(extent, addForm(extent.first, extent.second)).first;
        Tile tile;
        tile.kernel = found->second;
        tile.source = b * m * k + row * (matmul().transposeLeft ? 1 : k);
        tile.weights = (matmul().rightHasBatch ? b * k * n : 0) + column * right.strides[1];
        tile.output = (b * m + row) * n + column;
        tile.column = column;
        result.tiles.push_back(tile);
      }
  return Status();
}

dnnl_status_t MatmulOperation::describe(const KernelForm &form, const Kernel &kernel, const dnnl_memory_desc_t &weights,
                                        bool hasBias, const Attributes &attributes,
                                        PrimitiveDescription &result) const {
  dnnl_matmul_desc_t description;
  dnnl_status_t status = api_.dnnl_matmul_desc_init(&description, &kernel.source, &weights,
                                                    hasBias ? &kernel.bias : nullptr, &kernel.output);
  return status == dnnl_success
             ? api_.dnnl_primitive_desc_create(result.out(), &description, attributes.get(), api_.engine, nullptr)
             : status;
}

} // namespace

std::unique_ptr<TiledOperation> makeMatmul(const Api &api, const LibraryCall &call, const void *rightValue,
                                           const WeftAllocator &allocator) {
  return std::make_unique<MatmulOperation>(api, call, rightValue, allocator);
}

} // namespace weft::runtime::onednn
