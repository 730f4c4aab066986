//===- LocalForward.h - Names of attributes, ops and enums ------*- C++ -*-===//
//
// What a header needs that only passes them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALFORWARD_H
#define SHARDC_DIALECT_LOCAL_IR_LOCALFORWARD_H

namespace shardc::spmd {

class DimExchangeAttr;
class ExchangePartAttr;
class MemoryPlanAttr;

class CommunicationOpInterface;
class ExchangeOpInterface;

class AccumulateOp;
class AllGatherOp;
class AllReduceOp;
class AllToAllOp;
class CallHostOp;
class DilateOp;
class ExchangeStartOp;
class ExchangeWaitOp;
class GatherRowsOp;
class HaloExchangeOp;
class LookupOp;
class RebalanceOp;
class ReduceScatterOp;
class RowPlanOp;
class ScatterRowsOp;

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALFORWARD_H
