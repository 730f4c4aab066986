//===- Explain.cpp - What was decided, in the user's lines ----------------===//

#include "shardc/Analysis/Explain.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Analysis/CommunicationReport.h"
#include "shardc/Analysis/Origins.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static constexpr llvm::StringLiteral kValue = "value: ", kRule = "rule: ",
                                     kAvoid = "avoid: ";

std::string shardc::printReason(const Reason &reason) {
  std::string text = reason.needed;
  if (!reason.value.empty())
    text += "; " + kValue.str() + reason.value;
  if (!reason.rule.empty())
    text += "; " + kRule.str() + reason.rule;
  if (!reason.avoid.empty())
    text += "; " + kAvoid.str() + reason.avoid;
  return text;
}

std::vector<Reason> shardc::parseReasons(StringRef text) {
  std::vector<Reason> reasons;
  SmallVector<StringRef> parts;
  text.split(parts, "; ", -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part.consume_front(kValue) && !reasons.empty())
      reasons.back().value = part.str();
    else if (part.consume_front(kRule) && !reasons.empty())
      reasons.back().rule = part.str();
    else if (part.consume_front(kAvoid) && !reasons.empty())
      reasons.back().avoid = part.str();
    else
      reasons.push_back({part.str(), "", "", ""});
  }
  return reasons;
}

std::string shardc::userNameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return ("'" + value.getDefiningOp()->getName().getStringRef() + "' at ")
               .str() +
           userLocation(value.getDefiningOp()->getLoc());
  Operation *parent = argument.getOwner()->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(parent);
  if (!function)
    return "what '" + parent->getName().getStringRef().str() + "' at " +
           userLocation(parent->getLoc()) + " carries in place " +
           std::to_string(argument.getArgNumber());
  std::string text = "argument " + std::to_string(argument.getArgNumber());
  if (StringAttr name =
          contract::Name::ofArgument(function, argument.getArgNumber()))
    text += " \"" + name.str() + '"';
  return text;
}

static void printReasons(StringRef text, llvm::raw_ostream &os) {
  for (const Reason &reason : parseReasons(text)) {
    os << "  needed: " << reason.needed << '\n';
    for (auto [word, part] : {std::pair(kValue, &reason.value),
                              {kRule, &reason.rule},
                              {kAvoid, &reason.avoid}})
      if (!part->empty())
        os << "  " << word << *part << '\n';
  }
}

//===----------------------------------------------------------------------===//
// Global view
//===----------------------------------------------------------------------===//

/// The dims of `value` that are cut, one a line.
static void explainValue(Value value, StringRef what, Location loc,
                         llvm::raw_ostream &os) {
  ShardingAttr sharding = getSharding(value);
  if (!sharding || llvm::all_of(sharding.getDims(), [](DimShardingAttr dim) {
        return dim.isWhole();
      }))
    return;
  os << userLocation(loc) << ": " << what << ' ' << value.getType() << '\n';
  ArrayAttr origins = getOrigins(value);
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    if (dim.isWhole())
      continue;
    DictionaryAttr known = origins && i < origins.size()
                               ? cast<DictionaryAttr>(origins[i])
                               : DictionaryAttr();
    for (StringAttr axis : dim.getAxes()) {
      os << "  dim " << i << " is cut along " << axis;
      if (StringAttr origin =
              known ? known.getAs<StringAttr>(axis) : StringAttr())
        os << ", from " << origin.getValue();
      os << '\n';
    }
    if (dim.getSizes()) {
      os << "  dim " << i << " has shards of [";
      llvm::interleaveComma(dim.getSizes().asArrayRef(), os);
      os << ']';
      if (StringAttr origin =
              known ? known.getAs<StringAttr>(kSizesOrigin) : StringAttr())
        os << ", from " << origin.getValue();
      os << '\n';
    }
  }
}

static void explainReshard(ReshardOp op, llvm::raw_ostream &os) {
  os << userLocation(op.getLoc()) << ": moved\n";
  printReasons(op.getReason(), os);
}

static void explainGlobal(FunctionOpInterface function, llvm::raw_ostream &os) {
  for (BlockArgument argument : function.getArguments()) {
    explainValue(argument, userNameOf(argument), argument.getLoc(), os);
  }
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return explainReshard(reshard, os);
    for (OpResult result : op->getResults())
      explainValue(result, ("'" + op->getName().getStringRef() + "'").str(),
                   op->getLoc(), os);
  });
}

//===----------------------------------------------------------------------===//
// Local view
//===----------------------------------------------------------------------===//

static void explainLocal(FunctionOpInterface function, llvm::raw_ostream &os) {
  std::vector<CommunicationSite> sites = reportCommunication(function);
  int64_t bytes = 0;
  bool isUnknown = false;
  for (const CommunicationSite &site : sites) {
    os << site.location << ": " << site.kind << " along ";
    llvm::interleaveComma(site.axes, os, [&](const std::string &axis) {
      os << '"' << axis << '"';
    });
    if (site.bytes)
      os << ", " << *site.bytes << " bytes";
    else
      os << ", as many bytes as its indices say (shard-run --report=json "
            "counts them)";
    isUnknown |= !site.bytes;
    if (site.loopDepth > 0)
      os << " in each iteration of " << site.loopDepth
         << (site.loopDepth > 1 ? " loops" : " loop");
    os << '\n';
    bytes += site.loopDepth == 0 ? site.bytes.value_or(0) : 0;
    printReasons(site.reason, os);
  }
  os << '@' << function.getName() << " has " << sites.size()
     << " communication ops; those outside loops move " << bytes << " bytes"
     << (isUnknown ? " and what indices say" : "") << '\n';
}

void shardc::explain(ModuleOp module, llvm::raw_ostream &os) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    if (contract::LocalView::has(function))
      explainLocal(function, os);
    else
      explainGlobal(function, os);
  }
}

namespace {
struct ExplainPass final : PassWrapper<ExplainPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExplainPass)
  StringRef getArgument() const override { return "spmd-explain"; }
  StringRef getDescription() const override {
    return "Print what was decided, on the error stream.";
  }
  void runOnOperation() override {
    explain(getOperation(), llvm::errs());
    markAllAnalysesPreserved();
  }
};
} // namespace

std::unique_ptr<Pass> shardc::createExplainPass() {
  return std::make_unique<ExplainPass>();
}
