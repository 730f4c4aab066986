//===- LocalText.h - The local program as StableHLO -------------*- C++ -*-===//
//
// What each rank does, for people and for tools that read StableHLO: the local
// view with its communication as StableHLO's collectives. To be read, not to be
// compiled: what StableHLO has no op for is a custom call of its name.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_LOCALTEXT_H
#define SHARDC_TRANSLATION_LOCALTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Translation/Metadata.h"
#include <string>

namespace shardc {

/// Prints the local view `local` as a module of `func` and `stablehlo` alone,
/// in which all shapes are static: where ranks' shapes differ, that of the
/// largest of each dim. `@main` takes and returns one rank's shards. Exchanges
/// that are an all-gather, an all-to-all or a permutation of equal blocks, and
/// reductions, are those ops; other exchanges `custom_call @shardc.NAME` with
/// their tables as `backend_config`. Constants of more than 64 elements are
/// calls of `shardc.constant`. A program that cannot be written so is one call,
/// `shardc.program`. With `lines`, each op has its user's line and JAX's name
/// for it as its location.
///
/// Sets `work`, if given, to what one rank computes, op by op: a product of m
/// by k and k by n counts 2 m k n, an elementwise op one for each element, and
/// what is only moved nothing. Bodies of loops count once, as nobody knows how
/// often they run.
std::string printLocalProgram(mlir::ModuleOp local, bool lines,
                              ProgramWork *work = nullptr);

} // namespace shardc

#endif // SHARDC_TRANSLATION_LOCALTEXT_H
