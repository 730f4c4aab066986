//===- KernelCheck.cpp - Generated kernels against plain loops ------------===//
//
// Compiles @main twice, runs both on the same random inputs in this process,
// and compares what they write. With --time also prints how long the generated
// one takes; with --emit prints IR or assembly instead.
//
//===----------------------------------------------------------------------===//
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "shardc/Buffers/Models.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Tune/IR/TuneDialect.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Pipelines/Kernels.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string> inputFile(cl::Positional, cl::init("-"));
static cl::opt<std::string> arch("arch", cl::init("native"));
static cl::opt<unsigned> bits("vector-bits", cl::init(0));
static cl::opt<std::string> emit("emit",
                                 cl::desc("mlir, llvm-dialect, ir, asm"));
static cl::opt<bool> plain("plain", cl::desc("emit or time the plain loops"));
static cl::opt<bool> timing("time");
static cl::opt<bool> check("check", cl::init(true));
static cl::opt<double> flops("flops",
                             cl::desc("floating-point operations of a call"));
static cl::opt<double> relative("rtol", cl::init(1e-4));
static cl::opt<double> absolute("atol", cl::init(1e-5));
static cl::opt<double> low("low", cl::init(-1)), high("high", cl::init(1));
static cl::list<int64_t>
    dims("dims", cl::CommaSeparated,
         cl::desc("sizes for each ? of arguments, then results"));

namespace {
struct alignas(64) Line {
  char bytes[64];
};

struct Buffer {
  MemRefType type;
  SmallVector<int64_t> shape;
  bool isOutput = false;
  size_t bytes = 0;
  std::vector<Line> lines;
  char *data() { return lines.data()->bytes; }
  SmallVector<int64_t> descriptor;
};

struct Compiled {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *entry = nullptr;
  int64_t arenaBytes = 0;
  double seconds = 0;
};
} // namespace

static size_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  if (type.isIndex())
    return 8;
  return std::max<size_t>(1, type.getIntOrFloatBitWidth() / 8);
}

static OwningOpRef<ModuleOp> parse(MLIRContext &context) {
  return parseSourceFile<ModuleOp>(inputFile, &context);
}

static LogicalResult lower(ModuleOp module, bool optimize, bool toLLVM) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function)
    return module.emitError("no @main");
  function->setAttr("llvm.emit_c_interface",
                    UnitAttr::get(module.getContext()));
  PassManager pm(module.getContext());
  (void)applyPassManagerCLOptions(pm);
  applyDefaultTimingPassManagerCLOptions(pm);
  shardc::CpuKernelOptions options;
  options.arch = arch;
  options.vectorBits = bits;
  options.optimize = optimize;
  shardc::buildCpuBufferPipeline(pm, options);
  if (toLLVM)
    shardc::buildCpuToLLVMPipeline(pm, options);
  return pm.run(module);
}

static FailureOr<Compiled> compile(MLIRContext &context, bool optimize) {
  auto start = std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> module = parse(context);
  if (!module || failed(lower(*module, optimize, true)))
    return failure();
  Compiled result;
  if (auto bytes = (*module)->getAttrOfType<IntegerAttr>("kernel.arena_bytes"))
    result.arenaBytes = bytes.getInt();
  else
    result.arenaBytes = -1;
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  if (failed(shardc::emitObjectFile(*module, arch, stream)))
    return failure();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    llvm::errs() << llvm::toString(jit.takeError()) << "\n";
    return failure();
  }
  result.jit = std::move(*jit);
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      result.jit->getDataLayout().getGlobalPrefix());
  if (process)
    result.jit->getMainJITDylib().addGenerator(std::move(*process));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(object.data(), object.size()), "kernel.o");
  if (auto error = result.jit->addObjectFile(std::move(buffer))) {
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  auto symbol = result.jit->lookup("_mlir_ciface_main");
  if (!symbol) {
    llvm::errs() << llvm::toString(symbol.takeError()) << "\n";
    return failure();
  }
  result.entry = symbol->toPtr<void *>();
  return result;
}

