// The layout of an artifact file: a fixed header, then three sections.
//
//   header      128 bytes
//   structure   a FlatBuffer (Artifact.fbs), right after the header
//   kernels     the images of all targets, one after another, each at a multiple of 64; a target's cubin after its PTX
//   weights     at a multiple of 4096, to the end of the file; weight i starts at the first multiple of 64 after weight
//   i-1
//
// Gaps between sections and weights are zero. All numbers are little-endian. The header's hash covers every byte before
// the weights, itself taken as zero; each weight's own hash is in the structure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::runtime {

inline constexpr unsigned char kArtifactMagic[8] = {0x89, 'W', 'E', 'F', 'T', '\r', '\n', 0x1a};
// Grows with any change of this file or of Artifact.fbs that an older reader would misunderstand.
inline constexpr uint32_t kArtifactFormatVersion = 2;
inline constexpr uint64_t kSectionAlignment = 64;
inline constexpr uint64_t kWeightsAlignment = 4096;

struct ArtifactHeader {
  unsigned char magic[8];
  uint32_t formatVersion;
  uint32_t kernelAbiVersion;
  uint64_t fileSize;
  uint64_t structureOffset;
  uint64_t structureSize;
  uint64_t kernelsOffset;
  uint64_t kernelsSize;
  uint64_t weightsOffset;
  uint64_t weightsSize;
  uint64_t hash[2];
  uint64_t reserved[5];
};
static_assert(sizeof(ArtifactHeader) == 128);
static_assert(offsetof(ArtifactHeader, hash) == 72);

} // namespace weft::runtime
