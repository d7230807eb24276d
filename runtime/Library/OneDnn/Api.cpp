// Opens libdnnl.so.2 and fills the table.
#include "runtime/Library/OneDnn/Api.h"

#include <dlfcn.h>

namespace weft::runtime::onednn {
namespace {

constexpr const char *kLibrary = "libdnnl.so.2";

struct Loaded {
  std::unique_ptr<Api> api;
  std::string reason;
};

Loaded load() {
  Loaded result;
  void *handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *error = ::dlerror();
    result.reason = std::string("oneDNN is not installed (") + (error ? error : kLibrary) + ")";
    return result;
  }
  auto api = std::make_unique<Api>();
  const char *missing = nullptr;
#define SYMBOL(name)                                                                                                   \
  if (!(api->name = reinterpret_cast<decltype(api->name)>(::dlsym(handle, #name))))                                    \
    missing = #name;
#include "runtime/Library/OneDnn/Symbols.def"
#undef SYMBOL
  if (missing) {
    result.reason = std::string(kLibrary) + " does not define " + missing;
    return result;
  }
  const dnnl_version_t *version = api->dnnl_version();
  api->version = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                 std::to_string(version->patch);
  // Descriptor structures are part of this interface and changed with 3.0; within 2.x they only grew compatibly.
  if (version->major != DNNL_VERSION_MAJOR || version->minor < DNNL_VERSION_MINOR) {
    result.reason = "this runtime was built for oneDNN " + std::to_string(DNNL_VERSION_MAJOR) + "." +
                    std::to_string(DNNL_VERSION_MINOR) + ", found " + api->version;
    return result;
  }
  // dlsym on the handle also searches the libraries it needs. The sequential build has neither.
  api->omp_set_num_threads = reinterpret_cast<void (*)(int)>(::dlsym(handle, "omp_set_num_threads"));
  api->omp_get_max_threads = reinterpret_cast<int (*)()>(::dlsym(handle, "omp_get_max_threads"));
  if (!api->omp_get_max_threads)
    api->omp_set_num_threads = nullptr;
  if (api->dnnl_engine_create(&api->engine, dnnl_cpu, 0) != dnnl_success) {
    result.reason = api->version + " has no CPU engine";
    return result;
  }
  result.api = std::move(api);
  return result;
}

} // namespace

const Api *Api::get(std::string &reason) {
  // Never closed: OpenMP's threads and the JIT's code outlive any program.
  static const Loaded *loaded = new Loaded(load());
  reason = loaded->reason;
  return loaded->api.get();
}

} // namespace weft::runtime::onednn
