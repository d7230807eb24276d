//===- Table.cpp - The selectors of one instruction set of the host -------------------------------------===//
#include "runtime/Simulator/Interpreter/Lanes.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {

Handler selectInteger(const Form &);
Handler selectPredicate(const Form &);
Handler selectCompare(const Form &);
Handler selectFloat(const Form &);
Handler selectHalf(const Form &);
Handler selectConvert(const Form &);
Handler selectLoad(const Form &, const AccessShape &);
Handler selectStore(const Form &, const AccessShape &);
Handler selectParameterLoad(const AccessShape &);
Handler selectFrameLoad(const AccessShape &);
Handler selectFrameStore(const AccessShape &);
Handler selectAtomic(const Form &);
Handler selectAsyncCopy(const Form &);
Handler selectWarpWide(const Form &);
Handler selectMatrix(const Form &);
Handler selectCopy(unsigned, unsigned, bool);
Handler selectPack(unsigned, unsigned);
Handler selectUnpack(unsigned, unsigned);
Handler selectReadSpecial(Special, unsigned);
Handler selectIsSpace(Space);
Handler selectConvertAddress(Space, bool);
Handler selectActiveMask();
Handler selectFence(const Form &);
Handler selectNothing();

const HandlerTable &table() {
  static const HandlerTable instance = {
      selectInteger,     selectPredicate, selectCompare,        selectFloat,      selectHalf,       selectConvert,
      selectLoad,        selectStore,     selectParameterLoad,  selectFrameLoad,  selectFrameStore, selectAtomic,
      selectAsyncCopy,   selectWarpWide,  selectMatrix,         selectCopy,       selectPack,       selectUnpack,
      selectReadSpecial, selectIsSpace,   selectConvertAddress, selectActiveMask, selectFence,      selectNothing};
  return instance;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
