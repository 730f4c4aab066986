/*===- MpiShim.h - What the runtime needs of an MPI library -------*- C -*-===*\
|*
|* MPI libraries differ in what their handles are, so that one binary cannot
call
|* several. This much of MPI is compiled once for each that is found when the
|* project is built (lib/shardrt_mpi_openmpi.so, lib/shardrt_mpi_mpich.so), and
|* opened when a program asks for it. All functions return 0, or an error whose
|* text shardrt_mpi_text gives. No two threads call them at the same time.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_COMM_WIRE_MPISHIM_H
#define SHARDRT_COMM_WIRE_MPISHIM_H

#ifdef __cplusplus
extern "C" {
#endif

/** Starts MPI, once a process, with a communicator of its own. */
typedef int (*shardrt_mpi_begin_fn)(int *rank, int *size);
int shardrt_mpi_begin(int *rank, int *size);
/** Ends it. */
typedef int (*shardrt_mpi_end_fn)(void);
int shardrt_mpi_end(void);
/** Begins to send, or to receive, `bytes` bytes. `request` is for test. */
typedef int (*shardrt_mpi_send_fn)(const void *data, int bytes, int peer,
                                   int tag, void **request);
int shardrt_mpi_send(const void *data, int bytes, int peer, int tag,
                     void **request);
typedef int (*shardrt_mpi_receive_fn)(void *data, int bytes, int peer, int tag,
                                      void **request);
int shardrt_mpi_receive(void *data, int bytes, int peer, int tag,
                        void **request);
/** Whether it is done; then `request` is gone. */
typedef int (*shardrt_mpi_test_fn)(void **request, int *done);
int shardrt_mpi_test(void **request, int *done);
/** Whether a message with `tag` has come, and of whom. */
typedef int (*shardrt_mpi_probe_fn)(int tag, int *found, int *peer);
int shardrt_mpi_probe(int tag, int *found, int *peer);
/** What an error says; what the library calls itself for error 0. */
typedef void (*shardrt_mpi_text_fn)(int error, char *text, int size);
void shardrt_mpi_text(int error, char *text, int size);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_COMM_WIRE_MPISHIM_H */
