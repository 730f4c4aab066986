//===- ObjectFile.cpp - From the LLVM dialect to object files -------------===//
//
// One optimisation pipeline and one TargetMachine, both set up from the same
// `arch` string, so that what vectorises is what is emitted.
//
//===----------------------------------------------------------------------===//
#include "shardc/Translation/ObjectFile.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "shardc/Seal/Processor.h"
#include "shardc/Translation/ThreadChecks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <array>
#include <mutex>
#include <optional>

using namespace mlir;

namespace shardc {

CpuArch resolveArch(llvm::StringRef arch) {
  auto [cpu, features] = arch.split(',');
  CpuArch result{cpu.str(), features.str()};
  if (cpu.empty() || cpu == "native") {
    result.cpu = llvm::sys::getHostCPUName().str();
    SmallVector<std::string> flags;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      flags.push_back((feature.second ? "+" : "-") + feature.first().str());
    llvm::sort(flags);
    std::string host = llvm::join(flags, ",");
    result.features =
        result.features.empty() ? host : host + "," + result.features;
  }
  return result;
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::string featuresOf(llvm::StringRef arch) {
  // A third of a millisecond each; options name few.
  static std::mutex mutex;
  static llvm::StringMap<std::string> known;
  std::lock_guard lock(mutex);
  auto [entry, isNew] = known.try_emplace(arch);
  if (!isNew)
    return entry->second;
  initializeTargets();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  CpuArch resolved = resolveArch(arch);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target ? target->createMCSubtargetInfo(triple, resolved.cpu,
                                             resolved.features)
             : nullptr);
  if (!info || !info->isCPUStringValid(resolved.cpu))
    return {};
  SmallVector<llvm::StringRef> features;
  for (std::string_view name : processorFeatures())
    if (info->checkFeatures("+" + std::string(name)))
      features.push_back(name);
  return entry->second = llvm::join(features, ",");
}

std::string archThatRuns(llvm::StringRef arch) {
  return lackingFeatures(featuresOf(arch)).empty() ? arch.str() : "native";
}

/// A machine for `arch`, or null with a diagnostic on `module`.
static std::unique_ptr<llvm::TargetMachine>
createMachine(ModuleOp module, StringRef arch, Optimization optimization) {
  initializeTargets();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    module.emitError("no code generator for '")
        << triple.str() << "': " << message;
    return nullptr;
  }
  CpuArch resolved = resolveArch(arch);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, resolved.cpu, resolved.features, options, llvm::Reloc::PIC_,
      std::nullopt,
      optimization == Optimization::Full ? llvm::CodeGenOptLevel::Aggressive
                                         : llvm::CodeGenOptLevel::None));
  if (!machine ||
      !machine->getMCSubtargetInfo()->isCPUStringValid(resolved.cpu)) {
    module.emitError("unknown CPU '")
        << resolved.cpu
        << "'; expected 'native', a level such as 'x86-64-v3', or a CPU's name "
           "as LLVM spells it";
    return nullptr;
  }
  return machine;
}

namespace {
/// A TargetMachine, and the passes that write its object files once they were
/// asked for.
class CodeGenerator {
public:
  explicit CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine)
      : machine(std::move(machine)) {}

  llvm::TargetMachine &getMachine() { return *machine; }

  /// Writes the object file of `ir` to `out`.
  LogicalResult emitObject(llvm::Module &ir, llvm::raw_pwrite_stream &out) {
    if (!passes) {
      passes.emplace();
      if (failed(addPasses(*passes, object, llvm::CodeGenFileType::ObjectFile)))
        return failure();
    }
    passes->run(ir);
    out << bytes;
    bytes.clear();
    return success();
  }

  /// Adds to `passes` those that write a file of `type` to `out`.
  LogicalResult addPasses(llvm::legacy::PassManager &passes,
                          llvm::raw_pwrite_stream &out,
                          llvm::CodeGenFileType type) {
    passes.add(llvm::createTargetTransformInfoWrapperPass(
        machine->getTargetIRAnalysis()));
    return failure(machine->addPassesToEmitFile(passes, out, nullptr, type));
  }

private:
  std::unique_ptr<llvm::TargetMachine> machine;
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream object{bytes};
  std::optional<llvm::legacy::PassManager> passes;
};

