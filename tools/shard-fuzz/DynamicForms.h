//===- DynamicForms.h - Ops whose attributes are operands -------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_DYNAMICFORMS_H
#define SHARDC_TOOLS_SHARD_FUZZ_DYNAMICFORMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace shardc::fuzz {

/// An op of which numbers that were attributes, or extents of its result, are
/// operands.
struct DynamicForm {
  std::string name; ///< "dynamic_pad"
  /// What each such operand holds, as the line spells it.
  std::vector<std::vector<std::string>> numbers;
  /// Columns of such an operand; 0: it has one dim.
  int64_t columns = 0;
  /// "%1 = stablehlo.dynamic_pad %x, %z, @0, @1, @2 : (…, ^, ^, ^) -> …".
  std::string line;

  /// The line, its operands as `operands` of integers of `element`.
  std::string text(llvm::ArrayRef<std::string> operands,
                   const std::string &element) const;
};

/// The dynamic form of the op in `line`: a broadcast_in_dim, reshape, iota,
/// slice, pad, gather or convolution. None of another.
std::optional<DynamicForm> dynamicForm(llvm::StringRef line);

/// `line`, or constants and its dynamic form. `tag` makes their names.
std::string withConstantOperands(llvm::StringRef line, const std::string &tag);

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_DYNAMICFORMS_H
