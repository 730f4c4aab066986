//===- CallLines.cpp - Calls of the runtime for lines and matrices --------===//
//
// What shardrt/LineCall.h and shardrt/MatrixCall.h declare, as words in the
// function's frame: sorts and transforms of lines, decompositions of matrices.
//
//===----------------------------------------------------------------------===//
#include "CallLines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"
#include "shardc/Support/ElementBytes.h"
#include "shardrt/LineCall.h"
#include "shardrt/MatrixCall.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static int64_t orderWord(LineComparison comparison, Type element) {
  switch (comparison) {
  case LineComparison::Signed:
    return SHARDRT_SORT_SIGNED;
  case LineComparison::Unsigned:
    return SHARDRT_SORT_UNSIGNED;
  case LineComparison::Total:
    return SHARDRT_SORT_TOTAL;
  case LineComparison::Numbers:
    return element.isF16() ? SHARDRT_SORT_NUMBERS_HALF : SHARDRT_SORT_NUMBERS;
  }
  llvm_unreachable("all comparisons are listed");
}

static bool isTransform(LinesOp op) {
  return op && op.getKind() == LineKind::Fourier && op.getInputs().size() == 3;
}

static bool isInPlace(LinesOp op) {
  return op.getInputs().front() == op.getInits().front();
}

/// The transform that comes next and goes on with what `op` leaves.
static LinesOp nextTransform(LinesOp op) {
  Operation *next = op->getNextNode();
  while (next && isMemoryEffectFree(next) && next->getNumRegions() == 0)
    next = next->getNextNode();
  auto lines = dyn_cast_or_null<LinesOp>(next);
  if (!isTransform(lines) ||
      lines.getInputs().front() != op.getInits().front() ||
      lines.getDim() == op.getDim())
    return nullptr;
  return lines;
}

static SmallVector<SmallVector<LinesOp>>
groupTransforms(func::FuncOp function) {
  SmallVector<SmallVector<LinesOp>> groups;
  llvm::DenseMap<Operation *, size_t> groupOf;
  function.walk([&](LinesOp op) {
    if (!isTransform(op))
      return;
    auto [at, isNew] = groupOf.try_emplace(op, groups.size());
    if (isNew)
      groups.push_back({op});
    size_t number = at->second;
    SmallVector<LinesOp> &group = groups[number];
    LinesOp next = nextTransform(op);
    if (!next || (!isInPlace(next) && !llvm::all_of(group, isInPlace)))
      return;
    if (group.size() > 1 && (group[0].getDim() < group[1].getDim()) !=
                                (op.getDim() < next.getDim()))
      return;
    groupOf[next] = number;
    group.push_back(next);
  });
  return groups;
}

/// Writes down what shardrt_transform_dims reads of `op`.
static void writeTransform(LinesOp op, bool isLast, int64_t threads,
                           OpBuilder &builder, SmallVectorImpl<Value> &words) {
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  auto address = [&](Value buffer) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, i64,
                                    pointerTo(builder, loc, buffer));
  };
  Value source = op.getInputs()[0], cosines = op.getInputs()[1],
        result = op.getInits()[0];
  auto type = cast<MemRefType>(source.getType());
  int64_t real = SHARDRT_TRANSFORM_COMPLEX, rank = type.getRank();
  if (!isa<ComplexType>(type.getElementType()))
    real = SHARDRT_TRANSFORM_FROM_REAL;
  else if (!isa<ComplexType>(
               cast<MemRefType>(result.getType()).getElementType()))
    real = SHARDRT_TRANSFORM_TO_REAL;
  auto table = cast<MemRefType>(cosines.getType());
  Value factor = op.getStarts()[0];
  if (factor.getType() != f64)
    factor = arith::ExtFOp::create(builder, loc, f64, factor);
  words.append(
      {word(elementBytes(table.getElementType())), word(op.getBackward()),
       arith::BitcastOp::create(builder, loc, i64, factor), word(threads),
       word(rank), word(op.getDim()), address(source), address(result),
       address(cosines), address(op.getInputs()[2]), word(table.getDimSize(0)),
       word(real), word(isLast ? 0 : SHARDRT_TRANSFORM_HEAD + 3 * rank)});
  auto ofSource =
      memref::ExtractStridedMetadataOp::create(builder, loc, source);
  auto ofResult =
      memref::ExtractStridedMetadataOp::create(builder, loc, result);
  for (ValueRange list :
       {ValueRange(ofSource.getSizes()), ValueRange(ofSource.getStrides()),
        ValueRange(ofResult.getStrides())})
    for (Value number : list)
      words.push_back(arith::IndexCastOp::create(builder, loc, i64, number));
}

static void lowerTransforms(ArrayRef<LinesOp> group, Value context,
                            int64_t threads, EntryPoints &entries) {
  LinesOp last = group.back();
  OpBuilder builder(last);
  SmallVector<Value> words;
  for (LinesOp op : group)
    writeTransform(op, op == last, threads, builder, words);
  Value area = storeWords(builder, last, words);
  entries.call(builder, last.getLoc(), "shardrt_transform_dims",
               {context, area});
  for (LinesOp op : group)
    op.erase();
}

void shardc::lowerTransforms(func::FuncOp function, Value context,
                             int64_t threads, EntryPoints &entries) {
  for (ArrayRef<LinesOp> group : groupTransforms(function))
    ::lowerTransforms(group, context, threads, entries);
}

