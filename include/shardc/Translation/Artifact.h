//===- Artifact.h - Shared objects that hold a program ----------*- C++ -*-===//
//
// An artifact is a shared object with the symbols that
// docs/Rationale/Architecture.md lists. It is linked by ld.lld, and read here
// without mapping its code: what is in it is known before any of it runs.
// docs/Reference/artifact.md says what is behind the shared object.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_ARTIFACT_H
#define SHARDC_TRANSLATION_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "shardc/Translation/Metadata.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
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

/// The linker's arguments besides the file to link; it writes to stdout.
inline constexpr const char *kLinkerOptions[] = {"-shared",
                                                 "--hash-style=gnu",
                                                 "--build-id=none",
                                                 "-z",
                                                 "relro",
                                                 "-z",
                                                 "now",
                                                 "-z",
                                                 "noexecstack",
                                                 "-o",
                                                 "-"};

/// Links `object`, position-independent code, to the bytes of a shared object.
/// Calls of the runtime stay open: they are bound when it is loaded. Nothing
/// is written to a disk. An error holds what the linker printed.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object);

/// Lets `link` do what linkSharedObject does: for a process that must not start
/// another one.
void setLinker(
    std::function<llvm::Expected<std::string>(llvm::StringRef)> link);

/// True if the file at `path` starts as an ELF file does or ends in the seal of
/// an artifact: so one whose first bytes are damaged is taken for no model.
bool isArtifact(llvm::StringRef path);

/// False for an object that is not linked yet: what an engine saves.
bool isLinked(llvm::StringRef code);

/// Reads the metadata of `code`, a shared object or one that is not linked.
/// Errors: a file that is neither for this machine, damaged, without one of the
/// symbols that a program has, or whose metadata parseMetadata refuses.
llvm::Expected<ProgramMetadata> readArtifactMetadata(llvm::StringRef code);

/// Why the runtime of this build cannot run `code`, as what follows "it"; empty
/// if it can, and if readArtifactMetadata says what is wrong.
std::string checkArtifactInterface(llvm::StringRef code);

/// Writes a C header: the entry point with the shapes of what it takes, and, as
/// constants, the numbers of ranks, inputs and outputs and the boundaries of
/// every dim that is cut.
void emitHeader(const ProgramMetadata &metadata, llvm::raw_ostream &out);

} // namespace shardc

#endif // SHARDC_TRANSLATION_ARTIFACT_H
