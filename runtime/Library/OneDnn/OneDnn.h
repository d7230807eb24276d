// oneDNN, when it is on this machine: opened at run time, never linked.
#pragma once

#include "runtime/Library/LibraryOperation.h"

namespace weft::runtime {

// The call as an operation of oneDNN. rightValue: the value of the right operand when it is a weight (packed when first
// planned), else null. An error says why oneDNN cannot be used: not installed, of another version, a type or epilogue
// it lacks. `call` must outlive the operation.
StatusOr<std::unique_ptr<LibraryOperation>> makeOneDnnOperation(const LibraryCall &call, const void *rightValue,
                                                                const WeftAllocator &allocator);

// "oneDNN 2.6.3", or an error that says what was looked for.
StatusOr<std::string> oneDnnVersion();

} // namespace weft::runtime
