//===- LowerCommunication.cpp - Communication ops to numbered sites -------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Dialect/Spmd/IR/SpmdViews.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/Slices.h"
#include "shardc/Support/UserLocation.h"

namespace shardc {
#define GEN_PASS_DEF_LOWERCOMMUNICATIONPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
struct SiteCollector {
  MeshAttr mesh;
  SmallVector<Attribute> sites;

  /// What uses each plan.
  struct Uses {
    bool gathers = false, scatters = false;
  };
  llvm::DenseMap<Operation *, Uses> uses;

  /// Appends the site of `op` and returns its number; emits an error on
  /// failure.
  FailureOr<int64_t> add(CommunicationOpInterface op);
};
} // namespace

/// The shape of the whole of a tensor of `type`, whose cut dims are listed.
static DenseI64ArrayAttr wholeShape(RankedTensorType type, ArrayAttr dims) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto dim : dims.getAsRange<DimExchangeAttr>())
    shape[dim.getDim()] = dim.getSize();
  return DenseI64ArrayAttr::get(type.getContext(), shape);
}

FailureOr<int64_t> SiteCollector::add(CommunicationOpInterface op) {
  MLIRContext *context = op.getContext();
  Builder builder(context);
  auto source = cast<RankedTensorType>(op.getSource().getType());
  if (!elementTypeOf(source.getElementType()))
    return op->emitOpError()
           << "moves elements of type " << source.getElementType()
           << ", which the runtime cannot";
  auto wait = dyn_cast<ExchangeWaitOp>(*op);
  StringAttr report = builder.getStringAttr(
      wait ? wait.getKind() : op->getName().stripDialect());
  StringAttr location = builder.getStringAttr(userLocation(op->getLoc()));

  SiteKind kind = SiteKind::Exchange;
  std::optional<ReductionKind> reduction;
  ArrayAttr group, dims, parts;
  RankedTensorType tensor;
  SiteRowsAttr rows;
  auto rowsFrom = [&](int64_t first) {
    return SiteRowsAttr::get(context, /*vector_dim=*/0, first, false, false, {},
                             {}, {});
  };
  if (auto exchange = dyn_cast<ExchangeOpInterface>(*op)) {
    tensor = source;
    dims = exchange.getDims();
    parts = exchange.getArriving();
  } else if (auto reduce = dyn_cast<AllReduceOp>(*op)) {
    kind = SiteKind::AllReduce;
    reduction = reduce.getKind();
    group = reduce.getAxes();
  } else if (auto scatter = dyn_cast<ReduceScatterOp>(*op)) {
    kind = SiteKind::ReduceScatter;
    reduction = scatter.getKind();
    group = scatter.getAxes();
    tensor = source;
    dims = scatter.getDims();
  } else if (auto plan = dyn_cast<RowPlanOp>(*op)) {
    kind = SiteKind::RowPlan;
    tensor = source;
    dims = plan.getDims();
    Uses use = uses.lookup(plan);
    rows = SiteRowsAttr::get(
        context, plan.getVectorDim(), /*first=*/0, use.gathers, use.scatters,
        plan.getComponentsAttr(), plan.getSlicesAttr(), plan.getRows());
  } else if (auto gather = dyn_cast<GatherRowsOp>(*op)) {
    kind = SiteKind::GatherRows;
    tensor = source;
    dims = gather.getDims();
    rows = rowsFrom(gather.getFirst());
    uses[gather.getRowPlan()].gathers = true;
  } else {
    auto scatter = cast<ScatterRowsOp>(*op);
    kind = SiteKind::ScatterRows;
    reduction = scatter.getKind();
    tensor = cast<RankedTensorType>(scatter.getInto().getType());
    dims = scatter.getDims();
    rows = rowsFrom(scatter.getFirst());
    uses[scatter.getRowPlan()].scatters = true;
  }
  if (auto type = dyn_cast<FloatType>(source.getElementType());
      reduction && type && type.getWidth() < 16)
    return emitOpUnsupported(op, ": ranks do not combine elements of ")
           << type << "; convert to a wider type first";
  sites.push_back(
      SiteAttr::get(context, kind, report, source.getElementType(), reduction,
                    op.getReasonAttr(), location, /*in_place=*/false,
                    /*released_later=*/false, group,
                    tensor ? wholeShape(tensor, dims) : DenseI64ArrayAttr(),
                    dims, parts, rows));
  return static_cast<int64_t>(sites.size()) - 1;
}

