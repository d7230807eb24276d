// Parsing "sm_..." and comparing.
#include "runtime/Artifact/CudaArchitecture.h"

namespace weft::runtime {

bool parseCudaArchitecture(const std::string &name, CudaArchitecture &architecture) {
  static const std::string kPrefix = "sm_";
  if (name.compare(0, kPrefix.size(), kPrefix) != 0)
    return false;
  CudaArchitecture result;
  size_t position = kPrefix.size(), digits = 0;
  for (; position < name.size() && name[position] >= '0' && name[position] <= '9'; ++position, ++digits)
    if (digits < 4)
      result.number = result.number * 10 + (name[position] - '0');
  if (position < name.size() && (name[position] == 'a' || name[position] == 'f'))
    result.suffix = name[position++];
  // Two digits to three: 50 to 999, without a leading zero.
  if (position != name.size() || digits < 2 || digits > 3 || name[kPrefix.size()] == '0')
    return false;
  architecture = result;
  return true;
}

bool runsPtx(int gpu, CudaArchitecture ptx) {
  if (ptx.suffix == 'a')
    return gpu == ptx.number;
  if (ptx.suffix == 'f')
    return gpu >= ptx.number && gpu / 10 == ptx.number / 10;
  return gpu >= ptx.number;
}

bool runsCubin(int gpu, CudaArchitecture cubin) { return runsPtx(gpu, cubin) && gpu / 10 == cubin.number / 10; }

} // namespace weft::runtime
