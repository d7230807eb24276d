//===- Einsum.cpp - ONNX's Einsum ----------------------------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// An operand with a letter a dimension. The dimensions of an ellipsis have the letters 1, 2, ... from the right.
struct Term {
  Value value;
  std::string letters;
};

/// The letters of a term of `rank` dimensions ("b...ij"); nothing where they do not fit. Without a rank (the output),
/// the ellipsis has `ellipsisRank` dimensions.
std::optional<std::string> expandLetters(StringRef text, std::optional<int64_t> rank, int64_t &ellipsisRank) {
  std::string letters;
  size_t ellipsis = text.find("...");
  int64_t named = llvm::count_if(text, [](char c) { return llvm::isAlpha(c); });
  if (named + (ellipsis == StringRef::npos ? 0 : 3) != static_cast<int64_t>(text.size()))
    return std::nullopt;
  int64_t covered = ellipsis == StringRef::npos ? 0 : rank ? *rank - named : ellipsisRank;
  if (covered < 0 || covered > 26 || (rank && named + covered != *rank))
    return std::nullopt;
  ellipsisRank = std::max(ellipsisRank, covered);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == ellipsis) {
      for (int64_t j = covered; j > 0; --j)
        letters += static_cast<char>(j);
      i += 2;
      continue;
    }
    letters += text[i];
  }
  return letters;
}

/// A letter that stands twice: the diagonal, summed into its first place.
void takeDiagonals(Builder &b, Term &term) {
  for (size_t i = 0; i < term.letters.size() && term.value; ++i)
    for (size_t j = term.letters.find(term.letters[i], i + 1); j != std::string::npos;
         j = term.letters.find(term.letters[i], i + 1)) {
      SmallVector<Dim> dims = b.dims(term.value);
      Value onDiagonal = b.compare(ComparisonDirection::EQ, b.iota(b.i64(), dims, i), b.iota(b.i64(), dims, j));
      Value masked = b.select(onDiagonal, term.value, b.scalarLike(term.value, 0));
      term.value = b.sum(masked, static_cast<int64_t>(j), /*keepDims=*/false);
      term.letters.erase(j, 1);
      if (!term.value)
        return;
    }
}

/// Sums over the letters that `keeps` does not hold.
void sumOut(Builder &b, Term &term, StringRef keeps) {
  SmallVector<int64_t> summed;
  std::string left;
  for (auto [i, letter] : llvm::enumerate(term.letters)) {
    if (keeps.contains(letter))
      left += letter;
    else
      summed.push_back(i);
  }
  term.value = b.sum(term.value, summed, /*keepDims=*/false);
  term.letters = left;
}

Term contract(Builder &b, Term lhs, Term rhs, StringRef later) {
  sumOut(b, lhs, later.str() + rhs.letters);
  sumOut(b, rhs, later.str() + lhs.letters);
  // A dimension of size 1 that the partner has in full is left out: it broadcasts.
  auto dropOnes = [&](Term &term, const Term &partner) {
    SmallVector<int64_t> dropped;
    std::string left;
    for (auto [i, letter] : llvm::enumerate(term.letters)) {
      size_t place = partner.letters.find(letter);
      if (place != std::string::npos && b.dim(term.value, i) == b.size(1) && b.dim(partner.value, place) != b.size(1))
        dropped.push_back(i);
      else
        left += letter;
    }
    term.value = b.dropDims(term.value, dropped);
    term.letters = left;
  };
  dropOnes(lhs, rhs);
  dropOnes(rhs, lhs);
  sumOut(b, lhs, later.str() + rhs.letters);
  sumOut(b, rhs, later.str() + lhs.letters);
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  std::string batch, rest;
  for (auto [i, letter] : llvm::enumerate(lhs.letters)) {
    size_t place = rhs.letters.find(letter);
    if (place == std::string::npos) {
      rest += letter;
    } else if (later.contains(letter)) {
      lhsBatch.push_back(i);
      rhsBatch.push_back(place);
      batch += letter;
    } else {
      lhsContract.push_back(i);
      rhsContract.push_back(place);
    }
  }
  for (char letter : rhs.letters)
    if (lhs.letters.find(letter) == std::string::npos)
      rest += letter;
  return {b.dotGeneral(lhs.value, rhs.value, lhsContract, rhsContract, lhsBatch, rhsBatch), batch + rest};
}

LogicalResult importEinsum(Node &node) {
  Builder &b = node.b;
  std::string equation = node.string("equation", ""), compact;
  for (char c : equation)
    if (c != ' ')
      compact += c;
  auto wrong = [&](const std::string &why) { return node.fail("attribute 'equation': '" + equation + "' " + why); };
  auto [left, right] = StringRef(compact).split("->");
  bool hasOutput = StringRef(compact).contains("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (static_cast<int64_t>(parts.size()) != node.inputCount())
    return wrong("has " + std::to_string(parts.size()) + " terms, but there are " + std::to_string(node.inputCount()) +
                 " inputs");
  SmallVector<Term> terms;
  int64_t ellipsisRank = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    std::optional<std::string> letters = expandLetters(part, b.rank(node.input(i)), ellipsisRank);
    if (!letters)
      return wrong("does not fit input " + std::to_string(i) + " of rank " + std::to_string(b.rank(node.input(i))));
    terms.push_back({node.input(i), *letters});
  }
  std::string output;
  if (hasOutput) {
    std::optional<std::string> letters = expandLetters(right, std::nullopt, ellipsisRank);
    if (!letters)
      return wrong("has an output that is not letters and an ellipsis");
    output = *letters;
  } else {
    // The ellipsis, then the letters that stand once, in order.
    for (int64_t j = ellipsisRank; j > 0; --j)
      output += static_cast<char>(j);
    std::string once;
    for (StringRef part : parts)
      for (char c : part)
        if (llvm::isAlpha(c) && left.count(c) == 1)
          once += c;
    llvm::sort(once);
    output += once;
  }
  for (size_t i = 0; i < output.size(); ++i) {
    char letter = output[i];
    bool isMade = llvm::any_of(terms, [&](const Term &term) { return StringRef(term.letters).contains(letter); });
    if (!isMade || output.find(letter, i + 1) != std::string::npos)
      return wrong("has an output letter that no input has, or one that stands twice");
  }
  for (Term &term : terms)
    takeDiagonals(b, term);
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string later = output;
    for (size_t j = i + 1; j < terms.size(); ++j)
      later += terms[j].letters;
    result = contract(b, result, terms[i], later);
    if (!result.value)
      return failure();
  }
  sumOut(b, result, output);
  if (!result.value)
    return failure();
  SmallVector<int64_t> permutation;
  for (char letter : output)
    permutation.push_back(result.letters.find(letter));
  return node.output(0, b.transpose(result.value, permutation));
}

} // namespace

void addEinsumHandlers(HandlerTable &table) { table.add("Einsum", importEinsum); }

} // namespace weft::importer
