//===- Report.h - The report of a run ---------------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_REPORT_H
#define SHARDC_TOOLS_SHARD_RUN_REPORT_H

#include "Compare.h"
#include "Session.h"
#include "shardc/Machine/Machine.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace shardc {

/// One comparison of all outputs: with --expect's file, or the unsharded run.
struct Verdict {
  std::string with; ///< "expected" or "unsharded"
  std::vector<Comparison> outputs;

  bool allWithin() const;
};

/// Middle of the steps' times; the mean of the middle two of an even number.
double medianMs(std::vector<double> stepMs);

/// All sites together.
SiteReport totalOf(llvm::ArrayRef<SiteReport> sites);

/// What all executions of one kernel took in a traced run: of a step, the mean
/// over ranks.
struct KernelReport {
  std::string name, location;
  double count = 0, ms = 0;
  double bytes = 0, operations = 0; ///< as of KernelWork; NaN: not known

  /// The least time in ms that `machine` could take, by the memory that the
  /// kernel touches and by its arithmetic; NaN: not known.
  double memoryMs(const Machine &machine) const {
    return 1e3 * bytes / machine.memoryBandwidth;
  }
  double arithmeticMs(const Machine &machine) const {
    return 1e3 * operations / machine.flops;
  }
  /// The greater of both, of what is known of them.
  double limitMs(const Machine &machine) const;
};

/// The kernels of a traced run, the longest first; none of another run.
std::vector<KernelReport> kernelsOf(const RunResult &run);

/// Writes one JSON object (docs/Reference/shard-run.md lists its fields) and a
/// newline.
void writeReport(llvm::raw_ostream &out, const Session &session,
                 const RunResult &run, llvm::ArrayRef<Verdict> verdicts,
                 const Machine &machine);

/// Writes a page that says the same to people, in one file that needs no other.
llvm::Error writePage(llvm::StringRef path, const Session &session,
                      const RunResult &run, llvm::ArrayRef<Verdict> verdicts,
                      const Machine &machine);

/// Writes what a person wants to see: times, traffic, one line for each output
/// of a comparison.
void writeSummary(llvm::raw_ostream &out, const Session &session,
                  const RunResult &run, llvm::ArrayRef<Verdict> verdicts);

/// One line for each result: its type and its first elements.
void writeOutputValues(llvm::raw_ostream &out,
                       llvm::ArrayRef<HostArray> outputs);

/// Why `verdict` fails: the first difference of the first output that has one.
std::string describeDifference(const Verdict &verdict,
                               const ProgramMetadata &program,
                               llvm::ArrayRef<HostArray> got,
                               llvm::ArrayRef<HostArray> expected);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_REPORT_H
