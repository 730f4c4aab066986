//===- ConvertForeignShardings.cpp - Other spellings of shardings ---------===//
//
// Two forms that say in strings what sdy says in attributes, turned into sdy:
//
//   - that of the older partitioner: `mhlo.sharding = "{devices=..}"`, custom
//   calls
//     @Sharding, @SPMDFullToShardShape and @SPMDShardToFullShape. There is no
//     mesh: it is the coarsest one whose axes make all tiles;
//   - that of Shardy after serialisation: frontend attributes `xla.sdy.*` and
//     custom calls @Sharding, @xla.sdy.FuncResultSharding,
//     @xla.sdy.GlobalToLocalShape and @xla.sdy.LocalToGlobalShape.
//
// In both, a manual region is a call between two custom calls, so this runs
// before calls are inlined.
//
//===----------------------------------------------------------------------===//
#include "HloSharding.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include <set>

using namespace mlir;
using namespace shardc;
using stablehlo::CustomCallOp;

namespace shardc {
#define GEN_PASS_DEF_CONVERTFOREIGNSHARDINGSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";
static constexpr llvm::StringLiteral kFrontend = "mhlo.frontend_attributes";

namespace {

/// What the two forms share: calls that are manual regions.
class FormConverter {
public:
  explicit FormConverter(ModuleOp module)
      : module(module), context(module.getContext()), builder(context) {}

protected:
  /// Puts a manual computation around `call`, which takes blocks of `globals`
  /// and gives those of `results`; its results take the place of these.
  void wrapCall(func::CallOp call, ValueRange globals, ValueRange results,
                ArrayRef<sdy::TensorShardingAttr> in,
                ArrayRef<sdy::TensorShardingAttr> out,
                sdy::ManualAxesAttr axes);
  void replaceByConstraint(CustomCallOp call,
                           sdy::TensorShardingAttr sharding) {
    builder.setInsertionPoint(call);
    Value asked = sdy::ShardingConstraintOp::create(
        builder, call.getLoc(), call.getOperand(0).getType(),
        call.getOperand(0), sharding);
    call.getResult(0).replaceAllUsesWith(asked);
    call.erase();
  }
  static bool isOnOneTensor(CustomCallOp call) {
    return call.getNumOperands() == 1 && call.getNumResults() == 1 &&
           call.getOperand(0).getType() == call.getResult(0).getType() &&
           isa<RankedTensorType>(call.getOperand(0).getType());
  }

  ModuleOp module;
  MLIRContext *context;
  OpBuilder builder;
};

/// Shardings of the older partitioner.
class HloConverter : FormConverter {
public:
  HloConverter(ModuleOp module, int64_t numRanks)
      : FormConverter(module), numRanks(numRanks) {}
  LogicalResult run();

private:
  struct Axis {
    int64_t size, stride;
    StringAttr name;
  };
  LogicalResult read(StringAttr text, Location loc);
  LogicalResult makeMesh();
  void axesOf(ArrayRef<HloSharding::Part> parts,
              SmallVectorImpl<StringAttr> &names) const;
  FailureOr<sdy::TensorShardingAttr> convert(StringAttr text, Type type,
                                             Location loc,
                                             ArrayRef<int64_t> openDims = {});
  FailureOr<sdy::TensorShardingAttr> convertCall(CustomCallOp call, Type type);
  LogicalResult convertManual(func::CallOp call);
  LogicalResult convertResults(Operation *op);
  LogicalResult convertSignature(func::FuncOp function);

