//===- CudaImage.cpp - Machine code for a GPU, or its PTX -----------------===//

#include "Device/Cuda/CudaDevice.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace shardrt;
using namespace shardrt::cuda;

/// The version of CUDA that brought PTX `major`.`minor`, "12.0"; empty for one
/// that is not known. Source: the PTX ISA's release notes.
static std::string cudaOfPtx(int major, int minor) {
  if (major == 7)
    return "11." + std::to_string(minor);
  if (major == 8) {
    const char *const of8[] = {"0", "1", "2", "3", "4", "5", "7", "8", "9"};
    return minor < 9 ? std::string("12.") + of8[minor] : std::string();
  }
  return major == 9 ? "13." + std::to_string(minor) : std::string();
}

/// What PTX needs of a driver, "PTX 8.0, which drivers of CUDA 12.0 and later
/// know"; empty where `text` is no PTX.
static std::string needOf(const char *text, int64_t bytes) {
  std::string head(text, strnlen(text, std::min<int64_t>(bytes, 4096)));
  size_t at = head.find(".version ");
  int major = 0, minor = 0;
  if (at == std::string::npos ||
      std::sscanf(head.c_str() + at, ".version %d.%d", &major, &minor) != 2 ||
      major < 1 || minor < 0)
    return {};
  std::string need =
      "PTX " + std::to_string(major) + "." + std::to_string(minor);
  if (std::string cuda = cudaOfPtx(major, minor); !cuda.empty())
    need += ", which drivers of CUDA " + cuda + " and later know";
  return need;
}

Result CudaDevice::tryImage(const void *image, std::string &log) {
  char text[4096] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {text, reinterpret_cast<void *>(sizeof(text))};
  Result result = driver.moduleLoadDataEx(&module, image, 2, options, values);
  if (result == success)
    return success;
  module = nullptr;
  text[sizeof(text) - 1] = '\0';
  log = text;
  return result;
}

bool CudaDevice::load() {
  std::lock_guard lock(code.loading);
  std::weak_ptr<void> &shared = code.loaded[context];
  if (!(kernels = shared.lock())) {
    // Where no cubin in the image fits, the driver assembles its PTX; one that
    // is older than who assembled the image may refuse it whole.
    std::string log;
    bool isText =
        code.image && !code.texts.empty() &&
        !needOf(static_cast<const char *>(code.image), code.imageBytes).empty();
    Result result = isText ? noBinaryForGpu : tryImage(code.image, log);
    const DeviceCode::Ptx *tried = nullptr;
    Result last = success;
    if (result != success &&
        (result == outOfMemory || !loadText(tried, last, log)))
      return refuse(result, tried, last, std::move(log));
    noteLacks(result, isText, tried);
    const Driver &unloader = driver;
    // Whoever is last is in the same context.
    kernels = std::shared_ptr<void>(
        module, [&unloader](void *last) { unloader.moduleUnload(last); });
    shared = kernels;
  }
  module = kernels.get();
  return true;
}

bool CudaDevice::loadText(const DeviceCode::Ptx *&tried, Result &last,
                          std::string &log) {
  std::vector<const DeviceCode::Ptx *> fit;
  for (const DeviceCode::Ptx &text : code.texts)
    if (text.suits(number))
      fit.push_back(&text);
  // "sm_100a" is before "sm_100", and that before what is older.
  auto rank = [](const DeviceCode::Ptx *text) {
    return std::pair(std::atoi(text->target.c_str() + 3), text->target.size());
  };
  std::stable_sort(fit.begin(), fit.end(),
                   [&](auto *a, auto *b) { return rank(a) > rank(b); });
  for (const DeviceCode::Ptx *text : fit) {
    tried = text;
    if ((last = tryImage(text->text, log)) == success)
      return true;
  }
  return false;
}

void CudaDevice::noteLacks(Result image, bool isText,
                           const DeviceCode::Ptx *taken) {
  std::string arch = "sm_" + std::to_string(number);
  // Kernels for other GPUs are no loss.
  bool isNamed = code.archs.find(arch + "a") != std::string::npos;
  int64_t absent = 0;
  for (const DeviceCode::Kernel &kernel : code.kernels) {
    FunctionHandle function = nullptr;
    absent +=
        isNamed && (kernel.flags & DeviceCode::OfSomeGpus) &&
        driver.moduleGetFunction(&function, module, kernel.name) != success;
  }
  std::string lost =
      absent == 0 ? "no kernel is lost"
                  : std::to_string(absent) + " of " +
                        std::to_string(code.kernels.size()) +
                        " kernels, which are for this GPU, are not in it: "
                        "others do their work, more slowly";
  std::string who = "CUDA device '" + name + "' (" + arch + "): ";
  if (taken && isText && absent > 0)
    notes += who + "takes the PTX for " + taken->target + ": " + lost + "\n";
  else if (taken && !isText)
    notes +=
        who + "its driver, for CUDA " + driver.version() + ", refuses what " +
        (code.toolkit.empty() ? "was" : "CUDA " + code.toolkit) +
        " assembled (" + driver.nameOf(image) + ") and takes the PTX for " +
        taken->target + " in its place: " + lost + "; update the driver\n";
  // Of GPUs that have kernels of their own, or libraries in their place.
  bool hasOwn = number == 90 || (number >= 100 && number < 120);
  if (hasOwn && !code.archs.empty() &&
      code.archs.find(arch) == std::string::npos)
    notes += "CUDA device '" + name + "' is " + arch + ", kernels are for " +
             code.archs +
             " and use a part of what it can; compile with --arch=" + arch +
             "a\n";
}

bool CudaDevice::refuse(Result image, const DeviceCode::Ptx *tried, Result last,
                        std::string log) {
  std::string arch = "sm_" + std::to_string(number);
  std::string text = "CUDA device '" + name + "' (" + arch +
                     ", driver for CUDA " + driver.version() +
                     ") cannot load the program's kernels, which ";
  std::string need =
      needOf(static_cast<const char *>(code.image), code.imageBytes);
  if (!need.empty())
    text += "are " + need;
  else
    text += (code.toolkit.empty() ? std::string("are")
                                  : "CUDA " + code.toolkit + " assembled") +
            " for " +
            (code.archs.empty() ? std::string("other GPUs") : code.archs);
  text += ": " + driver.nameOf(image);
  if (tried)
    text +=
        ", nor their " + needOf(tried->text, 4096) + ": " + driver.nameOf(last);
  if (tried || image == unsupportedPtxVersion || image == invalidPtx ||
      image == invalidImage)
    text += "; update the driver, or compile it " +
            std::string(need.empty() ? "" : "where ptxas is, ") +
            "with --arch=" + arch;
  else if (image == noBinaryForGpu)
    text += "; compile it with --arch=" + arch;
  if (!log.empty())
    text += "\n" + log;
  return fail((tried ? last : image) == outOfMemory ? SHARDRT_MEMORY
                                                    : SHARDRT_ARTIFACT,
              std::move(text));
}
