/* Building statements: blocks, scopes, and the rules that one statement alone can break. */
#include <string.h>

#include "base/utf8.h"
#include "ir/build_state.h"

/* ---- Appending ----------------------------------------------------------------------------- */

static void report_depth(vyre_builder *b, uint32_t nesting) {
  if (b->too_deep) return;
  b->too_deep = true;
  ir_builder_report(b, VYRE_V18, "this one is at level %u", nesting);
}

/* A second statement beside an `if` in an else block: it was no chain, so all inside is one level deeper. */
static void break_chain(vyre_builder *b, build_block *block) {
  if (!block->chain) return;
  block->chain = false;
  if (++block->deepest > VYRE_MAX_NESTING) report_depth(b, block->deepest);
}

static bool may_append(vyre_builder *b) {
  build_block *block = build_top(b);
  if (block->ended) {
    ir_builder_report(b, VYRE_V112, "nothing after the jump is reached");
    block->ended = false; /* once is enough */
  }
  break_chain(b, block);
  if (b->program->stmts.count <= VYRE_MAX_STATEMENTS) return true;
  if (!b->too_many_statements) ir_builder_report(b, VYRE_V19, "statement %u", b->program->stmts.count);
  b->too_many_statements = true;
  return false;
}

/* Links a statement behind the last one of the innermost block; 0 if it can not be. */
IR_INLINE uint32_t append(vyre_builder *b, ir_stmt stmt) {
  if (b->out_of_memory || !may_append(b)) return 0;
  vyre_program *p = b->program;
  uint32_t index = p->stmts.count;
  stmt.pos = b->position;
  if (!vyre_vector_push(&p->stmts, stmt)) {
    b->out_of_memory = true;
    return 0;
  }
  build_block *block = build_top(b);
  ir_stmt *owner = &p->stmts.data[block->owner];
  if (block->last != 0) p->stmts.data[block->last].next = index;
  else if (block->in_else) owner->orelse = index;
  else owner->body = index;
  block->last = index;
  return index;
}

void build_too_large(vyre_builder *b) {
  if (b->too_large) return;
  b->too_large = true;
  ir_builder_report(b, VYRE_V143, "its expressions, as written, are more than %u", VYRE_MAX_PROGRAM_BYTES);
}

/* Counts an operand's expressions as written, and refuses what no wire form could hold. */
static void count_uses(vyre_builder *b, vyre_expr e) {
  b->expr_uses += b->meta.data[e].uses;
  if (b->expr_uses > VYRE_MAX_PROGRAM_BYTES) build_too_large(b);
}

/* An operand of a statement: it must be there, have a value, and be of type |wanted| (NONE: any). */
static bool operand(vyre_builder *b, vyre_expr e, vyre_type wanted, vyre_code code) {
  if (!build_usable(b, e)) return false;
  vyre_type type = (vyre_type)build_expr_at(b, e)->type;
  if (wanted != VYRE_TYPE_NONE && type != wanted) {
    ir_builder_report(b, code, "wanted %s, found %s", build_type_name(wanted), build_type_name(type));
    return false;
  }
  count_uses(b, e);
  return true;
}

/* ---- Scopes -------------------------------------------------------------------------------- */

/* Makes a variable visible from here to the end of the innermost block. */
static vyre_var add_var(vyre_builder *b, uint32_t name, vyre_type type, vyre_stmt_op kind) {
  if (!build_check_name(b, name)) return VYRE_NO_VAR;
  build_name *entry = build_name_at(b, name);
  if (entry->kind != IR_SYMBOL_NONE) {
    bool same_block = entry->kind == IR_SYMBOL_VAR && entry->level == b->blocks.count;
    ir_builder_report(b, same_block ? VYRE_V32 : VYRE_V8, "\"%s\"", ir_builder_text(b, name));
    return VYRE_NO_VAR;
  }
  vyre_var var = b->program->vars.count;
  if (!vyre_vector_push(&b->visible, name) || !vyre_vector_push(&b->var_values, 0) ||
      !vyre_vector_push(&b->program->vars, ((ir_var){ name, (uint8_t)type, (uint8_t)kind }))) {
    b->out_of_memory = true;
    return VYRE_NO_VAR;
  }
  *entry = (build_name){ .kind = IR_SYMBOL_VAR, .checked = 1, .index = var, .level = b->blocks.count };
  if (b->visible.count > b->max_visible) b->max_visible = b->visible.count;
  return var;
}

