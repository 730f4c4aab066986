/*===- CudaArtifact.c - The smallest artifact with a kernel
 * ------------------===
 *
 * Two ranks double 100 floats each on their device, read one of them back, and
 * sum the doubled ones.
 *
 *===----------------------------------------------------------------------===*/

#include "FakeCuda.h"
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
    "\",\"arch\": \"native;cuda:sm_100a,sm_103a\"}";

const int64_t shardc_kernel_table[] = {2, 1, 32, 0, 0, 0};
const char shardc_kernel_names[] = "twice\0double.py:7\0";

static void twice(unsigned block, unsigned thread, const int64_t *arguments) {
  unsigned i = block * 32 + thread;
  const float *in = (const float *)(intptr_t)arguments[0];
  float *out = (float *)(intptr_t)arguments[1];
  if (i < (unsigned)arguments[2])
    out[i] = 2 * in[i];
}
const struct fake_kernel shardc_device_image[] = {{"twice", twice}, {0, 0}};
const int64_t shardc_device_image_length = sizeof(shardc_device_image);

int shardc_main(shardrt_context *ctx, void *const *inputs,
                void *const *outputs) {
  const void *in = shardrt_stage_input(ctx, inputs[0], 400);
  void *out = shardrt_stage_output(ctx, outputs[0], 400);
  void *first = shardrt_stage_output(ctx, outputs[1], 4);
  int64_t arguments[] = {(intptr_t)in, (intptr_t)out, 100};
  float value;
  int status = shardrt_launch(ctx, 0, 4, 1, 1, arguments, 3);
  if (!status)
    status = shardrt_read(ctx, (const float *)out + 7, &value, 4);
  if (!status && value != 2 * ((const float *)inputs[0])[7])
    status = shardrt_fail(ctx, SHARDRT_REFUSED, "read back another value");
  if (!status)
    status = shardrt_all_reduce(ctx, 0, out, first, 1);
  return shardrt_stage_results(ctx, status);
}
