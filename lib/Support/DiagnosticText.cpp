//===- DiagnosticText.cpp - A diagnostic in the words a user reads ---------------------------------------------===//

#include "lib/Support/DiagnosticText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace weft {

static void printPlace(Location location, StringRef message, llvm::raw_ostream &os) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    os << file.getFilename().getValue() << ":";
    // A model that is no text has no lines.
    if (file.getLine())
      os << file.getLine() << ":" << file.getColumn() << ":";
    os << " ";
  }
  if (auto name = dyn_cast<NameLoc>(location)) {
    std::string node = ("node '" + name.getName().getValue() + "'").str();
    if (!message.starts_with(node))
      os << node << ": ";
  } else if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty()) {
    printPlace(fused.getLocations().front(), message, os);
  }
}

void printDiagnostic(StringRef kind, Diagnostic &diagnostic, llvm::raw_ostream &os) {
  std::string message = diagnostic.str();
  os << kind;
  printPlace(diagnostic.getLocation(), message, os);
  os << message;
}

} // namespace weft