static void close_scope(vyre_builder *b, uint32_t names) {
  while (b->visible.count > names) {
    build_name *name = build_name_at(b, b->visible.data[--b->visible.count]);
    name->kind = IR_SYMBOL_NONE;
    if (name->index >= b->closed) b->closed = name->index + 1;
  }
}

/* Whether |stmt| is the `if` of an `else if`, seen from the block that it was appended to. */
static bool continues_chain(const vyre_builder *b, const build_block *outer, uint32_t stmt) {
  return outer->in_else && b->program->stmts.data[outer->owner].orelse == stmt &&
         b->program->stmts.data[stmt].op == VYRE_STMT_IF;
}

static bool is_call_region(const vyre_builder *b, const ir_stmt *stmt) {
  if (stmt->op != VYRE_STMT_REGION) return false;
  return strncmp(ir_builder_text(b, stmt->arg[4]), VYRE_CALL_REGION_PREFIX, strlen(VYRE_CALL_REGION_PREFIX)) == 0;
}

/* Opens the block of statement |stmt|, which was just appended (0: it could not be; the block is still opened,
 * so that begin and end keep matching). The body of a call sees no loop around the call. */
static void open_block(vyre_builder *b, uint32_t stmt, bool loop) {
  build_block *outer = build_top(b);
  bool call = stmt != 0 && is_call_region(b, &b->program->stmts.data[stmt]);
  build_block block = { .owner = stmt, .names = b->visible.count, .calls = outer->calls,
                        .in_loop = loop || (outer->in_loop && !call) };
  block.nesting = outer->nesting + 1;
  if (stmt != 0 && continues_chain(b, outer, stmt)) {
    outer->chain = true;
    block.nesting = outer->nesting;
  }
  if (call) {
    block.nesting = 0;
    block.calls++;
  }
  block.deepest = block.nesting;
  if (block.nesting > VYRE_MAX_NESTING) report_depth(b, block.nesting);
  if (block.calls > VYRE_MAX_CALL_DEPTH && !b->too_deep) {
    b->too_deep = true;
    ir_builder_report(b, VYRE_V140, "call %u", block.calls);
  }
  if (!vyre_vector_push(&b->blocks, block)) b->out_of_memory = true;
}

/* Tells the block around the innermost one how deep it went. */
static void pass_depth_on(vyre_builder *b) {
  const build_block *block = build_top(b);
  build_block *outer = &b->blocks.data[b->blocks.count - 2];
  if (block->calls == outer->calls && block->deepest > outer->deepest) outer->deepest = block->deepest;
}

void vyre_build_end(vyre_builder *b) {
  if (b->blocks.count <= 1) {
    if (!b->out_of_memory) ir_builder_report(b, VYRE_V150, "no block is open");
    return;
  }
  pass_depth_on(b);
  close_scope(b, build_top(b)->names);
  b->blocks.count--;
}

/* ---- Variables and memory ------------------------------------------------------------------ */

vyre_var ir_build_declare(vyre_builder *b, vyre_stmt_op op, uint32_t name, vyre_expr value) {
  if (op != VYRE_STMT_LET && op != VYRE_STMT_VAR) {
    ir_builder_report(b, VYRE_V138, "statement %u declares nothing", (unsigned)op);
    return VYRE_NO_VAR;
  }
  if (!operand(b, value, VYRE_TYPE_NONE, VYRE_V138)) return VYRE_NO_VAR;
  vyre_type type = build_type_of(b, value);
  uint32_t stmt = append(b, (ir_stmt){ .op = (uint8_t)op, .arg = { [0] = value, [4] = b->program->vars.count } });
  return stmt != 0 ? add_var(b, name, type, op) : VYRE_NO_VAR;
}

