/* What a compiled kernel is called with: the contract between code generation and the runtime, kernel ABI version 1. */
#ifndef WEFT_KERNEL_ABI_H
#define WEFT_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version written into an artifact. A runtime loads only artifacts of the version it was built with. Fields may be
 * appended to WeftArgs without a new version: a kernel never reads past the size it was compiled for, and the runtime
 * always passes its own, larger structure. */
#define WEFT_KERNEL_ABI_VERSION 1

/* Every pointer in WeftArgs.buffers, and WeftArgs.scratch, is aligned to this many bytes. */
#define WEFT_BUFFER_ALIGNMENT 64

/* The arguments of one kernel call. Offsets (on a 64-bit machine) are fixed and asserted in kernel_abi's test. */
typedef struct WeftArgs {
  /* Offset 0: sizeof(WeftArgs) of the runtime that calls. */
  uint32_t size;
  /* Offset 4: WEFT_KERNEL_ABI_VERSION of the runtime that calls. */
  uint32_t version;
  /* Offset 8: the launch's input buffers in order, then its output buffers in order. Each is contiguous, row-major (the
   * last dimension runs fastest), and aligned to WEFT_BUFFER_ALIGNMENT. A buffer that is both read and updated in place
   * appears in both lists with the same address; no other two buffers of a launch overlap, unless both are inputs.
   * A buffer with no elements has a valid, aligned address that must not be dereferenced.
   * Booleans take one byte (0 or 1). 4-bit and 2-bit integers are packed, low bits first, and a buffer's byte count is
   * rounded up; the bits after the last element are unspecified on input and ignored on output. */
  void *const *buffers;
  /* Offset 16: the value of every symbol (named dimension) of the program, in the program's order. */
  const int64_t *symbols;
  /* Offset 24: memory private to the calling worker for the duration of the call, of the launch's declared size,
   * uninitialized. NULL when the launch declares none. */
  void *scratch;
  /* Offset 32: the run's seed for random operations: the same value for every kernel of a run. */
  uint64_t seed;
  /* Offset 40: this device's index in the mesh, row-major; 0 outside a mesh. */
  int64_t device_index;
  /* Offset 48: a word private to this call, 0 on entry. A kernel that finds a fault but does not want to leave its loop
   * stores a WeftKernelError here and goes on; the runtime reads it when the kernel returns 0. */
  int32_t *error;
} WeftArgs;

/* What a kernel returns, or stores in *WeftArgs.error. */
typedef enum WeftKernelError {
  WEFT_KERNEL_OK = 0,
  /* An index (gather, scatter, slice, ...) lies outside its dimension and the model does not define what happens. */
  WEFT_KERNEL_INDEX_OUT_OF_RANGE = 1,
  /* An integer division or remainder by zero that the model does not define. */
  WEFT_KERNEL_INTEGER_DIVISION_BY_ZERO = 2,
  /* A size that depends on data is larger than the bound the program was planned for, or negative. */
  WEFT_KERNEL_SIZE_OUT_OF_BOUNDS = 3,
  /* Shapes or sizes that the model requires to agree do not. */
  WEFT_KERNEL_SHAPE_MISMATCH = 4,
  /* A value lies outside what the operation allows. */
  WEFT_KERNEL_INVALID_VALUE = 5,
  /* The kernel was called with an ABI version or structure size it cannot serve. */
  WEFT_KERNEL_ABI_MISMATCH = 6,
  /* WEFT_KERNEL_MESSAGE_BASE + i stands for message i of the artifact's own list. */
  WEFT_KERNEL_MESSAGE_BASE = 1000
} WeftKernelError;

/* A kernel computes the tiles [begin, end) of its iteration space, whose extent is the launch's `tiles` expression.
 * Each tile is computed the same way whatever range it arrives in, so that results do not depend on how the runtime
 * cuts the space over threads; tiles of one launch run concurrently and in any order. begin < end always holds.
 * Returns WEFT_KERNEL_OK or a WeftKernelError; after an error the outputs are unspecified. A kernel does not call out,
 * does not allocate, does not throw. */
typedef int32_t (*WeftKernel)(const WeftArgs *args, int64_t begin, int64_t end);

/* Kernels on a GPU.
 *
 * A kernel is a `.visible .entry` of a PTX module. Its parameters, in order:
 *
 *   .u64 a buffer   device addresses of the launch's inputs in order, then of its outputs in order: aligned to
 *                   WEFT_BUFFER_ALIGNMENT, contiguous, row-major and packed as in WeftArgs.buffers
 *   .s64 a symbol   the value of every symbol of the program, in the program's order
 *   .s64 tiles      the value of the launch's `tiles` expression
 *   .u64 scratch    device address of memory shared by the launch's blocks, of the launch's declared size, aligned to
 *                   WEFT_BUFFER_ALIGNMENT, uninitialized; 0 when the launch declares none
 *   .u64 seed       as WeftArgs.seed
 *   .s64 device     as WeftArgs.device_index
 *   .u64 error      device address of an int32 word, 0 at the start of a run and shared by all launches of the run: a
 *                   kernel that finds a fault stores a WeftKernelError there and goes on. The runtime reads it at the
 *                   end of the run
 *
 * The grid has one dimension. The runtime launches min(max(tiles, 1), the launch's largest number of blocks, if it
 * gives one) blocks of exactly the launch's `threads` threads along x, and none where tiles is 0 or below. A kernel
 * takes the tiles blockIdx.x, blockIdx.x + gridDim.x, ... below `tiles`, so that the result does not depend on the
 * grid. Where the launch declares dynamic shared memory, the runtime gives that many bytes, and raises the function's
 * limit where they pass 48 KiB. A kernel has no unresolved symbol, calls nothing and allocates nothing. */

#ifdef __cplusplus
}
#endif

#endif /* WEFT_KERNEL_ABI_H */
