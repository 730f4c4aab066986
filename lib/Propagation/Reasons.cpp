//===- Reasons.cpp - Why a value must move --------------------------------===//
#include "Reasons.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::propagation;

/// `cut along "x"` or `whole`.
static void printAxes(llvm::raw_ostream &os, const Projection &projection,
                      ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    os << "whole";
    return;
  }
  os << "cut along ";
  llvm::interleaveComma(axes, os, [&](int64_t axis) {
    os << '"' << projection.mesh.getAxisNames()[axis].getValue() << '"';
  });
}

static void printSizes(llvm::raw_ostream &os, const Boundaries &bounds) {
  os << '[';
  // A mesh may have thousands of ranks: the beginning says enough.
  int64_t shown = std::min<int64_t>(bounds.numShards(), 16);
  for (int64_t i = 0; i < shown; ++i)
    os << (i ? ", " : "") << bounds.shardSize(i);
  os << (shown < bounds.numShards() ? ", ..]" : "]");
}

std::string propagation::describeDifference(const Projection &projection,
                                            const TensorState &from,
                                            const TensorState &to,
                                            const ShardingRule *rule,
                                            ArrayRef<RuleView::Dim> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (size_t i = 0; i < from.dims.size(); ++i) {
    const DimState &source = from.dims[i], &target = to.dims[i];
    if (source.axes == target.axes && source.bounds == target.bounds)
      continue;
    os << "is ";
    if (source.axes == target.axes) {
      os << "cut into ";
      printSizes(os, source.bounds);
      os << " in dim " << i << ", but ";
      printSizes(os, target.bounds);
      os << " is needed";
      return text;
    }
    printAxes(os, projection, source.axes);
    os << " in dim " << i;
    int64_t factor = dims.empty() ? -1 : dims[i].factor;
    if (!target.axes.empty()) {
      os << ", but is needed ";
      printAxes(os, projection, target.axes);
    } else if (rule && factor >= 0 &&
               rule->factors[factor].kind == FactorKind::Reduction) {
      os << ", which it contracts";
    } else if (rule && factor >= 0 &&
               rule->factors[factor].kind == FactorKind::NeedReplication) {
      os << ", which it needs whole";
    } else {
      os << ", but is needed whole";
    }
    return text;
  }
  return text;
}
