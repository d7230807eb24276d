//===- Builtins.cpp - vprintf and __assertfail for kernels -------------------------------------===//
#include "runtime/Simulator/Execute.h"
#include "runtime/Simulator/MemoryChecks.h"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace weft::simulator {

namespace {

/// Reads a kernel's bytes at a generic address, with the checks of a load.
void readGeneric(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, void *to,
                 unsigned bytes) {
  if (address - localWindow < windowBytes) {
    uint64_t offset = address - localWindow;
    checkLocalLane(warp, instruction, lane, offset, bytes, false);
    std::memcpy(to, warp.local.data() + size_t(lane) * warp.localStride + offset, bytes);
  } else if (address - sharedWindow < windowBytes) {
    uint64_t offset = address - sharedWindow;
    checkSharedLane(warp, instruction, lane, offset, bytes, false);
    std::memcpy(to, warp.block->shared.data() + offset, bytes);
  } else {
    checkGlobalLane(warp, instruction, lane, address, bytes, false);
    std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
  }
}

std::string readString(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address) {
  std::string out;
  for (char c; out.size() < 4096; ++address) {
    readGeneric(warp, instruction, lane, address, &c, 1);
    if (!c)
      break;
    out += c;
  }
  return out;
}

/// The device's printf: arguments lie in a buffer, each aligned to its size.
std::string formatted(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t format, uint64_t arguments) {
  std::string text = readString(warp, instruction, lane, format), out;
  uint64_t offset = 0;
  auto take = [&](void *to, unsigned bytes) {
    offset = (offset + bytes - 1) / bytes * bytes;
    readGeneric(warp, instruction, lane, arguments + offset, to, bytes);
    offset += bytes;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    // A conversion: flags, width, precision, length, letter. Widths are bounded, so that no text grows without end.
    std::string spec = "%";
    unsigned longs = 0;
    size_t at = i + 1;
    for (; at < text.size(); ++at) {
      char c = text[at];
      if (std::strchr("-+ #0.", c) || (c >= '0' && c <= '9')) {
        if (spec.size() < 12)
          spec += c;
      } else if (c == '*') {
        int32_t width;
        take(&width, 4);
        spec += std::to_string(std::max(-999, std::min(999, width)));
      } else if (c == 'l' || c == 'z' || c == 'j' || c == 't') {
        longs += 1;
      } else if (c != 'h') {
        break;
      }
    }
    if (at >= text.size()) {
      out += text.substr(i);
      break;
    }
    char letter = text[at];
    char buffer[1200];
    int length = 0;
    if (std::strchr("di", letter)) {
      int64_t value = 0;
      int32_t narrow = 0;
      if (longs) {
        take(&value, 8);
      } else {
        take(&narrow, 4);
        value = narrow;
      }
      length = std::snprintf(buffer, sizeof buffer, (spec + "lld").c_str(), static_cast<long long>(value));
    } else if (std::strchr("uxXo", letter)) {
      uint64_t value = 0;
      take(&value, longs ? 8 : 4);
      length =
          std::snprintf(buffer, sizeof buffer, (spec + "ll" + letter).c_str(), static_cast<unsigned long long>(value));
    } else if (letter == 'c') {
      int32_t value;
      take(&value, 4);
      length = std::snprintf(buffer, sizeof buffer, (spec + "c").c_str(), value);
    } else if (std::strchr("fFeEgGaA", letter)) {
      double value;
      take(&value, 8);
      length = std::snprintf(buffer, sizeof buffer, (spec + letter).c_str(), value);
    } else if (letter == 's' || letter == 'p') {
      uint64_t address;
      take(&address, 8);
      if (letter == 's')
        out += address ? readString(warp, instruction, lane, address) : "(null)";
      else
        length = std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(address));
    } else {
      out += text.substr(i, at - i + 1);
    }
    out.append(buffer, size_t(std::max(0, std::min(length, int(sizeof buffer) - 1))));
    i = at;
  }
  return out;
}

template <class T> T argument(Warp &warp, const CallSite::Block &block, uint32_t lane) {
  T value;
  uint32_t stride = block.isRegister ? block.size / warpSize : block.size;
  std::memcpy(&value, warp.registers + block.offset + lane * stride, sizeof value);
  return value;
}

} // namespace

void callBuiltin(Warp &warp, const Instruction &instruction, const CallSite &site) {
  static std::mutex printing;
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    if (!((warp.exec >> lane) & 1))
      continue;
    auto pointer = [&](size_t index) { return argument<uint64_t>(warp, site.arguments[index], lane); };
    if (site.builtin == CallSite::Builtin::AssertFail) {
      std::string message = readString(warp, instruction, lane, pointer(0)),
                  file = readString(warp, instruction, lane, pointer(1));
      uint32_t line = argument<uint32_t>(warp, site.arguments[2], lane);
      abortLaunch(warp, instruction, FaultKind::Trap, lane,
                  "assertion '" + message + "' failed at " + file + ":" + std::to_string(line));
    }
    std::string text = formatted(warp, instruction, lane, pointer(0), pointer(1));
    {
      std::lock_guard<std::mutex> lock(printing);
      warp.launch->print(warp.launch->printContext, text.data(), text.size());
    }
    if (!site.results.empty()) {
      int32_t count = int32_t(text.size());
      const CallSite::Block &block = site.results[0];
      std::memcpy(warp.registers + block.offset + lane * (block.isRegister ? 4 : block.size), &count, 4);
    }
  }
}

} // namespace weft::simulator
