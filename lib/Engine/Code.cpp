//===- Code.cpp - Machine code in this process ----------------------------===//
//
// LLVM's JITLink: one session for the process, one library of symbols for each
// object.
//
//===----------------------------------------------------------------------===//

#include "shardc/Engine/Code.h"
#include "Recovery.h"
#include "shardc/Seal/PrivateFile.h"
#include "shardrt/shardrt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <atomic>
#include <dlfcn.h>
#include <mutex>

using namespace llvm;
using namespace shardc::engine;

/// What the linker has reported on this thread, which does all of its work:
/// why symbols, in a look-up that fails for them, are not there.
static thread_local std::string reported;

namespace {
/// What links objects.
class Linker {
public:
  static Expected<Linker *> get() {
    std::lock_guard lock(mutex);
    if (!current) {
      Expected<std::unique_ptr<Linker>> made = create();
      if (!made)
        return made.takeError();
      // Never deleted: programs may go after all else.
      current = made->release();
    }
    return current;
  }

  /// Lets nobody use it any more, whose locks may be held for ever. What it has
  /// linked stays.
  void abandon() {
    std::lock_guard lock(mutex);
    isAbandoned = true;
    if (current == this)
      current = nullptr;
  }

  std::atomic<bool> isAbandoned{false};

  Expected<orc::JITDylib *> add(StringRef object) {
    orc::JITDylib &library =
        session.createBareJITDylib("program" + std::to_string(++count));
    library.addToLinkOrder(*outside);
    if (Error error = layer.add(
            library, MemoryBuffer::getMemBufferCopy(object, "program")))
      return joinErrors(std::move(error), session.removeJITDylib(library));
    return &library;
  }

  orc::ExecutionSession session;

private:
  explicit Linker(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {
    // What cannot be linked is said by whoever asked.
    session.setErrorReporter([](Error error) {
      if (!reported.empty())
        reported += "; ";
      reported += toString(std::move(error));
    });
  }

  static Expected<std::unique_ptr<Linker>> create() {
    auto control = orc::SelfExecutorProcessControl::Create(
        nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control)
      return control.takeError();
    std::unique_ptr<Linker> linker(new Linker(std::move(*control)));
    linker->outside = &linker->session.createBareJITDylib("outside");
    // The runtime that this library uses, then where a compiler of C would
    // look, whatever else the process has loaded.
    Dl_info runtime = {};
    [[maybe_unused]] int found =
        dladdr(reinterpret_cast<void *>(&shardrt_rank), &runtime);
    assert(found && "what is linked to this library is mapped");
    for (const char *name :
         {runtime.dli_fname, "libm.so.6", "libc.so.6", "libgcc_s.so.1"}) {
      auto library = orc::DynamicLibrarySearchGenerator::Load(name, '\0');
      if (!library)
        return library.takeError();
      linker->outside->addGenerator(std::move(*library));
    }
    return std::move(linker);
  }

  static std::mutex mutex;
  static Linker *current;

  orc::ObjectLinkingLayer layer;
  orc::JITDylib *outside = nullptr;
  std::atomic<int64_t> count{0};
};
std::mutex Linker::mutex;
Linker *Linker::current = nullptr;
} // namespace

struct Code::State {
  void *handle = nullptr; ///< of a shared object
  /// As which that was opened. Open as long as it is: the system's loader takes
  /// another file under the same number for the same one.
  shardc::PrivateFile file;
  // Of an object:
  Linker *linker = nullptr;
  orc::JITDylib *library = nullptr;
  StringMap<void *> symbols;
};

Code::Code(std::unique_ptr<State> state) : state(std::move(state)) {}

Code::~Code() {
  if (state->handle) {
    dlclose(state->handle);
    return;
  }
  if (state->linker->isAbandoned)
    return;
  if (Error error = state->linker->session.removeJITDylib(*state->library))
    consumeError(std::move(error));
}

/// Names of what `object` defines for others.
static Expected<std::vector<std::string>> definedSymbols(StringRef object) {
  auto buffer = MemoryBuffer::getMemBufferCopy(object);
  auto file =
      object::ObjectFile::createELFObjectFile(buffer->getMemBufferRef());
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if ((*flags & object::BasicSymbolRef::SF_Undefined) ||
        !(*flags & object::BasicSymbolRef::SF_Global))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    names.push_back(name->str());
  }
  return names;
}

MaybeFailure Code::load(std::string_view object, std::unique_ptr<Code> &code) {
  reported.clear();
  auto refuse = [](Error error) {
    std::string why = toString(std::move(error));
    if (!reported.empty())
      why = reported + " (" + why + ")";
    bool isMemory = StringRef(why).contains_insensitive("allocate memory");
    return fail(isMemory ? Status::Memory : Status::Artifact,
                "the program's code cannot be linked: " + why);
  };
  Expected<Linker *> linker = Linker::get();
  if (!linker)
    return refuse(linker.takeError());
  auto link = [&]() -> Error {
    Expected<std::vector<std::string>> names = definedSymbols(object);
    if (!names)
      return names.takeError();
    Expected<orc::JITDylib *> library = (*linker)->add(object);
    if (!library)
      return library.takeError();
    auto state = std::make_unique<State>();
    state->linker = *linker;
    state->library = *library;
    code.reset(new Code(std::move(state)));
    orc::ExecutionSession &session = (*linker)->session;
    orc::SymbolLookupSet wanted;
    for (const std::string &name : *names)
      wanted.add(session.intern(name));
    Expected<orc::SymbolMap> found =
        session.lookup({{*library, orc::JITDylibLookupFlags::MatchAllSymbols}},
                       std::move(wanted));
    if (!found)
      return found.takeError();
    for (const auto &[name, symbol] : *found)
      code->state->symbols[*name] = symbol.getAddress().toPtr<void *>();
    return Error::success();
  };
  bool isLeft = true;
  MaybeFailure failure =
      recoverably("linking a program's code", [&]() -> MaybeFailure {
        Error error = link();
        isLeft = false;
        return error ? refuse(std::move(error)) : nullptr;
      });
  if (isLeft)
    (*linker)->abandon();
  if (failure)
    code.reset();
  return failure;
}

MaybeFailure Code::map(std::string_view object, std::unique_ptr<Code> &code) {
  // Its calls of the runtime are bound to the one that is here, however that
  // was loaded.
  Dl_info runtime;
  if (dladdr(reinterpret_cast<void *>(&shardrt_rank), &runtime))
    dlopen(runtime.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  auto state = std::make_unique<State>();
  if (std::string why = state->file.hold(object, "shardc-program");
      !why.empty())
    return fail(Status::Memory, "the program: " + why);
  state->handle = dlopen(state->file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!state->handle) {
    return fail(Status::Artifact,
                std::string("the program cannot be mapped: ") + dlerror());
  }
  code.reset(new Code(std::move(state)));
  return nullptr;
}

void *Code::find(const char *symbol) const {
  if (state->handle)
    return dlsym(state->handle, symbol);
  return state->symbols.lookup(symbol);
}
