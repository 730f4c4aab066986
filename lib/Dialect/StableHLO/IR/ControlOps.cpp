//===- ControlOps.cpp - Control flow, calls, collectives: checks ----------===//
#include "Verify.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;
using namespace shardc::stablehlo::checks;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::verify() {
  Reporter report(*this);
  TypeRange types = getOperand().getTypes();
  if (!areCompatibleTypes(types, getResultTypes()))
    return report("results have types ", getResultTypes(),
                  ", expected those of the operands, ", types);
  for (Region *region : {&getCond(), &getBody()}) {
    TypeRange arguments = ValueRange(region->getArguments()).getTypes();
    if (!areCompatibleTypes(types, arguments))
      return report(region == &getCond() ? "cond" : "body", " takes ",
                    arguments, ", expected the operands' types ", types);
  }
  FailureOr<ReturnOp> cond = getReturn(report, getCond(), "cond");
  FailureOr<ReturnOp> body = getReturn(report, getBody(), "body");
  if (failed(cond) || failed(body))
    return failure();
  auto pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (cond->getNumOperands() != 1 || cond->getOperand(0).getType() != pred)
    return report("cond returns ", cond->getOperandTypes(), ", expected ",
                  pred);
  if (!areCompatibleTypes(body->getOperandTypes(), types))
    return report("body returns ", body->getOperandTypes(),
                  ", expected the operands' types ", types);
  return success();
}

static LogicalResult verifyBranch(const Reporter &report, Region &branch,
                                  std::string name, TypeRange results) {
  if (branch.getNumArguments() != 0)
    return report(name, " takes ", branch.getNumArguments(),
                  " arguments, expected none");
  FailureOr<ReturnOp> result = getReturn(report, branch, name);
  if (failed(result))
    return failure();
  if (!areCompatibleTypes(result->getOperandTypes(), results))
    return report(name, " returns ", result->getOperandTypes(),
                  ", expected the result types ", results);
  return success();
}

LogicalResult CaseOp::verify() {
  Reporter report(*this);
  if (getBranches().empty())
    return report("has no branch, expected at least one");
  for (auto [index, branch] : llvm::enumerate(getBranches()))
    if (failed(verifyBranch(report, branch, "branch " + std::to_string(index),
                            getResultTypes())))
      return failure();
  return success();
}

LogicalResult IfOp::verify() {
  Reporter report(*this);
  return failure(failed(verifyBranch(report, getTrueBranch(), "true_branch",
                                     getResultTypes())) ||
                 failed(verifyBranch(report, getFalseBranch(), "false_branch",
                                     getResultTypes())));
}

LogicalResult MapOp::verify() {
  Reporter report(*this);
  if (getInputs().empty())
    return report("has no operand, expected at least one");
  if (getComputation().getNumArguments() != getInputs().size())
    return report("computation takes ", getComputation().getNumArguments(),
                  " arguments, expected one for each of the ",
                  getInputs().size(), " operands");
  FailureOr<ReturnOp> result =
      getReturn(report, getComputation(), "computation");
  if (failed(result))
    return failure();
  auto expected = RankedTensorType::get({}, getType().getElementType());
  if (result->getNumOperands() != 1 ||
      result->getOperand(0).getType() != expected)
    return report("computation returns ", result->getOperandTypes(),
                  ", expected ", expected);
  for (auto [argument, input] :
       llvm::zip(getComputation().getArguments(), getInputs()))
    if (argument.getType() !=
        RankedTensorType::get({}, getElementTypeOrSelf(input)))
      return report("computation's argument ", argument.getArgNumber(),
                    " has type ", argument.getType(),
                    ", expected one element of ", input.getType());
  if (llvm::equal(getDimensions(), llvm::seq(getType().getRank())))
    return success();
  return report("dimensions are ", toString(getDimensions()),
                ", expected all dims of ", getType(), " in order");
}

