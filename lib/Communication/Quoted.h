//===- Quoted.h - Axes as diagnostics write them ----------------*- C++ -*-===//
#ifndef SHARDC_LIB_COMMUNICATION_QUOTED_H
#define SHARDC_LIB_COMMUNICATION_QUOTED_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace shardc {

/// `"x", "y"`.
inline std::string quoted(llvm::ArrayRef<mlir::StringAttr> axes) {
  std::string text;
  for (mlir::StringAttr axis : axes)
    text += (text.empty() ? "\"" : ", \"") + axis.str() + "\"";
  return text;
}

} // namespace shardc

#endif // SHARDC_LIB_COMMUNICATION_QUOTED_H
