//===- CommunicationReport.h - What moves, and for whom ---------*- C++ -*-===//
#ifndef SHARDC_ANALYSIS_COMMUNICATIONREPORT_H
#define SHARDC_ANALYSIS_COMMUNICATIONREPORT_H

#include "mlir/IR/Operation.h"
#include "shardc/Dialect/Local/IR/LocalForward.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace shardc {

/// One communication op of the local view.
struct CommunicationSite {
  mlir::Operation *op = nullptr;
  std::string kind; ///< The op's name: "halo_exchange", "all_reduce", ...
  std::string mesh;
  std::vector<std::string> axes; ///< That its group spans.
  std::vector<int64_t> dims;     ///< That move; none for an all_reduce.
  std::optional<int64_t> bytes;  ///< See getBytesMoved.
  int64_t loopDepth = 0;         ///< Loops around it: it runs more than once.
  std::string location;          ///< See userLocation.
  std::string reason;            ///< Which rule or annotation asked, or empty.
};

/// Returns the bytes that leave a rank when `op` runs once, summed over all
/// ranks of the mesh; nullopt where a local size is not in the IR; INT64_MAX
/// where they are more. With k ranks in a group, each with n elements:
///
/// | op             | elements                                      |
/// |----------------|-----------------------------------------------|
/// | exchange       | its transfers between ranks, exactly          |
/// | all_reduce     | 2 (k - 1) n a group: a reduce-scatter and an  |
/// |                | all-gather, each in a ring                    |
/// | reduce_scatter | (k - 1) n a group                             |
///
/// An element of less than a byte counts as one.
std::optional<int64_t> getBytesMoved(spmd::CommunicationOpInterface op);

/// Returns the communication ops under `root`, in program order.
std::vector<CommunicationSite> reportCommunication(mlir::Operation *root);

/// {"kind", "mesh", "axes", "dims", "bytes" (null: not known), "loop_depth",
/// "location", "reason"}
llvm::json::Value toJSON(const CommunicationSite &site);

} // namespace shardc

#endif // SHARDC_ANALYSIS_COMMUNICATIONREPORT_H
