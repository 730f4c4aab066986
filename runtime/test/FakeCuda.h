/*===- FakeCuda.h - What a module is for the stand-in driver -------*- C
 * -*-===*/
#ifndef SHARDRT_TEST_FAKECUDA_H
#define SHARDRT_TEST_FAKECUDA_H

#include <stdint.h>

/** A kernel; an image is an array of these that ends with a name of NULL. */
struct fake_kernel {
  const char *name;
  void (*run)(unsigned block, unsigned thread, const int64_t *arguments);
};

#endif
