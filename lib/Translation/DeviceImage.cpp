//===- DeviceImage.cpp - Kernels to PTX, cubins and fatbins ---------------===//

#include "shardc/Translation/DeviceImage.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/MemoryErrors.h"
#include "shardc/Support/Misuse.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace mlir;
using namespace shardc;

static constexpr StringLiteral kDefaultArch = "sm_80";
static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";
/// What generated kernels need: bf16 conversions, asynchronous copies.
static constexpr int kOldestArch = 80;

/// 90 of "sm_90a"; nothing where that names no GPU.
static std::optional<int> numberOf(StringRef arch) {
  if (!arch.consume_front("sm_"))
    return std::nullopt;
  if (arch.ends_with("a") || arch.ends_with("f"))
    arch = arch.drop_back();
  int number;
  if (arch.empty() || arch.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

static SmallVector<StringRef> listOf(StringRef archs) {
  SmallVector<StringRef> list;
  (archs.empty() ? StringRef(kDefaultArch) : archs).split(list, ',');
  for (StringRef &arch : list)
    arch = arch.trim();
  return list;
}

/// LLVM's code generator for NVIDIA GPUs; null with a `message`.
static const llvm::Target *findTarget(std::string &message) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), message);
}

/// Whether LLVM knows the GPU; it complains on stderr about those that it does
/// not where they are used.
static bool isKnown(StringRef arch) {
  std::string message;
  const llvm::Target *target = findTarget(message);
  if (!target)
    return true; // said when code is generated
  std::unique_ptr<llvm::MCSubtargetInfo> oldest(
      target->createMCSubtargetInfo(llvm::Triple(kTriple), kDefaultArch, ""));
  return !oldest || oldest->isCPUStringValid(arch);
}

std::string shardc::checkGpuArchs(StringRef archs) {
  llvm::StringSet<> seen;
  for (StringRef arch : listOf(archs)) {
    std::optional<int> number = numberOf(arch);
    if (!number || (*number >= kOldestArch && !isKnown(arch)))
      return ("unknown GPU '" + arch +
              "': expected sm_80, sm_90a, sm_100a or their like, separated by "
              "commas")
          .str();
    if (*number < kOldestArch)
      return ("GPU '" + arch +
              "' is too old: kernels are generated for sm_80 and later")
          .str();
    if (!seen.insert(arch).second)
      return ("GPU '" + arch + "' is named twice").str();
  }
  return {};
}

bool shardc::hasTcgen05(StringRef archs) {
  return llvm::any_of(listOf(archs), [](StringRef arch) {
    int number = numberOf(arch).value_or(0);
    return number >= 100 && number < 120;
  });
}

bool shardc::hasKernelsOf(StringRef gpu, StringRef archs) {
  return llvm::any_of(listOf(archs), [&](StringRef arch) {
    return arch == gpu || (gpu == "sm_100a" && hasTcgen05(arch) &&
                           (arch.ends_with("a") || arch.ends_with("f")));
  });
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

static std::unique_ptr<llvm::TargetMachine>
createMachine(gpu::GPUModuleOp kernels, StringRef arch) {
  llvm::Triple triple(kTriple);
  std::string message;
  const llvm::Target *target = findTarget(message);
  if (!target) {
    kernels.emitError("no code generator for NVIDIA GPUs: ") << message;
    return nullptr;
  }
  // No version of PTX is asked for: LLVM takes the oldest that knows the GPU,
  // for older drivers.
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch, /*Features=*/"", {}, {}, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(arch)) {
    kernels.emitError("unknown GPU '")
        << arch << "'; expected sm_80, sm_90a, sm_100a or their like";
    return nullptr;
  }
  return machine;
}

