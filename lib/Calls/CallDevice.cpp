//===- CallDevice.cpp - Launches and device memory to runtime calls -------===//
//
// Kernels leave the host's function for a gpu.module. Each takes arguments of 8
// bytes: what is an address of device memory, what is dynamic, and scalars.
// docs/Rationale/GPU.md sections 3 and 4.
//
//===----------------------------------------------------------------------===//
#include "CallLibraries.h"
#include "CommunicationKernels.h"
#include "PassedValues.h"
#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/UserLocation.h"
#include "shardc/Support/Views.h"
#include "shardrt/CommunicationKernels.h"
#include "shardrt/TensorMap.h"
#include "llvm/ADT/StringExtras.h"
#include <unordered_map>

namespace shardc {
#define GEN_PASS_DEF_CALLDEVICEPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static constexpr StringLiteral kKernelNames = "shardc_kernel_names";
/// What a kernel may declare of shared memory; who needs more asks for it at
/// its launch.
static constexpr int64_t kDeclaredBytes = 48 * 1024;
enum KernelFlags : int64_t {
  OfSomeGpus = 1,
  Persistent = 2,
  Pairs = 4
}; // shardrt's DeviceCode::Flags
/// In whose presence a kernel is not launched: so many, of the first so many.
static constexpr size_t kMostBetter = 2, kMostOfGpus = 0x7ffe;
/// Most bytes of arguments that a kernel may take.
static constexpr size_t kMaxArguments = 4096 / 8;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel captures, split on the host and put together again in the
/// kernel.
class KernelArguments final : public PassedValues {
public:
  KernelArguments(OpBuilder &host, OpBuilder &device, Block &entry,
                  Location loc)
      : PassedValues(host, device, loc), entry(entry) {}

  /// The kernel's map of a tensor: 16 words, which come before all others.
  Value passTensorMap(UnrealizedConversionCastOp cast);

private:
  Value find(Type type, int64_t) override {
    return entry.addArgument(type, loc);
  }

  Block &entry;
};
} // namespace

Value KernelArguments::passTensorMap(UnrealizedConversionCastOp cast) {
  OpBuilder &host = outside;
  Value memref = cast.getOperand(0);
  auto type = llvm::cast<MemRefType>(memref.getType());
  ArrayAttr groups = contract::TensorMap::get(cast);
  DenseI64ArrayAttr box = contract::TensorBox::get(cast);
  int64_t bytes = elementBytes(type.getElementType());
  Type i64 = host.getI64Type();
  auto word = [&](Value index) -> Value {
    return arith::IndexCastOp::create(host, loc, i64, index);
  };
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(host, loc, number);
  };
  auto times = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(host, loc, a, b);
  };
  auto metadata = memref::ExtractStridedMetadataOp::create(host, loc, memref);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(host, loc, memref);
  SmallVector<Value> map(SHARDRT_MAP_WORDS, constant(0));
  map[SHARDRT_MAP_ADDRESS] = arith::AddIOp::create(
      host, loc, base, times(metadata.getOffset(), constant(bytes)));
  Type element = type.getElementType();
  int64_t kind = element.isBF16()  ? SHARDRT_MAP_BF16
                 : element.isF16() ? SHARDRT_MAP_F16
                 : element.isF32() ? SHARDRT_MAP_F32
                 : bytes == 1      ? SHARDRT_MAP_U8
                                   : SHARDRT_MAP_F64;
  // Windows are told by what is said of each dim of theirs.
  bool isOfWindows = box.size() != static_cast<int64_t>(groups.size());
  map[SHARDRT_MAP_KIND] =
      constant(static_cast<int64_t>(groups.size()) | kind << 8 |
               (isOfWindows ? SHARDRT_MAP_WINDOWS : 0));
  for (auto [i, group] : llvm::enumerate(groups)) {
    ArrayRef<int64_t> dims = llvm::cast<DenseI64ArrayAttr>(group).asArrayRef();
    Value size = constant(1);
    for (int64_t dim : dims)
      size = times(size, metadata.getSizes()[dim]);
    // No tensor is empty to a device; kernels read nothing of one that is.
    map[SHARDRT_MAP_SIZES + i] =
        arith::MaxSIOp::create(host, loc, size, constant(1));
    bool isRange = isOfWindows && i >= 2;
    if (isRange) {
      ArrayRef<int64_t> range = box.asArrayRef().slice(2 + 3 * (i - 2), 3);
      map[SHARDRT_MAP_BOX + i] =
          constant(SHARDRT_MAP_RANGE(range[0], range[1], range[2]));
    } else {
      map[SHARDRT_MAP_BOX + i] = constant(box[i]);
    }
    // Nor are strides, which are a multiple of 16 bytes.
    if (i > 0)
      map[SHARDRT_MAP_STRIDES + i - 1] = arith::MaxSIOp::create(
          host, loc, times(metadata.getStrides()[dims.back()], constant(bytes)),
          constant(16));
  }
  for (Value index : map)
    words.push_back(word(index));
  return entry.addArgument(LLVM::LLVMPointerType::get(host.getContext()), loc);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Ops that are cheaper to repeat in a kernel than to pass their results.
