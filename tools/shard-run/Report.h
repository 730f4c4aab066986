//===- Report.h - The report of a run ---------------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_REPORT_H
#define SHARDC_TOOLS_SHARD_RUN_REPORT_H

#include "Compare.h"
#include "Session.h"
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

/// Writes one JSON object (docs/Reference/shard-run.md lists its fields) and a
/// newline.
void writeReport(llvm::raw_ostream &out, const Session &session,
                 const RunResult &run, llvm::ArrayRef<Verdict> verdicts);

/// Writes a page that says the same to people, in one file that needs no other.
llvm::Error writePage(llvm::StringRef path, const Session &session,
                      const RunResult &run, llvm::ArrayRef<Verdict> verdicts);

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
