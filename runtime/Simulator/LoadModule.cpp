//===- LoadModule.cpp - From text to kernels with addresses -------------------------===//
#include "runtime/Simulator/Decode.h"
#include "runtime/Simulator/Diagnostic.h"

#include <algorithm>
#include <cstring>

namespace weft::simulator {

namespace {

/// The kernel and the functions it can reach, in the order of CompiledKernel::functions.
std::vector<const Function *> reachable(const Module &module, const Function &entry) {
  std::vector<const Function *> out{&entry};
  std::set<const Function *> seen{&entry};
  for (size_t i = 0; i < out.size(); ++i) {
    for (const Statement &statement : out[i]->statements) {
      if (statement.opcode.substr(0, 4) != "call")
        continue;
      for (const Operand &operand : statement.operands) {
        if (operand.kind != Operand::Kind::Name)
          continue;
        auto found = module.functionIndex.find(operand.name);
        if (found == module.functionIndex.end())
          continue;
        const Function *callee = module.functions[found->second].get();
        if (callee->hasBody && seen.insert(callee).second)
          out.push_back(callee);
      }
    }
  }
  return out;
}

void collectNames(const Operand &operand, std::set<std::string_view> &names) {
  if (!operand.name.empty())
    names.insert(operand.name);
  for (const Operand &element : operand.elements)
    collectNames(element, names);
}

/// Places shared variables: each aligned as declared and no better, with a red zone before and behind.
void layoutShared(const Module &module, const std::vector<const Function *> &functions, CompiledKernel &kernel) {
  constexpr uint32_t redZone = 32;
  uint64_t cursor = 64;
  uint32_t dynamicAlignment = 0;
  std::vector<std::string> dynamicNames;
  auto place = [&](const Variable &variable, const std::string &name) {
    if (variable.size == 0) {
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
      dynamicNames.push_back(name);
      return;
    }
    uint64_t alignment = variable.alignment;
    cursor = (cursor + redZone + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) + alignment;
    if (cursor + variable.size > (uint64_t(1) << 24))
      throw PtxError(variable.line,
                     "shared variable '" + variable.name + "' makes kernel '" + kernel.name + "' use more than 16 MiB");
    kernel.shared.push_back({name, uint32_t(cursor), uint32_t(variable.size)});
    kernel.sharedDeclared = uint32_t((kernel.sharedDeclared + alignment - 1) / alignment * alignment + variable.size);
    cursor += variable.size;
  };
  std::set<std::string_view> names;
  for (const Function *function : functions) {
    for (const Variable &variable : function->locals)
      if (variable.space == Space::Shared)
        place(variable, function->name + "::" + variable.name);
    for (const Statement &statement : function->statements)
      for (const Operand &operand : statement.operands)
        collectNames(operand, names);
  }
  for (const Variable &variable : module.variables)
    if (variable.space == Space::Shared && names.count(variable.name))
      place(variable, variable.name);
  kernel.sharedBytes = uint32_t(cursor);
  uint64_t alignment = std::max(dynamicAlignment, 1u);
  kernel.dynamicSharedOffset =
      uint32_t((cursor + redZone + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) + alignment);
  kernel.usesDynamicShared = !dynamicNames.empty();
  for (std::string &name : dynamicNames)
    kernel.shared.push_back({std::move(name), kernel.dynamicSharedOffset, 0});
}

std::unique_ptr<CompiledKernel> compileKernel(DecodeContext &context, const Function &entry) {
  auto kernel = std::make_unique<CompiledKernel>();
  const Module &module = context.module;
  kernel->name = entry.name;
  kernel->module = &module;
  kernel->bounds = entry.bounds;
  uint32_t offset = 0;
  for (const Variable &parameter : entry.parameters) {
    if (parameter.space != Space::Param)
      throw PtxError(parameter.line, "parameters of a kernel must be in .param space");
    if (parameter.size > 32764 || offset > 32764)
      throw PtxError(parameter.line, "kernel '" + entry.name + "' has more than 32764 bytes of parameters");
    offset = (offset + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    kernel->parameterLayout.push_back({offset, uint32_t(parameter.size)});
    kernel->parameterIsPointer.push_back(parameter.isPointer);
    offset += uint32_t(parameter.size);
  }
  kernel->parameterBytes = offset;
  std::vector<const Function *> functions = reachable(module, entry);
  layoutShared(module, functions, *kernel);
  std::unordered_map<std::string_view, uint32_t> indices;
  for (uint32_t i = 0; i < functions.size(); ++i)
    indices.emplace(functions[i]->name, i);
  kernel->functions.resize(functions.size());
  for (uint32_t i = 0; i < functions.size(); ++i) {
    FunctionDecoder decoder(context, *kernel, *functions[i], kernel->functions[i],
                            [&](std::string_view name, unsigned line) {
                              auto found = indices.find(name);
                              if (found == indices.end())
                                throw PtxError(line, "function '" + std::string(name) + "' has no body in this module");
                              return found->second;
                            });
    decoder.run();
  }
  return kernel;
}

/// Kernels, and functions that no kernel calls, so that a library module is verified too.
void compileAll(DecodeContext &context, std::unordered_map<std::string, std::unique_ptr<CompiledKernel>> &kernels) {
  std::set<const Function *> covered;
  for (const auto &function : context.module.functions) {
    if (!function->isEntry || !function->hasBody)
      continue;
    for (const Function *f : reachable(context.module, *function))
      covered.insert(f);
    kernels.emplace(function->name, compileKernel(context, *function));
  }
  for (const auto &function : context.module.functions) {
    if (function->isEntry || !function->hasBody || covered.count(function.get()))
      continue;
    CompiledKernel scratch;
    scratch.name = function->name;
    layoutShared(context.module, reachable(context.module, *function), scratch);
    std::vector<const Function *> functions = reachable(context.module, *function);
    scratch.functions.resize(functions.size());
    for (size_t i = 0; i < functions.size(); ++i) {
      FunctionDecoder decoder(context, scratch, *functions[i], scratch.functions[i],
                              [&](std::string_view name, unsigned line) {
                                for (uint32_t j = 0; j < functions.size(); ++j)
                                  if (functions[j]->name == name)
                                    return j;
                                throw PtxError(line, "function '" + std::string(name) + "' has no body in this module");
                              });
      decoder.run();
    }
  }
}

void writeInitialValues(const Variable &variable, uint8_t *memory, const LoadedModule &loaded) {
  unsigned element = std::max(1u, typeSize(variable.type));
  for (size_t i = 0; i < variable.initial.size(); ++i) {
    uint64_t bits = variable.initial[i].bits;
    if (!variable.initial[i].symbol.empty()) {
      auto found = loaded.variables.find(std::string(variable.initial[i].symbol));
      if (found == loaded.variables.end())
        throw PtxError(variable.line, "initialiser of '" + variable.name + "' names '" +
                                          std::string(variable.initial[i].symbol) +
                                          "', which is not a global variable of this module");
      bits += found->second->base;
    }
    std::memcpy(memory + i * element, &bits, std::min(element, 8u));
  }
}

} // namespace

std::unique_ptr<LoadedModule> loadModule(std::string text, AddressSpace &memory, int device, const std::string &label) {
  auto loaded = std::make_unique<LoadedModule>();
  loaded->module = parseModule(std::move(text));
  const Module &module = *loaded->module;
  struct Undo {
    AddressSpace &memory;
    LoadedModule &loaded;
    bool armed = true;
    ~Undo() {
      if (armed)
        for (auto &entry : loaded.variables)
          memory.free(*entry.second, "module that failed to load");
    }
  } undo{memory, *loaded};
  for (const Variable &variable : module.variables) {
    if (variable.space == Space::Shared)
      continue;
    if (variable.isExternal)
      throw PtxError(variable.line, "variable '" + variable.name + "' is .extern and nothing defines it");
    auto kind = variable.space == Space::Const ? AllocationKind::ModuleConstant : AllocationKind::ModuleVariable;
    Allocation *made = memory.allocate(device, variable.size, kind, "variable '" + variable.name + "' of " + label);
    if (!made)
      throw PtxError(variable.line, "no memory left on device " + std::to_string(device) + " for variable '" +
                                        variable.name + "' of " + std::to_string(variable.size) + " bytes");
    std::memset(reinterpret_cast<void *>(made->base), 0, variable.size);
    // PTX initialises global variables to zero where nothing else is said.
    memory.markInitialised(*made, made->base, made->size);
    loaded->variables.emplace(variable.name, made);
  }
  for (const Variable &variable : module.variables)
    if (variable.space != Space::Shared)
      writeInitialValues(variable, reinterpret_cast<uint8_t *>(loaded->variables.at(variable.name)->base), *loaded);
  DecodeContext context{module,
                        [&](std::string_view name, uint64_t &address) {
                          auto found = loaded->variables.find(std::string(name));
                          if (found == loaded->variables.end())
                            return false;
                          address = found->second->base;
                          return true;
                        },
                        {}};
  compileAll(context, loaded->kernels);
  undo.armed = false;
  return loaded;
}

void verifyModule(const std::string &text) {
  std::unique_ptr<Module> module = parseModule(text);
  DecodeContext context{*module,
                        [&](std::string_view name, uint64_t &address) {
                          address = 0;
                          return module->variableIndex.count(name) != 0;
                        },
                        {}};
  std::unordered_map<std::string, std::unique_ptr<CompiledKernel>> kernels;
  compileAll(context, kernels);
}

} // namespace weft::simulator
