//===- DeviceImage.h - Kernels to PTX, cubins and fatbins -------*- C++ -*-===//
//
// PTX comes from LLVM. ptxas and fatbinary are looked for through CUDA_HOME,
// CUDA_PATH, CUDA_ROOT and PATH, libdevice beside them; without them there is
// PTX, which the driver assembles when the program is loaded.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_DEVICEIMAGE_H
#define SHARDC_TRANSLATION_DEVICEIMAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace shardc {

enum class DeviceImageKind { Ptx, Cubin, Fatbin };

/// Code for GPUs.
struct DeviceImage {
  std::string bytes;
  std::string archs; ///< what it is for: "sm_80,sm_90a"
  bool isPtx =
      false; ///< text, where a fatbin was asked for and no tool is there
  /// PTX for each of `archs`, of a fatbin for sm_80 as well: for drivers that
  /// cannot load the fatbin, and for GPUs that have more than what `bytes` are
  /// for, if these are text.
  std::vector<std::string> texts;
  std::string toolkit; ///< of a fatbin: the CUDA that assembled it: "13.0"
};

/// Checks "sm_80,sm_90a"; empty where nothing is wrong, else a message.
std::string checkGpuArchs(llvm::StringRef archs);
/// Whether any GPU of "sm_80,sm_100a" has tcgen05: those of capability 10 and
/// 11 do; later ones multiply as sm_80 does.
bool hasTcgen05(llvm::StringRef archs);
/// Whether code for any GPU of `archs` has the kernels that are made for `gpu`
/// alone: "sm_90a", or "sm_100a", whose kernels all GPUs with tcgen05 run that
/// are named with what they have of their own (sm_103a) or of a family
/// (sm_100f).
bool hasKernelsOf(llvm::StringRef gpu, llvm::StringRef archs);

/// Makes an image of `gpu.module @shardc_kernels`, which holds the NVVM
/// dialect, for `archs` (empty: sm_80). A cubin and PTX are for one of them.
/// Diagnostics on the module: an arch that is none, a cubin without ptxas, what
/// ptxas says, functions of libdevice where that is not found.
mlir::FailureOr<DeviceImage> emitDeviceImage(mlir::ModuleOp module,
                                             llvm::StringRef archs,
                                             DeviceImageKind kind);

/// Puts `image` into the module as the constants shardc_device_image,
/// shardc_device_image_length and (of a fatbin) shardc_device_ptx, in place of
/// the kernels.
void embedDeviceImage(mlir::ModuleOp module, const DeviceImage &image);

/// A CUDA toolkit: paths, each empty where it was not found.
struct CudaToolkit {
  std::string ptxas, fatbinary, libdevice;
};
CudaToolkit findCudaToolkit();
/// The version of CUDA that `toolkit`'s ptxas says it is of: "13.0"; empty
/// where it says none.
std::string versionOf(const CudaToolkit &toolkit);

/// What one call of ptxas reports of a kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0, spillBytes = 0, sharedBytes = 0;
};
/// Assembles `ptx` for `arch` and reads the resources of its kernels.
llvm::Expected<std::vector<KernelResources>>
assemble(const CudaToolkit &toolkit, llvm::StringRef ptx, llvm::StringRef arch,
         std::string &cubin);
/// Packs PTX (for `ptxArch`) and cubins into a fatbin.
llvm::Expected<std::string>
packFatbin(const CudaToolkit &toolkit, llvm::StringRef ptx,
           llvm::StringRef ptxArch,
           llvm::ArrayRef<std::pair<std::string, std::string>> cubins);

} // namespace shardc

#endif // SHARDC_TRANSLATION_DEVICEIMAGE_H
