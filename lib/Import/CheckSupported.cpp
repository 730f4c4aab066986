//===- CheckSupported.cpp - What no later stage knows ---------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_CHECKSUPPORTEDPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static InFlightDiagnostic unsupported(Operation *op) {
  return emitUnsupported(op->getLoc()) << "'" << op->getName().getStringRef()
                                       << "' at " << userLocation(op->getLoc());
}

/// The element types that there is code for.
static bool isKnown(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  if (auto integer = dyn_cast<IntegerType>(element))
    return llvm::is_contained({2u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth())
               ? !integer.isSigned()
               : integer.isSignlessInteger(1);
  return element.isF16() || element.isBF16() || element.isF32() ||
         element.isF64() ||
         (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8);
}

static LogicalResult checkType(Operation *op, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitUnsupported(op->getLoc())
           << what << " has type " << type << "; only ranked tensors are known";
  if (!tensor.hasStaticShape())
    return emitUnsupported(op->getLoc())
           << what << " has dynamic shape " << type
           << "; export with constant shapes";
  Type element = tensor.getElementType();
  if (!isKnown(element))
    return emitUnsupported(op->getLoc())
           << what << " has element type " << element
           << "; expected i1 to i64, ui2 to ui64, f16 to f64, bf16, floats "
              "of 8 bits and less, or complex numbers of f32 or f64";
  return success();
}

/// Ops of StableHLO that nothing here can do outside of
/// `interpreter.run_parallel`, and what to do instead; empty for others.
static StringRef adviceFor(Operation *op) {
  if (isa<stablehlo::InfeedOp, stablehlo::OutfeedOp, stablehlo::SendOp,
          stablehlo::RecvOp>(op))
    return "it moves data in or out while the program runs; give arguments and "
           "results";
  if (isa<stablehlo::CrossReplicaSumOp>(op))
    return "it is of older versions; export with a newer one";
  if (isa<stablehlo::CollectiveReduceOp>(op))
    return "it is known between the programs of a conformance file alone; give "
           "all_reduce";
  return {};
}

/// Whether rows or columns of the matrices that `op` is given are an open
/// extent. Vectors beside them have as many elements.
static bool hasOpenMatrices(Operation *op) {
  spmd::ExtentsAttr extents =
      spmd::contract::Extents::get(op->getParentOfType<ModuleOp>());
  if (!extents || isa<solver::PermutationOp>(op))
    return false;
  Extents open = extents.getExtents();
  ArrayRef<int64_t> shape;
  for (Type type : op->getOperandTypes())
    if (auto tensor = cast<RankedTensorType>(type);
        tensor.getRank() > static_cast<int64_t>(shape.size()))
      shape = tensor.getShape();
  return llvm::any_of(shape.take_back(2),
                      [&](int64_t size) { return open.isOpen(size); });
}

static LogicalResult checkOp(Operation *op) {
  if (isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
          stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
          stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
          stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op)) {
    auto replicas = op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(
        "mhlo.num_replicas");
    bool several = replicas && replicas.getInt() > 1;
    if (!op->getParentOfType<sdy::ManualComputationOp>() &&
        !op->getParentOfType<spmd::ManualOp>()) {
      if (several)
        return unsupported(op) << ": the program runs as " << replicas.getInt()
                               << " replicas, each with arguments and results "
                                  "of its own, but is given one set of them; "
                                  "use shard_map, whose partitions are ranks";
      return unsupported(op)
             << ": the program already communicates by itself, outside a "
                "manual region; "
                "give the global program and annotations, or use shard_map";
    }
    if (several)
      return unsupported(op) << ": the program has " << replicas.getInt()
                             << " replicas; expected one, of as many "
                                "partitions as the mesh has ranks";
  }
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      call && !stablehlo::isSink(call) && !stablehlo::isPartitioned(call))
    return unsupported(op)
           << ": no custom call of target @" << call.getCallTargetName()
           << " is known"
           << (call.getCallTargetName().contains("python")
                   ? "; it calls Python of the process that traced the "
                     "program: export without callbacks (of Equinox and "
                     "Diffrax: with EQX_ON_ERROR=nan)"
                   : "");
  Dialect *dialect = op->getDialect();
  if (!dialect || !llvm::is_contained({"stablehlo", "chlo", "sdy", "solver",
                                       "spmd", "pairs", "func"},
                                      dialect->getNamespace()))
    return unsupported(op) << ": expected ops of stablehlo, chlo, sdy and spmd";
  if (op->getName().getDialectNamespace() == "func" && !isa<func::ReturnOp>(op))
    return unsupported(op) << ": only calls by name are known";
  if (dialect->getNamespace() == solver::SolverDialect::getDialectNamespace() &&
      hasOpenMatrices(op))
    return unsupported(op) << ": it factors matrices of known sizes alone, and "
                              "these have an open extent; give shapes of the "
                              "arguments (--shapes)";
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(checkType(op, type,
                         "result " + Twine(i) + " of '" +
                             op->getName().getStringRef() + "' at " +
                             userLocation(op->getLoc()))))
      return failure();
  for (StringRef name : {"mhlo.sharding"})
    if (op->hasAttr(name))
      return unsupported(op) << " has '" << name
                             << "', the form of an older partitioner; "
                                "export with jax_use_shardy_partitioner";
  return success();
}

