/*===- shardrt/Jobs.h - What the ranks of a job have in common --*- C -*-===//
//
// More about jobs (shardrt.h). shardrt_job_join also reads
//
//   SHARDRT_SECRET_FILE, SHARDRT_SECRET   by which ranks know one another: 64
//                       hexadecimal digits from a good source of random
numbers;
//                       needed where ranks are on several hosts. On one, rank 0
//                       makes it and shares it through a file of its user
//   SHARDRT_INSECURE=1  over several hosts, do without: whoever reaches the
port
//                       may be any rank
//   SHARDRT_ENCRYPT=1   encrypt what ranks send over sockets, not only
//                       authenticate it; all ranks alike
//
// A name of shardrt_job_put can have an owner, `program@0`: only that rank may
// put it, so the others know whose word it is.
//
//===--------------------------------------------------------------------===*/
#ifndef SHARDRT_JOBS_H
#define SHARDRT_JOBS_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** 1 where its processes do without a secret. */
SHARDRT_EXPORT int shardrt_job_is_insecure(const shardrt_job *job);

/** Of a job with `local_ranks`, once no run is under way: tells the others that
 * this process takes part in no run any more. Its worlds refuse to. */
SHARDRT_EXPORT void shardrt_job_say_goodbye(shardrt_job *job);

/** Called by all processes with a short text each: SHARDRT_OK where those that
 * are not empty are that of rank 0 (which is not), else SHARDRT_ARTIFACT on all
 * of them, and `error` names a rank that differs. Each name once. */
SHARDRT_EXPORT int shardrt_job_agree(shardrt_job *job, const char *name,
                                     const char *value, char *error,
                                     size_t error_size);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_JOBS_H */
