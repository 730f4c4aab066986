//===- Artifact.cpp - Shared objects that hold a program ------------------===//

#include "shardc/Translation/Artifact.h"
#include "shardc/Support/OutputFile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace shardc;

static constexpr StringLiteral kMetadataSymbol = "shardc_metadata";
/// What every artifact exports.
static constexpr StringLiteral kSymbols[] = {
    "shardc_main",    "shardc_sites",          "shardc_sites_length",
    "shardc_strings", "shardc_strings_length", "shardc_metadata"};

void shardc::embedMetadata(mlir::ModuleOp module,
                           const ProgramMetadata &metadata) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  std::string text = toJSON(metadata);
  text.push_back('\0');
  auto type = mlir::LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  mlir::LLVM::GlobalOp::create(builder, module.getLoc(), type,
                               /*isConstant=*/true,
                               mlir::LLVM::Linkage::External, kMetadataSymbol,
                               builder.getStringAttr(text));
}

Expected<std::string> shardc::findLinker() {
  SmallString<128> besideLLVM(SHARDC_LLVM_TOOLS_DIR);
  sys::path::append(besideLLVM, "ld.lld");
  if (sys::fs::can_execute(besideLLVM))
    return besideLLVM.str().str();
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return createStringError(
      "no linker: neither " + besideLLVM.str() +
      " nor ld.lld-22 nor ld.lld on PATH (Debian package lld-22)");
}

Error shardc::linkSharedObject(ArrayRef<std::string> objects,
                               StringRef output) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  Expected<sys::fs::TempFile> file = createBeside(output);
  if (!file)
    return createStringError(
        output + ": cannot be written: " + toString(file.takeError()));
  SmallString<128> log;
  if (std::error_code error =
          sys::fs::createTemporaryFile("shardc-link", "log", log)) {
    consumeError(file->discard());
    return createStringError("no temporary file for the linker's messages: " +
                             error.message());
  }
  scope_exit removeLog([&] { sys::fs::remove(log); });

  SmallVector<StringRef> arguments = {*linker,
                                      "-shared",
                                      "--hash-style=gnu",
                                      "--build-id=none",
                                      "-z",
                                      "relro",
                                      "-z",
                                      "now",
                                      "-z",
                                      "noexecstack",
                                      "-o",
                                      file->TmpName};
  arguments.append(objects.begin(), objects.end());
  std::string problem;
  int status =
      sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                          {StringRef(""), StringRef(log), StringRef(log)},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status != 0) {
    if (ErrorOr<std::unique_ptr<MemoryBuffer>> text =
            MemoryBuffer::getFile(log))
      problem += (*text)->getBuffer().trim().str();
    consumeError(file->discard());
    return createStringError("linking " + output + " failed: " + problem);
  }
  if (Error error = keepAs(*file, output))
    return createStringError(
        output + ": cannot be written: " + toString(std::move(error)));
  return Error::success();
}

bool shardc::isArtifact(StringRef path) {
  file_magic magic;
  return !identify_magic(path, magic) &&
         (magic == file_magic::elf_shared_object || magic == file_magic::elf ||
          magic == file_magic::elf_relocatable ||
          magic == file_magic::elf_executable);
}

/// The bytes of the data symbol `symbol` up to its first NUL.
static Expected<StringRef> textOf(const object::ELFSymbolRef &symbol) {
  Expected<uint64_t> address = symbol.getAddress();
  if (!address)
    return address.takeError();
  Expected<object::section_iterator> section = symbol.getSection();
  if (!section)
    return section.takeError();
  if (*section == symbol.getObject()->section_end())
    return createStringError("metadata lies in no section");
  Expected<StringRef> contents = (*section)->getContents();
  if (!contents)
    return contents.takeError();
  uint64_t base = (*section)->getAddress();
  if (*address < base || *address - base > contents->size())
    return createStringError("metadata lies outside its section");
  StringRef text = contents->substr(*address - base);
  size_t end = text.find('\0');
  if (end == StringRef::npos)
    return createStringError("metadata does not end");
  return text.take_front(end);
}

static Expected<ProgramMetadata> readMetadata(MemoryBufferRef buffer) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(buffer);
  if (!file)
    return file.takeError();
  auto &elf = cast<object::ELFObjectFileBase>(**file);
  if (elf.getEType() != ELF::ET_DYN)
    return createStringError(
        "not a shared object; shard-translate --emit=artifact makes one");
  Triple host(sys::getProcessTriple());
  if (elf.getArch() != host.getArch())
    return createStringError("made for " +
                             Triple::getArchTypeName(elf.getArch()) +
                             ", this machine is " + host.getArchName());
  std::optional<object::ELFSymbolRef> metadata;
  unsigned found = 0;
  for (const object::ELFSymbolRef &symbol : elf.getDynamicSymbolIterators()) {
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (*flags & object::BasicSymbolRef::SF_Undefined)
      continue;
    found += is_contained(kSymbols, *name);
    if (*name == kMetadataSymbol)
      metadata = symbol;
  }
  if (!metadata || found != std::size(kSymbols))
    return createStringError("not a shardc artifact: it must export " +
                             join(ArrayRef(kSymbols), ", "));
  Expected<StringRef> text = textOf(*metadata);
  if (!text)
    return text.takeError();
  return parseMetadata(*text);
}

Expected<ProgramMetadata> shardc::readArtifactMetadata(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  Expected<ProgramMetadata> metadata =
      readMetadata((*buffer)->getMemBufferRef());
  if (!metadata)
    return createStringError(path +
                             ": refused: " + toString(metadata.takeError()));
  return metadata;
}
