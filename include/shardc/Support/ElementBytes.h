//===- ElementBytes.h - Memory of one element -------------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_ELEMENTBYTES_H
#define SHARDC_SUPPORT_ELEMENTBYTES_H

#include "mlir/IR/Types.h"
#include <cstdint>

namespace shardc {

/// Bytes that one element of `type` takes in memory, in files and in messages;
/// 0 if `type` is no element of a tensor. Integers and floats take whole bytes:
/// i1, i4 and f8E4M3FN one each, i32 four. A complex number takes two of its
/// parts, an index eight.
int64_t elementBytes(mlir::Type type);

} // namespace shardc

#endif // SHARDC_SUPPORT_ELEMENTBYTES_H
