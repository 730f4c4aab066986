//===- ForeignProgram.cpp - Programs from files that are not trusted ------===//
//
// The child answers through a pipe: one letter, and bytes that depend on it. No
// answer means that it did not live to give one.
//
//===----------------------------------------------------------------------===//
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Refusal.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeReaderConfig.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Support/Misuse.h"
#include "shardc/Support/ProgramText.h"
#include "shardc/Support/TextLimits.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace shardc;

namespace {
/// The first letter of the child's answer.
enum Answer : char {
  Parsed = 'p',  ///< then bytecode, if that is what was read
  Refused = 'r', ///< then what the parser said, if bytecode was read
  RefusedAsUnsupported = 'u', ///< the same, of what is not supported
  BeyondLimit = 'l',          ///< then which limit
  NoMemory = 'm'
};
} // namespace

/// Parts of an attribute or type, counted as often as they are printed.
static constexpr int64_t kMaxParts = int64_t(1) << 24;
static constexpr int64_t kSecondsOfReading = 4;
static constexpr size_t kMebibyte = size_t(1) << 20;

//===----------------------------------------------------------------------===//
// Limits on what was read
//===----------------------------------------------------------------------===//

bool shardc::hasCountableBytes(ShapedType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return true;
  std::optional<int64_t> bytes = 16; // of the widest element
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && bytes)
      bytes = llvm::checkedMul(*bytes, size);
  return bytes.has_value();
}

namespace {
/// Measures attributes and types without recursion, each once: they may share
/// parts, so that a short file holds one that is endless when written out.
class PartLimits {
public:
  /// Which limit `part` is beyond; empty if none.
  std::string check(const void *part, bool isType) {
    if (failed(measure(part, isType)))
      return problem;
    return {};
  }

private:
  struct Extent {
    int64_t depth = 1, parts = 1;
  };
  struct Pending {
    const void *part;
    bool isType;
    bool opened = false;
  };

  static void visitParts(const void *part, bool isType,
                         llvm::function_ref<void(const void *, bool)> visit) {
    auto attribute = [&](Attribute a) {
      // Chains of locations are long in honest programs; who walks them does
      // so without recursion.
      if (a && !isa<LocationAttr>(a))
        visit(a.getAsOpaquePointer(), false);
    };
    auto type = [&](Type t) {
      if (t)
        visit(t.getAsOpaquePointer(), true);
    };
    if (isType)
      Type::getFromOpaquePointer(part).walkImmediateSubElements(attribute,
                                                                type);
    else
      Attribute::getFromOpaquePointer(part).walkImmediateSubElements(attribute,
                                                                     type);
  }

  LogicalResult fail(const llvm::Twine &message) {
    problem = message.str();
    return failure();
  }

  LogicalResult checkShape(Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return success();
    if (shaped.getRank() > static_cast<int64_t>(kMaxDims))
      return fail("tensor has more than " + llvm::Twine(kMaxDims) + " dims");
    for (int64_t size : shaped.getShape())
      if (size < 0 && !ShapedType::isDynamic(size))
        return fail("a dim has " + llvm::Twine(size) + " elements");
    if (!hasCountableBytes(shaped))
      return fail("tensor has so many elements that their number of bytes "
                  "overflows 63 bits");
    return success();
  }

  LogicalResult measure(const void *root, bool rootIsType) {
    SmallVector<Pending> stack{{root, rootIsType}};
    while (!stack.empty()) {
      auto [part, isType, opened] = stack.back();
      if (known.contains(part)) {
        stack.pop_back();
        continue;
      }
      if (!opened) {
        stack.back().opened = true;
        visitParts(part, isType, [&](const void *inner, bool innerIsType) {
          if (!known.contains(inner))
            stack.push_back({inner, innerIsType});
        });
        continue;
      }
      stack.pop_back();
      Extent extent;
      visitParts(part, isType, [&](const void *inner, bool) {
        const Extent &of = known[inner];
        extent.depth = std::max(extent.depth, of.depth + 1);
        extent.parts = std::min(extent.parts + of.parts, kMaxParts + 1);
      });
      if (extent.depth > static_cast<int64_t>(kMaxNesting))
        return fail("an attribute or type is nested deeper than " +
                    llvm::Twine(kMaxNesting));
      if (extent.parts > kMaxParts)
        return fail("an attribute or type has more than " +
                    llvm::Twine(kMaxParts) + " parts when it is written out");
      if (isType && failed(checkShape(Type::getFromOpaquePointer(part))))
        return failure();
      known[part] = extent;
    }
    return success();
  }

  llvm::DenseMap<const void *, Extent> known;
  std::string problem;
};
} // namespace

