//===- ControlFlow.h - What decides which region runs -----------*- C++ -*-===//
//
// Loops and branches of stablehlo and scf in one form, for analyses that ask
// who decides, and which value becomes which.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ANALYSIS_CONTROLFLOW_H
#define SHARDC_ANALYSIS_CONTROLFLOW_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace shardc {

struct ControlFlow {
  /// The values that decide whether, and how often, the op's regions run.
  llvm::SmallVector<mlir::Value> conditions;
  /// (from, to): `to`, an argument of a region or a result of the op, may be
  /// `from`: an operand of the op or of a region's terminator.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> edges;
  bool isLoop = false;
};

/// Returns how control and values flow through the regions of `op`, a loop or a
/// branch; nullopt for an op without regions, and for one whose regions say
/// what to do with elements (a reduction's body) or run in no order
/// (scf.forall).
std::optional<ControlFlow> getControlFlow(mlir::Operation *op);

/// A loop that counts: from a number, by a number, up to a number.
struct CountedLoop {
  unsigned counter; ///< the number of the operand that counts
  int64_t begin, end, step;
  int64_t tripCount() const;
};

/// Returns how `loop`, a `stablehlo.while`, counts where all of that is in the
/// program, as it is where JAX scans; nullopt elsewhere.
std::optional<CountedLoop> readCountedLoop(mlir::Operation *loop);

} // namespace shardc

#endif // SHARDC_ANALYSIS_CONTROLFLOW_H
