//===- DiagnosticText.h - A diagnostic in the words a user reads -----------------------------------------------===//

#ifndef WEFT_LIB_SUPPORT_DIAGNOSTICTEXT_H
#define WEFT_LIB_SUPPORT_DIAGNOSTICTEXT_H

#include "mlir/IR/Diagnostics.h"

namespace weft {

/// Writes "[kind][FILE:LINE:COLUMN: ][node 'NAME': ]message" without a line's end. `kind` is "error: " or the like; the
/// node is named once, also where the message begins with it, as the importers' do.
void printDiagnostic(llvm::StringRef kind, mlir::Diagnostic &diagnostic, llvm::raw_ostream &os);

} // namespace weft

#endif // WEFT_LIB_SUPPORT_DIAGNOSTICTEXT_H
