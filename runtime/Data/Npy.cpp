// Parsing of the header's Python literal, and conversion to native, row-major data.
#include "runtime/Data/Npy.h"

#include "runtime/Core/MappedFile.h"
#include "runtime/Core/StridedCopy.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::runtime {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kMaximumRank = 64;

Status malformed(const std::string &message) { return Status(StatusCode::DataLoss, message); }

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> dims;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }: only what NumPy writes, keys in any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Status parse(Header &header) {
    bool seen[3] = {};
    if (!accept('{'))
      return malformed("its header is not a Python dictionary");
    while (!accept('}')) {
      std::string key;
      if (!string(key) || !accept(':'))
        return malformed("its header is damaged near byte " + std::to_string(position_));
      bool ok;
      if (key == "descr") {
        if (peek() != '\'' && peek() != '"')
          return malformed("it holds records; expected an array of numbers");
        ok = string(header.descr) && !seen[0];
        seen[0] = true;
      } else if (key == "fortran_order") {
        ok = boolean(header.fortranOrder) && !seen[1];
        seen[1] = true;
      } else if (key == "shape") {
        ok = shape(header.dims) && !seen[2];
        seen[2] = true;
      } else {
        return malformed("its header has an unknown key '" + key + "'");
      }
      if (!ok || (!accept(',') && peek() != '}'))
        return malformed("its header is damaged at '" + key + "'");
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return malformed("its header lacks descr, fortran_order or shape");
    skipSpace();
    return position_ == text_.size() ? Status() : malformed("its header has something after the dictionary");
  }

private:
  void skipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
  }
  char peek() {
    skipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char expected) {
    if (peek() != expected)
      return false;
    ++position_;
    return true;
  }
  bool string(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos)
      return false;
    value = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return true;
  }
  bool boolean(bool &value) {
    skipSpace();
    for (bool candidate : {false, true}) {
      std::string_view word = candidate ? "True" : "False";
      if (text_.substr(position_, word.size()) != word)
        continue;
      position_ += word.size();
      value = candidate;
      return true;
    }
    return false;
  }
  bool shape(std::vector<int64_t> &dims) {
    if (!accept('('))
      return false;
    while (!accept(')')) {
      skipSpace();
      int64_t value = 0;
      size_t digits = 0;
      while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[position_] - '0', &value))
          return false;
        ++position_;
        ++digits;
      }
      // Python 2 wrote long integers with an L.
      if (position_ < text_.size() && text_[position_] == 'L')
        ++position_;
      if (digits == 0 || dims.size() >= kMaximumRank || (!accept(',') && peek() != ')'))
        return false;
      dims.push_back(value);
    }
    return true;
  }

  std::string_view text_;
  size_t position_ = 0;
};

struct ElementDescription {
  ElementType type = ElementType::Invalid;
  int64_t bytes = 0;
  bool swapped = false;
};

Status parseDescription(const std::string &descr, ElementDescription &result) {
  static constexpr struct {
    const char *name;
    ElementType type;
  } kNames[] = {
      {"b1", ElementType::I1},  {"i1", ElementType::I8},  {"i2", ElementType::I16}, {"i4", ElementType::I32},
      {"i8", ElementType::I64}, {"u1", ElementType::U8},  {"u2", ElementType::U16}, {"u4", ElementType::U32},
      {"u8", ElementType::U64}, {"f2", ElementType::F16}, {"f4", ElementType::F32}, {"f8", ElementType::F64},
  };
  auto unsupported = [&] {
    return Status(StatusCode::InvalidArgument,
                  "it holds elements of NumPy type '" + descr + "'; expected booleans, integers or floating point");
  };
  if (descr.size() < 3 || !std::strchr("<>|=", descr[0]))
    return unsupported();
  result.swapped = descr[0] == '>';
  std::string name = descr.substr(1);
  for (const auto &candidate : kNames)
    if (name == candidate.name) {
      result.type = candidate.type;
      result.bytes = storageBits(candidate.type) / 8;
      return Status();
    }
  if (name == "V1" || name == "V2") {
    result.bytes = name[1] - '0';
    return Status();
  }
  return unsupported();
}

void swapBytes(uint8_t *data, int64_t count, int64_t elementBytes) {
  for (int64_t index = 0; index < count; ++index)
    std::reverse(data + index * elementBytes, data + (index + 1) * elementBytes);
}

} // namespace

