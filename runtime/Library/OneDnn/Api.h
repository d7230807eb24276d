// The table of oneDNN's functions and owners of its objects; internal to this folder.
#pragma once

#include "runtime/Core/Status.h"

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <string>

namespace weft::runtime::onednn {

struct Api {
#define SYMBOL(name) decltype(&::name) name = nullptr;
#include "runtime/Library/OneDnn/Symbols.def"
#undef SYMBOL
  // Of the OpenMP runtime oneDNN is linked with; both null when it uses none.
  void (*omp_set_num_threads)(int) = nullptr;
  int (*omp_get_max_threads)() = nullptr;
  dnnl_engine_t engine = nullptr;
  // "oneDNN 2.6.3"
  std::string version;

  // Opens the library at the first call; the process keeps it. NULL with a reason when there is none.
  static const Api *get(std::string &reason);
};

// OpenMP keeps its thread count a thread: set to one while oneDNN is called, so that neither what it plans nor the
// order of its sums depends on the machine, and restored because the caller's thread may have OpenMP code of its own.
class SingleThread {
public:
  explicit SingleThread(const Api &api) : api_(api) {
    if (api_.omp_set_num_threads) {
      before_ = api_.omp_get_max_threads();
      if (before_ != 1)
        api_.omp_set_num_threads(1);
    }
  }
  ~SingleThread() {
    if (api_.omp_set_num_threads && before_ != 1)
      api_.omp_set_num_threads(before_);
  }
  SingleThread(const SingleThread &) = delete;
  SingleThread &operator=(const SingleThread &) = delete;

private:
  const Api &api_;
  int before_ = 1;
};

// Owns a oneDNN object; Destroy is the member of Api that frees it.
template <typename Handle, auto Destroy> class Owner {
public:
  Owner() = default;
  explicit Owner(const Api &api) : api_(&api) {}
  ~Owner() { reset(); }
  Owner(Owner &&other) noexcept { *this = std::move(other); }
  Owner &operator=(Owner &&other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      handle_ = other.handle_;
      other.handle_ = nullptr;
    }
    return *this;
  }
  Handle get() const { return handle_; }
  // For functions that create the object.
  Handle *out() {
    reset();
    return &handle_;
  }
  void reset() {
    if (handle_)
      (api_->*Destroy)(handle_);
    handle_ = nullptr;
  }

private:
  const Api *api_ = nullptr;
  Handle handle_ = nullptr;
};

using Stream = Owner<dnnl_stream_t, &Api::dnnl_stream_destroy>;
using DnnlMemory = Owner<dnnl_memory_t, &Api::dnnl_memory_destroy>;
using PostOps = Owner<dnnl_post_ops_t, &Api::dnnl_post_ops_destroy>;
using Attributes = Owner<dnnl_primitive_attr_t, &Api::dnnl_primitive_attr_destroy>;
using PrimitiveDescription = Owner<dnnl_primitive_desc_t, &Api::dnnl_primitive_desc_destroy>;
using Primitive = Owner<dnnl_primitive_t, &Api::dnnl_primitive_destroy>;

} // namespace weft::runtime::onednn
