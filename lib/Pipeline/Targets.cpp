//===- Targets.cpp - What to compile for -------------------------------------------------------------------===//

#include "lib/Pipeline/Targets.h"
#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "llvm/ADT/StringExtras.h"

namespace weft {

namespace {

/// The number in "sm_90a"; 0 where there is none.
int architectureOf(llvm::StringRef chip) {
  int number = 0;
  chip.consume_front("sm_");
  return chip.rtrim("af").getAsInteger(10, number) ? 0 : number;
}

} // namespace

std::string CompileTarget::deviceModel() const {
  if (!isGpu())
    return "cpu";
  int architecture = architectureOf(chip);
  return architecture >= 100 ? "b200" : architecture >= 90 ? "h100" : "a100";
}

llvm::Expected<std::vector<CompileTarget>> parseTargets(llvm::StringRef text) {
  std::vector<CompileTarget> targets;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  std::vector<std::string> chips = codegen::gpuChips();
  auto expected = [&](llvm::StringRef word) {
    return llvm::createStringError("target '" + word.str() + "': expected cpu, or cuda: and one of " +
                                   llvm::join(chips, ", ") + ", with +cubin where its machine code is wanted too");
  };
  for (llvm::StringRef word : words) {
    CompileTarget target;
    llvm::StringRef rest = word.trim();
    if (rest.consume_front("cuda:")) {
      target.device = "cuda";
      target.cubin = rest.consume_back("+cubin");
      target.chip = rest.str();
      if (!llvm::is_contained(chips, target.chip))
        return expected(word);
    } else if (rest != "cpu") {
      return expected(word);
    }
    for (const CompileTarget &other : targets)
      if (other.name() == target.name())
        return llvm::createStringError("target '" + target.name() + "' is there twice");
    targets.push_back(std::move(target));
  }
  return targets;
}

std::string chipForArchitecture(int architecture) {
  std::string best;
  for (const std::string &chip : codegen::gpuChips())
    // What is for one GPU alone must be asked for.
    if (llvm::isDigit(chip.back()) && architectureOf(chip) <= architecture &&
        (best.empty() || architectureOf(chip) > architectureOf(best)))
      best = chip;
  return best;
}

} // namespace weft
