// Opening a device, and what it owns.
#include "runtime/Device/Cuda/Device.h"

namespace weft::runtime::cuda {

Current::Current(const Device &device) : device_(device) {
  pushed_ = device.driver().CtxPushCurrent(device.context_) == kSuccess;
}

Current::~Current() {
  Context ignored;
  if (pushed_)
    device_.driver().CtxPopCurrent(&ignored);
}

StatusOr<std::shared_ptr<Device>> Device::open(const std::string &driverLibrary, int index) {
  static std::mutex *mutex = new std::mutex;
  static auto *devices = new std::map<std::pair<std::string, int>, std::weak_ptr<Device>>;
  auto driver = Driver::open(driverLibrary);
  if (!driver.ok())
    return driver.status();
  std::lock_guard<std::mutex> lock(*mutex);
  std::weak_ptr<Device> &known = (*devices)[{(*driver)->library(), index}];
  if (std::shared_ptr<Device> device = known.lock()) {
    WEFT_RETURN_IF_ERROR(device->failure());
    return device;
  }
  std::shared_ptr<Device> device(new Device());
  WEFT_RETURN_IF_ERROR(device->initialize(*driver, index));
  known = device;
  return device;
}

Status Device::initialize(std::shared_ptr<Driver> driver, int index) {
  driver_ = std::move(driver);
  index_ = index;
  auto devices = listDevices(*driver_);
  if (!devices.ok())
    return devices.status();
  if (index < 0 || static_cast<size_t>(index) >= devices->size()) {
    std::string there;
    for (size_t other = 0; other < devices->size(); ++other)
      there += (other ? ", " : "") + ("cuda:" + std::to_string(other)) + " (" + (*devices)[other].name + ")";
    return Status(StatusCode::UnsupportedDevice, "there is no GPU cuda:" + std::to_string(index) +
                                                     "; the CUDA driver " + driver_->library() + " lists " + there);
  }
  const DeviceDescription &description = (*devices)[static_cast<size_t>(index)];
  name_ = description.name;
  architecture_ = description.architecture;
  std::string what = describe() + " cannot be used";
  WEFT_RETURN_IF_ERROR(driver_->status(driver_->DeviceGet(&handle_, index), what));
  int shared = 0, pools = 0;
  WEFT_RETURN_IF_ERROR(
      driver_->status(driver_->DeviceGetAttribute(&shared, kMaxSharedMemoryPerBlockOptin, handle_), what));
  WEFT_RETURN_IF_ERROR(driver_->status(driver_->DeviceGetAttribute(&pools, kMemoryPoolsSupported, handle_), what));
  sharedBytes_ = shared;
  WEFT_RETURN_IF_ERROR(driver_->status(driver_->DevicePrimaryCtxRetain(&context_, handle_), what));
  Current current(*this);
  if (pools) {
    MemoryPoolProperties properties;
    properties.locationId = index;
    WEFT_RETURN_IF_ERROR(driver_->status(driver_->MemPoolCreate(&pool_, &properties), what));
  }
  return stream_.create(*this);
}

Device::~Device() {
  if (!context_)
    return;
  {
    Current current(*this);
    if (stream_.handle())
      driver_->StreamSynchronize(stream_.handle());
    stream_.release();
    if (pool_)
      driver_->MemPoolDestroy(pool_);
  }
  // The last holder of a primary context ends it, and with it an error that stuck to it.
  driver_->DevicePrimaryCtxRelease(handle_);
}

std::string Device::describe() const {
  return "cuda:" + std::to_string(index_) + " (" + name_ + ", sm_" + std::to_string(architecture_) + ")";
}

Status Device::check(Result result, const std::string &what) const {
  if (result == kSuccess)
    return Status();
  if (isSticky(result)) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok())
      failure_ = Status(StatusCode::ExecutionFailed,
                        describe() + " failed earlier (" + what + ": " + driver_->describe(result) +
                            "), and answers nothing but this error until every program loaded on it is freed; free "
                            "them and load them again");
  }
  return driver_->status(result, what);
}

