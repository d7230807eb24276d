// What matmul and convolution have in common: an operation cut into fixed tiles, each one call of a single-threaded
// oneDNN primitive. The cut depends on the sizes alone, so that results do not depend on the number of threads.
#pragma once

#include "runtime/Library/LibraryOperation.h"
#include "runtime/Library/OneDnn/Api.h"

#include <functional>
#include <map>
#include <mutex>

namespace weft::runtime::onednn {

// A view of an operand with oneDNN's dimension order.
struct View {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides; // in elements
};

// What one primitive computes; tiles of the same form share it.
struct KernelForm {
  View source, weights, output;
  // Shapes of the epilogue's operands that spread over columns, and of scalars, in oneDNN's order.
  std::vector<int64_t> columnDims, scalarDims;
  std::vector<int64_t> biasDims;
  // The output as rows of the last dimension of the artifact's order.
  int64_t rows = 0, columns = 0, rowStride = 0;
  // Convolution only.
  std::vector<int64_t> strides, dilations, paddingLow, paddingHigh;
};

// Where a tile lies, in elements from the start of the operand.
struct Tile {
  size_t kernel = 0;
  int64_t source = 0;
  int64_t weights = 0;
  int64_t output = 0;
  int64_t column = 0; // first column, for operands that spread over columns
};

// Weights in oneDNN's own layout.
struct PackedWeights {
  int64_t offset; // elements, which part of the weights it is
  dnnl_memory_desc_t description;
  Memory bytes;
  DnnlMemory memory;
};

struct Kernel {
  KernelForm form;
  Primitive primitive;
  dnnl_memory_desc_t source, weights, output, bias;
  std::vector<dnnl_memory_desc_t> postOperands; // one a post-op; unused ones are zeroed
  size_t scratchpadBytes = 0;
  dnnl_memory_desc_t scratchpad;
  // By the tile's weights offset; empty: the operand is used as it is.
  std::map<int64_t, const PackedWeights *> packed;
};

class TiledOperation : public LibraryOperation {
public:
  TiledOperation(const Api &api, const LibraryCall &call, const void *rightValue, const WeftAllocator &allocator)
      : api_(api), call_(call), rightValue_(rightValue), allocator_(allocator) {}
  StatusOr<const LibraryPlan *> plan(const LibrarySizes &sizes, const TensorReference *operands) final;

protected:
  struct Cut {
    std::vector<KernelForm> forms;
    std::vector<Tile> tiles;
    // A product of so few rows that `multiplyFewRows` computes the tiles; the library is not asked.
    bool hasFewRows = false;
  };
  // Checks that the operands fit each other and cuts the operation. An error is a reason to use the alternative.
  virtual Status cut(const LibrarySizes &sizes, const TensorReference *operands, Cut &result) const = 0;
  // The same weights serve every tile of equal weights offset, so packing them pays.
  virtual bool canPack(const LibrarySizes &sizes) const = 0;
  // Creates the descriptor of the primitive with the given weights layout.
  virtual dnnl_status_t describe(const KernelForm &form, const Kernel &kernel, const dnnl_memory_desc_t &weights,
                                 bool hasBias, const Attributes &attributes, PrimitiveDescription &result) const = 0;

  const Api &api_;
  const LibraryCall &call_;

private:
  Status makeKernel(const KernelForm &form, const TensorReference *operands, bool pack,
                    const std::vector<int64_t> &weightsOffsets, Kernel &kernel, std::string &implementation);
  Status setPostOps(const KernelForm &form, const TensorReference *operands, Kernel &kernel,
                    Attributes &attributes) const;
  // "" for an implementation of oneDNN that is fast and known to be right.
  std::string reasonToReject(const std::string &implementation) const;
  StatusOr<const PackedWeights *> packWeights(int64_t offset, const dnnl_memory_desc_t &plain,
                                              const dnnl_memory_desc_t &layout, ElementType type);

  const void *rightValue_;
  WeftAllocator allocator_;
  std::mutex mutex_;
  struct CachedPlan {
    std::unique_ptr<LibraryPlan> plan;
    Status reason;
  };
  std::map<std::vector<int64_t>, CachedPlan> plans_; // by all sizes and dims
  std::vector<std::unique_ptr<PackedWeights>> packed_;
};

// f32 and bf16; undef for the rest.
dnnl_data_type_t dataType(ElementType type);
Status initialize(const Api &api, dnnl_memory_desc_t &description, const View &view, dnnl_data_type_t type);
View contiguous(std::vector<int64_t> dims);
bool hasOperand(PostOpKind kind);

std::unique_ptr<TiledOperation> makeMatmul(const Api &api, const LibraryCall &call, const void *rightValue,
                                           const WeftAllocator &allocator);
std::unique_ptr<TiledOperation> makeConvolution(const Api &api, const LibraryCall &call, const void *rightValue,
                                                const WeftAllocator &allocator);

} // namespace weft::runtime::onednn