static bool isRepeatable(Operation *op) {
  // Not the places of buffers in the arena: kernels that differ in these alone
  // are one.
  return op->hasTrait<OpTrait::ConstantLike>() ||
         (isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
              memref::ExpandShapeOp, memref::ReinterpretCastOp>(op) &&
          isMemoryEffectFree(op));
}

/// Repeats, inside `region`, whatever views and constants it takes from
/// outside.
static void sinkViews(Region &region) {
  llvm::SetVector<Value> captured;
  while (true) {
    captured.clear();
    getUsedValuesDefinedAbove(region, captured);
    bool changed = false;
    for (Value value : captured) {
      Operation *op = value.getDefiningOp();
      if (!op || !isRepeatable(op))
        continue;
      OpBuilder builder(&region.front(), region.front().begin());
      Operation *copy = builder.clone(*op);
      for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
        replaceAllUsesInRegionWith(from, to, region);
      changed = true;
    }
    if (!changed)
      return;
  }
}

/// Letters and digits of what a kernel is made of, for its name.
static std::string nameOf(gpu::LaunchOp launch, size_t number) {
  StringRef what = "kernel";
  bool loops = false, single = true;
  launch.getBody().walk([&](Operation *op) {
    loops |= isa<LoopLikeOpInterface>(op);
    single &= !isa<LoopLikeOpInterface>(op);
  });
  if (auto size = getConstantIntValue(launch.getBlockSizeX()); size == 1)
    what = loops ? "serial" : "store";
  else
    what = loops ? "loops" : "points";
  return (what + Twine("_") + Twine(number)).str();
}

/// Adds what a kernel at `loc` is made from: of one that several launches have
/// become (spmd-merge-launches), the first few of these.
static void noteOrigins(Location loc, SmallVectorImpl<std::string> &origins) {
  constexpr size_t kMostMerged = 6;
  auto fused = dyn_cast<FusedLoc>(loc);
  bool isMerged = fused && isa_and_nonnull<StringAttr>(fused.getMetadata());
  SmallVector<Location> parts = {loc};
  if (isMerged)
    parts.assign(fused.getLocations().begin(), fused.getLocations().end());
  for (Location part : parts) {
    std::string origin = originOf(part);
    if (!origin.empty() && !llvm::is_contained(origins, origin) &&
        (!isMerged || origins.size() < kMostMerged))
      origins.push_back(origin);
  }
}

namespace {
class DeviceCalls {
public:
  DeviceCalls(ModuleOp module, func::FuncOp step)
      : module(module), step(step), entries(module),
        context(step.getArgument(0)) {}

