/* The C API of the Weft runtime: load a compiled model and run it.
 *
 * Conventions. Functions that can fail return a WeftStatus *: NULL means success, anything else is an error that the
 * caller frees with weft_status_free. Results come back through pointer arguments, which are untouched on failure.
 * Strings are UTF-8 and end in NUL; strings and arrays returned by inspection belong to the object inspected and live
 * as long as it. Sizes are in bytes, times in nanoseconds, shapes in elements. No function throws or aborts on bad
 * input. Structures whose first field is struct_size are initialized by their weft_..._init function and may grow.
 *
 * Threads. A WeftProgram is immutable and may be used from several threads at once. A WeftRun, WeftState or WeftFence
 * wait aside, every other object is used by one thread at a time; run one program concurrently through several
 * WeftRuns.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_RUNTIME_API_VERSION 1

/* The API version of the library in use; compare with WEFT_RUNTIME_API_VERSION. */
WEFT_API int32_t weft_runtime_api_version(void);
/* "0.1.0". */
WEFT_API const char *weft_runtime_version(void);

/* ---- Status ------------------------------------------------------------------------------------------------------ */

typedef enum WeftStatusCode {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1,    /* a name, type, shape or option that does not fit */
  WEFT_NOT_FOUND = 2,           /* a file, entry point or name that does not exist */
  WEFT_DATA_LOSS = 3,           /* a damaged or truncated file */
  WEFT_VERSION_MISMATCH = 4,    /* an artifact of another version */
  WEFT_UNSUPPORTED_DEVICE = 5,  /* this machine lacks what the artifact needs */
  WEFT_RESOURCE_EXHAUSTED = 6,  /* out of memory or disk space */
  WEFT_CANCELLED = 7,           /* weft_run_cancel was called */
  WEFT_DEADLINE_EXCEEDED = 8,   /* a wait ran out of time */
  WEFT_FAILED_PRECONDITION = 9, /* called in the wrong state */
  WEFT_EXECUTION_FAILED = 10,   /* the model failed on the data it was given */
  WEFT_IO = 11,                 /* reading or writing failed */
  WEFT_INTERNAL = 12,           /* a bug in Weft */
  WEFT_NOT_A_NUMBER = 13        /* the check for NaNs found one */
} WeftStatusCode;

typedef struct WeftStatus WeftStatus;

/* WEFT_OK and "" for NULL. */
WEFT_API WeftStatusCode weft_status_code(const WeftStatus *status);
WEFT_API const char *weft_status_message(const WeftStatus *status);
WEFT_API void weft_status_free(WeftStatus *status);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

typedef enum WeftElementType {
  WEFT_ELEMENT_INVALID = 0,
  WEFT_ELEMENT_I1 = 1, /* a boolean: one byte, 0 or 1 */
  WEFT_ELEMENT_I2 = 2, /* packed, low bits first; so are I4, U2 and U4 */
  WEFT_ELEMENT_I4 = 3,
  WEFT_ELEMENT_I8 = 4,
  WEFT_ELEMENT_I16 = 5,
  WEFT_ELEMENT_I32 = 6,
  WEFT_ELEMENT_I64 = 7,
  WEFT_ELEMENT_U2 = 8,
  WEFT_ELEMENT_U4 = 9,
  WEFT_ELEMENT_U8 = 10,
  WEFT_ELEMENT_U16 = 11,
  WEFT_ELEMENT_U32 = 12,
  WEFT_ELEMENT_U64 = 13,
  WEFT_ELEMENT_F16 = 14,
  WEFT_ELEMENT_BF16 = 15,
  WEFT_ELEMENT_F32 = 16,
  WEFT_ELEMENT_F64 = 17,
  WEFT_ELEMENT_F8E4M3FN = 18,
  WEFT_ELEMENT_F8E5M2 = 19,
  WEFT_ELEMENT_F8E4M3FNUZ = 20,
  WEFT_ELEMENT_F8E5M2FNUZ = 21,
  WEFT_ELEMENT_F8E8M0FNU = 22,
  WEFT_ELEMENT_F4E2M1FN = 23 /* packed as I4 is */
} WeftElementType;

/* "f32", "ui8", ...; "invalid" for other numbers. */
WEFT_API const char *weft_element_type_name(WeftElementType type);
/* Bits an element occupies in memory; 0 for other numbers. */
WEFT_API int32_t weft_element_type_bits(WeftElementType type);

/* A view of memory that somebody else owns. strides is in elements; NULL means contiguous, row-major. Packed types
 * (below 8 bits) must be contiguous. */
typedef struct WeftTensorView {
  void *data;
  WeftElementType type;
  int32_t rank;
  const int64_t *dims;
  const int64_t *strides;
} WeftTensorView;

