//===- PairsForward.h - Names of attributes, ops and enums ------*- C++ -*-===//
//
// What a header needs that only passes them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSFORWARD_H
#define SHARDC_DIALECT_PAIRS_IR_PAIRSFORWARD_H

#include <cstdint>

namespace shardc::spmd {

enum class PairCombine : uint32_t;
enum class PairWay : uint32_t;

class AllPairsOpInterface;

class AllPairsOp;
class AttentionBackwardOp;
class PairStepOp;
class YieldOp;

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSFORWARD_H
