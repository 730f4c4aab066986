//===- SdyVerify.cpp - Meshes exist, axes fit, dims match -----------------===//
//
// A sharding names a mesh by symbol, so it is checked where it is used: by the
// dialect for attributes of arguments, results and ops, by each op for its own.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/Sdy/IR/Sdy.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Layout/Limits.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::sdy;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

static LogicalResult verifyMesh(MeshAttr mesh, EmitError emitError) {
  llvm::StringSet<> names;
  int64_t total = 1;
  for (MeshAxisAttr axis : mesh.getAxes()) {
    if (axis.getName().empty())
      return emitError() << "mesh has an axis without a name";
    if (!names.insert(axis.getName()).second)
      return emitError() << "mesh has two axes named \"" << axis.getName()
                         << "\"";
    if (axis.getSize() < 1)
      return emitError() << "mesh axis \"" << axis.getName() << "\" has size "
                         << axis.getSize() << ", expected at least 1";
    std::optional<int64_t> product = llvm::checkedMul(total, axis.getSize());
    if (!product || *product > kMaxRanks)
      return emitError() << "mesh has more than " << kMaxRanks << " devices";
    total = *product;
  }
  ArrayRef<int64_t> ids = mesh.getDeviceIds();
  if (mesh.getAxes().empty()) {
    if (ids.size() > 1 || (ids.size() == 1 && ids.front() < 0))
      return emitError()
             << "a mesh without axes has at most one device id, 0 or larger";
    return success();
  }
  if (ids.empty())
    return success();
  if (static_cast<int64_t>(ids.size()) != total)
    return emitError() << "mesh has " << ids.size()
                       << " device ids, but its axes span " << total
                       << " devices";
  SmallVector<bool> seen(total, false);
  for (int64_t id : ids) {
    if (id < 0 || id >= total || seen[id])
      return emitError() << "device ids must be 0 to " << total - 1
                         << ", each once; " << id
                         << (id >= 0 && id < total ? " comes twice"
                                                   : " does not fit");
    seen[id] = true;
  }
  return success();
}

