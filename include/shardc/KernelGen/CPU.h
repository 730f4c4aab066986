//===- CPU.h - Kernels for the CPU ------------------------------*- C++ -*-===//
//
// From linalg, tensor and scf on tensors to the LLVM dialect, in two halves:
// what holds buffers and loops, and what lowers these. Ops of other dialects
// between them (rank tables, communication sites) are lowered by whoever knows
// them, after the first half.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_CPU_H
#define SHARDC_KERNELGEN_CPU_H

#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace shardc {

/// What kernels are generated for.
struct CpuKernelOptions {
  /// Bits of a vector register: 128, 256 or 512; 0 takes those of `arch`.
  unsigned vectorBits = 0;
  /// As in ObjectFile.h: "native", "x86-64-v3", "x86-64-v4", a CPU's name, ...
  std::string arch = "native";
  /// The function whose buffers live in the arena.
  std::string entry = "main";
  /// Fusion, arena and generated loop nests; without, every op is lowered by
  /// upstream's plain loops (the reference that tests compare with).
  bool optimize = true;
  /// Threads that share a parallel loop: kernels are cut into so many parts
  /// (`spmd.parts` on a loop), which whoever knows the runtime lets run at the
  /// same time.
  int64_t threads = 1;
  /// An element's bits do not depend on where in a kernel's loops it stands:
  /// products and sums are rounded one by one, but where the product is exact.
  bool exact = false;
  /// Calls of @shardc_mark around kernels (spmd-mark-kernels).
  bool marks = false;
  /// False where kernels are made elsewhere, so that there is nothing to lower
  /// but scalars.
  bool vectors = true;
  /// Adds passes behind the fusion of tensors.
  std::function<void(mlir::OpPassManager &)> onFused;
  /// Adds the passes of whoever knows the other ops, when all are on buffers
  /// and before kernels are made of them.
  std::function<void(mlir::OpPassManager &)> onBuffers;
};

/// Bits of the widest vector register worth using on `arch`: 512, 256 or 128.
unsigned preferredVectorBits(llvm::StringRef arch);

/// Whether `arch` adds products of pairs of bf16 to f32 in one instruction.
bool hasDotBf16(llvm::StringRef arch);

/// Tensors to buffers, for any target: fused `linalg.generic` on memrefs. In:
/// as below. Results of `entry` become memref arguments.
void buildSharedBufferPipeline(mlir::OpPassManager &pm,
                               const CpuKernelOptions &options);

/// Tensors to buffers, loops and vectors. In: linalg, tensor, scf,
/// bufferization on tensors, and destination-style ops with external
/// bufferization models. Out: memref, scf, vector, arith, math, func.
/// Results of `entry` become memref arguments; the arena is its last argument
/// where the module holds `spmd.arena_bytes`.
void buildCpuBufferPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// What the former leaves, to the LLVM dialect. `func.func`s marked
/// `llvm.emit_c_interface` get their wrapper.
void buildCpuToLLVMPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// Both halves.
void buildCpuKernelPipeline(mlir::OpPassManager &pm,
                            const CpuKernelOptions &options);

/// Dialects and external models that the pipelines need.
void registerCpuKernelDialects(mlir::DialectRegistry &registry);

/// Lets bufferization take `spmd.pair_step` and `spmd.lines`; part of the
/// above.
void registerPairStepModel(mlir::DialectRegistry &registry);

/// Makes `--spmd-cpu-kernels` known to the command line.
void registerCpuKernelPipelines();

} // namespace shardc

#endif // SHARDC_KERNELGEN_CPU_H
