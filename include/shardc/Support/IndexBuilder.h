//===- IndexBuilder.h - Arithmetic on indices in kernels --------*- C++ -*-===//
//
// What emitters of kernels compute indices with: sums, quotients, comparisons
// of values that the kernel has when it runs.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_INDEXBUILDER_H
#define SHARDC_SUPPORT_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace shardc {

/// Writes ops on indices at `b`'s insertion point, which others may move.
/// Numbers are unsigned where nothing else is said; the types of both operands
/// agree.
class IndexBuilder {
protected:
  using Value = mlir::Value;

public:
  IndexBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Value index(int64_t number) const {
    return mlir::arith::ConstantIndexOp::create(b, loc, number);
  }
  Value add(Value x, Value y) const {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) const {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  Value mul(Value x, int64_t y) const { return mul(x, index(y)); }
  Value div(Value x, Value y) const {
    return mlir::arith::DivUIOp::create(b, loc, x, y);
  }
  Value div(Value x, int64_t y) const { return div(x, index(y)); }
  Value rem(Value x, Value y) const {
    return mlir::arith::RemUIOp::create(b, loc, x, y);
  }
  Value rem(Value x, int64_t y) const { return rem(x, index(y)); }
  Value bitXor(Value x, Value y) const {
    return mlir::arith::XOrIOp::create(b, loc, x, y);
  }

  // Signed.
  Value least(Value x, Value y) const {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  Value most(Value x, Value y) const {
    return mlir::arith::MaxSIOp::create(b, loc, x, y);
  }

  Value compare(mlir::arith::CmpIPredicate how, Value x, Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, how, x, y);
  }
  Value equal(Value x, Value y) const {
    return compare(mlir::arith::CmpIPredicate::eq, x, y);
  }
  Value less(Value x, Value y) const {
    return compare(mlir::arith::CmpIPredicate::ult, x, y);
  }
  Value lessSigned(Value x, Value y) const {
    return compare(mlir::arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) const {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  Value choose(Value condition, Value yes, Value no) const {
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace shardc

#endif // SHARDC_SUPPORT_INDEXBUILDER_H
