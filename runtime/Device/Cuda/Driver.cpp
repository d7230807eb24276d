// Opening the library, filling the table, wording errors.
#include "runtime/Device/Cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>

namespace weft::runtime::cuda {
namespace {

constexpr const char *kLibrary = "libcuda.so.1";
constexpr const char *kVariable = "WEFT_CUDA_DRIVER";
// Of CUDA 12.0: the functions of the table are there, and graphs, pools and captures behave as they do today.
constexpr int kOldestVersion = 12000;

std::string textOf(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

} // namespace

StatusOr<std::shared_ptr<Driver>> Driver::open(const std::string &library) {
  static std::mutex *mutex = new std::mutex;
  static auto *drivers = new std::map<std::string, std::weak_ptr<Driver>>;
  const char *variable = std::getenv(kVariable);
  std::string path = !library.empty() ? library : variable && *variable ? variable : kLibrary;
  std::lock_guard<std::mutex> lock(*mutex);
  std::weak_ptr<Driver> &known = (*drivers)[path];
  if (std::shared_ptr<Driver> driver = known.lock())
    return driver;
  std::shared_ptr<Driver> driver(new Driver());
  WEFT_RETURN_IF_ERROR(driver->load(path));
  known = driver;
  return driver;
}

// The library stays open: a driver has threads of its own, and does not expect to be unloaded.
Driver::~Driver() = default;

Status Driver::load(const std::string &library) {
  library_ = library;
  handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) {
    const char *error = ::dlerror();
    bool byName = library.find('/') == std::string::npos;
    return Status(StatusCode::UnsupportedDevice,
                  "no CUDA driver: looked for " + library + (byName ? " where the system's loader looks" : "") + " (" +
                      (error ? error : "no reason given") + "). Install NVIDIA's driver, or name its library in " +
                      kVariable + ", or use the simulated GPU (--gpu-sim)");
  }
  std::string missing;
#define SYMBOL(name, symbol, ...)                                                                                      \
  name.set(::dlsym(handle_, symbol), &calls_);                                                                         \
  if (!name && missing.empty())                                                                                        \
    missing = symbol;
#define OPTIONAL_SYMBOL(name, symbol, ...) name.set(::dlsym(handle_, symbol), &calls_);
#include "runtime/Device/Cuda/Symbols.def"
  if (!EventElapsedTime && !EventElapsedTimeNew && missing.empty())
    missing = "cuEventElapsedTime";
  if (DriverGetVersion && DriverGetVersion(&version_) != kSuccess)
    version_ = 0;
  if (version_ < kOldestVersion || !missing.empty())
    return Status(StatusCode::UnsupportedDevice,
                  "the CUDA driver " + library + " is too old: it is for CUDA " + textOf(version_) +
                      (missing.empty() ? "" : " and lacks " + missing) + ", expected one for CUDA " +
                      textOf(kOldestVersion) + " or later; install a newer NVIDIA driver");
  Result result = Init(0);
  if (result == kNoDevice) {
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return Status(StatusCode::UnsupportedDevice,
                  "the CUDA driver " + library + " (CUDA " + textOf(version_) + ") finds no GPU" +
                      (visible ? std::string("; CUDA_VISIBLE_DEVICES is \"") + visible + "\"" : ""));
  }
  Status status = this->status(result, "the CUDA driver " + library + " does not start");
  return status.ok() ? status : Status(StatusCode::UnsupportedDevice, status.message());
}

std::string Driver::versionText() const { return textOf(version_); }

void *Driver::find(const char *symbol) const { return ::dlsym(handle_, symbol); }

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (GetErrorName(result, &name) != kSuccess || !name)
    return "CUDA error " + std::to_string(result);
  if (GetErrorString(result, &text) != kSuccess || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

Status Driver::status(Result result, const std::string &what) const {
  if (result == kSuccess)
    return Status();
  StatusCode code = result == kOutOfMemory                            ? StatusCode::ResourceExhausted
                    : result == kNoDevice || result == kInvalidDevice ? StatusCode::UnsupportedDevice
                    : isSticky(result)                                ? StatusCode::ExecutionFailed
                                                                      : StatusCode::Internal;
  return Status(code, what + ": " + describe(result));
}

Result Driver::elapsed(float *milliseconds, EventHandle start, EventHandle end) const {
  return EventElapsedTimeNew ? EventElapsedTimeNew(milliseconds, start, end)
                             : EventElapsedTime(milliseconds, start, end);
}

StatusOr<std::vector<DeviceDescription>> listDevices(const Driver &driver) {
  int count = 0;
  WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceGetCount(&count), "the GPUs cannot be counted"));
  std::vector<DeviceDescription> devices;
  for (int index = 0; index < count; ++index) {
    DeviceDescription description;
    DeviceHandle handle;
    char name[256] = {};
    int major = 0, minor = 0;
    std::string what = "GPU " + std::to_string(index) + " cannot be described";
    WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceGet(&handle, index), what));
    WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceGetName(name, sizeof(name) - 1, handle), what));
    WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceGetAttribute(&major, kComputeCapabilityMajor, handle), what));
    WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceGetAttribute(&minor, kComputeCapabilityMinor, handle), what));
    WEFT_RETURN_IF_ERROR(driver.status(driver.DeviceTotalMem(&description.bytes, handle), what));
    description.name = name;
    description.architecture = major * 10 + minor;
    devices.push_back(std::move(description));
  }
  return devices;
}

bool isSticky(Result result) {
  switch (result) {
  case kEccUncorrectable:
  case kIllegalAddress:
  case kLaunchTimeout:
  case kContextIsDestroyed:
  case kAssert:
  case kHardwareStackError:
  case kIllegalInstruction:
  case kMisalignedAddress:
  case kInvalidAddressSpace:
  case kInvalidProgramCounter:
  case kLaunchFailed:
  case kUnknown:
    return true;
  default:
    return false;
  }
}

} // namespace weft::runtime::cuda
