// mmap with errors that name the file.
#include "runtime/Core/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::runtime {

StatusOr<std::unique_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  auto failure = [&](int error) {
    return Status(error == ENOENT || error == ENOTDIR ? StatusCode::NotFound : StatusCode::Io,
                  "cannot read '" + path + "': " + std::strerror(error));
  };
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failure(errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Status(StatusCode::Io, "cannot read '" + path + "': it is not a regular file");
  }
  std::unique_ptr<MappedFile> file(new MappedFile());
  file->size_ = static_cast<size_t>(status.st_size);
  if (file->size_ > 0) {
    void *memory = ::mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    int error = errno;
    if (memory == MAP_FAILED) {
      ::close(descriptor);
      file->size_ = 0;
      return failure(error);
    }
    file->data_ = static_cast<const uint8_t *>(memory);
  }
  ::close(descriptor);
  return file;
}

MappedFile::~MappedFile() {
  if (data_)
    ::munmap(const_cast<uint8_t *>(data_), size_);
}

} // namespace weft::runtime
