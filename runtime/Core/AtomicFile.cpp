// Temporary file, fsync, rename.
#include "runtime/Core/AtomicFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

Status AtomicFile::writeError(const char *action) const {
  int error = errno;
  StatusCode code =
      error == ENOSPC || error == EDQUOT || error == EFBIG ? StatusCode::ResourceExhausted : StatusCode::Io;
  return Status(code, std::string("cannot ") + action + " '" + path_ + "': " + std::strerror(error));
}

Status AtomicFile::open(const std::string &path) {
  path_ = path;
  struct stat existing;
  bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) {
    if (S_ISDIR(existing.st_mode))
      return Status(StatusCode::Io, "cannot write '" + path + "': it is a folder");
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor_ >= 0 ? Status() : writeError("write");
  }
  // A file that its owner made read-only is not to be replaced, although rename() would.
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return writeError("write");
  // Through a symbolic link, the file it points to is replaced and the link kept.
  if (char *resolved = ::realpath(path.c_str(), nullptr)) {
    path_ = resolved;
    ::free(resolved);
  }
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    return writeError("write");
  }
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(descriptor_, exists ? existing.st_mode & 07777 : 0666 & ~mask) != 0)
    return writeError("set the permissions of");
  return Status();
}

Status AtomicFile::write(const void *data, size_t size) {
  const char *cursor = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor_, cursor, size);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return writeError("write");
    }
    cursor += written;
    size -= static_cast<size_t>(written);
  }
  return Status();
}

Status AtomicFile::commit() {
  // Delayed allocation reports a full disk here at the latest; devices and pipes cannot be synchronized, which is no
  // fault.
  if (!temporary_.empty() && ::fsync(descriptor_) != 0)
    return writeError("write");
  int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0)
    return writeError("write");
  if (temporary_.empty())
    return Status();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    return writeError("write");
  temporary_.clear();
  return Status();
}

} // namespace weft::runtime