LogicalResult OptimizationBarrierOp::verify() {
  if (areCompatibleTypes(getOperand().getTypes(), getResultTypes()))
    return success();
  return Reporter(*this)("results have types ", getResultTypes(),
                         ", expected those of the operands, ",
                         getOperand().getTypes());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

/// One layout for each value: minor-to-major dims, a permutation.
static LogicalResult verifyLayouts(const Reporter &report, StringRef name,
                                   std::optional<ArrayAttr> layouts,
                                   TypeRange types) {
  if (!layouts)
    return success();
  if (layouts->size() != types.size())
    return report(name, " has ", layouts->size(), " entries, expected ",
                  types.size());
  for (auto [attr, type] : llvm::zip(*layouts, types)) {
    auto layout = dyn_cast<DenseIntElementsAttr>(attr);
    if (!layout || !layout.getElementType().isIndex())
      return report(name, " holds ", attr,
                    ", expected dense elements of index");
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (failed(verifyLength(report, name, layout.getNumElements(),
                            tensor.getRank(), "its tensor")))
      return failure();
    SmallVector<int64_t> dims;
    for (const APInt &dim : layout)
      dims.push_back(dim.getSExtValue());
    if (failed(verifyDims(report, name, dims, tensor.getRank())))
      return failure();
  }
  return success();
}

/// The part of `type` that `indices` lead to, through tuples; none where they
/// lead out of it.
static Type getPart(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
      return {};
    type = tuple.getType(index);
  }
  return type;
}

/// Each alias is between a value that goes in and one of its type that comes
/// out.
static LogicalResult verifyAliases(const Reporter &report, CustomCallOp op) {
  Type results = op.getNumResults() == 1
                     ? op.getResult(0).getType()
                     : TupleType::get(op.getContext(), op.getResultTypes());
  for (auto alias :
       op.getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>()) {
    int64_t operand = alias.getOperandIndex();
    if (operand < 0 || operand >= static_cast<int64_t>(op.getInputs().size()))
      return report("output_operand_aliases names operand ", operand,
                    ", but there are ", op.getInputs().size());
    Type in = getPart(op.getInputs()[operand].getType(),
                      alias.getOperandTupleIndices()),
         out = getPart(results, alias.getOutputTupleIndices());
    if (!in || !out)
      return report("output_operand_aliases holds ", alias,
                    ", which names no part of the ",
                    in ? "results" : "operand");
    if (in != out)
      return report("output_operand_aliases shares ", in, " of operand ",
                    operand, " with ", out, ", expected one type");
  }
  return success();
}

LogicalResult CustomCallOp::verify() {
  Reporter report(*this);
  if (failed(verifyLayouts(report, "operand_layouts", getOperandLayouts(),
                           getInputs().getTypes())))
    return failure();
  std::optional<ArrayAttr> layouts = getResultLayouts();
  bool isOneTuple =
      getNumResults() == 1 && isa<TupleType>(getResult(0).getType());
  if (!isOneTuple && failed(verifyLayouts(report, "result_layouts", layouts,
                                          getResultTypes())))
    return failure();
  return verifyAliases(report, *this);
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Reporter report(*this);
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getDecompositionAttr());
  if (!function)
    return report("decomposition @", getDecomposition(),
                  " is not a function of this module");
  if (!llvm::equal(function.getArgumentTypes(), getInputs().getTypes()) ||
      !llvm::equal(function.getResultTypes(), getResultTypes()))
    return report("decomposition @", getDecomposition(), " has type ",
                  function.getFunctionType(), ", expected ",
                  getInputs().getTypes(), " -> ", getResultTypes());
  return success();
}

LogicalResult TupleOp::verify() {
  if (llvm::equal(cast<TupleType>(getType()).getTypes(), getOperandTypes()))
    return success();
  return Reporter(*this)("result has type ", getType(),
                         ", expected a tuple of ", getOperandTypes());
}

