/* Compiles a program that is cut over two devices, runs it once, and prints what
 * each device has of the result. */
#include <shardc-c/shardc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char model[] =
    "module @center {\n"
    "  sdy.mesh @mesh = <[\"x\"=2]>\n"
    "  func.func @main(%x: tensor<6xf32> {sdy.sharding = "
    "#sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<6xf32> {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across "
    "dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>\n"
    "    %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> "
    "tensor<6xf32>\n"
    "    %y = stablehlo.subtract %x, %all : tensor<6xf32>\n"
    "    return %y : tensor<6xf32>\n"
    "  }\n"
    "}\n";

/* Ends the process where something failed. */
static void check(shardc_error *error) {
  if (!error)
    return;
  fprintf(stderr, "%s: %s\n", shardc_error_location(error),
          shardc_error_message(error));
  exit(shardc_error_status(error));
}

int main(void) {
  shardc_engine_options options = {0};
  options.size = sizeof(options);
  options.devices = 2;
  shardc_engine *engine = NULL;
  check(shardc_engine_create(&options, &engine));

  shardc_program *program = NULL;
  check(shardc_compile(engine, model, strlen(model), "center.mlir", NULL, 0,
                       &program));

  const float x[6] = {1, 2, 3, 4, 5, 6};
  shardc_buffer *shards[2], *results[2];
  shardc_buffer *const *arguments[2];
  shardc_buffer **outputs[2];
  for (int64_t rank = 0; rank < 2; ++rank) {
    int64_t start, size; /* what this rank holds */
    check(shardc_program_argument_box(program, 0, rank, &start, &size));
    shardc_host_data data = {0};
    data.size = sizeof(data);
    data.data = x + start;
    data.element_type = shardc_element_type_named("f32");
    data.num_dims = 1;
    data.dims = &size;
    check(shardc_buffer_from_host(engine, rank, &data, &shards[rank]));
    arguments[rank] = &shards[rank];
    outputs[rank] = &results[rank];
  }

  check(shardc_execute(program, NULL, arguments, outputs, NULL));

  for (int64_t rank = 0; rank < 2; ++rank) {
    float y[6];
    check(shardc_buffer_to_host(results[rank], y, NULL, NULL)); /* waits */
    printf("device %d:", (int)rank);
    for (int64_t i = 0; i < shardc_buffer_dims(results[rank])[0]; ++i)
      printf(" %g", y[i]);
    printf("\n");
    shardc_buffer_release(shards[rank]);
    shardc_buffer_release(results[rank]);
  }
  shardc_program_destroy(program);
  shardc_engine_destroy(engine);
  return 0;
}
