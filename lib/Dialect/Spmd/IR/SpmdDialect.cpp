//===- SpmdDialect.cpp - The spmd dialect ---------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/Spmd/IR/SpmdConstraints.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Spmd/IR/SpmdDialect.cpp.inc"

void SpmdDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Spmd/IR/SpmdOps.cpp.inc"
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

/// Verifies `attr` as a sharding of a tensor of `type`. In the local view types
/// are those of shards, so only the number of dims can be checked there; an op
/// of the local view is told by its function's mark.
static LogicalResult verifySharding(Operation *op, Attribute attr, Type type,
                                    const Twine &what) {
  auto sharding = dyn_cast<ShardingAttr>(attr);
  if (!sharding)
    return op->emitOpError()
           << what << " has '" << attr << "', expected a #spmd.sharding";
  MeshAttr mesh = lookupMesh(op, sharding.getMesh());
  if (!mesh)
    return op->emitOpError() << what << " has a sharding over unknown mesh "
                             << sharding.getMesh();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return op->emitOpError() << what << " has a sharding, but its type " << type
                             << " has no dims";
  SmallVector<int64_t> shape(shaped.getShape());
  Operation *function = isa<FunctionOpInterface>(op)
                            ? op
                            : op->getParentOfType<FunctionOpInterface>();
  if (function && function->hasAttr("spmd.local_view"))
    shape.assign(shape.size(), ShapedType::kDynamic);
  return sharding.verifyFor(mesh, shape,
                            [&] { return op->emitOpError() << what << ": "; });
}

LogicalResult SpmdDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kShardingsAttrName) {
    auto shardings = dyn_cast<ArrayAttr>(attr.getValue());
    if (!shardings || shardings.size() != op->getNumResults())
      return op->emitOpError()
             << "'" << name << "' expects one #spmd.sharding for each of its "
             << op->getNumResults() << " results";
    for (auto [i, sharding] : llvm::enumerate(shardings))
      if (failed(verifySharding(op, sharding, op->getResult(i).getType(),
                                "result " + Twine(i))))
        return failure();
    return success();
  }
  if (name == kFactorsAttrName) {
    auto factors = dyn_cast<ArrayAttr>(attr.getValue());
    if (!factors || !llvm::all_of(factors, llvm::IsaPred<DimShardingAttr>))
      return op->emitOpError()
             << "'" << name << "' expects a list of #spmd.dim_sharding";
    return success();
  }
  if (name == kGroupAttrName || name == kDirectionAttrName) {
    if (!isa<ConstrainOp>(op))
      return op->emitOpError()
             << "'" << name << "' is an attribute of 'spmd.constrain'";
    auto direction = dyn_cast<StringAttr>(attr.getValue());
    if (name == kGroupAttrName && !isa<IntegerAttr>(attr.getValue()))
      return op->emitOpError() << "'" << name << "' is " << attr.getValue()
                               << ", expected a number";
    if (name == kDirectionAttrName &&
        (!direction || !llvm::is_contained({"forward", "backward", "none"},
                                           direction.getValue())))
      return op->emitOpError()
             << "'" << name << "' is " << attr.getValue()
             << ", expected \"forward\", \"backward\" or \"none\"";
    return success();
  }
  if (name == "spmd.local_view") {
    if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError() << "'spmd.local_view' is a mark of functions";
    return success();
  }
  return success();
}

LogicalResult SpmdDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned region,
                                                    unsigned arg,
                                                    NamedAttribute attr) {
  if (attr.getName() != kShardingAttrName)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError()
           << "argument " << arg
           << " has a sharding, but only functions' arguments may";
  return verifySharding(op, attr.getValue(), function.getArgumentTypes()[arg],
                        "argument " + Twine(arg));
}

LogicalResult SpmdDialect::verifyRegionResultAttribute(Operation *op,
                                                       unsigned region,
                                                       unsigned result,
                                                       NamedAttribute attr) {
  if (attr.getName() != kShardingAttrName)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError()
           << "result " << result
           << " has a sharding, but only functions' results may";
  return verifySharding(op, attr.getValue(), function.getResultTypes()[result],
                        "result " + Twine(result));
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
