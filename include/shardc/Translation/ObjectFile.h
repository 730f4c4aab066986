//===- ObjectFile.h - From the LLVM dialect to object files -----*- C++ -*-===//
//
// LLVM dialect to LLVM IR, LLVM's optimiser, and machine code for the CPU.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_OBJECTFILE_H
#define SHARDC_TRANSLATION_OBJECTFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <string>

namespace llvm {
class raw_ostream;
class raw_pwrite_stream;
} // namespace llvm

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace shardc {

/// A CPU as LLVM names it, and features on top ("+avx512f,-fma").
struct CpuArch {
  std::string cpu;
  std::string features;
};

/// Takes "native", a level ("x86-64-v3", "x86-64-v4"), a CPU's name, each with
/// optional features behind a comma ("x86-64-v3,+f16c").
CpuArch resolveArch(llvm::StringRef arch);

/// The features of processors (Seal/Processor.h) that code for `arch` may use,
/// as "avx2,fma"; empty where the CPU is unknown.
std::string featuresOf(llvm::StringRef arch);

/// `arch`, or "native" where code for it could not run on this processor.
std::string archThatRuns(llvm::StringRef arch);

/// What LLVM does for code to be fast. Without its optimisations it takes a
/// third of the time, and the code gives the same results, but for the last
/// bits of floats where a product and a sum are rounded once or twice.
enum class Optimization { None, Full };

/// Writes an object file of position-independent code for `arch` (see
/// `resolveArch`). `module` holds the LLVM dialect and nothing else. Fails with
/// a diagnostic on the module if `arch` is unknown or the module does not
/// translate. Once `cancelled` (null: never) is set it fails without a
/// diagnostic, after the pass or the function that it is at.
mlir::LogicalResult
emitObjectFile(mlir::ModuleOp module, llvm::StringRef arch,
               llvm::raw_pwrite_stream &out,
               Optimization optimization = Optimization::Full,
               const std::atomic<bool> *cancelled = nullptr);

/// The same as assembly text.
mlir::LogicalResult emitAssembly(mlir::ModuleOp module, llvm::StringRef arch,
                                 llvm::raw_pwrite_stream &out);

/// Writes LLVM IR for `arch` as text.
mlir::LogicalResult emitLLVMIR(mlir::ModuleOp module, llvm::StringRef arch,
                               llvm::raw_ostream &out,
                               Optimization optimization = Optimization::Full);

/// Dialect translations that the functions above need.
void registerObjectFileDialects(mlir::DialectRegistry &registry);

} // namespace shardc

#endif // SHARDC_TRANSLATION_OBJECTFILE_H
