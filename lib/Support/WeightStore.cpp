//===- WeightStore.cpp - The values of parameters, by name ---------------------------------------------===//

#include "lib/Support/WeightStore.h"

namespace weft {

bool WeightStore::add(llvm::StringRef name, graph::TensorValue value) {
  return values.insert({name.str(), std::move(value)}).second;
}

std::string WeightStore::addUnique(llvm::StringRef wanted, graph::TensorValue value) {
  std::string name = wanted.str();
  for (unsigned suffix = 1; values.find(name) != values.end(); ++suffix)
    name = (wanted + "." + llvm::Twine(suffix)).str();
  values.insert({name, std::move(value)});
  return name;
}

void WeightStore::set(llvm::StringRef name, graph::TensorValue value) { values[name.str()] = std::move(value); }

const graph::TensorValue *WeightStore::find(llvm::StringRef name) const {
  auto found = values.find(name.str());
  return found == values.end() ? nullptr : &found->second;
}

void WeightStore::erase(llvm::StringRef name) { values.erase(name.str()); }

} // namespace weft
