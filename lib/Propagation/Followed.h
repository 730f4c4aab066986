//===- Followed.h - Parts that follow the cut of a result -------*- C++ -*-===//
#ifndef SHARDC_LIB_PROPAGATION_FOLLOWED_H
#define SHARDC_LIB_PROPAGATION_FOLLOWED_H

#include "shardc/Propagation/Problem.h"

namespace shardc::propagation {

/// Where `factor` travels and has one carrier, which passes through the op:
/// that carrier. Its cut says which part of the operand each rank needs, and
/// rows are needed near those that they lie beside. Where it is not cut along
/// the same axes, all of the operand is needed. Else -1.
inline int64_t followedBy(const ShardingRule &rule, const Factor &factor) {
  if (!factor.travels || factor.carriers.size() != 1 ||
      rule.factors[factor.carriers[0]].kind != FactorKind::PassThrough)
    return -1;
  return factor.carriers[0];
}

} // namespace shardc::propagation

#endif // SHARDC_LIB_PROPAGATION_FOLLOWED_H
