//===- VerifyCommunication.cpp - What ranks do together fits --------------===//

#include "Quoted.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Analysis/LocalSizes.h"
#include "shardc/Analysis/Varying.h"
#include "shardc/Communication/Passes.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Dialect/Spmd/IR/SpmdViews.h"
#include "llvm/ADT/MapVector.h"

namespace shardc {
#define GEN_PASS_DEF_VERIFYCOMMUNICATIONPASS
#include "shardc/Communication/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static std::string toString(Interval interval) {
  return "[" + std::to_string(interval.begin) + ", " +
         std::to_string(interval.end) + ")";
}

//===----------------------------------------------------------------------===//
// Halves: what starts is waited for
//===----------------------------------------------------------------------===//

static LogicalResult verifyHalves(ExchangeStartOp start) {
  if (!start->hasOneUse())
    return start.emitOpError()
           << "has " << (start->use_empty() ? "no" : "several")
           << " 'local.exchange_wait', expected one";
  auto wait = dyn_cast<ExchangeWaitOp>(*start->getUsers().begin());
  if (!wait || wait->getBlock() != start->getBlock())
    return start.emitOpError() << "is not waited for in its own block, so that "
                                  "its buffer may change "
                                  "or its ranks may part ways before";
  if (wait.getInput() != start.getInput()) {
    InFlightDiagnostic error = start.emitOpError()
                               << "starts one value, but another is waited for";
    error.attachNote(wait.getLoc()) << "waited for here";
    return error;
  }
  return success();
}

static LogicalResult verifyHalves(ExchangeWaitOp wait) {
  if (wait.getToken().getDefiningOp<ExchangeStartOp>())
    return success();
  return wait.emitOpError()
         << "waits for a token that no 'local.exchange_start' gave";
}

//===----------------------------------------------------------------------===//
// Agreement: what ranks do together fits
//===----------------------------------------------------------------------===//

/// Checks that a static dim of `type` has as many elements as each interval of
/// `table` for `dim`.
static LogicalResult verifyStaticSize(Operation *op, StringRef what,
                                      RankedTensorType type,
                                      DimExchangeAttr dim,
                                      ArrayRef<Interval> table,
                                      StringRef verb) {
  if (type.isDynamicDim(dim.getDim()))
    return success();
  int64_t size = type.getDimSize(dim.getDim());
  for (auto [coordinate, interval] : llvm::enumerate(table))
    if (interval.size() != size)
      return op->emitOpError()
             << "has a " << what << " of type " << type << " with " << size
             << " elements in dim " << dim.getDim() << ", but coordinate "
             << coordinate << " along " << quoted(dim.getAxes()) << " " << verb
             << " " << toString(interval) << ", " << interval.size()
             << " elements; a dim in which ranks differ is '?'";
  return success();
}

static LogicalResult verifySizes(Operation *op, ArrayAttr dims, MeshAttr mesh,
                                 RankedTensorType source,
                                 RankedTensorType result) {
  for (auto dim : dims.getAsRange<DimExchangeAttr>()) {
    DimExchange tables = dim.getExchange(mesh);
    if (failed(verifyStaticSize(op, "source", source, dim, tables.owned,
                                "owns")) ||
        failed(verifyStaticSize(op, "result", result, dim, tables.needed,
                                "needs")))
      return failure();
  }
  return success();
}

static LogicalResult verifyFill(ExchangeOpInterface op,
                                const Exchange &exchange, Type elementType) {
  Value fill = op.getFillValue();
  if (fill) {
    auto type = cast<RankedTensorType>(fill.getType());
    if (type.getRank() != 0 || type.getElementType() != elementType)
      return op->emitOpError()
             << "has a fill value of type " << type << ", expected "
             << RankedTensorType::get({}, elementType);
    return success();
  }
  for (const DimExchange &dim : exchange.dims)
    for (auto [coordinate, needed] : llvm::enumerate(dim.needed))
      if (Interval domain = {0, exchange.globalShape[dim.dim]};
          dim.padding == Padding::Constant && !domain.contains(needed))
        return op->emitOpError()
               << "needs " << toString(needed) << " of dim " << dim.dim
               << " at coordinate " << coordinate << ", outside the domain "
               << toString(domain) << ", but has no fill value; add 'fill'";
  return success();
}

