// Allocation and initial values of state tensors.
#include "runtime/Executor/State.h"

#include "runtime/Executor/CudaProgram.h"

#include <cstring>

namespace weft::runtime {

StatusOr<std::unique_ptr<StateTensors>> StateTensors::create(std::shared_ptr<LoadedProgram> program) {
  auto state = std::make_unique<StateTensors>();
  state->program_ = std::move(program);
  for (const State &tensor : state->program_->program().states) {
    int64_t bytes = 0;
    byteCountOf(tensor.type, tensor.dims.data(), tensor.dims.size(), bytes);
    auto memory = Memory::allocate(state->program_->options().allocator, static_cast<size_t>(bytes),
                                   "state " + quoted(tensor.name));
    if (!memory.ok())
      return memory.status();
    state->data_.push_back(memory->data());
    state->bytes_.push_back(bytes);
    state->memory_.push_back(std::move(*memory));
  }
  state->reset();
  const CudaProgram *cuda = state->program_->cuda();
  if (!cuda)
    return state;
  cuda::Current current(*cuda->device);
  state->device_.resize(state->data_.size());
  for (size_t index = 0; index < state->data_.size(); ++index)
    WEFT_RETURN_IF_ERROR(
        state->device_[index].require(*cuda->device, cuda->device->stream(), static_cast<size_t>(state->bytes_[index]),
                                      "state " + quoted(state->program_->program().states[index].name)));
  // Runs use them in streams of their own.
  WEFT_RETURN_IF_ERROR(
      cuda->device->check(cuda->device->driver().StreamSynchronize(cuda->device->stream()), "making a state"));
  return state;
}

StateTensors::~StateTensors() {
  if (!program_ || !program_->cuda())
    return;
  cuda::Current current(*program_->cuda()->device);
  device_.clear();
}

Status StateTensors::toHost() {
  const CudaProgram *cuda = program_->cuda();
  if (!cuda)
    return Status();
  const cuda::Device &device = *cuda->device;
  if (deviceIsNewer_) {
    cuda::Current current(device);
    for (size_t index = 0; index < data_.size(); ++index)
      if (bytes_[index] > 0)
        WEFT_RETURN_IF_ERROR(
            device.check(device.driver().MemcpyDtoHAsync(data_[index], device_[index].address(),
                                                         static_cast<size_t>(bytes_[index]), device.stream()),
                         "copying the state from the GPU"));
    WEFT_RETURN_IF_ERROR(
        device.check(device.driver().StreamSynchronize(device.stream()), "copying the state from the GPU"));
    deviceIsNewer_ = false;
  }
  hostIsNewer_ = true;
  return Status();
}

Status StateTensors::toDevice(cuda::StreamHandle stream) {
  const cuda::Device &device = *program_->cuda()->device;
  for (size_t index = 0; hostIsNewer_ && index < data_.size(); ++index)
    if (bytes_[index] > 0)
      WEFT_RETURN_IF_ERROR(device.check(device.driver().MemcpyHtoDAsync(device_[index].address(), data_[index],
                                                                        static_cast<size_t>(bytes_[index]), stream),
                                        "copying the state to the GPU"));
  hostIsNewer_ = false;
  deviceIsNewer_ = true;
  return Status();
}

void StateTensors::reset() {
  const std::vector<State> &states = program_->program().states;
  for (size_t index = 0; index < states.size(); ++index) {
    size_t bytes = static_cast<size_t>(bytes_[index]);
    if (states[index].initialWeight >= 0)
      std::memcpy(data_[index], program_->weights()[static_cast<size_t>(states[index].initialWeight)].data, bytes);
    else
      std::memset(data_[index], 0, bytes);
  }
  hostIsNewer_ = true;
  deviceIsNewer_ = false;
}

} // namespace weft::runtime