  LogicalResult run();

private:
  /// A kernel, and where the program asks for it.
  struct Kernel {
    gpu::GPUFuncOp function;
    int64_t threads = 0, sharedBytes = 0, maps = 0, flags = 0;
    SmallVector<std::string>
        origins; ///< ops and lines: "dot_general at model.py:12"
  };

  LogicalResult outline(gpu::LaunchOp launch);
  /// An empty kernel of blocks of `threads` threads.
  gpu::GPUFuncOp createKernel(gpu::LaunchOp launch, int64_t threads);
  /// Calls kernel `which` in the place of `launch`, with `words`.
  void callKernel(gpu::LaunchOp launch, int64_t which, ArrayRef<Value> words);
  /// The number of the kernel that does what `function` does, which is erased
  /// if it is not the first.
  size_t numberOf(gpu::GPUFuncOp function, int64_t threads);
  FailureOr<int64_t> numberFor(gpu::LaunchOp launch, size_t number);
  void stageConstants();
  void readOnHost(memref::LoadOp load);
  LogicalResult stageArguments();
  void writeTables();
  /// Host memory of `words` times 8 bytes, once in a call of the function.
  Value scratch(int64_t words);

  ModuleOp module;
  func::FuncOp step;
  EntryPoints entries;
  Value context;
  gpu::GPUModuleOp kernels;
  LLVM::AllocaOp area;
  int64_t areaWords = 0;
  std::vector<Kernel> made;
  std::unordered_map<size_t, SmallVector<size_t, 1>> byHash;
  /// The last kernels that are for some GPUs, one a GPU, of one piece of work.
  SmallVector<std::pair<KernelGpuAttr, size_t>, 2> ofGpus;
  bool ofGpusEnded = false; ///< by one that all GPUs run
};
} // namespace

Value DeviceCalls::scratch(int64_t words) {
  OpBuilder builder(step.getBody().front().getParent()->getContext());
  if (!area) {
    builder.setInsertionPointToStart(&step.getBody().front());
    Value count =
        LLVM::ConstantOp::create(builder, step.getLoc(), builder.getI64Type(),
                                 builder.getI64IntegerAttr(1));
    area =
        LLVM::AllocaOp::create(builder, step.getLoc(),
                               LLVM::LLVMPointerType::get(builder.getContext()),
                               builder.getI64Type(), count, /*alignment=*/16);
  }
  areaWords = std::max(areaWords, words);
  return area;
}

/// What `launch` of kernel `number` is called with: beside the number, those in
/// whose presence nothing is done.
FailureOr<int64_t> DeviceCalls::numberFor(gpu::LaunchOp launch, size_t number) {
  if (KernelGpuAttr gpu = contract::Gpu::get(launch)) {
    if (std::exchange(ofGpusEnded, false))
      ofGpus.clear();
    auto *found = llvm::find_if(
        ofGpus, [&](const auto &one) { return one.first == gpu; });
    if (found != ofGpus.end())
      found->second = number;
    else
      ofGpus.push_back({gpu, number});
    return number;
  }
  ofGpusEnded = true;
  if (!contract::Otherwise::has(launch))
    return number;
  auto which = static_cast<int64_t>(number);
  for (auto [i, one] : llvm::enumerate(ofGpus)) {
    if (i >= kMostBetter || one.second >= kMostOfGpus)
      return launch.emitError()
             << "is done otherwise on " << ofGpus.size()
             << " GPUs, by kernels up to number " << one.second << "; at most "
             << kMostBetter << ", of the first " << kMostOfGpus
             << ", are possible";
    which |= static_cast<int64_t>(one.second + 1) << (32 + 16 * i);
  }
  return which;
}

