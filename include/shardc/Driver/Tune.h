//===- Tune.h - Tiles of kernels by measurement -----------------*- C++ -*-===//
//
// Tries other tiles than those that estimates choose, and keeps those that are
// faster beyond the noise. All kernels of a program try one of theirs at a
// time, so that the number of programs is that of the longest list. How
// programs are made and timed is somebody else's business: ranks are of a tool
// or a test.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_TUNE_H
#define SHARDC_DRIVER_TUNE_H

#include "shardc/Pipelines/Compile.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shardc {

/// Kernels as a trace tells them apart: name and source line.
using KernelName = std::pair<std::string, std::string>;
/// What each takes in a step, in ms.
using KernelTimes = std::map<KernelName, double>;

/// A program with the tiles of its kernels.
class TuneProgram {
public:
  virtual ~TuneProgram();
  std::vector<TiledKernel> kernels;
};

/// Times of two programs that ran in turns.
struct TuneRounds {
  std::vector<KernelTimes> first, second; ///< as many
  bool isSame = true;                     ///< results have the same bits
};

class TuneSubject {
public:
  virtual ~TuneSubject();
  /// The program, its kernels cut as `tiles` say, with other tiles listed.
  virtual llvm::Expected<std::unique_ptr<TuneProgram>>
  compile(const TileTable &tiles) = 0;
  /// Runs both in turns.
  virtual llvm::Expected<TuneRounds>
  compare(TuneProgram &first, TuneProgram &second, int rounds) = 0;
  /// A point in time, in seconds.
  virtual double now() = 0;
};

struct TuneLimits {
  double seconds = 60;
  double gain = 0.03;       ///< what is less is noise
  double leastShare = 0.02; ///< of all kernels; shorter ones are left alone
  /// Whether a kernel is as fast as the machine is. May be null.
  std::function<bool(const KernelName &)> isAtLimit;
};

/// What came of a kernel.
struct TunedKernel {
  KernelName name;
  double before = 0, after = 0; ///< ms of a step
  int tried = 0;
  struct Choice {
    std::string digest;
    Tile was, now;
  };
  std::vector<Choice> kept;
};

struct TuneReport {
  std::vector<TunedKernel> kernels; ///< that were tried, the longest first
  TileTable found;                  ///< what is faster, by the last comparison
  /// Digests whose tile was known, and is no faster than the estimate's.
  std::vector<std::string> dropped;
  double share = 0; ///< of all kernels' time, that of `kernels`
  int programs = 0; ///< compiled
  int other = 0;    ///< of these, with other bits: not kept
  bool isCutShort = false;
  double seconds = 0;
};

/// Tunes the kernels of a program, beginning with `known`.
llvm::Expected<TuneReport> tune(TuneSubject &subject, const TileTable &known,
                                const TuneLimits &limits);

} // namespace shardc

#endif // SHARDC_DRIVER_TUNE_H
