/*===- Symbols.h - Programs by what they export -------------------*- C -*-===*\
|*
|* For a process that links programs in its memory and knows where their
|* symbols are.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_SYMBOLS_H
#define SHARDRT_SYMBOLS_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The address of a symbol that an artifact exports, or NULL. */
typedef void *(*shardrt_find_fn)(void *user, const char *symbol);
/** shardrt_program_create of all that an artifact exports, kernels for devices
 * too. `find` is called during the call alone; what it finds must stay as long
 * as the program and its worlds. */
SHARDRT_EXPORT int shardrt_program_create_from(shardrt_find_fn find, void *user,
                                               shardrt_program **program,
                                               char *error, size_t error_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHARDRT_SYMBOLS_H */
