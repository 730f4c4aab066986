//===- TensorCores.cpp - Contractions with mma.sync -----------------------===//
//
// Every contraction is a matrix product: parallel dims that only the left
// operand has are rows, those that only the right one has are columns, those of
// both are a batch, and reduction dims are the depth. A tile of each operand
// comes to shared memory through the indexing maps, so that a convolution reads
// its windows in place and no layout is special; edges are zeros.
//
// A block of four warps makes 64 x 64 results, a warp 32 x 32 of these in two
// by four fragments of mma.m16n8k16.
//
//===----------------------------------------------------------------------===//
#include "Launch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "shardc/KernelGen/Common.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

static constexpr int64_t kTile = 64;  // rows and columns of a block
static constexpr int64_t kDepth = 32; // of one step
static constexpr int64_t kStride =
    40; // of a row in shared memory: no conflicts
static constexpr int64_t kThreads = 128;
static constexpr int64_t kWarpTile = 32;
/// Below these the fragments would be mostly zeros.
static constexpr int64_t kLeastRows = 16, kLeastColumns = 8, kLeastDepth = 16;

namespace {
/// A contraction as a matrix product.
struct Product {
  OpOperand *left = nullptr, *right = nullptr;
  /// The 16-bit values that are multiplied, in the body.
  Value leftValue, rightValue;
  SmallVector<unsigned> batch, rows, columns, depth;
};
} // namespace

/// The 16-bit float that `factor` is widened from, and the operand that it is
/// read from; null if it is anything else.
static Value narrowFactor(linalg::GenericOp op, Value factor,
                          OpOperand *&operand) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  if (!widened || !(widened.getIn().getType().isBF16() ||
                    widened.getIn().getType().isF16()))
    return {};
  Value source = widened.getIn();
  while (Operation *cast = source.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(cast))
      return {};
    source = cast->getOperand(0);
  }
  auto argument = cast<BlockArgument>(source);
  if (argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return {};
  operand = op.getDpsInputOperand(argument.getArgNumber());
  return isa<MemRefType>(operand->get().getType()) ? widened.getIn() : Value();
}

static std::optional<Product> matchProduct(linalg::GenericOp op) {
  if (!isContraction(op))
    return std::nullopt;
  Operation *sum = combinerOf(op, 0);
  if (!isa<arith::AddFOp>(sum) || !sum->getResult(0).getType().isF32())
    return std::nullopt;
  Value term = sum->getOperand(0) == op.getRegionOutputArgs()[0]
                   ? sum->getOperand(1)
                   : sum->getOperand(0);
  auto multiply = term.getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return std::nullopt;
  Product product;
  product.leftValue = narrowFactor(op, multiply.getLhs(), product.left);
  product.rightValue = narrowFactor(op, multiply.getRhs(), product.right);
  if (!product.leftValue || !product.rightValue ||
      product.leftValue.getType() != product.rightValue.getType())
    return std::nullopt;
  AffineMap left = op.getMatchingIndexingMap(product.left);
  AffineMap right = op.getMatchingIndexingMap(product.right);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t rows = 1, columns = 1, depth = 1;
  auto grow = [](int64_t &count, int64_t size) {
    // What is not known is taken to be large.
    count = llvm::SaturatingMultiply<uint64_t>(
        count, ShapedType::isDynamic(size) ? kTile : size);
  };
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inLeft = left.isFunctionOfDim(i), inRight = right.isFunctionOfDim(i);
    if (kind == utils::IteratorType::reduction) {
      product.depth.push_back(i);
      grow(depth, sizes[i]);
    } else if (inLeft && inRight) {
      product.batch.push_back(i);
    } else if (inLeft) {
      product.rows.push_back(i);
      grow(rows, sizes[i]);
    } else if (inRight) {
      product.columns.push_back(i);
      grow(columns, sizes[i]);
    } else if (sizes[i] != 1) {
      return std::nullopt;
    } else {
      product.batch.push_back(i);
    }
  }
  if (rows < kLeastRows || columns < kLeastColumns || depth < kLeastDepth)
    return std::nullopt;
  return product;
}

namespace {
/// Writes the kernel of one product.
class ProductEmitter {
public:
  ProductEmitter(OpBuilder &b, linalg::GenericOp op, const Product &product)
      : b(b), op(op), product(product), loc(op.getLoc()), dims(b, op),
        emitter(b, op), i32(b.getI32Type()), f32(b.getF32Type()),
        element(product.leftValue.getType()) {}

