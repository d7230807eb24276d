/* Operators that Weft's importer does not know: how one is expressed by ONNX operators, given by a program that embeds
 * the compiler (WeftCompileOptions.operators) or by a shared library (operator_libraries there, --operators of the
 * tool). weft/operators.hpp is the same for C++. No MLIR and no library of Weft is needed to build either.
 *
 * A lowering is called once for each node of its operator, while the model is imported. It reads the node's inputs and
 * attributes, builds values out of them with ONNX's operators (or those of any domain that Weft imports), and sets the
 * outputs. So what it makes runs on every device, fuses with what stands around it, and is verified like any model. */
#ifndef WEFT_OPERATORS_H
#define WEFT_OPERATORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The node being lowered; valid during the call. */
typedef struct WeftLowering WeftLowering;

/* A tensor of the program; valid during the call. NULL is an input that is absent, or what a function gives after an
 * error, which has been reported: every function takes NULL and gives NULL then. */
typedef const struct WeftTensorValue *WeftValue;

typedef enum WeftAttributeKind {
  WEFT_ATTRIBUTE_INT = 0,
  WEFT_ATTRIBUTE_FLOAT = 1,
  WEFT_ATTRIBUTE_STRING = 2,
  WEFT_ATTRIBUTE_INTS = 3,
  WEFT_ATTRIBUTE_FLOATS = 4
} WeftAttributeKind;

/* An attribute for an operator that is built; the field of its kind counts. */
typedef struct WeftAttribute {
  const char *name;
  WeftAttributeKind kind;
  int64_t integer;
  double real;
  const char *string;
  const int64_t *integers;
  const double *reals;
  size_t count; /* of integers or reals */
} WeftAttribute;

/* What a lowering can do. Element types are ONNX's numbers (1 is float, 7 is int64). */
typedef struct WeftLoweringApi {
  size_t struct_size;
  /* The opset of the node's domain that the model imports. */
  int64_t (*opset)(WeftLowering *node);
  size_t (*input_count)(WeftLowering *node);
  WeftValue (*input)(WeftLowering *node, size_t index);
  size_t (*output_count)(WeftLowering *node);
  void (*set_output)(WeftLowering *node, size_t index, WeftValue value);

  int32_t (*element_type)(WeftLowering *node, WeftValue value); /* 0 for NULL */
  size_t (*rank)(WeftLowering *node, WeftValue value);
  int64_t (*dimension)(WeftLowering *node, WeftValue value, size_t index); /* -1 where it is known when run only */

  /* Attributes of the node. One that no function here asked for is an error: it may change the meaning. Strings and
   * lists are valid during the call. */
  int (*has_attribute)(WeftLowering *node, const char *name);
  int64_t (*attribute_int)(WeftLowering *node, const char *name, int64_t fallback);
  double (*attribute_float)(WeftLowering *node, const char *name, double fallback);
  const char *(*attribute_string)(WeftLowering *node, const char *name, const char *fallback);
  const int64_t *(*attribute_ints)(WeftLowering *node, const char *name, size_t *count);
  const double *(*attribute_floats)(WeftLowering *node, const char *name, size_t *count);

  /* A tensor with these elements, in row-major order; they are copied. */
  WeftValue (*constant)(WeftLowering *node, int32_t element_type, const int64_t *dims, size_t rank, const void *data);
  /* One operator. `domain` "" is ONNX's own, in the opset that the model imports (the newest that Weft knows where it
   * imports none). An input may be NULL where the operator lets it be absent. Gives 0, or 1 after an error; then all
   * outputs are NULL. */
  int (*build)(WeftLowering *node, const char *domain, const char *op_type, const WeftValue *inputs, size_t input_count,
               const WeftAttribute *attributes, size_t attribute_count, WeftValue *outputs, size_t output_count);
  /* An error about the node: "expected a matrix". The import fails. */
  void (*error)(WeftLowering *node, const char *message);
} WeftLoweringApi;

/* Gives 0, or another number where the node cannot be lowered. Must not throw. May be called from several threads at
 * once, one for each compilation. */
typedef int (*WeftLowerFunction)(const WeftLoweringApi *api, WeftLowering *node, void *user);

typedef struct WeftOperatorRegistry {
  size_t struct_size;
  void *context;
  /* `lower` is for nodes of the operator in opsets of the domain from `since` on, up to the next one added. It goes
   * before an importer that Weft has. `user` is handed to it and must outlive the compilation. */
  void (*add)(void *context, const char *domain, const char *op_type, int64_t since, WeftLowerFunction lower,
              void *user);
} WeftOperatorRegistry;

/* Adds operators; 0 on success. A shared library exports one as `weft_register_operators`. */
typedef int (*WeftRegisterOperators)(const WeftOperatorRegistry *registry);

#if defined(__GNUC__)
#define WEFT_OPERATORS_EXPORT __attribute__((visibility("default")))
#else
#define WEFT_OPERATORS_EXPORT
#endif

#ifdef __cplusplus
}
#endif

#endif /* WEFT_OPERATORS_H */
