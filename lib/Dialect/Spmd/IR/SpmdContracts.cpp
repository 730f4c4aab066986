//===- SpmdContracts.cpp - Verifies what is left for the global view ----===//
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/ContractRows.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

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
  if (function && contract::LocalView::has(function))
    shape.assign(shape.size(), ShapedType::kDynamic);
  return sharding.verifyFor(mesh, shape,
                            [&] { return op->emitOpError() << what << ": "; });
}

//===----------------------------------------------------------------------===//
// Places and values
//===----------------------------------------------------------------------===//

static bool isPermutation(Attribute value) {
  auto dims = dyn_cast<DenseI64ArrayAttr>(value);
  if (!dims)
    return false;
  SmallVector<int64_t> sorted(dims.asArrayRef());
  llvm::sort(sorted);
  return llvm::all_of(llvm::enumerate(sorted), [](auto dim) {
    return dim.value() == int64_t(dim.index());
  });
}

static const ContractRows &rows() {
  using namespace contract;
  using Extents = contract::Extents;
  constexpr StringLiteral ofModules = "modules", ofFunctions = "functions",
                          ofValues = "functions' arguments and results",
                          ofArguments = "functions' arguments",
                          ofResults = "functions' results", ofOps = "ops";
  constexpr unsigned onValues = OnArguments | OnResults;
  static const ContractRows all(
      {{Sharding::name(), onValues, ofValues, "a #spmd.sharding",
        isOfType<Sharding>},
       {Name::name(), onValues, ofValues, "a string", isOfType<Name>},
       {Donated::name(), OnArguments, ofArguments,
        "the number of a result, or -1", isAtLeast<-1>},
       {Order::name(),
        onValues | OnOps,
        "functions' arguments and results, and constraints of sdy",
        "a string",
        isOfType<Order>,
        {"sdy."}},
       {Platform::name(), OnArguments, ofArguments, "a number",
        isOfType<Platform>},
       {Check::name(), OnResults, ofResults, "a #spmd.check", isOfType<Check>},
       {Group::name(),
        OnOps,
        "'spmd.constrain'",
        "a number",
        isOfType<Group>,
        {"spmd.constrain"}},
       {Direction::name(),
        OnOps,
        "'spmd.constrain'",
        "a #spmd.direction",
        isOfType<Direction>,
        {"spmd.constrain"}},
       {Extents::name(), OnModules, ofModules, "#spmd.extents",
        isOfType<Extents>},
       {PartitionedCall::name(),
        OnOps,
        "'stablehlo.custom_call'",
        "a number of at least 0",
        isAtLeast<0>,
        {"stablehlo.custom_call"}},

       {Factors::name(), OnOps, ofOps, "a list of #spmd.dim_sharding",
        isListOf<DimShardingAttr>},
       {OrderNote::name(), OnOps, ofOps, "a string", isOfType<OrderNote>},
       {Origins::name(), OnOps | OnArguments, "ops and functions' arguments",
        "a list", isOfType<Origins>},
       mark<Explain>(OnFunctions, ofFunctions),
       mark<WholeSum>(OnOps, "ops that sum", {"stablehlo.", "chlo.", "pairs."}),
       mark<OfManual>(OnOps, ofOps),
       mark<WholeLines>(OnOps, "'stablehlo.fft'", {"stablehlo.fft"}),

       mark<LocalView>(OnFunctions, ofFunctions),
       {GlobalType::name(), onValues, ofValues, "the type of a whole tensor",
        [](Attribute value) {
          auto type = dyn_cast<TypeAttr>(value);
          return type && isa<ShapedType>(type.getValue());
        }},

       {MemoryKind::name(), onValues, ofValues, "a string",
        isOfType<MemoryKind>},
       {Ranks::name(), onValues, ofValues, "an array of ranks",
        isOfType<Ranks>},
       {CallerDims::name(), onValues, ofValues, "an array of dims, each once",
        isPermutation},
       mark<Token>(onValues, ofValues)},
      "SpmdDialect.td");
  return all;
}

//===----------------------------------------------------------------------===//
// The dialect's hooks
//===----------------------------------------------------------------------===//

LogicalResult SpmdDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() == kShardingsAttrName) {
    auto shardings = dyn_cast<ArrayAttr>(attr.getValue());
    if (!shardings || shardings.size() != op->getNumResults())
      return op->emitOpError()
             << "'" << kShardingsAttrName
             << "' expects one #spmd.sharding for each of its "
             << op->getNumResults() << " results";
    for (auto [i, sharding] : llvm::enumerate(shardings))
      if (failed(verifySharding(op, sharding, op->getResult(i).getType(),
                                "result " + Twine(i))))
        return failure();
    return success();
  }
  return rows().verify(op, attr);
}

LogicalResult SpmdDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned region,
                                                    unsigned arg,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() != kShardingAttrName)
    return rows().verifyArgument(op, arg, attr);
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
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() != kShardingAttrName)
    return rows().verifyResult(op, result, attr);
  if (!function)
    return op->emitOpError()
           << "result " << result
           << " has a sharding, but only functions' results may";
  return verifySharding(op, attr.getValue(), function.getResultTypes()[result],
                        "result " + Twine(result));
}
