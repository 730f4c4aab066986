//===- Cases.h - Ops on small tensors ---------------------------*- C++ -*-===//
#ifndef SHARDC_TEST_UNIT_RULES_CASES_H
#define SHARDC_TEST_UNIT_RULES_CASES_H

#include <ostream>
#include <string>
#include <vector>

namespace shardc::test {

/// The last op of a function's body is the one under test. Arguments of i32 are
/// indices.
struct Case {
  std::string name;
  std::string text; ///< the function
  std::string rule; ///< the op's rule, as ShardingRule::str() has it
};
inline void PrintTo(const Case &testCase, std::ostream *os) {
  *os << testCase.name;
}

/// All cases of test/Inputs/rule-cases.mlir; none if it cannot be read.
std::vector<Case> allCases();

} // namespace shardc::test

#endif // SHARDC_TEST_UNIT_RULES_CASES_H
