// Tables for people.
#include "tools/weft-run/Report.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace weft::run {
namespace {

std::string shapeText(const WeftTensorInfo &info) {
  std::string text = std::string(weft_element_type_name(info.type)) + "[";
  for (int32_t axis = 0; axis < info.rank; ++axis)
    text += (axis ? "," : "") + std::string(info.dims[axis].text);
  return text + "]";
}

void printTensor(const char *kind, const WeftTensorInfo &info) {
  std::printf("  %-7s %-24s %s\n", kind, info.name, shapeText(info).c_str());
}

float halfToFloat(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                    : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                    : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

template <typename T> T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

std::string real(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string elementText(WeftElementType type, const void *data, int64_t index) {
  switch (type) {
  case WEFT_ELEMENT_F64:
    return real(load<double>(data, index));
  case WEFT_ELEMENT_F32:
    return real(static_cast<double>(load<float>(data, index)));
  case WEFT_ELEMENT_F16:
    return real(static_cast<double>(halfToFloat(load<uint16_t>(data, index))));
  case WEFT_ELEMENT_BF16: {
    uint32_t bits = static_cast<uint32_t>(load<uint16_t>(data, index)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return real(static_cast<double>(value));
  }
  case WEFT_ELEMENT_I1:
    return load<uint8_t>(data, index) ? "true" : "false";
  case WEFT_ELEMENT_I8:
    return std::to_string(load<int8_t>(data, index));
  case WEFT_ELEMENT_U8:
    return std::to_string(load<uint8_t>(data, index));
  case WEFT_ELEMENT_I16:
    return std::to_string(load<int16_t>(data, index));
  case WEFT_ELEMENT_U16:
    return std::to_string(load<uint16_t>(data, index));
  case WEFT_ELEMENT_I32:
    return std::to_string(load<int32_t>(data, index));
  case WEFT_ELEMENT_U32:
    return std::to_string(load<uint32_t>(data, index));
  case WEFT_ELEMENT_I64:
    return std::to_string(load<int64_t>(data, index));
  case WEFT_ELEMENT_U64:
    return std::to_string(load<uint64_t>(data, index));
  default:
    return "?";
  }
}

std::string join(const char *const *texts, int32_t count) {
  constexpr int32_t kShown = 4;
  std::string result;
  for (int32_t index = 0; index < std::min(count, kShown); ++index)
    result += (index ? ", " : "") + std::string(texts[index]);
  if (count > kShown)
    result += " +" + std::to_string(count - kShown);
  return result;
}

double milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

} // namespace

void printContents(WeftProgram *program) {
  auto metadata = [&](const char *key) {
    const char *value = weft_program_metadata(program, key);
    return value ? value : "";
  };
  std::printf("model %s, by %s, for %s, numerics %s\n", metadata("model"), metadata("producer"), metadata("target"),
              metadata("numerics"));
  WeftTensorInfo info;
  for (int32_t entry = 0; entry < weft_program_entry_count(program); ++entry) {
    std::printf("entry %s\n", weft_program_entry_name(program, entry));
    for (int32_t index = 0; index < weft_program_input_count(program, entry); ++index) {
      check(weft_program_input(program, entry, index, &info));
      printTensor("input", info);
    }
    for (int32_t index = 0; index < weft_program_output_count(program, entry); ++index) {
      check(weft_program_output(program, entry, index, &info));
      printTensor("output", info);
    }
  }
  for (int32_t index = 0; index < weft_program_state_count(program); ++index) {
    check(weft_program_state(program, index, &info));
    printTensor("state", info);
  }
  for (int32_t index = 0; index < weft_program_symbol_count(program); ++index) {
    WeftSymbolInfo symbol;
    check(weft_program_symbol(program, index, &symbol));
    std::printf("symbol %s from %" PRId64 " to %" PRId64 "%s\n", symbol.name, symbol.minimum, symbol.maximum,
                symbol.is_data_dependent ? ", computed during the run" : "");
  }
  int64_t bytes = 0;
  for (int32_t index = 0; index < weft_program_weight_count(program); ++index) {
    const void *data;
    size_t size;
    check(weft_program_weight_data(program, index, &data, &size));
    bytes += static_cast<int64_t>(size);
  }
  std::printf("%d weights, %.1f MB\n", weft_program_weight_count(program), static_cast<double>(bytes) * 1e-6);
}

void printOutputs(WeftProgram *program, int32_t entry, WeftRun *run) {
  for (int32_t index = 0; index < weft_program_output_count(program, entry); ++index) {
    WeftTensorInfo info;
    WeftTensorView view;
    check(weft_program_output(program, entry, index, &info));
    check(weft_run_output(run, info.name, &view));
    std::string shape;
    for (int32_t axis = 0; axis < view.rank; ++axis)
      shape += (axis ? "," : "") + std::to_string(view.dims[axis]);
    // Of one byte each: their number.
    int64_t count = weft_tensor_bytes(WEFT_ELEMENT_U8, view.rank, view.dims);
    constexpr int64_t kShown = 6;
    std::string values;
    for (int64_t element = 0; element < std::min(count, kShown); ++element)
      values += " " + elementText(view.type, view.data, element);
    std::printf("%s: %s[%s]%s%s\n", info.name, weft_element_type_name(view.type), shape.c_str(), values.c_str(),
                count > kShown ? " ..." : "");
  }
}

void printTimes(std::vector<int64_t> times) {
  int64_t first = times.front();
  std::sort(times.begin(), times.end());
  std::printf("%zu runs: median %.3f ms, fastest %.3f ms, slowest %.3f ms, first %.3f ms\n", times.size(),
              milliseconds(times[times.size() / 2]), milliseconds(times.front()), milliseconds(times.back()),
              milliseconds(first));
}

void printProfile(WeftProgram *program, int32_t entry, WeftRun *run) {
  struct Row {
    WeftOpInfo info;
    WeftOpProfile profile;
  };
  std::vector<Row> rows;
  int32_t variant = weft_run_variant(run);
  int64_t total = 0;
  for (int32_t op = 0; op < weft_program_op_count(program, entry, variant); ++op) {
    Row row;
    check(weft_program_op(program, entry, variant, op, &row.info));
    check(weft_run_profile(run, op, &row.profile));
    if (row.profile.count == 0)
      continue;
    // Branches and loops contain the time of their own ops.
    if (std::strcmp(row.info.kind, "if") != 0 && std::strcmp(row.info.kind, "while") != 0)
      total += row.profile.nanoseconds;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row &a, const Row &b) { return a.profile.nanoseconds > b.profile.nanoseconds; });
  std::printf("%10s %6s %6s  %-32s %-32s %s\n", "ms", "%", "count", "op", "implementation", "nodes of the model");
  for (const Row &row : rows) {
    double share = total > 0 ? 100.0 * static_cast<double>(row.profile.nanoseconds) / static_cast<double>(total) : 0;
    std::printf("%10.4f %6.1f %6" PRId64 "  %-32s %-32s %s\n", milliseconds(row.profile.nanoseconds), share,
                row.profile.count, row.info.name, *row.info.implementation ? row.info.implementation : row.info.kind,
                join(row.info.source_nodes, row.info.source_node_count).c_str());
    if (*row.info.reason)
      std::printf("%26s not on the library: %s\n", "", row.info.reason);
  }
  std::printf("%10.4f ms in all ops\n", milliseconds(total));
}

} // namespace weft::run
