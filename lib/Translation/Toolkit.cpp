//===- Toolkit.cpp - ptxas and fatbinary ----------------------------------===//

#include "shardc/Support/MemoryErrors.h"
#include "shardc/Translation/DeviceImage.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

//===----------------------------------------------------------------------===//
// Where it is
//===----------------------------------------------------------------------===//

CudaToolkit shardc::findCudaToolkit() {
  CudaToolkit found;
  SmallVector<std::string> roots;
  for (StringRef name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (std::optional<std::string> root = sys::Process::GetEnv(name);
        root && !root->empty())
      roots.push_back(*root);
  auto tool = [&](StringRef name) -> std::string {
    for (const std::string &root : roots) {
      SmallString<128> path(root);
      sys::path::append(path, "bin", name);
      if (sys::fs::can_execute(path))
        return path.str().str();
    }
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
    return {};
  };
  found.ptxas = tool("ptxas");
  found.fatbinary = tool("fatbinary");
  // Beside ptxas as well, when only that is on PATH.
  if (!found.ptxas.empty())
    roots.push_back(
        sys::path::parent_path(sys::path::parent_path(found.ptxas)).str());
  for (const std::string &root : roots) {
    SmallString<128> path(root);
    sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (sys::fs::exists(path)) {
      found.libdevice = path.str().str();
      break;
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Running tools
//===----------------------------------------------------------------------===//

namespace {
/// A folder that goes away with what is in it.
class Workspace {
public:
  static Expected<Workspace> create() {
    SmallString<128> path;
    if (std::error_code error =
            sys::fs::createUniqueDirectory("shardc-cuda", path))
      return createStringError(error,
                               "no temporary directory: " + error.message() +
                                   "; TMPDIR says where");
    return Workspace(path.str().str());
  }
  Workspace(Workspace &&other) : folder(std::exchange(other.folder, {})) {}
  ~Workspace() {
    if (!folder.empty())
      sys::fs::remove_directories(folder);
  }
  std::string file(const Twine &name) const {
    return (folder + "/" + name).str();
  }

private:
  explicit Workspace(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};
} // namespace

static Error writeFile(StringRef path, StringRef bytes) {
  std::error_code failed;
  raw_fd_ostream out(path, failed);
  if (!failed) {
    out << bytes;
    out.close();
    failed = out.error();
    out.clear_error();
  }
  if (failed)
    return createStringError(failed, path + ": " + failed.message());
  return Error::success();
}

static Expected<std::string> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(),
                             path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Runs a tool; what it prints is the result, or the error's text.
static Expected<std::string> runTool(const Workspace &work,
                                     ArrayRef<StringRef> command) {
  std::string log = work.file("log"), problem;
  int status =
      sys::ExecuteAndWait(command.front(), command, std::nullopt,
                          {StringRef(""), StringRef(log), StringRef(log)},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  Expected<std::string> text = readFile(log);
  std::string said = text ? *text : "";
  if (!text)
    consumeError(text.takeError());
  if (status == 0)
    return said;
  problem += StringRef(said).trim().str();
  return createStringError(codeOfProgram(problem),
                           sys::path::filename(command.front()) +
                               " failed: " + problem);
}

//===----------------------------------------------------------------------===//
// ptxas, fatbinary
//===----------------------------------------------------------------------===//

std::string shardc::versionOf(const CudaToolkit &toolkit) {
  Expected<Workspace> work = Workspace::create();
  Expected<std::string> said =
      work ? runTool(*work, {toolkit.ptxas, "--version"})
           : Expected<std::string>(work.takeError());
  if (!said) {
    consumeError(said.takeError());
    return {};
  }
  SmallVector<StringRef> parts;
  return Regex("release ([0-9]+\\.[0-9]+)").match(*said, &parts)
             ? parts[1].str()
             : std::string();
}

/// Reads what `ptxas -v` prints.
static std::vector<KernelResources> readResources(StringRef text) {
  std::vector<KernelResources> all;
  Regex entry("Compiling entry function '([^']+)'"),
      spills("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads"),
      registers("Used ([0-9]+) registers"), shared("([0-9]+) bytes smem");
  SmallVector<StringRef> lines, parts;
  text.split(lines, '\n');
  auto number = [&](size_t i) {
    int64_t value = 0;
    parts[i].getAsInteger(10, value);
    return value;
  };
  for (StringRef line : lines) {
    if (entry.match(line, &parts)) {
      all.emplace_back();
      all.back().name = parts[1].str();
    }
    if (all.empty())
      continue;
    if (spills.match(line, &parts))
      all.back().spillBytes += number(1) + number(2);
    if (registers.match(line, &parts))
      all.back().registers = number(1);
    if (shared.match(line, &parts))
      all.back().sharedBytes = number(1);
  }
  return all;
}

Expected<std::vector<KernelResources>>
shardc::assemble(const CudaToolkit &toolkit, StringRef ptx, StringRef arch,
                 std::string &cubin) {
  Expected<Workspace> work = Workspace::create();
  if (!work)
    return work.takeError();
  std::string in = work->file("kernels.ptx"), out = work->file("kernels.cubin");
  if (Error error = writeFile(in, ptx))
    return std::move(error);
  std::string archFlag = ("-arch=" + arch).str();
  Expected<std::string> said =
      runTool(*work, {toolkit.ptxas, archFlag, "-O3", "-v", "-o", out, in});
  if (!said)
    return said.takeError();
  Expected<std::string> bytes = readFile(out);
  if (!bytes)
    return bytes.takeError();
  cubin = std::move(*bytes);
  return readResources(*said);
}

Expected<std::string>
shardc::packFatbin(const CudaToolkit &toolkit, StringRef ptx, StringRef ptxArch,
                   ArrayRef<std::pair<std::string, std::string>> cubins) {
  Expected<Workspace> work = Workspace::create();
  if (!work)
    return work.takeError();
  std::string out = work->file("kernels.fatbin"),
              text = work->file("kernels.ptx");
  SmallVector<std::string> owned{toolkit.fatbinary, "-64", "--create=" + out};
  for (auto [arch, bytes] : cubins) {
    std::string file = work->file(arch + ".cubin");
    if (Error error = writeFile(file, bytes))
      return std::move(error);
    owned.push_back("--image3=kind=elf,sm=" +
                    StringRef(arch).drop_front(3).str() + ",file=" + file);
  }
  if (Error error = writeFile(text, ptx))
    return std::move(error);
  owned.push_back("--image3=kind=ptx,sm=" + ptxArch.drop_front(3).str() +
                  ",file=" + text);
  Expected<std::string> said =
      runTool(*work, SmallVector<StringRef>(owned.begin(), owned.end()));
  if (!said)
    return said.takeError();
  return readFile(out);
}
