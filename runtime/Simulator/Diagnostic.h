//===- Diagnostic.h - An error in a PTX text, with its place ----------------===//
#pragma once

#include <stdexcept>
#include <string>

namespace weft::simulator {

/// What is wrong with a PTX text. `line` counts from 1; 0 means the whole module.
/// Thrown inside the front end only; the public functions catch it and hand it back as a value.
struct PtxError : std::runtime_error {
  PtxError(unsigned line, const std::string &message) : std::runtime_error(message), line(line) {}
  unsigned line;

  /// "name:12: message", or "name: message" where no line is known.
  std::string format(const std::string &name) const {
    return name + (line ? ":" + std::to_string(line) : std::string()) + ": error: " + what();
  }
};

} // namespace weft::simulator