/* Bytes of a contiguous tensor; -1 when a dimension is negative, the type unknown or the count beyond int64. */
WEFT_API int64_t weft_tensor_bytes(WeftElementType type, int32_t rank, const int64_t *dims);

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

/* Memory for arenas, outputs, states and packed weights. allocate returns NULL when it has none. Called from any
 * thread. */
typedef struct WeftAllocator {
  void *user;
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *pointer, size_t bytes, size_t alignment);
} WeftAllocator;

typedef enum WeftLogLevel { WEFT_LOG_DEBUG = 0, WEFT_LOG_INFO = 1, WEFT_LOG_WARNING = 2 } WeftLogLevel;

/* Receives one line a call, without a newline. Called from any thread. */
typedef void (*WeftLogFunction)(void *user, WeftLogLevel level, const char *message);

/* ---- Thread pools ------------------------------------------------------------------------------------------------ */

typedef struct WeftThreadPool WeftThreadPool;

/* Threads that run kernels, the calling one included: 1 means that everything runs on the caller. 0: one a CPU core the
 * process may use. Results do not depend on the number. */
WEFT_API WeftStatus *weft_thread_pool_create(int32_t threads, WeftThreadPool **pool);
WEFT_API int32_t weft_thread_pool_size(const WeftThreadPool *pool);
/* The pool lives on until the programs loaded with it are freed. */
WEFT_API void weft_thread_pool_free(WeftThreadPool *pool);

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

typedef struct WeftProgram WeftProgram;

typedef struct WeftLoadOptions {
  size_t struct_size;
  /* "cpu" or NULL; "cuda" or "cuda:0", "cuda:1", ...: an NVIDIA GPU by the driver's number. A device that is not there
   * is an error: nothing ever falls back to another device silently. */
  const char *device;
  /* Shared with other programs; NULL: one pool a process, made at first use with one thread a core. */
  WeftThreadPool *thread_pool;
  /* 0: contractions always run on the artifact's own kernels. Default 1: on oneDNN where it is present and fast. */
  int32_t use_libraries;
  /* 1: also verify the hash of every weight (reads all of them). Default 0. */
  int32_t check_weights;
  /* Zeroed: the C library's. Copied. */
  WeftAllocator allocator;
  WeftLogFunction log;
  void *log_user;
  /* For GPUs: the path or name of the CUDA driver's library. NULL: that of the environment variable WEFT_CUDA_DRIVER,
   * else libcuda.so.1 where the system's loader looks. */
  const char *cuda_driver;
} WeftLoadOptions;

WEFT_API void weft_load_options_init(WeftLoadOptions *options);

/* Loads an artifact. It holds native code that runs with the rights of the process: load only what you trust; the hash
 * in it finds damage, not malice. options may be NULL. */
WEFT_API WeftStatus *weft_program_load_file(const char *path, const WeftLoadOptions *options, WeftProgram **program);
/* The bytes must stay valid and unchanged until the program is freed; weights are used in place when `data` is aligned
 * to 64 bytes, else copied. */
WEFT_API WeftStatus *weft_program_load_memory(const void *data, size_t size, const WeftLoadOptions *options,
                                              WeftProgram **program);
/* Every WeftRun and WeftState of the program must have been freed. */
WEFT_API void weft_program_free(WeftProgram *program);

/* ---- Inspection -------------------------------------------------------------------------------------------------- */

/* A dimension of an input or output. Fixed when minimum == maximum. */
typedef struct WeftDimension {
  int64_t minimum;
  int64_t maximum;
  const char *text; /* "N", "2*N", "224" */
} WeftDimension;

typedef struct WeftTensorInfo {
  const char *name;
  WeftElementType type;
  int32_t rank;
  const WeftDimension *dims;
} WeftTensorInfo;

typedef struct WeftSymbolInfo {
  const char *name;
  int64_t minimum;
  int64_t maximum;
  int32_t is_data_dependent; /* 1: computed during the run; 0: bound by the inputs' shapes */
} WeftSymbolInfo;

typedef struct WeftOpInfo {
  const char *name;
  const char *kind; /* "launch", "library_call", "copy", "fill", "if", "while", "check", "bind" */
  const char
      *implementation; /* the kernel's name, or the library and its implementation: "onednn brgemm:avx512_core" */
  const char *reason;  /* a library call that runs its alternative kernel: why; else "" */
  int32_t source_node_count;
  const char *const *source_nodes; /* the model's nodes this op computes */
} WeftOpInfo;

/* "producer", "model", "numerics", "target", "kernel_abi", "format", or a key of the compiler's own; NULL when there is
 * none. */
