/* What one name is in several arms must be one thing: the first that names it defines it, later ones join. */
#include <string.h>

#include "base/error.h"
#include "plan/fuse.h"

static const char *kind_of(uint8_t access) {
  switch (access) {
    case VYRE_ACCESS_TABLE: return "a constant table";
    case VYRE_ACCESS_SHARED: return "workgroup memory";
    case VYRE_ACCESS_LOCAL: return "local memory";
    default: return "a bound buffer";
  }
}

static vyre_status out_of_memory(plan_fusion *f) { return vyre_fail_memory(f->error, f->name); }

/* The symbol of a name; *is_new if nothing has it yet. NULL without memory. */
static plan_symbol *symbol_of(plan_fusion *f, const char *name, bool *is_new) {
  uint32_t id = vyre_strings_intern(&f->names, name, (uint32_t)strlen(name));
  if (id == UINT32_MAX) return NULL;
  *is_new = id >= f->symbols.count;
  while (f->symbols.count <= id)
    if (!vyre_vector_push(&f->symbols, (plan_symbol){ 0 })) return NULL;
  return &f->symbols.data[id];
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static vyre_status join_kinds(plan_fusion *f, const plan_entry *e, uint32_t arm, const ir_buffer *b) {
  const char *name = ir_text(f->arms[arm].p, b->name);
  const ir_buffer *first = plan_buffer(f, e->arm, e->binding);
  bool alike = plan_is_storage(e->access) ? plan_is_storage(b->access) : e->access == b->access;
  if (!alike)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, e->arm, name, "\"%s\" is %s in arm %u, and %s in arm %u", name,
                       kind_of(b->access), arm, kind_of(e->access), e->arm);
  if (first->element != b->element)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, e->arm, name,
                       "\"%s\" has elements of %s in arm %u, and of %s in arm %u", name,
                       vyre_type_describe((vyre_type)b->element)->spelling, arm,
                       vyre_type_describe((vyre_type)first->element)->spelling, e->arm);
  if (e->length != 0 && b->length != 0 && e->length != b->length)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, e->arm, name,
                       "\"%s\" has %llu elements in arm %u, and %llu before it", name,
                       (unsigned long long)b->length, arm, (unsigned long long)e->length);
  return VYRE_OK;
}

static bool same_table(const ir_buffer *x, const ir_buffer *y) {
  return memcmp(x->data, y->data, (size_t)(x->length * ir_type_at((vyre_type)x->element)->bytes)) == 0;
}

static vyre_status join(plan_fusion *f, plan_entry *e, uint32_t arm, const ir_buffer *b) {
  const char *name = ir_text(f->arms[arm].p, b->name);
  vyre_status status = join_kinds(f, e, arm, b);
  if (status != VYRE_OK) return status;
  if (b->access == VYRE_ACCESS_TABLE && !same_table(plan_buffer(f, e->arm, e->binding), b))
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, e->arm, name,
                       "table \"%s\" has other values in arm %u than in arm %u", name, arm, e->arm);
  if (b->access == VYRE_ACCESS_WRITE)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, e->arm, name,
                       "\"%s\" is `write` in arm %u, so that it would start as zero there, behind arm %u; rw would not",
                       name, arm, e->arm);
  f->has_widened |= e->access != b->access;
  if (e->access != b->access) e->access = VYRE_ACCESS_RW;
  if (e->length == 0) e->length = b->length;
  return VYRE_OK;
}

static vyre_status merge_buffer(plan_fusion *f, uint32_t arm, uint32_t binding) {
  const ir_buffer *b = plan_buffer(f, arm, binding);
  const char *name = ir_text(f->arms[arm].p, b->name);
  bool is_new;
  plan_symbol *symbol = symbol_of(f, name, &is_new);
  if (symbol == NULL) return out_of_memory(f);
  if (!is_new && symbol->is_param)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, f->params.data[symbol->index].arm, name,
                       "\"%s\" is a buffer in arm %u, and a parameter in arm %u", name, arm,
                       f->params.data[symbol->index].arm);
  if (is_new) *symbol = (plan_symbol){ false, f->entries.count };
  uint32_t index = symbol->index, user = f->users.count;
  if (is_new && !vyre_vector_push(&f->entries, ((plan_entry){ arm, binding, b->access, b->length, user })))
    return out_of_memory(f);
  plan_entry *e = &f->entries.data[index];
  if (!vyre_vector_push(&f->users, ((plan_user){ index, arm, binding, is_new ? 0 : e->last_user + 1 })))
    return out_of_memory(f);
  e->last_user = user;
  return is_new ? VYRE_OK : join(f, e, arm, b);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static vyre_status merge_param(plan_fusion *f, uint32_t arm, uint32_t param) {
  const ir_param *own = &f->arms[arm].p->params.data[param];
  const char *name = ir_text(f->arms[arm].p, own->name);
  bool is_new;
  plan_symbol *symbol = symbol_of(f, name, &is_new);
  if (symbol == NULL) return out_of_memory(f);
  if (is_new) {
    *symbol = (plan_symbol){ true, f->params.count };
    if (!vyre_vector_push(&f->params, ((plan_param){ arm, param }))) return out_of_memory(f);
  }
  if (!vyre_vector_push(&f->param_of, symbol->index)) return out_of_memory(f);
  if (!symbol->is_param)
    return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, f->entries.data[symbol->index].arm, name,
                       "\"%s\" is a parameter in arm %u, and a buffer in arm %u", name, arm,
                       f->entries.data[symbol->index].arm);
  plan_param first = f->params.data[symbol->index];
  uint8_t type = f->arms[first.arm].p->params.data[first.param].type;
  if (type == own->type) return VYRE_OK;
  return plan_refuse(f, VYRE_FUSE_CONTRACT, arm, first.arm, name,
                     "parameter \"%s\" is %s in arm %u, and %s in arm %u", name,
                     vyre_type_describe((vyre_type)own->type)->spelling, arm,
                     vyre_type_describe((vyre_type)type)->spelling, first.arm);
}

static vyre_status merge_arm(plan_fusion *f, uint32_t arm) {
  const vyre_program *p = f->arms[arm].p;
  f->first_user[arm] = f->users.count;
  f->first_param[arm] = f->param_of.count;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < p->params.count && status == VYRE_OK; i++) status = merge_param(f, arm, i);
  for (uint32_t i = 0; i < p->buffers.count && status == VYRE_OK; i++) status = merge_buffer(f, arm, i);
  return status;
}

vyre_status plan_merge(plan_fusion *f) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < f->count && status == VYRE_OK; i++) status = merge_arm(f, i);
  return status;
}
