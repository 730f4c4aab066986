//===- PairsOrders.h - Queries and keys in zigzag order ---------*- C++ -*-===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSORDERS_H
#define SHARDC_DIALECT_PAIRS_IR_PAIRSORDERS_H

#include "shardc/Dialect/Pairs/IR/PairsForward.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"

namespace shardc::spmd {

/// The shards whose zigzag order queries, and keys, of `op` are in.
ZigzagOrder getQueryOrder(AllPairsOpInterface op);
ZigzagOrder getKeyOrder(AllPairsOpInterface op);
void setQueryOrder(AllPairsOpInterface op, ZigzagOrder order);
void setKeyOrder(AllPairsOpInterface op, ZigzagOrder order);

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSORDERS_H
