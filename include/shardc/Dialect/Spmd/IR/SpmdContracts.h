//===- SpmdContracts.h - What one stage leaves for another ------*- C++ -*-===//
//
// Discardable attributes of the dialect. Their names and types are declared in
// SpmdAttributes.td; the dialect's verifier refuses others, values that mean
// nothing, and places where nobody looks (SpmdContracts.cpp).
//
//   if (contract::LocalView::has(function)) ...
//   contract::Parts::set(loop, builder.getI64IntegerAttr(4));
//   StringAttr name = contract::Name::ofArgument(main, 0);
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H
#define SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include <type_traits>
#include <utility>

namespace shardc::spmd {

/// Typed access to what `Helper`, a class that ODS generates, declares.
template <typename Helper> struct Contract {
  using Attr = decltype(std::declval<Helper &>().getAttr(nullptr));

  static constexpr llvm::StringLiteral name() { return Helper::getNameStr(); }

  static bool has(mlir::Operation *op) { return bool(get(op)); }
  static Attr get(mlir::Operation *op) {
    return llvm::dyn_cast_or_null<Attr>(op->getDiscardableAttr(name()));
  }
  static void set(mlir::Operation *op, Attr value) {
    op->setDiscardableAttr(name(), value);
  }
  static void remove(mlir::Operation *op) { op->removeDiscardableAttr(name()); }

  /// Of one argument or result, as a dictionary has it.
  static Attr in(mlir::DictionaryAttr attributes) {
    return attributes ? attributes.getAs<Attr>(name()) : Attr();
  }
  static Attr ofArgument(mlir::FunctionOpInterface function, unsigned i) {
    return function.getArgAttrOfType<Attr>(i, name());
  }
  static Attr ofResult(mlir::FunctionOpInterface function, unsigned i) {
    return function.getResultAttrOfType<Attr>(i, name());
  }
  static void setOfArgument(mlir::FunctionOpInterface function, unsigned i,
                            Attr value) {
    function.setArgAttr(i, name(), value);
  }
  static void setOfResult(mlir::FunctionOpInterface function, unsigned i,
                          Attr value) {
    function.setResultAttr(i, name(), value);
  }
  static void removeOfArgument(mlir::FunctionOpInterface function, unsigned i) {
    function.removeArgAttr(
        i, mlir::StringAttr::get(function->getContext(), name()));
  }
  static void removeOfResult(mlir::FunctionOpInterface function, unsigned i) {
    function.removeResultAttr(
        i, mlir::StringAttr::get(function->getContext(), name()));
  }
};

/// A contract that says yes or no.
template <typename Helper> struct Mark : Contract<Helper> {
  static void set(mlir::Operation *op) {
    Contract<Helper>::set(op, mlir::UnitAttr::get(op->getContext()));
  }
};

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
/// On ops on all pairs, which way their blocks go: docs/Rationale/Ring.md.
using Way = Contract<SpmdDialect::WayAttrHelper>;
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
/// On `stablehlo.reduce_window`: the window is as long as the longest block,
/// and combines all before an element.
using Running = Mark<SpmdDialect::RunningAttrHelper>;
/// On functions: the result of the plan of memory.
using MemoryPlan = Contract<SpmdDialect::MemoryPlanAttrHelper>;
/// On what is before values that are computed once more, a number of its
/// own: it must not become one with the first.
using Again = Contract<SpmdDialect::AgainAttrHelper>;
/// On a loop over blocks of rows: iterations, rows in each, rows.
using Blocks = Contract<SpmdDialect::BlocksAttrHelper>;

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// On modules: all communication sites, until the artifact holds them.
using Sites = Contract<SpmdDialect::SitesAttrHelper>;
/// On modules, a dictionary for each argument and result of @main: shardings
/// and types that bufferization does not keep.
using EntryInputs = Contract<SpmdDialect::EntryInputsAttrHelper>;
using EntryOutputs = Contract<SpmdDialect::EntryOutputsAttrHelper>;

//===----------------------------------------------------------------------===//
// Kernels on tensors and buffers
//===----------------------------------------------------------------------===//

/// On the op that adds in the body of a linalg op: where floats are to be added
/// in the order of their elements, these need not be.
using AnyOrder = Mark<SpmdDialect::AnyOrderAttrHelper>;
/// On the op that adds a product in the body of a linalg op: both are rounded
/// once.
using RoundedOnce = Mark<SpmdDialect::RoundedOnceAttrHelper>;
/// On functions of f64: as many digits are asked for as f32 has, and some.
using Brief = Mark<SpmdDialect::BriefAttrHelper>;
/// On an arith.divf: it is 1 / (1 + exp(-x)), and may be computed as one
/// function.
using Logistic = Mark<SpmdDialect::LogisticAttrHelper>;
/// On an scf.for or scf.while: buffers that it carries change places from
/// iteration to iteration.
using Rotated = Mark<SpmdDialect::RotatedAttrHelper>;
/// On an scf.for from 0 in steps of 1 whose iterations may run at the same
/// time: how many there are. Without anybody who looks at it they run in order.
using Parts = Contract<SpmdDialect::PartsAttrHelper>;
/// On modules: a [name, source line] for each number that marks use.
using Kernels = Contract<SpmdDialect::KernelsAttrHelper>;
/// On the argument that holds all temporaries.
using Arena = Contract<SpmdDialect::ArenaAttrHelper>;
/// On modules: bytes of that argument, and its largest values, in words.
using ArenaBytes = Contract<SpmdDialect::ArenaBytesAttrHelper>;
using ArenaLargest = Contract<SpmdDialect::ArenaLargestAttrHelper>;
/// On modules: its buffers (#spmd.arena_buffer), where their sizes follow from
/// what is bound.
using ArenaPlan = Contract<SpmdDialect::ArenaPlanAttrHelper>;
/// On the buffer of a result: the number of the argument that it may be written
/// over.
using InPlace = Contract<SpmdDialect::InPlaceAttrHelper>;
/// On modules: that number of each result, or -1.
using WrittenInPlace = Contract<SpmdDialect::WrittenInPlaceAttrHelper>;
/// On sorts of lines that the runtime does: how elements of the first input are
/// compared, which is what the body says.
using LineOrder = Contract<SpmdDialect::LineOrderAttrHelper>;
/// On a linalg.generic that reduces, or a step on pairs: what each output
/// starts from, a number, or unit where its buffer says it.
using Starts = Contract<SpmdDialect::StartsAttrHelper>;
/// On the cast of a memref of complex elements to one of their real parts (0),
/// of their imaginary ones (1), or of both as one integer (-1).
using ComplexPart = Contract<SpmdDialect::ComplexPartAttrHelper>;
/// On a function of floats: it stays a call of the C library, which rounds
/// right to less than one unit.
using LibraryCall = Mark<SpmdDialect::LibraryCallAttrHelper>;

//===----------------------------------------------------------------------===//
// Kernels of GPUs: docs/Rationale/GPU.md, section 3
//===----------------------------------------------------------------------===//

/// On launches and kernels: the GPU whose instructions a kernel needs; images
/// for others lack it.
using Gpu = Contract<SpmdDialect::GpuAttrHelper>;
/// On launches and kernels: done only where none of the launches before, of
/// kernels for one GPU each, could be.
using Otherwise = Mark<SpmdDialect::OtherwiseAttrHelper>;
/// On launches and kernels: a grid of any size does the work.
using Persistent = Mark<SpmdDialect::PersistentAttrHelper>;
/// On launches and kernels: two blocks side by side are a cluster.
using Paired = Mark<SpmdDialect::PairedAttrHelper>;
/// On a multiplication of f32: what its program asks for.
using TensorFloat = Contract<SpmdDialect::TensorFloatAttrHelper>;
/// On a cast of a memref to a pointer: it is described to TMA copies, fastest
/// dim first, each dim by those of the memref that it runs over; the box that
/// is copied, or channels, pixels, and low, high and step of each window's dim.
using TensorMap = Contract<SpmdDialect::TensorMapAttrHelper>;
using TensorBox = Contract<SpmdDialect::TensorBoxAttrHelper>;
/// On kernels: how many such descriptions come before the other arguments.
using TensorMaps = Contract<SpmdDialect::TensorMapsAttrHelper>;

} // namespace contract

/// What a program's text may begin an op's name with, taken away:
/// "stablehlo.dot_general" is "dot_general" to users.
llvm::StringRef withoutDialect(llvm::StringRef opName);

/// Whether `attribute` is one of the above.
inline bool isContract(mlir::NamedAttribute attribute) {
  return llvm::isa_and_nonnull<SpmdDialect>(attribute.getNameDialect());
}

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_SPMD_IR_SPMDCONTRACTS_H