/// True if both do the same with their arguments. Their source lines may
/// differ.
static bool areAlike(gpu::GPUFuncOp a, gpu::GPUFuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         contract::Gpu::get(a) == contract::Gpu::get(b) &&
         contract::TensorMaps::get(a) == contract::TensorMaps::get(b) &&
         a.getNumWorkgroupAttributions() == b.getNumWorkgroupAttributions() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

size_t DeviceCalls::numberOf(gpu::GPUFuncOp function, int64_t threads) {
  llvm::hash_code hash = llvm::hash_value(threads);
  function.getBody().walk([&](Operation *op) {
    llvm::hash_code own = OperationEquivalence::computeHash(
        op, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    hash = llvm::hash_combine(hash, own);
  });
  SmallVector<size_t, 1> &candidates = byHash[static_cast<size_t>(hash)];
  for (size_t number : candidates)
    if (made[number].threads == threads &&
        areAlike(made[number].function, function)) {
      function.erase();
      return number;
    }
  candidates.push_back(made.size());
  Kernel kernel;
  kernel.function = function;
  kernel.threads = threads;
  made.push_back(kernel);
  return made.size() - 1;
}

/// Maps the numbers that `launch` has of its threads to ops of `device`.
static void mapThreads(gpu::LaunchOp launch, OpBuilder &device,
                       IRMapping &map) {
  Location loc = launch.getLoc();
  auto dims = [&](gpu::KernelDim3 values, auto make) {
    map.map(values.x, make(gpu::Dimension::x));
    map.map(values.y, make(gpu::Dimension::y));
    map.map(values.z, make(gpu::Dimension::z));
  };
  dims(launch.getBlockIds(), [&](gpu::Dimension d) {
    return gpu::BlockIdOp::create(device, loc, d).getResult();
  });
  dims(launch.getThreadIds(), [&](gpu::Dimension d) {
    return gpu::ThreadIdOp::create(device, loc, d).getResult();
  });
  dims(launch.getGridSize(), [&](gpu::Dimension d) {
    return gpu::GridDimOp::create(device, loc, d).getResult();
  });
  dims(launch.getBlockSize(), [&](gpu::Dimension d) {
    return gpu::BlockDimOp::create(device, loc, d).getResult();
  });
}

/// Passes tensor maps and all that `launch` reads from outside.
static LogicalResult passCaptured(gpu::LaunchOp launch,
                                  ArrayRef<UnrealizedConversionCastOp> tensors,
                                  KernelArguments &arguments, IRMapping &map) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  for (UnrealizedConversionCastOp cast : tensors)
    map.map(cast.getResult(0), arguments.passTensorMap(cast));
  for (Value value : captured) {
    if (map.contains(value))
      continue;
    Value passed = arguments.pass(value);
    if (!passed)
      return launch.emitError()
             << "kernel takes a value of type " << value.getType()
             << ", which no argument holds";
    map.map(value, passed);
  }
  if (arguments.slots().size() > kMaxArguments)
    return launch.emitError()
           << "kernel takes " << arguments.slots().size()
           << " arguments, at most " << kMaxArguments << " fit";
  return success();
}

/// Gives `kernel` shared memory as `launch` has it, of which it returns the
/// bytes, and its marks.
static int64_t takeShared(gpu::LaunchOp launch, gpu::GPUFuncOp kernel,
                          IRMapping &map) {
  Builder b(kernel);
  int64_t bytes = 0;
  for (BlockArgument shared : launch.getWorkgroupAttributions()) {
    map.map(shared,
            kernel.addWorkgroupAttribution(shared.getType(), launch.getLoc()));
    auto type = cast<MemRefType>(shared.getType());
    bytes += type.getNumElements() * elementBytes(type.getElementType());
  }
  // What loads of whole rows need, and swizzled tiles.
  for (unsigned i : llvm::seq(kernel.getNumWorkgroupAttributions()))
    kernel.setWorkgroupAttributionAttr(
        i, LLVM::LLVMDialect::getAlignAttrName(),
        b.getI64IntegerAttr(contract::Gpu::has(launch) ? 1024 : 16));
  if (KernelGpuAttr gpu = contract::Gpu::get(launch))
    contract::Gpu::set(kernel, gpu);
  if (contract::Paired::has(launch))
    contract::Paired::set(kernel);
  return bytes;
}

gpu::GPUFuncOp DeviceCalls::createKernel(gpu::LaunchOp launch,
                                         int64_t threads) {
  OpBuilder inModule(module.getContext());
  inModule.setInsertionPointToEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(inModule, launch.getLoc(),
                                       nameOf(launch, made.size()),
                                       inModule.getFunctionType({}, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  inModule.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      inModule.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  return kernel;
}

void DeviceCalls::callKernel(gpu::LaunchOp launch, int64_t which,
                             ArrayRef<Value> words) {
  Location loc = launch.getLoc();
  OpBuilder host(launch);
  // Stored where the launch reads them; the call copies them.
  Type i64 = host.getI64Type(),
       ptr = LLVM::LLVMPointerType::get(host.getContext());
  int64_t count = words.size();
  Value area = scratch(count);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value slot =
        LLVM::GEPOp::create(host, loc, ptr, i64, area,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(host, loc, word, slot);
  }
  auto asI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(host, loc, i64, index);
  };
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(host, loc, number, 64);
  };
  entries.call(host, loc, "shardrt_launch",
               {context, word(which), asI64(launch.getGridSizeX()),
                asI64(launch.getGridSizeY()), asI64(launch.getGridSizeZ()),
                area, word(count)});
}

LogicalResult DeviceCalls::outline(gpu::LaunchOp launch) {
  Location loc = launch.getLoc();
  MLIRContext *ctx = module.getContext();
  SmallVector<UnrealizedConversionCastOp> tensors;
  launch.getBody().walk([&](UnrealizedConversionCastOp cast) {
    if (contract::TensorMap::has(cast))
      tensors.push_back(cast);
  });
  for (UnrealizedConversionCastOp cast : tensors)
    cast->moveBefore(launch);
  sinkViews(launch.getBody());
  std::optional<int64_t> threads = getConstantIntValue(launch.getBlockSizeX());
  if (!threads)
    return launch.emitOpError() << "has a block whose size is not constant";

  gpu::GPUFuncOp kernel = createKernel(launch, *threads);
  Block &body = kernel.getBody().front();
  OpBuilder host(launch), device(ctx);
  device.setInsertionPointToEnd(&body);
  IRMapping map;
  mapThreads(launch, device, map);
  KernelArguments arguments(host, device, body, loc);
  if (failed(passCaptured(launch, tensors, arguments, map)))
    return failure();
  SmallVector<Type> types(body.getArgumentTypes());
  kernel.setFunctionType(FunctionType::get(ctx, types, {}));
  // Behind the arguments, of which there must be no more.
  int64_t sharedBytes = takeShared(launch, kernel, map);
  if (!tensors.empty())
    contract::TensorMaps::set(kernel, device.getI64IntegerAttr(tensors.size()));
  for (Operation &op : launch.getBody().front().without_terminator())
    device.clone(op, map);
  gpu::ReturnOp::create(device, loc);

  size_t number = numberOf(kernel, *threads);
  made[number].sharedBytes = sharedBytes > kDeclaredBytes ? sharedBytes : 0;
  made[number].maps = tensors.size();
  made[number].flags = (contract::Gpu::has(launch) ? OfSomeGpus : 0) |
                       (contract::Persistent::has(launch) ? Persistent : 0) |
                       (contract::Paired::has(launch) ? Pairs : 0);
  FailureOr<int64_t> which = numberFor(launch, number);
  if (failed(which))
    return failure();
  callKernel(launch, *which, arguments.slots());
  noteOrigins(loc, made[number].origins);
  launch.erase();
  for (UnrealizedConversionCastOp cast : tensors)
    cast.erase();
  return success();
}

/// Constants live in the artifact; what runs on the device gets a copy there.
void DeviceCalls::stageConstants() {
  SmallVector<memref::GetGlobalOp> ops;
  step.walk([&](memref::GetGlobalOp op) { ops.push_back(op); });
  llvm::StringMap<Value> staged;
  for (memref::GetGlobalOp op : ops) {
    // What the host reads itself, it reads at home.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getUses())
      if (!isa<memref::LoadOp>(use.getOwner()) ||
          use.getOwner()->getParentOfType<gpu::LaunchOp>())
        uses.push_back(&use);
    if (uses.empty())
      continue;
    Value &copy = staged[op.getName()];
    if (!copy) {
      OpBuilder builder(&step.getBody().front(),
                        step.getBody().front().begin());
      Location loc = op.getLoc();
      auto type = cast<MemRefType>(op.getType());
      Value host =
          memref::GetGlobalOp::create(builder, loc, type, op.getName());
      Value bytes = arith::ConstantIntOp::create(
          builder, loc,
          type.getNumElements() * elementBytes(type.getElementType()), 64);
      Value pointer =
          entries.call(builder, loc, "shardrt_constant",
                       {context, pointerTo(builder, loc, host), bytes});
      SmallVector<Value> sizes;
      for (int64_t size : type.getShape())
        sizes.push_back(
            LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                     builder.getI64IntegerAttr(size)));
      copy = memrefAt(builder, loc, type, pointer, sizes);
    }
    for (OpOperand *use : uses)
      use->set(copy);
    if (op->use_empty())
      op.erase();
  }
}

