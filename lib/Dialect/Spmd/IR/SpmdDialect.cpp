//===- SpmdDialect.cpp - The spmd dialect ---------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Spmd/IR/SpmdDialect.cpp.inc"

void SpmdDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.cpp.inc"
      >();
}

Operation *SpmdDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

MeshAttr spmd::lookupMesh(Operation *from, FlatSymbolRefAttr name) {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(from, name);
  return mesh ? mesh.getMesh() : MeshAttr();
}

MeshOp spmd::getOnlyMesh(ModuleOp module) {
  MeshOp found;
  for (auto mesh : module.getOps<MeshOp>()) {
    if (found) {
      InFlightDiagnostic diag =
          mesh.emitError("module has a second mesh @")
          << mesh.getSymName()
          << ", expected one; run --spmd-import to unite equal ones";
      diag.attachNote(found.getLoc()) << "the first is @" << found.getSymName();
      return {};
    }
    found = mesh;
  }
  if (!found)
    module.emitError(
        "module has no spmd.mesh; run --spmd-import, which adds an empty one");
  return found;
}

ShardingAttr spmd::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      return function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(),
                                                     kShardingAttrName);
    if (auto manual = dyn_cast<ManualOp>(parent))
      return manual.getBodySharding(
          cast<ShardingAttr>(manual.getInShardings()[argument.getArgNumber()]));
    // The arguments of a loop's regions are its results.
    if (argument.getArgNumber() < parent->getNumResults())
      return getSharding(parent->getResult(argument.getArgNumber()));
    return {};
  }
  auto result = cast<OpResult>(value);
  auto shardings =
      result.getOwner()->getAttrOfType<ArrayAttr>(kShardingsAttrName);
  if (!shardings || result.getResultNumber() >= shardings.size())
    return {};
  return dyn_cast<ShardingAttr>(shardings[result.getResultNumber()]);
}

void spmd::setSharding(Value value, ShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      function.setArgAttr(argument.getArgNumber(), kShardingAttrName, sharding);
    else if (argument.getArgNumber() < parent->getNumResults())
      setSharding(parent->getResult(argument.getArgNumber()), sharding);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> shardings;
  if (auto known = op->getAttrOfType<ArrayAttr>(kShardingsAttrName))
    shardings.assign(known.begin(), known.end());
  for (Value other : op->getResults().drop_front(shardings.size())) {
    int64_t numDims = 0;
    if (auto shaped = dyn_cast<ShapedType>(other.getType());
        shaped && shaped.hasRank())
      numDims = shaped.getRank();
    shardings.push_back(
        ShardingAttr::getReplicated(sharding.getMesh(), numDims));
  }
  shardings[result.getResultNumber()] = sharding;
  op->setAttr(kShardingsAttrName, ArrayAttr::get(op->getContext(), shardings));
}

Box spmd::getOwnedBox(ShardingAttr sharding, MeshAttr mesh,
                      ArrayRef<int64_t> globalShape, int64_t rank) {
  Box box;
  for (auto [dim, size] : llvm::zip(sharding.getDims(), globalShape)) {
    SmallVector<int64_t> axes;
    for (StringAttr axis : dim.getAxes())
      axes.push_back(mesh.getAxisIndex(axis.getValue()));
    int64_t coordinate = coordinateAlong(mesh.getAxisSizes(), axes, rank);
    box.push_back(dim.getBoundaries(mesh, size).shard(coordinate));
  }
  return box;
}
