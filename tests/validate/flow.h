/* What the tests of flow share: conditions of each level, bodies in an `if`, and cases that must get their codes. */
#ifndef VYRE_TESTS_VALIDATE_FLOW_H
#define VYRE_TESTS_VALIDATE_FLOW_H

#include "../suite.h"
#include "kit.h"

#define GRID IR_LEVEL_GRID
#define WORKGROUP IR_LEVEL_WORKGROUP
#define SUBGROUP IR_LEVEL_SUBGROUP
#define DIVERGENT IR_LEVEL_DIVERGENT

/* A statement in an `if` of a condition; not one in the other. */
#define UNDER(k, c)           \
  open_if(k, (c));            \
  for (int once = 1; once > 0; once--, end(k))

/* A condition on a load that is settled where nothing writes the flag. */
static inline vyre_expr settled(kit *k) { return not_zero(k, load(k, k->flag, u32(k, 0))); }
static inline void copy(kit *k, bool workgroup, vyre_expr count) {
  vyre_build_copy_async(k->b, workgroup, k->flag, u32(k, 0), k->in, u32(k, 0), count);
}

/* Rows of a kit_case table, and the test that runs one. */
#define CASE(name, codes) { #name, name, codes }
#define RUN(cases)                                                        \
  START_TEST(cases##_get_their_codes) {                                   \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) kit_run(&cases[i]); \
  }                                                                       \
  END_TEST

/* A program, and what must be in the text of its findings. */
typedef struct flow_message {
  void (*build)(kit *k);
  const char *wanted;
} flow_message;

static inline void flow_check_message(const flow_message *m) {
  kit k = kit_begin();
  vyre_program *p = NULL;
  m->build(&k);
  vyre_builder_finish(k.b, &p, NULL);
  char *text = vyre_diagnostics_render(k.d);
  ck_assert_ptr_nonnull(text);
  ck_assert_msg(strstr(text, m->wanted) != NULL, "wanted \"%s\" in \"%s\"", m->wanted, text);
  free(text);
  vyre_program_release(p);
  vyre_builder_destroy(k.b);
  vyre_diagnostics_destroy(k.d);
}

#define RUN_MESSAGES(...)                                                                       \
  START_TEST(messages_name_the_reason) {                                                        \
    static const flow_message messages[] = { __VA_ARGS__ };                                     \
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) flow_check_message(&messages[i]); \
  }                                                                                             \
  END_TEST

#endif
