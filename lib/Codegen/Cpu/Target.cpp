//===- Target.cpp - The CPU that is compiled for, optimization and code emission ----------------------===//

#include "lib/Codegen/Cpu/Lowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

namespace weft::codegen::cpu {

namespace {

/// The extensions that generated code may use. LLVM's list for a CPU has many more entries: instructions for systems
/// and cryptography, and notes on what is fast.
constexpr llvm::StringLiteral kUsedFeatures[] = {
    "sse3",    "ssse3",       "sse4.1",     "sse4.2",       "popcnt",          "avx",        "avx2",
    "fma",     "f16c",        "bmi",        "bmi2",         "lzcnt",           "movbe",      "adx",
    "avx512f", "avx512bw",    "avx512cd",   "avx512dq",     "avx512vl",        "avx512ifma", "avx512vbmi",
    "gfni",    "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "avx512bf16", "avx512fp16",
    "avxvnni", "avxifma"};

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

} // namespace

llvm::Expected<Target> makeTarget(llvm::StringRef cpu) {
  initializeTarget();
  Target target;
  // The kernels' objects have no system in them: ELF and the System V calling convention is all there is.
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  triple.setOS(llvm::Triple::Linux);
  target.triple = triple.normalize();
  std::string message;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return llvm::createStringError("no code generation for " + target.triple + ": " + message);
  if (cpu == "native") {
    target.cpu = llvm::sys::getHostCPUName();
    for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
      target.features += target.features.empty() ? "" : ",";
      target.features += (feature.second ? "+" : "-") + feature.first().str();
    }
  } else {
    target.cpu = cpu.str();
  }
  // Asked of a CPU that is known for sure: LLVM prints a warning for others and goes on.
  std::unique_ptr<llvm::MCSubtargetInfo> any(found->createMCSubtargetInfo(triple, "", ""));
  if (!any || !any->isCPUStringValid(target.cpu))
    return llvm::createStringError("'" + target.cpu + "' is not a CPU of " + triple.getArchName() +
                                   "; expected native, x86-64-v3, x86-64-v4 or a CPU's name as LLVM spells it");
  std::unique_ptr<llvm::MCSubtargetInfo> info(found->createMCSubtargetInfo(triple, target.cpu, target.features));
  for (const auto &feature : info->getEnabledProcessorFeatures())
    if (llvm::is_contained(kUsedFeatures, llvm::StringRef(feature.Key)))
      target.enabledFeatures.push_back(feature.Key);
  if (triple.isX86() && !info->checkFeatures("+avx2,+fma,+f16c"))
    return llvm::createStringError("the CPU '" + target.cpu +
                                   "' has no AVX2, FMA and F16C, which the kernels use; the least is x86-64-v3");
  target.preferredVectorBits =
      triple.isX86() && info->checkFeatures("+avx512f,+avx512vl,+avx512dq,+avx512bw") ? 512 : 256;
  return target;
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, Numerics numerics) {
  llvm::Triple triple(target.triple);
  std::string message;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = numerics == Numerics::strict ? llvm::FPOpFusion::Strict : llvm::FPOpFusion::Standard;
  options.FunctionSections = true;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(triple, target.cpu, target.features, options,
                                                                         llvm::Reloc::PIC_, std::nullopt,
                                                                         llvm::CodeGenOptLevel::Aggressive));
}

llvm::Expected<llvm::SmallVector<char, 0>> emitCode(llvm::Module &module, llvm::TargetMachine &machine, bool assembly) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("LLVM cannot emit code for " + machine.getTargetTriple().str());
  passes.run(module);
  return bytes;
}

std::unique_ptr<llvm::Module> makeRuntimeFunctions(llvm::LLVMContext &context, const Target &target) {
  // Plain loops over bytes: the optimizer makes no calls to these where it knows that no library is there. The
  // conversion from f64 to f16 rounds to odd on its way through f32, so that it rounds once.
  static constexpr llvm::StringLiteral kText = R"(
define hidden ptr @memset(ptr %to, i32 %value, i64 %size) "no-builtins" {
entry:
  %byte = trunc i32 %value to i8
  %none = icmp eq i64 %size, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %place
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %size
  br i1 %more, label %loop, label %done
done:
  ret ptr %to
}
define hidden ptr @memcpy(ptr noalias %to, ptr noalias %from, i64 %size) "no-builtins" {
entry:
  %none = icmp eq i64 %size, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr i8, ptr %from, i64 %i
  %byte = load i8, ptr %source
  %place = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %place
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %size
  br i1 %more, label %loop, label %done
done:
  ret ptr %to
}
define hidden ptr @memmove(ptr %to, ptr %from, i64 %size) "no-builtins" {
entry:
  %none = icmp eq i64 %size, 0
  br i1 %none, label %done, label %choose
choose:
  %forward = icmp ult ptr %to, %from
  br i1 %forward, label %up, label %down
up:
  %i = phi i64 [ 0, %choose ], [ %inext, %up ]
  %isource = getelementptr i8, ptr %from, i64 %i
  %ibyte = load i8, ptr %isource
  %iplace = getelementptr i8, ptr %to, i64 %i
  store i8 %ibyte, ptr %iplace
  %inext = add i64 %i, 1
  %imore = icmp ult i64 %inext, %size
  br i1 %imore, label %up, label %done
down:
  %j = phi i64 [ %size, %choose ], [ %jnext, %down ]
  %jnext = sub i64 %j, 1
  %jsource = getelementptr i8, ptr %from, i64 %jnext
  %jbyte = load i8, ptr %jsource
  %jplace = getelementptr i8, ptr %to, i64 %jnext
  store i8 %jbyte, ptr %jplace
  %jmore = icmp ne i64 %jnext, 0
  br i1 %jmore, label %down, label %done
done:
  ret ptr %to
}
define hidden half @__truncdfhf2(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %size = call double @llvm.fabs.f64(double %x)
  %backsize = call double @llvm.fabs.f64(double %back)
  %larger = fcmp olt double %size, %backsize
  %inexact = fcmp one double %back, %x
  %bits = bitcast float %near to i32
  %less = sub i32 %bits, 1
  %tozero = select i1 %larger, i32 %less, i32 %bits
  %odd = or i32 %tozero, 1
  %chosen = select i1 %inexact, i32 %odd, i32 %bits
  %single = bitcast i32 %chosen to float
  %result = fptrunc float %single to half
  ret half %result
}
declare double @llvm.fabs.f64(double)
)";
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kText, diagnostic, context);
  if (!module)
    return nullptr;
  module->setTargetTriple(llvm::Triple(target.triple));
  for (llvm::Function &function : *module) {
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return module;
}

} // namespace weft::codegen::cpu