LogicalResult GetTupleElementOp::verify() {
  Reporter report(*this);
  auto tuple = cast<TupleType>(getOperand().getType());
  if (getIndex() >= tuple.size())
    return report("index is ", getIndex(), ", but the tuple has ", tuple.size(),
                  " values");
  if (tuple.getType(getIndex()) != getType())
    return report("result has type ", getType(), ", expected ",
                  tuple.getType(getIndex()));
  return success();
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

static RankedTensorType getRankType(MLIRContext *context) {
  return RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned));
}

LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(getRankType(context));
  return success();
}

LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(getRankType(context));
  return success();
}

/// Most members that a collective may name.
static constexpr int64_t kMaxMembers = 1 << 20;

/// A splat may claim more members than any machine has.
static LogicalResult verifyMemberCount(const Reporter &report, StringRef name,
                                       DenseIntElementsAttr members) {
  if (members.getNumElements() <= kMaxMembers)
    return success();
  return report(name, " has type ", members.getType(), ", which is more than ",
                kMaxMembers, " numbers");
}

/// What an op asks of its groups.
enum class Groups {
  /// Of any members: the others get zeros.
  Some,
  /// The same; -1 pads short groups.
  SomePadded,
  /// All members are in one, from 0 on; -1 pads short groups.
  All,
  /// As many members in each as well.
  AllOfOneSize
};

/// Dense groups are groups x members, no member twice.
/// Returns the size of the groups, `?` where they differ or a mesh says it.
static FailureOr<int64_t> verifyGroups(const Reporter &report, Attribute groups,
                                       Groups asked) {
  auto dense = dyn_cast<DenseIntElementsAttr>(groups);
  if (!dense)
    return ShapedType::kDynamic;
  if (dense.getType().getRank() != 2)
    return LogicalResult(report("replica_groups has type ", dense.getType(),
                                ", expected groups x members"));
  if (failed(verifyMemberCount(report, "replica_groups", dense)))
    return failure();
  llvm::DenseSet<int64_t> seen;
  bool padded = false;
  for (const APInt &value : dense) {
    int64_t member = value.getSExtValue();
    if (member == -1 && (asked == Groups::All || asked == Groups::SomePadded)) {
      padded = true;
      continue;
    }
    if (member < 0)
      return LogicalResult(
          report("replica_groups holds ", member, ", expected 0 or more"));
    if (!seen.insert(member).second)
      return LogicalResult(
          report("replica_groups holds member ", member, " twice"));
  }
  for (int64_t member : llvm::seq<int64_t>(seen.size()))
    if (asked != Groups::Some && asked != Groups::SomePadded &&
        !seen.contains(member))
      return LogicalResult(report("replica_groups names ", seen.size(),
                                  " members without ", member,
                                  ", expected all from 0 on"));
  return padded || dense.empty() ? ShapedType::kDynamic
                                 : dense.getType().getDimSize(1);
}

/// `operand`'s shape with dim `dim` multiplied and divided by group sizes.
static LogicalResult verifyResized(const Reporter &report, Type operandType,
                                   Type resultType, int64_t dim, int64_t factor,
                                   bool divide) {
  auto operand = cast<RankedTensorType>(operandType),
       result = cast<RankedTensorType>(resultType);
  SmallVector<int64_t> expected(operand.getShape());
  int64_t &size = expected[dim];
  if (isDynamic(factor)) {
    size = ShapedType::kDynamic;
  } else if (!isDynamic(size)) {
    if (divide && size % factor)
      return report("group size ", factor, " does not divide the ", size,
                    " elements of dim ", dim);
    size = divide ? size / factor : size * factor;
  }
  return verifyShape(report, "result", result, expected);
}

/// As many results as operands, with equal element types.
static LogicalResult verifySameCount(const Reporter &report,
                                     ValueRange operands, TypeRange results) {
  if (operands.empty() || operands.size() != results.size())
    return report("has ", operands.size(), " operands and ", results.size(),
                  " results, expected as many, and at least one");
  for (auto [operand, result] : llvm::zip(operands, results))
    if (failed(verifyElementTypes(report, "operand", operand.getType(),
                                  "result", result)))
      return failure();
  return success();
}

