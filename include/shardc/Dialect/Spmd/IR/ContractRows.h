//===- ContractRows.h - Verifies what stages leave --------------*- C++ -*-===//
//
// For the dialects of levels. One row an attribute: where it may be attached,
// and which values are valid.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_CONTRACTROWS_H
#define SHARDC_DIALECT_SPMD_IR_CONTRACTROWS_H

#include "shardc/Dialect/Spmd/IR/Contract.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace shardc::spmd {

/// Where an attribute may be attached. `OnOps`: on those whose names begin with
/// one of a row's prefixes; on all where there are none.
enum Places : unsigned {
  OnModules = 1,
  OnFunctions = 2,
  OnArguments = 4,
  OnResults = 8,
  OnOps = 16
};

struct ContractRow {
  llvm::StringLiteral name;
  unsigned places;
  llvm::StringLiteral where;    ///< the same in words
  llvm::StringLiteral expected; ///< values, in words
  bool (*isValue)(mlir::Attribute);
  llvm::SmallVector<llvm::StringRef, 4> ops = {};
  /// Whether a value is one for the op that has it; null: each is.
  bool (*fits)(mlir::Operation *, mlir::Attribute) = nullptr;
};

/// All rows of a dialect.
class ContractRows {
public:
  /// `declaredIn` is the .td file that declares the attributes.
  ContractRows(std::vector<ContractRow> rows, llvm::StringRef declaredIn);
  llvm::LogicalResult verify(mlir::Operation *op,
                             mlir::NamedAttribute attr) const;
  llvm::LogicalResult verifyArgument(mlir::Operation *op, unsigned argument,
                                     mlir::NamedAttribute attr) const;
  llvm::LogicalResult verifyResult(mlir::Operation *op, unsigned result,
                                   mlir::NamedAttribute attr) const;

private:
  /// Verifies `attr`, which is attached to a `place` of `op`; `on` says which.
  llvm::LogicalResult verifyAt(mlir::Operation *op, mlir::NamedAttribute attr,
                               unsigned place,
                               const llvm::Twine &on = "") const;

  std::vector<ContractRow> rows;
  llvm::StringMap<unsigned> byName;
  llvm::StringRef declaredIn;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename C> bool isOfType(mlir::Attribute value) {
  return llvm::isa<typename C::Attr>(value);
}

template <int64_t least> bool isAtLeast(mlir::Attribute value) {
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
  return number && number.getValue().sge(least);
}

template <typename Element> bool isListOf(mlir::Attribute value) {
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Element>);
}

template <typename C>
ContractRow mark(unsigned places, llvm::StringLiteral where,
                 llvm::SmallVector<llvm::StringRef, 4> ops = {}) {
  return {C::name(), places, where, "no value", isOfType<C>, std::move(ops)};
}

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_CONTRACTROWS_H
