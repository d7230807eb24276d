//===- Diagnostics.h - How the tool says what is wrong ---------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_DIAGNOSTICS_H
#define WEFT_TOOLS_WEFT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

typedef struct WeftStatus WeftStatus;

namespace weft::tool {

/// Prints "weft: error: MESSAGE" and returns 1.
int fail(const llvm::Twine &message);

/// For a status of the runtime: prints and frees it where it is an error. True where it was one.
bool failed(WeftStatus *status);

/// Prints the diagnostics of a context as "weft: error: MESSAGE", with the model's node or the place in a file, and
/// notes below. `all` where an MLIR place inside Weft helps nobody: then only names are shown.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext &context);
};

} // namespace weft::tool

#endif
