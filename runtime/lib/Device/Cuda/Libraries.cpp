//===- Libraries.cpp - cuBLASLt, cuDNN and cuFFT --------------------------===//

#include "Device/Cuda/Libraries.h"
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <type_traits>

using namespace shardrt::libraries;

namespace {
/// A library's names and what is expected of it.
struct Wanted {
  const char *name;     ///< "cuBLASLt"
  const char *variable; ///< of the environment, that names a path
  std::initializer_list<const char *> files;
};

/// A library while it is opened.
class Opening {
public:
  Opening(const Wanted &wanted, bool emulated);
  bool isOpen() const { return handle; }

  template <typename Function>
  void load(Function &function, const char *symbol) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    if (!function && missing.empty())
      missing = symbol;
  }
  /// Why it cannot be used; empty if it can.
  std::string problem(int64_t version, int64_t least, int64_t major,
                      int64_t minor) const;

  std::string error;

private:
  const Wanted &wanted;
  void *handle = nullptr;
  std::string path, missing;
};
} // namespace

static const char *const otherwise = "; --kernels=generated needs none";

Opening::Opening(const Wanted &wanted, bool emulated) : wanted(wanted) {
  std::string searched;
  auto tryPath = [&](const std::string &candidate) {
    if (handle)
      return;
    handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    path = candidate;
  };
  const char *given = std::getenv(wanted.variable);
  if (given && *given) {
    tryPath(given);
    searched =
        std::string(given) + " (" + wanted.variable + ") cannot be opened";
  } else if (emulated) {
    searched = std::string("an emulated device takes one from ") +
               wanted.variable + " alone, which names none";
  } else {
    for (const char *file : wanted.files) {
      tryPath(file);
      searched += (searched.empty() ? "" : ", ") + std::string(file);
    }
    searched += " in the loader's path";
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
      const char *root = std::getenv(variable);
      if (!root || !*root)
        continue;
      std::string folder = std::string(root) + "/lib64/";
      for (const char *file : wanted.files)
        tryPath(folder + file);
      searched += " and in " + folder;
    }
    searched =
        "looked for " + searched + "; " + wanted.variable + " names another";
  }
  if (!handle)
    error = std::string("no ") + wanted.name + ": " + searched + otherwise;
}

std::string Opening::problem(int64_t version, int64_t least, int64_t major,
                             int64_t minor) const {
  auto text = [&](int64_t number) {
    return std::to_string(number / major) + "." +
           std::to_string(number % major / minor);
  };
  // The version first: it says more than a function that is missing.
  if (version && version < least)
    return std::string(wanted.name) + " " + text(version) + " (" + path +
           ") is too old: " + text(least) + " or later is needed" + otherwise;
  if (!missing.empty())
    return path + " is not " + wanted.name + ", or not all of it: it has no " +
           missing + otherwise;
  return {};
}

#define SHARDRT_LOAD(SYMBOL, RESULT, NAME, ARGUMENTS)                          \
  opening.load(library.NAME, #SYMBOL);

namespace {
/// The result of opening, for the whole process.
template <typename Library> struct Opened {
  Library library;
  std::string error;
};
} // namespace

static Opened<CublasLt> tryCublasLt(bool emulated) {
  Opened<CublasLt> result;
  CublasLt &library = result.library;
  Wanted wanted{
      "cuBLASLt",
      "SHARDRT_CUBLASLT_LIBRARY",
      {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}};
  Opening opening(wanted, emulated);
  result.error = opening.error;
  if (!opening.isOpen())
    return result;
  SHARDRT_CUBLASLT_FUNCTIONS(SHARDRT_LOAD)
  if (library.getVersion)
    library.version = static_cast<int64_t>(library.getVersion());
  result.error = opening.problem(library.version, lt::leastVersion, 10000, 100);
  return result;
}

static Opened<Cudnn> tryCudnn(bool emulated) {
  Opened<Cudnn> result;
  Cudnn &library = result.library;
  Wanted wanted{"cuDNN", "SHARDRT_CUDNN_LIBRARY", {"libcudnn.so.9"}};
  Opening opening(wanted, emulated);
  result.error = opening.error;
  if (!opening.isOpen())
    return result;
  SHARDRT_CUDNN_FUNCTIONS(SHARDRT_LOAD)
  if (library.getVersion)
    library.version = static_cast<int64_t>(library.getVersion());
  // Until version 9 of four digits: 8907 is 8.9.7.
  if (library.version < 10000)
    library.version = library.version / 1000 * 10000 + library.version % 1000;
  result.error =
      opening.problem(library.version, dnn::leastVersion, 10000, 100);
  return result;
}

static Opened<Cufft> tryCufft(bool emulated) {
  Opened<Cufft> result;
  Cufft &library = result.library;
  Wanted wanted{"cuFFT",
                "SHARDRT_CUFFT_LIBRARY",
                {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10"}};
  Opening opening(wanted, emulated);
  result.error = opening.error;
  if (!opening.isOpen())
    return result;
  SHARDRT_CUFFT_FUNCTIONS(SHARDRT_LOAD)
  int version = 0;
  if (library.getVersion && library.getVersion(&version) == 0)
    library.version = version;
  result.error = opening.problem(library.version, fft::leastVersion, 1000, 100);
  return result;
}
#undef SHARDRT_LOAD

template <typename Library>
static const Library *either(const Opened<Library> &opened,
                             std::string &error) {
  if (opened.error.empty())
    return &opened.library;
  error = opened.error;
  return nullptr;
}

// A process has devices of one kind. Libraries are never closed.
const CublasLt *shardrt::libraries::openCublasLt(bool emulated,
                                                 std::string &error) {
  static const Opened<CublasLt> opened = tryCublasLt(emulated);
  return either(opened, error);
}

const Cudnn *shardrt::libraries::openCudnn(bool emulated, std::string &error) {
  static const Opened<Cudnn> opened = tryCudnn(emulated);
  return either(opened, error);
}

const Cufft *shardrt::libraries::openCufft(bool emulated, std::string &error) {
  static const Opened<Cufft> opened = tryCufft(emulated);
  return either(opened, error);
}
