//===- Pairs.td - The pairs dialect ------------------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRS_TD
#define SHARDC_DIALECT_PAIRS_IR_PAIRS_TD

include "shardc/Dialect/Pairs/IR/PairSteps.td"

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRS_TD
