/*===- LibraryArtifact.c - The smallest artifact that calls a library
 * ----------===
 *
 * Two ranks multiply 4x8 by 8x4 floats on their devices, by the library that
 * is there; where none does it, results are -1. The first element of the left
 * factor says when it is asked for (shardrt_library_call_wish).
 *
 *===----------------------------------------------------------------------===*/

#include "FakeCuda.h"
#include "shardrt/LibraryCall.h"
#include "shardrt/shardrt.h"

const char shardc_strings[] = "x\0all_reduce\0sum.py:3:1";
const int64_t shardc_strings_length = sizeof(shardc_strings);
const int64_t shardc_sites[] = {
    0x5345544953445253,
    7,
    21,
    1,
    1,
    2,
    0,
    8,
    2,
    2,
    16,
    1,
    -1,
    13,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
};
const int64_t shardc_sites_length = sizeof(shardc_sites) / sizeof(int64_t);
const char shardc_metadata[] =
    "{\"version\":1,\"interface\":\"" SHARDC_INTERFACE
    "\",\"arch\": \"native;cuda:sm_80\"}";

const int64_t shardc_kernel_table[] = {2, 1, 32, 0, 0, 0};
const char shardc_kernel_names[] = "none\0model.py:7\0";

static void none(unsigned block, unsigned thread, const int64_t *arguments) {
  if (block == 0 && thread < 16)
    ((float *)(intptr_t)arguments[0])[thread] = -1;
}
const struct fake_kernel shardc_device_image[] = {{"none", none}, {0, 0}};
const int64_t shardc_device_image_length = sizeof(shardc_device_image);

static void operand(int64_t *words, const void *address, int64_t rows,
                    int64_t columns) {
  int64_t described[] = {
      (intptr_t)address, 16,      3, 1, rows, columns, 1, 1, 1,
      rows * columns,    columns, 1, 1, 1,    1,       0};
  for (int i = 0; i < SHARDRT_CALL_PER_OPERAND; ++i)
    words[i] = described[i];
}

int shardc_main(shardrt_context *ctx, void *const *inputs,
                void *const *outputs) {
  const void *left = shardrt_stage_input(ctx, inputs[0], 4 * 8 * 4);
  const void *right = shardrt_stage_input(ctx, inputs[1], 4 * 8 * 4);
  void *out = shardrt_stage_output(ctx, outputs[0], 4 * 16);
  int64_t words[SHARDRT_CALL_HEAD + 3 * SHARDRT_CALL_PER_OPERAND] = {
      (int64_t)((const float *)inputs[0])[0], SHARDRT_CALL_PRODUCT, 0, 3};
  operand(words + SHARDRT_CALL_HEAD, left, 4, 8);
  operand(words + SHARDRT_CALL_HEAD + SHARDRT_CALL_PER_OPERAND, right, 8, 4);
  operand(words + SHARDRT_CALL_HEAD + 2 * SHARDRT_CALL_PER_OPERAND, out, 4, 4);
  int status = shardrt_call_library(ctx, words, "model.py:7");
  if (!status && !words[SHARDRT_CALL_DONE]) {
    int64_t arguments[] = {(intptr_t)out};
    status = shardrt_launch(ctx, 0, 1, 1, 1, arguments, 1);
  }
  return shardrt_stage_results(ctx, status);
}
