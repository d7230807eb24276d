// The parts of the zip format that .npz files use.
#include "runtime/Data/Npz.h"

#include "runtime/Core/MappedFile.h"
#include "runtime/Data/Npy.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <zlib.h>

namespace weft::runtime {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50, kEndSignature = 0x06054b50,
                   kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr uint32_t kEscape32 = 0xffffffffu;
constexpr uint16_t kExtra64 = 1;

Status malformed(const std::string &message) { return Status(StatusCode::DataLoss, message); }

// Little-endian reads with bounds.
class Bytes {
public:
  Bytes(const uint8_t *data, uint64_t size) : data_(data), size_(size) {}
  bool has(uint64_t offset, uint64_t count) const { return offset <= size_ && count <= size_ - offset; }
  uint64_t read(uint64_t offset, int bytes) const {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= static_cast<uint64_t>(data_[offset + static_cast<uint64_t>(i)]) << (8 * i);
    return value;
  }
  uint16_t u16(uint64_t offset) const { return static_cast<uint16_t>(read(offset, 2)); }
  uint32_t u32(uint64_t offset) const { return static_cast<uint32_t>(read(offset, 4)); }
  uint64_t u64(uint64_t offset) const { return read(offset, 8); }
  const uint8_t *at(uint64_t offset) const { return data_ + offset; }
  uint64_t size() const { return size_; }

private:
  const uint8_t *data_;
  uint64_t size_;
};

struct Member {
  std::string name;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t compressedSize = 0, size = 0, localOffset = 0;
};

struct Directory {
  uint64_t offset = 0, count = 0;
};

Status findDirectory(const Bytes &file, Directory &directory) {
  // The end record is last, followed by a comment of at most 64 KiB.
  uint64_t first = file.size() > kEndSize + 0xffff ? file.size() - kEndSize - 0xffff : 0;
  for (uint64_t end = file.size() >= kEndSize ? file.size() - kEndSize + 1 : 0; end-- > first;) {
    if (file.u32(end) != kEndSignature || end + kEndSize + file.u16(end + 20) != file.size())
      continue;
    directory.count = file.u16(end + 10);
    directory.offset = file.u32(end + 16);
    if (end >= kLocator64Size && file.u32(end - kLocator64Size) == kLocator64Signature) {
      uint64_t end64 = file.u64(end - kLocator64Size + 8);
      if (!file.has(end64, kEnd64Size) || file.u32(end64) != kEnd64Signature)
        return malformed("its zip64 directory is damaged");
      directory.count = file.u64(end64 + 32);
      directory.offset = file.u64(end64 + 48);
    }
    return Status();
  }
  return malformed(file.size() == 0 ? "it is empty, expected a .npz file" : "it is not a .npz file, or is truncated");
}

// Sizes that do not fit 32 bits are in an extra field, in a fixed order, each only if its short form is all ones.
Status readExtra64(const Bytes &file, uint64_t offset, uint64_t size, Member &member) {
  uint64_t end = offset + size;
  while (end - offset >= 4) {
    uint16_t tag = file.u16(offset);
    uint64_t length = file.u16(offset + 2);
    offset += 4;
    if (length > end - offset)
      break;
    if (tag == kExtra64) {
      uint64_t cursor = offset, last = offset + length;
      for (uint64_t *field : {&member.size, &member.compressedSize, &member.localOffset}) {
        if (*field != kEscape32)
          continue;
        if (last - cursor < 8)
          return malformed("the zip64 sizes of '" + member.name + "' are damaged");
        *field = file.u64(cursor);
        cursor += 8;
      }
    }
    offset += length;
  }
  return Status();
}

Status readDirectory(const Bytes &file, std::vector<Member> &members) {
  Directory directory;
  WEFT_RETURN_IF_ERROR(findDirectory(file, directory));
  uint64_t offset = directory.offset;
  for (uint64_t index = 0; index < directory.count; ++index) {
    if (!file.has(offset, kCentralSize) || file.u32(offset) != kCentralSignature)
      return malformed("its directory is damaged at member " + std::to_string(index));
    uint64_t nameSize = file.u16(offset + 28), extraSize = file.u16(offset + 30), commentSize = file.u16(offset + 32);
    if (!file.has(offset + kCentralSize, nameSize + extraSize + commentSize))
      return malformed("its directory is damaged at member " + std::to_string(index));
    Member member;
    member.name.assign(reinterpret_cast<const char *>(file.at(offset + kCentralSize)), nameSize);
    if (file.u16(offset + 8) & 1)
      return Status(StatusCode::InvalidArgument, "member '" + member.name + "' is encrypted");
    member.method = file.u16(offset + 10);
    member.checksum = file.u32(offset + 16);
    member.compressedSize = file.u32(offset + 20);
    member.size = file.u32(offset + 24);
    member.localOffset = file.u32(offset + 42);
    WEFT_RETURN_IF_ERROR(readExtra64(file, offset + kCentralSize + nameSize, extraSize, member));
    members.push_back(std::move(member));
    offset += kCentralSize + nameSize + extraSize + commentSize;
  }
  return Status();
}

Status inflateMember(const uint8_t *source, const Member &member, std::vector<uint8_t> &result) {
  // Deflate expands at most 1032 times: a greater claim is damage, found before memory is asked for.
  if (member.size / 1032 > member.compressedSize)
    return malformed("member '" + member.name + "' claims an impossible size");
  result.resize(member.size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Status(StatusCode::ResourceExhausted, "out of memory in zlib");
  uint64_t consumed = 0, produced = 0;
  int code = Z_OK;
  constexpr uint64_t kChunk = 1u << 30; // zlib counts in 32 bits
  while (code == Z_OK) {
    stream.next_in = const_cast<Bytef *>(source + consumed);
    stream.avail_in = static_cast<uInt>(std::min(kChunk, member.compressedSize - consumed));
    stream.next_out = result.data() + produced;
    stream.avail_out = static_cast<uInt>(std::min(kChunk, member.size - produced));
    uInt inBefore = stream.avail_in, outBefore = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    consumed += inBefore - stream.avail_in;
    produced += outBefore - stream.avail_out;
    if (code == Z_OK && inBefore == stream.avail_in && outBefore == stream.avail_out)
      code = Z_BUF_ERROR;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || produced != member.size || consumed != member.compressedSize)
    return malformed("member '" + member.name + "' cannot be decompressed");
  return Status();
}

uint32_t checksumOf(const uint8_t *data, uint64_t size) {
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), data, static_cast<z_size_t>(size)));
}