/// Annotations on a function's arguments or results, in forms that
/// would be lost unnoticed.
static LogicalResult checkAnnotations(func::FuncOp main, DictionaryAttr attrs,
                                      const Twine &what) {
  if (!attrs)
    return success();
  if (attrs.contains("mhlo.sharding"))
    return emitUnsupported(main)
           << what
           << " has 'mhlo.sharding', the form of an older partitioner; "
              "export with jax_use_shardy_partitioner";
  if (auto frontend = attrs.getAs<DictionaryAttr>("mhlo.frontend_attributes"))
    for (NamedAttribute attr : frontend)
      if (attr.getName().getValue().starts_with("xla.sdy"))
        return emitUnsupported(main)
               << what << " has '" << attr.getName().getValue()
               << "', Shardy's serialized form; print the module before it is "
                  "serialized";
  return success();
}

static LogicalResult checkModule(ModuleOp module) {
  for (Operation &op : module.getOps())
    if (!isa<func::FuncOp, sdy::MeshOp, spmd::MeshOp>(op))
      return unsupported(&op) << ": expected functions and meshes in a module";
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (failed(checkAnnotations(main, module->getDiscardableAttrDictionary(),
                              "module")))
    return failure();
  // Their tokens say less than they do.
  WalkResult known = main.walk<WalkOrder::PreOrder>([](Operation *op) {
    StringRef advice = adviceFor(op);
    if (advice.empty())
      return WalkResult::advance();
    emitUnsupported(op, "'") << op->getName() << "': " << advice;
    return WalkResult::interrupt();
  });
  if (known.wasInterrupted())
    return failure();
  auto checkOps = [&] {
    return success(!main.getBody()
                        .walk<WalkOrder::PreOrder>([](Operation *op) {
                          return WalkResult(checkOp(op));
                        })
                        .wasInterrupted());
  };
  // Who reads a token says more than that there is one.
  if (llvm::any_of(main.getArguments(),
                   [](Value value) {
                     return isa<stablehlo::TokenType>(value.getType()) &&
                            !value.use_empty();
                   }) &&
      failed(checkOps()))
    return failure();
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    if (failed(checkType(main, type, "argument " + Twine(i) + " of @main")) ||
        failed(checkAnnotations(main, main.getArgAttrDict(i),
                                "argument " + Twine(i) + " of @main")))
      return failure();
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    if (failed(checkType(main, type, "result " + Twine(i) + " of @main")) ||
        failed(checkAnnotations(main, main.getResultAttrDict(i),
                                "result " + Twine(i) + " of @main")))
      return failure();
  return checkOps();
}

namespace {
struct CheckSupportedPass final
    : shardc::impl::CheckSupportedPassBase<CheckSupportedPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(checkModule(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
