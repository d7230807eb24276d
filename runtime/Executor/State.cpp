// Allocation and initial values of state tensors.
#include "runtime/Executor/State.h"

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
  return state;
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
}

} // namespace weft::runtime
