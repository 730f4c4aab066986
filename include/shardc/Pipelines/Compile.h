//===- Compile.h - A model file to a program --------------------*- C++ -*-===//
#ifndef SHARDC_PIPELINES_COMPILE_H
#define SHARDC_PIPELINES_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "shardc/Pipelines/Stages.h"
#include "shardc/Support/Tile.h"
#include "shardc/Translation/Metadata.h"
#include "llvm/Support/MemoryBuffer.h"

namespace shardc {

enum class Optimization;

/// What was done so that a program's temporaries stay within
/// StageOptions::memoryLimit.
struct MemoryPlan {
  int64_t plannedBytes =
      0; ///< of temporaries of one rank before; 0 without a limit
  int64_t repeated = 0;     ///< ops that run once more
  int64_t loops = 0;        ///< over blocks of rows
  int64_t addedPercent = 0; ///< of the program's arithmetic, as estimated
  std::string largest;      ///< what is held where most is
};

/// A product, and how it is cut.
struct TiledKernel {
  std::string name, location; ///< as in a trace
  std::string digest;         ///< the same in any program
  Tile tile;
  bool isGiven = false;     ///< by StageOptions::tiles
  std::vector<Tile> others; ///< StageOptions::listTiles
};

/// A compiled program: what its artifact is linked from.
struct CompiledProgram {
  ProgramMetadata metadata;
  MemoryPlan memory;
  std::string object;    ///< an object file, linked or not
  std::string model;     ///< what it was compiled from, where the tool keeps it
  std::string localText; ///< StageOptions::localText
  double compileMs = 0;  ///< from parsed module to object; 0: it was cached
  std::string
      tiles; ///< of StageOptions::tiles, those of this program's kernels
  std::vector<TiledKernel> tiled; ///< StageOptions::listTiles
};

/// Reads a model (StableHLO text, or MLIR bytecode) within the limits of
/// docs/Reference. Diagnostics go to the context's handlers. Null on failure.
mlir::OwningOpRef<mlir::ModuleOp> parseModel(mlir::MLIRContext &context,
                                             llvm::StringRef path);

/// The same for a model in memory; the buffer's name is in diagnostics.
mlir::OwningOpRef<mlir::ModuleOp>
parseModel(mlir::MLIRContext &context,
           std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Imports, propagates and partitions `module` in place: the local view.
mlir::LogicalResult compileToLocal(mlir::ModuleOp module,
                                   const StageOptions &options);

/// From the local view to the LLVM dialect, in place.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module,
                                const StageOptions &options);

/// The same within StageOptions::memoryLimit, where there is one. `metadata` is
/// that of the local view; communication that is repeated is added to it.
mlir::FailureOr<MemoryPlan> lowerProgram(mlir::ModuleOp module,
                                         const StageOptions &options,
                                         ProgramMetadata &metadata);

/// What an artifact says about itself, read off the local view.
ProgramMetadata describeProgram(mlir::ModuleOp local);

/// How LLVM optimises what is compiled with `options`.
Optimization optimizationOf(const StageOptions &options);

/// All of the above and code generation. `module` is consumed.
mlir::FailureOr<CompiledProgram> compileProgram(mlir::ModuleOp module,
                                                const StageOptions &options);

/// A context with everything registered and loaded that compilation needs, and
/// what `registerMore` adds. Dialects that nobody knows are refused.
std::unique_ptr<mlir::MLIRContext>
createCompilerContext(void (*registerMore)(mlir::DialectRegistry &) = nullptr);

} // namespace shardc

#endif // SHARDC_PIPELINES_COMPILE_H
