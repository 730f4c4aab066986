//===- PairLists.cpp - The best of each row -------------------------------===//
#include "PairEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

/// Puts what is better than the last of this row's list into it.
void PairEmitter::topK(const Tile &tile, Value row, ArrayRef<Value> line) {
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  Value best = pointer(states[0], {{q, at}}),
        keys = pointer(states[1], {{q, at}});
  Type i32 = b.getI32Type();
  auto scoreAt = [&](Value place) {
    return code.pointerAt(best, type,
                          arith.mul(Quantity::of(place), states[0].coef[e]));
  };
  auto keyAt = [&](Value place) {
    return code.pointerAt(keys, i32,
                          arith.mul(Quantity::of(place), states[1].coef[e]));
  };
  Value one = arith.index(1);
  Value last = arith.get(arith.sub(sizes[e], Quantity::of(1)));
  auto isBetter = [&](Value score, Value number, Value otherScore,
                      Value otherNumber) -> Value {
    Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                        score, otherScore);
    Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, score,
                                       otherScore);
    Value lower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        number, otherNumber);
    return arith::OrIOp::create(b, loc, above,
                                arith::AndIOp::create(b, loc, same, lower));
  };
  for (int64_t vector : llvm::seq(vectors))
    code.store(line[vector], cell(scores, row, vector));
  for (int64_t vector : llvm::seq(vectors)) {
    // Most vectors hold nothing that is better. Of equal scores, of which a
    // search in a radius has many, only lower keys are.
    Value worst = code.splat(code.load(scoreAt(last), type, 1), lanes);
    Value firstKey =
        toI32(arith.get(arith.add(arith.add(tile.k0, Quantity::of(start[k])),
                                  Quantity::of(vector * lanes))));
    Value some = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::slt, firstKey,
        LLVM::LoadOp::create(b, loc, i32, keyAt(last), 4));
    Value lower = vector::BroadcastOp::create(
        b, loc, VectorType::get({lanes}, b.getI1Type()), some);
    Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                       line[vector], worst);
    Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                        line[vector], worst);
    Value mayEnter = arith::OrIOp::create(
        b, loc, above, arith::AndIOp::create(b, loc, same, lower));
    if (Value mask = maskOf(tile, row, vector))
      mayEnter = arith::AndIOp::create(b, loc, mayEnter, mask);
    // Of the others, those lanes that may be, one bit each.
    Type bitsType = b.getIntegerType(lanes);
    Value bits = vector::ExtractOp::create(
        b, loc,
        vector::BitCastOp::create(b, loc, VectorType::get({1}, bitsType),
                                  mayEnter),
        int64_t(0));
    auto loop = scf::WhileOp::create(
        b, loc, TypeRange(bitsType), ValueRange(bits),
        [&](OpBuilder &, Location, ValueRange args) {
          Value none =
              arith::ConstantOp::create(b, loc, b.getIntegerAttr(bitsType, 0));
          scf::ConditionOp::create(
              b, loc,
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, args[0],
                                    none),
              args);
        },
        [&](OpBuilder &, Location, ValueRange args) {
          Value lowest = arith::SubIOp::create(
              b, loc, args[0],
              arith::ConstantOp::create(b, loc, b.getIntegerAttr(bitsType, 1)));
          scf::YieldOp::create(
              b, loc,
              arith::AndIOp::create(b, loc, args[0], lowest).getResult());
        });
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getAfterBody()->getTerminator());
    Value lane =
        arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                     math::CountTrailingZerosOp::create(
                                         b, loc, loop.getAfterArguments()[0]));
    Value score = code.load(
        code.pointerAt(cell(scores, row, vector), type, Quantity::of(lane)),
        type, 1);
    Quantity index =
        arith.add(arith.add(tile.k0, Quantity::of(start[k])),
                  arith.add(Quantity::of(vector * lanes), Quantity::of(lane)));
    Value number = toI32(arith.get(index));
    Value enters = isBetter(score, number, code.load(scoreAt(last), type, 1),
                            LLVM::LoadOp::create(b, loc, i32, keyAt(last), 4));
    auto insert = scf::IfOp::create(b, loc, enters, /*withElseRegion=*/false);
    b.setInsertionPoint(insert.thenBlock()->getTerminator());
    // From the end, worse ones move down.
    auto shift = scf::WhileOp::create(
        b, loc, TypeRange(b.getIndexType()), ValueRange(last),
        [&](OpBuilder &, Location, ValueRange args) {
          Value place = args[0], zero = arith.index(0);
          Value inside = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sgt, place, zero);
          Value before = arith::SelectOp::create(
              b, loc, inside, arith::SubIOp::create(b, loc, place, one), zero);
          Value better =
              isBetter(score, number, code.load(scoreAt(before), type, 1),
                       LLVM::LoadOp::create(b, loc, i32, keyAt(before), 4));
          scf::ConditionOp::create(
              b, loc, arith::AndIOp::create(b, loc, inside, better), args);
        },
        [&](OpBuilder &, Location, ValueRange args) {
          Value place = args[0];
          Value before = arith::SubIOp::create(b, loc, place, one);
          code.store(code.load(scoreAt(before), type, 1), scoreAt(place));
          LLVM::StoreOp::create(
              b, loc, LLVM::LoadOp::create(b, loc, i32, keyAt(before), 4),
              keyAt(place), 4);
          scf::YieldOp::create(b, loc, before);
        });
    Value place = shift.getResult(0);
    code.store(score, scoreAt(place));
    LLVM::StoreOp::create(b, loc, number, keyAt(place), 4);
  }
}
