//===- Points.cpp - Elementwise work, and transposes ----------------------===//
#include "Points.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "shardc/Support/IndexBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Side of a tile that is transposed in shared memory. [shape]
static constexpr int64_t kSide = 32;
/// Inputs that are transposed at once: tiles of them fit shared memory. [shape]
static constexpr size_t kMostTransposed = 4;
/// Below this a side is not worth it. [shape]
static constexpr int64_t kLeastSide = 16;
/// Neighbours of a thread, at most. [shape]
static constexpr int64_t kMostLanes = 8;

/// The dim that alone is the last subscript of `operand`, if it is in memory
/// and steps by single elements there.
static std::optional<unsigned> innermostDim(linalg::GenericOp op,
                                            OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || map.getNumResults() == 0 ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

bool gpukernels::launchTransposed(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0)
    return false;
  // Results go along `across`, inputs that are transposed along `along`.
  std::optional<unsigned> across, along;
  for (OpOperand &output : op.getDpsInitsMutable()) {
    std::optional<unsigned> dim = innermostDim(op, output);
    if (!dim || (across && across != dim))
      return false;
    across = dim;
  }
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  auto isWide = [&](unsigned dim) {
    return ShapedType::isDynamic(known[dim]) || known[dim] >= kLeastSide;
  };
  SmallVector<OpOperand *> transposed;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<unsigned> dim = innermostDim(op, *input);
    if (!dim || dim == across || (along && along != dim) || !isWide(*dim) ||
        !op.getMatchingIndexingMap(input).isFunctionOfDim(*across) ||
        op.getMatchingBlockArgument(input).use_empty())
      continue;
    along = dim;
    transposed.push_back(input);
  }
  if (transposed.empty() || transposed.size() > kMostTransposed ||
      !isWide(*across))
    return false;

  OpBuilder b(op);
  Location loc = op.getLoc();
  Dims dims(b, op);
  if (dims.points == 0)
    return false;
  PointEmitter emitter(b, op);
  IndexBuilder indices(b, loc);
  Value side = indices.index(kSide);
  auto tilesOf = [&](unsigned dim) -> Value {
    return arith::CeilDivUIOp::create(b, loc, dims.sizes[dim], side);
  };
  SmallVector<unsigned> others;
  for (unsigned dim : dims.parallel)
    if (dim != *across && dim != *along)
      others.push_back(dim);
  Value acrossTiles = tilesOf(*across), alongTiles = tilesOf(*along);
  Value blocks =
      product(b, loc, {acrossTiles, alongTiles, dims.count(b, loc, others)});
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, kBlock);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  DenseMap<OpOperand *, Value> tiles;
  for (OpOperand *input : transposed)
    tiles[input] = launch.addWorkgroupAttribution(
        // One more than a side: columns use all banks.
        MemRefType::get(
            {kSide, kSide + 1},
            cast<MemRefType>(input->get().getType()).getElementType(),
            MemRefLayoutAttrInterface(), shared),
        loc);
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) -> Value {
    Value mine = indices.rem(block, count);
    block = indices.div(block, count);
    return mine;
  };
  Value firstAcross = indices.mul(take(acrossTiles), side);
  Value firstAlong = indices.mul(take(alongTiles), side);
  dims.place(b, loc, emitter, others, block);
  Value lane = indices.rem(launch.getThreadIds().x, side);
  Value line = indices.div(launch.getThreadIds().x, side);
  // `fast` is the dim that a warp's lanes go along.
  auto lines = [&](unsigned fast, Value firstFast, unsigned slow,
                   Value firstSlow, llvm::function_ref<void(Value)> body) {
    for (int64_t step = 0; step < kSide; step += kBlock / kSide) {
      Value own = indices.add(line, indices.index(step));
      emitter.at()[fast] = indices.add(firstFast, lane);
      emitter.at()[slow] = indices.add(firstSlow, own);
      Value inside =
          indices.both(indices.less(emitter.at()[fast], dims.sizes[fast]),
                       indices.less(emitter.at()[slow], dims.sizes[slow]));
      auto guard = scf::IfOp::create(b, loc, inside, false);
      OpBuilder::InsertionGuard insertion(b);
      b.setInsertionPointToStart(guard.thenBlock());
      body(own);
    }
  };
  lines(*along, firstAlong, *across, firstAcross, [&](Value own) {
    for (OpOperand *input : transposed)
      memref::StoreOp::create(b, loc, emitter.load(*input), tiles[input],
                              ValueRange{own, lane});
  });
  gpu::BarrierOp::create(b, loc);
  lines(*across, firstAcross, *along, firstAlong, [&](Value own) {
    SmallVector<Value> current;
    for (auto [output, argument] :
         llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs()))
      current.push_back(argument.use_empty() ? Value()
                                             : emitter.loadOutput(output));
    SmallVector<Value> results =
        emitter.body(current, [&](OpOperand &input) -> Value {
          auto tile = tiles.find(&input);
          if (tile == tiles.end())
            return emitter.load(input);
          return memref::LoadOp::create(b, loc, tile->second,
                                        ValueRange{lane, own});
        });
    for (auto [output, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), results))
      emitter.storeOutput(output, value);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Several neighbours at once
