//===- SpmdContracts.cpp - Verifies what stages leave for one another -----===//
//
// One row an attribute: where it may be attached, and which values are valid.
//
//===----------------------------------------------------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

StringRef spmd::withoutDialect(StringRef opName) {
  opName.consume_front("stablehlo.") || opName.consume_front("spmd.");
  return opName;
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
  if (function && contract::LocalView::has(function))
    shape.assign(shape.size(), ShapedType::kDynamic);
  return sharding.verifyFor(mesh, shape,
                            [&] { return op->emitOpError() << what << ": "; });
}

//===----------------------------------------------------------------------===//
// Places and values
//===----------------------------------------------------------------------===//

namespace {
/// Where an attribute may be attached. `OnOps`: on those whose names begin with
/// one of a row's prefixes; on all where there are none.
enum Places : unsigned {
  OnModules = 1,
  OnFunctions = 2,
  OnArguments = 4,
  OnResults = 8,
  OnOps = 16
};

struct Row {
  StringLiteral name;
  unsigned places;
  StringLiteral where;    ///< the same in words
  StringLiteral expected; ///< values, in words
  bool (*isValue)(Attribute);
  SmallVector<StringRef, 4> ops = {};
  /// Whether a value is one for the op that has it; null: each is.
  bool (*fits)(Operation *, Attribute) = nullptr;
};
} // namespace

template <typename C> static bool isOfType(Attribute value) {
  return isa<typename C::Attr>(value);
}

template <int64_t least> static bool isAtLeast(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getValue().sge(least);
}

template <typename Element> static bool isListOf(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Element>);
}

static bool areKernels(Attribute value) {
  return isListOf<ArrayAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value), [](Attribute entry) {
           return isListOf<StringAttr>(entry) &&
                  cast<ArrayAttr>(entry).size() == 2;
         });
}

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

/// True if `value` has an entry for each output of `op`: a number of its
/// elements' type, or unit.
static bool areStarts(Operation *op, Attribute value) {
  auto starts = cast<ArrayAttr>(value);
  auto target = dyn_cast<DestinationStyleOpInterface>(op);
  return target && int64_t(starts.size()) == target.getNumDpsInits() &&
         llvm::all_of(llvm::zip_equal(starts, target.getDpsInits()),
                      [](auto entry) {
                        auto [start, output] = entry;
                        if (isa<UnitAttr>(start))
                          return true;
                        return isa<FloatAttr, IntegerAttr>(start) &&
                               cast<TypedAttr>(start).getType() ==
                                   getElementTypeOrSelf(output.getType());
                      });
}

template <typename C>
static Row mark(unsigned places, StringLiteral where,
                SmallVector<StringRef, 4> ops = {}) {
  return {C::name(), places, where, "no value", isOfType<C>, std::move(ops)};
}

