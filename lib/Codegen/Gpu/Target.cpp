//===- Target.cpp - The GPU that is compiled for, optimization and PTX --------------------------------===//

#include "lib/Codegen/Gpu/Lowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

namespace weft::codegen {

namespace {

/// A chip with the oldest PTX version that knows it, and the multiprocessors of its largest product.
struct Chip {
  const char *name;
  unsigned architecture;
  const char *ptxFeature;
  unsigned multiprocessors;
};

// LLVM 22 knows each of these. The architecture-specific ones ("a") run on that architecture alone.
constexpr Chip kChips[] = {{"sm_80", 80, "+ptx70", 108},   {"sm_86", 86, "+ptx71", 84},
                           {"sm_87", 87, "+ptx74", 16},    {"sm_89", 89, "+ptx78", 142},
                           {"sm_90", 90, "+ptx78", 132},   {"sm_90a", 90, "+ptx80", 132},
                           {"sm_100", 100, "+ptx86", 148}, {"sm_100a", 100, "+ptx86", 148},
                           {"sm_120", 120, "+ptx87", 170}, {"sm_120a", 120, "+ptx87", 170}};

const Chip *findChip(llvm::StringRef name) {
  const Chip *found = llvm::find_if(kChips, [&](const Chip &chip) { return name == chip.name; });
  return found == std::end(kChips) ? nullptr : found;
}

} // namespace

std::vector<std::string> gpuChips() {
  std::vector<std::string> names;
  for (const Chip &chip : kChips)
    names.push_back(chip.name);
  return names;
}

namespace gpu {

namespace {

const llvm::Target *findTarget(std::string &message) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), message);
}

} // namespace

llvm::Expected<Target> makeTarget(llvm::StringRef name) {
  const Chip *chip = findChip(name);
  if (!chip)
    return llvm::createStringError("'" + name + "' is not a GPU that kernels can be made for; expected one of " +
                                   llvm::join(gpuChips(), ", "));
  std::string message;
  if (!findTarget(message))
    return llvm::createStringError("this LLVM has no code generation for NVIDIA GPUs: " + message);
  return Target{name.str(), chip->architecture, chip->multiprocessors};
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, Numerics numerics) {
  std::string message;
  const llvm::Target *found = findTarget(message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = numerics == Numerics::strict ? llvm::FPOpFusion::Strict : llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(llvm::Triple("nvptx64-nvidia-cuda"), target.chip, findChip(target.chip)->ptxFeature,
                                 options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot emit PTX");
  passes.run(module);
  std::string ptx(text.begin(), text.end());
  // What is left to be resolved would fail on the user's machine.
  for (llvm::StringRef word : {".extern", ".weak", "__nv_"})
    if (size_t at = ptx.find(word.str()); at != std::string::npos)
      return llvm::createStringError("unresolved in the generated PTX: " +
                                     llvm::StringRef(ptx).substr(at).take_until([](char c) { return c == '\n'; }));
  return ptx;
}

std::string joinPtx(llvm::ArrayRef<std::string> modules) {
  std::string joined;
  for (const std::string &module : modules) {
    // The header ends with the address size; it is the same for all.
    constexpr llvm::StringLiteral kLast = ".address_size 64";
    size_t header = module.find(kLast.str());
    header = header == std::string::npos ? 0 : header + kLast.size();
    joined += joined.empty() ? module : module.substr(header);
  }
  return joined;
}

} // namespace gpu
} // namespace weft::codegen