  int64_t numRanks;
  llvm::MapVector<StringAttr, HloSharding> known;
  SmallVector<Axis> axes; ///< major to minor
};

/// Shardings of Shardy, serialised.
class SdyConverter : FormConverter {
public:
  using FormConverter::FormConverter;
  LogicalResult run();

private:
  /// The attribute that `name` of frontend attributes spells; null where there
  /// is none. Failure, with a diagnostic, if it cannot be read.
  template <typename AttrT>
  FailureOr<AttrT> read(DictionaryAttr attrs, StringRef name, Location loc);
  FailureOr<sdy::TensorShardingAttr> readOne(DictionaryAttr attrs,
                                             Location loc);
  LogicalResult convertManual(func::CallOp call);
  LogicalResult convertTie(CustomCallOp call, DictionaryAttr attrs);
  LogicalResult convertOp(Operation *op);
};

} // namespace

static DictionaryAttr frontendOf(Operation *op) {
  return op->getAttrOfType<DictionaryAttr>(kFrontend);
}

void FormConverter::wrapCall(func::CallOp call, ValueRange globals,
                             ValueRange results,
                             ArrayRef<sdy::TensorShardingAttr> in,
                             ArrayRef<sdy::TensorShardingAttr> out,
                             sdy::ManualAxesAttr axes) {
  builder.setInsertionPoint(call);
  auto manual = sdy::ManualComputationOp::create(
      builder, call.getLoc(), results.getTypes(), globals,
      sdy::TensorShardingPerValueAttr::get(context, in),
      sdy::TensorShardingPerValueAttr::get(context, out), axes);
  Block &body = manual.getBody().emplaceBlock();
  SmallVector<Location> locs(call.getNumOperands(), call.getLoc());
  body.addArguments(call.getOperandTypes(), locs);
  builder.setInsertionPointToStart(&body);
  auto inner = func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                                    call.getResultTypes(), body.getArguments());
  sdy::ReturnOp::create(builder, call.getLoc(), inner.getResults());
  for (auto [old, result] : llvm::zip(results, manual.getResults()))
    old.replaceAllUsesWith(result);
}

