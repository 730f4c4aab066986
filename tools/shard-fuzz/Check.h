//===- Check.h - Sharded against unsharded ----------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_CHECK_H
#define SHARDC_TOOLS_SHARD_FUZZ_CHECK_H

#include "Program.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace shardc::fuzz {

/// What became of one program. All but Passed are failures.
enum class Verdict : int {
  Pending,
  Running,
  Passed,
  Differs,   ///< another result than on one rank
  Disagrees, ///< ranks with the same shard hold different bits
  Refused,   ///< the compiler says no
  Failed,    ///< the run ended with an error
  Crashed,   ///< a signal
  Hung,      ///< no end within the limit
  Misread,   ///< another result than the interpreter's
  Varies,    ///< other bytes in another run
  Races      ///< ThreadSanitizer has reported a race
};
const char *nameOf(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::Pending;
  std::string message;
  double tolerance = 0; ///< what the first result that differs was allowed
};

/// Which programs the interpreter runs as well: none, those with manual regions
/// and every fourth of the others, or all.
enum class Interpreted { None, Share, All };
void interpretPrograms(Interpreted which);

/// From now on programs are compiled to their local view, which is verified
/// (interpreter::verifyLocal), and none is run.
void verifyPartitions();

/// What Outcome::message of a program that passed begins with where the
/// interpreter did not know it.
extern const char *const kNotInterpreted;
/// The same where a fault was planted, and the local view is right all the
/// same.
extern const char *const kMadeMistake;

/// Compiles `program` for its mesh and for one rank, runs both on the same
/// arguments and compares all results: the same bits where the analysis says
/// so (zeros of either sign are equal), else within its bound. `fault` names a
/// mistake that is planted in the sharded program (Faults.h); empty: none.
/// `planted` is set if it found a place there. In this process: what crashes
/// the compiler or the program crashes the caller. `optimized`: LLVM's passes
/// run as for users; without them a program takes half the time.
Outcome check(mlir::MLIRContext &context, const Program &program,
              bool optimized = true, llvm::StringRef fault = {},
              bool *planted = nullptr);

/// From now on programs are compiled to give the same bits on every mesh
/// (--reproducible), and `check` compares bytes: on the program's mesh, with
/// three threads a rank, and on a mesh of other sizes where the program has
/// none of its own. What is refused by name passes, with kRefusedByName and the
/// op as its message.
void compareBits();
inline constexpr llvm::StringLiteral kRefusedByName = "refused by name: ";

/// From now on the sizes of all shards are left open, and `check` binds each
/// program `times` times to random ones, some of them empty, and compares with
/// one rank. What cannot be left open passes, as with compareBits.
void bindSizes(int64_t times);
/// And an extent of each program that has one which can be a symbol
/// (Symbols.h): it is compiled once for all extents, and each binding is
/// compared with the program for its extent on one rank. Of one that passed the
/// message is kWithSymbol.
void bindSymbols();
inline constexpr llvm::StringLiteral kWithSymbol = "with a symbol";

/// From now on `check` runs each program `times` times more on its ranks, which
/// give their cores away at random places, in memory that holds other bytes
/// than before: all runs are to give the same bits.
void varySchedules(int64_t times);

/// From now on ranks of sharded programs have `threads` threads, which share
/// loops however small they are, and run `steps` steps on the same arguments.
void setThreads(int64_t threads);
void setSteps(int64_t steps);
/// What programs are compiled for (--machine of shard-run); empty: the default.
void setMachine(llvm::StringRef machine);

/// The same in a child process, with a time limit.
Outcome checkInChild(const Program &program, int seconds, bool optimized = true,
                     llvm::StringRef fault = {});

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_CHECK_H
