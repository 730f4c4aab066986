//===- Secret.h - How processes come by their job's secret ------*- C++ -*-===//
//
// | where | from |
// |---|---|
// | a file of mode 0600 | SHARDRT_SECRET_FILE, for any launcher and any hosts |
// | the environment | SHARDRT_SECRET, 64 hexadecimal digits; --processes sets
// it | | one host, neither | rank 0 makes it and shares it through a file of
// its own |
//
// Over several hosts one of the first two is needed. A job's number, its token
// and its port are no secrets: others can read or guess them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_SECRET_H
#define SHARDRT_COMM_BOOTSTRAP_SECRET_H

#include "Comm/Bootstrap/Launch.h"

namespace shardrt {

/// Finds out where `launch` has its secret from, whether it can do without
/// (SHARDRT_INSECURE=1), and whether messages are encrypted
/// (SHARDRT_ENCRYPT=1); an empty string, or what is missing and what to set.
std::string readSecret(const Variables &variables, Launch &launch);

/// Rank 0: writes `secret` to launch.secretFile, in place of what a job of the
/// same name left there. To be called when this process listens at the job's
/// port: then no other job of this name lives. An empty string, or why not.
std::string shareSecret(const Launch &launch,
                        const shardc::crypto::Key &secret);

/// Takes launch.secretFile away, if it holds `secret`.
void removeSecret(const Launch &launch, const shardc::crypto::Key &secret);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_SECRET_H
