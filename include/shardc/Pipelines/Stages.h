//===- Stages.h - The stages as pipelines -----------------------*- C++ -*-===//
//
// docs/Rationale/Architecture.md section 1 says what goes in and out of each.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PIPELINES_STAGES_H
#define SHARDC_PIPELINES_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Import/PlaceholderSet.h"
#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace shardc {

struct ProgramMetadata;

/// What a program is compiled for: the host alone, NVIDIA GPUs, or the host as
/// an emulator of these (docs/Rationale/GPU.md).
enum class Target { Cpu, Cuda, EmulatedCuda };

struct StageOptions {
  /// Shapes of arguments whose types have `?`, "ARG=8x6;…"; entries "?ARG=…"
  /// count for these alone.
  std::string shapes;
  /// Axes given another size, "x=3,y=2"; empty: as the file says.
  std::string mesh;
  /// Sizes in which arguments arrive, "ARG:DIM=300,200,100,424;…".
  std::string sizes;
  /// Dims of arguments whose sizes whoever binds the program says:
  /// "0:2,image:1", or "all" that are cut.
  std::string dynamic;
  /// The machine whose figures all estimates are made of, as parseMachine reads
  /// it; empty: as the file says, else `generic`.
  std::string machine;
  /// One rank, nothing cut: the program that the sharded one is compared with.
  bool unsharded = false;
  /// An op that would be gathered is an error.
  bool noFallback = false;
  /// Attention and other patterns stay the ops that they are made of.
  bool noRaise = false;
  /// No dim is put in zigzag order unless an annotation says so.
  bool keepOrder = false;
  /// Arguments and results are cut in equal shards, or whole where a dim cannot
  /// be; what is sharded otherwise inside is moved where it enters and leaves.
  bool evenBorders = false;
  /// Results that are asked for unreduced leave as each rank's own part, to be
  /// combined by whoever reads them; else they are combined here.
  bool partialResults = false;
  /// Arguments are placed on the devices that their meshes' `device_ids` name,
  /// and results leave there; else a mesh's positions are the ranks.
  bool deviceOrder = false;
  /// The same bits on every mesh, for any cuts and number of threads; what
  /// cannot be had so is refused.
  bool reproducible = false;
  /// With `reproducible`: no sum is left in order because no annotation cuts
  /// it, so the same function with other annotations has the same bits too.
  bool exactSums = false;
  /// Print where each sharding came from.
  bool explain = false;
  /// Keep what each rank does as text (Translation/LocalText.h).
  bool localText = false;
  /// Let reasons of communication name rules and annotations.
  bool origins = false;
  /// Whoever runs the program answers its calls of Python: keep those that give
  /// no values.
  bool hostCalls = false;
  /// Threads of a rank that share its parallel loops (code for CPUs).
  int64_t threads = 1;
  /// Let kernels say when they begin and end (code for CPUs).
  bool trace = false;
  /// Most bytes of temporaries of one rank; where a program needs more, it
  /// computes values again and in blocks of rows. 0: no limit.
  int64_t memoryLimit = 0;
  /// Where there is no such limit: says what it is, of what is known of the
  /// program before it is lowered.
  std::function<int64_t(const ProgramMetadata &)> memoryLimitOf;
  /// Without LLVM's optimisations: half of the time to compile, for code that
  /// is slower.
  bool quick = false;
  /// What runs the kernels.
  Target target = Target::Cpu;
  /// What host code is generated for (Translation/ObjectFile.h).
  std::string arch = "native";
  /// The GPUs that code is generated for, "sm_80,sm_90a"
  /// (Translation/DeviceImage.h).
  std::string gpuArch;
  /// Let emulated kernels look at every access.
  bool checkKernels = false;
  /// Who does products, convolutions, transforms and steps of attention on
  /// GPUs: default (our kernels, but libraries where GPUs have instructions for
  /// which there are no kernels), generated, auto, library.
  std::string kernels = "default";
  /// Lets a tool watch passes, or change what they leave: called with each pass
  /// manager once its passes are there.
  std::function<void(mlir::PassManager &)> instrument;
  /// Looks at the local view once communication is settled; fails where it is
  /// wrong.
  std::function<llvm::LogicalResult(mlir::ModuleOp)> inspectLocal;
  /// Products of f32 of default precision may be of tf32 on GPUs.
  bool tf32 = false;
  /// How products are cut that were measured, as parseTiles of Support/Tile.h
  /// reads it (code for CPUs).
  std::string tiles;
  /// Say how products are cut, and how else they could be.
  bool listTiles = false;
  /// Set by another thread once nobody wants the program any more: passes that
  /// have not begun are left out, and compiling fails without a diagnostic.
  std::shared_ptr<const std::atomic<bool>> cancelled;

  bool isCancelled() const {
    return cancelled && cancelled->load(std::memory_order_relaxed);
  }
};

/// The same, with other placeholders for open extents.
void buildImportStageForTwin(mlir::OpPassManager &pm,
                             const StageOptions &options,
                             PlaceholderSet placeholders);
void buildImportStage(mlir::OpPassManager &pm, const StageOptions &options);
/// Patterns of ops to ops that say what they mean.
void buildRaiseStage(mlir::OpPassManager &pm, const StageOptions &options);
void buildPropagateStage(mlir::OpPassManager &pm, const StageOptions &options);
void buildPartitionStage(mlir::OpPassManager &pm, const StageOptions &options);
void buildCommunicateStage(mlir::OpPassManager &pm,
                           const StageOptions &options);
/// Between Communicate and Lower, where a program needs more than
/// `memoryLimit`: values are made again, chains of ops run block by block, to
/// an estimate of `bytes`.
void buildFitMemoryStage(mlir::OpPassManager &pm, int64_t bytes);
void buildLowerCpuStage(mlir::OpPassManager &pm, const StageOptions &options);
/// Its first half: loops on buffers in an arena, of `kernel.arena_bytes` of the
/// module.
void buildCpuBuffersStage(mlir::OpPassManager &pm, const StageOptions &options);
/// Its second half.
void buildCpuCodeStage(mlir::OpPassManager &pm, const StageOptions &options);
/// For `Target::Cuda` a `gpu.module @shardc_kernels` in the NVVM dialect
/// remains beside the host's code.
void buildLowerCudaStage(mlir::OpPassManager &pm, const StageOptions &options);

/// True where the command line has `--explain`. Then the stages note what
/// `explain` of Analysis/Explain.h prints. Requires registerStagePipelines().
bool isExplainRequested();

/// Makes the stages known to the command line, and `--shardc-pipeline`, all of
/// them.
void registerStagePipelines();

} // namespace shardc

#endif // SHARDC_PIPELINES_STAGES_H
