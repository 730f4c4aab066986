//===- CutDims.cpp - Which dims may be cut at all -------------------------===//
//
// A dim may be cut because one is that shares a factor of a rule with it, or
// that a loop, a branch or a constraint passes on. Propagation cuts nothing
// else, so where no annotation names an axis, what follows from it is whole on
// every mesh.
//
//===----------------------------------------------------------------------===//
#include "shardc/Analysis/CutDims.h"
#include "shardc/Analysis/ControlFlow.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Interfaces/Localization.h"

using namespace mlir;
using namespace shardc;

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

unsigned CutDims::addVertex() {
  next.emplace_back();
  return next.size() - 1;
}

unsigned CutDims::vertexOf(Value value, int64_t dim) {
  auto [known, isNew] = vertices.try_emplace({value, dim}, next.size());
  return isNew ? addVertex() : known->second;
}

void CutDims::tie(unsigned one, unsigned other) {
  follow(one, other);
  follow(other, one);
}

void CutDims::tie(Value one, Value other) {
  if (rankOf(one) != rankOf(other))
    return;
  for (int64_t dim = 0; dim < rankOf(one); ++dim)
    tie(vertexOf(one, dim), vertexOf(other, dim));
}

void CutDims::cut(Value value, spmd::ShardingAttr sharding) {
  for (auto [dim, attr] : llvm::enumerate(sharding.getDims()))
    if (llvm::any_of(attr.getAxes(), [&](StringAttr name) {
          return axis.empty() || name.getValue() == axis;
        }))
      reached.push_back(vertexOf(value, dim));
}

void CutDims::cutAll(Value value) {
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    reached.push_back(vertexOf(value, dim));
}

void CutDims::visitRule(Operation *op, const ShardingRule &rule) {
  SmallVector<unsigned> factors;
  for (size_t i = 0; i < rule.factors.size(); ++i)
    factors.push_back(addVertex());
  for (auto [vertex, factor] : llvm::zip_equal(factors, rule.factors))
    for (int64_t carrier : factor.carriers)
      follow(vertex, factors[carrier]);
  auto look = [&](ArrayRef<TensorRule> tensors, ValueRange values) {
    for (auto [tensor, value] : llvm::zip(tensors, values))
      for (auto [dim, map] : llvm::enumerate(tensor.dims))
        if (std::optional<int64_t> factor = shardingFactorOf(rule, map))
          tie(vertexOf(value, dim), factors[*factor]);
  };
  look(rule.operands, op->getOperands());
  look(rule.results, op->getResults());
}

void CutDims::visitConstraint(Operation *op, spmd::ShardingAttr sharding) {
  Value from = op->getOperand(0), to = op->getResult(0);
  cut(to, sharding);
  // Where it asks for a whole dim the cut in front of it ends.
  for (auto [dim, attr] : llvm::enumerate(sharding.getDims()))
    if (!attr.getAxes().empty() || attr.getOpen())
      tie(vertexOf(from, dim), vertexOf(to, dim));
  if (IntegerAttr group = spmd::contract::Group::get(op))
    tie(groups.try_emplace(group.getInt(), to).first->second, to);
}

void CutDims::visit(Operation *op) {
  if (auto manual = dyn_cast<spmd::ManualOp>(op)) {
    // Its author says what is cut, in the region too.
    llvm::for_each(manual->getOperands(), [&](Value value) { cutAll(value); });
    llvm::for_each(manual->getResults(), [&](Value value) { cutAll(value); });
    llvm::for_each(manual.getBody().getArguments(),
                   [&](Value value) { cutAll(value); });
    manual.getBody().walk([&](Operation *inner) {
      llvm::for_each(inner->getResults(), [&](Value value) { cutAll(value); });
    });
    return;
  }
  if (spmd::contract::OfManual::has(op)) {
    llvm::for_each(op->getOperands(), [&](Value value) { cutAll(value); });
    llvm::for_each(op->getResults(), [&](Value value) { cutAll(value); });
  }
  if (auto flow = op->getNumRegions() > 0 ? getControlFlow(op) : std::nullopt) {
    for (auto [from, to] : flow->edges)
      tie(from, to);
    return;
  }
  if (auto constrain = dyn_cast<spmd::ConstrainOp>(op))
    return visitConstraint(op, constrain.getSharding());
  if (auto reshard = dyn_cast<spmd::ReshardOp>(op))
    return visitConstraint(op, reshard.getTarget());
  auto interface = dyn_cast<ShardingRuleOpInterface>(op);
  FailureOr<ShardingRule> rule = interface ? interface.getShardingRule()
                                           : FailureOr<ShardingRule>(failure());
  if (succeeded(rule))
    visitRule(op, *rule);
}

CutDims::CutDims(func::FuncOp function, StringRef axis) : axis(axis) {
  for (BlockArgument argument : function.getArguments())
    if (auto sharding = function.getArgAttrOfType<spmd::ShardingAttr>(
            argument.getArgNumber(), spmd::kShardingAttrName))
      cut(argument, sharding);
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    if (auto end = dyn_cast<func::ReturnOp>(op))
      for (auto [i, value] : llvm::enumerate(end.getOperands()))
        if (auto sharding = function.getResultAttrOfType<spmd::ShardingAttr>(
                i, spmd::kShardingAttrName))
          cut(value, sharding);
    visit(op);
    return op->getNumRegions() > 0 && !getControlFlow(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  isCut.assign(next.size(), false);
  for (unsigned vertex : reached)
    isCut[vertex] = true;
  while (!reached.empty())
    for (unsigned other : next[reached.pop_back_val()])
      if (!isCut[other]) {
        isCut[other] = true;
        reached.push_back(other);
      }
}

bool CutDims::mayBeCut(Value value, int64_t dim) const {
  auto known = vertices.find({value, dim});
  return known != vertices.end() && isCut[known->second];
}
