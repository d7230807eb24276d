// Validation of a variant's buffers and ops; used by Validate.cpp alone.
#pragma once

#include "runtime/Artifact/Expressions.h"
#include "runtime/Artifact/Program.h"
#include "runtime/Core/Status.h"

namespace weft::runtime {

// What the expressions and buffer indices of one variant are checked against. Messages carry no location; the caller
// adds it.
class VariantScope {
public:
  // boundSymbols[i]: symbol i has a value in this entry.
  VariantScope(const Program &program, const Entry &entry, const Variant &variant,
               const std::vector<bool> &boundSymbols);

  void setBounds(uint32_t symbol, Bounds bounds) { bounds_[symbol] = bounds; }
  // A size: well-formed, over bound symbols, without overflow, not always negative.
  Status checkSize(const std::string &what, const Expression &expression, Bounds *bounds = nullptr) const;
  // Call for each buffer in order, before any op.
  Status checkBuffer(size_t index);
  Status checkOp(const Op &op) const;

private:
  Status checkIndex(const std::string &what, uint32_t buffer) const;
  Status checkWritable(const std::string &what, uint32_t buffer) const;
  Status checkCondition(uint32_t buffer) const;
  Status checkLaunch(const Launch &launch) const;
  Status checkLibraryCall(const LibraryCall &call) const;
  Status checkConvolution(const LibraryCall &call, const Convolution &convolution) const;
  // The symbols' smallest or largest values, and the bytes of a tensor there; false when they make no sense.
  std::vector<int64_t> corner(bool atMaximum) const;
  bool bytesAt(bool atMaximum, ElementType type, const std::vector<Expression> &dims, int64_t &bytes) const;
  Status checkArenaRange(const Buffer &buffer) const;

  const Program &program_;
  const Entry &entry_;
  const Variant &variant_;
  const std::vector<bool> &boundSymbols_;
  std::vector<Bounds> bounds_;
};

} // namespace weft::runtime