/// Links what `module` uses of libdevice into it.
static LogicalResult linkLibdevice(gpu::GPUModuleOp kernels,
                                   llvm::Module &module, StringRef path) {
  std::string missing;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_")) {
      missing = function.getName().str();
      break;
    }
  if (missing.empty())
    return success();
  if (path.empty())
    return kernels.emitError("kernels call '")
           << missing
           << "', which CUDA's libdevice holds, and that was not found; set "
              "CUDA_HOME to a CUDA toolkit";
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> library =
      llvm::parseIRFile(path, problem, module.getContext());
  if (!library)
    return kernels.emitError("cannot read '")
           << path << "': " << problem.getMessage();
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  bool failedToLink = llvm::Linker::linkModules(
      module, std::move(library), llvm::Linker::LinkOnlyNeeded,
      [](llvm::Module &into, const llvm::StringSet<> &added) {
        llvm::internalizeModule(into, [&](const llvm::GlobalValue &value) {
          return !value.hasName() || !added.contains(value.getName());
        });
      });
  if (failedToLink)
    return kernels.emitError("cannot link '") << path << "'";
  return success();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Leaves out kernels that are for other GPUs alone.
static void dropOthers(gpu::GPUModuleOp kernels, llvm::Module &module,
                       StringRef arch) {
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (spmd::KernelGpuAttr of = spmd::contract::Gpu::get(kernel);
        of && !hasKernelsOf(stringifyKernelGpu(of.getValue()), arch))
      if (llvm::Function *function = module.getFunction(kernel.getName()))
        function->eraseFromParent();
}

/// The function that uses `global`; null where none does.
static const llvm::Function *userOf(const llvm::GlobalVariable &global) {
  SmallVector<const llvm::User *> users(global.users());
  while (!users.empty()) {
    const llvm::User *user = users.pop_back_val();
    if (auto *instruction = dyn_cast<llvm::Instruction>(user))
      return instruction->getFunction();
    llvm::append_range(users, user->users());
  }
  return nullptr;
}

/// Kernels declare no more than 48 KiB of shared memory together; where they
/// have more, they are given the address of the largest piece, and a launch
/// says how much it is.
static void leaveLargeToLaunch(llvm::Module &module) {
  constexpr unsigned kShared = 3;
  constexpr uint64_t kMostDeclared = 48 * 1024;
  struct Use {
    uint64_t bytes = 0, most = 0;
    llvm::GlobalVariable *largest = nullptr;
  };
  llvm::MapVector<const llvm::Function *, Use> kernels;
  for (llvm::GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != kShared)
      continue;
    uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(global.getValueType());
    Use &use = kernels[userOf(global)];
    use.bytes += bytes;
    if (bytes > use.most) {
      use.most = bytes;
      use.largest = &global;
    }
  }
  for (auto &[kernel, use] : kernels) {
    if (!kernel || use.bytes <= kMostDeclared)
      continue;
    llvm::GlobalVariable &global = *use.largest;
    auto *none =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
    auto *outside = new llvm::GlobalVariable(
        module, none, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        /*Initializer=*/nullptr, "", &global, llvm::GlobalValue::NotThreadLocal,
        kShared);
    outside->setAlignment(global.getAlign());
    outside->takeName(&global);
    global.replaceAllUsesWith(outside);
    global.eraseFromParent();
  }
}

static FailureOr<std::string> emitPtx(gpu::GPUModuleOp kernels, StringRef arch,
                                      const CudaToolkit &toolkit) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(kernels, arch);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context);
  if (!module)
    return kernels.emitError("cannot translate kernels to LLVM IR; expected "
                             "the NVVM and LLVM dialects alone");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  dropOthers(kernels, *module, arch);
  leaveLargeToLaunch(*module);
  if (failed(linkLibdevice(kernels, *module, toolkit.libdevice)))
    return failure();
  optimize(*module, *machine);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("this GPU's code generator cannot emit PTX");
  passes.run(*module);
  return std::string(text.begin(), text.end());
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// What CUDA's tools said, that there was no memory for them, or that their
/// files could not be written: such errors have the system's code.
static LogicalResult refuse(ModuleOp module, llvm::Error error) {
  bool isOfMemory = isAboutMemory(error), isOfFile = false;
  std::string message;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    isOfFile = info.convertToErrorCode() != llvm::inconvertibleErrorCode();
    message = info.message();
  });
  InFlightDiagnostic diagnostic = module.emitError() << message;
  if (isOfMemory)
    return noMemory(std::move(diagnostic));
  return isOfFile ? fileTrouble(std::move(diagnostic)) : std::move(diagnostic);
}

