//===- OrderCost.td - What an order of dims is worth -------*- tablegen -*-===//
#ifndef SHARDC_INTERFACES_ORDERCOST_TD
#define SHARDC_INTERFACES_ORDERCOST_TD

include "mlir/IR/OpBase.td"

def OrderCostOpInterface : OpInterface<"OrderCostOpInterface"> {
  let cppNamespace = "::shardc";
  let description = [{
    An op whose work and communication depend on the order of dims. Attached as external models in
    lib/Rules.
  }];
  let methods = [
    InterfaceMethod<[{
      Estimated milliseconds of the busiest rank, its factors cut as `cuts` say, one a factor of the rule, with queries and
      keys in natural order, or in zigzag order of shards of these sizes. An op that the user has given a way of its own has no estimate.
    }], "::std::optional<double>", "estimateOrder",
                    (ins "::llvm::ArrayRef<::shardc::IntervalTable>":$cuts, "::llvm::ArrayRef<int64_t>":$meshSizes,
                         "::llvm::ArrayRef<int64_t>":$queryOrder, "::llvm::ArrayRef<int64_t>":$keyOrder)>
  ];
}

#endif // SHARDC_INTERFACES_ORDERCOST_TD