static LogicalResult verifyTables(ExchangeOpInterface op, MeshAttr mesh) {
  auto communication = cast<CommunicationOpInterface>(op.getOperation());
  auto source = cast<RankedTensorType>(communication.getSource().getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  Exchange exchange = op.getExchange();
  // Dims that do not move are whole here, whatever their size on this rank.
  llvm::SmallBitVector listed(exchange.globalShape.size());
  for (const DimExchange &dim : exchange.dims)
    listed.set(dim.dim);
  for (auto [dim, size] : llvm::enumerate(exchange.globalShape))
    if (!listed.test(dim))
      size = 1;
  if (std::string wrong = verifyExchange(exchange); !wrong.empty()) {
    InFlightDiagnostic error = op->emitOpError()
                               << "has tables that are no exchange: " << wrong;
    error.attachNote() << "each element is to be owned along the axes once, or "
                          "as the same box by several ranks";
    return error;
  }
  if (failed(verifyFill(op, exchange, source.getElementType())))
    return failure();
  return verifySizes(op, op.getDims(), mesh, source, result);
}

static LogicalResult verifyScatter(ReduceScatterOp op, MeshAttr mesh) {
  for (auto dim : op.getDims().getAsRange<DimExchangeAttr>()) {
    DimExchange tables = dim.getExchange(mesh);
    for (auto axis : op.getAxes().getAsRange<StringAttr>())
      if (tableVaries(ArrayRef(tables.owned), dim.getAxes(), mesh, axis))
        return op.emitOpError()
               << "combines along " << axis
               << ", but ranks own different parts of dim " << dim.getDim()
               << " along it; partial values are to be of the same box";
    for (auto [coordinate, owned, needed] :
         llvm::enumerate(tables.owned, tables.needed))
      if (!owned.contains(needed))
        return op.emitOpError()
               << "keeps " << toString(needed) << " of dim " << dim.getDim()
               << " at coordinate " << coordinate
               << ", which is not inside the combined " << toString(owned);
  }
  return verifySizes(op, op.getDims(), mesh,
                     cast<RankedTensorType>(op.getInput().getType()),
                     cast<RankedTensorType>(op.getType()));
}

/// Checks that all ranks of a group have the same size in dims that do not
/// move.
static LogicalResult verifyGroupSizes(CommunicationOpInterface op,
                                      MeshAttr mesh) {
  Value source = op.getSource();
  // Its dims are those of the rows; updates come in shards of any size.
  if (auto scatter = dyn_cast<ScatterRowsOp>(*op))
    source = scatter.getInto();
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type)
    return success();
  llvm::SmallBitVector listed(type.getRank());
  if (ArrayAttr dims = op.getDims())
    for (auto dim : dims.getAsRange<DimExchangeAttr>())
      listed.set(dim.getDim());
  SmallVector<int64_t> axes;
  for (StringAttr axis : op.getGroupAxes())
    axes.push_back(mesh.getAxisIndex(axis.getValue()));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (listed.test(dim) || !type.isDynamicDim(dim))
      continue;
    std::optional<SmallVector<int64_t>> sizes =
        getLocalSizes(source, dim, mesh);
    if (!sizes)
      continue;
    for (auto [rank, size] : llvm::enumerate(*sizes)) {
      int64_t first = firstAlong(mesh.getAxisSizes(), axes, rank);
      if ((*sizes)[first] != size)
        return op->emitOpError()
               << "meets along " << quoted(op.getGroupAxes()) << ", but dim "
               << dim << " of its source has " << (*sizes)[first]
               << " elements on rank " << first << " and " << size
               << " on rank " << rank
               << "; rebalance it first, or communicate along other axes";
    }
  }
  return success();
}

static LogicalResult verifyAgreement(CommunicationOpInterface op) {
  MeshAttr mesh = lookupMesh(op, op.getMeshName());
  if (auto exchange = dyn_cast<ExchangeOpInterface>(op.getOperation()))
    if (failed(verifyTables(exchange, mesh)))
      return failure();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op.getOperation()))
    if (failed(verifyScatter(scatter, mesh)))
      return failure();
  return verifyGroupSizes(op, mesh);
}

/// Checks that all meshes that communication names have as many ranks.
static LogicalResult verifyMeshes(ModuleOp module) {
  CommunicationOpInterface first;
  WalkResult result = module.walk([&](CommunicationOpInterface op) {
    if (!first)
      first = op;
    int64_t ranks = lookupMesh(op, op.getMeshName()).getNumRanks();
    int64_t expected = lookupMesh(first, first.getMeshName()).getNumRanks();
    if (ranks == expected)
      return WalkResult::advance();
    InFlightDiagnostic error =
        op->emitOpError() << "communicates over mesh " << op.getMeshName()
                          << " of " << ranks
                          << " ranks, but the program runs on " << expected;
    error.attachNote(first->getLoc())
        << "mesh " << first.getMeshName() << " is used here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyCommunicationPass final
    : shardc::impl::VerifyCommunicationPassBase<VerifyCommunicationPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool failed = mlir::failed(verifyLevel<MeshOp, LocalDialect, PairsDialect>(
                      module, "communication")) ||
                  mlir::failed(verifyMeshes(module));
    module.walk([&](CommunicationOpInterface op) {
      failed |= mlir::failed(verifyAgreement(op));
    });
    module.walk([&](Operation *op) {
      if (auto start = dyn_cast<ExchangeStartOp>(op))
        failed |= mlir::failed(verifyHalves(start));
      else if (auto wait = dyn_cast<ExchangeWaitOp>(op))
        failed |= mlir::failed(verifyHalves(wait));
    });
    module.walk([&](func::FuncOp function) {
      failed |= mlir::failed(verifyLocalView(function));
    });
    if (failed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
