/* Prints the runtime's version. */
#include <shardrt/shardrt.h>
#include <stdio.h>

int main(void) {
  puts(shardrt_version());
  return 0;
}
