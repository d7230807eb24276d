// One GPU as this process uses it: its primary context, memory, streams, modules.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Device/Cuda/Driver.h"

#include <array>
#include <map>
#include <mutex>

namespace weft::runtime::cuda {

class Device;
class Module;

// Makes the device's context current in the calling thread, and what was current before again when it ends: the caller
// may use CUDA as well.
class Current {
public:
  explicit Current(const Device &device);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  const Device &device_;
  bool pushed_ = false;
};

// Work in a stream runs in order, at the same time as that of other streams.
class Stream {
public:
  Stream() = default;
  ~Stream() { release(); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  Status create(const Device &device);
  void release();
  StreamHandle handle() const { return handle_; }

private:
  const Device *device_ = nullptr;
  StreamHandle handle_ = nullptr;
};

// Memory of the GPU, from the device's pool where it has pools. Returned in the order of the stream it was taken in,
// which must outlive it.
class DeviceMemory {
public:
  DeviceMemory() = default;
  ~DeviceMemory() { release(); }
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;

  // Keeps what it has where that is large enough; else its contents are lost. Never null afterwards, even for 0 bytes.
  // `what` is for the error: "the run's arena". `replaced`, where given, is set when the address changed.
  Status require(const Device &device, StreamHandle stream, size_t bytes, const std::string &what,
                 bool *replaced = nullptr);
  void release();
  DevicePointer address() const { return address_; }
  size_t size() const { return size_; }

private:
  const Device *device_ = nullptr;
  StreamHandle stream_ = nullptr;
  DevicePointer address_ = 0;
  size_t size_ = 0;
};

// Memory of the host that the GPU copies from and to while the host goes on.
class PinnedMemory {
public:
  PinnedMemory() = default;
  ~PinnedMemory() { release(); }
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  Status require(const Device &device, size_t bytes);
  void release();
  char *data() const { return static_cast<char *>(data_); }
  size_t size() const { return size_; }

private:
  const Device *device_ = nullptr;
  void *data_ = nullptr;
  size_t size_ = 0;
};

class Event {
public:
  Event() = default;
  ~Event();
  Event(Event &&other) noexcept : device_(other.device_), handle_(other.handle_) { other.handle_ = nullptr; }
  Event &operator=(Event &&) = delete;
  Status create(const Device &device);
  EventHandle handle() const { return handle_; }

private:
  const Device *device_ = nullptr;
  EventHandle handle_ = nullptr;
};

// Work that was captured once and is submitted as one.
class Graph {
public:
  Graph() = default;
  ~Graph() { release(); }
  Graph(Graph &&other) noexcept { *this = std::move(other); }
  Graph &operator=(Graph &&other) noexcept;
  // Makes what was captured ready to be launched.
  Status instantiate(const Device &device, GraphHandle captured);
  Status launch(StreamHandle stream) const;
  explicit operator bool() const { return handle_ != nullptr; }
  void release();

private:
  const Device *device_ = nullptr;
  GraphExecHandle handle_ = nullptr;
};

// Kernels on the device. Programs that hold the same image share them.
class Module {
public:
  explicit Module(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  // Of this name; null where there is none.
  FunctionHandle find(const std::string &name) const;
  // "cubin" or "ptx".
  const char *form() const { return form_; }
  // Why the cubin that was given is not used; else empty.
  const std::string &reason() const { return reason_; }

private:
  friend class Device;
  Status load(ByteSpan ptx, ByteSpan cubin);
  Result loadImage(const void *image, std::string &log);

  std::shared_ptr<const Device> device_;
  ModuleHandle handle_ = nullptr;
  const char *form_ = "ptx";
  std::string reason_;
};

class Device : public std::enable_shared_from_this<Device> {
public:
  // GPU `index` of the driver. While anybody holds it, it is the same object for all.
  static StatusOr<std::shared_ptr<Device>> open(const std::string &driverLibrary, int index);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const Driver &driver() const { return *driver_; }
  int index() const { return index_; }
  int architecture() const { return architecture_; } // 90
  int64_t sharedBytesOfBlock() const { return sharedBytes_; }
  const std::string &name() const { return name_; }
  // "cuda:0 (NVIDIA H100, sm_90)"
  std::string describe() const;

  // The kernels of an image, which may be gone after the call. The cubin is used where the GPU understands it.
  StatusOr<std::shared_ptr<Module>> module(ByteSpan ptx, ByteSpan cubin);

  // A status for the driver's result. A sticky error is remembered: from then on the device answers nothing but it.
  Status check(Result result, const std::string &what) const;
  // The sticky error of an earlier call, with what to do about it; success where there was none.
  Status failure() const;
  // Memory the driver has left, of the device's own.
  void memory(size_t &free, size_t &total) const;
  // For programs' weights and other things that no run owns.
  StreamHandle stream() const { return stream_.handle(); }

private:
  friend class Current;
  friend class DeviceMemory;
  Device() = default;
  Status initialize(std::shared_ptr<Driver> driver, int index);

  std::shared_ptr<Driver> driver_;
  int index_ = 0;
  DeviceHandle handle_ = 0;
  Context context_ = nullptr;
  MemoryPool pool_ = nullptr;
  std::string name_;
  int architecture_ = 0;
  int64_t sharedBytes_ = 0;
  Stream stream_;
  mutable std::mutex mutex_;
  mutable Status failure_;                                           // under mutex
  std::map<std::array<uint64_t, 4>, std::weak_ptr<Module>> modules_; // under mutex; by the images' hashes
};

} // namespace weft::runtime::cuda
