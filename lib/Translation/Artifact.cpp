//===- Artifact.cpp - Shared objects that hold a program ------------------===//

#include "shardc/Translation/Artifact.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "shardc/Seal/Interface.h"
#include "shardc/Seal/Processor.h"
#include "shardc/Seal/Seal.h"
#include "shardc/Support/InputFile.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Translation/MetadataText.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

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
  // Whoever binds a program writes into the boundaries of each dim.
  bool isBoundLate = module.lookupSymbol("shardc_formulas") != nullptr;
  std::string text = isBoundLate ? toJSON(metadata) : toShortJSON(metadata);
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
  // A package that brings its own has it in bin, beside its tools and the lib
  // that this may be in.
  Dl_info here;
  if (dladdr(reinterpret_cast<void *>(&shardc::findLinker), &here) &&
      here.dli_fname && sys::path::is_absolute(here.dli_fname)) {
    SmallString<128> own(here.dli_fname);
    sys::path::remove_filename(own);
    sys::path::append(own, "..", "bin", "ld.lld-22");
    if (sys::fs::can_execute(own))
      return own.str().str();
  }
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return createStringError(
      "no linker: neither " + besideLLVM.str() +
      " nor ld.lld-22 nor ld.lld on PATH (Debian package lld-22)");
}

/// A file without a name, which other processes open as `path`.
namespace {
struct MemoryFile {
  int descriptor = -1;
  std::string path;

  explicit MemoryFile(const char *name)
      : descriptor(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)),
        path("/proc/" + std::to_string(getpid()) + "/fd/" +
             std::to_string(descriptor)) {}
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  Expected<std::string> contents() const {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
        path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return createStringError(buffer.getError(),
                               "the linker's output cannot be read: " +
                                   buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }
};
} // namespace

/// Whether all of the ELF file that the linker wrote is there: it says nothing
/// of bytes that it could not write. Section headers come last.
static bool isWhole(StringRef bytes) {
  ELF::Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header.e_shoff <= bytes.size() &&
         uint64_t(header.e_shnum) * header.e_shentsize <=
             bytes.size() - header.e_shoff;
}

static std::function<Expected<std::string>(StringRef)> otherLinker;

void shardc::setLinker(std::function<Expected<std::string>(StringRef)> link) {
  otherLinker = std::move(link);
}