/// Generators that nobody uses now. What a machine has learned of the CPU saves
/// a third of a millisecond for each module, its passes nearly one: some
/// hundred, each with what it needs and keeps of the others. One serves one
/// thread at a time.
class IdleGenerators {
public:
  std::unique_ptr<CodeGenerator> take(StringRef arch,
                                      Optimization optimization) {
    std::lock_guard lock(mutex);
    for (Entry &entry : entries)
      if (entry.generator && entry.arch == arch &&
          entry.optimization == optimization)
        return std::move(entry.generator);
    return nullptr;
  }
  void giveBack(StringRef arch, Optimization optimization,
                std::unique_ptr<CodeGenerator> generator) {
    std::lock_guard lock(mutex);
    Entry &entry = entries[next++ % entries.size()];
    entry = {arch.str(), optimization, std::move(generator)};
  }

private:
  struct Entry {
    std::string arch;
    Optimization optimization = Optimization::Full;
    std::unique_ptr<CodeGenerator> generator;
  };
  std::mutex mutex;
  std::array<Entry, 4> entries;
  size_t next = 0;
};
} // namespace

static IdleGenerators &idleGenerators() {
  // Never destroyed: threads may compile while the process ends.
  static auto *generators = new IdleGenerators;
  return *generators;
}

namespace {
/// A generator that nobody else uses while this lives; none, with a diagnostic
/// on `module`, where `arch` is not known.
class BorrowedGenerator {
public:
  BorrowedGenerator(ModuleOp module, StringRef arch, Optimization optimization)
      : arch(arch), optimization(optimization),
        generator(idleGenerators().take(arch, optimization)) {
    if (generator)
      return;
    if (auto machine = createMachine(module, arch, optimization))
      generator = std::make_unique<CodeGenerator>(std::move(machine));
  }
  BorrowedGenerator(const BorrowedGenerator &) = delete;
  BorrowedGenerator &operator=(const BorrowedGenerator &) = delete;
  ~BorrowedGenerator() {
    if (generator)
      idleGenerators().giveBack(arch, optimization, std::move(generator));
  }

  explicit operator bool() const { return generator != nullptr; }
  CodeGenerator &operator*() const { return *generator; }
  CodeGenerator *operator->() const { return generator.get(); }

private:
  StringRef arch;
  Optimization optimization;
  std::unique_ptr<CodeGenerator> generator;
};
} // namespace

/// LLVM IR of `module` for `machine`; null with a diagnostic if it does not
/// translate.
static std::unique_ptr<llvm::Module> translate(ModuleOp module,
                                               llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context);
  if (!result) {
    module.emitError(
        "cannot translate to LLVM IR; expected the LLVM dialect alone");
    return nullptr;
  }
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  bool wide = machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Without this LLVM splits 512-bit vectors on several CPUs.
    if (wide) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
  return result;
}

static bool holdsVectors(const llvm::Loop &loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock *block) {
    return llvm::any_of(*block, [](const llvm::Instruction &op) {
      const auto *store = dyn_cast<llvm::StoreInst>(&op);
      return (store ? store->getValueOperand() : &op)->getType()->isVectorTy();
    });
  });
}

namespace {
/// Lets LLVM unroll innermost loops alone, and of those that hold vectors ones
/// whose length is known. Kernels come tiled and unrolled as far as registers
/// go; unrolling the loops around them as well makes straight lines of
/// thousands of moves, on which LLVM's schedulers take quadratic time, and
/// copies of a tile gain nothing from one another. Nor do iterations of a loop
/// that is not short and keeps the CPU's units busy by itself; taking them
/// apart was half of what LLVM did for a product.
struct KeepLoops : llvm::PassInfoMixin<KeepLoops> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) {
    for (llvm::Loop *loop :
         analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (!loop->isInnermost() ||
          (isBusy(*loop) &&
           !isShort(*loop, analyses.getResult<llvm::ScalarEvolutionAnalysis>(
                               function))))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
      else if (holdsVectors(*loop))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable",
                                      1);
    return llvm::PreservedAnalyses::all();
  }

  /// True of busy tiles, and of loops that do nothing but move single elements:
  /// copies to panels.
  static bool isBusy(const llvm::Loop &loop) {
    return isBusyTile(loop) || movesElements(loop);
  }

  /// True of tiles with as many sums as multiply-adds are under way at a time,
  /// two a cycle for four cycles; and of those that store four vectors, one a
  /// cycle, beside which the count of iterations is nothing.
  static bool isBusyTile(const llvm::Loop &loop) {
    constexpr unsigned kUnderWay = 8, kStores = 4;
    unsigned sums = 0, stores = 0;
    for (const llvm::PHINode &phi : loop.getHeader()->phis())
      sums += phi.getType()->isVectorTy();
    for (const llvm::BasicBlock *block : loop.blocks())
      for (const llvm::Instruction &op : *block)
        if (const auto *store = dyn_cast<llvm::StoreInst>(&op))
          stores += store->getValueOperand()->getType()->isVectorTy();
    return sums >= kUnderWay || stores >= kStores;
  }

  static bool movesElements(const llvm::Loop &loop) {
    bool moves = false;
    for (const llvm::BasicBlock *block : loop.blocks())
      for (const llvm::Instruction &op : *block) {
        if (op.getType()->isVectorTy() || isa<llvm::CallBase>(op))
          return false;
        const auto *store = dyn_cast<llvm::StoreInst>(&op);
        if (!store)
          continue;
        const auto *load = dyn_cast<llvm::LoadInst>(store->getValueOperand());
        if (!load || !loop.contains(load))
          return false;
        moves = true;
      }
    return moves;
  }

  /// True if `loop` is known to be as short as what LLVM unrolls for good.
  static bool isShort(const llvm::Loop &loop,
                      llvm::ScalarEvolution &evolution) {
    constexpr unsigned kShort = 4;
    unsigned count = evolution.getSmallConstantMaxTripCount(&loop);
    return count > 0 && count <= kShort + 1; // the header runs once more
  }
};
} // namespace