StatusOr<Array> parseNpy(const uint8_t *data, size_t size) {
  if (size < 10 || std::memcmp(data, kMagic, kMagicSize) != 0)
    return malformed(size == 0 ? "it is empty, expected a .npy file" : "it is not a .npy file");
  unsigned major = data[6];
  if (major < 1 || major > 3)
    return Status(StatusCode::InvalidArgument, "it has .npy version " + std::to_string(major) + ", expected 1, 2 or 3");
  size_t start = major == 1 ? 10 : 12;
  if (size < start)
    return malformed("it ends inside its header");
  size_t length = data[8] | data[9] << 8;
  if (major > 1)
    length |= static_cast<size_t>(data[10]) << 16 | static_cast<size_t>(data[11]) << 24;
  if (length > size - start)
    return malformed("it ends inside its header");
  Header header;
  WEFT_RETURN_IF_ERROR(
      HeaderParser(std::string_view(reinterpret_cast<const char *>(data) + start, length)).parse(header));
  ElementDescription element;
  WEFT_RETURN_IF_ERROR(parseDescription(header.descr, element));
  int64_t bytes;
  // Raw elements are counted as integers of their size.
  ElementType sizeType = element.type != ElementType::Invalid ? element.type
                         : element.bytes == 1                 ? ElementType::U8
                                                              : ElementType::U16;
  if (!byteCountOf(sizeType, header.dims.data(), header.dims.size(), bytes))
    return malformed("its shape is impossibly large");
  if (static_cast<uint64_t>(bytes) != size - start - length)
    return malformed("its shape asks for " + std::to_string(bytes) + " bytes of data, it has " +
                     std::to_string(size - start - length));
  Array array;
  array.type = element.type;
  array.rawBytes = element.type == ElementType::Invalid ? element.bytes : 0;
  array.dims = header.dims;
  WEFT_RETURN_IF_ERROR(array.data.require(defaultAllocator(), static_cast<size_t>(bytes), "an array"));
  const uint8_t *source = data + start + length;
  if (header.fortranOrder && array.dims.size() > 1 && bytes > 0) {
    std::vector<int64_t> strides;
    int64_t stride = 1;
    for (int64_t dim : array.dims) {
      strides.push_back(stride);
      stride *= dim;
    }
    copyStrided(source, array.dims.data(), strides.data(), array.dims.size(), element.bytes, array.data.data());
  } else {
    std::memcpy(array.data.data(), source, static_cast<size_t>(bytes));
  }
  if (element.swapped && element.bytes > 1)
    swapBytes(static_cast<uint8_t *>(array.data.data()), bytes / element.bytes, element.bytes);
  if (array.type == ElementType::I1) {
    const auto *values = static_cast<const uint8_t *>(array.data.data());
    if (std::any_of(values, values + bytes, [](uint8_t value) { return value > 1; }))
      return malformed("it holds booleans other than 0 and 1");
  }
  return array;
}

std::vector<uint8_t> npyHeader(ElementType type, const std::vector<int64_t> &dims) {
  const char *kind = type == ElementType::I1                                                            ? "b"
                     : type >= ElementType::I8 && type <= ElementType::I64                              ? "i"
                     : type >= ElementType::U8 && type <= ElementType::U64                              ? "u"
                     : type == ElementType::F16 || type == ElementType::F32 || type == ElementType::F64 ? "f"
                                                                                                        : "V";
  int64_t bytes = storageBits(type) / 8;
  std::string text = std::string("{'descr': '") + (bytes == 1 ? "|" : "<") + kind + std::to_string(bytes) +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t axis = 0; axis < dims.size(); ++axis)
    text += std::to_string(dims[axis]) + (axis + 1 < dims.size() ? ", " : dims.size() == 1 ? "," : "");
  text += "), }";
  constexpr size_t kPrefix = 10, kAlignment = 64;
  size_t total = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kPrefix - text.size() - 1, ' ');
  text += '\n';
  std::vector<uint8_t> header(kMagic, kMagic + kMagicSize);
  header.insert(header.end(), {1, 0, static_cast<uint8_t>(text.size() & 0xff), static_cast<uint8_t>(text.size() >> 8)});
  header.insert(header.end(), text.begin(), text.end());
  return header;
}

StatusOr<Array> readNpy(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  auto array = parseNpy((*file)->data(), (*file)->size());
  if (!array.ok())
    return array.status().withContext("cannot read '" + path + "'");
  return array;
}

Status stageNpy(AtomicFile &file, const std::string &path, const Array &array) {
  WEFT_RETURN_IF_ERROR(file.open(path));
  std::vector<uint8_t> header = npyHeader(array.type, array.dims);
  WEFT_RETURN_IF_ERROR(file.write(header.data(), header.size()));
  return file.write(array.data.data(), static_cast<size_t>(array.byteCount()));
}

Status writeNpy(const std::string &path, const Array &array) {
  AtomicFile file;
  WEFT_RETURN_IF_ERROR(stageNpy(file, path, array));
  return file.commit();
}

} // namespace weft::runtime
