//===- Reflectors.h - QR and Hessenberg's form ------------------*- C++ -*-===//
#ifndef SHARDC_LIB_LINALG_REFLECTORS_H
#define SHARDC_LIB_LINALG_REFLECTORS_H

#include "StableHLOToLinalg.h"

namespace shardc::lowering {

/// QR, products of its reflectors, and Hessenberg's form.
void addReflectors(LoweringTable &table);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_REFLECTORS_H