vyre_var vyre_build_declare(vyre_builder *b, vyre_stmt_op op, const char *name, vyre_expr value) {
  return ir_build_declare(b, op, build_intern(b, name), value);
}

void vyre_build_assign(vyre_builder *b, vyre_var var, vyre_expr value) {
  if (var == VYRE_NO_VAR) return;
  if (vyre_build_var_value(b, var) == 0) return;
  const ir_var *v = ir_builder_var(b, var);
  if (v->kind != VYRE_STMT_VAR) {
    bool loop = v->kind == VYRE_STMT_FOR;
    ir_builder_report(b, loop ? VYRE_V11 : VYRE_V120, "\"%s\" is a %s", ir_builder_text(b, v->name),
                      loop ? "loop variable" : "let");
    return;
  }
  if (!operand(b, value, (vyre_type)v->type, VYRE_V45)) return;
  append(b, (ir_stmt){ .op = VYRE_STMT_ASSIGN, .arg = { [0] = value, [4] = var } });
}

static bool is_storable(vyre_access access) {
  return access == VYRE_ACCESS_WRITE || access == VYRE_ACCESS_RW || access == VYRE_ACCESS_SHARED ||
         access == VYRE_ACCESS_LOCAL;
}

void vyre_build_store(vyre_builder *b, vyre_binding binding, vyre_expr index, vyre_expr value) {
  const ir_buffer *buffer = ir_builder_buffer(b, binding);
  if (buffer == NULL) {
    ir_builder_report(b, VYRE_V64, "there is no buffer %u", binding);
    return;
  }
  if (!is_storable((vyre_access)buffer->access)) {
    ir_builder_report(b, VYRE_V63, "\"%s\"", ir_builder_text(b, buffer->name));
    return;
  }
  bool good = build_check_index(b, buffer, index, VYRE_V122);
  if (good) count_uses(b, index);
  vyre_type wanted = ir_type_at((vyre_type)buffer->element)->value;
  if (!operand(b, value, wanted, VYRE_V121) || !good) return;
  append(b, (ir_stmt){ .op = VYRE_STMT_STORE, .arg = { [0] = index, [1] = value, [4] = binding } });
}

void vyre_build_eval(vyre_builder *b, vyre_expr e) {
  if (!build_allowed(b, e)) return;
  const ir_expr *node = ir_builder_expr(b, e);
  if (node->op < VYRE_OP_ATOMIC_ADD || node->op > VYRE_OP_ATOMIC_STORE) {
    ir_builder_report(b, VYRE_V147, "%s",
                      node->op == VYRE_OP_NONE ? "no expression" : vyre_op_describe(node->op)->name);
    return;
  }
  count_uses(b, e);
  append(b, (ir_stmt){ .op = VYRE_STMT_EVAL, .arg[0] = e });
}

/* ---- Control flow -------------------------------------------------------------------------- */

void vyre_build_if(vyre_builder *b, vyre_expr condition) {
  bool good = operand(b, condition, VYRE_TYPE_BOOL, VYRE_V123);
  uint32_t stmt = append(b, (ir_stmt){ .op = VYRE_STMT_IF, .arg[0] = good ? condition : 0 });
  open_block(b, stmt, false);
}

void vyre_build_else(vyre_builder *b) {
  build_block *block = build_top(b);
  bool fits = b->blocks.count > 1 && !block->in_else &&
              (block->owner == 0 || b->program->stmts.data[block->owner].op == VYRE_STMT_IF);
  if (!fits) {
    if (!b->out_of_memory) ir_builder_report(b, VYRE_V150, "else without an open if");
    return;
  }
  pass_depth_on(b);
  close_scope(b, block->names);
  block->in_else = true;
  block->deepest = block->nesting;
  block->last = 0;
  block->ended = false;
}