//===----------------------------------------------------------------------===//

static bool isPlainNumber(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
}

Lanes::Lanes(linalg::GenericOp op, unsigned dim) : op(op), dim(dim) {
  int64_t size = op.getStaticLoopRanges()[dim], most = kMostLanes;
  if (ShapedType::isDynamic(size))
    return;
  // As many as leave no operand more than 16 bytes of them.
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (isa<MemRefType>(operand.get().getType()) && isPlainNumber(element))
      most = std::min<int64_t>(most, 128 / element.getIntOrFloatBitWidth());
  }
  lanes = most;
  bool reduces = op.getNumReductionLoops() != 0;
  auto isNoVector = [&](OpOperand *operand) { return !isVector(*operand); };
  SmallVector<OpOperand *> deciding = op.getDpsInputOperands();
  if (!reduces)
    deciding = llvm::map_to_vector(op.getDpsInitsMutable(),
                                   [](OpOperand &output) { return &output; });
  if (most < 2 || size % most != 0 ||
      (reduces ? llvm::all_of(deciding, isNoVector)
               : llvm::any_of(deciding, isNoVector)))
    lanes = 1;
}

bool Lanes::isVector(OpOperand &operand) {
  return isa<MemRefType>(operand.get().getType()) &&
         isPlainNumber(getElementTypeOrSelf(operand.get().getType())) &&
         runOf(op, operand, dim) % lanes == 0;
}

SmallVector<Value> Lanes::emit(OpBuilder &b, PointEmitter &emitter,
                               ArrayRef<Value> current) {
  Location loc = op.getLoc();
  IndexBuilder indices(b, loc);
  Value first = emitter.at()[dim];
  bool reduces = op.getNumReductionLoops() != 0;
  auto typeOf = [&](OpOperand &operand) {
    return VectorType::get({lanes},
                           getElementTypeOrSelf(operand.get().getType()));
  };
  auto alignment = [&](OpOperand &operand) {
    return llvm::MaybeAlign(lanes * typeOf(operand).getElementTypeBitWidth() /
                            8);
  };
  DenseMap<OpOperand *, Value> loaded; // a vector, or what all lanes share
  auto loadAll = [&](OpOperand &operand) {
    if (isVector(operand))
      loaded[&operand] = vector::LoadOp::create(
          b, loc, typeOf(operand), operand.get(), emitter.subscripts(operand),
          /*nontemporal=*/false, alignment(operand));
    else if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim))
      loaded[&operand] = emitter.load(operand);
  };
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()) &&
        !op.getMatchingBlockArgument(input).use_empty())
      loadAll(*input);
  for (OpOperand &output : op.getDpsInitsMutable())
    if (!reduces && !op.getMatchingBlockArgument(&output).use_empty())
      loadAll(output);
  SmallVector<SmallVector<Value>> results(op.getNumDpsInits());
  SmallVector<Value> sums(current);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    emitter.at()[dim] = indices.add(first, indices.index(lane));
    auto elementOf = [&](OpOperand &operand) -> Value {
      auto value = loaded.find(&operand);
      if (value == loaded.end())
        return emitter.load(operand);
      if (!isa<VectorType>(value->second.getType()))
        return value->second;
      return vector::ExtractOp::create(b, loc, value->second, lane);
    };
    SmallVector<Value> before(sums);
    for (OpOperand &output : op.getDpsInitsMutable())
      if (!reduces)
        before.push_back(op.getMatchingBlockArgument(&output).use_empty()
                             ? Value()
                             : elementOf(output));
    SmallVector<Value> made = emitter.body(before, elementOf);
    if (reduces)
      sums = made;
    for (auto [i, value] : llvm::enumerate(made))
      results[i].push_back(value);
  }
  emitter.at()[dim] = first;
  if (reduces)
    return sums;
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value all =
        vector::FromElementsOp::create(b, loc, typeOf(output), results[i]);
    vector::StoreOp::create(b, loc, all, output.get(),
                            emitter.subscripts(output), /*nontemporal=*/false,
                            alignment(output));
  }
  return {};
}

bool gpukernels::launchVectors(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() == 0)
    return false;
  Lanes lanes(op, op.getNumLoops() - 1);
  if (lanes.count() < 2)
    return false;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Dims dims(b, op);
  if (dims.points == 0)
    return false;
  Value total = dims.count(b, loc, dims.parallel);
  IndexBuilder indices(b, loc);
  total = indices.div(total, lanes.count());
  Value number = beginLaunchOf(b, loc, total, kBlock);
  PointEmitter emitter(b, op);
  dims.place(b, loc, emitter, dims.parallel,
             indices.mul(number, lanes.count()));
  lanes.emit(b, emitter);
  return true;
}