Expected<std::string> shardc::linkSharedObject(StringRef object) {
  if (otherLinker) {
    Expected<std::string> linked = otherLinker(object);
    if (linked && !isWhole(*linked))
      return createStringError("linking failed: what was linked is cut short");
    return linked;
  }
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  MemoryFile input("shardc-object"), output("shardc-code"), log("shardc-log");
  if (input.descriptor < 0 || output.descriptor < 0 || log.descriptor < 0)
    return createStringError(noMemoryCode(), Twine("no memory to link in: ") +
                                                 std::strerror(errno));
  {
    raw_fd_ostream out(input.descriptor, /*shouldClose=*/false);
    out << object;
    out.flush();
    if (out.has_error()) {
      std::string why = out.error().message();
      out.clear_error();
      return createStringError(noMemoryCode(), "no memory to link in: " + why);
    }
  }
  SmallVector<StringRef> arguments = {*linker};
  append_range(arguments, kLinkerOptions);
  arguments.push_back(input.path);
  std::string problem;
  int status = sys::ExecuteAndWait(
      *linker, arguments, std::nullopt,
      {StringRef(""), StringRef(output.path), StringRef(log.path)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status != 0) {
    if (Expected<std::string> text = log.contents())
      problem += StringRef(*text).trim().str();
    else
      consumeError(text.takeError());
    if (problem.empty())
      problem = *linker + " ended with code " + std::to_string(status) +
                " and said nothing";
    return createStringError(codeOfProgram(problem),
                             "linking failed: " + problem);
  }
  Expected<std::string> linked = output.contents();
  if (linked && !isWhole(*linked))
    return createStringError(
        "linking failed: the linker could not write all of it");
  return linked;
}

bool shardc::isArtifact(StringRef path) {
  // Of a pipe the first bytes can be read once.
  if (!isStoredFile(path))
    return false;
  file_magic magic;
  if (!identify_magic(path, magic) &&
      (magic == file_magic::elf_shared_object || magic == file_magic::elf ||
       magic == file_magic::elf_relocatable ||
       magic == file_magic::elf_executable))
    return true;
  uint64_t size;
  if (sys::fs::file_size(path, size) || size < kSealEndBytes)
    return false;
  ErrorOr<std::unique_ptr<MemoryBuffer>> end =
      MemoryBuffer::getFileSlice(path, kSealEndBytes, size - kSealEndBytes);
  return end && endsInSeal(crypto::bytesOf((*end)->getBuffer()));
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
    return createStringError("metadata is in no section");
  Expected<StringRef> contents = (*section)->getContents();
  if (!contents)
    return contents.takeError();
  // Of an object that is not linked, sections and symbols count from 0.
  uint64_t base = (*section)->getAddress();
  if (*address < base || *address - base > contents->size())
    return createStringError("metadata is outside its section");
  StringRef text = contents->substr(*address - base);
  size_t end = text.find('\0');
  if (end == StringRef::npos)
    return createStringError("metadata does not end");
  return text.take_front(end);
}

/// The text of the metadata, a part of `buffer`.
static Expected<StringRef> findMetadata(MemoryBufferRef buffer) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(buffer);
  if (!file)
    return file.takeError();
  auto &elf = cast<object::ELFObjectFileBase>(**file);
  bool isLinked = elf.getEType() == ELF::ET_DYN;
  if (!isLinked && elf.getEType() != ELF::ET_REL)
    return createStringError(
        "not a shared object; shard-translate --emit=artifact makes one");
  Triple host(sys::getProcessTriple());
  if (elf.getArch() != host.getArch())
    return createStringError("made for " +
                             Triple::getArchTypeName(elf.getArch()) +
                             ", this machine is " + host.getArchName());
  std::optional<object::ELFSymbolRef> metadata;
  unsigned found = 0;
  auto symbols =
      isLinked
          ? elf.getDynamicSymbolIterators()
          : object::ELFObjectFileBase::elf_symbol_iterator_range(elf.symbols());
  for (const object::ELFSymbolRef &symbol : symbols) {
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if ((*flags & object::BasicSymbolRef::SF_Undefined) ||
        !(*flags & object::BasicSymbolRef::SF_Global))
      continue;
    found += is_contained(kSymbols, *name);
    if (*name == kMetadataSymbol)
      metadata = symbol;
  }
  if (!metadata || found != std::size(kSymbols))
    return createStringError("not a shardc artifact: it must export " +
                             join(ArrayRef(kSymbols), ", "));
  return textOf(*metadata);
}

bool shardc::isLinked(StringRef code) {
  return identify_magic(code) != file_magic::elf_relocatable;
}

Expected<ProgramMetadata> shardc::readArtifactMetadata(StringRef code) {
  // The reader of ELF files asks for an aligned one.
  std::unique_ptr<MemoryBuffer> buffer = MemoryBuffer::getMemBufferCopy(code);
  Expected<StringRef> text = findMetadata(buffer->getMemBufferRef());
  if (!text)
    return text.takeError();
  return parseMetadata(*text);
}

std::string shardc::checkArtifactInterface(StringRef code) {
  std::unique_ptr<MemoryBuffer> buffer = MemoryBuffer::getMemBufferCopy(code);
  Expected<StringRef> text = findMetadata(buffer->getMemBufferRef());
  if (text) {
    std::string why = checkInterface(*text);
    return why.empty() ? checkProcessor(*text) : why;
  }
  consumeError(text.takeError());
  return {};
}