StatusOr<Array> readMember(const Bytes &file, const Member &member) {
  if (!file.has(member.localOffset, kLocalSize) || file.u32(member.localOffset) != kLocalSignature)
    return malformed("member '" + member.name + "' is damaged");
  uint64_t start =
      member.localOffset + kLocalSize + file.u16(member.localOffset + 26) + file.u16(member.localOffset + 28);
  if (!file.has(start, member.compressedSize))
    return malformed("member '" + member.name + "' is truncated");
  const uint8_t *bytes = file.at(start);
  std::vector<uint8_t> inflated;
  if (member.method == Z_DEFLATED) {
    WEFT_RETURN_IF_ERROR(inflateMember(bytes, member, inflated));
    bytes = inflated.data();
  } else if (member.method != 0) {
    return Status(StatusCode::InvalidArgument, "member '" + member.name + "' is compressed by method " +
                                                   std::to_string(member.method) + ", expected stored or deflate");
  } else if (member.size != member.compressedSize) {
    return malformed("member '" + member.name + "' has two sizes");
  }
  if (checksumOf(bytes, member.size) != member.checksum)
    return malformed("member '" + member.name + "' does not match its checksum");
  auto array = parseNpy(bytes, static_cast<size_t>(member.size));
  if (!array.ok())
    return array.status().withContext("member '" + member.name + "'");
  return array;
}

