/* Embeds the Weft runtime: loads an artifact, feeds ones to its inputs, runs it and prints each result's first value.
 * Build: see examples/CMakeLists.txt. Run: run_model model.weft */
#include <stdio.h>
#include <stdlib.h>
#include <weft/runtime.h>

static void check(WeftStatus *status) {
  if (!status)
    return;
  fprintf(stderr, "run_model: %s\n", weft_status_message(status));
  weft_status_free(status);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: run_model FILE.weft\n");
    return 1;
  }
  WeftProgram *program;
  WeftRun *run;
  check(weft_program_load_file(argv[1], NULL, &program));
  check(weft_run_create(program, NULL, &run));

  for (int32_t i = 0; i < weft_program_input_count(program, 0); i++) {
    WeftTensorInfo info;
    int64_t dims[8];
    check(weft_program_input(program, 0, i, &info));
    if (info.type != WEFT_ELEMENT_F32 || info.rank > 8) {
      fprintf(stderr, "run_model: input %s is not f32 of rank 8 or less\n", info.name);
      return 1;
    }
    for (int32_t d = 0; d < info.rank; d++)
      dims[d] = info.dims[d].minimum; /* the smallest extent of a symbolic dimension */
    size_t size = (size_t)weft_tensor_bytes(info.type, info.rank, dims);
    float *data = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!data)
      return 1;
    for (size_t element = 0; element < size / sizeof(float); element++)
      data[element] = 1.0f;
    WeftTensorView view = {data, info.type, info.rank, dims, NULL};
    check(weft_run_set_input(run, info.name, &view)); /* used in place: freed when the process ends */
  }
  check(weft_run_execute(run));
  for (int32_t i = 0; i < weft_program_output_count(program, 0); i++) {
    WeftTensorInfo info;
    WeftTensorView view;
    check(weft_program_output(program, 0, i, &info));
    check(weft_run_output(run, info.name, &view));
    if (view.type == WEFT_ELEMENT_F32 && weft_tensor_bytes(view.type, view.rank, view.dims) > 0)
      printf("%s[0] = %g\n", info.name, *(const float *)view.data);
  }
  weft_run_free(run);
  weft_program_free(program);
  return 0;
}
