//===- Passes.h - Passes of the Import room ---------------------*- C++ -*-===//
#ifndef SHARDC_IMPORT_PASSES_H
#define SHARDC_IMPORT_PASSES_H

#include "mlir/Pass/Pass.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include <string>

namespace shardc {

struct ImportOptions {
  /// Shapes of arguments that have dynamic ones, "0=8x6;x=4x4", by number or
  /// name; empty: there are none.
  std::string shapes;
  /// Leave extents open that `shapes` does not give.
  bool openExtents = false;
  /// With other placeholders than usual.
  bool otherPlaceholders = false;
  /// Axes given another size, "x=3,y=2"; empty: as the file says.
  std::string mesh;
  /// Sizes in which arguments arrive, "ARG:DIM=300,200,100,424;…", by number or
  /// name; empty: as the file says.
  std::string sizes;
  std::string dynamic;
  /// The machine to compile for, as parseMachine reads it; empty: as the file
  /// says.
  std::string machine;
  /// One rank, nothing cut: the mesh loses its axes, and every sharding goes.
  bool unsharded = false;
  /// With `unsharded`: axes of one rank each, and shardings along them, stay,
  /// so that all follows from them that does on other meshes.
  bool keepAxes = false;
  /// Arguments come to the devices that their meshes' `device_ids` name, and
  /// results leave there: rank r is device r.
  bool deviceOrder = false;
  /// Keep calls of Python that give no values.
  bool hostCalls = false;
};

/// JAX's StableHLO and sdy to one annotated function (`--spmd-import`).
void buildImportPipeline(mlir::OpPassManager &pm, const ImportOptions &options);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "shardc/Import/Passes.h.inc"

} // namespace shardc

#endif // SHARDC_IMPORT_PASSES_H
