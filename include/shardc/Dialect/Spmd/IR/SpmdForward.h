//===- SpmdForward.h - Names of attributes, ops and enums -------*- C++ -*-===//
//
// What a header needs that only passes them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H
#define SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H

#include <cstdint>

namespace shardc::spmd {

enum class PaddingMode : uint32_t;
enum class ReductionKind : uint32_t;

class DimShardingAttr;
class ExtentsAttr;
class FormulaAttr;
class MeshAttr;
class PartialAxisAttr;
class ShardingAttr;

class ConstrainOp;
class DealOp;
class DealtIotaOp;
class ExtentOp;
class HostCallOp;
class ManualOp;
class MeshOp;
class PadOp;
class ReshardOp;
class ReturnOp;

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDFORWARD_H
