//===- PairsContracts.cpp - Verifies what is asked of pairs -------------===//
#include "shardc/Dialect/Pairs/IR/PairsContracts.h"
#include "shardc/Dialect/Spmd/IR/ContractRows.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static const ContractRows &rows() {
  using namespace contract;
  static const ContractRows all(
      {{Way::name(),
        OnOps,
        "ops on all pairs",
        "a #pairs.way",
        isOfType<Way>,
        {"pairs.all_pairs", "pairs.attention_backward"}}},
      "PairsDialect.td");
  return all;
}

LogicalResult PairsDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  return rows().verify(op, attr);
}
