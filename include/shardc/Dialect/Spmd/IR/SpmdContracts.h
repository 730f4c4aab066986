//===- SpmdContracts.h - What is left for the global view -------*- C++ -*-===//
//
// Discardable attributes of the dialect: shardc/Dialect/Spmd/IR/Contract.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H

#include "shardc/Dialect/Spmd/IR/Contract.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

namespace shardc::spmd {

namespace contract {

//===----------------------------------------------------------------------===//
// Annotations of a program
//===----------------------------------------------------------------------===//

/// On arguments and results of functions.
using Sharding = Contract<SpmdDialect::ShardingAttrHelper>;
/// What users call an argument or a result.
using Name = Contract<SpmdDialect::NameAttrHelper>;
/// On arguments whose buffer the caller gives away: the result that may have
/// it; -1 for any.
using Donated = Contract<SpmdDialect::DonatedAttrHelper>;
/// On arguments and results, "2=zigzag": orders of their dims, which Shardy's
/// text cannot say. Users write it; import reads it, and no later stage.
using Order = Contract<SpmdDialect::OrderAttrHelper>;
/// On an argument that is the number of the platform: which.
using Platform = Contract<SpmdDialect::PlatformAttrHelper>;
/// On results that a conformance file compares: how, or that it is what is
/// expected.
using Check = Contract<SpmdDialect::CheckAttrHelper>;
/// On `spmd.constrain`, a number: results with one number have one sharding.
using Group = Contract<SpmdDialect::GroupAttrHelper>;
/// On `spmd.constrain`, where shardings may spread through it: forward, from
/// operand to result, backward or not at all.
using Direction = Contract<SpmdDialect::DirectionAttrHelper>;
/// On modules that have no mesh yet: the extents that are left open.
using Extents = Contract<SpmdDialect::ExtentsAttrHelper>;
/// On arguments and results: the kind of memory that JAX asks for, in JAX's
/// words, which it is told again.
using MemoryKind = Contract<SpmdDialect::MemoryKindAttrHelper>;
/// On arguments and results: the rank at which the shard of each position of
/// the mesh comes or leaves.
using Ranks = Contract<SpmdDialect::RanksAttrHelper>;
/// On arguments and results whose elements are in memory as the caller's layout
/// says: of each dim here which one of the caller's array it is.
using CallerDims = Contract<SpmdDialect::CallerDimsAttrHelper>;
/// On arguments and results: a token to the caller.
using Token = Mark<SpmdDialect::TokenAttrHelper>;
/// On custom calls that are to say how they are partitioned: the number of the
/// call, by which it is found in a copy of the module.
using PartitionedCall = Contract<SpmdDialect::PartitionedCallAttrHelper>;

//===----------------------------------------------------------------------===//
// Decisions, in the global view
//===----------------------------------------------------------------------===//

/// On ops after propagation: one sharding a result.
using Shardings = Contract<SpmdDialect::ShardingsAttrHelper>;
/// On ops after propagation: one dim sharding a factor of the op's rule.
using Factors = Contract<SpmdDialect::FactorsAttrHelper>;
/// On an op with an estimate, in words: what was decided about the order of the
/// whole program, for whoever asks why the op runs as it does.
using OrderNote = Contract<SpmdDialect::OrderNoteAttrHelper>;
/// On ops and arguments: shardc/Analysis/Origins.h.
using Origins = Contract<SpmdDialect::OriginsAttrHelper>;
/// On functions for which reasons are to name rules and annotations.
using Explain = Mark<SpmdDialect::ExplainAttrHelper>;
/// On ops that sum (reductions, products, ops on all pairs): the dims summed
/// over are whole on every rank, and are summed in one order there.
using WholeSum = Mark<SpmdDialect::WholeSumAttrHelper>;
/// On ops of one rank that stand for a manual region: in that region, its
/// author cuts.
using OfManual = Mark<SpmdDialect::OfManualAttrHelper>;
/// On `stablehlo.fft`: a line that is cut is made whole, not transformed in
/// blocks.
using WholeLines = Mark<SpmdDialect::WholeLinesAttrHelper>;

//===----------------------------------------------------------------------===//
// The local view
//===----------------------------------------------------------------------===//

/// On functions whose types are those of one rank's blocks.
using LocalView = Mark<SpmdDialect::LocalViewAttrHelper>;
/// On arguments and results of such functions: the type of the whole.
using GlobalType = Contract<SpmdDialect::GlobalTypeAttrHelper>;

//===----------------------------------------------------------------------===//
// Kernels on tensors and buffers
//===----------------------------------------------------------------------===//

} // namespace contract

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H
