//===- RingInputs.h - What each step of a ring reads ------------*- C++ -*-===//
#ifndef SHARDC_LIB_RULES_RINGINPUTS_H
#define SHARDC_LIB_RULES_RINGINPUTS_H

#include "RingBuilder.h"

namespace shardc::rules {

/// The operands of an op, and what of them each step reads.
struct RingInputs {
  explicit RingInputs(Ring &ring);
  /// What all parts of the queries share at `step`; null for what each has of
  /// its own.
  llvm::SmallVector<mlir::Value> at(int64_t step, bool hasValue);
  /// The same, for one part.
  llvm::SmallVector<mlir::Value> of(llvm::ArrayRef<mlir::Value> shared,
                                    const Here &here, int64_t part);
  /// Lets operands not be those that other ops have: what is exchanged of them
  /// is not kept from one op to the next.
  void renew(llvm::ArrayRef<unsigned> operands);
  /// What is passed round in a loop, in buffers: keys and values first, as one
  /// if they can be.
  llvm::SmallVector<Piece> travelling(bool hasValue);
  /// As `at`, from what was passed.
  llvm::SmallVector<mlir::Value> from(mlir::ValueRange blocks);

  Ring &ring;
  llvm::SmallVector<llvm::SmallVector<Piece>> pieces;
  llvm::SmallVector<mlir::AffineMap> maps;
  std::optional<Piece> pair;
};

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RINGINPUTS_H