/// A load on the host becomes a copy of one element to host memory.
void DeviceCalls::readOnHost(memref::LoadOp load) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  MemRefType type = load.getMemRefType();
  SmallVector<OpFoldResult> offsets(load.getIndices().begin(),
                                    load.getIndices().end());
  SmallVector<OpFoldResult> ones(offsets.size(), builder.getIndexAttr(1));
  Value element = load.getMemRef();
  if (!offsets.empty())
    element =
        memref::SubViewOp::create(builder, loc, element, offsets, ones, ones);
  Value bytes = arith::ConstantIntOp::create(
      builder, loc, elementBytes(type.getElementType()), 64);
  Value area = scratch(2);
  entries.call(builder, loc, "shardrt_read",
               {context, pointerTo(builder, loc, element), area, bytes});
  auto scalar = MemRefType::get({}, type.getElementType());
  Value slot = memrefAt(builder, loc, scalar, area, {});
  load->setOperand(0, slot);
  load.getIndicesMutable().clear();
}

/// Arguments and results get a place on the device.
LogicalResult DeviceCalls::stageArguments() {
  auto main = module.lookupSymbol<func::FuncOp>("shardc_main");
  func::CallOp call;
  main.walk([&](func::CallOp op) {
    if (op.getCallee() == step.getSymName())
      call = op;
  });
  size_t inputs = 0, outputs = 0;
  if (ArrayAttr list = contract::EntryInputs::get(module))
    inputs = list.size();
  if (ArrayAttr list = contract::EntryOutputs::get(module))
    outputs = list.size();
  if (!call)
    return main.emitError() << "does not call @" << step.getSymName();
  if (call.getNumOperands() < 1 + inputs + outputs ||
      !llvm::all_of(call.getOperands().slice(1, inputs + outputs).getTypes(),
                    llvm::IsaPred<MemRefType>))
    return call.emitOpError("expected a context and memrefs of ")
           << inputs << " inputs and " << outputs
           << " outputs, as the module's attributes name them";
  OpBuilder builder(call);
  Location loc = call.getLoc();
  Value ctx = main.getArgument(0);
  for (size_t i = 0; i < inputs + outputs; ++i) {
    Value host = call.getOperand(1 + i);
    auto type = cast<MemRefType>(host.getType());
    Value bytes = arith::ConstantIntOp::create(
        builder, loc, elementBytes(type.getElementType()), 64);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = memref::DimOp::create(builder, loc, host, dim);
      sizes.push_back(
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size));
      bytes = arith::MulIOp::create(builder, loc, bytes, sizes.back());
    }
    Value pointer = entries.call(builder, loc,
                                 i < inputs ? "shardrt_stage_input"
                                            : "shardrt_stage_output",
                                 {ctx, pointerTo(builder, loc, host), bytes});
    call.setOperand(1 + i, memrefAt(builder, loc, type, pointer, sizes));
  }
  builder.setInsertionPointAfter(call);
  Value status = entries.call(builder, loc, "shardrt_stage_results",
                              {ctx, call.getResult(0)});
  call.getResult(0).replaceAllUsesExcept(status, status.getDefiningOp());
  return success();
}

