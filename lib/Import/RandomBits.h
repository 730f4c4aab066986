//===- RandomBits.h - Random numbers as integer arithmetic ------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_RANDOMBITS_H
#define SHARDC_LIB_IMPORT_RANDOMBITS_H

#include "OpBuilding.h"

namespace shardc::import {

/// Random bits and the state after them.
struct RandomBits {
  mlir::Value state;
  mlir::Value bits;
};

/// Bits of XLA's generators: `state` is a tensor of two (Philox: two or three)
/// ui64, the result has `shape` and an unsigned element of `width` bits, 8 to
/// 64. Each element depends on its own index alone.
RandomBits threeFryBits(Ops &ops, mlir::Value state,
                        llvm::ArrayRef<int64_t> shape, unsigned width);
RandomBits philoxBits(Ops &ops, mlir::Value state,
                      llvm::ArrayRef<int64_t> shape, unsigned width);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_RANDOMBITS_H
