// Verification from the outside in: header, hash, sections, structure, program.
#include "runtime/Artifact/ArtifactReader.h"

#include "include/weft/kernel_abi.h"
#include "runtime/Artifact/ArtifactFormat.h"
#include "runtime/Artifact/FlatConversion.h"
#include "runtime/Artifact/Hash.h"
#include "runtime/Artifact/Validate.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

Status damaged(const std::string &message) {
  return Status(StatusCode::DataLoss,
                "the artifact is damaged: " + message + "; compile the model again or copy the file again");
}

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

bool allZero(const uint8_t *data, uint64_t size) {
  return std::all_of(data, data + size, [](uint8_t byte) { return byte == 0; });
}

Status readHeader(const uint8_t *data, size_t size, ArtifactHeader &header) {
  if (size == 0)
    return Status(StatusCode::DataLoss, "the file is empty, expected a Weft artifact (made by `weft compile`)");
  if (std::memcmp(data, kArtifactMagic, std::min(size, sizeof(kArtifactMagic))) != 0)
    return Status(StatusCode::InvalidArgument,
                  "not a Weft artifact (made by `weft compile`): it starts with other bytes");
  if (size < sizeof(ArtifactHeader))
    return damaged("it ends inside its header, after " + std::to_string(size) + " bytes");
  std::memcpy(&header, data, sizeof(header));
  if (header.formatVersion != kArtifactFormatVersion)
    return Status(StatusCode::VersionMismatch,
                  "the artifact has format version " + std::to_string(header.formatVersion) +
                      ", this runtime reads version " + std::to_string(kArtifactFormatVersion) +
                      "; compile the model again with the Weft this runtime belongs to");
  if (header.kernelAbiVersion != WEFT_KERNEL_ABI_VERSION)
    return Status(StatusCode::VersionMismatch,
                  "the artifact's kernels have ABI version " + std::to_string(header.kernelAbiVersion) +
                      ", this runtime calls version " + std::to_string(WEFT_KERNEL_ABI_VERSION) +
                      "; compile the model again with the Weft this runtime belongs to");
  return Status();
}

Status checkLayout(const ArtifactHeader &header, size_t size) {
  if (header.fileSize != size)
    return damaged("it has " + std::to_string(size) + " bytes, its header says " + std::to_string(header.fileSize));
  // Each comparison keeps the next addition from overflowing.
  if (header.structureOffset != sizeof(ArtifactHeader) || header.structureSize > size ||
      header.kernelsOffset != alignUp(header.structureOffset + header.structureSize, kSectionAlignment) ||
      header.kernelsOffset > size || header.kernelsSize > size ||
      header.weightsOffset != alignUp(header.kernelsOffset + header.kernelsSize, kWeightsAlignment) ||
      header.weightsOffset > size || header.weightsSize != size - header.weightsOffset)
    return damaged("its sections do not fit together");
  return Status();
}

Status checkHash(const uint8_t *data, ArtifactHeader header) {
  Hash128 expected = {header.hash[0], header.hash[1]};
  header.hash[0] = header.hash[1] = 0;
  Hasher hasher;
  hasher.update(&header, sizeof(header));
  hasher.update(data + sizeof(header), header.weightsOffset - sizeof(header));
  if (hasher.digest() != expected)
    return damaged("its contents do not match their hash");
  return Status();
}

Status locateKernels(const uint8_t *section, uint64_t sectionSize, const std::vector<TargetRanges> &ranges,
                     Artifact &artifact) {
  uint64_t end = 0;
  auto locate = [&](const KernelRange &range, std::vector<ByteSpan> &spans) {
    uint64_t expected = alignUp(end, kSectionAlignment);
    if (range.offset != expected || range.offset > sectionSize || range.size > sectionSize - range.offset)
      return damaged("the kernels of a target lie outside their section");
    spans.push_back({section + range.offset, range.size});
    end = range.offset + range.size;
    return Status();
  };
  for (size_t index = 0; index < ranges.size(); ++index) {
    WEFT_RETURN_IF_ERROR(locate(ranges[index].kernels, artifact.kernels));
    if (ranges[index].cubin.size > 0) {
      WEFT_RETURN_IF_ERROR(locate(ranges[index].cubin, artifact.cubins));
    } else {
      if (ranges[index].cubin.offset != 0)
        return damaged("an empty cubin that lies somewhere");
      artifact.cubins.emplace_back();
    }
    Status images = validateImages(artifact.program.targets[index], artifact.kernels.back(), artifact.cubins.back());
    if (!images.ok())
      return damaged(images.message());
  }
  if (end != sectionSize)
    return damaged("its kernels section holds more than kernels");
  return Status();
}

Status locateWeights(const uint8_t *section, uint64_t sectionSize, const Program &program,
                     std::vector<ByteSpan> &weights) {
  uint64_t end = 0;
  for (const Weight &weight : program.weights) {
    int64_t bytes = 0;
    byteCountOf(weight.type, weight.dims.data(), weight.dims.size(), bytes);
    if (weight.offset != alignUp(end, kSectionAlignment) || weight.size != static_cast<uint64_t>(bytes) ||
        weight.offset > sectionSize || weight.size > sectionSize - weight.offset)
      return damaged("weight \"" + weight.name + "\" does not lie where it should");
    if (!allZero(section + end, weight.offset - end))
      return damaged("the gap before weight \"" + weight.name + "\" is not zero");
    weights.push_back({section + weight.offset, weight.size});
    end = weight.offset + weight.size;
  }
  if (end != sectionSize)
    return damaged("its weights section holds more than weights");
  return Status();
}

Status read(const uint8_t *data, size_t size, bool withHash, Artifact &artifact) {
  ArtifactHeader header;
  WEFT_RETURN_IF_ERROR(readHeader(data, size, header));
  WEFT_RETURN_IF_ERROR(checkLayout(header, size));
  if (withHash)
    WEFT_RETURN_IF_ERROR(checkHash(data, header));
  std::vector<TargetRanges> ranges;
  Status decoded =
      decodeProgram(data + header.structureOffset, static_cast<size_t>(header.structureSize), artifact.program, ranges);
  if (!decoded.ok())
    return damaged(decoded.message());
  Status valid = validateProgram(artifact.program);
  if (!valid.ok())
    return damaged(valid.message());
  WEFT_RETURN_IF_ERROR(locateKernels(data + header.kernelsOffset, header.kernelsSize, ranges, artifact));
  return locateWeights(data + header.weightsOffset, header.weightsSize, artifact.program, artifact.weights);
}

} // namespace

Status readArtifact(const uint8_t *data, size_t size, Artifact &artifact) { return read(data, size, true, artifact); }

Status readArtifactWithoutHash(const uint8_t *data, size_t size, Artifact &artifact) {
  return read(data, size, false, artifact);
}

Status checkWeights(const Artifact &artifact) {
  for (size_t index = 0; index < artifact.weights.size(); ++index) {
    const ByteSpan &bytes = artifact.weights[index];
    if (hashBytes(bytes.data, bytes.size) != artifact.program.weights[index].hash)
      return damaged("weight \"" + artifact.program.weights[index].name + "\" does not match its hash");
  }
  return Status();
}

} // namespace weft::runtime
