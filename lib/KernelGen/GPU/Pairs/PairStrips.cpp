//===- PairStrips.cpp - Lines of a pair step in shared memory -------------===//
#include "PairStrips.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::pairs;

bool gpukernels::pairs::isInPieces(const Tensor &tensor, unsigned dim) {
  auto type = cast<MemRefType>(tensor.memref.getType());
  int64_t last = type.getRank() - 1, offset;
  SmallVector<int64_t> strides;
  if (last < 0 || !beginsAligned(tensor.memref) || type.isDynamicDim(last) ||
      type.getDimSize(last) == 0 || type.getDimSize(last) % kPieceHalves != 0 ||
      cast<AffineDimExpr>(tensor.map.getResult(last)).getPosition() != dim ||
      failed(type.getStridesAndOffset(strides, offset)))
    return false;
  // Each stride is a multiple of the last dim.
  if (type.getLayout().isIdentity())
    return true;
  auto fits = [](int64_t stride) {
    return ShapedType::isStatic(stride) && stride % kPieceHalves == 0;
  };
  return fits(offset) && strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), fits);
}

std::optional<Strips> gpukernels::pairs::stripsFor(const Step &step,
                                                   const PairPass &pass,
                                                   const TileShape &shape,
                                                   int64_t stages) {
  std::optional<Operands> operands =
      operandsOf(step, pass, shape.rows, shape.columns, pass.features);
  if (!operands)
    return std::nullopt;
  Strips strips;
  strips.factor = operands->factor;
  strips.stages = stages;
  bool fits = true;
  auto put = [&](SmallVector<Strip> &to, ArrayRef<Lines> from) {
    for (const Lines &lines : from) {
      bool isWide = !step.isHalf(*lines.tensor);
      fits &= isInPieces(*lines.tensor, lines.dim) &&
              (!isWide || step.roundsWide(*lines.tensor));
      to.push_back({lines, isWide});
    }
  };
  put(strips.lefts, operands->lefts);
  put(strips.tiles, operands->tiles);
  if (!fits || strips.areaBytes() > kMostBytes)
    return std::nullopt;
  return strips;
}

HalfLines StripCopies::linesOf(ArrayRef<Strip> all, size_t which, Value from) {
  const Strip &strip = all[which];
  return {from, strip.pitchBytes(), strip.isSwizzled(),
          Strips::bytesOf(all.take_front(which))};
}

void StripCopies::load(ArrayRef<Strip> all, Value line, Value to) {
  for (auto [i, strip] : llvm::enumerate(all))
    loadStrip(
        strip, line,
        block.sharedByte(to, block.index(Strips::bytesOf(all.take_front(i)))));
}

void StripCopies::loadStrip(const Strip &strip, Value firstLine, Value area) {
  const Step &step = block.step;
  SmallVector<Value> saved = block.at;
  int64_t perLine = strip.length / kPieceHalves, pieces = strip.lines * perLine;
  int64_t numLines = step.sizeOf(strip.lineDim);
  bool linesFit = ShapedType::isStatic(numLines) && numLines % strip.lines == 0;
  bool partsFit = strip.first + strip.length <= step.sizeOf(strip.dim);
  // Where a thread's pieces are below one another it finds one place.
  bool isStraight = kThreads % perLine == 0;
  Value line0 = block.div(block.thread, perLine),
        part0 = block.rem(block.thread, perLine);
  auto placeOf = [&](Value line, Value part) {
    Value place = strip.isSwizzled() ? swizzledPiece(block, line, part) : part;
    return block.sharedByte(area,
                            block.add(block.mul(line, strip.pitchBytes()),
                                      block.mul(place, 2 * kPieceHalves)));
  };
  auto loadPiece = [&](Value line, Value part, Value to) {
    Value atLine = block.add(firstLine, line);
    Value atPart =
        block.add(block.mul(part, kPieceHalves), block.index(strip.first));
    Value inside;
    if (!linesFit)
      inside = block.lessSigned(atLine, step.sizes[strip.lineDim]);
    if (!partsFit) {
      Value counts = block.lessSigned(atPart, step.sizes[strip.dim]);
      inside = inside ? block.both(inside, counts) : counts;
    }
    block.at[strip.lineDim] =
        inside ? block.choose(inside, atLine, block.index(0)) : atLine;
    block.at[strip.dim] =
        inside ? block.choose(inside, atPart, block.index(0)) : atPart;
    Value from = addressOf(b, loc, strip.tensor->memref,
                           block.subscripts(*strip.tensor));
    if (strip.isWide)
      return loadRounded(from, inside, to);
    Value read;
    if (inside)
      read = block.choose(inside, arith::ConstantIntOp::create(b, loc, 16, 32),
                          arith::ConstantIntOp::create(b, loc, 0, 32));
    NVVM::CpAsyncOp::create(b, loc, to, from, 16u,
                            NVVM::LoadCacheModifierKind::CG, read);
  };
  bool isLean = step.leavesRegisters() || (linesFit && partsFit);
  if (isLean && isStraight && pieces % kThreads == 0) {
    // Eight lines further on, a piece has the same place in its line.
    int64_t linesAtOnce = kThreads / perLine,
            places =
                strip.isSwizzled() && linesAtOnce < 8 ? 8 / linesAtOnce : 1;
    SmallVector<Value> firsts;
    for (int64_t i = 0; i < places; ++i)
      firsts.push_back(
          placeOf(block.add(line0, block.index(i * linesAtOnce)), part0));
    for (int64_t i = 0; i < pieces / kThreads; ++i) {
      int64_t behind = (i - i % places) * linesAtOnce * strip.pitchBytes();
      loadPiece(block.add(line0, block.index(i * linesAtOnce)), part0,
                block.sharedByte(firsts[i % places], block.index(behind)));
    }
  } else {
    // Each has a place of its own to find: not all at once, of few registers.
    auto loop = scf::ForOp::create(b, loc, block.thread, block.index(pieces),
                                   block.index(kThreads));
    setUnrolling(loop, 2);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value piece = loop.getInductionVar();
    Value line = block.div(piece, perLine), part = block.rem(piece, perLine);
    loadPiece(line, part, placeOf(line, part));
  }
  block.at = saved;
}

/// Eight floats, rounded to 16 bits; zeros where they are not `inside`.
void StripCopies::loadRounded(Value from, Value inside, Value to) {
  auto spot = [&](int64_t i) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(i));
  };
  Type type = block.step.type, four = VectorType::get({4}, type);
  Value words =
      LLVM::PoisonOp::create(b, loc, VectorType::get({4}, b.getI32Type()));
  for (int32_t load = 0; load < 2; ++load) {
    Value place = LLVM::GEPOp::create(b, loc, from.getType(), type, from,
                                      ArrayRef<LLVM::GEPArg>{4 * load});
    Value loaded = LLVM::LoadOp::create(b, loc, four, place, /*alignment=*/16);
    for (int64_t pair = 0; pair < 2; ++pair) {
      SmallVector<Value> two;
      for (int64_t i = 0; i < 2; ++i) {
        Value one =
            LLVM::ExtractElementOp::create(b, loc, loaded, spot(2 * pair + i));
        two.push_back(inside ? block.choose(inside, one, block.number(0))
                             : one);
      }
      words = LLVM::InsertElementOp::create(
          b, loc, words,
          splitToHalves(block, two[0], two[1], /*terms=*/1, /*isFinite=*/true)
              .front(),
          spot(2 * load + pair));
    }
  }
  LLVM::StoreOp::create(b, loc, words, to, /*alignment=*/16);
}
