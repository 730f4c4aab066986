//===- RaggedDot.h - Products of groups of rows as ops ----------*- C++ -*-===//
#ifndef SHARDC_LIB_IMPORT_RAGGEDDOT_H
#define SHARDC_LIB_IMPORT_RAGGEDDOT_H

#include "shardc/Dialect/Chlo/IR/Chlo.h"

namespace shardc::import {

/// Replaces `op` by a product of all groups, in which each has zeros where
/// others lie. Fails where its result, or its group sizes, are of other shapes.
llvm::LogicalResult decomposeRaggedDot(chlo::RaggedDotOp op);

/// Replaces `op` by a product in twice the width, or of halves.
llvm::LogicalResult decomposeMulhi(chlo::MulhiOp op);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_RAGGEDDOT_H
