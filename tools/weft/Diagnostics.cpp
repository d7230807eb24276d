//===- Diagnostics.cpp - How the tool says what is wrong -------------------------------------------------------===//

#include "tools/weft/Diagnostics.h"
#include "include/weft/runtime.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
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

static void printPlace(Location location, llvm::raw_ostream &os) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    os << file.getFilename().getValue() << ":";
    // A model that is no text has no lines.
    if (file.getLine())
      os << file.getLine() << ":" << file.getColumn() << ":";
    os << " ";
  }
  if (auto name = dyn_cast<NameLoc>(location))
    os << "node \"" << name.getName().getValue() << "\": ";
  else if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
    printPlace(fused.getLocations().front(), os);
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context) : ScopedDiagnosticHandler(&context) {
  setHandler([](Diagnostic &diagnostic) {
    const char *kind = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? "error: "
                       : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning: "
                                                                                 : "note: ";
    llvm::errs() << "weft: " << kind;
    printPlace(diagnostic.getLocation(), llvm::errs());
    llvm::errs() << diagnostic << "\n";
    for (Diagnostic &note : diagnostic.getNotes()) {
      llvm::errs() << "  note: ";
      printPlace(note.getLocation(), llvm::errs());
      llvm::errs() << note << "\n";
    }
    return success();
  });
}

} // namespace weft::tool