/// Which limit something in `module` is beyond; empty if none.
static std::string checkLimits(ModuleOp module) {
  PartLimits limits;
  std::string problem;
  auto check = [&](Type type) {
    if (problem.empty())
      problem = limits.check(type.getAsOpaquePointer(), true);
  };
  SmallVector<std::pair<Operation *, size_t>> pending{{module, 1}};
  while (!pending.empty() && problem.empty()) {
    auto [op, depth] = pending.pop_back_val();
    if (depth > kMaxNesting)
      return "regions are nested deeper than " + std::to_string(kMaxNesting);
    problem = limits.check(op->getAttrDictionary().getAsOpaquePointer(), false);
    llvm::for_each(op->getResultTypes(), check);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        llvm::for_each(block.getArgumentTypes(), check);
        for (Operation &inner : block)
          pending.push_back({&inner, depth + 1});
      }
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads float types that have codes in bytecode of MLIR 23, which JAX writes,
/// and text in this MLIR's. Leaves `type` null for all others.
static LogicalResult readNewerType(DialectBytecodeReader &reader,
                                   StringRef dialect, Type &type) {
  using Make = Type (*)(MLIRContext *);
  static constexpr uint64_t kFirst = 21;
  static constexpr Make kMake[] = {
      [](MLIRContext *c) -> Type { return FloatTF32Type::get(c); },
      [](MLIRContext *c) -> Type { return Float8E5M2Type::get(c); },
      [](MLIRContext *c) -> Type { return Float8E4M3Type::get(c); },
      [](MLIRContext *c) -> Type { return Float8E4M3FNType::get(c); },
      [](MLIRContext *c) -> Type { return Float8E5M2FNUZType::get(c); },
      [](MLIRContext *c) -> Type { return Float8E4M3FNUZType::get(c); },
      [](MLIRContext *c) -> Type { return Float8E4M3B11FNUZType::get(c); },
      [](MLIRContext *c) -> Type { return Float8E3M4Type::get(c); },
      [](MLIRContext *c) -> Type { return Float4E2M1FNType::get(c); },
      [](MLIRContext *c) -> Type { return Float6E2M3FNType::get(c); },
      [](MLIRContext *c) -> Type { return Float6E3M2FNType::get(c); },
      [](MLIRContext *c) -> Type { return Float8E8M0FNUType::get(c); }};
  if (dialect != BuiltinDialect::getDialectNamespace())
    return success();
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return failure();
  if (code >= kFirst && code - kFirst < std::size(kMake))
    type = kMake[code - kFirst](reader.getContext());
  return success();
}

OwningOpRef<ModuleOp>
shardc::parseProgram(MLIRContext &context,
                     std::unique_ptr<llvm::MemoryBuffer> buffer) {
  bool isBytecode = buffer->getBuffer().starts_with(kBytecodeMagic);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  // What a portable artifact holds is verified as what it means.
  ParserConfig config(&context, /*verifyAfterParse=*/!isBytecode);
  config.getBytecodeReaderConfig().attachTypeCallback(readNewerType);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, config);
  if (!module || !isBytecode)
    return module;
  for (Dialect *dialect : context.getLoadedDialects())
    if (auto *foreign =
            dialect->getRegisteredInterface<ForeignDialectInterface>())
      if (failed(foreign->replaceOps(*module)))
        return {};
  if (failed(verify(*module)))
    return {};
  return module;
}

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

static void writeAll(int to, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      _exit(1);
    bytes = bytes.drop_front(count);
  }
}

[[noreturn]] static void answer(int to, Answer letter, StringRef bytes = {}) {
  writeAll(to, StringRef(reinterpret_cast<const char *>(&letter), 1));
  writeAll(to, bytes);
  _exit(0);
}

/// Lowers the limit `which` of this process to `most`.
static void lowerLimit(int which, rlim_t most) {
  rlimit limit;
  if (getrlimit(which, &limit) != 0)
    return;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)
    limit.rlim_cur = most;
  (void)setrlimit(which, &limit);
}

/// Bytes of address space that this process has; 0 where it cannot be told.
static size_t addressSpace() {
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  char text[128] = {};
  ssize_t count = read(file, text, sizeof(text) - 1);
  close(file);
  size_t pages = 0;
  if (count <= 0 || StringRef(text).split(' ').first.getAsInteger(10, pages))
    return 0;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Bytes of address space that reading a program of `bytes` may take.
static size_t roomForReading(size_t bytes) {
  return 768 * kMebibyte + 64 * bytes;
}

static void limitReading(size_t bytes) {
  lowerLimit(RLIMIT_CORE, 0);
  lowerLimit(RLIMIT_CPU, kSecondsOfReading + bytes / kMebibyte);
  // A sanitizer reserves more than any limit would leave it.
  size_t now = addressSpace();
  if (now && now < (size_t(1) << 40))
    lowerLimit(RLIMIT_AS, now + roomForReading(bytes));
  // What this process comes through with leaves its parent a quarter more.
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) == 0)
    lowerLimit(RLIMIT_STACK, stack.rlim_cur == RLIM_INFINITY
                                 ? 64 * kMebibyte
                                 : stack.rlim_cur / 4 * 3);
}

