//===- PassedValues.h - Values on their way into a function -----*- C++ -*-===//
//
// Code that becomes a function of its own, a kernel or the body of a loop, goes
// on using values from outside. They reach it in slots of 8 bytes.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_CALLS_PASSEDVALUES_H
#define SHARDC_LIB_CALLS_PASSEDVALUES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace shardc {

/// Splits values into slots outside, and puts them together again inside. Where
/// a slot is found inside is said by whoever makes the function.
class PassedValues {
public:
  PassedValues(mlir::OpBuilder &outside, mlir::OpBuilder &inside,
               mlir::Location loc)
      : outside(outside), inside(inside), loc(loc) {}
  virtual ~PassedValues() = default;

  /// What is inside in place of `value`; null where no slots hold it.
  mlir::Value pass(mlir::Value value);
  /// What each slot is to hold: an i64 or a pointer.
  llvm::ArrayRef<mlir::Value> slots() const { return words; }

protected:
  /// Slot number `slot`, the last so far, as it is found inside.
  virtual mlir::Value find(mlir::Type type, int64_t slot) = 0;

  mlir::OpBuilder &outside, &inside;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> words;

private:
  mlir::Value passWord(mlir::Value word);
  mlir::Value passIndex(mlir::Value index);
  mlir::Value passScalar(mlir::Value scalar);
  mlir::Value passMemref(mlir::Value memref, mlir::MemRefType type);
};

} // namespace shardc

#endif // SHARDC_LIB_CALLS_PASSEDVALUES_H
