// Stands in for oneDNN in a build without its header: every call runs its alternative kernel.
#include "runtime/Library/OneDnn/OneDnn.h"

namespace weft::runtime {
namespace {

Status absent() {
  return Status(StatusCode::UnsupportedDevice, "this runtime was built without oneDNN (libdnnl-dev was not installed)");
}

} // namespace

StatusOr<std::unique_ptr<LibraryOperation>> makeOneDnnOperation(const LibraryCall &, const void *,
                                                                const WeftAllocator &) {
  return absent();
}

StatusOr<std::string> oneDnnVersion() { return absent(); }

} // namespace weft::runtime
