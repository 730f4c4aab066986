//===- SpmdForward.h - Names of attributes, ops and enums -------*- C++ -*-===//
//
// What a header needs that only passes them. Spmd.h defines the attributes and
// the interfaces, SpmdEnums.h the enums, the header of its family each op.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H
#define SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H

#include <cstdint>

namespace shardc::spmd {

enum class LineKind : uint32_t;
enum class PaddingMode : uint32_t;
enum class PairCombine : uint32_t;
enum class ReductionKind : uint32_t;

class ArenaBufferAttr;
class DimExchangeAttr;
class DimShardingAttr;
class ExchangePartAttr;
class ExtentsAttr;
class FormulaAttr;
class MemoryPlanAttr;
class MeshAttr;
class PartialAxisAttr;
class ShardingAttr;
class SiteAttr;
class SiteRowsAttr;
class SiteTableAttr;

class AllPairsOpInterface;
class CommunicationOpInterface;
class ExchangeOpInterface;

class AccumulateOp;
class AllGatherOp;
class AllPairsOp;
class AllReduceOp;
class AllToAllOp;
class ArenaPlaceOp;
class AttentionBackwardOp;
class ConstrainOp;
class DealOp;
class DealtIotaOp;
class DilateOp;
class ExchangeStartOp;
class ExchangeWaitOp;
class ExtentOp;
class GatherRowsOp;
class HaloExchangeOp;
class HostCallOp;
class LibraryCallOp;
class LinesOp;
class LookupOp;
class ManualOp;
class MeshOp;
class PadOp;
class PairStepOp;
class RebalanceOp;
class ReduceScatterOp;
class ReleaseSiteOp;
class ReshardOp;
class ReturnOp;
class RowPlanOp;
class RunHostOp;
class RunSiteOp;
class ScatterRowsOp;
class StartSiteOp;
class YieldOp;

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H