/// Erases `op` and what only fed it, marks and custom calls all.
static void eraseUnused(Operation *op) {
  if (!op || !op->use_empty() || !isa<CustomCallOp, func::CallOp>(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (auto call = operand.getDefiningOp<CustomCallOp>())
      eraseUnused(call);
}

//===----------------------------------------------------------------------===//
// The older partitioner's
//===----------------------------------------------------------------------===//

LogicalResult HloConverter::read(StringAttr text, Location loc) {
  for (StringRef part : splitHloTuple(text)) {
    StringAttr name = builder.getStringAttr(part);
    if (known.contains(name))
      continue;
    HloSharding sharding;
    std::string wrong = parseHloSharding(part, numRanks, sharding);
    if (!wrong.empty())
      return emitUnsupported(loc)
             << "mhlo.sharding \"" << part << "\": " << wrong;
    known[name] = std::move(sharding);
  }
  return success();
}

LogicalResult HloConverter::makeMesh() {
  std::set<int64_t> points = {1, numRanks};
  for (auto &[text, sharding] : known)
    for (ArrayRef<HloSharding::Part> tile : sharding.tiles)
      for (HloSharding::Part part : tile) {
        points.insert(part.stride);
        points.insert(part.stride * part.size);
      }
  SmallVector<int64_t> strides(points.begin(), points.end());
  for (size_t i = 0; i + 1 < strides.size(); ++i)
    if (strides[i] < 1 || strides[i + 1] % strides[i] != 0 ||
        strides[i + 1] > numRanks)
      return emitUnsupported(module, "its mhlo.shardings are on no mesh of ")
             << numRanks << " partitions: one cuts them every " << strides[i]
             << ", another every " << strides[i + 1];
  SmallVector<sdy::MeshAxisAttr> attrs;
  for (size_t i = strides.size() - 1; i > 0; --i) {
    auto name = builder.getStringAttr("axis" + Twine(axes.size()));
    axes.push_back({strides[i] / strides[i - 1], strides[i - 1], name});
    attrs.push_back(
        sdy::MeshAxisAttr::get(context, name.getValue(), axes.back().size));
  }
  builder.setInsertionPointToStart(module.getBody());
  sdy::MeshOp::create(builder, module.getLoc(), "mesh",
                      sdy::MeshAttr::get(context, attrs, {}));
  return success();
}

void HloConverter::axesOf(ArrayRef<HloSharding::Part> parts,
                          SmallVectorImpl<StringAttr> &names) const {
  for (HloSharding::Part part : parts)
    for (const Axis &axis : axes)
      if (axis.stride >= part.stride && axis.stride < part.stride * part.size)
        names.push_back(axis.name);
}

FailureOr<sdy::TensorShardingAttr>
HloConverter::convert(StringAttr text, Type type, Location loc,
                      ArrayRef<int64_t> openDims) {
  auto found = known.find(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || found == known.end())
    return emitUnsupported(loc) << "mhlo.sharding on a value of type " << type;
  const HloSharding &sharding = found->second;
  bool isTiled = sharding.kind == HloSharding::Kind::Tiled;
  if (sharding.kind == HloSharding::Kind::Manual ||
      (isTiled && sharding.numTensorDims != tensor.getRank()))
    return emitUnsupported(loc)
           << "mhlo.sharding \"" << text.getValue() << "\" on " << type
           << ", expected tiles for " << tensor.getRank() << " dims";
  SmallVector<sdy::DimensionShardingAttr> dims;
  bool isOpen = sharding.kind == HloSharding::Kind::Unknown;
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    SmallVector<StringAttr> names;
    if (isTiled)
      axesOf(sharding.tiles[i], names);
    SmallVector<sdy::AxisRefAttr> refs;
    for (StringAttr name : names)
      refs.push_back(sdy::AxisRefAttr::get(context, name.getValue(), {}));
    dims.push_back(sdy::DimensionShardingAttr::get(
        context, refs, /*isClosed=*/!isOpen && !llvm::is_contained(openDims, i),
        std::nullopt));
  }
  return sdy::TensorShardingAttr::get(context,
                                      FlatSymbolRefAttr::get(context, "mesh"),
                                      dims, {}, {}, sdy::ReductionKind::Sum);
}

/// `unspecified_dims=[0,2]` of a call's configuration: dims that are free.
FailureOr<sdy::TensorShardingAttr> HloConverter::convertCall(CustomCallOp call,
                                                             Type type) {
  SmallVector<int64_t> openDims;
  if (auto config = dyn_cast_or_null<StringAttr>(
          call.getBackendConfig().value_or(nullptr))) {
    StringRef rest = config.getValue();
    if (rest.consume_front("unspecified_dims=[")) {
      SmallVector<StringRef> entries;
      rest.take_until([](char c) { return c == ']'; })
          .split(entries, ',', -1, /*KeepEmpty=*/false);
      for (StringRef entry : entries)
        if (entry.trim().getAsInteger(10, openDims.emplace_back()))
          return call.emitError("has configuration \"")
                 << config.getValue() << "\", expected numbers of dims";
    }
  }
  return convert(call->getAttrOfType<StringAttr>(kHloSharding), type,
                 call.getLoc(), openDims);
}

static CustomCallOp definedBy(Value value, StringRef target) {
  auto call = value.getDefiningOp<CustomCallOp>();
  return call && call.getCallTargetName() == target ? call : CustomCallOp();
}

LogicalResult HloConverter::convertManual(func::CallOp call) {
  SmallVector<Value> globals, results;
  SmallVector<sdy::TensorShardingAttr> in, out;
  SmallVector<StringAttr> manual;
  StringAttr region;
  for (Value operand : call.getOperands()) {
    auto enter = definedBy(operand, "SPMDFullToShardShape");
    if (!enter)
      return success();
    globals.push_back(enter.getOperand(0));
    region = enter->getAttrOfType<StringAttr>(kHloSharding);
    auto asked = definedBy(enter.getOperand(0), "Sharding");
    if (!asked || !asked->hasAttr(kHloSharding) || !region)
      return emitUnsupported(enter,
                             "@SPMDFullToShardShape of a value "
                             "without @Sharding; its layout is not known");
    FailureOr<sdy::TensorShardingAttr> sharding =
        convertCall(asked, enter.getOperand(0).getType());
    if (failed(sharding))
      return failure();
    in.push_back(*sharding);
  }
  for (Value result : call.getResults()) {
    auto asked = result.hasOneUse()
                     ? dyn_cast<CustomCallOp>(*result.getUsers().begin())
                     : CustomCallOp();
    auto leave =
        asked && asked.getCallTargetName() == "Sharding" && asked->hasOneUse()
            ? dyn_cast<CustomCallOp>(*asked->getUsers().begin())
            : asked;
    if (!leave || leave.getCallTargetName() != "SPMDShardToFullShape" ||
        !leave->hasAttr(kHloSharding)) {
      if (in.empty())
        return success(); // An ordinary call.
      return emitUnsupported(call, "result of a manual region without "
                                   "one @SPMDShardToFullShape");
    }
    if (asked != leave)
      region = asked->getAttrOfType<StringAttr>(kHloSharding);
    FailureOr<sdy::TensorShardingAttr> sharding =
        convertCall(leave, leave.getResult(0).getType());
    if (failed(sharding))
      return failure();
    out.push_back(*sharding);
    results.push_back(leave.getResult(0));
  }
  if (!region || (in.empty() && out.empty()))
    return success();
  const HloSharding &inside = known[region];
  if (inside.kind == HloSharding::Kind::Tiled) {
    for (size_t i = inside.numTensorDims; i < inside.tiles.size(); ++i)
      if (inside.lastIsManual[i - inside.numTensorDims])
        axesOf(inside.tiles[i], manual);
  } else {
    for (const Axis &axis : axes)
      manual.push_back(axis.name);
  }
  SmallVector<Value> entered(call.getOperands());
  wrapCall(call, globals, results, in, out,
           sdy::ManualAxesAttr::get(context, manual));
  for (Value result : results)
    eraseUnused(result.getDefiningOp());
  if (call->use_empty())
    call.erase();
  for (Value value : llvm::SetVector<Value>(entered.begin(), entered.end()))
    if (value.use_empty())
      value.getDefiningOp()->erase();
  return success();
}

LogicalResult HloConverter::convertSignature(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto text = function.getArgAttrOfType<StringAttr>(i, kHloSharding)) {
      FailureOr<sdy::TensorShardingAttr> sharding =
          convert(text, function.getArgumentTypes()[i],
                  function.getArgument(i).getLoc());
      if (failed(sharding))
        return failure();
      function.removeArgAttr(i, kHloSharding);
      function.setArgAttr(i, sdy::kShardingAttr, *sharding);
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto text = function.getResultAttrOfType<StringAttr>(i, kHloSharding)) {
      FailureOr<sdy::TensorShardingAttr> sharding =
          convert(text, function.getResultTypes()[i], function.getLoc());
      if (failed(sharding))
        return failure();
      function.removeResultAttr(i, StringAttr::get(context, kHloSharding));
      function.setResultAttr(i, sdy::kShardingAttr, *sharding);
    }
  return success();
}