namespace {
/// Keeps LLVM from making vectors of a loop that has little to compute for each
/// element that it stores, and stores elements far apart: a scatter takes
/// several times as long as as many stores do, and LLVM's estimates do not
/// know. Short lines that are scanned are such loops. Elements a short step
/// apart are interleaved in registers instead.
struct KeepStores : llvm::PassInfoMixin<KeepStores> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) {
    auto &evolution =
        analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop *loop :
         analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost() && scatters(*loop, evolution))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    return llvm::PreservedAnalyses::all();
  }

  static bool scatters(const llvm::Loop &loop,
                       llvm::ScalarEvolution &evolution) {
    constexpr unsigned kLittle = 8, kShort = 8;
    const llvm::DataLayout &layout =
        loop.getHeader()->getModule()->getDataLayout();
    unsigned stores = 0, work = 0;
    bool isApart = false;
    for (const llvm::BasicBlock *block : loop.blocks())
      for (llvm::Instruction &op : const_cast<llvm::BasicBlock &>(*block)) {
        work += isa<llvm::BinaryOperator, llvm::CallBase>(op);
        auto *store = dyn_cast<llvm::StoreInst>(&op);
        if (!store)
          continue;
        ++stores;
        const auto *address = dyn_cast<llvm::SCEVAddRecExpr>(
            evolution.getSCEV(store->getPointerOperand()));
        const auto *step = address ? dyn_cast<llvm::SCEVConstant>(
                                         address->getStepRecurrence(evolution))
                                   : nullptr;
        uint64_t size =
            layout.getTypeStoreSize(store->getValueOperand()->getType());
        isApart |= step && step->getAPInt().abs().ugt(kShort * size);
      }
    return isApart && work <= kLittle * stores;
  }
};
} // namespace

/// Whether `pass` would write a loop around loops once for each outcome of a
/// condition that it does not change: that sizes which are known late are above
/// 0, or leave a remainder. To ask in each iteration costs nothing beside the
/// loop inside.
static bool copiesLoopNest(llvm::StringRef pass, const llvm::Any &unit) {
  if (pass != "SimpleLoopUnswitchPass")
    return false;
  const auto *loop = llvm::any_cast<const llvm::Loop *>(&unit);
  return loop && !(*loop)->isInnermost();
}

namespace {
/// What the step of a long program is: what is called takes the time of a step,
/// but this would take most of LLVM's.
enum class Calls {
  None, ///< something else, or short
  Line, ///< one after the other, left where one fails
  Tree, ///< also conditionals, but no loop
};
} // namespace

static Calls callsOf(const llvm::Function &function) {
  // One call and what it takes: addresses, and the check of a status.
  constexpr unsigned kLong = 500, kInstructionsOfCall = 10;
  if (function.isDeclaration() || function.getInstructionCount() < kLong)
    return Calls::None;
  unsigned calls = 0;
  bool joins = false;
  for (const llvm::BasicBlock &block : function) {
    joins |= block.hasNPredecessorsOrMore(2) && !llvm::succ_empty(&block);
    for (const llvm::Instruction &op : block) {
      if (op.getType()->isVectorTy())
        return Calls::None;
      calls += isa<llvm::CallBase>(op);
    }
  }
  if (calls * kInstructionsOfCall < function.getInstructionCount())
    return Calls::None;
  if (!joins)
    return Calls::Line;
  SmallVector<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>>
      backEdges;
  llvm::FindFunctionBackedges(function, backEdges);
  return backEdges.empty() ? Calls::Tree : Calls::None;
}