  void emit();

private:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, loc, x, index(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(b, loc, x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(b, loc, x, index(y));
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  /// `value` computed again, from its operand's element at the emitter's point.
  Value element16(Value value, OpOperand &operand);
  /// Brings a tile of `operand` to `tile`: line by depth, from (`line`,
  /// `from`).
  void bring(OpOperand &operand, Value value, ArrayRef<unsigned> lines,
             Value line, Value numLines, Value from, Value tile);
  /// Fragments of the 16 x 16 part of `tile` at (`line`, `at`), or of 8 x 16.
  SmallVector<Value> fragment(Value tile, Value line, int64_t at, bool wide);
  SmallVector<Value> multiply(ArrayRef<Value> left, ArrayRef<Value> right,
                              ArrayRef<Value> sum);
  void store(ArrayRef<Value> sums, Value row, Value column);

  OpBuilder &b;
  linalg::GenericOp op;
  const Product &product;
  Location loc;
  Dims dims;
  PointEmitter emitter;
  Type i32, f32, element;
  Value thread, lane, rows, columns, depth;
};
} // namespace

Value ProductEmitter::element16(Value value, OpOperand &operand) {
  SmallVector<Operation *> casts;
  while (Operation *cast = value.getDefiningOp()) {
    casts.push_back(cast);
    value = cast->getOperand(0);
  }
  Value result = memref::LoadOp::create(b, loc, operand.get(),
                                        emitter.subscripts(operand));
  for (Operation *cast : llvm::reverse(casts)) {
    Operation *copy = b.clone(*cast);
    copy->setOperand(0, result);
    result = copy->getResult(0);
  }
  return result;
}

void ProductEmitter::bring(OpOperand &operand, Value value,
                           ArrayRef<unsigned> lines, Value line, Value numLines,
                           Value from, Value tile) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value first = index(0);
  auto loop = scf::ForOp::create(b, loc, thread, index(kTile * kDepth),
                                 index(kThreads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value ownLine = div(loop.getInductionVar(), kDepth);
  Value ownDepth = rem(loop.getInductionVar(), kDepth);
  Value atLine = add(line, ownLine), atDepth = add(from, ownDepth);
  Value inside = arith::AndIOp::create(b, loc, less(atLine, numLines),
                                       less(atDepth, depth));
  // What lies past an edge reads the first element, and is zero.
  atLine = arith::SelectOp::create(b, loc, inside, atLine, first);
  atDepth = arith::SelectOp::create(b, loc, inside, atDepth, first);
  dims.place(b, loc, emitter, lines, atLine);
  dims.place(b, loc, emitter, product.depth, atDepth);
  Value read = element16(value, operand);
  read = arith::SelectOp::create(b, loc, inside, read, zero);
  memref::StoreOp::create(b, loc, read, tile, ValueRange{ownLine, ownDepth});
}

SmallVector<Value> ProductEmitter::fragment(Value tile, Value line, int64_t at,
                                            bool wide) {
  // Lanes name the rows of the 8 x 8 parts: those of the upper left one, of the
  // lower left one (wide), and of the two to the right of these.
  Value row = add(line, rem(lane, wide ? 16 : 8));
  Value part = wide ? div(lane, 16) : rem(div(lane, 8), 2);
  Value column = add(index(at), mul(part, 8));
  Value offset = add(mul(row, kStride * 2), mul(column, 2));
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, tile);
  Value address =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), add(base, offset));
  Value pointer = LLVM::IntToPtrOp::create(b, loc, ptr, address);
  int64_t count = wide ? 4 : 2;
  SmallVector<Type> words(count, i32);
  Type type = LLVM::LLVMStructType::getLiteral(b.getContext(), words);
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(
      b, loc, type, pointer, static_cast<uint32_t>(count), NVVM::MMALayout::row,
      shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(
        LLVM::ExtractValueOp::create(b, loc, loaded, ArrayRef<int64_t>{i}));
  return result;
}

SmallVector<Value> ProductEmitter::multiply(ArrayRef<Value> left,
                                            ArrayRef<Value> right,
                                            ArrayRef<Value> sum) {
  bool isBF16 = element.isBF16();
  auto operands = [&](ArrayRef<Value> words) {
    if (isBF16)
      return llvm::to_vector(words);
    Type pair = VectorType::get({2}, element);
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return LLVM::BitcastOp::create(b, loc, pair, word);
    });
  };
  NVVM::MMATypes kind = isBF16 ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  SmallVector<Type> types(4, f32);
  Value made = NVVM::MmaOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      operands(left), operands(right), sum, ArrayRef<int64_t>{16, 8, 16},
      std::nullopt, std::nullopt, std::array{kind, kind},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> result;
  for (int64_t i = 0; i < 4; ++i)
    result.push_back(
        LLVM::ExtractValueOp::create(b, loc, made, ArrayRef<int64_t>{i}));
  return result;
}

