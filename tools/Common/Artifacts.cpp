//===- Artifacts.cpp - Making and opening artifacts -----------------------===//

#include "Artifacts.h"
#include "Sandbox.h"
#include "shardc/Translation/Artifact.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

TrustOptions::TrustOptions(cl::OptionCategory &category)
    : key("key",
          cl::desc("The key that signs artifacts, or whose artifacts are "
                   "loaded without compiling (default: SHARDC_KEY, or "
                   "$XDG_CONFIG_HOME/shardc/key)"),
          cl::value_desc("FILE"), cl::cat(category)),
      trust("trust",
            cl::desc("Load machine code whoever signed it; digests are "
                     "compared all the same"),
            cl::cat(category)) {}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

Expected<std::string> shardc::sealCode(StringRef code, StringRef packed,
                                       const TrustOptions &trust) {
  // The secret is no business of a sandboxed process.
  if (isSandboxed()) {
    Expected<std::string> sealed = sealOutside(code, packed);
    if (!sealed)
      return ioError(sealed.takeError());
    return sealed;
  }
  UserKey key;
  std::string problem = readUserKey(trust.key, /*make=*/true, key);
  if (problem.empty() && !key.secret)
    problem = key.path + " holds public keys, which sign nothing";
  if (!problem.empty()) {
    if (key.isGiven)
      return toolError(ExitCode::IO, problem);
    WithColor::warning(errs())
        << problem << "; the artifact is not signed: whoever loads it compiles "
        << "it again\n";
  }
  return sealArtifact(code, packed, key.secret ? &*key.secret : nullptr);
}

Expected<std::string> shardc::makeArtifact(const CompiledProgram &program,
                                           StringRef path,
                                           const ModelOptions &options,
                                           const TrustOptions &trust) {
  assert(isLinked(program.object) && "an object file is no artifact");
  // Compiled again it is to be the same, whatever has been measured since.
  ModelOptions carried = options;
  carried.stages.tiles = program.tiles;
  return sealCode(program.object, packProgram(path, carried, program.model),
                  trust);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

StringRef OpenedArtifact::code() const {
  return StringRef(file.text()).take_front(seal.codeBytes);
}

StringRef OpenedArtifact::program() const {
  return StringRef(reinterpret_cast<const char *>(seal.program.data()),
                   seal.program.size());
}

/// An engine, which starts no process, saves code that is not linked.
static Error linkCode(OpenedArtifact &artifact) {
  if (isLinked(artifact.code()))
    return Error::success();
  Expected<std::string> code = linkSharedObject(artifact.code());
  if (!code)
    return ioError(code.takeError());
  PrivateFile linked;
  std::string why = linked.hold(
      sealArtifact(*code, artifact.program(), nullptr), artifact.path);
  if (why.empty())
    why = readSeal(linked.bytes(), artifact.seal);
  if (!why.empty())
    return toolError(ExitCode::IO, artifact.path + ": " + why);
  artifact.file = std::move(linked);
  return Error::success();
}

static Error withPath(StringRef path, Error error) {
  return handleErrors(std::move(error), [&](const ToolError &known) -> Error {
    return toolError(known.code, known.message.empty()
                                     ? ""
                                     : path + ": refused: " + known.message);
  });
}

static Expected<OpenedArtifact> readArtifact(StringRef path,
                                             const TrustOptions &trust) {
  OpenedArtifact artifact;
  artifact.path = path.str();
  if (std::string why = artifact.file.readArtifact(artifact.path); !why.empty())
    return toolError(ExitCode::IO, path + ": " + why);
  if (std::string why = readSeal(artifact.file.bytes(), artifact.seal);
      !why.empty())
    return toolError(ExitCode::Artifact, path + ": refused: " + why);
  artifact.whyNot = checkArtifactInterface(artifact.code());
  artifact.isOther = !artifact.whyNot.empty();
  if (artifact.isOther || trust.trust) {
    artifact.isTrusted = !artifact.isOther;
    return artifact;
  }
  UserKey key;
  std::string problem = readUserKey(trust.key, /*make=*/false, key);
  if (!problem.empty() && key.isGiven)
    return toolError(ExitCode::IO, problem);
  artifact.isTrusted = key.trusts(artifact.seal.signer);
  if (!artifact.isTrusted)
    artifact.whyNot = !problem.empty()        ? problem
                      : !artifact.seal.signer ? "it is not signed"
                      : key.trusted.empty()
                          ? "you have no key yet (" + key.path + ")"
                          : "it is not signed with your key (" + key.path + ")";
  return artifact;
}

Expected<OpenedArtifact> shardc::openArtifact(StringRef path,
                                              const TrustOptions &trust) {
  Expected<OpenedArtifact> artifact = readArtifact(path, trust);
  if (artifact && artifact->isTrusted)
    if (Error error = linkCode(*artifact))
      return error;
  return artifact;
}

Expected<CarriedProgram> shardc::readCarried(StringRef path,
                                             const TrustOptions &trust) {
  Expected<OpenedArtifact> artifact = readArtifact(path, trust);
  if (!artifact)
    return artifact.takeError();
  if (artifact->program().empty())
    return toolError(ExitCode::Artifact, path + ": carries no program");
  Expected<CarriedProgram> carried = unpackProgram(artifact->program());
  if (!carried)
    return withPath(path, carried.takeError());
  return carried;
}

Expected<CompiledProgram> shardc::rebuild(StringRef tool,
                                          const OpenedArtifact &artifact,
                                          ModelOptions options) {
  if (artifact.program().empty())
    return toolError(
        ExitCode::Artifact,
        artifact.path + ": refused: " + artifact.whyNot +
            ", and it carries no program to compile instead" +
            (artifact.isOther ? "" : "; --trust loads its machine code"));
  Expected<CarriedProgram> carried = unpackProgram(artifact.program());
  if (!carried)
    return withPath(artifact.path, carried.takeError());
  if (!tool.empty())
    errs() << tool << ": " << artifact.path << ": " << artifact.whyNot
           << ": its machine code is not used, the program that it carries is "
              "compiled"
           << (artifact.isOther ? "" : " (--trust loads the code)") << '\n';
  carried->options.stages.memoryLimitOf = options.stages.memoryLimitOf;
  return compileModel(carried->path, std::move(carried->options));
}
