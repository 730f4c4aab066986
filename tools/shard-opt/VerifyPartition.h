//===- VerifyPartition.h - The interpreter as a pass ------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_OPT_VERIFYPARTITION_H
#define SHARDC_TOOLS_SHARD_OPT_VERIFYPARTITION_H

namespace shardc {

/// Makes --spmd-verify-partition=global=FILE known: it compares the local view
/// with the program in that file, and changes nothing.
void registerVerifyPartitionPass();

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_OPT_VERIFYPARTITION_H
