//===- Cases.cpp - Ops on small tensors -----------------------------------===//
//
// The cases stand in test/Inputs/rule-cases.mlir, which the execution tests
// read too.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"
#include <fstream>

using namespace shardc::test;

/// What follows `mark` in `line`, if it begins with it.
static bool take(const std::string &line, const std::string &mark,
                 std::string &rest) {
  if (line.rfind(mark, 0) != 0)
    return false;
  rest = line.substr(mark.size());
  return true;
}

std::vector<Case> shardc::test::allCases() {
  std::ifstream file(SHARDC_RULE_CASES);
  std::vector<Case> cases;
  std::string line, rest;
  while (std::getline(file, line)) {
    if (take(line, "// CASE ", rest))
      cases.push_back({rest, "", ""});
    else if (take(line, "// RULE ", rest) && !cases.empty())
      cases.back().rule = rest;
    else if (line.rfind("//", 0) != 0 && !cases.empty())
      cases.back().text += line + "\n";
  }
  return cases;
}
