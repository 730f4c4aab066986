//===- Artifacts.h - Making and opening artifacts ---------------*- C++ -*-===//
//
// What an artifact carries beside its code: the model and the options that it
// was compiled with. Code that the user's key did not sign is not mapped: the
// program is compiled again from what the artifact carries, which is read as
// any model is.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_COMMON_ARTIFACTS_H
#define SHARDC_TOOLS_COMMON_ARTIFACTS_H

#include "Tool.h"
#include "shardc/Driver/Carried.h"
#include "shardc/Seal/PrivateFile.h"
#include "shardc/Seal/UserKey.h"

namespace shardc {

/// What a command line says of whose code is loaded. One object a tool, static.
struct TrustOptions {
  explicit TrustOptions(llvm::cl::OptionCategory &category);

  llvm::cl::opt<std::string> key;
  llvm::cl::opt<bool> trust;
};

/// Adds what the program, which is linked, was compiled from, and seals: the
/// bytes of an artifact. It is signed with the user's key, which is made if
/// there is none; where that fails a line on stderr says so and the artifact is
/// not signed. A key that was named and cannot be used is an error.
llvm::Expected<std::string> makeArtifact(const CompiledProgram &program,
                                         llvm::StringRef path,
                                         const ModelOptions &options,
                                         const TrustOptions &trust);
/// The same of code that is linked, and of the program that it carries.
llvm::Expected<std::string> sealCode(llvm::StringRef code,
                                     llvm::StringRef packed,
                                     const TrustOptions &trust);

/// An artifact whose digests hold.
struct OpenedArtifact {
  std::string path;
  PrivateFile file; ///< what was checked
  Seal seal;
  /// Signed with the user's key, or --trust, and for this build's runtime.
  bool isTrusted = false;
  bool isOther = false; ///< for another one
  std::string whyNot;   ///< where it is not trusted

  llvm::StringRef code() const;
  llvm::StringRef program() const;
};

/// Reads the file at `path` and compares its digests. Errors: 7 for a file that
/// cannot be read, 8 for one that is damaged or of another format.
llvm::Expected<OpenedArtifact> openArtifact(llvm::StringRef path,
                                            const TrustOptions &trust);

/// The model that the artifact at `path` carries, whoever signed it. Errors: as
/// openArtifact; 8 where it carries none.
llvm::Expected<CarriedProgram> readCarried(llvm::StringRef path,
                                           const TrustOptions &trust);

/// Compiles again what `artifact`, whose code is not trusted, carries, and says
/// so in one line on stderr, unless `tool` is empty. Of `options` only
/// `stages.memoryLimitOf` counts.
llvm::Expected<CompiledProgram> rebuild(llvm::StringRef tool,
                                        const OpenedArtifact &artifact,
                                        ModelOptions options);

} // namespace shardc

#endif // SHARDC_TOOLS_COMMON_ARTIFACTS_H
