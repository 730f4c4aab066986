//===- VhloOps.h - Ops of VHLO as a table -----------------------*- C++ -*-===//
#ifndef SHARDC_LIB_DIALECT_VHLO_IR_VHLOOPS_H
#define SHARDC_LIB_DIALECT_VHLO_IR_VHLOOPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace shardc::vhlo {

/// What an attribute of VHLO is made into for StableHLO's op.
enum class Form {
  Same,
  Ints,   ///< a list of numbers, from a tensor
  Bools,  ///< a list of truth values, from a tensor
  Symbol, ///< from a string
  Symbols,
  Flag,    ///< there or not, from a truth value
  Channel, ///< a channel handle of type 0, from its number
  Joined   ///< of several
};

/// An attribute of StableHLO's op.
struct Field {
  llvm::StringRef name;
  Form form = Form::Same;
  /// Those of VHLO's op that it is made of.
  llvm::SmallVector<llvm::StringRef, 1> parts;
  /// It is left out where all its numbers are this one.
  std::optional<int64_t> omitted;
  /// It is left out where it is empty.
  bool omitsEmpty = false;
};

/// An op in one of its versions; results, operands and regions are those of
/// StableHLO's.
struct OpVersion {
  /// With the version: "add_v1".
  llvm::StringRef name;
  /// The op that it is, where that is not StableHLO's of its name.
  llvm::StringRef meaning;
  llvm::SmallVector<Field, 0> fields;
  /// Names of VHLO's attributes in the order of the bytecode.
  llvm::SmallVector<llvm::StringRef, 0> stored;
};

/// All ops, in their order of the table.
llvm::ArrayRef<OpVersion> allOps();

/// Null for a name that none has; without the dialect: "add_v1".
const OpVersion *findOp(llvm::StringRef name);

} // namespace shardc::vhlo

#endif // SHARDC_LIB_DIALECT_VHLO_IR_VHLOOPS_H