/// Writes down what shardrt_sort_lines reads.
static LogicalResult lowerSort(LinesOp op, Value context, int64_t threads,
                               EntryPoints &entries) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  auto asWord = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, i64, index);
  };
  auto bytesOf = [](Value buffer) {
    return elementBytes(cast<MemRefType>(buffer.getType()).getElementType());
  };
  ValueRange inputs = op.getInputs(), inits = op.getInits();
  auto type = cast<MemRefType>(inputs.front().getType());
  int64_t rank = type.getRank(), dim = op.getDim();
  LineOrderAttr order = contract::LineOrder::get(op);
  Value keep = memref::DimOp::create(builder, loc, inits.front(), dim);
  SmallVector<Value> words{
      word(orderWord(order.getComparison(), type.getElementType())),
      word(order.getDescending()),
      word(threads),
      asWord(keep),
      word(inputs.size()),
      word(op.getPositions() ? bytesOf(inits.back()) : 0),
      word(rank),
      word(dim)};
  for (int64_t i = 0; i < rank; ++i)
    words.push_back(
        asWord(memref::DimOp::create(builder, loc, inputs.front(), i)));
  auto address = [&](Value buffer) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, i64,
                                    pointerTo(builder, loc, buffer));
  };
  auto addStrides = [&](Value buffer) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    for (Value stride : metadata.getStrides())
      words.push_back(asWord(stride));
  };
  for (auto [i, init] : llvm::enumerate(inits)) {
    bool isPosition = i == inputs.size();
    // Keys are compared, and often nobody asks for them: a place in the arena
    // that only this writes.
    bool isWanted =
        i > 0 || !init.getDefiningOp<memref::ViewOp>() || !init.hasOneUse();
    words.push_back(word(bytesOf(init)));
    words.push_back(isPosition ? word(0) : address(inputs[i]));
    words.push_back(isWanted ? address(init) : word(0));
    addStrides(isPosition ? init : inputs[i]);
    addStrides(init);
  }
  Value area = storeWords(builder, op, words);
  entries.call(builder, loc, "shardrt_sort_lines", {context, area});
  op.erase();
  return success();
}

static LogicalResult lowerLines(LinesOp op, Value context, int64_t threads,
                                EntryPoints &entries) {
  if (op.getKind() == LineKind::Sort && contract::LineOrder::has(op))
    return lowerSort(op, context, threads, entries);
  return op.emitOpError() << "is for kernels of GPUs: the runtime transforms "
                             "numbers that are whole, and sorts lines whose "
                          << contract::LineOrder::name() << " is said";
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

// SHARDRT_MATRIX_KIND of each op.
static int64_t kindOf(EighOp op) {
  return op.getUpper() ? SHARDRT_EIGH_UPPER : SHARDRT_EIGH_LOWER;
}
static int64_t kindOf(SvdOp) { return 0; }
static int64_t kindOf(QrOp) { return SHARDRT_HOUSEHOLDER_QR; }
static int64_t kindOf(HessenbergOp) { return SHARDRT_HOUSEHOLDER_HESSENBERG; }
static int64_t kindOf(HouseholderProductOp) {
  return SHARDRT_HOUSEHOLDER_PRODUCT;
}

/// Writes down what shardrt_eigh, shardrt_svd or shardrt_householder reads.
template <typename OpT>
static void lowerMatrices(OpT op, Value context, int64_t threads,
                          EntryPoints &entries) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type();
  auto type = cast<MemRefType>(op.getInput().getType());
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  Type part = complex ? complex.getElementType() : type.getElementType();
  constexpr bool isEigh = std::is_same_v<OpT, EighOp>,
                 isSvd = std::is_same_v<OpT, SvdOp>;
  SmallVector<Value> words;
  auto addWord = [&](int64_t number) {
    words.push_back(arith::ConstantIntOp::create(builder, loc, number, 64));
  };
  // In the order of shardrt_matrix_word.
  addWord(elementBytes(part));
  addWord(bool(complex));
  addWord(threads);
  addWord(type.getRank());
  addWord(op.getFixedLevel());
  addWord(kindOf(op));
  SmallVector<Value> buffers(op->getOperands());
  if constexpr (isEigh || isSvd) {
    addWord(op.getInits().size());
  } else {
    addWord(cast<MemRefType>(op.getTaus().getType()).getShape().back());
    buffers = {op.getInput(), op.getPacked(), op.getTaus()};
  }
  auto asWord = [&](Value index) {
    words.push_back(arith::IndexCastOp::create(builder, loc, i64, index));
  };
  for (int64_t i = 0; i < type.getRank(); ++i)
    asWord(memref::DimOp::create(builder, loc, op.getInput(), i));
  for (Value buffer : buffers) {
    words.push_back(LLVM::PtrToIntOp::create(builder, loc, i64,
                                             pointerTo(builder, loc, buffer)));
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    llvm::for_each(metadata.getStrides(), asWord);
  }
  Value area = storeWords(builder, op, words);
  entries.call(builder, loc,
               isEigh  ? "shardrt_eigh"
               : isSvd ? "shardrt_svd"
                       : "shardrt_householder",
               {context, area});
  op.erase();
}

LogicalResult shardc::lowerAlgorithm(Operation *op, Value context,
                                     int64_t threads, EntryPoints &entries) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LinesOp lines) {
        return lowerLines(lines, context, threads, entries);
      })
      .Case<EighOp, SvdOp, QrOp, HessenbergOp, HouseholderProductOp>(
          [&](auto matrices) {
            lowerMatrices(matrices, context, threads, entries);
            return success();
          })
      .Default([](Operation *) { return success(); });
}
