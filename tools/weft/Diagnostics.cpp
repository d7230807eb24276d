//===- Diagnostics.cpp - How the tool says what is wrong -------------------------------------------------------===//

#include "tools/weft/Diagnostics.h"
#include "include/weft/runtime.h"
#include "lib/Support/DiagnosticText.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft::tool {

int fail(const llvm::Twine &message) {
  llvm::errs() << "weft: error: " << message << "\n";
  return 1;
}

bool failed(WeftStatus *status) {
  if (!status)
    return false;
  fail(weft_status_message(status));
  weft_status_free(status);
  return true;
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context) : ScopedDiagnosticHandler(&context) {
  setHandler([](Diagnostic &diagnostic) {
    const char *kind = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error: "
                       : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning: "
                                                                                 : "note: ";
    llvm::errs() << "weft: ";
    printDiagnostic(kind, diagnostic, llvm::errs());
    llvm::errs() << "\n";
    for (Diagnostic &note : diagnostic.getNotes()) {
      printDiagnostic("  note: ", note, llvm::errs());
      llvm::errs() << "\n";
    }
    return success();
  });
}

} // namespace weft::tool