static int answerTo = -1;

/// Reads in the child and ends it.
[[noreturn]] static void readInChild(MLIRContext &context,
                                     const llvm::MemoryBuffer &buffer,
                                     StringRef splitMarker, bool isBytecode,
                                     int to) {
  answerTo = to;
  // The parent reports; no handler prints a stack here.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGTRAP,
                     SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_DFL);
  if (int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, STDERR_FILENO);
  std::set_new_handler([] { answer(answerTo, NoMemory); });
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { answer(answerTo, NoMemory); });
  llvm::remove_fatal_error_handler();
  limitReading(buffer.getBufferSize());
  context.disableMultithreading();
  std::string said;
  bool saidUnsupported = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        said.size() < 4096) {
      saidUnsupported |= said.empty() && isUnsupported(diagnostic);
      said += (said.empty() ? "" : "; ") + diagnostic.str();
    }
    return success();
  });

  SmallVector<StringRef> programs;
  if (isBytecode || splitMarker.empty())
    programs.push_back(buffer.getBuffer());
  else
    buffer.getBuffer().split(programs, splitMarker);
  bool refused = false;
  std::string written;
  for (StringRef program : programs) {
    // A copy: the parser looks for the zero behind the text.
    OwningOpRef<ModuleOp> module =
        parseProgram(context, llvm::MemoryBuffer::getMemBufferCopy(
                                  program, buffer.getBufferIdentifier()));
    if (!module) {
      refused = true;
      continue;
    }
    if (std::string problem = checkLimits(*module); !problem.empty())
      answer(to, BeyondLimit, problem);
    if (isBytecode) {
      llvm::raw_string_ostream out(written);
      if (failed(writeBytecodeToFile(*module, out)))
        answer(to, Refused, "what it holds cannot be written again");
    }
    // A module's destruction may recurse; the process ends without it.
    (void)module.release();
  }
  if (refused)
    answer(to, saidUnsupported ? RefusedAsUnsupported : Refused, said);
  answer(to, Parsed, written);
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

/// Reads until the other end is closed.
static std::string readAll(int from) {
  std::string bytes;
  char piece[1 << 16];
  while (true) {
    ssize_t count = read(from, piece, sizeof(piece));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return bytes;
    bytes.append(piece, count);
  }
}

/// How the child ended, where it gave no answer.
static std::string describeEnd(int status, size_t bytes) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "reading it takes more than " +
           std::to_string(kSecondsOfReading + bytes / kMebibyte) + " s";
  std::string how = WIFSIGNALED(status)
                        ? strsignal(WTERMSIG(status))
                        : "exit code " + std::to_string(WEXITSTATUS(status));
  return "it crashes the parser (" + how + ")";
}

/// Whether artifacts of `version` are known to be read.
static bool isPortableVersion(StringRef version) {
  auto number = [](StringRef text) {
    llvm::VersionTuple tuple;
    return tuple.tryParse(text) ? llvm::VersionTuple() : tuple;
  };
  return number(version) >= number(kOldestPortable) &&
         number(version) <= number(kNewestPortable);
}

/// Says what is wrong with `bytecode`, of which MLIR's reader said `said`, and
/// whether that was about what is not supported. A newer
/// MLIR may have codes for more of its own types than are read here.
static LogicalResult refuseBytecode(Location at, StringRef bytecode,
                                    StringRef said, bool saidUnsupported) {
  auto portable = portableVersion(bytecode);
  if (portable && !isPortableVersion(*portable))
    return emitUnsupported(at)
           << "portable artifact of StableHLO " << *portable << "; versions "
           << kOldestPortable << " to " << kNewestPortable
           << " are known: export for one of them"
           << (said.empty() ? "" : " (" + said + ")").str();
  StringRef producer = bytecode.drop_front(std::min<size_t>(5, bytecode.size()))
                           .take_until([](char c) { return c == 0; });
  StringRef version = producer;
  int major = 0;
  bool isNewer = version.consume_front("MLIR") &&
                 !version.consumeInteger(10, major) &&
                 major > LLVM_VERSION_MAJOR;
  if (isNewer && said.starts_with("unknown attribute code"))
    return emitUnsupported(at)
           << "bytecode of " << producer.take_front(40)
           << " with types that MLIR " LLVM_VERSION_STRING
              " does not read in bytecode; python3 -m shardc FILE writes it as "
              "text";
  if (saidUnsupported && said.consume_front("unsupported: "))
    return emitUnsupported(at) << said;
  return emitError(at) << (said.empty() ? "not valid bytecode" : said);
}