/// What the runtime knows of kernels: format, number, and of each the threads
/// of a block, bytes of shared memory to ask for, tensor maps and flags.
void DeviceCalls::writeTables() {
  OpBuilder builder(module.getBodyRegion());
  Location loc = module.getLoc();
  Type i64 = builder.getI64Type();
  SmallVector<int64_t> words{2, static_cast<int64_t>(made.size())};
  std::string names;
  for (Kernel &kernel : made) {
    words.append(
        {kernel.threads, kernel.sharedBytes, kernel.maps, kernel.flags});
    names += kernel.function.getName();
    names.push_back('\0');
    // One of several places may be meant.
    names += llvm::join(ArrayRef(kernel.origins).take_front(3), " or ");
    if (kernel.origins.size() > 3)
      names += " or others";
    names.push_back('\0');
  }
  int64_t count = words.size();
  auto table = LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(i64, count), /*isConstant=*/true,
      LLVM::Linkage::External, "shardc_kernel_table",
      DenseElementsAttr::get(RankedTensorType::get({count}, i64),
                             ArrayRef(words)));
  table.setAlignment(8);
  names.push_back('\0');
  LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), names.size()),
      /*isConstant=*/true, LLVM::Linkage::External, kKernelNames,
      builder.getStringAttr(names));
}