/// Global ids name processes, which a channel of at least `least` connects.
template <typename OpT>
static LogicalResult verifyGlobalIds(const Reporter &report, OpT op,
                                     int64_t least) {
  ChannelHandleAttr channel = op.getChannelHandleAttr();
  int64_t handle = channel ? channel.getHandle() : 0;
  if (!op.getUseGlobalDeviceIds() || handle >= least)
    return success();
  return report("has use_global_device_ids and channel ", handle,
                ", expected one of ", least, " or more");
}

/// The size of the groups of processes: `?` where groups of replicas stand for
/// all partitions of these as well, whose number the op does not say.
template <typename OpT>
static FailureOr<int64_t> verifyProcessGroups(const Reporter &report, OpT op) {
  FailureOr<int64_t> size =
      verifyGroups(report, op.getReplicaGroups(), Groups::AllOfOneSize);
  bool hasChannel =
      op.getChannelHandle() && op.getChannelHandle()->getHandle() > 0;
  if (failed(size) || !hasChannel || op.getUseGlobalDeviceIds())
    return size;
  return ShapedType::kDynamic;
}

LogicalResult AllGatherOp::verify() {
  Reporter report(*this);
  FailureOr<int64_t> size = verifyProcessGroups(report, *this);
  if (failed(size) || failed(verifyGlobalIds(report, *this, /*least=*/0)) ||
      failed(verifySameCount(report, getOperands(), getResultTypes())))
    return failure();
  int64_t dim = getAllGatherDim();
  for (auto [operand, result] : llvm::zip(getOperands(), getResultTypes()))
    if (failed(
            verifyDims(report, "all_gather_dim", dim,
                       cast<RankedTensorType>(operand.getType()).getRank())) ||
        failed(verifyResized(report, operand.getType(), result, dim, *size,
                             /*divide=*/false)))
      return failure();
  return success();
}

LogicalResult checks::verifyReducerOfOneType(const Reporter &report,
                                             Region &region,
                                             TypeRange operands) {
  if (failed(verifyReducer(report, region, 1, operands.take_front(1))))
    return failure();
  Type element = getReducerElementType(region, 0);
  for (auto [index, operand] : llvm::enumerate(operands))
    if (getElementTypeOrSelf(operand) != element)
      return report("operand ", index, " has type ", operand,
                    ", but the reducer combines elements of ", element);
  return success();
}

LogicalResult AllReduceOp::verify() {
  Reporter report(*this);
  if (failed(verifyGroups(report, getReplicaGroups(), Groups::All)) ||
      failed(verifyGlobalIds(report, *this, /*least=*/1)) ||
      failed(verifySameCount(report, getOperands(), getResultTypes())) ||
      failed(verifyReducerOfOneType(report, getComputation(),
                                    TypeRange(getOperands()))))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResultTypes()))
    if (failed(
            verifyShape(report, "result", result,
                        cast<RankedTensorType>(operand.getType()).getShape())))
      return failure();
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  Reporter report(*this);
  FailureOr<int64_t> size = verifyProcessGroups(report, *this);
  int64_t dim = getScatterDimension();
  if (failed(size) || failed(verifyGlobalIds(report, *this, /*least=*/1)) ||
      failed(verifyReducerOfOneType(report, getComputation(),
                                    getOperand().getType())) ||
      failed(verifyElementTypes(report, "operand", getOperand().getType(),
                                "result", getType())) ||
      failed(verifyDims(report, "scatter_dimension", dim,
                        getOperand().getType().getRank())))
    return failure();
  return verifyResized(report, getOperand().getType(), getType(), dim, *size,
                       /*divide=*/true);
}

