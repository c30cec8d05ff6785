/* A fusion while it is planned: the arms, and what the result will be. fuse.c asks its parts in turn; each may
 * refuse. */
#ifndef VYRE_PLAN_FUSE_H
#define VYRE_PLAN_FUSE_H

#include <vyre/plan.h>

#include "plan/arm.h"

/* A buffer of the result. */
typedef struct plan_entry {
  uint32_t arm, binding; /* the first that names it */
  uint8_t access;        /* that all of them need */
  uint64_t length;
  uint32_t last_user;    /* so far */
} plan_entry;

/* A buffer of an arm. They stand in the order of arms and their bindings. */
typedef struct plan_user {
  uint32_t entry, arm, binding;
  uint32_t before; /* 1 + the user of the same entry before it, 0 if there is none */
} plan_user;

/* A parameter of the result, by the first arm that has it. */
typedef struct plan_param {
  uint32_t arm, param;
} plan_param;

/* What a name stands for. */
typedef struct plan_symbol {
  bool is_param;
  uint32_t index; /* into entries or params */
} plan_symbol;

typedef enum plan_barrier { PLAN_NO_BARRIER, PLAN_WORKGROUP_BARRIER, PLAN_GRID_BARRIER } plan_barrier;

typedef struct plan_fusion {
  plan_arm *arms;
  uint32_t count;
  bool is_shared; /* all arms in one block */
  const char *name;
  uint32_t workgroup[3];
  uint32_t grid[3]; /* 0 where it is not known */
  VYRE_VECTOR(plan_entry) entries;
  VYRE_VECTOR(plan_param) params;
  VYRE_VECTOR(plan_user) users;
  VYRE_VECTOR(uint32_t) param_of;      /* by parameters of arms, as users: index into params */
  uint32_t *first_user, *first_param;  /* by arm: where its own begin */
  vyre_strings names;
  VYRE_VECTOR(plan_symbol) symbols; /* by name */
  plan_barrier *barriers;           /* behind each arm */
  bool has_widened;                 /* an entry has more access than an arm says, which knows less of its loads then */
  vyre_fuse_refusal *refusal;       /* may be NULL */
  vyre_error *error;
} plan_fusion;

/* Fills the refusal and the error; gives the status. |subject| may be "". */
__attribute__((format(printf, 6, 7))) vyre_status plan_refuse(plan_fusion *f, vyre_fuse_reason reason, uint32_t arm,
                                                              uint32_t other, const char *subject, const char *format,
                                                              ...);

static inline const char *plan_arm_name(const plan_fusion *f, uint32_t arm) {
  return ir_text(f->arms[arm].p, f->arms[arm].p->name);
}
static inline const ir_buffer *plan_buffer(const plan_fusion *f, uint32_t arm, uint32_t binding) {
  return &f->arms[arm].p->buffers.data[binding];
}
static inline const plan_user *plan_user_of(const plan_fusion *f, uint32_t arm, uint32_t binding) {
  return &f->users.data[f->first_user[arm] + binding];
}
static inline const plan_use *plan_use_of(const plan_fusion *f, const plan_user *user) {
  return &f->arms[user->arm].uses[user->binding];
}
static inline bool plan_is_storage(uint8_t access) {
  return access == VYRE_ACCESS_READ || access == VYRE_ACCESS_WRITE || access == VYRE_ACCESS_RW;
}

/* One table of buffers and parameters for all arms. merge.c */
vyre_status plan_merge(plan_fusion *f);
/* Which barriers stand between the arms. hazard.c */
void plan_order(plan_fusion *f);
/* The program. weave.c */
vyre_status plan_weave(plan_fusion *f, vyre_program **out);

#endif