Status Device::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void Device::memory(size_t &free, size_t &total) const {
  if (driver_->MemGetInfo(&free, &total) != kSuccess)
    free = total = 0;
}

Status Stream::create(const Device &device) {
  device_ = &device;
  return device.check(device.driver().StreamCreate(&handle_, kNonBlocking), "a stream cannot be made");
}

void Stream::release() {
  if (handle_)
    device_->driver().StreamDestroy(handle_);
  handle_ = nullptr;
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  if (this != &other) {
    release();
    device_ = other.device_;
    stream_ = other.stream_;
    address_ = other.address_;
    size_ = other.size_;
    other.address_ = 0;
    other.size_ = 0;
  }
  return *this;
}

Status DeviceMemory::require(const Device &device, StreamHandle stream, size_t bytes, const std::string &what,
                             bool *replaced) {
  bytes = bytes ? bytes : 1;
  if (address_ && size_ >= bytes)
    return Status();
  release();
  device_ = &device;
  stream_ = stream;
  const Driver &driver = device.driver();
  Result result = device.pool_ ? driver.MemAllocFromPoolAsync(&address_, bytes, device.pool_, stream)
                               : driver.MemAlloc(&address_, bytes);
  if (result == kOutOfMemory) {
    size_t free, total;
    device.memory(free, total);
    address_ = 0;
    return Status(StatusCode::ResourceExhausted, device.describe() + " has no memory for " + what + " of " +
                                                     std::to_string(bytes) + " bytes: " + std::to_string(free) +
                                                     " of its " + std::to_string(total) + " bytes are free");
  }
  if (result != kSuccess) {
    address_ = 0;
    return device.check(result, "memory for " + what);
  }
  size_ = bytes;
  if (replaced)
    *replaced = true;
  return Status();
}

void DeviceMemory::release() {
  if (!address_)
    return;
  if (device_->pool_)
    device_->driver().MemFreeAsync(address_, stream_);
  else
    device_->driver().MemFree(address_);
  address_ = 0;
  size_ = 0;
}

void PinnedMemory::release() {
  if (data_)
    device_->driver().MemFreeHost(data_);
  data_ = nullptr;
  size_ = 0;
}

Status PinnedMemory::require(const Device &device, size_t bytes) {
  if (data_ && size_ >= bytes)
    return Status();
  release();
  device_ = &device;
  Result result = device.driver().MemHostAlloc(&data_, bytes, 0);
  if (result != kSuccess)
    data_ = nullptr;
  if (result == kOutOfMemory)
    return Status(StatusCode::ResourceExhausted, "the host has no memory of " + std::to_string(bytes) + " bytes that " +
                                                     device.describe() + " could copy from and to");
  WEFT_RETURN_IF_ERROR(device.check(result, "memory of the host for copies"));
  size_ = bytes;
  return Status();
}

Status Event::create(const Device &device) {
  device_ = &device;
  return device.check(device.driver().EventCreate(&handle_, kEventWithTiming), "an event cannot be made");
}

Event::~Event() {
  if (handle_)
    device_->driver().EventDestroy(handle_);
}

Graph &Graph::operator=(Graph &&other) noexcept {
  if (this != &other) {
    release();
    device_ = other.device_;
    handle_ = other.handle_;
    other.handle_ = nullptr;
  }
  return *this;
}

Status Graph::instantiate(const Device &device, GraphHandle captured) {
  release();
  device_ = &device;
  Result result = device.driver().GraphInstantiate(&handle_, captured, 0);
  if (result != kSuccess)
    handle_ = nullptr;
  return device.check(result, "a graph of launches cannot be made");
}

Status Graph::launch(StreamHandle stream) const {
  return device_->check(device_->driver().GraphLaunch(handle_, stream), "a graph of launches cannot be submitted");
}

void Graph::release() {
  if (handle_)
    device_->driver().GraphExecDestroy(handle_);
  handle_ = nullptr;
}

} // namespace weft::runtime::cuda
