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

void MappedFile::release(const uint8_t *begin, size_t bytes) const {
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page;
  uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) / page * page;
  // The pages were never written to, so that nothing is lost.
  if (begin >= data_ && bytes <= size_ && begin + bytes <= data_ + size_ && first < last)
    ::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_)
    ::munmap(const_cast<uint8_t *>(data_), size_);
}

} // namespace weft::runtime
