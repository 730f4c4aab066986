/*===- Artifact.c - The smallest artifact, as a shared object
 * ----------------===
 *
 * What the compiler's translation emits, written by hand: two ranks along "x"
 * sum one f32 each.
 *
 *===----------------------------------------------------------------------===*/

#include "shardrt/shardrt.h"

const char shardc_strings[] = "x\0all_reduce\0sum.py:3:1";
const int64_t shardc_strings_length = sizeof(shardc_strings);

const int64_t shardc_sites[] = {
    0x5345544953445253,
    7,
    21, /* magic, version, words */
    1,
    1, /* mesh axes, sites */
    2,
    0,
    8, /* size and name of "x"; where site 0 starts */
    2,
    2,
    16,
    1, /* all_reduce, its name, f32, sum */
    -1,
    13,
    0,
    0, /* no name, location, not in place, released at once */
    1,
    0,
    0,
    0, /* one group axis, no dims: axis 0 */
    0, /* a word that nobody reads */
};
const int64_t shardc_sites_length = sizeof(shardc_sites) / sizeof(int64_t);

const char shardc_metadata[] =
    "{\"version\":1,\"interface\":\"" SHARDC_INTERFACE "\"}";

int shardc_main(shardrt_context *ctx, void *const *inputs,
                void *const *outputs) {
  return shardrt_all_reduce(ctx, 0, inputs[0], outputs[0], 1);
}