static std::vector<Row> makeRows() {
  using namespace contract;
  using Extents = contract::Extents;
  // What an op's body computes with, before and after its lowering.
  const SmallVector<StringRef, 4> arithmetic = {"arith.", "math.", "complex.",
                                                "vector.", "llvm."};
  const SmallVector<StringRef, 4> kernels = {"gpu.launch", "gpu.func",
                                             "llvm.func"};
  constexpr StringLiteral ofArithmetic = "arithmetic", ofModules = "modules",
                          ofFunctions = "functions",
                          ofValues = "functions' arguments and results",
                          ofArguments = "functions' arguments",
                          ofResults = "functions' results",
                          ofKernels = "launches and kernels", ofOps = "ops";
  constexpr unsigned onValues = OnArguments | OnResults;
  return {
      {Sharding::name(), onValues, ofValues, "a #spmd.sharding",
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
      {Way::name(),
       OnOps,
       "ops on all pairs",
       "a #spmd.way",
       isOfType<Way>,
       {"spmd.all_pairs", "spmd.attention_backward"}},
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
      mark<WholeSum>(OnOps, "ops that sum", {"stablehlo.", "chlo.", "spmd."}),
      mark<OfManual>(OnOps, ofOps),
      mark<WholeLines>(OnOps, "'stablehlo.fft'", {"stablehlo.fft"}),

      mark<LocalView>(OnFunctions, ofFunctions),
      {GlobalType::name(), onValues, ofValues, "the type of a whole tensor",
       [](Attribute value) {
         auto type = dyn_cast<TypeAttr>(value);
         return type && isa<ShapedType>(type.getValue());
       }},
      mark<Running>(OnOps, "'stablehlo.reduce_window'",
                    {"stablehlo.reduce_window"}),
      {MemoryPlan::name(), OnFunctions, ofFunctions, "a #spmd.memory_plan",
       isOfType<MemoryPlan>},
      {Again::name(),
       OnOps,
       "'stablehlo.optimization_barrier' and 'scf.execute_region'",
       "a number",
       isOfType<Again>,
       {"stablehlo.optimization_barrier", "scf.execute_region"}},
      {Blocks::name(),
       OnOps,
       "'stablehlo.while'",
       "an array of iterations, rows in each, and rows",
       [](Attribute value) {
         auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
         return numbers && numbers.size() == 3;
       },
       {"stablehlo.while"}},

      {Sites::name(), OnModules, ofModules, "a #spmd.site_table",
       isOfType<Sites>},
      {EntryInputs::name(), OnModules, ofModules, "a list of dictionaries",
       isListOf<DictionaryAttr>},
      {EntryOutputs::name(), OnModules, ofModules, "a list of dictionaries",
       isListOf<DictionaryAttr>},

      mark<AnyOrder>(OnOps, ofArithmetic, arithmetic),
      mark<RoundedOnce>(OnOps, ofArithmetic, arithmetic),
      mark<Brief>(OnOps, ofArithmetic, arithmetic),
      mark<Logistic>(OnOps, ofArithmetic, arithmetic),
      mark<Rotated>(OnOps, "loops", {"scf.for", "scf.while"}),
      {Parts::name(),
       OnOps,
       "'scf.for'",
       "a number of at least 1",
       isAtLeast<1>,
       {"scf.for"}},
      {Kernels::name(), OnModules, ofModules,
       "a list of names and source lines", areKernels},
      mark<Arena>(OnArguments, ofArguments),
      {MemoryKind::name(), onValues, ofValues, "a string",
       isOfType<MemoryKind>},
      {Ranks::name(), onValues, ofValues, "an array of ranks", isOfType<Ranks>},
      {CallerDims::name(), onValues, ofValues, "an array of dims, each once",
       isPermutation},
      mark<Token>(onValues, ofValues),
      {LineOrder::name(),
       OnOps,
       "'spmd.lines'",
       "a #spmd.line_order",
       isOfType<LineOrder>,
       {"spmd.lines"}},
      {InPlace::name(), OnArguments, ofArguments, "the number of an argument",
       isAtLeast<0>},
      {WrittenInPlace::name(), OnModules, ofModules,
       "an array of numbers of arguments, or -1", isOfType<WrittenInPlace>},
      {ArenaBytes::name(), OnModules, ofModules, "a number of at least 0",
       isAtLeast<0>},
      {ArenaLargest::name(), OnModules, ofModules, "a string",
       isOfType<ArenaLargest>},
      {ArenaPlan::name(), OnModules, ofModules, "a list of #spmd.arena_buffer",
       isListOf<ArenaBufferAttr>},

      {Gpu::name(), OnOps, ofKernels, "a #spmd.gpu", isOfType<Gpu>, kernels},
      mark<Otherwise>(OnOps, ofKernels, kernels),
      mark<Persistent>(OnOps, ofKernels, kernels),
      mark<Paired>(OnOps, ofKernels, kernels),
      {TensorFloat::name(), OnOps, ofArithmetic, "a #spmd.tensor_float",
       isOfType<TensorFloat>, arithmetic},
      {TensorMap::name(),
       OnOps,
       "casts to pointers",
       "a list of arrays of dims",
       isListOf<DenseI64ArrayAttr>,
       {"builtin.unrealized_conversion_cast"}},
      {TensorBox::name(),
       OnOps,
       "casts to pointers",
       "an array of sizes",
       isOfType<TensorBox>,
       {"builtin.unrealized_conversion_cast"}},
      {TensorMaps::name(), OnOps, ofKernels, "a number of at least 0",
       isAtLeast<0>, kernels},

      {Starts::name(),
       OnOps,
       "'linalg.generic' and 'spmd.pair_step'",
       "for each output a number of its elements' type, or unit",
       isOfType<Starts>,
       {"linalg.generic", "spmd.pair_step"},
       areStarts},
      {ComplexPart::name(),
       OnOps,
       "casts",
       "0, 1 or -1",
       [](Attribute value) {
         return isAtLeast<-1>(value) &&
                cast<IntegerAttr>(value).getValue().sle(1);
       },
       {"builtin.unrealized_conversion_cast"}},
      mark<LibraryCall>(OnOps, ofArithmetic, arithmetic),
  };
}

static const Row *findRow(StringRef name) {
  static const std::vector<Row> rows = makeRows();
  static const llvm::StringMap<const Row *> byName = [] {
    llvm::StringMap<const Row *> map;
    for (const Row &row : rows)
      map[row.name] = &row;
    return map;
  }();
  return byName.lookup(name);
}

/// Verifies `attr`, which is attached to a `place` of `op`; `on` says which.
static LogicalResult verify(Operation *op, NamedAttribute attr, unsigned place,
                            const Twine &on = "") {
  StringRef name = attr.getName();
  const Row *row = findRow(name);
  if (!row)
    return op->emitOpError()
           << on << "'" << name
           << "' is unknown; SpmdAttributes.td declares all attributes of spmd";
  bool isAllowed = row->places & place;
  if (isAllowed && place == OnOps && !row->ops.empty())
    isAllowed = llvm::any_of(row->ops, [&](StringRef prefix) {
      return op->getName().getStringRef().starts_with(prefix);
    });
  if (!isAllowed)
    return op->emitOpError()
           << on << "'" << name << "' is an attribute of " << row->where;
  if (!row->isValue(attr.getValue()) ||
      (row->fits && !row->fits(op, attr.getValue())))
    return op->emitOpError() << on << "'" << name << "' is " << attr.getValue()
                             << ", expected " << row->expected;
  return success();
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
  if (isa<ModuleOp>(op))
    return verify(op, attr, OnModules);
  const Row *row = findRow(attr.getName());
  bool isOfFunctions = row && (row->places & OnFunctions);
  return verify(op, attr,
                isOfFunctions && isa<FunctionOpInterface>(op) ? OnFunctions
                                                              : OnOps);
}

LogicalResult SpmdDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned region,
                                                    unsigned arg,
                                                    NamedAttribute attr) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (attr.getName() != kShardingAttrName)
    return verify(op, attr, OnArguments, "argument " + Twine(arg) + ": ");
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
    return verify(op, attr, OnResults, "result " + Twine(result) + ": ");
  if (!function)
    return op->emitOpError()
           << "result " << result
           << " has a sharding, but only functions' results may";
  return verifySharding(op, attr.getValue(), function.getResultTypes()[result],
                        "result " + Twine(result));
}
