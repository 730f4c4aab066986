//===- Mpi.h - Messages of an MPI library -----------------------*- C++ -*-===//
#ifndef SHARDRT_COMM_WIRE_MPI_H
#define SHARDRT_COMM_WIRE_MPI_H

#include "Comm/Bootstrap/Job.h"
#include "Comm/Wire/Carrier.h"

namespace shardrt {

/// Opens the MPI library that started this process, if `job` has not yet, and
/// carries messages of `world` over it. NULL with a status and a reason.
std::unique_ptr<Carrier> connectMpi(Job &job, const std::string &world,
                                    int &status, std::string &error);

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_MPI_H
