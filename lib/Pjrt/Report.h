//===- Report.h - What programs communicated, and why -----------*- C++ -*-===//
//
// With SHARDC_REPORT=FILE the plugin notes of every program that ran how often,
// what it moved between devices, for whom, and how long that took, and writes a
// page when the last of them and the client have gone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_REPORT_H
#define SHARDC_PJRT_REPORT_H

#include "shardc-c/shardc.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace shardc::pjrt {

class Report {
public:
  /// A site's figures over all runs. Bytes are summed over devices; times are
  /// the mean of them, in milliseconds.
  struct Site {
    std::string kind, axes, location, reason;
    int64_t count = 0, bytes = 0;
    double ms = 0, waitMs = 0;
  };
  struct Entry {
    std::string name;
    int64_t devices = 0, runs = 0;
    std::vector<Site> sites;
    int64_t bytes() const;
  };

  explicit Report(std::string path) : path(std::move(path)) {}
  /// Writes the file; says on stderr where it cannot.
  ~Report();
  /// Takes what `program` did. It ran `runs` times and runs no more.
  void add(const shardc_program *program, int64_t runs);

  /// The page. Programs that moved most come first.
  static std::string page(std::vector<Entry> programs);

private:
  std::string path;
  std::mutex mutex;
  std::vector<Entry> programs;
};

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_REPORT_H
