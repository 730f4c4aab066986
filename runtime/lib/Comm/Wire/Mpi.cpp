//===- Mpi.cpp - Messages of an MPI library -------------------------------===//

#include "Comm/Wire/Mpi.h"
#include "shardrt/shardrt.h"

using namespace shardrt;

std::unique_ptr<Carrier> shardrt::connectMpi(Job &, int &status,
                                             std::string &error) {
  status = SHARDRT_UNSUPPORTED;
  error = "messages over MPI are not part of this version";
  return nullptr;
}
