//===- PlantedFault.h - Mistakes that tests plant ---------------*- C++ -*-===//
//
// Places in stages where a test may have the stage make a mistake, to see
// whether the check behind it finds that. None is planted unless a tool says
// so; users have no option for it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_PLANTEDFAULT_H
#define SHARDC_SUPPORT_PLANTEDFAULT_H

#include "llvm/ADT/StringRef.h"

namespace shardc {

/// The one that is planted; empty: none. Of this process.
inline llvm::StringRef plantedFault;
/// How often it was reached since it was planted.
inline int64_t plantedFaultHits = 0;

/// Whether this place is to go wrong.
inline bool isPlanted(llvm::StringRef name) {
  if (plantedFault.empty() || plantedFault != name)
    return false;
  ++plantedFaultHits;
  return true;
}

} // namespace shardc

#endif // SHARDC_SUPPORT_PLANTEDFAULT_H
