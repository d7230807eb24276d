//===- Reproducer.h - What is needed to see a failure again ----------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_REPRODUCER_H
#define WEFT_TOOLS_WEFT_REPRODUCER_H

#include "tools/weft/Tensors.h"

namespace weft::tool {

/// Where `--reproducer=FOLDER` asks for it: a folder with the model and its external data, the values of the inputs,
/// and `reproduce.sh`, which gives the command again. It is written before the work begins, so that it is there after a
/// crash, and removed when the command succeeds.
class Reproducer {
public:
  explicit Reproducer(const ModelOptions &options);
  ~Reproducer();

  /// Adds the inputs' values, which from here on stand for the options that made them.
  void addInputs(llvm::ArrayRef<NamedTensor> inputs);
  /// The command's exit status, or 1 where the folder could not be written. Keeps the folder after a failure, and says
  /// so.
  int finish(int status);

private:
  void begin();
  void writeScript(bool haveInputs);
  void give(const llvm::Twine &problem);

  const ModelOptions &options;
  std::string folder; // empty: none is wanted, or it could not be made
  bool keep = true, broken = false;
};

} // namespace weft::tool

#endif
