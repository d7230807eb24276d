/* The C API of the Weft compiler: a model file becomes an artifact that the runtime (runtime.h) loads.
 *
 * Functions that can fail return NULL on success, else a message (UTF-8, one or more lines: what is wrong, at which
 * node of the model, and what to do) that the caller frees with weft_compiler_free. Calls are independent of each other
 * and may be made from several threads at once. No function throws or aborts on a bad model. */
#ifndef WEFT_COMPILER_H
#define WEFT_COMPILER_H

#include "operators.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEFT_COMPILER_API __attribute__((visibility("default")))
#else
#define WEFT_COMPILER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WeftCompileOptions {
  size_t struct_size;
  /* "native" (default), "x86-64-v3" or "x86-64-v4". */
  const char *cpu;
  /* "strict" (default): results depend neither on fusion nor on the number of threads; "fast": multiply-add may be
   * contracted. */
  const char *numerics;
  /* Sizes that the model leaves open: "x=1x3x224x224", "batch=8", or bounds "batch=1..64". */
  const char *const *shapes;
  size_t shape_count;
  /* Where not NULL, the program after each stage is written to numbered files in this folder. */
  const char *dump_directory;
  /* "cpu" (default), "cuda:sm_90", or several: "cpu,cuda:sm_80,cuda:sm_90+cubin". One artifact serves all of them; +cubin
   * adds machine code to the PTX, for which nvJitLink of a CUDA toolkit must be there. No GPU is needed. */
  const char *target;
  /* Operators that the importer does not know, or knows otherwise (operators.h): functions that register them, and shared
   * libraries that hold one. */
  const WeftRegisterOperators *operators;
  size_t operator_count;
  const char *const *operator_libraries;
  size_t operator_library_count;
} WeftCompileOptions;

/* Sets every field to its default. */
WEFT_COMPILER_API void weft_compile_options_init(WeftCompileOptions *options);

/* "0.1.0". */
WEFT_COMPILER_API const char *weft_compiler_version(void);

/* Compiles an .onnx model (or .mlir of the Graph dialect) to an artifact file, which is written whole or not at all.
 * options may be NULL. */
WEFT_COMPILER_API char *weft_compile_file(const char *model_path, const char *artifact_path,
                                          const WeftCompileOptions *options);

/* Compiles an ONNX model in memory, without external data, to an artifact in memory: *artifact, of *size bytes, aligned
 * to 64 bytes, so that weft_program_load_memory uses its weights in place. Freed with weft_compiler_free. */
WEFT_COMPILER_API char *weft_compile_memory(const void *model, size_t model_size, const WeftCompileOptions *options,
                                            void **artifact, size_t *size);

/* Frees a message or an artifact; NULL is fine. */
WEFT_COMPILER_API void weft_compiler_free(void *pointer);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_COMPILER_H */