static bool isSet(const std::atomic<bool> *cancelled) {
  return cancelled && cancelled->load(std::memory_order_relaxed);
}

namespace {
/// Instructions that something executes at most.
struct Work {
  uint64_t all = 0;
  /// Those outside of busy tiles, which stay as they were written.
  uint64_t loose = 0;

  void add(uint64_t once, uint64_t times, bool isLoose) {
    uint64_t more = llvm::SaturatingMultiply(once, times);
    all = llvm::SaturatingAdd(all, more);
    loose = llvm::SaturatingAdd(loose, isLoose ? more : 0);
  }
};

/// How many instructions a program executes at most, where its own text says
/// so.
class ProgramWork {
public:
  explicit ProgramWork(llvm::FunctionAnalysisManager &analyses)
      : analyses(analyses) {}

  static constexpr uint64_t kUnknown = UINT64_MAX;

  /// What all of `module` executes; kUnknown where that takes long to find out,
  /// or cannot be.
  Work executedBy(const llvm::Module &module) {
    // Those that call one another take some time to ask.
    constexpr unsigned kFewInstructions = 1 << 12;
    if (module.getInstructionCount() > kFewInstructions)
      return {kUnknown, kUnknown};
    Work total;
    for (const llvm::Function &function : module) {
      // Whoever has the address of a function may call it in a loop.
      if (!function.isDeclaration() && function.hasAddressTaken())
        return {kUnknown, kUnknown};
      Work body = executedBy(function);
      total.add(body.loose, 1, /*isLoose=*/true);
      total.add(body.all - body.loose, 1, /*isLoose=*/false);
    }
    return total;
  }

private:
  Work executedBy(const llvm::Function &function) {
    if (function.isDeclaration())
      return {};
    auto [known, isNew] =
        executed.try_emplace(&function, Work{kUnknown, kUnknown});
    if (!isNew)
      return known->second; // unknown within itself
    auto &body = const_cast<llvm::Function &>(function);
    llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(body);
    auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
    Work total;
    for (const llvm::BasicBlock &block : function) {
      const llvm::Loop *loop = loops.getLoopFor(&block);
      uint64_t times = timesOf(loop, evolution);
      bool isTile = loop && loop->isInnermost() && KeepLoops::isBusyTile(*loop);
      total.add(block.size(), times, !isTile);
      for (const llvm::Instruction &op : block)
        if (const auto *call = dyn_cast<llvm::CallBase>(&op))
          if (const llvm::Function *callee = call->getCalledFunction()) {
            Work called = executedBy(*callee);
            total.add(called.loose, times, /*isLoose=*/true);
            total.add(called.all - called.loose, times, /*isLoose=*/false);
          }
    }
    return executed[&function] = total;
  }

  /// How often what stands in `loop` is done. A single element at a time counts
  /// as many as LLVM would make a vector of.
  static uint64_t timesOf(const llvm::Loop *loop,
                          llvm::ScalarEvolution &evolution) {
    constexpr uint64_t kElements = 4;
    uint64_t times = loop && !holdsVectors(*loop) ? kElements : 1;
    for (; loop; loop = loop->getParentLoop()) {
      unsigned count = evolution.getSmallConstantMaxTripCount(loop);
      times =
          llvm::SaturatingMultiply<uint64_t>(times, count ? count : kUnknown);
    }
    return times;
  }

  llvm::FunctionAnalysisManager &analyses;
  llvm::DenseMap<const llvm::Function *, Work> executed;
};
} // namespace

/// What makes loops over single elements as fast as O3 does but for vectors.
static llvm::ModulePassManager buildShortPipeline() {
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  return passes;
}