WEFT_API const char *weft_program_metadata(const WeftProgram *program, const char *key);
WEFT_API int32_t weft_program_symbol_count(const WeftProgram *program);
WEFT_API WeftStatus *weft_program_symbol(const WeftProgram *program, int32_t symbol, WeftSymbolInfo *info);
WEFT_API int32_t weft_program_entry_count(const WeftProgram *program);
/* NULL when out of range. */
WEFT_API const char *weft_program_entry_name(const WeftProgram *program, int32_t entry);
WEFT_API int32_t weft_program_input_count(const WeftProgram *program, int32_t entry);
WEFT_API int32_t weft_program_output_count(const WeftProgram *program, int32_t entry);
WEFT_API WeftStatus *weft_program_input(const WeftProgram *program, int32_t entry, int32_t index, WeftTensorInfo *info);
WEFT_API WeftStatus *weft_program_output(const WeftProgram *program, int32_t entry, int32_t index,
                                         WeftTensorInfo *info);
WEFT_API int32_t weft_program_weight_count(const WeftProgram *program);
WEFT_API WeftStatus *weft_program_weight(const WeftProgram *program, int32_t index, WeftTensorInfo *info);
/* A weight's value, read only. */
WEFT_API WeftStatus *weft_program_weight_data(const WeftProgram *program, int32_t index, const void **data,
                                              size_t *size);
WEFT_API int32_t weft_program_state_count(const WeftProgram *program);
WEFT_API WeftStatus *weft_program_state(const WeftProgram *program, int32_t index, WeftTensorInfo *info);
/* Variants of an entry that fit this machine, and the ops of each, numbered block after block. */
WEFT_API int32_t weft_program_variant_count(const WeftProgram *program, int32_t entry);
WEFT_API int32_t weft_program_op_count(const WeftProgram *program, int32_t entry, int32_t variant);
WEFT_API WeftStatus *weft_program_op(const WeftProgram *program, int32_t entry, int32_t variant, int32_t op,
                                     WeftOpInfo *info);

/* ---- State ------------------------------------------------------------------------------------------------------- */

/* The program's state tensors, each at its initial value. One run at a time may use it. */
typedef struct WeftState WeftState;
WEFT_API WeftStatus *weft_state_create(WeftProgram *program, WeftState **state);
/* Reads and writes happen in the view's memory; not while a run uses it. On a GPU the view is a copy on the host: the
 * next run takes what was written to it, and what that run leaves is there after another call of this function. */
WEFT_API WeftStatus *weft_state_tensor(WeftState *state, const char *name, WeftTensorView *view);
WEFT_API WeftStatus *weft_state_reset(WeftState *state);
WEFT_API void weft_state_free(WeftState *state);

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

/* Becomes signaled once, with success or an error; threads and asynchronous runs wait for it. */
typedef struct WeftFence WeftFence;
WEFT_API WeftStatus *weft_fence_create(WeftFence **fence);
/* Signals success. Signaling twice is an error. */
WEFT_API WeftStatus *weft_fence_signal(WeftFence *fence);
/* Waits at most timeout nanoseconds (negative: without limit). The run's own error when the run behind it failed;
 * WEFT_DEADLINE_EXCEEDED when it is not signaled in time. */
WEFT_API WeftStatus *weft_fence_wait(WeftFence *fence, int64_t timeout);
/* 1 when signaled, with success or an error. */
WEFT_API int32_t weft_fence_is_signaled(const WeftFence *fence);
/* Runs that wait for it or will signal it keep it alive. */
WEFT_API void weft_fence_free(WeftFence *fence);

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* A call of an entry point: its bindings, and after it its results. May be executed again and again; from the second
 * time on with the same shapes it allocates nothing. */
typedef struct WeftRun WeftRun;

/* What an observer is told after each op. Buffers are those the op wrote, at their actual shapes. */
typedef struct WeftObservation {
  int32_t op;
  const char *name;
  int32_t source_node_count;
  const char *const *source_nodes;
  int32_t output_count;
  const WeftTensorView *outputs;
} WeftObservation;
typedef void (*WeftObserver)(void *user, const WeftObservation *observation);

/* entry NULL: "main", or the only one there is. */
WEFT_API WeftStatus *weft_run_create(WeftProgram *program, const char *entry, WeftRun **run);
/* Waits for an asynchronous execution to end. */
WEFT_API void weft_run_free(WeftRun *run);

/* Binds an input. Type, rank and dims are checked now as far as they are fixed, symbols when the run executes. Memory
 * that is contiguous and aligned to 64 bytes is used in place; it must stay valid, and unchanged while the run
 * executes. Other memory is copied by each execution, which is logged (WEFT_LOG_INFO). Never written. */
WEFT_API WeftStatus *weft_run_set_input(WeftRun *run, const char *name, const WeftTensorView *tensor);
/* Binds memory of the caller for an output: contiguous, aligned to 64 bytes, overlapping nothing else bound, dims
 * exactly those of the result (or the bound, when they depend on data). NULL goes back to memory of the runtime. */