/// Shardings of an op's results, one or a tuple of them.
LogicalResult HloConverter::convertResults(Operation *op) {
  SmallVector<StringRef> texts =
      splitHloTuple(op->getAttrOfType<StringAttr>(kHloSharding));
  op->removeAttr(kHloSharding);
  if (op->getNumResults() == 0)
    return success();
  if (texts.size() == 1)
    texts.assign(op->getNumResults(), texts.front());
  if (texts.size() != op->getNumResults())
    return op->emitError("has ")
           << texts.size() << " shardings in 'mhlo.sharding' for "
           << op->getNumResults() << " results";
  SmallVector<sdy::TensorShardingAttr> shardings;
  for (auto [text, result] : llvm::zip(texts, op->getResults())) {
    // Inside a manual region this says that it is one.
    if (known[builder.getStringAttr(text)].kind == HloSharding::Kind::Manual)
      return success();
    FailureOr<sdy::TensorShardingAttr> sharding =
        convert(builder.getStringAttr(text), result.getType(), op->getLoc());
    if (failed(sharding))
      return failure();
    shardings.push_back(*sharding);
  }
  op->setAttr(sdy::kShardingAttr,
              sdy::TensorShardingPerValueAttr::get(context, shardings));
  return success();
}

LogicalResult HloConverter::run() {
  SmallVector<func::CallOp> calls;
  SmallVector<CustomCallOp> asked;
  bool failedOnce = false;
  auto note = [&](Attribute attr, Location loc) {
    if (auto text = dyn_cast_or_null<StringAttr>(attr))
      failedOnce |= failed(read(text, loc));
  };
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        note(function.getArgAttr(i, kHloSharding), op->getLoc());
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        note(function.getResultAttr(i, kHloSharding), op->getLoc());
      return;
    }
    note(op->getAttr(kHloSharding), op->getLoc());
    if (auto call = dyn_cast<func::CallOp>(op))
      calls.push_back(call);
    if (auto call = dyn_cast<CustomCallOp>(op);
        call && call.getCallTargetName() == "Sharding" &&
        call->hasAttrOfType<StringAttr>(kHloSharding))
      asked.push_back(call);
  });
  if (failedOnce || known.empty())
    return failure(failedOnce);
  if (failed(makeMesh()))
    return failure();
  for (func::CallOp call : calls)
    if (failed(convertManual(call)))
      return failure();
  // Those at the edges of manual regions are gone by now.
  asked.clear();
  SmallVector<Operation *> others;
  module.walk([&](Operation *op) {
    auto call = dyn_cast<CustomCallOp>(op);
    if (!op->hasAttrOfType<StringAttr>(kHloSharding))
      return;
    if (call && call.getCallTargetName() == "Sharding")
      asked.push_back(call);
    else if (!call || !call.getCallTargetName().starts_with("SPMD"))
      others.push_back(op);
  });
  for (Operation *op : others)
    if (failed(convertResults(op)))
      return failure();
  for (CustomCallOp call : asked) {
    if (!isOnOneTensor(call))
      return emitUnsupported(call,
                             "@Sharding expects one tensor and gives it back");
    FailureOr<sdy::TensorShardingAttr> sharding =
        convertCall(call, call.getResult(0).getType());
    if (failed(sharding))
      return failure();
    const HloSharding &said =
        known[call->getAttrOfType<StringAttr>(kHloSharding)];
    if (said.group) {
      builder.setInsertionPointAfter(call);
      sdy::ShardingGroupOp::create(builder, call.getLoc(), call.getResult(0),
                                   *said.group);
    }
    if (said.kind == HloSharding::Kind::Unknown) {
      call.getResult(0).replaceAllUsesWith(call.getOperand(0));
      call.erase();
    } else {
      replaceByConstraint(call, *sharding);
    }
  }
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(convertSignature(function)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Shardy's, serialised
//===----------------------------------------------------------------------===//

template <typename AttrT>
FailureOr<AttrT> SdyConverter::read(DictionaryAttr attrs, StringRef name,
                                    Location loc) {
  auto text = attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
  if (!text)
    return AttrT();
  // Quotes are escaped once more where the text went through HLO.
  std::string plain;
  for (StringRef rest = text.getValue(); !rest.empty();
       rest = rest.drop_front())
    if (!rest.starts_with("\\\""))
      plain += rest.front();
  // What is wrong inside the text has no place in the file: said once, below.
  Attribute parsed;
  {
    ScopedDiagnosticHandler quiet(context,
                                  [](Diagnostic &) { return success(); });
    parsed = parseAttribute(plain, context);
  }
  auto attr = dyn_cast_or_null<AttrT>(parsed);
  if (!attr)
    return emitError(loc) << "frontend attribute '" << name << "' is \""
                          << text.getValue() << "\", which cannot be read";
  return attr;
}

/// `xla.sdy.sharding`, of one value: a sharding or a list of one.
FailureOr<sdy::TensorShardingAttr> SdyConverter::readOne(DictionaryAttr attrs,
                                                         Location loc) {
  FailureOr<Attribute> attr = read<Attribute>(attrs, "xla.sdy.sharding", loc);
  if (failed(attr))
    return failure();
  if (auto list = dyn_cast_or_null<sdy::TensorShardingPerValueAttr>(*attr);
      list && list.getShardings().size() == 1)
    return list.getShardings().front();
  if (*attr && !isa<sdy::TensorShardingAttr>(*attr))
    return emitError(loc) << "frontend attribute 'xla.sdy.sharding' is "
                          << *attr << ", expected one sharding";
  return cast_or_null<sdy::TensorShardingAttr>(*attr);
}

LogicalResult SdyConverter::convertManual(func::CallOp call) {
  if (!call.getCallee().starts_with("xla.sdy.manual_computation_body") &&
      !call.getCallee().starts_with(
          "xla.sdy.inlinable_manual_computation_body"))
    return success();
  CustomCallOp enter, leave;
  for (Value operand : call.getOperands())
    if (!(enter = definedBy(operand, "xla.sdy.GlobalToLocalShape")) ||
        enter != call.getOperand(0).getDefiningOp())
      return emitUnsupported(call, "operands of a manual region that are "
                                   "not from one @xla.sdy.GlobalToLocalShape");
  for (Operation *user : call->getUsers()) {
    auto custom = dyn_cast<CustomCallOp>(user);
    if (!custom || custom.getCallTargetName() != "xla.sdy.LocalToGlobalShape" ||
        (leave && leave != custom))
      return emitUnsupported(call, "results of a manual region that do "
                                   "not go to one @xla.sdy.LocalToGlobalShape");
    leave = custom;
  }
  if ((enter &&
       ValueRange(enter.getResults()) != ValueRange(call.getOperands())) ||
      (leave &&
       ValueRange(leave.getOperands()) != ValueRange(call.getResults())))
    return emitUnsupported(call, "a manual region whose values come or "
                                 "go in another order");
  auto find = [&](StringRef name) -> DictionaryAttr {
    for (Operation *op :
         {call.getOperation(), enter ? enter.getOperation() : nullptr,
          leave ? leave.getOperation() : nullptr})
      if (DictionaryAttr attrs = op ? frontendOf(op) : DictionaryAttr();
          attrs && attrs.contains(name))
        return attrs;
    return {};
  };
  Location loc = call.getLoc();
  auto in = read<sdy::TensorShardingPerValueAttr>(find("xla.sdy.in_shardings"),
                                                  "xla.sdy.in_shardings", loc);
  auto out = read<sdy::TensorShardingPerValueAttr>(
      find("xla.sdy.out_shardings"), "xla.sdy.out_shardings", loc);
  auto axes = read<sdy::ManualAxesAttr>(find("xla.sdy.manual_axes"),
                                        "xla.sdy.manual_axes", loc);
  if (failed(in) || failed(out) || failed(axes))
    return failure();
  ArrayRef<sdy::TensorShardingAttr> inList, outList;
  if (*in)
    inList = in->getShardings();
  if (*out)
    outList = out->getShardings();
  if (!*axes || inList.size() != call.getNumOperands() ||
      outList.size() != call.getNumResults())
    return call.emitError("is a manual region with ")
           << inList.size() << " in_shardings and " << outList.size()
           << " out_shardings, expected " << call.getNumOperands() << " and "
           << call.getNumResults() << ", and manual_axes";
  SmallVector<Value> globals, results;
  if (enter)
    llvm::append_range(globals, enter.getOperands());
  if (leave)
    llvm::append_range(results, leave.getResults());
  wrapCall(call, globals, results, inList, outList, *axes);
  if (leave)
    leave.erase();
  call.erase();
  if (enter && enter->use_empty())
    enter.erase();
  return success();
}

LogicalResult SdyConverter::convertOp(Operation *op) {
  op->removeAttr(kHloSharding);
  DictionaryAttr attrs = frontendOf(op);
  if (!attrs)
    return success();
  Location loc = op->getLoc();
  if (auto call = dyn_cast<CustomCallOp>(op);
      call && llvm::is_contained({"Sharding", "xla.sdy.FuncResultSharding"},
                                 call.getCallTargetName())) {
    FailureOr<sdy::TensorShardingAttr> sharding = readOne(attrs, loc);
    if (failed(sharding))
      return failure();
    if (!isOnOneTensor(call) || !*sharding)
      return emitUnsupported(call, "@")
             << call.getCallTargetName()
             << " expects one tensor and an xla.sdy.sharding";
    replaceByConstraint(call, *sharding);
    return success();
  }
  if (auto call = dyn_cast<CustomCallOp>(op);
      call && llvm::is_contained(
                  {"xla.sdy.ShardingGroup", "xla.sdy.PropagationBarrier"},
                  call.getCallTargetName()))
    return convertTie(call, attrs);
  auto list =
      read<sdy::TensorShardingPerValueAttr>(attrs, "xla.sdy.sharding", loc);
  if (failed(list))
    return failure();
  op->removeAttr(kFrontend);
  if (*list)
    op->setAttr(sdy::kShardingAttr, *list);
  return success();
}

/// Groups and barriers.
LogicalResult SdyConverter::convertTie(CustomCallOp call,
                                       DictionaryAttr attrs) {
  builder.setInsertionPoint(call);
  if (call.getNumOperands() != 1 ||
      !isa<RankedTensorType>(call.getOperand(0).getType()))
    return emitUnsupported(call, "@")
           << call.getCallTargetName() << " expects one tensor";
  Value value = call.getOperand(0);
  if (call.getCallTargetName() == "xla.sdy.ShardingGroup") {
    FailureOr<Attribute> number =
        read<Attribute>(attrs, "xla.sdy.sharding_group_id", call.getLoc());
    auto id = succeeded(number) ? dyn_cast_or_null<IntegerAttr>(*number)
                                : IntegerAttr();
    if (failed(number))
      return failure();
    if (!id)
      return call.emitError("@")
             << call.getCallTargetName()
             << " expects a number as 'xla.sdy.sharding_group_id'";
    sdy::ShardingGroupOp::create(builder, call.getLoc(), value, id.getInt());
    for (Value result : call.getResults())
      if (result.getType() == value.getType())
        result.replaceAllUsesWith(value);
    if (!call->use_empty())
      return emitUnsupported(call, "a use of the result of @")
             << call.getCallTargetName();
    call.erase();
    return success();
  }
  auto text = attrs.getAs<StringAttr>("xla.sdy.allowed_direction");
  StringRef word = text ? text.getValue() : "";
  // Spelled as an integer, or by its name.
  std::optional<sdy::PropagationDirection> direction =
      sdy::symbolizePropagationDirection(word);
  int32_t number;
  if (!direction && !word.split(' ').first.getAsInteger(10, number))
    direction = sdy::symbolizePropagationDirection(number);
  if (!direction || call.getNumResults() != 1 ||
      call.getResult(0).getType() != value.getType())
    return call.emitError("@")
           << call.getCallTargetName() << " has 'xla.sdy.allowed_direction' \""
           << word << "\", expected NONE, FORWARD, BACKWARD or BOTH";
  Value passed = sdy::PropagationBarrierOp::create(
      builder, call.getLoc(), value.getType(), value, *direction);
  call.getResult(0).replaceAllUsesWith(passed);
  call.erase();
  return success();
}

LogicalResult SdyConverter::run() {
  auto meshes = read<DictionaryAttr>(frontendOf(module), "xla.sdy.meshes",
                                     module.getLoc());
  if (failed(meshes))
    return failure();
  builder.setInsertionPointToStart(module.getBody());
  for (NamedAttribute mesh : *meshes) {
    auto attr = dyn_cast<sdy::MeshAttr>(mesh.getValue());
    if (!attr)
      return module.emitError("frontend attribute 'xla.sdy.meshes' has ")
             << mesh.getValue() << " as '" << mesh.getName().getValue()
             << "', expected a mesh such as #sdy.mesh<[\"x\"=2]>";
    if (!module.lookupSymbol(mesh.getName()))
      sdy::MeshOp::create(builder, module.getLoc(), mesh.getName().getValue(),
                          attr);
  }
  module->removeAttr(kFrontend);
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls)
    if (failed(convertManual(call)))
      return failure();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(convertOp(op)))
      return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      function.removeArgAttr(i, kHloSharding);
      FailureOr<sdy::TensorShardingAttr> sharding =
          readOne(function.getArgAttrOfType<DictionaryAttr>(i, kFrontend),
                  function.getArgument(i).getLoc());
      if (failed(sharding))
        return failure();
      function.removeArgAttr(i, kFrontend);
      if (*sharding)
        function.setArgAttr(i, sdy::kShardingAttr, *sharding);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, StringAttr::get(context, kHloSharding));
  }
  return success();
}

/// As many partitions as there are tiles.
static int64_t countPartitions(ModuleOp module) {
  int64_t count = 1;
  AttrTypeWalker walker;
  walker.addWalk([&](DictionaryAttr attrs) {
    if (auto text = attrs.getAs<StringAttr>(kHloSharding))
      count = std::max(count, countHloPartitions(text));
  });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return count;
}

namespace {
struct ConvertForeignShardingsPass final
    : shardc::impl::ConvertForeignShardingsPassBase<
          ConvertForeignShardingsPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (DictionaryAttr attrs = frontendOf(module);
        attrs && attrs.contains("xla.sdy.meshes")) {
      if (failed(SdyConverter(module).run()))
        signalPassFailure();
      return;
    }
    // A mesh of sdy beside them would be another one.
    if (!module.getOps<sdy::MeshOp>().empty() ||
        !module.getOps<spmd::MeshOp>().empty())
      return;
    auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
    // A program lowered without devices says 1.
    int64_t count = partitions && partitions.getInt() != 1
                        ? partitions.getInt()
                        : countPartitions(module);
    if (count >= 1 && failed(HloConverter(module, count).run()))
      signalPassFailure();
  }
};
} // namespace