template <size_t... I>
static void callWith(void *entry, ArrayRef<void *> args,
                     std::index_sequence<I...>) {
  // Surplus arguments of a C call are ignored.
  using Entry = void (*)(decltype((void)I, (void *)nullptr)...);
  reinterpret_cast<Entry>(entry)((I < args.size() ? args[I] : nullptr)...);
}

static void call(const Compiled &compiled, std::vector<Buffer> &buffers,
                 std::vector<char> &arena) {
  SmallVector<void *> args;
  for (Buffer &buffer : buffers) {
    // Allocated and aligned pointer, offset, sizes, strides.
    char *data = buffer.data();
    buffer.descriptor.assign(
        {reinterpret_cast<int64_t>(data), reinterpret_cast<int64_t>(data), 0});
    buffer.descriptor.append(buffer.shape.begin(), buffer.shape.end());
    SmallVector<int64_t> strides(buffer.shape.size(), 1);
    for (size_t i = buffer.shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * buffer.shape[i];
    buffer.descriptor.append(strides);
    args.push_back(buffer.descriptor.data());
  }
  SmallVector<int64_t> arenaDescriptor;
  if (compiled.arenaBytes >= 0) {
    arena.resize(compiled.arenaBytes + 64);
    auto base =
        (reinterpret_cast<uintptr_t>(arena.data()) + 63) & ~uintptr_t(63);
    arenaDescriptor = {int64_t(base), int64_t(base), 0, compiled.arenaBytes, 1};
    args.push_back(arenaDescriptor.data());
  }
  callWith(compiled.entry, args, std::make_index_sequence<400>());
}

static double toDouble(Type type, const char *at) {
  auto load = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  if (type.isF32())
    return load(0.0f);
  if (type.isF64())
    return load(0.0);
  if (auto floating = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(floating.getFloatSemantics(),
                        llvm::APInt(floating.getWidth(), load(uint16_t(0))));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  switch (elementBytes(type)) {
  case 1:
    return load(int8_t(0));
  case 2:
    return load(int16_t(0));
  case 4:
    return load(int32_t(0));
  default:
    return double(load(int64_t(0)));
  }
}

static void fillRandom(Buffer &buffer, std::mt19937 &random) {
  Type type = buffer.type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType(); // pairs of it
  std::uniform_real_distribution<double> real(low, high);
  size_t width = elementBytes(type);
  char *data = buffer.data();
  for (size_t at = 0; at + width <= buffer.bytes; at += width) {
    auto store = [&](auto value) {
      std::memcpy(data + at, &value, sizeof(value));
    };
    if (type.isF32())
      store(float(real(random)));
    else if (type.isF64())
      store(real(random));
    else if (auto floating = dyn_cast<FloatType>(type)) {
      llvm::APFloat value(real(random));
      bool lost;
      value.convert(floating.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      store(uint16_t(value.bitcastToAPInt().getZExtValue()));
    } else if (type.isInteger(1))
      store(char(random() & 1));
    else if (width == 1)
      store(char(random() % 8));
    else if (width == 2)
      store(int16_t(random() % 8));
    else if (width == 4)
      store(int32_t(random() % 8));
    else
      store(int64_t(random() % 8));
  }
}

static LogicalResult makeBuffers(MLIRContext &context,
                                 std::vector<Buffer> &buffers) {
  OwningOpRef<ModuleOp> module = parse(context);
  if (!module)
    return failure();
  auto function = module->lookupSymbol<func::FuncOp>("main");
  size_t next = 0;
  auto add = [&](Type type, bool isOutput) {
    auto tensor = cast<RankedTensorType>(type);
    Buffer buffer;
    buffer.type = MemRefType::get(tensor.getShape(), tensor.getElementType());
    buffer.isOutput = isOutput;
    size_t count = 1;
    for (int64_t size : tensor.getShape()) {
      if (ShapedType::isDynamic(size))
        size = next < dims.size() ? dims[next++] : 17;
      buffer.shape.push_back(size);
      count *= size;
    }
    buffer.bytes = count * elementBytes(tensor.getElementType());
    buffer.lines.resize(buffer.bytes / 64 + 1);
    buffers.push_back(std::move(buffer));
  };
  for (Type type : function.getArgumentTypes())
    add(type, false);
  for (Type type : function.getResultTypes())
    add(type, true);
  return success();
}

static int compare(std::vector<Buffer> &expected, std::vector<Buffer> &found) {
  double worst = 0;
  for (auto [number, a, b] : llvm::enumerate(expected, found)) {
    Type type = a.type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(type))
      type = complex.getElementType();
    size_t width = elementBytes(type), count = a.bytes / width;
    for (size_t i = 0; i < count; ++i) {
      double x = toDouble(type, a.data() + i * width),
             y = toDouble(type, b.data() + i * width);
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      double error = std::abs(x - y);
      worst = std::max(worst, error / (std::abs(x) + 1e-3));
      if (error <= absolute + relative * std::abs(x))
        continue;
      llvm::outs() << (a.isOutput ? "DIFFERS: output " : "CHANGED: input ")
                   << number << " element " << i << ": plain loops " << x
                   << ", kernels " << y << "\n";
      return 3;
    }
  }
  llvm::outs() << "EQUAL: largest relative difference "
               << llvm::format("%.2e", worst) << "\n";
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  shardc::registerShardcBuffersPasses();
  shardc::registerShardcKernelGenPasses();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  registerMLIRContextCLOptions();
  cl::ParseCommandLineOptions(argc, argv,
                              "Check generated kernels against plain loops\n");
  DialectRegistry registry;
  shardc::registerBufferDialects(registry);
  shardc::registerObjectFileDialects(registry);
  registry.insert<shardc::tune::TuneDialect>();
  MLIRContext context(registry);
  context.disableMultithreading();
  context.allowUnregisteredDialects();

  if (!emit.empty()) {
    OwningOpRef<ModuleOp> module = parse(context);
    if (!module || failed(lower(*module, !plain, emit != "mlir")))
      return 1;
    if (emit == "ir")
      return failed(shardc::emitLLVMIR(*module, arch, llvm::outs()));
    if (emit == "asm") {
      SmallVector<char, 0> text;
      llvm::raw_svector_ostream stream(text);
      if (failed(shardc::emitAssembly(*module, arch, stream)))
        return 1;
      llvm::outs() << stream.str();
      return 0;
    }
    module->print(llvm::outs());
    return 0;
  }

  std::vector<Buffer> buffers;
  if (failed(makeBuffers(context, buffers)))
    return 1;
  std::mt19937 random(1);
  for (Buffer &buffer : buffers)
    fillRandom(buffer, random);
  FailureOr<Compiled> kernels = compile(context, !plain);
  if (failed(kernels))
    return 1;
  int status = 0;
  std::vector<char> arena;
  if (kernels->arenaBytes > 0)
    arena.assign(kernels->arenaBytes + 64, char(0xff));
  if (check) {
    std::vector<Buffer> reference = buffers, inputs = buffers;
    FailureOr<Compiled> loops = compile(context, false);
    if (failed(loops))
      return 1;
    std::vector<char> none;
    call(*loops, reference, none);
    // Twice: what a first call leaves in the arena must not matter.
    call(*kernels, buffers, arena);
    call(*kernels, buffers, arena);
    status = compare(reference, buffers);
  }
  if (timing) {
    double best = 1e30, total = 0;
    int runs = 0;
    call(*kernels, buffers, arena);
    while ((total < 0.5 || runs < 3) && runs < 10000) {
      auto start = std::chrono::steady_clock::now();
      call(*kernels, buffers, arena);
      double seconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
      best = std::min(best, seconds);
      total += seconds;
      ++runs;
    }
    llvm::outs() << llvm::format(
        "time: best %.4f ms, mean %.4f ms; compiled in %.2f s", best * 1e3,
        total / runs * 1e3, kernels->seconds);
    if (flops > 0)
      llvm::outs() << llvm::format("; %.1f GFLOP/s", flops / best * 1e-9);
    llvm::outs() << "; arena " << kernels->arenaBytes << " bytes\n";
  }
  return status;
}
