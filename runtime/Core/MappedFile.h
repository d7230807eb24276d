// A file mapped read-only into memory.
#pragma once

#include "runtime/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weft::runtime {

class MappedFile {
public:
  // An empty file is mapped as no bytes. Pages are read when touched; the file must not be truncated meanwhile.
  static StatusOr<std::unique_ptr<MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

  // The whole pages among these bytes are not needed for now: they no longer count as the process's memory. Reading
  // them again is allowed, and reads the file.
  void release(const uint8_t *begin, size_t bytes) const;

private:
  MappedFile() = default;
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

} // namespace weft::runtime
