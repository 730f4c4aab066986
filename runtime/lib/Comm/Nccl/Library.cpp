//===- Library.cpp - NCCL's functions -------------------------------------===//

#include "Comm/Nccl/Library.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace shardrt;
using namespace shardrt::nccl;

std::string Library::nameOf(Result result, CommHandle comm) const {
  std::string text = getErrorString(result);
  if (const char *last = getLastError(comm); last && *last)
    text += std::string(": ") + last;
  return text;
}

std::string nccl::versionName(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::optional<NativeReduction> nccl::nativeReduction(ElementType type,
                                                     Reduction reduction) {
  auto arithmetic = [&](DataType as, bool isFloat,
                        int perElement = 1) -> std::optional<NativeReduction> {
    switch (reduction) {
    case Reduction::Sum:
      return NativeReduction{as, Sum, perElement};
    case Reduction::Product:
      if (perElement == 1)
        return NativeReduction{as, Prod};
      return std::nullopt;
    case Reduction::Min:
    case Reduction::Max:
      if (isFloat)
        return std::nullopt;
      return NativeReduction{as, reduction == Reduction::Min ? Min : Max};
    default:
      return std::nullopt;
    }
  };
  switch (type) {
  case ElementType::I1: // bytes of 0 and 1
    if (reduction == Reduction::And)
      return NativeReduction{Uint8, Min};
    if (reduction == Reduction::Or)
      return NativeReduction{Uint8, Max};
    return std::nullopt;
  case ElementType::I8:
    return arithmetic(Int8, false);
  case ElementType::UI8:
    return arithmetic(Uint8, false);
  case ElementType::I32:
    return arithmetic(Int32, false);
  case ElementType::UI32:
    return arithmetic(Uint32, false);
  case ElementType::I64:
    return arithmetic(Int64, false);
  case ElementType::UI64:
    return arithmetic(Uint64, false);
  case ElementType::F16:
    return arithmetic(Float16, true);
  case ElementType::BF16:
    return arithmetic(BFloat16, true);
  case ElementType::F32:
    return arithmetic(Float32, true);
  case ElementType::F64:
    return arithmetic(Float64, true);
  case ElementType::Complex64:
    return arithmetic(Float32, true, 2);
  case ElementType::Complex128:
    return arithmetic(Float64, true, 2);
  default:
    return std::nullopt;
  }
}

namespace {
/// The result of opening, for the whole process.
struct Opened {
  Library library;
  std::string error;
  Opened();
};
} // namespace

Opened::Opened() {
  const char *given = std::getenv("SHARDRT_NCCL_LIBRARY");
  std::string path = given && *given ? given : "libnccl.so.2";
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error =
        "no NCCL: " + path + " cannot be opened; --transport=direct needs none";
    return;
  }
  std::string missing;
  auto load = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(handle, symbol));
    if (!function && missing.empty())
      missing = symbol;
  };
  // The version first: it says more than a function that is missing.
  load(library.getVersion, "ncclGetVersion");
  if (library.getVersion && library.getVersion(&library.version) == success &&
      library.version < leastVersion) {
    error = "NCCL " + versionName(library.version) + " (" + path +
            ") is too old: " + versionName(leastVersion) +
            " or later is needed; --transport=direct needs none";
    return;
  }
#define SHARDRT_NCCL_LOAD(SYMBOL, NAME, ARGUMENTS) load(library.NAME, #SYMBOL);
  SHARDRT_NCCL_FUNCTIONS(SHARDRT_NCCL_LOAD)
#undef SHARDRT_NCCL_LOAD
  load(library.getErrorString, "ncclGetErrorString");
  load(library.getLastError, "ncclGetLastError");
  if (!missing.empty())
    error = path + " is not NCCL, or not all of it: it has no " + missing;
}

const Library *nccl::openLibrary(std::string &error) {
  static const Opened opened;
  if (opened.error.empty())
    return &opened.library;
  error = opened.error;
  return nullptr;
}
