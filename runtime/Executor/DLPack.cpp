// Tensors in from DLPack and out to it.
#include "runtime/Executor/CudaProgram.h"
#include "runtime/Executor/Run.h"

#include <cstring>

namespace weft::runtime {
namespace {

struct TypePair {
  ElementType type;
  uint8_t code, bits;
};

// The codes of dlpack.h 1.1.
constexpr TypePair kTypes[] = {
    {ElementType::I1, 6, 8},          {ElementType::I2, 0, 2},        {ElementType::I4, 0, 4},
    {ElementType::I8, 0, 8},          {ElementType::I16, 0, 16},      {ElementType::I32, 0, 32},
    {ElementType::I64, 0, 64},        {ElementType::U2, 1, 2},        {ElementType::U4, 1, 4},
    {ElementType::U8, 1, 8},          {ElementType::U16, 1, 16},      {ElementType::U32, 1, 32},
    {ElementType::U64, 1, 64},        {ElementType::F16, 2, 16},      {ElementType::BF16, 4, 16},
    {ElementType::F32, 2, 32},        {ElementType::F64, 2, 64},      {ElementType::F8E4M3FN, 10, 8},
    {ElementType::F8E4M3FNUZ, 11, 8}, {ElementType::F8E5M2, 12, 8},   {ElementType::F8E5M2FNUZ, 13, 8},
    {ElementType::F8E8M0FNU, 14, 8},  {ElementType::F4E2M1FN, 17, 4},
};

ElementType fromDLPack(WeftDLDataType type) {
  for (const TypePair &pair : kTypes)
    if (pair.code == type.code && pair.bits == type.bits && type.lanes == 1)
      return pair.type;
  return ElementType::Invalid;
}

WeftDLDataType toDLPack(ElementType type) {
  for (const TypePair &pair : kTypes)
    if (pair.type == type)
      return {pair.code, pair.bits, 1};
  return {3, 8, 1}; // opaque; no element type gets here
}

// DLDeviceType
constexpr int32_t kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13;

// A result that lives on its own. The tensor comes first: its address is the holder's.
struct Holder {
  WeftDLManagedTensor tensor = {};
  Memory memory;
  std::vector<int64_t> dims;
  std::shared_ptr<cuda::Device> device; // of a result on a GPU
  cuda::DeviceMemory deviceMemory;

  ~Holder() {
    if (!device)
      return;
    cuda::Current current(*device);
    deviceMemory.release();
  }
};

} // namespace

Status Run::setInput(const std::string &name, WeftDLManagedTensor *managed) {
  const WeftDLTensor &tensor = managed->dl_tensor;
  const CudaProgram *cuda = program_->cuda();
  bool onDevice = tensor.device.device_type == kCuda || tensor.device.device_type == kCudaManaged;
  bool onHost = tensor.device.device_type == kCpu || tensor.device.device_type == kCudaHost;
  if (!onHost && !(onDevice && cuda && tensor.device.device_id == cuda->device->index()))
    return Status(StatusCode::InvalidArgument,
                  "input " + quoted(name) + ": the DLPack tensor lies on device type " +
                      std::to_string(tensor.device.device_type) + ", number " +
                      std::to_string(tensor.device.device_id) + ", expected the CPU (1)" +
                      (cuda ? " or the program's " + cuda->device->describe() + " (2)" : ""));
  ElementType type = fromDLPack(tensor.dtype);
  if (type == ElementType::Invalid)
    return Status(StatusCode::InvalidArgument,
                  "input " + quoted(name) + ": the DLPack tensor has type code " + std::to_string(tensor.dtype.code) +
                      ", " + std::to_string(tensor.dtype.bits) + " bits, " + std::to_string(tensor.dtype.lanes) +
                      " lanes, which no element type of Weft corresponds to");
  WeftTensorView view;
  view.data = tensor.data ? static_cast<char *>(tensor.data) + tensor.byte_offset : nullptr;
  view.type = static_cast<WeftElementType>(type);
  view.rank = tensor.ndim;
  view.dims = tensor.shape;
  view.strides = tensor.strides;
  WEFT_RETURN_IF_ERROR(setInput(name, view, onDevice));
  size_t index;
  WEFT_RETURN_IF_ERROR(findInput(name, index));
  inputs_[index].owner = managed;
  return Status();
}

Status Run::takeOutput(const std::string &name, WeftDLManagedTensor *&tensor) {
  WeftTensorView view;
  WEFT_RETURN_IF_ERROR(output(name, view));
  size_t index;
  WEFT_RETURN_IF_ERROR(findOutput(name, index));
  Output &output = outputs_[index];
  auto holder = std::make_unique<Holder>();
  holder->dims = output.dims;
  if (output.onDevice) {
    holder->device = program_->cuda()->device;
    holder->deviceMemory = std::move(output.device);
    output.data = nullptr;
    output.taken = true;
  } else if (output.bound) {
    auto copy = Memory::allocate(program_->options().allocator, static_cast<size_t>(output.boundBytes), "an output");
    if (!copy.ok())
      return copy.status();
    std::memcpy(copy->data(), output.data, static_cast<size_t>(output.boundBytes));
    holder->memory = std::move(*copy);
  } else {
    holder->memory = std::move(output.own);
    output.data = nullptr;
    output.taken = true;
  }
  WeftDLManagedTensor &managed = holder->tensor;
  managed.dl_tensor.data =
      holder->device ? reinterpret_cast<void *>(holder->deviceMemory.address()) : holder->memory.data();
  managed.dl_tensor.device = {holder->device ? kCuda : kCpu, holder->device ? holder->device->index() : 0};
  managed.dl_tensor.ndim = static_cast<int32_t>(holder->dims.size());
  managed.dl_tensor.dtype = toDLPack(entry_.entry->outputs[index].type);
  managed.dl_tensor.shape = holder->dims.data();
  managed.manager_ctx = holder.get();
  managed.deleter = [](WeftDLManagedTensor *self) { delete static_cast<Holder *>(self->manager_ctx); };
  tensor = &holder.release()->tensor;
  return Status();
}

} // namespace weft::runtime
