//===- Artifact.h - Shared objects that hold a program ----------*- C++ -*-===//
//
// An artifact is a shared object with the symbols that
// docs/Rationale/Architecture.md lists. It is linked by ld.lld, and read here
// without mapping its code: what is in it is known before any of it runs.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_ARTIFACT_H
#define SHARDC_TRANSLATION_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Translation/Metadata.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace shardc {

/// Adds `metadata` to a module of the LLVM dialect, as the NUL-terminated
/// constant `shardc_metadata`. Requires that the module has no such symbol.
void embedMetadata(mlir::ModuleOp module, const ProgramMetadata &metadata);

/// Returns the path of ld.lld: beside LLVM's tools, or else on PATH. An error
/// says where it was looked for.
llvm::Expected<std::string> findLinker();

/// Links position-independent object files to the shared object `output`. Calls
/// of the runtime stay open: they are bound when the artifact is loaded. The
/// file appears whole or not at all. An error holds what the linker printed.
llvm::Error linkSharedObject(llvm::ArrayRef<std::string> objects,
                             llvm::StringRef output);

/// True if the file at `path` starts as an ELF file does.
bool isArtifact(llvm::StringRef path);

/// Reads the metadata of the artifact at `path`. Errors: a file that is no
/// shared object for this machine, damaged, without one of the symbols that a
/// program has, or whose metadata parseMetadata refuses.
llvm::Expected<ProgramMetadata> readArtifactMetadata(llvm::StringRef path);

/// Writes a C header: the entry point with the shapes of what it takes, and, as
/// constants, the numbers of ranks, inputs and outputs and the boundaries of
/// every dim that is cut.
void emitHeader(const ProgramMetadata &metadata, llvm::raw_ostream &out);

} // namespace shardc

#endif // SHARDC_TRANSLATION_ARTIFACT_H
