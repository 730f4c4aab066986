//===- BooleanBlobs.h - Blobs of i1 from newer MLIR -------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_BOOLEANBLOBS_H
#define SHARDC_SUPPORT_BOOLEANBLOBS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace shardc {

/// MLIR text with every `dense<"0x...">` of i1 elements that has one byte an
/// element (as newer MLIR prints it) packed to one bit an element (as MLIR 22
/// reads it). The result has the length of `text`, so that lines and columns
/// stay what they are: what the packed blob needs less is filled with blanks.
/// Blobs that are packed already, or are not all zeros and ones, stay.
std::string repackBooleanBlobs(llvm::StringRef text);

} // namespace shardc

#endif // SHARDC_SUPPORT_BOOLEANBLOBS_H