LogicalResult MeshOp::verify() {
  return verifyMesh(getMesh(), [&] { return emitOpError(); });
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// `"x"` or `"x":(1)2`, as a sharding spells it.
static std::string spell(AxisRefAttr axis) {
  std::string text = ("\"" + axis.getName() + "\"").str();
  if (SubAxisInfoAttr part = axis.getSubAxisInfo())
    text += ":(" + std::to_string(part.getPreSize()) + ")" +
            std::to_string(part.getSize());
  return text;
}

namespace {
/// The axes that one sharding names, each part at most once.
class AxisUse {
public:
  AxisUse(MeshAttr mesh, Attribute meshOrRef, EmitError emitError)
      : mesh(mesh), meshOrRef(meshOrRef), emitError(emitError) {}

  LogicalResult add(ArrayRef<AxisRefAttr> axes) {
    for (size_t i = 0; i < axes.size(); ++i)
      if (failed(add(axes[i])) ||
          (i > 0 && failed(verifyMerged(axes[i - 1], axes[i]))))
        return failure();
    return success();
  }

private:
  struct Part {
    StringRef name;
    int64_t begin, end; // of the axis seen as begin x (end / begin) x rest
  };

  LogicalResult add(AxisRefAttr ref) {
    MeshAxisAttr axis = mesh.getAxis(ref.getName());
    if (!axis) {
      InFlightDiagnostic error = emitError();
      error << "axis \"" << ref.getName() << "\" is unknown; mesh "
            << meshOrRef;
      if (mesh.getAxes().empty())
        return error << " has no axes";
      error << " has ";
      llvm::interleaveComma(mesh.getAxes(), error, [&](MeshAxisAttr a) {
        error << '"' << a.getName() << '"';
      });
      return error;
    }
    Part part{ref.getName(), 1, axis.getSize()};
    if (SubAxisInfoAttr info = ref.getSubAxisInfo()) {
      std::optional<int64_t> end =
          llvm::checkedMul(info.getPreSize(), info.getSize());
      if (info.getPreSize() < 1 || info.getSize() < 2 || !end ||
          axis.getSize() % *end)
        return emitError() << "part " << spell(ref)
                           << " does not divide axis \"" << ref.getName()
                           << "\" of size " << axis.getSize();
      if (*end == axis.getSize() && info.getPreSize() == 1)
        return emitError() << "part " << spell(ref)
                           << " is the whole axis; write \"" << ref.getName()
                           << "\"";
      part.begin = info.getPreSize();
      part.end = *end;
    }
    for (const Part &other : parts)
      if (other.name == part.name &&
          (other.begin == part.begin ||
           (other.begin < part.end && part.begin < other.end)))
        return emitError() << "axis " << spell(ref) << " is used twice";
    parts.push_back(part);
    return success();
  }

  LogicalResult verifyMerged(AxisRefAttr first, AxisRefAttr second) {
    SubAxisInfoAttr a = first.getSubAxisInfo(), b = second.getSubAxisInfo();
    if (a && b && first.getName() == second.getName() &&
        a.getPreSize() * a.getSize() == b.getPreSize())
      return emitError() << "parts " << spell(first) << " and " << spell(second)
                         << " are adjacent; merge them";
    return success();
  }

  MeshAttr mesh;
  Attribute meshOrRef;
  EmitError emitError;
  SmallVector<Part> parts;
};
} // namespace

/// Checks `sharding` for a value of type `type`, seen from `op`.
static LogicalResult verifySharding(TensorShardingAttr sharding, Type type,
                                    Operation *op, EmitError emitError) {
  MeshAttr mesh = sharding.getMesh(op);
  if (!mesh)
    return emitError() << "mesh " << sharding.getMeshOrRef()
                       << " is unknown; define it with sdy.mesh";
  if (isa<MeshAttr>(sharding.getMeshOrRef()) &&
      failed(verifyMesh(mesh, emitError)))
    return failure();
  auto shaped = dyn_cast<ShapedType>(type);
  int64_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
  if (mesh.isMaximal() && sharding.getRank() == 0)
    return success();
  if (sharding.getRank() != rank)
    return emitError() << "sharding has " << sharding.getRank()
                       << " dims, but the value of type " << type << " has "
                       << rank;
  AxisUse use(mesh, sharding.getMeshOrRef(), emitError);
  for (auto [dim, entry] : llvm::enumerate(sharding.getDimShardings())) {
    if (failed(use.add(entry.getAxes())))
      return failure();
    assert(entry.getPriority().value_or(0) >= 0 &&
           "text and bytes have no sign");
    if (entry.getPriority() && entry.getIsClosed() && entry.getAxes().empty())
      return emitError()
             << "dim " << dim
             << " is closed and has no axes, so it can have no priority";
  }
  return failure(failed(use.add(sharding.getReplicatedAxes())) ||
                 failed(use.add(sharding.getUnreducedAxes())));
}

/// As many shardings as types, each right for its type.
static LogicalResult verifyShardings(TensorShardingPerValueAttr shardings,
                                     TypeRange types, StringRef what,
                                     Operation *op) {
  if (shardings.getShardings().size() != types.size())
    return op->emitOpError()
           << "has " << shardings.getShardings().size() << " shardings for "
           << types.size() << ' ' << what << "s, expected as many";
  for (auto [index, sharding, type] :
       llvm::enumerate(shardings.getShardings(), types)) {
    size_t i = index;
    if (failed(verifySharding(sharding, type, op, [&] {
          InFlightDiagnostic error = op->emitOpError();
          return std::move(error << what << ' ' << i << ": ");
        })))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

/// A sharding on an argument or result of a function.
static LogicalResult verifyValueAttribute(Operation *op,
                                          NamedAttribute attribute, Type type,
                                          Twine where) {
  std::string prefix = where.str();
  auto emitError = [&] {
    InFlightDiagnostic error = op->emitOpError();
    return std::move(error << prefix << ": ");
  };
  if (attribute.getName() != kShardingAttr)
    return emitError() << "attribute '" << attribute.getName().getValue()
                       << "' is unknown; values carry '" << kShardingAttr
                       << "'";
  auto sharding = dyn_cast<TensorShardingAttr>(attribute.getValue());
  if (!sharding)
    return emitError() << "'" << kShardingAttr << "' is "
                       << attribute.getValue()
                       << ", expected #sdy.sharding<...>";
  return verifySharding(sharding, type, op, emitError);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op,
                                                   unsigned region,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[argument]
                       : op->getRegion(region).getArgument(argument).getType();
  return verifyValueAttribute(op, attribute, type,
                              "argument " + Twine(argument));
}

LogicalResult SdyDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  // Asked of functions alone: no other op has attributes of results.
  auto function = cast<FunctionOpInterface>(op);
  return verifyValueAttribute(op, attribute, function.getResultTypes()[result],
                              "result " + Twine(result));
}

/// One side of a rule: as many mappings as values, dims as the types say,
/// factors that exist.
static LogicalResult verifyMappings(Operation *op, OpShardingRuleAttr rule,
                                    ArrayRef<TensorMappingAttr> mappings,
                                    TypeRange types, StringRef what) {
  if (mappings.size() != types.size())
    return op->emitOpError() << "sharding rule maps " << mappings.size() << ' '
                             << what << "s, but the op has " << types.size();
  for (auto [index, mapping, type] : llvm::enumerate(mappings, types)) {
    auto shaped = dyn_cast<ShapedType>(type);
    size_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
    if (mapping.getDimMappings().size() != rank)
      return op->emitOpError()
             << "sharding rule maps " << mapping.getDimMappings().size()
             << " dims of " << what << ' ' << index << ", which has type "
             << type;
    for (DimMappingAttr dim : mapping.getDimMappings())
      for (int64_t factor : dim.getFactorIndices())
        if (factor >= static_cast<int64_t>(rule.getFactorSizes().size()))
          return op->emitOpError()
                 << "sharding rule gives no size for a factor of " << what
                 << ' ' << index;
  }
  return success();
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == kShardingRuleAttr) {
    auto rule = dyn_cast<OpShardingRuleAttr>(attribute.getValue());
    if (!rule)
      return op->emitOpError()
             << "'" << kShardingRuleAttr << "' is " << attribute.getValue()
             << ", expected #sdy.op_sharding_rule<...>";
    for (ArrayRef<int64_t> factors :
         {rule.getReductionFactors(), rule.getNeedReplicationFactors(),
          rule.getPermutationFactors(), rule.getBlockedPropagationFactors()})
      for (int64_t factor : factors)
        if (factor >= static_cast<int64_t>(rule.getFactorSizes().size()))
          return op->emitOpError()
                 << "sharding rule gives no size for a factor of its kinds";
    return failure(failed(verifyMappings(op, rule, rule.getOperandMappings(),
                                         op->getOperandTypes(), "operand")) ||
                   failed(verifyMappings(op, rule, rule.getResultMappings(),
                                         op->getResultTypes(), "result")));
  }
  if (attribute.getName() != kShardingAttr)
    return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                             << "' is unknown; ops carry '" << kShardingAttr
                             << "' and '" << kShardingRuleAttr << "'";
  auto shardings = dyn_cast<TensorShardingPerValueAttr>(attribute.getValue());
  if (!shardings)
    return op->emitOpError()
           << "'" << kShardingAttr << "' is " << attribute.getValue()
           << ", expected #sdy.sharding_per_value<[...]>";
  // An op without results may still be put on one device.
  ArrayRef<TensorShardingAttr> list = shardings.getShardings();
  if (op->getNumResults() == 0 && list.size() == 1)
    if (MeshAttr mesh = list.front().getMesh(op); mesh && mesh.isMaximal())
      return success();
  // JAX gives one, of no value, to a call without results.
  if (op->getNumResults() == 0 && shardings.getShardings().size() == 1)
    return success();
  return verifyShardings(shardings, op->getResultTypes(), "result", op);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// An op that carries one sharding of its result.
static LogicalResult verifyOpSharding(Operation *op,
                                      TensorShardingAttr sharding) {
  return verifySharding(sharding, op->getResult(0).getType(), op,
                        [&] { return op->emitOpError(); });
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getSharding());
}
LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getSharding());
}
LogicalResult DataFlowEdgeOp::verifySymbolUses(SymbolTableCollection &) {
  return getSharding() ? verifyOpSharding(*this, *getSharding()) : success();
}
LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult AllSliceOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult CollectivePermuteOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult ShardedToUnreducedOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}
LogicalResult
ReplicatedToUnreducedOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyOpSharding(*this, getOutSharding());
}

