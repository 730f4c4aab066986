//===- ExpandCustomCalls.cpp - Known custom calls as ops ------------------===//
//
// A registry by name: what a custom call means, said in ops that all stages
// know. Runs before calls are inlined, since some targets name functions. Calls
// of other names are left to CheckSupported, which refuses them.
//
//===----------------------------------------------------------------------===//
#include "ExpandFusedAttention.h"
#include "ExpandRaggedExchange.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "shardc/Import/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace shardc;
using stablehlo::CustomCallOp;

namespace shardc {
#define GEN_PASS_DEF_EXPANDCUSTOMCALLSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

/// The options of a call, where JAX writes them: null if there are none.
static DictionaryAttr configOf(CustomCallOp call) {
  if (auto own = dyn_cast_or_null<DictionaryAttr>(
          call.getBackendConfig().value_or(nullptr)))
    return own;
  for (StringRef name : {"mhlo.backend_config", "mhlo.attributes"})
    if (auto config = call->getAttrOfType<DictionaryAttr>(name))
      return config;
  return {};
}

static InFlightDiagnostic refuse(CustomCallOp call) {
  return call.emitError("custom call @") << call.getCallTargetName() << " ";
}

/// The k best along one dim, by a comparator that the call names: here exactly,
/// which is among the answers that the approximation may give. Operands: n
/// tensors, then n initial values, which an exact answer does not need, then,
/// where results have dynamic dims, the n results' shapes.
static LogicalResult expandApproxTopK(CustomCallOp call) {
  DictionaryAttr config = configOf(call);
  auto dimAttr =
      config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  size_t count = call.getNumResults();
  size_t operands = call.getInputs().size();
  if (!dimAttr || count == 0 ||
      (operands != 2 * count && operands != 3 * count))
    return refuse(call) << "has " << call.getInputs().size() << " operands and "
                        << count
                        << " results, expected n tensors, n initial values, n "
                           "results and a reduction_dim";
  OperandRange shapes = call.getInputs().drop_front(2 * count);
  OperandRange inputs = call.getInputs().take_front(count);
  int64_t dim = dimAttr.getInt();
  for (auto [input, result] : llvm::zip(inputs, call.getResults())) {
    auto from = dyn_cast<RankedTensorType>(input.getType()),
         to = dyn_cast<RankedTensorType>(result.getType());
    if (!from || !to || from.getRank() != to.getRank() || dim < 0 ||
        dim >= from.getRank() ||
        (!from.isDynamicDim(dim) &&
         to.getDimSize(dim) > from.getDimSize(dim)) ||
        (!to.hasStaticShape() && shapes.empty()))
      return refuse(call) << "turns " << input.getType() << " into "
                          << result.getType() << ", expected a part of dim "
                          << dim;
  }
  func::FuncOp comparator;
  if (call.getCalledComputations().size() == 1)
    comparator = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call,
        cast<FlatSymbolRefAttr>(call.getCalledComputations()[0]).getAttr());
  if (!comparator || !comparator.getBody().hasOneBlock() ||
      comparator.getNumArguments() != 2 * count)
    return refuse(call) << "expects one comparator of " << 2 * count
                        << " arguments in called_computations";

