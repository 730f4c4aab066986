//===- KernelContracts.h - What is left for kernels and calls ---*- C++ -*-===//
//
// Discardable attributes of the dialect: shardc/Dialect/Spmd/IR/Contract.h.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELCONTRACTS_H
#define SHARDC_DIALECT_KERNEL_IR_KERNELCONTRACTS_H

#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Spmd/IR/Contract.h"

namespace shardc::spmd::contract {

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// On modules: all communication sites, until the artifact holds them.
using Sites = Contract<KernelDialect::SitesAttrHelper>;
/// On modules, a dictionary for each argument and result of @main: shardings
/// and types that bufferization does not keep.
using EntryInputs = Contract<KernelDialect::EntryInputsAttrHelper>;
using EntryOutputs = Contract<KernelDialect::EntryOutputsAttrHelper>;

//===----------------------------------------------------------------------===//
// Kernels on buffers
//===----------------------------------------------------------------------===//

/// On the op that adds in the body of a linalg op: where floats are to be added
/// in the order of their elements, these need not be.
using AnyOrder = Mark<KernelDialect::AnyOrderAttrHelper>;
/// On the op that adds a product in the body of a linalg op: both are rounded
/// once.
using RoundedOnce = Mark<KernelDialect::RoundedOnceAttrHelper>;
/// On functions of f64: as many digits are asked for as f32 has, and some.
using Brief = Mark<KernelDialect::BriefAttrHelper>;
/// On an arith.divf: it is 1 / (1 + exp(-x)), and may be computed as one
/// function.
using Logistic = Mark<KernelDialect::LogisticAttrHelper>;
/// On an scf.for or scf.while: buffers that it carries change places from
/// iteration to iteration.
using Rotated = Mark<KernelDialect::RotatedAttrHelper>;
/// On an scf.for from 0 in steps of 1 whose iterations may run at the same
/// time: how many there are. Without anybody who looks at it they run in order.
using Parts = Contract<KernelDialect::PartsAttrHelper>;
/// On modules: a [name, source line] for each number that marks use.
using Kernels = Contract<KernelDialect::KernelsAttrHelper>;
/// On the argument that holds all temporaries.
using Arena = Contract<KernelDialect::ArenaAttrHelper>;
/// On modules: bytes of that argument, and its largest values, in words.
using ArenaBytes = Contract<KernelDialect::ArenaBytesAttrHelper>;
using ArenaLargest = Contract<KernelDialect::ArenaLargestAttrHelper>;
/// On modules: its buffers (#kernel.arena_buffer), where their sizes follow
/// from what is bound.
using ArenaPlan = Contract<KernelDialect::ArenaPlanAttrHelper>;
/// On the buffer of a result: the number of the argument that it may be written
/// over.
using InPlace = Contract<KernelDialect::InPlaceAttrHelper>;
/// On modules: that number of each result, or -1.
using WrittenInPlace = Contract<KernelDialect::WrittenInPlaceAttrHelper>;
/// On sorts of lines that the runtime does: how elements of the first input are
/// compared, which is what the body says.
using LineOrder = Contract<KernelDialect::LineOrderAttrHelper>;
/// On a linalg.generic that reduces, or a step on pairs: what each output
/// starts from, a number, or unit where its buffer says it.
using Starts = Contract<KernelDialect::StartsAttrHelper>;
/// On the cast of a memref of complex elements to one of their real parts (0),
/// of their imaginary ones (1), or of both as one integer (-1).
using ComplexPart = Contract<KernelDialect::ComplexPartAttrHelper>;
/// On a function of floats: it stays a call of the C library, which rounds
/// right to less than one unit.
using LibraryCall = Mark<KernelDialect::LibraryCallAttrHelper>;

//===----------------------------------------------------------------------===//
// Kernels of GPUs: docs/Rationale/GPU.md, section 3
//===----------------------------------------------------------------------===//

/// On launches and kernels: the GPU whose instructions a kernel needs; images
/// for others lack it.
using Gpu = Contract<KernelDialect::GpuAttrHelper>;
/// On launches and kernels: done only where none of the launches before, of
/// kernels for one GPU each, could be.
using Otherwise = Mark<KernelDialect::OtherwiseAttrHelper>;
/// On launches and kernels: a grid of any size does the work.
using Persistent = Mark<KernelDialect::PersistentAttrHelper>;
/// On launches and kernels: two blocks side by side are a cluster.
using Paired = Mark<KernelDialect::PairedAttrHelper>;
/// On a multiplication of f32: what its program asks for.
using TensorFloat = Contract<KernelDialect::TensorFloatAttrHelper>;
/// On a cast of a memref to a pointer: it is described to TMA copies, fastest
/// dim first, each dim by those of the memref that it runs over; the box that
/// is copied, or channels, pixels, and low, high and step of each window's dim.
using TensorMap = Contract<KernelDialect::TensorMapAttrHelper>;
using TensorBox = Contract<KernelDialect::TensorBoxAttrHelper>;
/// On kernels: how many such descriptions come before the other arguments.
using TensorMaps = Contract<KernelDialect::TensorMapsAttrHelper>;

} // namespace shardc::spmd::contract

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELCONTRACTS_H