/// The region's sdy.return has as many values as the op has results, and its
/// arguments are as many as the operands.
static LogicalResult verifyRegion(Operation *op, Region &body) {
  if (body.getNumArguments() != op->getNumOperands())
    return op->emitOpError() << "region takes " << body.getNumArguments()
                             << " arguments, but there are "
                             << op->getNumOperands() << " operands";
  auto result = body.front().empty() ? ReturnOp()
                                     : dyn_cast<ReturnOp>(body.front().back());
  if (!result)
    return op->emitOpError("region must end in sdy.return");
  if (result.getNumOperands() != op->getNumResults())
    return op->emitOpError()
           << "region returns " << result.getNumOperands()
           << " values, but there are " << op->getNumResults() << " results";
  return success();
}

LogicalResult ManualComputationOp::verify() {
  llvm::StringSet<> names;
  for (StringAttr axis : getManualAxes().getAxes())
    if (!names.insert(axis.getValue()).second)
      return emitOpError() << "manual axis \"" << axis.getValue()
                           << "\" is given twice";
  return verifyRegion(*this, getBody());
}

/// Local types of one side: global sizes cut by the manual axes.
static LogicalResult verifyLocalTypes(ManualComputationOp op,
                                      TensorShardingPerValueAttr shardings,
                                      TypeRange global, TypeRange local,
                                      StringRef what) {
  auto isManual = [&](StringRef name) {
    return llvm::any_of(op.getManualAxes().getAxes(), [&](StringAttr axis) {
      return axis.getValue() == name;
    });
  };
  for (auto [index, sharding, globalType, localType] :
       llvm::enumerate(shardings.getShardings(), global, local)) {
    MeshAttr mesh = sharding.getMesh(op);
    for (StringAttr axis : op.getManualAxes().getAxes())
      if (!mesh.isMaximal() && !mesh.getAxis(axis.getValue()))
        return op.emitOpError()
               << "manual axis \"" << axis.getValue() << "\" is unknown; mesh "
               << sharding.getMeshOrRef() << " has " << mesh;
    auto from = dyn_cast<RankedTensorType>(globalType),
         to = dyn_cast<RankedTensorType>(localType);
    if (!from || !to) {
      if (globalType != localType)
        return op.emitOpError()
               << what << ' ' << index << " has type " << globalType
               << " outside and " << localType << " inside";
      continue;
    }
    SmallVector<int64_t> expected(from.getShape());
    for (auto [dim, entry] : llvm::enumerate(sharding.getDimShardings())) {
      bool sawFree = false;
      for (AxisRefAttr axis : entry.getAxes()) {
        if (!isManual(axis.getName())) {
          sawFree = true;
          continue;
        }
        if (sawFree)
          return op.emitOpError()
                 << what << ' ' << index << ": manual axis " << spell(axis)
                 << " of dim " << dim
                 << " must come before the axes that are not manual";
        if (!ShapedType::isDynamic(expected[dim]))
          expected[dim] = llvm::divideCeil(expected[dim], axis.getSize(mesh));
      }
    }
    if (from.getElementType() != to.getElementType() ||
        failed(verifyCompatibleShape(to.getShape(), expected)))
      return op.emitOpError()
             << what << ' ' << index << " has type " << localType
             << " inside, expected " << from.clone(expected) << " of global "
             << from << " along the manual axes";
  }
  return success();
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &) {
  if (failed(verifyShardings(getInShardings(), getTensors().getTypes(),
                             "operand", *this)) ||
      failed(verifyShardings(getOutShardings(), getResultTypes(), "result",
                             *this)) ||
      failed(verifyLocalTypes(*this, getInShardings(), getTensors().getTypes(),
                              ValueRange(getBody().getArguments()).getTypes(),
                              "operand")))
    return failure();
  return verifyLocalTypes(*this, getOutShardings(), getResultTypes(),
                          getBody().front().getTerminator()->getOperandTypes(),
                          "result");
}

LogicalResult NamedComputationOp::verify() {
  return verifyRegion(*this, getBody());
}

LogicalResult NamedComputationOp::verifySymbolUses(SymbolTableCollection &) {
  if (getInShardings() &&
      failed(verifyShardings(*getInShardings(), getOperandTypes(), "operand",
                             *this)))
    return failure();
  if (getOutShardings())
    return verifyShardings(*getOutShardings(), getResultTypes(), "result",
                           *this);
  return success();
}