  ImplicitLocOpBuilder builder(call.getLoc(), call);
  auto sort = stablehlo::SortOp::create(builder, inputs.getTypes(), inputs, dim,
                                        /*is_stable=*/true);
  IRMapping mapping;
  comparator.getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *terminator = sort.getComparator().front().getTerminator();
  OpBuilder inside(terminator);
  stablehlo::ReturnOp::create(inside, terminator->getLoc(),
                              terminator->getOperands());
  terminator->erase();
  for (auto [i, sorted, result] :
       llvm::enumerate(sort.getResults(), call.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
    Value slice;
    if (shapes.empty()) {
      slice = stablehlo::SliceOp::create(builder, type, sorted, zeros,
                                         type.getShape(), ones);
    } else {
      auto list = [&](int64_t number) -> Value {
        return stablehlo::ConstantOp::create(
            builder, DenseElementsAttr::get(
                         cast<ShapedType>(shapes[i].getType()),
                         APInt(getElementTypeOrSelf(shapes[i].getType())
                                   .getIntOrFloatBitWidth(),
                               number)));
      };
      slice = stablehlo::RealDynamicSliceOp::create(
          builder, type, sorted, list(0), shapes[i], list(1));
    }
    result.replaceAllUsesWith(slice);
  }
  call.erase();
  return success();
}

/// A function of chlo, under the name it had in older exports.
template <typename Op> static LogicalResult expandUnary(CustomCallOp call) {
  if (call.getInputs().size() != 1 || call.getNumResults() != 1 ||
      call.getInputs().getTypes() != call.getResultTypes())
    return refuse(call) << "expects one operand and one result of its type";
  OpBuilder builder(call);
  Operation *op = Op::create(builder, call.getLoc(), call.getResultTypes(),
                             call.getInputs()[0]);
  call.replaceAllUsesWith(op);
  call.erase();
  return success();
}

static LogicalResult expandTopK(CustomCallOp call) {
  DictionaryAttr config = configOf(call);
  auto k = config ? config.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest = config ? config.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || call.getInputs().size() != 1 || call.getNumResults() != 2 ||
      (largest && !largest.getValue()))
    return refuse(call)
           << "expects one operand, two results, k, and the largest asked for";
  OpBuilder builder(call);
  auto topK = chlo::TopKOp::create(builder, call.getLoc(),
                                   call.getResultTypes(), call.getInputs()[0],
                                   static_cast<uint64_t>(k.getInt()));
  call.replaceAllUsesWith(topK);
  call.erase();
  return success();
}

/// A mark that says nothing about values.
static LogicalResult forward(CustomCallOp call) {
  if (call.getInputs().getTypes() != call.getResultTypes())
    return refuse(call) << "expects results of its operands' types";
  call.replaceAllUsesWith(call.getInputs());
  call.erase();
  return success();
}

/// A wish about the order in which two values are made (JAX's `control_dep`):
/// Communication orders ops by what they need and by what waits.
static LogicalResult passOver(CustomCallOp call) {
  if (call.getNumResults() > 0)
    return refuse(call) << "expects no results";
  call.erase();
  return success();
}

/// A call of Python in the process that traced the program: function number
/// `index` there. Tokens go past it, since calls keep their order. One that
/// gives no values (jax.debug.print) is left out, unless somebody answers.
/// Older forms hold addresses of the process in place of a number: they stay,
/// to be refused.
static LogicalResult expandCallback(CustomCallOp call, bool hostCalls) {
  auto isToken = [](Value value) {
    return isa<stablehlo::TokenType>(value.getType());
  };
  auto pick = [](ValueRange values, auto condition) {
    return SmallVector<Value>(llvm::make_filter_range(values, condition));
  };
  SmallVector<Value> tokens = pick(call.getInputs(), isToken),
                     tokenResults = pick(call.getResults(), isToken);
  if (tokens.size() < tokenResults.size())
    return success();
  bool givesValues = tokenResults.size() < call.getNumResults();
  DictionaryAttr config = configOf(call);
  auto index = config ? config.getAs<IntegerAttr>("index") : IntegerAttr();
  if (!index && givesValues)
    return success();
  if (!givesValues && (!hostCalls || !index))
    call.emitWarning("left out: a call of Python that gives no values, as "
                     "jax.debug.print makes; nothing is printed");
  if (index && (givesValues || hostCalls)) {
    auto isValue = [&](Value value) { return !isToken(value); };
    SmallVector<Value> inputs = pick(call.getInputs(), isValue),
                       results = pick(call.getResults(), isValue);
    for (Value value : llvm::concat<Value>(inputs, results))
      if (!isa<RankedTensorType>(value.getType()))
        return refuse(call) << "has a value of type " << value.getType()
                            << ", expected ranked tensors and tokens";
    bool isPartitioned =
        call.getCallTargetName().contains("_partitioned_") && results.empty();
    OpBuilder builder(call);
    auto host = spmd::HostCallOp::create(
        builder, call.getLoc(), TypeRange(ValueRange(results)),
        static_cast<uint64_t>(index.getValue().getZExtValue()), inputs,
        /*has_effect=*/call.getHasSideEffect(), /*ordered=*/!tokens.empty(),
        /*shards=*/isPartitioned);
    for (auto [old, result] : llvm::zip_equal(results, host.getResults()))
      old.replaceAllUsesWith(result);
  }
  for (auto [result, token] : llvm::zip(tokenResults, tokens))
    result.replaceAllUsesWith(token);
  call.erase();
  return success();
}

