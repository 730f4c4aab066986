//===- PairLists.cpp - The best of each row -------------------------------===//
#include "../../Common/PairAlgebra.h"
#include "PairEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

namespace {
/// A row's list: scores, and the numbers of keys as i32.
class ListInMemory final : public pairs::BestList {
public:
  ListInMemory(VectorCode &code, Value scores, Quantity scoreStep,
               Value numbers, Quantity numberStep)
      : BestList(code.b, code.loc), code(code), scores(scores),
        numbers(numbers), scoreStep(scoreStep), numberStep(numberStep) {}

  Value scoreAt(Value place) override {
    return code.load(scorePointer(place), code.type, 1);
  }
  Value numberAt(Value place) override {
    return LLVM::LoadOp::create(b, loc, b.getI32Type(), numberPointer(place),
                                4);
  }

private:
  void put(Value score, Value number, Value place) override {
    code.store(score, scorePointer(place));
    LLVM::StoreOp::create(b, loc, number, numberPointer(place), 4);
  }
  void move(Value from, Value to) override {
    code.store(scoreAt(from), scorePointer(to));
    LLVM::StoreOp::create(b, loc, numberAt(from), numberPointer(to), 4);
  }
  Value scorePointer(Value place) {
    return code.pointerAt(scores, code.type,
                          code.arith.mul(Quantity::of(place), scoreStep));
  }
  Value numberPointer(Value place) {
    return code.pointerAt(numbers, b.getI32Type(),
                          code.arith.mul(Quantity::of(place), numberStep));
  }

  VectorCode &code;
  Value scores, numbers; ///< pointers to the first of each
  Quantity scoreStep, numberStep;
};
} // namespace

/// Puts what is better than the last of this row's list into it.
void PairEmitter::topK(const Tile &tile, Value row, ArrayRef<Value> line) {
  Quantity at = arith.add(tile.q0, Quantity::of(row));
  Value best = pointer(states[0], {{q, at}}),
        keys = pointer(states[1], {{q, at}});
  Value last = arith.get(arith.sub(sizes[e], Quantity::of(1)));
  ListInMemory list(code, best, states[0].coef[e], keys, states[1].coef[e]);
  for (int64_t vector : llvm::seq(vectors))
    code.store(line[vector], cell(scores, row, vector));
  for (int64_t vector : llvm::seq(vectors)) {
    // Most vectors hold nothing that is better. Of equal scores, of which a
    // search in a radius has many, only lower keys are.
    Value worst = code.splat(list.scoreAt(last), lanes);
    Value firstKey =
        toI32(arith.get(arith.add(arith.add(tile.k0, Quantity::of(start[k])),
                                  Quantity::of(vector * lanes))));
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       firstKey, list.numberAt(last));
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
    Value enters = list.isBetter(score, number, last);
    auto insert = scf::IfOp::create(b, loc, enters, /*withElseRegion=*/false);
    b.setInsertionPoint(insert.thenBlock()->getTerminator());
    list.insert(score, number, last);
  }
}
