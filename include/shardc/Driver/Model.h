//===- Model.h - From a model's text to a program ---------------*- C++ -*-===//
//
// What tools and the engine both do with a model in memory. What the compiler
// says goes to a sink; errors then carry a code and no message.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_MODEL_H
#define SHARDC_DRIVER_MODEL_H

#include "shardc/Driver/Errors.h"
#include "shardc/Driver/PartitionedCalls.h"
#include "shardc/Interpreter/Interpreter.h"
#include "shardc/Pipelines/Compile.h"
#include "shardc/Translation/DeviceImage.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class Diagnostic;
} // namespace mlir

namespace shardc {

/// Checks "x=2,y=2": names with a size of at least 1, none twice. Sizes that
/// are left open, "x=?" or "x=2?", are those of StageOptions. Usage error.
llvm::Error checkMeshOption(llvm::StringRef mesh, bool mayBeOpen = false);
/// Checks "ARG:DIM=300,200,0": two numbers and sizes of at least 0, the last of
/// which may be the word "zigzag"; or "AXIS=3,1". Usage error.
llvm::Error checkSizesOption(llvm::StringRef sizes);

/// Contexts that many small models are compiled in, one at a time each: making
/// one takes longer than some of them do. They run on the calling thread. Safe
/// for several threads.
class ContextPool {
public:
  ContextPool();
  ~ContextPool();
  std::unique_ptr<mlir::MLIRContext> take();
  void give(std::unique_ptr<mlir::MLIRContext> context);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Options of the compiler that tools offer under the same names.
struct ModelOptions {
  StageOptions stages;
  /// Ranks asked for; of a mesh of one axis it becomes that axis' size.
  std::optional<int64_t> ranks;
  /// Of a program without a mesh, each of `ranks` computes the whole. Else it
  /// is refused where they are more than one.
  bool replicates = false;
  /// Interpret the local view on all ranks, and compare with the model's text.
  bool verifyPartition = false;
  /// The model's text, where it is not all that its file holds.
  std::optional<std::string> text;
  /// Tokens that @main takes and returns become arrays of no elements, so that
  /// it has as many arguments and results as its author knows of. Else they
  /// are dropped.
  bool keepsTokens = false;
  /// Arguments and results are in memory as their `mhlo.layout_mode` says. Else
  /// they are row-major, whatever it says.
  bool keepsLayouts = false;
  /// The text was written by this process, or by one that it trusts: it is read
  /// here. Else another process looks at it first.
  bool isOwn = false;
  /// Products are cut as the cache says that was measured: takeTiles of Cache.h
  /// makes `stages.tiles` of it.
  bool isTuned = false;
  /// Contexts to compile in; null: one is made, with what `registerMore` adds.
  ContextPool *contexts = nullptr;
  void (*registerMore)(mlir::DialectRegistry &) = nullptr;
  /// Diagnostics show no lines of files: the text names files of somebody else.
  bool isForeign = false;
};

/// Where diagnostics go.
class DiagnosticSink {
public:
  virtual ~DiagnosticSink();
  /// Before anything is said in `context`.
  virtual void begin(mlir::MLIRContext &context) {}
  /// Before the context goes.
  virtual void end() {}
  virtual void take(mlir::Diagnostic &diagnostic) = 0;
};

/// Compiles the model `options.text`, which diagnostics call `name`. Errors: 1;
/// 77 where the first diagnostic says that something is unsupported, 9 where
/// memory could not be had; with a message 2 for a mesh that does not fit
/// `options.ranks`.
llvm::Expected<CompiledProgram>
compileModel(llvm::StringRef name, ModelOptions options, DiagnosticSink &sink);

/// Whether a model may have calls that their author cuts.
bool mayHavePartitionedCalls(llvm::StringRef text);
/// The model `options.text`, as text, with what `partition` says in the place
/// of each of these calls. Errors as compileModel's, or what `partition` says
/// is wrong.
llvm::Expected<std::string> partitionCalls(llvm::StringRef name,
                                           ModelOptions options,
                                           DiagnosticSink &sink,
                                           const PartitionFunction &partition);

/// How many models this process has compiled so, refused ones among them.
int64_t numCompiledModels();

/// Compiles it as far as LLVM IR and writes that as text, optimised.
llvm::Error emitModelIR(llvm::StringRef name, ModelOptions options,
                        DiagnosticSink &sink, llvm::raw_ostream &out);

/// Compiles it as far as the local view and writes that as StableHLO.
llvm::Error emitLocalText(llvm::StringRef name, ModelOptions options,
                          DiagnosticSink &sink, llvm::raw_ostream &out);

/// Compiles it for CUDA and makes an image of its kernels.
llvm::Expected<DeviceImage> compileDeviceImage(llvm::StringRef name,
                                               ModelOptions options,
                                               DiagnosticSink &sink,
                                               DeviceImageKind kind);

/// What the interpreter makes of a model.
struct InterpretedModel {
  std::vector<interpreter::Array> results;
  std::vector<std::string> elementTypes; ///< of these, as MLIR spells them
  int64_t checksHeld = 0;
  std::vector<std::string> failedChecks; ///< "file:line: what does not hold"
};

/// Interprets it as its text says, on what `argumentsFor` gives for the types
/// of its arguments. Errors: 77 for what the interpreter does not know.
llvm::Expected<InterpretedModel> interpretModel(
    llvm::StringRef name, ModelOptions options, DiagnosticSink &sink,
    llvm::function_ref<llvm::Expected<std::vector<interpreter::Array>>(
        llvm::ArrayRef<mlir::RankedTensorType>)>
        argumentsFor);

/// What the interpreter may take to verify a partition: elements computed.
constexpr int64_t kVerifiedWork = 20'000'000;

/// "<["x"=4, "y"=2]>".
std::string printMesh(llvm::ArrayRef<MeshAxis> mesh);

} // namespace shardc

#endif // SHARDC_DRIVER_MODEL_H
