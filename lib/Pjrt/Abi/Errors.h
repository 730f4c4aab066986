//===- Errors.h - Errors, events and the plugin of PJRT's C API -*- C++ -*-===//
#ifndef SHARDC_PJRT_ABI_ERRORS_H
#define SHARDC_PJRT_ABI_ERRORS_H

#include "Types.h"

namespace shardc::pjrt {

struct Error_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Error *error;
};
SHARDC_PJRT_LAYOUT(Error_Destroy_Args, 24, error, 16);

struct Error_Message_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  const char *message;
  size_t message_size;
};
SHARDC_PJRT_LAYOUT(Error_Message_Args, 40, message_size, 32);

struct Error_FunctionTable {
  size_t struct_size;
  size_t instance_size;
  Extension_Base *extension_start;
  void (*destroy)(Error *);
  void (*message)(const Error *, const char **, size_t *);
  Error_Code (*get_code)(const Error *);
  void (*for_each_payload)(const Error *, void *, void *);
};
SHARDC_PJRT_LAYOUT(Error_FunctionTable, 56, for_each_payload, 48);

struct Error_GetCode_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  Error_Code code;
};
SHARDC_PJRT_LAYOUT(Error_GetCode_Args, 32, code, 24);

struct Error_ForEachPayload_Args {
  SHARDC_PJRT_HEAD;
  const Error *error;
  void *visitor;
  void *user_arg;
};
SHARDC_PJRT_LAYOUT(Error_ForEachPayload_Args, 40, user_arg, 32);

struct Plugin_Initialize_Args {
  SHARDC_PJRT_HEAD;
};
SHARDC_PJRT_LAYOUT(Plugin_Initialize_Args, 16, extension_start, 8);

struct Plugin_Attributes_Args {
  SHARDC_PJRT_HEAD;
  const NamedValue *attributes;
  size_t num_attributes;
};
SHARDC_PJRT_LAYOUT(Plugin_Attributes_Args, 32, num_attributes, 24);

struct Event_Destroy_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Destroy_Args, 24, event, 16);

struct Event_IsReady_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  bool is_ready;
};
SHARDC_PJRT_LAYOUT(Event_IsReady_Args, 32, is_ready, 24);

struct Event_Error_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Error_Args, 24, event, 16);

struct Event_Await_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Await_Args, 24, event, 16);

struct Event_OnReady_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  EventCallback callback;
  void *user_arg;
};
SHARDC_PJRT_LAYOUT(Event_OnReady_Args, 40, user_arg, 32);

struct Event_Create_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
};
SHARDC_PJRT_LAYOUT(Event_Create_Args, 24, event, 16);

struct Event_Set_Args {
  SHARDC_PJRT_HEAD;
  Event *event;
  Error_Code error_code;
  const char *error_message;
  size_t error_message_size;
};
SHARDC_PJRT_LAYOUT(Event_Set_Args, 48, error_message_size, 40);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_ABI_ERRORS_H
