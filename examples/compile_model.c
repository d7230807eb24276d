/* Compiles an ONNX model to an artifact: what a program that embeds the compiler does. usage: compile_model MODEL.onnx
 * OUT.weft [SHAPE...] */
#include <stdio.h>
#include <weft/compiler.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s MODEL.onnx OUT.weft [batch=1..64 ...]\n", argv[0]);
    return 2;
  }
  WeftCompileOptions options;
  weft_compile_options_init(&options);
  options.cpu = "x86-64-v3"; /* runs on every x86 machine since 2015, not only on this one */
  options.shapes = (const char *const *)(argv + 3);
  options.shape_count = (size_t)(argc - 3);

  char *error = weft_compile_file(argv[1], argv[2], &options);
  if (error) {
    fprintf(stderr, "%s\n", error);
    weft_compiler_free(error);
    return 1;
  }
  printf("%s: compiled by Weft %s\n", argv[2], weft_compiler_version());
  return 0;
}