/// This rank's size of dim `dim`, of what it owns or needs by the tables in
/// `dims`; null if the dim is not listed.
static Value sizeByTable(OpBuilder &builder, Location loc, ArrayAttr dims,
                         int64_t dim, bool needed, FlatSymbolRefAttr mesh) {
  for (auto attr : dims.getAsRange<DimExchangeAttr>()) {
    if (attr.getDim() != dim)
      continue;
    return lookUpSize(builder, loc, attr, needed, mesh);
  }
  return {};
}

/// A destination of `type`, whose `?` dims are what `dims` say each rank needs,
/// or those of `like`.
static Value createDestination(OpBuilder &builder, Location loc,
                               RankedTensorType type, ArrayAttr dims,
                               FlatSymbolRefAttr mesh, Value like) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i))
      continue;
    Value size = dims
                     ? sizeByTable(builder, loc, dims, i, /*needed=*/true, mesh)
                     : Value();
    if (!size)
      size = tensor::DimOp::create(builder, loc, like, i);
    sizes.push_back(size);
  }
  // Not tensor.empty: a destination inside another tensor would not be dense.
  return bufferization::AllocTensorOp::create(builder, loc, type, sizes);
}

/// A destination for `op`: each `?` dim is one of the operand, of the indices
/// or of a slice.
static Value createPositions(OpBuilder &builder, GatherRowsOp op) {
  RowPlanOp plan = op.getRowPlan();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t first = op.getFirst(), vectorDim = plan.getVectorDim();
  int64_t batch = cast<RankedTensorType>(plan.getIndices().getType()).getRank();
  batch -= vectorDim < batch;
  SmallVector<int64_t> sliced;
  for (auto [i, slice] : llvm::enumerate(plan.getSlices()))
    if (slice != 1)
      sliced.push_back(i);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    int64_t place = dim - first - batch, numSliced = sliced.size();
    Value size, like = op.getOperand();
    int64_t likeDim = dim;
    if (dim >= first && place < 0) {
      like = plan.getIndices();
      likeDim = dim - first < vectorDim ? dim - first : dim - first + 1;
      size = sizeByTable(builder, op.getLoc(), plan.getDims(), likeDim,
                         /*needed=*/false, op.getMeshAttr());
    } else if (dim >= first && place < numSliced) {
      size = sizeByTable(builder, op.getLoc(), plan.getRows(), sliced[place],
                         /*needed=*/true, op.getMeshAttr());
    } else {
      if (dim >= first)
        likeDim = first + plan.getRows().size() + place - numSliced;
      size = sizeByTable(builder, op.getLoc(), op.getDims(), likeDim,
                         /*needed=*/false, op.getMeshAttr());
    }
    if (!size)
      size = tensor::DimOp::create(builder, op.getLoc(), like, likeDim);
    sizes.push_back(size);
  }
  return bufferization::AllocTensorOp::create(builder, op.getLoc(), type,
                                              sizes);
}