vyre_var ir_build_for(vyre_builder *b, uint32_t name, vyre_expr from, vyre_expr to, vyre_expr step) {
  bool good = operand(b, from, VYRE_TYPE_NONE, VYRE_V124);
  vyre_type type = vyre_build_type_of(b, from);
  if (good && (!ir_is_integer(type) || ir_is_vector(type))) {
    ir_builder_report(b, VYRE_V124, "it is %s", build_type_name(type));
    good = false;
  }
  good = good && operand(b, to, type, VYRE_V125);
  if (step != 0) good = good && operand(b, step, type, VYRE_V125);
  uint32_t stmt = append(b, (ir_stmt){ .op = VYRE_STMT_FOR, .arg = { from, to, step, 0, b->program->vars.count } });
  open_block(b, stmt, true);
  return good && stmt != 0 ? add_var(b, name, type, VYRE_STMT_FOR) : VYRE_NO_VAR;
}

vyre_var vyre_build_for(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to, vyre_expr step) {
  return ir_build_for(b, build_intern(b, name), from, to, step);
}

void vyre_build_loop(vyre_builder *b) { open_block(b, append(b, (ir_stmt){ .op = VYRE_STMT_LOOP }), true); }
void vyre_build_block(vyre_builder *b) { open_block(b, append(b, (ir_stmt){ .op = VYRE_STMT_BLOCK }), false); }

/* Strings of regions and prints: any UTF-8 up to the limit. */
static bool check_string(vyre_builder *b, uint32_t string) {
  if (string >= b->names.count) return false;
  const vyre_string *s = &b->program->strings.table.data[string];
  if (s->bytes <= VYRE_MAX_STRING_BYTES && vyre_utf8_valid(s->text, s->bytes)) return true;
  ir_builder_report(b, VYRE_V142, "a string of %u bytes%s", s->bytes,
                    s->bytes <= VYRE_MAX_STRING_BYTES ? " is not UTF-8" : "");
  return false;
}

void ir_build_region(vyre_builder *b, uint32_t name) {
  uint32_t stmt = check_string(b, name) ? append(b, (ir_stmt){ .op = VYRE_STMT_REGION, .arg[4] = name }) : 0;
  open_block(b, stmt, false);
}

void vyre_build_region(vyre_builder *b, const char *name) { ir_build_region(b, build_intern(b, name)); }

void vyre_build_simple(vyre_builder *b, vyre_stmt_op op) {
  bool jump = op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE || op == VYRE_STMT_RETURN;
  if (!jump && op != VYRE_STMT_BARRIER && op != VYRE_STMT_GRID_BARRIER && op != VYRE_STMT_COMMIT) {
    ir_builder_report(b, VYRE_V147, "statement %u has operands", (unsigned)op);
    return;
  }
  if (jump && op != VYRE_STMT_RETURN && !build_top(b)->in_loop) {
    ir_builder_report(b, VYRE_V144, "no loop is open");
    return;
  }
  if (append(b, (ir_stmt){ .op = (uint8_t)op }) != 0) build_top(b)->ended = jump;
}

/* ---- Ordering, diagnostics, copies --------------------------------------------------------- */

void vyre_build_fence(vyre_builder *b, vyre_order order, vyre_scope scope) {
  if (order < VYRE_ORDER_ACQUIRE || order > VYRE_ORDER_SEQ_CST || (unsigned)scope > VYRE_SCOPE_DEFAULT) {
    ir_builder_report(b, VYRE_V42, "order %u, scope %u of a fence", (unsigned)order, (unsigned)scope);
    return;
  }
  if (scope == VYRE_SCOPE_DEFAULT) scope = VYRE_SCOPE_DEVICE;
  append(b, (ir_stmt){ .op = VYRE_STMT_FENCE, .aux = (uint8_t)order, .aux2 = (uint8_t)scope });
}

void vyre_build_trap(vyre_builder *b, vyre_expr code) {
  if (operand(b, code, VYRE_TYPE_U32, VYRE_V139)) append(b, (ir_stmt){ .op = VYRE_STMT_TRAP, .arg[0] = code });
}

void vyre_build_pause(vyre_builder *b, vyre_expr nanoseconds) {
  if (operand(b, nanoseconds, VYRE_TYPE_U32, VYRE_V139))
    append(b, (ir_stmt){ .op = VYRE_STMT_PAUSE, .arg[0] = nanoseconds });
}

