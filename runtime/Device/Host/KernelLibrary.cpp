// memfd_create and dlopen: no file in the file system, nothing to clean up.
#include "runtime/Device/Host/KernelLibrary.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::runtime {

StatusOr<std::unique_ptr<KernelLibrary>> KernelLibrary::load(const uint8_t *image, uint64_t size) {
  auto failure = [](const std::string &reason) {
    return Status(StatusCode::Internal, "cannot load the artifact's kernels: " + reason);
  };
  int descriptor = ::memfd_create("weft-kernels", MFD_CLOEXEC);
  if (descriptor < 0)
    return failure(std::string("memfd_create: ") + std::strerror(errno));
  for (uint64_t done = 0; done < size;) {
    ssize_t written = ::write(descriptor, image + done, size - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      std::string reason = std::strerror(errno);
      ::close(descriptor);
      return failure("writing to memory: " + reason);
    }
    done += static_cast<uint64_t>(written);
  }
  // The loader takes a library of the same path for the one it has already. The descriptor stays open as long as the
  // library is loaded, so that no other gets its number, and with it its path.
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  std::unique_ptr<KernelLibrary> library(new KernelLibrary());
  library->descriptor_ = descriptor;
  library->handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *error = library->handle_ ? nullptr : ::dlerror();
  std::string reason = error ? error : "";
  if (!library->handle_)
    return failure(reason);
  return library;
}

KernelLibrary::~KernelLibrary() {
  if (handle_)
    ::dlclose(handle_);
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

WeftKernel KernelLibrary::find(const std::string &name) const {
  // dlsym also searches what the object depends on; a kernel must be its own.
  void *symbol = ::dlsym(handle_, name.c_str());
  Dl_info symbolInfo;
  struct link_map *map = nullptr;
  if (!symbol || ::dladdr1(symbol, &symbolInfo, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) == 0 ||
      static_cast<void *>(map) != handle_)
    return nullptr;
  return reinterpret_cast<WeftKernel>(symbol);
}

} // namespace weft::runtime
