//===- Forms.cpp - The opcode forms of PtxForms.def ----------------------------===//
#include "runtime/Simulator/Forms.h"

#include <algorithm>

namespace weft::simulator {

const std::vector<FormPattern> &formPatterns() {
  static const std::vector<FormPattern> patterns = {
#define PTX_FORM(family, pattern, signature) {Family::family, #family, pattern, signature},
#include "runtime/Simulator/PtxForms.def"
  };
  return patterns;
}

bool matchesPattern(std::string_view pattern, std::string_view opcode) {
  size_t open = pattern.find('{');
  if (open == std::string_view::npos)
    return pattern == opcode;
  if (opcode.substr(0, open) != pattern.substr(0, open))
    return false;
  opcode.remove_prefix(open);
  size_t close = pattern.find('}', open);
  std::string_view alternatives = pattern.substr(open + 1, close - open - 1);
  std::string_view rest = pattern.substr(close + 1);
  for (;;) {
    size_t comma = alternatives.find(',');
    std::string_view alternative = alternatives.substr(0, comma);
    if (opcode.substr(0, alternative.size()) == alternative && matchesPattern(rest, opcode.substr(alternative.size())))
      return true;
    if (comma == std::string_view::npos)
      return false;
    alternatives.remove_prefix(comma + 1);
  }
}

std::vector<std::string> expandPattern(std::string_view pattern) {
  size_t open = pattern.find('{');
  if (open == std::string_view::npos)
    return {std::string(pattern)};
  size_t close = pattern.find('}', open);
  std::string_view alternatives = pattern.substr(open + 1, close - open - 1);
  std::vector<std::string> tails = expandPattern(pattern.substr(close + 1));
  std::vector<std::string> out;
  for (;;) {
    size_t comma = alternatives.find(',');
    std::string head(pattern.substr(0, open));
    head += alternatives.substr(0, comma);
    for (const std::string &tail : tails)
      out.push_back(head + tail);
    if (comma == std::string_view::npos)
      return out;
    alternatives.remove_prefix(comma + 1);
  }
}

namespace {

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// The order in which PtxForms.def has the modifiers. The assembler also takes some in another one, and NVIDIA's
/// headers write "atom.add.release.gpu.u32", "atom.global.cta.add.u32" and "max.s32.relu".
std::string canonicalName(const Form &form) {
  auto rank = [&](std::string_view modifier) -> int {
    if (form.opcode() == "min" || form.opcode() == "max")
      return typeFromSuffix(modifier) != Type::None;
    if (isOneOf(modifier, {"relaxed", "acquire", "release", "acq_rel"}))
      return 0;
    if (isOneOf(modifier, {"cta", "cluster", "gpu", "sys"}))
      return 1;
    return isOneOf(modifier, {"global", "shared", "shared::cta"}) ? 2 : 3;
  };
  if (!isOneOf(form.opcode(), {"atom", "red", "min", "max"}))
    return form.name;
  std::string out(form.opcode());
  for (int place = 0; place < 4; ++place)
    for (size_t i = 1; i < form.modifiers.size(); ++i)
      if (rank(form.modifiers[i]) == place)
        out += "." + std::string(form.modifiers[i]);
  return out;
}

} // namespace

void makeForm(std::string_view opcode, Form &form) {
  form.name = std::string(opcode);
  form.modifiers.clear();
  form.types.clear();
  form.patterns.clear();
  std::string_view rest = form.name;
  for (;;) {
    size_t dot = rest.find('.');
    form.modifiers.push_back(rest.substr(0, dot));
    if (form.modifiers.size() > 1) {
      Type type = typeFromSuffix(form.modifiers.back());
      if (type != Type::None)
        form.types.push_back(type);
    }
    if (dot == std::string_view::npos)
      break;
    rest.remove_prefix(dot + 1);
  }
  std::string canonical = canonicalName(form);
  for (const FormPattern &pattern : formPatterns())
    if (matchesPattern(pattern.pattern, canonical))
      form.patterns.push_back(&pattern);
}

} // namespace weft::simulator