static bool isCallback(StringRef target) {
  return llvm::is_contained(
      {"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
       "xla_ffi_partitioned_python_cpu_callback",
       "xla_ffi_partitioned_python_gpu_callback", "xla_python_cpu_callback",
       "xla_python_gpu_callback"},
      target);
}

static LogicalResult expandRagged(CustomCallOp call) {
  return expandRaggedAllToAll(call, configOf(call));
}

using Expand = LogicalResult (*)(CustomCallOp);

/// A call that only looks at values: it stays until they are laid out. Older
/// ones give what they look at.
static LogicalResult keepSink(CustomCallOp call) {
  if (call.getInputs().size() != 1 ||
      !isa<RankedTensorType>(call.getInputs()[0].getType()))
    return refuse(call) << "expects one tensor";
  // Those of its operand alone would not be well-formed as text.
  call.removeOperandLayoutsAttr();
  call.removeResultLayoutsAttr();
  if (call.getNumResults() == 0)
    return success();
  if (call->getResultTypes() != call->getOperandTypes())
    return refuse(call) << "has results, expected none";
  OperationState state(call.getLoc(), call->getName());
  state.addOperands(call->getOperands());
  state.addAttributes(call->getAttrs());
  OpBuilder(call).create(state);
  call.replaceAllUsesWith(call->getOperands());
  call.erase();
  return success();
}

static const llvm::StringMap<Expand> &registry() {
  static const llvm::StringMap<Expand> table = {
      {"ApproxTopK", expandApproxTopK},
      {stablehlo::kUsedSink, keepSink},
      {stablehlo::kInspectSink, keepSink},
      {"annotate_device_placement", forward},
      {"LayoutConstraint", forward},
      {"control_dep", passOver},
      {"mhlo.topk", expandTopK},
      {"ragged_all_to_all", expandRagged},
      {"mhlo.acos", expandUnary<chlo::AcosOp>},
      {"mhlo.acosh", expandUnary<chlo::AcoshOp>},
      {"mhlo.asin", expandUnary<chlo::AsinOp>},
      {"mhlo.asinh", expandUnary<chlo::AsinhOp>},
      {"mhlo.atanh", expandUnary<chlo::AtanhOp>},
      {"mhlo.cosh", expandUnary<chlo::CoshOp>},
      {"mhlo.erf", expandUnary<chlo::ErfOp>},
      {"mhlo.sinh", expandUnary<chlo::SinhOp>},
  };
  return table;
}

namespace {
struct ExpandCustomCallsPass final
    : shardc::impl::ExpandCustomCallsPassBase<ExpandCustomCallsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<CustomCallOp> calls;
    getOperation().walk([&](CustomCallOp call) { calls.push_back(call); });
    for (CustomCallOp call : calls)
      if (isCallback(call.getCallTargetName())) {
        if (failed(expandCallback(call, hostCalls)))
          return signalPassFailure();
      } else if (isFusedAttention(call.getCallTargetName())) {
        if (failed(expandFusedAttention(call)))
          return signalPassFailure();
      } else if (auto found = registry().find(call.getCallTargetName());
                 found != registry().end() && failed(found->second(call)))
        return signalPassFailure();
  }
};
} // namespace