void ProductEmitter::store(ArrayRef<Value> sums, Value row, Value column) {
  OpOperand &output = *op.getDpsInitOperand(0);
  for (int64_t i = 0; i < 4; ++i) {
    Value atRow = add(row, add(div(lane, 4), index(i / 2 * 8)));
    Value atColumn = add(column, add(mul(rem(lane, 4), 2), index(i % 2)));
    Value inside = arith::AndIOp::create(b, loc, less(atRow, rows),
                                         less(atColumn, columns));
    auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    dims.place(b, loc, emitter, product.rows, atRow);
    dims.place(b, loc, emitter, product.columns, atColumn);
    Value start = emitter.loadOutput(output);
    emitter.storeOutput(output, arith::AddFOp::create(b, loc, start, sums[i]));
  }
}

void ProductEmitter::emit() {
  rows = dims.count(b, loc, product.rows);
  columns = dims.count(b, loc, product.columns);
  depth = dims.count(b, loc, product.depth);
  Value batch = dims.count(b, loc, product.batch);
  Value tile = index(kTile);
  Value rowTiles = arith::CeilDivUIOp::create(b, loc, rows, tile);
  Value columnTiles = arith::CeilDivUIOp::create(b, loc, columns, tile);
  Value blocks = gpukernels::product(b, loc, {rowTiles, columnTiles, batch});
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, kThreads);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto area = MemRefType::get({kTile, kStride}, element,
                              MemRefLayoutAttrInterface(), shared);
  Value leftTile = launch.addWorkgroupAttribution(area, loc);
  Value rightTile = launch.addWorkgroupAttribution(area, loc);

  thread = launch.getThreadIds().x;
  lane = rem(thread, kWarp);
  Value warp = div(thread, kWarp);
  Value block = launch.getBlockIds().x;
  Value columnTile = arith::RemUIOp::create(b, loc, block, columnTiles);
  block = arith::DivUIOp::create(b, loc, block, columnTiles);
  Value rowTile = arith::RemUIOp::create(b, loc, block, rowTiles);
  dims.place(b, loc, emitter, product.batch,
             arith::DivUIOp::create(b, loc, block, rowTiles));
  Value row = mul(rowTile, kTile), column = mul(columnTile, kTile);
  Value warpRow = mul(div(warp, 2), kWarpTile);
  Value warpColumn = mul(rem(warp, 2), kWarpTile);

  constexpr int64_t high = kWarpTile / 16, wide = kWarpTile / 8;
  Value none = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  SmallVector<Value> sums(high * wide * 4, none);
  auto loop = scf::ForOp::create(b, loc, index(0), depth, index(kDepth), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value from = loop.getInductionVar();
    bring(*product.left, product.leftValue, product.rows, row, rows, from,
          leftTile);
    bring(*product.right, product.rightValue, product.columns, column, columns,
          from, rightTile);
    gpu::BarrierOp::create(b, loc);
    SmallVector<Value> next =
        llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    for (int64_t at = 0; at < kDepth; at += 16) {
      SmallVector<SmallVector<Value>> lefts, rights;
      for (int64_t i = 0; i < high; ++i)
        lefts.push_back(
            fragment(leftTile, add(warpRow, index(16 * i)), at, true));
      for (int64_t j = 0; j < wide; ++j)
        rights.push_back(
            fragment(rightTile, add(warpColumn, index(8 * j)), at, false));
      for (int64_t i = 0; i < high; ++i)
        for (int64_t j = 0; j < wide; ++j) {
          MutableArrayRef<Value> sum =
              MutableArrayRef(next).slice((i * wide + j) * 4, 4);
          llvm::copy(multiply(lefts[i], rights[j], sum), sum.begin());
        }
    }
    // The tiles are overwritten in the next step.
    gpu::BarrierOp::create(b, loc);
    scf::YieldOp::create(b, loc, next);
  }
  SmallVector<Value> results = llvm::to_vector_of<Value>(loop.getResults());
  row = add(row, warpRow);
  column = add(column, warpColumn);
  for (int64_t i = 0; i < high; ++i)
    for (int64_t j = 0; j < wide; ++j)
      store(ArrayRef(results).slice((i * wide + j) * 4, 4),
            add(row, index(16 * i)), add(column, index(8 * j)));
}

bool gpukernels::launchOnTensorCores(linalg::GenericOp op) {
  std::optional<Product> product = matchProduct(op);
  if (!product)
    return false;
  OpBuilder b(op);
  ProductEmitter(b, op, *product).emit();
  return true;
}
