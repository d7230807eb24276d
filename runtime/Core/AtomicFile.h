// Files that appear whole or not at all.
#pragma once

#include "runtime/Core/Status.h"

#include <cstddef>
#include <string>

namespace weft::runtime {

// Writes to a temporary file beside `path`; commit() makes it durable and renames it to `path`. Without commit the
// destructor removes it, and an older file at `path` stays as it was. A path that names something other than a regular
// file (a device, a pipe) is written directly.
class AtomicFile {
public:
  AtomicFile() = default;
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  // Fails when the folder does not exist or is not writable, or `path` is a folder.
  Status open(const std::string &path);
  Status write(const void *data, size_t size);
  Status commit();

private:
  Status writeError(const char *action) const;

  std::string path_;
  std::string temporary_; // empty: written directly
  int descriptor_ = -1;
};

} // namespace weft::runtime
