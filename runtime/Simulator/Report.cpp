//===- Report.cpp - What the checks found ----------------------------------------===//
#include "runtime/Simulator/Report.h"

#include <cstdio>

namespace weft::simulator {

const char *faultKindName(FaultKind kind) {
  static const char *const names[] = {"out-of-bounds access",
                                      "misaligned access",
                                      "use after free",
                                      "uninitialised read",
                                      "write to constant memory",
                                      "peer access not enabled",
                                      "shared-memory race",
                                      "global-memory race",
                                      "barrier divergence",
                                      "warp synchronisation divergence",
                                      "cp.async data used before its wait",
                                      "step limit exceeded",
                                      "trap",
                                      "invalid instruction",
                                      "missing stream order",
                                      "leak"};
  static_assert(sizeof(names) / sizeof(names[0]) == size_t(FaultKind::Leak) + 1, "one name a kind");
  return names[size_t(kind)];
}

std::string jsonString(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", byte);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Fault::format() const {
  std::string out = std::string(faultKindName(kind)) + ": " + message;
  if (!kernel.empty())
    out += "\n  kernel " + kernel;
  if (hasThread)
    out += ", block " + block.format() + ", thread " + thread.format();
  if (line)
    out += "\n  PTX line " + std::to_string(line) + ": " + instruction;
  if (hasAddress) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "\n  address 0x%llx, %u bytes, ", static_cast<unsigned long long>(address),
                  bytes);
    out += buffer + space + " memory";
  }
  if (!allocation.empty())
    out += "\n  " + allocation;
  if (!other.empty())
    out += "\n  other side: " + other;
  if (occurrences > 1)
    out += "\n  found " + std::to_string(occurrences) + " times at this line";
  return out;
}

std::string Fault::json() const {
  std::string out = "{\"kind\": " + jsonString(faultKindName(kind)) + ", \"message\": " + jsonString(message);
  if (!kernel.empty())
    out += ", \"kernel\": " + jsonString(kernel);
  if (hasThread) {
    auto list = [](const Coordinates &c) {
      return "[" + std::to_string(c.x) + ", " + std::to_string(c.y) + ", " + std::to_string(c.z) + "]";
    };
    out += ", \"block\": " + list(block) + ", \"thread\": " + list(thread);
  }
  if (line)
    out += ", \"line\": " + std::to_string(line) + ", \"instruction\": " + jsonString(instruction);
  if (hasAddress)
    out += ", \"address\": " + std::to_string(address) + ", \"bytes\": " + std::to_string(bytes) +
           ", \"space\": " + jsonString(space);
  if (!allocation.empty())
    out += ", \"allocation\": " + jsonString(allocation);
  if (!other.empty())
    out += ", \"other\": " + jsonString(other);
  return out + ", \"fatal\": " + (fatal ? "true" : "false") + ", \"occurrences\": " + std::to_string(occurrences) + "}";
}

void FaultLog::add(Fault fault) {
  std::lock_guard<std::mutex> lock(mutex);
  // Which byte of a variable it was does not make another finding.
  auto owner = [](const Fault &f) { return f.allocation.substr(0, f.allocation.find(", byte ")); };
  for (Fault &entry : entries) {
    if (entry.kind == fault.kind && entry.line == fault.line && entry.kernel == fault.kernel &&
        owner(entry) == owner(fault) && (fault.line || entry.message == fault.message)) {
      ++entry.occurrences;
      return;
    }
  }
  if (entries.size() < 1000)
    entries.push_back(std::move(fault));
}

std::vector<Fault> FaultLog::faults() const {
  std::lock_guard<std::mutex> lock(mutex);
  return entries;
}
size_t FaultLog::size() const {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}
void FaultLog::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  entries.clear();
}

} // namespace weft::simulator
