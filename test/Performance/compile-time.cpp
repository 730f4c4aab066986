//===- compile-time.cpp - How long programs take to compile ---------------===//
//
// compile-time [--repeat=N] [--mesh=X] [--rank-threads=N] [--shapes=X]
//              [--dynamic=X] [--passes=MS] [--warm] FILE...
//
// Compiles each file N times in this process and prints a line of JSON for it:
// milliseconds of processor time of the first compilation and of the median of
// the others, and bytes of the object file. compile_time.py makes a table of
// it. With -time-passes also what LLVM's passes took, on stderr; with
// --passes=MS what those of MLIR took that took as long in one compilation (of
// --mlir-timing that is the wall, which other processes make longer). With
// --warm a product of two numbers is compiled before the first file, as
// compile_time.py's JAX does: what a process pays once is in no figure.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Pipelines/Compile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/PassTimingInfo.h"
#include "llvm/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>
#include <time.h>

using namespace llvm;
using namespace shardc;

static cl::list<std::string> inputs(cl::Positional, cl::desc("FILE..."));
static cl::opt<unsigned> repeat("repeat", cl::desc("Times each is compiled"),
                                cl::init(5));
static cl::opt<std::string> mesh("mesh", cl::desc("Axes given another size"));
static cl::opt<std::string> shapes("shapes",
                                   cl::desc("Shapes of arguments: 0=8x6;1=4"));
static cl::opt<std::string> dynamic("dynamic",
                                    cl::desc("Dims left open, or all"));
static cl::opt<int64_t> threads("rank-threads", cl::desc("Threads of a rank"),
                                cl::init(1));

static cl::opt<bool> warm("warm",
                          cl::desc("Compile a small program first, unseen"));

static cl::opt<double> passes("passes",
                              cl::desc("Milliseconds from which passes of MLIR "
                                       "are listed, for each compilation"),
                              cl::init(0));

/// Milliseconds of processor time that this process took so far.
static double processorMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

namespace {
/// Adds up the processor time of each pass, those with the same name together.
class TimePasses final : public mlir::PassInstrumentation {
public:
  explicit TimePasses(StringMap<double> &times) : times(times) {}
  void runBeforePass(mlir::Pass *, mlir::Operation *) override {
    begun.push_back(processorMs());
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override {
    double took = processorMs() - begun.pop_back_val();
    // Those that nest others are none themselves.
    if (!pass->getArgument().empty())
      times[pass->getArgument()] += took;
  }
  void runAfterPassFailed(mlir::Pass *, mlir::Operation *) override {
    begun.pop_back();
  }

private:
  StringMap<double> &times;
  SmallVector<double> begun;
};
} // namespace

static void printTimes(const StringMap<double> &times) {
  SmallVector<std::pair<double, StringRef>> rows;
  double sum = 0;
  for (const auto &entry : times) {
    sum += entry.second;
    if (entry.second >= passes)
      rows.emplace_back(entry.second, entry.first());
  }
  llvm::sort(rows, std::greater<>());
  for (auto [took, name] : rows)
    errs() << format("%8.1f  ", took) << name << "\n";
  errs() << format("%8.1f  all passes\n", sum);
}

static constexpr StringLiteral kSmallProgram = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.multiply %x, %x : tensor<f32>
  return %y : tensor<f32>
})";

/// Compiles a small program, of which nobody wants to know.
static void compileSmallProgram(mlir::MLIRContext &context) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(kSmallProgram, &context);
  if (!module || failed(compileProgram(*module, StageOptions())))
    report_fatal_error("the small program does not compile");
}

/// Compiles `path` in `context` and returns the object file's bytes; 0 where it
/// is refused.
static size_t compileOnce(mlir::MLIRContext &context, StringRef path) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModel(context, path);
  if (!module)
    return 0;
  StageOptions options;
  options.mesh = mesh;
  options.shapes = shapes;
  options.dynamic = dynamic;
  options.threads = threads;
  StringMap<double> times;
  if (passes > 0)
    options.instrument = [&](mlir::PassManager &pm) {
      pm.addInstrumentation(std::make_unique<TimePasses>(times));
    };
  mlir::FailureOr<CompiledProgram> program = compileProgram(*module, options);
  if (passes > 0)
    printTimes(times);
  return failed(program) ? 0 : program->object.size();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "how long programs take to compile");
  bool failed = false;
  std::unique_ptr<mlir::MLIRContext> kept;
  if (warm) {
    kept = createCompilerContext();
    kept->disableMultithreading();
    compileSmallProgram(*kept);
  }
  for (const std::string &path : inputs) {
    std::vector<double> times;
    size_t bytes = 0;
    // One for all times, as a caller with many programs has it.
    std::unique_ptr<mlir::MLIRContext> context = std::move(kept);
    for (unsigned i = 0; i < repeat; ++i) {
      double start = processorMs();
      if (!context) {
        context = createCompilerContext();
        context->disableMultithreading();
      }
      bytes = compileOnce(*context, path);
      times.push_back(processorMs() - start);
    }
    double first = times.front();
    if (times.size() > 1)
      times.erase(times.begin());
    llvm::sort(times);
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    outs() << json::Value(json::Object{{"file", path},
                                       {"first", first},
                                       {"median", times[times.size() / 2]},
                                       {"least", times.front()},
                                       {"object", int64_t(bytes)},
                                       {"peak", usage.ru_maxrss}})
           << "\n";
    outs().flush();
    failed |= bytes == 0;
  }
  if (TimePassesIsEnabled)
    reportAndResetTimings(&errs());
  return failed;
}