static LogicalResult lowerSite(CommunicationOpInterface op,
                               SiteCollector &sites) {
  FailureOr<int64_t> number = sites.add(op);
  if (failed(number))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> inputs{op.getSource()};
  IntegerAttr siteAttr = builder.getI64IntegerAttr(*number);
  if (auto plan = dyn_cast<RowPlanOp>(*op)) {
    auto site = StartSiteOp::create(builder, loc, builder.getI64Type(),
                                    plan.getIndices().getType(), siteAttr,
                                    plan.getIndices());
    plan.getPlan().replaceAllUsesWith(site.getToken());
    plan.erase();
    return success();
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<GatherRowsOp, ScatterRowsOp>(*op)) {
    auto gather = dyn_cast<GatherRowsOp>(*op);
    Value init = gather ? createPositions(builder, gather)
                        : cast<ScatterRowsOp>(*op).getInto();
    auto site = RunSiteOp::create(builder, loc, TypeRange(type), siteAttr,
                                  op->getOperand(0), inputs, init);
    site.setAccumulates(!gather);
    op->replaceAllUsesWith(site.getResults());
    op->erase();
    return success();
  }
  ArrayAttr dims;
  if (auto exchange = dyn_cast<ExchangeOpInterface>(*op)) {
    dims = exchange.getDims();
    if (Value fill = exchange.getFillValue())
      inputs.push_back(fill);
  } else if (auto scatter = dyn_cast<ReduceScatterOp>(*op)) {
    dims = scatter.getDims();
  }
  Value token;
  if (auto wait = dyn_cast<ExchangeWaitOp>(*op)) {
    auto start = wait.getToken().getDefiningOp<ExchangeStartOp>();
    if (!start || !start->hasOneUse())
      return op->emitOpError()
             << "waits for what is not one 'local.exchange_start'";
    OpBuilder atStart(start);
    auto site = StartSiteOp::create(
        atStart, start.getLoc(), atStart.getI64Type(),
        start.getInput().getType(), atStart.getI64IntegerAttr(*number),
        start.getInput());
    token = site.getToken();
    inputs.front() = site.getHeld();
    start.getToken().replaceAllUsesWith(token);
    start.erase();
  }
  Value init = createDestination(builder, loc, type, dims, op.getMeshName(),
                                 op.getSource());
  auto site = RunSiteOp::create(builder, loc, TypeRange(type),
                                builder.getI64IntegerAttr(*number), token,
                                inputs, init);
  op->replaceAllUsesWith(site.getResults());
  op->erase();
  return success();
}

/// Gives the results of a call destinations. A dim that differs by rank is
/// whole on the rank that calls, the first along `axes`, and empty on others.
static void lowerHostCall(CallHostOp op, MeshOp meshOp) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MeshAttr mesh = meshOp.getMesh();
  ArrayAttr axes = op.getAxesAttr();
  int64_t count = 1;
  for (Attribute axis : axes)
    count *= mesh.getAxisSize(cast<StringAttr>(axis));
  SmallVector<Value> inits;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    auto whole = cast<RankedTensorType>(
        cast<TypeAttr>(op.getTypes()[op.getNumOperands() + i]).getValue());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      SmallVector<int64_t> table(count, 0);
      table.front() = whole.getRank() == 0 ? 1 : whole.getDimSize(dim);
      sizes.push_back(LookupOp::create(builder, loc, builder.getIndexType(),
                                       builder.getDenseI64ArrayAttr(table),
                                       axes, op.getMeshAttr()));
    }
    inits.push_back(
        bufferization::AllocTensorOp::create(builder, loc, type, sizes));
  }
  auto run = RunHostOp::create(builder, loc, op.getResultTypes(),
                               op.getIndexAttr(), op.getInputs(), inits,
                               op.getHasEffectAttr(), op.getOrderedAttr(),
                               op.getTypesAttr(), axes, op.getMeshAttr());
  op->replaceAllUsesWith(run.getResults());
  op->erase();
}

//===----------------------------------------------------------------------===//
// Sizes of what is given
//===----------------------------------------------------------------------===//