/// MiB of address space that this process may have, where that is less than a
/// program of `bytes` is given; else 0.
static uint64_t limitOfThisProcess(size_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= addressSpace() + roomForReading(bytes))
    return 0;
  return limit.rlim_cur / kMebibyte;
}

/// prepareProgram with a diagnostic.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
prepare(MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::string path = buffer->getBufferIdentifier().str();
  auto prepared = prepareProgram(std::move(buffer));
  if (!prepared) {
    // FILE:LINE:COLUMN: error: WHAT
    std::string message = llvm::toString(prepared.takeError());
    auto [where, what] = StringRef(message).split(": error: ");
    auto [fileAndLine, column] = where.rsplit(':');
    unsigned line = 0, at = 0;
    if (what.empty() || column.getAsInteger(10, at) ||
        fileAndLine.rsplit(':').second.getAsInteger(10, line))
      return emitError(UnknownLoc::get(&context)) << message;
    return emitError(FileLineColLoc::get(&context, path, line, at)) << what;
  }
  return std::move(*prepared);
}

OwningOpRef<ModuleOp>
shardc::readOwnProgram(MLIRContext &context,
                       std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::string path = buffer->getBufferIdentifier().str();
  auto file = FileLineColLoc::get(&context, path, 0, 0);
  auto prepared = prepare(context, std::move(buffer));
  if (failed(prepared))
    return {};
  // The buffer goes with the reading; what it is called is said by its start.
  std::string start = (*prepared)->getBuffer().take_front(256).str();
  bool isBytecode = StringRef(start).starts_with(kBytecodeMagic);
  std::string said;
  bool saidUnsupported = false;
  OwningOpRef<ModuleOp> module;
  {
    // Of bytecode the reader says less than its version does.
    std::optional<ScopedDiagnosticHandler> handler;
    if (isBytecode)
      handler.emplace(&context, [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            said.size() < 4096) {
          saidUnsupported |= said.empty() && isUnsupported(diagnostic);
          said += (said.empty() ? "" : "; ") + diagnostic.str();
        }
        return success();
      });
    module = parseProgram(context, std::move(*prepared));
  }
  if (!module) {
    if (isBytecode)
      (void)refuseBytecode(file, start, said, saidUnsupported);
    return {};
  }
  if (std::string problem = ::checkLimits(*module); !problem.empty()) {
    emitError(file) << problem;
    return {};
  }
  return module;
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
shardc::readForeignProgram(MLIRContext &context,
                           std::unique_ptr<llvm::MemoryBuffer> buffer,
                           StringRef splitMarker) {
  std::string path = buffer->getBufferIdentifier().str();
  auto file = FileLineColLoc::get(&context, path, 0, 0);
  auto prepared = prepare(context, std::move(buffer));
  if (failed(prepared))
    return failure();
  const llvm::MemoryBuffer &program = **prepared;
  bool isBytecode = program.getBuffer().starts_with(kBytecodeMagic);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return noMemory(emitError(file))
           << "no pipe to read it through: " << strerror(errno);
  llvm::scope_exit closeEnd([&] { close(ends[0]); });
  // What is buffered would be written twice.
  llvm::outs().flush();
  pid_t child = fork();
  if (child == 0)
    readInChild(context, program, splitMarker, isBytecode, ends[1]);
  close(ends[1]);
  if (child < 0)
    return noMemory(emitError(file))
           << "no process to read it in: " << strerror(errno);
  std::string said = readAll(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  StringRef rest = StringRef(said).drop_front(said.empty() ? 0 : 1);
  if (said.empty() || !ended)
    return emitError(file) << "the file is malformed: "
                           << describeEnd(status, program.getBufferSize());
  switch (said.front()) {
  case Parsed:
    if (isBytecode)
      return llvm::MemoryBuffer::getMemBufferCopy(rest, path);
    return std::move(*prepared);
  case Refused:
  case RefusedAsUnsupported:
    if (isBytecode)
      return refuseBytecode(file, program.getBuffer(), rest,
                            said.front() == RefusedAsUnsupported);
    return std::move(*prepared);
  case BeyondLimit:
    return emitError(file) << rest;
  default:
    if (uint64_t limit = limitOfThisProcess(program.getBufferSize()))
      return noMemory(emitError(file))
             << "no memory to read it: this process may have " << limit
             << " MiB of address space (ulimit -v)";
    return emitError(file) << "reading it takes more than "
                           << (768 + program.getBufferSize() / kMebibyte * 64)
                           << " MiB of memory";
  }
}
