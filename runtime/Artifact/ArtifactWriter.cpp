// Lays out the sections of ArtifactFormat.h and writes them to a file or to memory.
#include "runtime/Artifact/ArtifactWriter.h"

#include "include/weft/kernel_abi.h"
#include "runtime/Artifact/ArtifactFormat.h"
#include "runtime/Artifact/FlatConversion.h"
#include "runtime/Artifact/Hash.h"
#include "runtime/Artifact/Validate.h"
#include "runtime/Core/AtomicFile.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::runtime {
namespace {

using Sink = std::function<Status(const void *data, size_t size)>;

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// Large weights are views of a mapped file, whose pages would all be in memory by the end: pages that have been read
// may go. This is a hint; it loses nothing, whatever the memory is.
void releasePages(const void *data, size_t size) {
#ifdef MADV_PAGEOUT
  uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(data) + size) / page * page;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_PAGEOUT);
#endif
}

// Calls `use` with the pieces of a weight, one after the other.
template <typename Use> Status forPieces(const WeightBytes &weight, Use use) {
  constexpr size_t kPiece = size_t(64) << 20;
  for (uint64_t begin = 0; begin < weight.size; begin += kPiece) {
    const uint8_t *piece = static_cast<const uint8_t *>(weight.data) + begin;
    size_t size = static_cast<size_t>(std::min<uint64_t>(kPiece, weight.size - begin));
    WEFT_RETURN_IF_ERROR(use(piece, size));
    if (weight.size > kPiece)
      releasePages(piece, size);
  }
  return Status();
}

Hash128 hashOf(const WeightBytes &weight) {
  Hasher hasher;
  (void)forPieces(weight, [&](const void *data, size_t size) {
    hasher.update(data, size);
    return Status();
  });
  return hasher.digest();
}

// Passes bytes on and knows how many there were, so that gaps can be filled.
class Output {
public:
  explicit Output(Sink sink) : sink_(std::move(sink)) {}
  Status write(const void *data, size_t size) {
    position_ += size;
    return size ? sink_(data, size) : Status();
  }
  Status padTo(uint64_t position) {
    static const char zeros[kWeightsAlignment] = {};
    return write(zeros, static_cast<size_t>(position - position_));
  }

private:
  Sink sink_;
  uint64_t position_ = 0;
};

Status writeTo(const Sink &sink, Program program, const std::vector<WeightBytes> &weights) {
  Status valid = validateProgram(program);
  if (!valid.ok())
    return Status(StatusCode::InvalidArgument, "the program to write is not valid: " + valid.message());
  if (weights.size() != program.weights.size())
    return Status(StatusCode::InvalidArgument, "the program has " + std::to_string(program.weights.size()) +
                                                   " weights, and bytes came for " + std::to_string(weights.size()));

  uint64_t weightsSize = 0;
  for (size_t index = 0; index < weights.size(); ++index) {
    Weight &weight = program.weights[index];
    int64_t expected = 0;
    byteCountOf(weight.type, weight.dims.data(), weight.dims.size(), expected);
    if (weights[index].size != static_cast<uint64_t>(expected))
      return Status(StatusCode::InvalidArgument, "weight \"" + weight.name + "\" has " +
                                                     std::to_string(weights[index].size) +
                                                     " bytes, its type and dims ask for " + std::to_string(expected));
    weight.offset = alignUp(weightsSize, kSectionAlignment);
    weight.size = weights[index].size;
    weight.hash = hashOf(weights[index]);
    weightsSize = weight.offset + weight.size;
  }

  std::vector<TargetRanges> kernels;
  uint64_t kernelsSize = 0;
  auto place = [&](const std::vector<uint8_t> &image) {
    KernelRange range{alignUp(kernelsSize, kSectionAlignment), image.size()};
    kernelsSize = range.offset + range.size;
    return range;
  };
  for (const Target &target : program.targets) {
    Status images = validateImages(target, {target.kernels.data(), target.kernels.size()},
                                   {target.cubin.data(), target.cubin.size()});
    if (!images.ok())
      return Status(StatusCode::InvalidArgument, "the program to write is not valid: " + images.message());
    TargetRanges ranges;
    ranges.kernels = place(target.kernels);
    if (!target.cubin.empty())
      ranges.cubin = place(target.cubin);
    kernels.push_back(ranges);
  }
  std::vector<uint8_t> structure = encodeProgram(program, kernels);

  ArtifactHeader header = {};
  std::memcpy(header.magic, kArtifactMagic, sizeof(header.magic));
  header.formatVersion = kArtifactFormatVersion;
  header.kernelAbiVersion = WEFT_KERNEL_ABI_VERSION;
  header.structureOffset = sizeof(ArtifactHeader);
  header.structureSize = structure.size();
  header.kernelsOffset = alignUp(header.structureOffset + header.structureSize, kSectionAlignment);
  header.kernelsSize = kernelsSize;
  header.weightsOffset = alignUp(header.kernelsOffset + header.kernelsSize, kWeightsAlignment);
  header.weightsSize = weightsSize;
  header.fileSize = header.weightsOffset + header.weightsSize;

  auto writeBeforeWeights = [&](Output &output) {
    WEFT_RETURN_IF_ERROR(output.write(&header, sizeof(header)));
    WEFT_RETURN_IF_ERROR(output.write(structure.data(), structure.size()));
    for (size_t index = 0; index < kernels.size(); ++index) {
      const Target &target = program.targets[index];
      WEFT_RETURN_IF_ERROR(output.padTo(header.kernelsOffset + kernels[index].kernels.offset));
      WEFT_RETURN_IF_ERROR(output.write(target.kernels.data(), target.kernels.size()));
      if (target.cubin.empty())
        continue;
      WEFT_RETURN_IF_ERROR(output.padTo(header.kernelsOffset + kernels[index].cubin.offset));
      WEFT_RETURN_IF_ERROR(output.write(target.cubin.data(), target.cubin.size()));
    }
    return output.padTo(header.weightsOffset);
  };
  Hasher hasher;
  Output hashed([&](const void *data, size_t size) {
    hasher.update(data, size);
    return Status();
  });
  WEFT_RETURN_IF_ERROR(writeBeforeWeights(hashed));
  Hash128 hash = hasher.digest();
  std::copy(hash.begin(), hash.end(), header.hash);

  Output output(sink);
  WEFT_RETURN_IF_ERROR(writeBeforeWeights(output));
  for (size_t index = 0; index < weights.size(); ++index) {
    WEFT_RETURN_IF_ERROR(output.padTo(header.weightsOffset + program.weights[index].offset));
    WEFT_RETURN_IF_ERROR(
        forPieces(weights[index], [&](const void *data, size_t size) { return output.write(data, size); }));
  }
  return Status();
}

} // namespace

Status writeArtifact(const std::string &path, const Program &program, const std::vector<WeightBytes> &weights) {
  AtomicFile file;
  WEFT_RETURN_IF_ERROR(file.open(path));
  WEFT_RETURN_IF_ERROR(
      writeTo([&](const void *data, size_t size) { return file.write(data, size); }, program, weights));
  return file.commit();
}

StatusOr<std::vector<uint8_t>> serializeArtifact(const Program &program, const std::vector<WeightBytes> &weights) {
  std::vector<uint8_t> bytes;
  Status status = writeTo(
      [&](const void *data, size_t size) {
        const auto *begin = static_cast<const uint8_t *>(data);
        bytes.insert(bytes.end(), begin, begin + size);
        return Status();
      },
      program, weights);
  if (!status.ok())
    return status;
  return bytes;
}

} // namespace weft::runtime