LogicalResult AllToAllOp::verify() {
  Reporter report(*this);
  FailureOr<int64_t> size =
      verifyGroups(report, getReplicaGroups(), Groups::AllOfOneSize);
  if (failed(size) ||
      failed(verifySameCount(report, getOperands(), getResultTypes())))
    return failure();
  int64_t split = getSplitDimension(), concat = getConcatDimension(),
          count = getSplitCount();
  if (count < 1 || !sizesAgree(count, *size))
    return report("split_count is ", count, ", expected the group size ",
                  toString(*size));
  for (auto [operand, result] : llvm::zip(getOperands(), getResultTypes())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(verifyDims(report, "split_dimension", split, type.getRank())) ||
        failed(verifyDims(report, "concat_dimension", concat, type.getRank())))
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    if (!isDynamic(shape[split])) {
      if (shape[split] % count)
        return report("split_count ", count, " does not divide the ",
                      shape[split], " elements of dim ", split);
      shape[split] /= count;
    }
    if (!isDynamic(shape[concat]))
      shape[concat] *= count;
    if (failed(verifyShape(report, "result", result, shape)))
      return failure();
  }
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  Reporter report(*this);
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return report("source_target_pairs has type ", pairs.getType(),
                  ", expected pairs x 2");
  if (failed(verifyMemberCount(report, "source_target_pairs", pairs)))
    return failure();
  llvm::DenseSet<int64_t> seen[2];
  for (auto [index, value] : llvm::enumerate(pairs.getValues<int64_t>())) {
    if (value < 0)
      return report("source_target_pairs holds ", value,
                    ", expected 0 or more");
    if (!seen[index % 2].insert(value).second)
      return report("source_target_pairs names ",
                    index % 2 ? "target " : "source ", value, " twice");
  }
  return success();
}

// What JAX writes ends with the groups. A dynamic root is a list around them,
// so that its bytecode is read as before.
LogicalResult
CollectiveBroadcastOp::readProperties(DialectBytecodeReader &reader,
                                      OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.channel_handle)) ||
      failed(reader.readAttribute(properties.replica_groups)))
    return failure();
  auto list = dyn_cast<ArrayAttr>(properties.replica_groups);
  if (!list)
    return success();
  if (list.size() != 1)
    return reader.emitError("expected the groups of a collective_broadcast "
                            "alone in a list");
  properties.replica_groups = list[0];
  properties.has_dynamic_root = UnitAttr::get(reader.getContext());
  return success();
}

void CollectiveBroadcastOp::writeProperties(DialectBytecodeWriter &writer) {
  const Properties &properties = getProperties();
  writer.writeOptionalAttribute(properties.channel_handle);
  Attribute groups = properties.replica_groups;
  if (properties.has_dynamic_root)
    groups = ArrayAttr::get(getContext(), groups);
  writer.writeAttribute(groups);
}

LogicalResult CollectiveBroadcastOp::verify() {
  Reporter report(*this);
  // Only those of computed roots, which came later, may have several sizes.
  if (failed(verifyGroups(report, getReplicaGroups(),
                          getHasDynamicRoot() ? Groups::SomePadded
                                              : Groups::Some)))
    return failure();
  ValueRange sent = getOperands();
  if (getHasDynamicRoot()) {
    auto root = sent.empty() ? RankedTensorType()
                             : cast<RankedTensorType>(sent.back().getType());
    int64_t others = static_cast<int64_t>(sent.size()) - 1;
    if (!root || root.getRank() != 1 || !root.getElementType().isInteger() ||
        !sizesAgree(root.getDimSize(0), others))
      return report("has has_dynamic_root: expected that the last operand is a "
                    "list of integers, one for each of the others");
    sent = sent.drop_back();
  }
  if (sent.empty() || !areCompatibleTypes(sent.getTypes(), getResultTypes()))
    return report("has results of types ", getResultTypes(),
                  ", expected those of what it sends, ", sent.getTypes());
  return success();
}
