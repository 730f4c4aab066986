//===- NullTest.cpp - Functions of the C API without their arguments ------===//

#include "Handles.h"
#include <cstring>
#include <type_traits>

using namespace shardc::test;

namespace {
/// Calls `function` with NULL and 0 for all it takes. What can fail says that
/// it does; what gives a text gives one.
template <typename Result, typename... Arguments>
void callWithNothing(Result (*function)(Arguments...)) {
  if constexpr (std::is_same_v<Result, shardc_error *>) {
    EXPECT_FAILS(function(Arguments{}...), SHARDC_USAGE, "NULL");
  } else if constexpr (std::is_same_v<Result, const char *>) {
    EXPECT_STREQ(function(Arguments{}...), "");
  } else {
    function(Arguments{}...);
  }
}

#define CALL_WITH_NOTHING(FUNCTION)                                            \
  do {                                                                         \
    SCOPED_TRACE(#FUNCTION);                                                   \
    callWithNothing(FUNCTION);                                                 \
  } while (false)
} // namespace

TEST(Null, Errors) {
  CALL_WITH_NOTHING(shardc_error_destroy);
  CALL_WITH_NOTHING(shardc_error_message);
  CALL_WITH_NOTHING(shardc_error_location);
  EXPECT_EQ(shardc_error_status(nullptr), SHARDC_OK);
  EXPECT_EQ(textOf(shardc_error_create(SHARDC_OK, nullptr)), "1: ");
  EXPECT_EQ(shardc_element_type_named(nullptr), 0);
  CALL_WITH_NOTHING(shardc_element_type_name);
  EXPECT_EQ(shardc_element_type_bytes(0), 0);
}

TEST(Null, Engines) {
  CALL_WITH_NOTHING(shardc_engine_create);
  CALL_WITH_NOTHING(shardc_engine_destroy);
  CALL_WITH_NOTHING(shardc_engine_leave);
  CALL_WITH_NOTHING(shardc_engine_cancel_compilations);
  EXPECT_EQ(shardc_engine_num_devices(nullptr), 0);
  EXPECT_EQ(shardc_engine_num_local_devices(nullptr, nullptr), 0);
  EXPECT_EQ(shardc_engine_process(nullptr), 0);
  CALL_WITH_NOTHING(shardc_engine_num_processes);
  EXPECT_EQ(shardc_engine_device_process(nullptr, 0), -1);
  CALL_WITH_NOTHING(shardc_engine_memory_stats);
  CALL_WITH_NOTHING(shardc_engine_trace_start);
  CALL_WITH_NOTHING(shardc_engine_trace_stop);
  EnginePtr engine = makeEngine(1);
  EXPECT_FAILS(shardc_engine_memory_stats(engine.get(), 0, nullptr),
               SHARDC_USAGE, "'stats' is NULL");
  EXPECT_GOOD(shardc_engine_trace_start(engine.get()));
  EXPECT_FAILS(
      shardc_engine_trace_stop(engine.get(), nullptr, nullptr, nullptr),
      SHARDC_USAGE, "'each' is NULL");
}

TEST(Null, Programs) {
  CALL_WITH_NOTHING(shardc_compile);
  CALL_WITH_NOTHING(shardc_compile_start);
  EXPECT_TRUE(shardc_compilation_wait_for(nullptr, 0));
  CALL_WITH_NOTHING(shardc_compilation_finish);
  CALL_WITH_NOTHING(shardc_compilation_destroy);
  CALL_WITH_NOTHING(shardc_program_destroy);
  CALL_WITH_NOTHING(shardc_program_serialize);
  CALL_WITH_NOTHING(shardc_bytes_free);
  CALL_WITH_NOTHING(shardc_program_load);
  CALL_WITH_NOTHING(shardc_program_bind);
  CALL_WITH_NOTHING(shardc_program_name);
  EXPECT_EQ(shardc_program_num_ranks(nullptr), 0);
  EXPECT_EQ(shardc_program_num_arguments(nullptr), 0);
  EXPECT_EQ(shardc_program_num_results(nullptr), 0);
  EXPECT_EQ(shardc_program_num_sites(nullptr), 0);
  EXPECT_FALSE(shardc_program_calls_host(nullptr));
  CALL_WITH_NOTHING(shardc_program_argument);
  CALL_WITH_NOTHING(shardc_program_result);
  CALL_WITH_NOTHING(shardc_program_argument_box);
  CALL_WITH_NOTHING(shardc_program_result_box);
  CALL_WITH_NOTHING(shardc_program_metadata);
  CALL_WITH_NOTHING(shardc_program_local_text);
  CALL_WITH_NOTHING(shardc_program_remarks);
  CALL_WITH_NOTHING(shardc_program_get_costs);
  CALL_WITH_NOTHING(shardc_execute);
  CALL_WITH_NOTHING(shardc_program_site_stats);
  CALL_WITH_NOTHING(shardc_program_rank_stats);
}

/// Each with one argument that is NULL, the others right.
TEST(Null, OneArgumentOfAProgram) {
  EnginePtr engine = makeEngine(2);
  shardc_program *made = nullptr;
  EXPECT_FAILS(shardc_compile(engine.get(), nullptr, 1, "", nullptr, 0, &made),
               SHARDC_USAGE, "'model' is NULL");
  EXPECT_FAILS(shardc_compile(engine.get(), kCentred, strlen(kCentred), nullptr,
                              nullptr, 1, &made),
               SHARDC_USAGE, "'options' is NULL");
  shardc_option nameless = {nullptr, "1"};
  EXPECT_FAILS(shardc_compile(engine.get(), kCentred, strlen(kCentred), nullptr,
                              &nameless, 1, &made),
               SHARDC_USAGE, "name of an option");
  ASSERT_EQ(made, nullptr);
  EXPECT_NE(
      textOf(shardc_compile(engine.get(), nullptr, 0, "", nullptr, 0, &made)),
      "");
  ASSERT_GOOD(shardc_compile(engine.get(), kCentred, strlen(kCentred), nullptr,
                             nullptr, 0, &made));
  ProgramPtr program(made);
  EXPECT_FAILS(shardc_program_argument(made, 0, nullptr), SHARDC_USAGE,
               "'value' is NULL");
  int64_t start[1], size[1];
  EXPECT_FAILS(shardc_program_argument_box(made, 0, 0, nullptr, size),
               SHARDC_USAGE, "'starts' is NULL");
  EXPECT_FAILS(shardc_program_argument_box(made, 0, 0, start, nullptr),
               SHARDC_USAGE, "'sizes' is NULL");
  EXPECT_GOOD(shardc_program_result_box(made, 1, 0, nullptr, nullptr));
  EXPECT_FAILS(shardc_program_site_stats(made, 0, nullptr), SHARDC_USAGE,
               "'stats' is NULL");
  EXPECT_FAILS(shardc_program_rank_stats(made, 0, nullptr), SHARDC_USAGE,
               "'stats' is NULL");
  EXPECT_FAILS(shardc_program_serialize(made, nullptr), SHARDC_USAGE,
               "'artifact' is NULL");
  EXPECT_FAILS(shardc_program_get_costs(made, nullptr), SHARDC_USAGE,
               "'costs' is NULL");
  EXPECT_FAILS(shardc_program_bind(made, nullptr, nullptr), SHARDC_USAGE,
               "'bound' is NULL");
  EXPECT_FAILS(shardc_balance_create(made, nullptr), SHARDC_USAGE,
               "'balance' is NULL");
  // Before the first execution there is nothing that was counted.
  shardc_rank_stats stats = {};
  stats.size = sizeof(stats);
  EXPECT_GOOD(shardc_program_rank_stats(made, 1, &stats));
  EXPECT_EQ(stats.steps, 0);

  shardc_buffer *results[2] = {}, *arguments[1] = {};
  shardc_buffer *const *given[] = {arguments, arguments};
  shardc_buffer *const *half[] = {arguments, nullptr};
  shardc_buffer **taken[] = {results, results};
  EXPECT_FAILS(shardc_execute(made, nullptr, nullptr, taken, nullptr),
               SHARDC_USAGE, "'arguments' is NULL");
  EXPECT_FAILS(shardc_execute(made, nullptr, half, taken, nullptr),
               SHARDC_USAGE, "'arguments' is NULL");
  EXPECT_FAILS(shardc_execute(made, nullptr, given, nullptr, nullptr),
               SHARDC_USAGE, "'results' is NULL");
  EXPECT_FAILS(shardc_execute(made, nullptr, given, taken, nullptr),
               SHARDC_USAGE, "argument");
}

TEST(Null, EventsAndBuffers) {
  CALL_WITH_NOTHING(shardc_event_destroy);
  EXPECT_TRUE(shardc_event_is_ready(nullptr));
  CALL_WITH_NOTHING(shardc_event_await);
  EXPECT_TRUE(shardc_event_wait_for(nullptr, 0));
  CALL_WITH_NOTHING(shardc_event_on_ready);
  std::string said;
  shardc_event_on_ready(
      nullptr,
      [](shardc_error *error, void *user) {
        *static_cast<std::string *>(user) = textOf(error);
      },
      &said);
  EXPECT_EQ(said, "2: 'event' is NULL");
  CALL_WITH_NOTHING(shardc_event_create);
  shardc_event_set(nullptr, shardc_error_create(SHARDC_IO, "nobody's"));

  CALL_WITH_NOTHING(shardc_buffer_retain);
  CALL_WITH_NOTHING(shardc_buffer_release);
  CALL_WITH_NOTHING(shardc_buffers_release);
  shardc_buffers_release(nullptr, 3);
  CALL_WITH_NOTHING(shardc_buffer_from_host);
  CALL_WITH_NOTHING(shardc_buffer_create);
  CALL_WITH_NOTHING(shardc_buffer_create_later);
  EXPECT_EQ(shardc_buffer_device(nullptr), -1);
  EXPECT_EQ(shardc_buffer_element_type(nullptr), 0);
  EXPECT_EQ(shardc_buffer_num_dims(nullptr), 0);
  EXPECT_EQ(shardc_buffer_dims(nullptr), nullptr);
  EXPECT_EQ(shardc_buffer_bytes(nullptr), 0);
  EXPECT_EQ(shardc_buffer_data(nullptr), nullptr);
  EventPtr ready(shardc_buffer_ready(nullptr));
  EXPECT_TRUE(shardc_event_is_ready(ready.get()));
  CALL_WITH_NOTHING(shardc_buffer_delete);
  EXPECT_TRUE(shardc_buffer_is_deleted(nullptr));
  CALL_WITH_NOTHING(shardc_buffer_pin);
  CALL_WITH_NOTHING(shardc_buffer_unpin);
  CALL_WITH_NOTHING(shardc_buffer_to_host);
  CALL_WITH_NOTHING(shardc_buffer_bytes_to_host);
  CALL_WITH_NOTHING(shardc_buffer_to_device);
}

/// Each with one argument that is NULL, the others right.
TEST(Null, OneArgumentOfABuffer) {
  EnginePtr engine = makeEngine(1);
  shardc_element_type f32 = shardc_element_type_named("f32");
  int64_t dims[] = {3};
  shardc_buffer *made = nullptr;
  EXPECT_FAILS(shardc_buffer_create(engine.get(), 0, f32, 1, nullptr, &made),
               SHARDC_USAGE, "'dims'");
  EXPECT_FAILS(shardc_buffer_create(engine.get(), 0, f32, 1, dims, nullptr),
               SHARDC_USAGE, "'buffer' is NULL");
  EXPECT_FAILS(
      shardc_buffer_create_later(engine.get(), 0, f32, 1, dims, nullptr, &made),
      SHARDC_USAGE, "'ready' is NULL");
  ASSERT_EQ(made, nullptr);
  ASSERT_GOOD(shardc_buffer_create(engine.get(), 0, f32, 1, dims, &made));
  BufferPtr buffer(made);
  EXPECT_FAILS(shardc_buffer_to_host(made, nullptr, nullptr, nullptr),
               SHARDC_USAGE, "");
  EXPECT_FAILS(shardc_buffer_bytes_to_host(made, nullptr, 0, 4, nullptr),
               SHARDC_USAGE, "");
  EXPECT_FAILS(shardc_buffer_to_device(made, 0, nullptr), SHARDC_USAGE,
               "'copy' is NULL");
}

TEST(Null, Balances) {
  CALL_WITH_NOTHING(shardc_balance_create);
  CALL_WITH_NOTHING(shardc_balance_destroy);
  CALL_WITH_NOTHING(shardc_balance_add);
  CALL_WITH_NOTHING(shardc_balance_refuse);
  CALL_WITH_NOTHING(shardc_balance_settle);
  EXPECT_EQ(shardc_balance_num_sizes(nullptr), 0);
  CALL_WITH_NOTHING(shardc_balance_sizes);
  CALL_WITH_NOTHING(shardc_balance_get_state);
}