/// The size of dim `dim` of `value`, said by a sharding or by what a loop
/// starts with; null if `value` is neither given to the function nor to a loop.
/// Sizes of loop-carried values stay: a loop keeps the shardings it starts
/// with.
static Value resolveDim(OpBuilder &builder, Location loc, Value value,
                        int64_t dim) {
  if (auto result = dyn_cast<OpResult>(value)) {
    if (!isa<stablehlo::WhileOp>(result.getOwner()))
      return {};
    value = result.getOwner()->getOperand(result.getResultNumber());
    if (Value size = resolveDim(builder, loc, value, dim))
      return size;
    return tensor::DimOp::create(builder, loc, value, dim);
  }
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<stablehlo::WhileOp>(parent)) {
    value = parent->getOperand(argument.getArgNumber());
    if (Value size = resolveDim(builder, loc, value, dim))
      return size;
    return tensor::DimOp::create(builder, loc, value, dim);
  }
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    return {};
  ShardingAttr sharding = getSharding(argument);
  TypeAttr global =
      contract::GlobalType::ofArgument(function, argument.getArgNumber());
  if (!sharding || !global)
    return {};
  MeshAttr mesh = lookupMesh(function, sharding.getMesh());
  return lookUpSize(builder, loc, mesh, sharding.getMesh(),
                    sharding.getDims()[dim],
                    cast<ShapedType>(global.getValue()).getDimSize(dim));
}

static void resolveDims(ModuleOp module) {
  SmallVector<tensor::DimOp> dims;
  module.walk([&](tensor::DimOp op) { dims.push_back(op); });
  for (tensor::DimOp op : dims) {
    std::optional<int64_t> index = op.getConstantIndex();
    if (!index)
      continue;
    OpBuilder builder(op);
    if (Value size = resolveDim(builder, op.getLoc(), op.getSource(), *index)) {
      op.replaceAllUsesWith(size);
      op.erase();
    }
  }
}

/// Shardings and global types of what @main takes and returns: bufferisation
/// keeps neither, and the C ABI needs both.
static void keepEntryAttributes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return;
  MLIRContext *context = module.getContext();
  // Without attributes there is no dictionary at all.
  auto orEmpty = [&](DictionaryAttr attributes) {
    return attributes ? attributes : DictionaryAttr::get(context);
  };
  SmallVector<Attribute> inputs, outputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    inputs.push_back(orEmpty(main.getArgAttrDict(i)));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    outputs.push_back(orEmpty(main.getResultAttrDict(i)));
  contract::EntryInputs::set(module, ArrayAttr::get(context, inputs));
  contract::EntryOutputs::set(module, ArrayAttr::get(context, outputs));
}

namespace {
struct LowerCommunicationPass final
    : shardc::impl::LowerCommunicationPassBase<LowerCommunicationPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MeshOp mesh = getOnlyMesh(module);
    if (!mesh)
      return signalPassFailure();
    SiteCollector sites;
    sites.mesh = mesh.getMesh();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(verifyLocalView(function)))
        return signalPassFailure();
    if (failed(verifyLevel<MeshOp, LocalDialect, PairsDialect, KernelDialect>(
            module, "partition")))
      return signalPassFailure();
    SmallVector<CommunicationOpInterface> ops, plans;
    SmallVector<CallHostOp> calls;
    module.walk([&](Operation *op) {
      if (auto communication = dyn_cast<CommunicationOpInterface>(op))
        (isa<RowPlanOp>(op) ? plans : ops).push_back(communication);
      else if (auto call = dyn_cast<CallHostOp>(op))
        calls.push_back(call);
    });
    // Plans last: what uses them asks what they are.
    llvm::append_range(ops, plans);
    for (CommunicationOpInterface op : ops)
      if (failed(lowerSite(op, sites)))
        return signalPassFailure();
    for (CallHostOp op : calls)
      lowerHostCall(op, mesh);
    resolveDims(module);
    contract::Sites::set(
        module, SiteTableAttr::get(&getContext(), sites.mesh,
                                   ArrayAttr::get(&getContext(), sites.sites)));
    keepEntryAttributes(module);
  }
};
} // namespace
