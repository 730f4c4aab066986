//===- Programs.h - Small problems, written by hand -------------*- C++ -*-===//
#ifndef SHARDC_TEST_UNIT_PROPAGATION_PROGRAMS_H
#define SHARDC_TEST_UNIT_PROPAGATION_PROGRAMS_H

#include "shardc/Propagation/Problem.h"

namespace shardc::propagation::testing {

using Sizes = std::vector<int64_t>;

inline Problem onMesh(std::initializer_list<int64_t> sizes) {
  Problem problem;
  problem.meshSizes = sizes;
  return problem;
}

/// The axes of each dim, as "[0][1,2]".
inline std::string axesOf(const Problem &problem, int64_t tensor) {
  std::string text;
  for (const DimState &dim : problem.tensors[tensor].dims) {
    text += '[';
    for (size_t i = 0; i < dim.axes.size(); ++i)
      text += (i ? "," : "") + std::to_string(dim.axes[i]);
    text += ']';
  }
  return text;
}

inline Sizes sizesOf(const Problem &problem, int64_t tensor, int64_t dim) {
  return problem.tensors[tensor].dims[dim].bounds.sizes();
}

inline OpNode &addOp(Problem &problem, ShardingRule rule,
                     std::initializer_list<int64_t> operands, int64_t result) {
  OpNode &op = problem.ops.emplace_back();
  op.rule = std::move(rule);
  op.operands = operands;
  op.results = {result};
  return op;
}

inline OpNode &addElementwise(Problem &problem,
                              std::initializer_list<int64_t> operands,
                              int64_t result) {
  ShardingRule rule = identityRule(problem.tensors[result].shape);
  rule.operands.assign(operands.size(), rule.results.front());
  return addOp(problem, rule, operands, result);
}

struct Window {
  int64_t size = 1, stride = 1, offset = 0;
};

/// result[o] from operand[o * stride + j + offset], one dim each.
inline OpNode &addWindow(Problem &problem, int64_t operand, int64_t result,
                         Window window) {
  ShardingRule rule;
  int64_t o = rule.addFactor(problem.tensors[result].shape[0]);
  IndexMap map{{{o, window.stride}}, window.offset, 1};
  if (window.size > 1)
    map.terms.push_back(
        {rule.addFactor(window.size, FactorKind::Reduction), 1});
  rule.operands.push_back({{map}, Fill::Zero});
  rule.results.push_back({{IndexMap::identity(o)}});
  return addOp(problem, rule, {operand}, result);
}

/// A reshape of two dims into one.
inline OpNode &addMerge(Problem &problem, int64_t operand, int64_t result) {
  ShardingRule rule;
  int64_t minorSize = problem.tensors[operand].shape[1];
  int64_t major = rule.addFactor(problem.tensors[operand].shape[0]),
          minor = rule.addFactor(minorSize);
  rule.operands.push_back(
      {{IndexMap::identity(major), IndexMap::identity(minor)}});
  rule.results.push_back({{IndexMap{{{major, minorSize}, {minor, 1}}, 0, 1}}});
  return addOp(problem, rule, {operand}, result);
}

/// (i, k) x (k, j) -> (i, j)
inline OpNode &addDot(Problem &problem, int64_t lhs, int64_t rhs,
                      int64_t result) {
  ShardingRule rule;
  IndexMap i =
      IndexMap::identity(rule.addFactor(problem.tensors[lhs].shape[0]));
  IndexMap j =
      IndexMap::identity(rule.addFactor(problem.tensors[rhs].shape[1]));
  IndexMap k = IndexMap::identity(
      rule.addFactor(problem.tensors[lhs].shape[1], FactorKind::Reduction));
  rule.operands = {TensorRule{{i, k}}, TensorRule{{k, j}}};
  rule.results = {TensorRule{{i, j}}};
  return addOp(problem, rule, {lhs, rhs}, result);
}

/// (i), (j) -> (i, j)
inline OpNode &addOuter(Problem &problem, int64_t lhs, int64_t rhs,
                        int64_t result) {
  ShardingRule rule;
  IndexMap i =
      IndexMap::identity(rule.addFactor(problem.tensors[lhs].shape[0]));
  IndexMap j =
      IndexMap::identity(rule.addFactor(problem.tensors[rhs].shape[0]));
  rule.operands = {TensorRule{{i}}, TensorRule{{j}}};
  rule.results = {TensorRule{{i, j}}};
  return addOp(problem, rule, {lhs, rhs}, result);
}

} // namespace shardc::propagation::testing

#endif // SHARDC_TEST_UNIT_PROPAGATION_PROGRAMS_H