WEFT_API WeftStatus *weft_run_set_output(WeftRun *run, const char *name, const WeftTensorView *tensor);
/* On a GPU, 1: the result stays there: weft_run_output then gives an address of the GPU, and
 * weft_run_take_output_dlpack a tensor there. Default 0: results are in memory of the host. Excludes memory bound by
 * weft_run_set_output. */
WEFT_API WeftStatus *weft_run_set_output_on_device(WeftRun *run, const char *name, int32_t enable);
/* Needed when the program has state. Not owned. */
WEFT_API WeftStatus *weft_run_set_state(WeftRun *run, WeftState *state);
/* For random operations; 0 unless set. */
WEFT_API WeftStatus *weft_run_set_seed(WeftRun *run, uint64_t seed);
/* 1: after each op its floating-point outputs are scanned; the first NaN ends the run with WEFT_NOT_A_NUMBER and a
 * message that names the op and its nodes. Contractions then run on the artifact's own kernels: a library may swallow
 * NaNs. */
WEFT_API WeftStatus *weft_run_set_check_nans(WeftRun *run, int32_t enable);
/* 1: the time of each op is taken. */
WEFT_API WeftStatus *weft_run_set_profile(WeftRun *run, int32_t enable);
/* Called on the executing thread after each op; NULL: none. */
WEFT_API WeftStatus *weft_run_set_observer(WeftRun *run, WeftObserver observer, void *user);

/* Runs now; the calling thread takes part. */
WEFT_API WeftStatus *weft_run_execute(WeftRun *run);
/* Runs on the program's driver thread, after the wait fences have been signaled (an error in one is the run's error),
 * in the order started; then signals `signal` (may be NULL) with the run's result. Returns without waiting. Errors that
 * show at once (an input not bound, a shape that does not fit) are returned here, and `signal` is then left alone. */
WEFT_API WeftStatus *weft_run_start(WeftRun *run, WeftFence *const *wait, int32_t wait_count, WeftFence *signal);
/* Waits for the execution that was started, and returns its result. */
WEFT_API WeftStatus *weft_run_wait(WeftRun *run, int64_t timeout);
/* From any thread: makes the execution in flight end soon with WEFT_CANCELLED; without one it does nothing. */
WEFT_API void weft_run_cancel(WeftRun *run);

/* A result of the last execution, contiguous; valid until the run is executed again, rebound or freed. */
WEFT_API WeftStatus *weft_run_output(WeftRun *run, const char *name, WeftTensorView *view);

/* The time the last execution with profiling spent in op `op` (numbered as in weft_program_op of the variant that ran),
 * and how often it ran. */
typedef struct WeftOpProfile {
  int64_t nanoseconds;
  int64_t count;
} WeftOpProfile;
/* The variant the last execution ran; -1 before the first. */
WEFT_API int32_t weft_run_variant(const WeftRun *run);
WEFT_API WeftStatus *weft_run_profile(WeftRun *run, int32_t op, WeftOpProfile *profile);

/* ---- DLPack ------------------------------------------------------------------------------------------------------ */

/* DLPack's unversioned exchange structure (DLManagedTensor of dlpack.h 0.x and 1.x; ABI unchanged since 2017), under
 * names of our own so that both headers can be included. */
typedef struct WeftDLDataType {
  uint8_t code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 7 to 15 float8 kinds of DLPack 1.1 */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} WeftDLDataType;

typedef struct WeftDLTensor {
  void *data;
  struct {
    int32_t device_type; /* 1: CPU, 2: CUDA, 3: pinned memory of the host, 13: CUDA's managed memory */
    int32_t device_id;
  } device;
  int32_t ndim;
  WeftDLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: contiguous */
  uint64_t byte_offset;
} WeftDLTensor;

typedef struct WeftDLManagedTensor {
  WeftDLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct WeftDLManagedTensor *self);
} WeftDLManagedTensor;

/* Binds a DLPack tensor as weft_run_set_input does. On success the run owns it and calls its deleter when it is rebound
 * or freed. A program on a GPU takes tensors of that GPU as well; they must be contiguous, and ready when the run
 * executes: the structure does not say in which stream they were made. */
WEFT_API WeftStatus *weft_run_set_input_dlpack(WeftRun *run, const char *name, WeftDLManagedTensor *tensor);
/* Hands a result out with its memory: the run lets go of it, and the receiver calls the deleter. Outputs bound to
 * memory of the caller are copied. The program may be freed before the tensor, unless its allocator goes with it. */
WEFT_API WeftStatus *weft_run_take_output_dlpack(WeftRun *run, const char *name, WeftDLManagedTensor **tensor);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_RUNTIME_H */
