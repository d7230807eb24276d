//===- WeightStore.h - The values of parameters, by name -----------------------------------------------===//

#ifndef WEFT_LIB_SUPPORT_WEIGHTSTORE_H
#define WEFT_LIB_SUPPORT_WEIGHTSTORE_H

#include "dialects/Graph/TensorValue.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace weft {

/// The values of a model's parameters. They never stand in the IR: an argument `{weft.param = "name"}` refers to one.
/// Values are often views of a mapped file, which the value keeps alive. Order is that of insertion.
class WeightStore {
public:
  /// Adds a value; false where the name is taken.
  bool add(llvm::StringRef name, graph::TensorValue value);
  /// Adds a value under `wanted` or, where that is taken, under the first free `wanted.1`, `wanted.2`, ...; returns the
  /// name.
  std::string addUnique(llvm::StringRef wanted, graph::TensorValue value);
  /// Replaces the value of a name or adds it.
  void set(llvm::StringRef name, graph::TensorValue value);
  /// The value, or null.
  const graph::TensorValue *find(llvm::StringRef name) const;
  void erase(llvm::StringRef name);
  size_t size() const { return values.size(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }

private:
  llvm::MapVector<std::string, graph::TensorValue, std::map<std::string, unsigned>> values;
};

} // namespace weft

#endif
