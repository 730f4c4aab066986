//===- Executables.h - Compiled programs ------------------------*- C++ -*-===//
//
// What callers know as an executable, and as one that is loaded on devices,
// share a Program: shardc's, and the answers to what is asked of it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_EXECUTABLES_H
#define SHARDC_PJRT_EXECUTABLES_H

#include "Objects.h"
#include "Wire.h"

namespace shardc::pjrt {

/// A list of texts, as callers read them.
struct Texts {
  std::vector<std::string> owned;
  std::vector<const char *> data;
  std::vector<size_t> sizes;
  void add(std::string text);
  /// To be called when all are there.
  void point();
};

struct Program {
  Client *client;
  shardc_program *handle;
  CompileOptions options;
  std::string optionBytes, fingerprint;
  std::vector<Device *> devices; ///< of each rank; empty: the caller says
  // Of ranks of this process.
  std::vector<size_t> ranksHere;
  std::vector<Device *> here;
  std::vector<LogicalDeviceIds> logicalIds;
  std::vector<uint8_t> donated; ///< of each argument
  /// Of results: of one rank.
  std::vector<Buffer_Type> resultTypes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<int32_t> resultMemories; ///< kinds
  std::vector<Layouts_MemoryLayout *> argumentLayouts, resultLayouts;
  // As buffers have them: null for row-major.
  std::vector<Layouts_MemoryLayout *> argumentOrders, resultOrders;
  Texts argumentMemoryKinds, resultMemoryKinds;
  Texts argumentShardings, resultShardings;
  std::string optimized;
  NamedValues costs;
  shardc_program_costs cost;

  std::atomic<int64_t> runs = 0;
  std::shared_ptr<Report> report; ///< the client's

  ~Program() {
    if (report)
      report->add(handle, runs);
    shardc_program_destroy(handle);
  }
  size_t numRanks() const { return size_t(shardc_program_num_ranks(handle)); }
  size_t numArguments() const { return donated.size(); }
  size_t numResults() const { return resultTypes.size(); }
};

struct Executable {
  std::shared_ptr<Program> program;
};

struct LoadedExecutable {
  std::shared_ptr<Program> program;
  std::atomic<bool> deleted = false;

  explicit LoadedExecutable(std::shared_ptr<Program> program)
      : program(std::move(program)) {}
};

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_EXECUTABLES_H
