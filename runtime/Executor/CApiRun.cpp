// C API: states and runs.
#include "runtime/Executor/CApi.h"

using namespace weft::runtime;

WeftStatus *weft_state_create(WeftProgram *program, WeftState **state) {
  return guarded([&] {
    if (!program || !state)
      return nullArgument(program ? "state" : "program");
    auto created = StateTensors::create(program->program);
    if (!created.ok())
      return created.status();
    *state = new WeftState{std::move(*created)};
    return Status();
  });
}

WeftStatus *weft_state_tensor(WeftState *state, const char *name, WeftTensorView *view) {
  return guarded([&] {
    if (!state || !name || !view)
      return nullArgument(!state ? "state" : !name ? "name" : "view");
    const std::vector<State> &tensors = state->state->program().program().states;
    std::vector<std::string> names;
    for (size_t index = 0; index < tensors.size(); ++index) {
      names.push_back(tensors[index].name);
      if (tensors[index].name != name)
        continue;
      if (state->state->program().cuda()) {
        if (state->state->inUse.exchange(true))
          return Status(StatusCode::FailedPrecondition, "the state is in use by a run");
        Status copied = state->state->toHost();
        state->state->inUse.store(false);
        WEFT_RETURN_IF_ERROR(copied);
      }
      *view = {state->state->data()[index], static_cast<WeftElementType>(tensors[index].type),
               static_cast<int32_t>(tensors[index].dims.size()), tensors[index].dims.data(), nullptr};
      return Status();
    }
    return Status(StatusCode::InvalidArgument, "no state is named " + quoted(name) + "; the states are " +
                                                   (names.empty() ? std::string("none") : quotedList(names)));
  });
}

WeftStatus *weft_state_reset(WeftState *state) {
  return guarded([&] {
    if (!state)
      return nullArgument("state");
    if (state->state->inUse.exchange(true))
      return Status(StatusCode::FailedPrecondition, "the state is in use by a run");
    state->state->reset();
    state->state->inUse.store(false);
    return Status();
  });
}

void weft_state_free(WeftState *state) { delete state; }

WeftStatus *weft_run_create(WeftProgram *program, const char *entry, WeftRun **run) {
  return guarded([&] {
    if (!program || !run)
      return nullArgument(program ? "run" : "program");
    auto created = Run::create(program->program, entry);
    if (!created.ok())
      return created.status();
    *run = new WeftRun{std::move(*created)};
    return Status();
  });
}

void weft_run_free(WeftRun *run) { delete run; }

WeftStatus *weft_run_set_input(WeftRun *run, const char *name, const WeftTensorView *tensor) {
  return guarded([&] {
    if (!run || !name || !tensor)
      return nullArgument(!run ? "run" : !name ? "name" : "tensor");
    return run->run->setInput(name, *tensor);
  });
}

WeftStatus *weft_run_set_output(WeftRun *run, const char *name, const WeftTensorView *tensor) {
  return guarded([&] {
    if (!run || !name)
      return nullArgument(!run ? "run" : "name");
    return run->run->setOutput(name, tensor);
  });
}

WeftStatus *weft_run_set_output_on_device(WeftRun *run, const char *name, int32_t enable) {
  return guarded([&] {
    if (!run || !name)
      return nullArgument(!run ? "run" : "name");
    return run->run->setOutputOnDevice(name, enable != 0);
  });
}

WeftStatus *weft_run_set_state(WeftRun *run, WeftState *state) {
  return guarded([&] { return run ? run->run->setState(state ? state->state.get() : nullptr) : nullArgument("run"); });
}

WeftStatus *weft_run_set_seed(WeftRun *run, uint64_t seed) {
  return guarded([&] { return run ? run->run->setSeed(seed) : nullArgument("run"); });
}

WeftStatus *weft_run_set_check_nans(WeftRun *run, int32_t enable) {
  return guarded([&] { return run ? run->run->setCheckNans(enable != 0) : nullArgument("run"); });
}

WeftStatus *weft_run_set_profile(WeftRun *run, int32_t enable) {
  return guarded([&] { return run ? run->run->setProfile(enable != 0) : nullArgument("run"); });
}

WeftStatus *weft_run_set_observer(WeftRun *run, WeftObserver observer, void *user) {
  return guarded([&] { return run ? run->run->setObserver(observer, user) : nullArgument("run"); });
}

WeftStatus *weft_run_execute(WeftRun *run) {
  return guarded([&] { return run ? run->run->execute() : nullArgument("run"); });
}

WeftStatus *weft_run_start(WeftRun *run, WeftFence *const *wait, int32_t wait_count, WeftFence *signal) {
  return guarded([&] {
    if (!run)
      return nullArgument("run");
    if (wait_count < 0 || (wait_count > 0 && !wait))
      return nullArgument("wait");
    std::vector<std::shared_ptr<Fence>> fences;
    for (int32_t index = 0; index < wait_count; ++index) {
      if (!wait[index])
        return nullArgument("wait[i]");
      fences.push_back(wait[index]->fence);
    }
    if (signal && signal->fence->isSignaled())
      return Status(StatusCode::FailedPrecondition, "the fence to signal was signaled before");
    return run->run->start(std::move(fences), signal ? signal->fence : nullptr);
  });
}

WeftStatus *weft_run_wait(WeftRun *run, int64_t timeout) {
  return guarded([&] { return run ? run->run->wait(timeout) : nullArgument("run"); });
}

void weft_run_cancel(WeftRun *run) {
  if (run)
    run->run->cancel();
}

WeftStatus *weft_run_output(WeftRun *run, const char *name, WeftTensorView *view) {
  return guarded([&] {
    if (!run || !name || !view)
      return nullArgument(!run ? "run" : !name ? "name" : "view");
    return run->run->output(name, *view);
  });
}

int32_t weft_run_variant(const WeftRun *run) { return run ? run->run->variant() : -1; }

WeftStatus *weft_run_profile(WeftRun *run, int32_t op, WeftOpProfile *profile) {
  return guarded([&] {
    if (!run || !profile)
      return nullArgument(run ? "profile" : "run");
    OpProfile result;
    WEFT_RETURN_IF_ERROR(run->run->profile(op, result));
    *profile = {result.nanoseconds, result.count};
    return Status();
  });
}

WeftStatus *weft_run_set_input_dlpack(WeftRun *run, const char *name, WeftDLManagedTensor *tensor) {
  return guarded([&] {
    if (!run || !name || !tensor)
      return nullArgument(!run ? "run" : !name ? "name" : "tensor");
    return run->run->setInput(name, tensor);
  });
}

WeftStatus *weft_run_take_output_dlpack(WeftRun *run, const char *name, WeftDLManagedTensor **tensor) {
  return guarded([&] {
    if (!run || !name || !tensor)
      return nullArgument(!run ? "run" : !name ? "name" : "tensor");
    return run->run->takeOutput(name, *tensor);
  });
}