class Record {
public:
  Record &put(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  Record &put(const std::string &text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  const std::vector<uint8_t> &bytes() const { return bytes_; }

private:
  std::vector<uint8_t> bytes_;
};

uint32_t clamp32(uint64_t value) { return value >= kEscape32 ? kEscape32 : static_cast<uint32_t>(value); }

// 1980-01-01: the output depends on the arrays alone.
constexpr uint64_t kDosTime = 0, kDosDate = 0x21;

Record localRecord(const Member &member) {
  Record record;
  bool large = member.size >= kEscape32;
  record.put(kLocalSignature, 4).put(large ? 45 : 20, 2).put(0x800, 2).put(0, 2).put(kDosTime, 2).put(kDosDate, 2);
  record.put(member.checksum, 4).put(clamp32(member.size), 4).put(clamp32(member.size), 4);
  record.put(member.name.size(), 2).put(large ? 20 : 0, 2).put(member.name);
  if (large)
    record.put(kExtra64, 2).put(16, 2).put(member.size, 8).put(member.size, 8);
  return record;
}

void centralRecord(const Member &member, Record &record) {
  bool largeSize = member.size >= kEscape32, largeOffset = member.localOffset >= kEscape32;
  uint64_t extra = (largeSize ? 16u : 0u) + (largeOffset ? 8u : 0u);
  record.put(kCentralSignature, 4).put(45, 2).put(extra ? 45 : 20, 2).put(0x800, 2).put(0, 2);
  record.put(kDosTime, 2).put(kDosDate, 2).put(member.checksum, 4).put(clamp32(member.size), 4);
  record.put(clamp32(member.size), 4).put(member.name.size(), 2).put(extra ? extra + 4 : 0, 2).put(0, 2);
  record.put(0, 2).put(0, 2).put(0, 4).put(clamp32(member.localOffset), 4).put(member.name);
  if (extra) {
    record.put(kExtra64, 2).put(extra, 2);
    if (largeSize)
      record.put(member.size, 8).put(member.size, 8);
    if (largeOffset)
      record.put(member.localOffset, 8);
  }
}

} // namespace

StatusOr<NamedArrays> parseNpz(const uint8_t *data, size_t size) {
  Bytes file(data, size);
  std::vector<Member> members;
  WEFT_RETURN_IF_ERROR(readDirectory(file, members));
  NamedArrays arrays;
  std::set<std::string> names;
  for (const Member &member : members) {
    std::string name = member.name;
    constexpr std::string_view kSuffix = ".npy";
    if (name.size() > kSuffix.size() && name.compare(name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0)
      name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second)
      return malformed("it has two members named '" + name + "'");
    auto array = readMember(file, member);
    if (!array.ok())
      return array.status();
    arrays.emplace_back(std::move(name), std::move(*array));
  }
  return arrays;
}

StatusOr<NamedArrays> readNpz(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  auto arrays = parseNpz((*file)->data(), (*file)->size());
  if (!arrays.ok())
    return arrays.status().withContext("cannot read '" + path + "'");
  return arrays;
}

Status stageNpz(AtomicFile &file, const std::string &path, const NamedArrays &arrays) {
  WEFT_RETURN_IF_ERROR(file.open(path));
  uint64_t position = 0;
  auto write = [&](const void *data, uint64_t size) {
    position += size;
    return file.write(data, static_cast<size_t>(size));
  };
  Record directory;
  for (const auto &[name, array] : arrays) {
    std::vector<uint8_t> header = npyHeader(array.type, array.dims);
    auto dataSize = static_cast<uint64_t>(array.byteCount());
    Member member;
    member.name = name + ".npy";
    member.size = member.compressedSize = header.size() + dataSize;
    member.localOffset = position;
    member.checksum = static_cast<uint32_t>(
        crc32_z(checksumOf(header.data(), header.size()), static_cast<const Bytef *>(array.data.data()), dataSize));
    Record local = localRecord(member);
    WEFT_RETURN_IF_ERROR(write(local.bytes().data(), local.bytes().size()));
    WEFT_RETURN_IF_ERROR(write(header.data(), header.size()));
    WEFT_RETURN_IF_ERROR(write(array.data.data(), dataSize));
    centralRecord(member, directory);
  }
  uint64_t offset = position, size = directory.bytes().size(), count = arrays.size();
  Record end;
  if (offset >= kEscape32 || size >= kEscape32 || count >= 0xffff) {
    end.put(kEnd64Signature, 4).put(kEnd64Size - 12, 8).put(45, 2).put(45, 2).put(0, 4).put(0, 4);
    end.put(count, 8).put(count, 8).put(size, 8).put(offset, 8);
    end.put(kLocator64Signature, 4).put(0, 4).put(offset + size, 8).put(1, 4);
  }
  uint64_t shortCount = std::min<uint64_t>(count, 0xffff);
  end.put(kEndSignature, 4).put(0, 2).put(0, 2).put(shortCount, 2).put(shortCount, 2);
  end.put(clamp32(size), 4).put(clamp32(offset), 4).put(0, 2);
  WEFT_RETURN_IF_ERROR(write(directory.bytes().data(), size));
  return write(end.bytes().data(), end.bytes().size());
}

Status writeNpz(const std::string &path, const NamedArrays &arrays) {
  AtomicFile file;
  WEFT_RETURN_IF_ERROR(stageNpz(file, path, arrays));
  return file.commit();
}

} // namespace weft::runtime
