/*===- MpiShim.c - What the runtime needs of an MPI library ---------------===*/

#include "MpiShim.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm comm = MPI_COMM_NULL;

int shardrt_mpi_begin(int *rank, int *size) {
  int error = MPI_SUCCESS;
  if (comm == MPI_COMM_NULL) {
    int started = 0, given;
    MPI_Initialized(&started);
    if (!started)
      error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    if (error == MPI_SUCCESS)
      error = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (error != MPI_SUCCESS)
      return error;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm_rank(comm, rank);
  MPI_Comm_size(comm, size);
  return 0;
}

int shardrt_mpi_end(void) {
  if (comm == MPI_COMM_NULL)
    return 0;
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}

int shardrt_mpi_send(const void *data, int bytes, int peer, int tag,
                     void **request) {
  MPI_Request *made = malloc(sizeof(*made));
  if (!made)
    return MPI_ERR_NO_MEM;
  *request = made;
  return MPI_Isend(data, bytes, MPI_BYTE, peer, tag, comm, made);
}

int shardrt_mpi_receive(void *data, int bytes, int peer, int tag,
                        void **request) {
  MPI_Request *made = malloc(sizeof(*made));
  if (!made)
    return MPI_ERR_NO_MEM;
  *request = made;
  return MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, comm, made);
}

int shardrt_mpi_test(void **request, int *done) {
  int error = MPI_Test(*request, done, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS || *done) {
    free(*request);
    *request = NULL;
  }
  return error;
}

int shardrt_mpi_probe(int tag, int *found, int *peer) {
  MPI_Status status;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, found, &status);
  if (error == MPI_SUCCESS && *found)
    *peer = status.MPI_SOURCE;
  return error;
}

void shardrt_mpi_text(int error, char *text, int size) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING + MPI_MAX_ERROR_STRING];
  int length = 0;
  if (error == 0)
    MPI_Get_library_version(whole, &length);
  else
    MPI_Error_string(error, whole, &length);
  whole[length] = 0;
  strncpy(text, whole, size - 1);
  text[size - 1] = 0;
}