LogicalResult DeviceCalls::run() {
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  kernels =
      gpu::GPUModuleOp::create(builder, module.getLoc(), kKernelModuleName);
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  builder.getUnitAttr());

  stageConstants();
  if (failed(lowerLibraryCalls(step, context, entries)))
    return failure();
  SmallVector<memref::LoadOp> loads;
  SmallVector<gpu::LaunchOp> launches;
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
      launches.push_back(launch);
      return WalkResult::skip();
    }
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load &&
        !rootOfView(load.getMemRef()).getDefiningOp<memref::GetGlobalOp>())
      loads.push_back(load);
    return WalkResult::advance();
  });
  for (memref::LoadOp load : loads)
    readOnHost(load);
  for (gpu::LaunchOp launch : launches)
    if (failed(outline(launch)))
      return failure();
  if (area) {
    OpBuilder at(area);
    area.getArraySizeMutable().set(LLVM::ConstantOp::create(
        at, area.getLoc(), at.getI64Type(),
        at.getI64IntegerAttr(std::max<int64_t>(areaWords, 1))));
  }
  if (failed(stageArguments()))
    return failure();
  // What the runtime launches by itself, at sites.
  if (hasSites(module)) {
    FailureOr<shardrt::SiteTable> sites = readSites(module);
    if (failed(sites))
      return failure();
    for (gpu::GPUFuncOp function : addCommunicationKernels(kernels, *sites)) {
      Kernel kernel;
      kernel.function = function;
      kernel.threads = shardrt::communicationThreads;
      made.push_back(kernel);
    }
  }
  writeTables();
  return success();
}

namespace {
struct CallDevicePass final : shardc::impl::CallDevicePassBase<CallDevicePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>("shardc_step");
    if (!step || !module.lookupSymbol<func::FuncOp>("shardc_main")) {
      module.emitError()
          << "has no @shardc_step; run --spmd-call-runtime first";
      return signalPassFailure();
    }
    if (failed(DeviceCalls(module, step).run()))
      signalPassFailure();
  }
};
} // namespace