FailureOr<DeviceImage> shardc::emitDeviceImage(ModuleOp module, StringRef archs,
                                               DeviceImageKind kind) {
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName);
  if (!kernels)
    return module.emitError()
           << "has no kernels: no gpu.module @" << kKernelModuleName;
  if (std::string problem = checkGpuArchs(archs); !problem.empty())
    return module.emitError() << problem;
  SmallVector<StringRef> list = listOf(archs);
  if (kind != DeviceImageKind::Fatbin && list.size() > 1)
    return module.emitError()
           << "PTX and cubins are for one GPU, but " << list.size()
           << " are named: " << archs << "; a fatbin holds several";
  CudaToolkit toolkit = findCudaToolkit();
  DeviceImage image;
  image.archs = llvm::join(list, ",");
  if (kind == DeviceImageKind::Cubin && toolkit.ptxas.empty())
    return module.emitError() << "no ptxas: neither in CUDA_HOME, CUDA_PATH or "
                                 "CUDA_ROOT nor on PATH; PTX can be "
                                 "made without";
  bool pack = kind == DeviceImageKind::Fatbin && !toolkit.ptxas.empty() &&
              !toolkit.fatbinary.empty();
  if (!pack && kind != DeviceImageKind::Cubin) {
    // The oldest: all later GPUs take its PTX. Those of "a" take no other's.
    StringRef oldest = *llvm::min_element(list, [](StringRef a, StringRef b) {
      return numberOf(a) < numberOf(b);
    });
    for (StringRef arch : list) {
      if (arch != oldest && kind == DeviceImageKind::Ptx)
        continue;
      FailureOr<std::string> ptx = emitPtx(kernels, arch, toolkit);
      if (failed(ptx))
        return failure();
      if (arch == oldest)
        image.bytes = *ptx;
      if (list.size() > 1)
        image.texts.push_back(std::move(*ptx));
    }
    image.isPtx = true;
    return image;
  }
  SmallVector<std::pair<std::string, std::string>> cubins;
  std::string portable;
  for (StringRef arch : list) {
    FailureOr<std::string> ptx = emitPtx(kernels, arch, toolkit);
    if (failed(ptx))
      return failure();
    std::string cubin;
    llvm::Expected<std::vector<KernelResources>> resources =
        assemble(toolkit, *ptx, arch, cubin);
    if (!resources)
      return refuse(module, resources.takeError());
    cubins.push_back({arch.str(), std::move(cubin)});
    if (arch == kDefaultArch)
      portable = *ptx;
    image.texts.push_back(std::move(*ptx));
  }
  if (kind == DeviceImageKind::Cubin) {
    image.bytes = std::move(cubins.front().second);
    return image;
  }
  // For GPUs that nobody named.
  if (portable.empty()) {
    FailureOr<std::string> ptx = emitPtx(kernels, kDefaultArch, toolkit);
    if (failed(ptx))
      return failure();
    portable = *ptx;
    image.texts.push_back(std::move(*ptx));
  }
  llvm::Expected<std::string> fatbin =
      packFatbin(toolkit, portable, kDefaultArch, cubins);
  if (!fatbin)
    return refuse(module, fatbin.takeError());
  image.bytes = std::move(*fatbin);
  image.toolkit = versionOf(toolkit);
  return image;
}

void shardc::embedDeviceImage(ModuleOp module, const DeviceImage &image) {
  if (auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName))
    kernels.erase();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  // PTX ends with a NUL, which does no harm to the others.
  auto embed = [&](StringRef name, std::string bytes) {
    bytes.push_back('\0');
    auto data = LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::External, name,
        builder.getStringAttr(bytes));
    data.setAlignment(64);
  };
  embed("shardc_device_image", image.bytes);
  // One behind the other, each ended by a NUL, the last by another.
  std::string texts;
  for (const std::string &text : image.texts)
    texts += text + '\0';
  if (!texts.empty())
    embed("shardc_device_ptx", texts);
  LLVM::GlobalOp::create(builder, loc, builder.getI64Type(),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         "shardc_device_image_length",
                         builder.getI64IntegerAttr(image.bytes.size()));
}