/// Optimises `module`. Returns how much its machine code is to be optimised:
/// not at all where the whole program executes less than a call of it does.
static Optimization optimize(llvm::Module &module, llvm::TargetMachine &machine,
                             const std::atomic<bool> *cancelled) {
  // All of O3 takes some milliseconds, as long as a thousand runs of what is
  // over in some microseconds, and finds little to do there: kernels come in
  // vectors and tiles. What busy tiles execute does not count, however long it
  // takes: O3 leaves them as they are.
  constexpr uint64_t kShort = 1 << 16;
  // Selecting and scheduling instructions and giving them registers takes
  // another two. Code that keeps nothing in registers takes up to eight times
  // as long, which is half a microsecond here.
  constexpr uint64_t kBrief = 1 << 9;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  // For -time-passes; else nothing.
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::TimePassesHandler timing(llvm::TimePassesIsEnabled);
  timing.registerCallbacks(callbacks);
  llvm::SmallPtrSet<const llvm::Function *, 8> trees;
  for (llvm::Function &function : module) {
    Calls calls = callsOf(function);
    if (calls == Calls::Tree)
      trees.insert(&function);
    if (calls != Calls::Line)
      continue;
    // Nothing is inlined there, since no pass would optimise it any more; code
    // generation selects instructions fast, and does not schedule them.
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
  // Conditionals on one value are split one by one, and each time all
  // behind them moves: quadratic.
  auto isLeftOut = [&](llvm::StringRef pass, const llvm::Any &unit) {
    const auto *function = llvm::any_cast<const llvm::Function *>(&unit);
    return function &&
           ((*function)->hasOptNone() ||
            (trees.contains(*function) &&
             (pass == "SimplifyCFGPass" || pass == "JumpThreadingPass")));
  };
  // Finds out whom indirect calls may reach. There are none, and it compares
  // all calls with one another.
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef pass, llvm::Any unit) {
        return pass != "CalledValuePropagationPass" && !isLeftOut(pass, unit) &&
               !copiesLoopNest(pass, unit) && !isSet(cancelled);
      });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(KeepLoops()));
      });
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(KeepStores());
      });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  Work work = ProgramWork(functions).executedBy(module);
  llvm::ModulePassManager passes =
      work.loose <= kShort
          ? buildShortPipeline()
          : builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  passes.run(module, modules);
  timing.print();
  return work.all <= kBrief ? Optimization::None : Optimization::Full;
}

/// Calls `write` on the module's code for `arch`, and on what makes machine
/// code of it.
static LogicalResult compile(
    ModuleOp module, StringRef arch, Optimization optimization,
    const std::atomic<bool> *cancelled,
    llvm::function_ref<LogicalResult(llvm::Module &, CodeGenerator &)> write) {
  std::optional<BorrowedGenerator> borrowed;
  borrowed.emplace(module, arch, optimization);
  if (!*borrowed)
    return failure();
  llvm::TargetMachine &machine = (*borrowed)->getMachine();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translate(module, context, machine);
  if (!ir)
    return failure();
  Optimization selection = optimization;
  if (optimization == Optimization::Full)
    selection = optimize(*ir, machine, cancelled);
  if (isSet(cancelled))
    return failure();
  if (checksThreads())
    if (std::string unknown = addThreadChecks(*ir, &machine); !unknown.empty())
      return module.emitError("ThreadSanitizer cannot be told what '")
             << unknown << "' reads and writes";
  if (selection != optimization) {
    borrowed.emplace(module, arch, selection);
    if (!*borrowed)
      return failure();
  }
  return write(*ir, **borrowed);
}

static LogicalResult refuseFile(ModuleOp module) {
  return module.emitError("this CPU's code generator cannot emit such a file");
}

LogicalResult emitObjectFile(ModuleOp module, StringRef arch,
                             llvm::raw_pwrite_stream &out,
                             Optimization optimization,
                             const std::atomic<bool> *cancelled) {
  return compile(
      module, arch, optimization, cancelled,
      [&](llvm::Module &ir, CodeGenerator &generator) -> LogicalResult {
        return succeeded(generator.emitObject(ir, out)) ? success()
                                                        : refuseFile(module);
      });
}

LogicalResult emitAssembly(ModuleOp module, StringRef arch,
                           llvm::raw_pwrite_stream &out) {
  return compile(
      module, arch, Optimization::Full, /*cancelled=*/nullptr,
      [&](llvm::Module &ir, CodeGenerator &generator) -> LogicalResult {
        llvm::legacy::PassManager passes;
        if (failed(generator.addPasses(passes, out,
                                       llvm::CodeGenFileType::AssemblyFile)))
          return refuseFile(module);
        passes.run(ir);
        return success();
      });
}

LogicalResult emitLLVMIR(ModuleOp module, StringRef arch,
                         llvm::raw_ostream &out, Optimization optimization) {
  return compile(module, arch, optimization, /*cancelled=*/nullptr,
                 [&](llvm::Module &ir, CodeGenerator &) {
                   ir.print(out, nullptr);
                   return success();
                 });
}

void registerObjectFileDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace shardc