static uint32_t count_directives(const char *format) {
  uint32_t count = 0;
  for (const char *at = strstr(format, "{}"); at != NULL; at = strstr(at + 2, "{}")) count++;
  return count;
}

void ir_build_print(vyre_builder *b, uint32_t format, const vyre_expr *args, uint32_t count) {
  if (!check_string(b, format)) return;
  uint32_t directives = count_directives(ir_builder_text(b, format));
  if (directives != count) {
    ir_builder_report(b, VYRE_V151, "%u directives, %u arguments", directives, count);
    return;
  }
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    if (!operand(b, args[i], VYRE_TYPE_NONE, VYRE_V139)) good = false;
    else if (ir_is_vector(build_type_of(b, args[i]))) {
      ir_builder_report(b, VYRE_V139, "print takes scalars, argument %u is %s", i + 1,
                        build_type_name(build_type_of(b, args[i])));
      good = false;
    }
  }
  if (!good) return;
  vyre_program *p = b->program;
  uint32_t offset = p->lists.count;
  if (count > 0 && !vyre_vector_reserve(&p->lists, count)) {
    b->out_of_memory = true;
    return;
  }
  if (count > 0) memcpy(p->lists.data + offset, args, count * sizeof *args);
  p->lists.count += count;
  append(b, (ir_stmt){ .op = VYRE_STMT_PRINT, .arg = { 0, 0, count, count > 0 ? offset : 0, format } });
}

void vyre_build_print(vyre_builder *b, const char *format, const vyre_expr *args, uint32_t count) {
  ir_build_print(b, build_intern(b, format), args, count);
}

static bool check_copy_end(vyre_builder *b, vyre_binding binding, vyre_expr offset, bool written) {
  const ir_buffer *buffer = ir_builder_buffer(b, binding);
  if (buffer == NULL) {
    ir_builder_report(b, VYRE_V137, "there is no buffer %u", binding);
    return false;
  }
  vyre_access access = (vyre_access)buffer->access;
  if (written ? !is_storable(access) : access == VYRE_ACCESS_WRITE) {
    ir_builder_report(b, VYRE_V137, "\"%s\" can not be %s", ir_builder_text(b, buffer->name),
                      written ? "written" : "read");
    return false;
  }
  if (!build_check_index(b, &(ir_buffer){ .length = 0 }, offset, VYRE_V137)) return false;
  count_uses(b, offset);
  return true;
}

void vyre_build_copy_async(vyre_builder *b, bool workgroup, vyre_binding dst, vyre_expr dst_offset, vyre_binding src,
                           vyre_expr src_offset, vyre_expr count) {
  bool good = check_copy_end(b, dst, dst_offset, true);
  good &= check_copy_end(b, src, src_offset, false);
  if (!operand(b, count, VYRE_TYPE_U32, VYRE_V137) || !good) return;
  const ir_buffer *to = ir_builder_buffer(b, dst), *from = ir_builder_buffer(b, src);
  if (to->element != from->element) {
    ir_builder_report(b, VYRE_V137, "%s from %s", build_type_name((vyre_type)to->element),
                      build_type_name((vyre_type)from->element));
    return;
  }
  if (workgroup && (to->access == VYRE_ACCESS_LOCAL || from->access == VYRE_ACCESS_LOCAL)) {
    ir_builder_report(b, VYRE_V137, "a copy for the whole workgroup can not use local memory");
    return;
  }
  append(b, (ir_stmt){ .op = VYRE_STMT_COPY_ASYNC, .aux = workgroup,
                       .arg = { dst_offset, src_offset, count, dst, src } });
}

void vyre_build_wait(vyre_builder *b, uint32_t unfinished) {
  if (unfinished > 7) {
    ir_builder_report(b, VYRE_V145, "wait takes 0 to 7, found %u", unfinished);
    return;
  }
  append(b, (ir_stmt){ .op = VYRE_STMT_WAIT, .aux = (uint8_t)unfinished });
}
