//===- LocalContracts.cpp - Verifies what the local view leaves ---------===//
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Spmd/IR/ContractRows.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static const ContractRows &rows() {
  using namespace contract;
  constexpr StringLiteral ofFunctions = "functions";
  static const ContractRows all(
      {mark<Running>(OnOps, "'stablehlo.reduce_window'",
                     {"stablehlo.reduce_window"}),
       {MemoryPlan::name(), OnFunctions, ofFunctions, "a #local.memory_plan",
        isOfType<MemoryPlan>},
       {Again::name(),
        OnOps,
        "'stablehlo.optimization_barrier' and 'scf.execute_region'",
        "a number",
        isOfType<Again>,
        {"stablehlo.optimization_barrier", "scf.execute_region"}},
       {Blocks::name(),
        OnOps,
        "'stablehlo.while'",
        "an array of iterations, rows in each, and rows",
        [](Attribute value) {
          auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
          return numbers && numbers.size() == 3;
        },
        {"stablehlo.while"}}},
      "LocalDialect.td");
  return all;
}

LogicalResult LocalDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  return rows().verify(op, attr);
}
