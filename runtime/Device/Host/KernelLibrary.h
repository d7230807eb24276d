// The kernels of one target, loaded into the process.
#pragma once

#include "include/weft/kernel_abi.h"
#include "runtime/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weft::runtime {

class KernelLibrary {
public:
  // Loads an ELF shared object from memory. Its bytes must have been verified: loading runs what is in it. The bytes
  // are not needed afterwards.
  static StatusOr<std::unique_ptr<KernelLibrary>> load(const uint8_t *image, uint64_t size);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  // NULL when the library does not define it.
  WeftKernel find(const std::string &name) const;

private:
  KernelLibrary() = default;
  void *handle_ = nullptr;
  int descriptor_ = -1;
};

} // namespace weft::runtime
