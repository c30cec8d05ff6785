/* Printing programs: canonical text, from which the same program can be parsed. Statements wait on a heap stack, as
 * an else-if chain nests without limit. */
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "base/error.h"
#include "base/utf8.h"
#include "ir/text_const.h"
#include "ir/text_print.h"

enum { INDENT = 2, TABLE_WIDTH = 100 };

void text_print_string(vyre_writer *w, const char *text, uint32_t bytes) {
  static const char special[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
  vyre_write_text(w, "\"");
  for (uint32_t i = 0; i < bytes; i++) {
    unsigned char c = (unsigned char)text[i];
    const char *at = strchr(special, c);
    if (at != NULL) vyre_write(w, "\\%c", letters[at - special]);
    else if (c < 0x20 || c == 0x7F) vyre_write(w, "\\u{%X}", c);
    else vyre_write_bytes(w, text + i, 1);
  }
  vyre_write_text(w, "\"");
}

static void print_program_string(vyre_writer *w, const vyre_program *p, uint32_t string) {
  text_print_string(w, ir_text(p, string), p->strings.table.data[string].bytes);
}

/* ---- Header and declarations --------------------------------------------------------------- */

static void print_header(vyre_writer *w, const vyre_program *p) {
  vyre_write(w, "program %s workgroup(%u", ir_text(p, p->name), p->workgroup[0]);
  if (p->workgroup[1] > 1 || p->workgroup[2] > 1) vyre_write(w, ", %u", p->workgroup[1]);
  if (p->workgroup[2] > 1) vyre_write(w, ", %u", p->workgroup[2]);
  vyre_write_text(w, ")");
  if (p->attributes & VYRE_PROGRAM_CONTRACT) vyre_write_text(w, " contract");
  if (p->attributes & VYRE_PROGRAM_FLUSH) vyre_write_text(w, " flush");
  if (p->ulp != VYRE_ULP_UNSET) vyre_write(w, " ulp(%u)", p->ulp);
  if (p->subgroup != 0) vyre_write(w, " subgroup(%u)", p->subgroup);
  if (p->attributes & VYRE_PROGRAM_PROGRESS_WORKGROUPS) vyre_write_text(w, " progress(workgroups)");
  if (p->attributes & VYRE_PROGRAM_NONCOMPOSABLE) vyre_write_text(w, " noncomposable");
  if (ir_text(p, p->op_id)[0] != 0) {
    vyre_write_text(w, " op(");
    print_program_string(w, p, p->op_id);
    vyre_write_text(w, ")");
  }
  vyre_write_text(w, " {\n");
}

static uint64_t read_bits(const uint8_t *data, uint32_t bytes) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < bytes; i++) bits |= (uint64_t)data[i] << (8 * i);
  return bits;
}

static void print_scalar(vyre_writer *w, vyre_type element, const uint8_t *data) {
  vyre_type value = vyre_type_describe(element)->value;
  text_print_literal(w, value, text_widen(element, read_bits(data, vyre_type_describe(element)->bytes)), value);
}

static void print_table_element(vyre_writer *w, vyre_type element, const uint8_t *data) {
  const vyre_type_info *info = vyre_type_describe(element);
  if (info->lanes == 1) {
    print_scalar(w, element, data);
    return;
  }
  vyre_write(w, "%s(", info->spelling);
  for (uint32_t i = 0; i < info->lanes; i++) {
    if (i > 0) vyre_write_text(w, ", ");
    print_scalar(w, info->component, data + 4 * i);
  }
  vyre_write_text(w, ")");
}

static void print_table(vyre_writer *w, const vyre_program *p, const ir_buffer *b) {
  const vyre_type_info *info = vyre_type_describe((vyre_type)b->element);
  vyre_write(w, "const %s: %s[%llu] = {", ir_text(p, b->name), info->spelling, (unsigned long long)b->length);
  size_t line = w->count - INDENT;
  for (uint64_t i = 0; i < b->length; i++) {
    bool full = i > 0 && w->count - line > TABLE_WIDTH;
    vyre_write_text(w, i == 0 ? "" : full ? ",\n" : ", ");
    if (full) {
      line = w->count;
      vyre_write_repeat(w, ' ', 2 * INDENT);
    }
    print_table_element(w, (vyre_type)b->element, b->data + i * info->bytes);
  }
  vyre_write_text(w, "};\n");
}

static void print_buffer(vyre_writer *w, const vyre_program *p, const ir_buffer *b) {
  static const char accesses[][8] = { "read", "rw", "const", "shared", "write", "local" };
  vyre_write_repeat(w, ' ', INDENT);
  if (b->access == VYRE_ACCESS_TABLE) {
    print_table(w, p, b);
    return;
  }
  vyre_write(w, "%s %s: %s[", accesses[b->access], ir_text(p, b->name),
             vyre_type_describe((vyre_type)b->element)->spelling);
  if (b->length > 0) vyre_write(w, "%llu", (unsigned long long)b->length);
  vyre_write_text(w, "];\n");
}

static void print_declarations(vyre_writer *w, const vyre_program *p) {
  for (uint32_t i = 0; i < p->params.count; i++) {
    const ir_param *param = &p->params.data[i];
    vyre_write(w, "  param %s: %s;\n", ir_text(p, param->name), vyre_type_describe((vyre_type)param->type)->spelling);
  }
  for (uint32_t i = 0; i < p->buffers.count; i++) print_buffer(w, p, &p->buffers.data[i]);
  if (p->params.count + p->buffers.count > 0 && ir_entry(p) != 0) vyre_write_text(w, "\n");
}

/* ---- Statements ---------------------------------------------------------------------------- */

static const char *var_name(const vyre_program *p, uint32_t var) { return ir_text(p, p->vars.data[var].name); }
static const char *buffer_name(const vyre_program *p, uint32_t binding) {
  return ir_text(p, p->buffers.data[binding].name);
}

static void print_element(vyre_writer *w, const vyre_program *p, uint32_t binding, uint32_t index) {
  vyre_write(w, "%s[", buffer_name(p, binding));
  text_print_expr(w, p, index, VYRE_TYPE_U32);
  vyre_write_text(w, "]");
}

static void print_store(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  vyre_type element = (vyre_type)p->buffers.data[s->arg[4]].element;
  print_element(w, p, s->arg[4], s->arg[0]);
  vyre_write_text(w, " = ");
  text_print_expr(w, p, s->arg[1], vyre_type_describe(element)->value);
}

static void print_print(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  vyre_write_text(w, "print(");
  print_program_string(w, p, s->arg[4]);
  for (uint32_t i = 0; i < s->arg[2]; i++) {
    vyre_write_text(w, ", ");
    text_print_expr(w, p, p->lists.data[s->arg[3] + i], VYRE_TYPE_NONE);
  }
  vyre_write_text(w, ")");
}

static void print_copy(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  vyre_write(w, "copy_async %s", s->aux ? "workgroup " : "");
  print_element(w, p, s->arg[3], s->arg[0]);
  vyre_write_text(w, ", ");
  print_element(w, p, s->arg[4], s->arg[1]);
  vyre_write_text(w, ", ");
  text_print_expr(w, p, s->arg[2], VYRE_TYPE_U32);
}

static void print_operand(vyre_writer *w, const vyre_program *p, const char *word, uint32_t expr) {
  vyre_write(w, "%s(", word);
  text_print_expr(w, p, expr, VYRE_TYPE_U32);
  vyre_write_text(w, ")");
}

/* A statement without blocks, up to its semicolon. */
static void print_simple(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  static const char orders[][8] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst" };
  static const char scopes[][10] = { "workgroup", "device", "system" };
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
      vyre_write(w, "%s %s = ", s->op == VYRE_STMT_LET ? "let" : "var", var_name(p, s->arg[4]));
      text_print_expr(w, p, s->arg[0], VYRE_TYPE_NONE);
      break;
    case VYRE_STMT_ASSIGN:
      vyre_write(w, "%s = ", var_name(p, s->arg[4]));
      text_print_expr(w, p, s->arg[0], (vyre_type)p->vars.data[s->arg[4]].type);
      break;
    case VYRE_STMT_STORE: print_store(w, p, s); break;
    case VYRE_STMT_EVAL: text_print_expr(w, p, s->arg[0], VYRE_TYPE_NONE); break;
    case VYRE_STMT_BREAK: vyre_write_text(w, "break"); break;
    case VYRE_STMT_CONTINUE: vyre_write_text(w, "continue"); break;
    case VYRE_STMT_RETURN: vyre_write_text(w, "return"); break;
    case VYRE_STMT_BARRIER: vyre_write_text(w, "barrier"); break;
    case VYRE_STMT_GRID_BARRIER: vyre_write_text(w, "grid_barrier"); break;
    case VYRE_STMT_COMMIT: vyre_write_text(w, "commit"); break;
    case VYRE_STMT_FENCE: vyre_write(w, "fence(%s, %s)", orders[s->aux], scopes[s->aux2]); break;
    case VYRE_STMT_TRAP: print_operand(w, p, "trap", s->arg[0]); break;
    case VYRE_STMT_PAUSE: print_operand(w, p, "pause", s->arg[0]); break;
    case VYRE_STMT_PRINT: print_print(w, p, s); break;
    case VYRE_STMT_COPY_ASYNC: print_copy(w, p, s); break;
    default: vyre_write(w, "wait %u", s->aux); break;
  }
}

static void print_for(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  static const char *const separators[] = { "..", " step " };
  vyre_write(w, "for (%s in ", var_name(p, s->arg[4]));
  text_print_together(w, p, s->arg, s->arg[2] != 0 ? 3 : 2, separators);
  vyre_write_text(w, ")");
}

/* What stands before the { of a block. */
static void print_opening(vyre_writer *w, const vyre_program *p, const ir_stmt *s) {
  switch (s->op) {
    case VYRE_STMT_IF:
      vyre_write_text(w, "if (");
      text_print_expr(w, p, s->arg[0], VYRE_TYPE_BOOL);
      vyre_write_text(w, ") ");
      break;
    case VYRE_STMT_FOR:
      print_for(w, p, s);
      vyre_write_text(w, " ");
      break;
    case VYRE_STMT_LOOP: vyre_write_text(w, "loop "); break;
    case VYRE_STMT_REGION:
      vyre_write_text(w, "region ");
      print_program_string(w, p, s->arg[4]);
      vyre_write_text(w, " ");
      break;
    default: break;
  }
}

/* A block that is being printed. An else-if chain is one level, whose statement moves on. */
typedef struct level {
  uint32_t stmt; /* whose block it is */
  uint32_t at;   /* the block's next statement */
  bool in_else;
} level;

typedef struct walk {
  vyre_writer *w;
  const vyre_program *p;
  VYRE_VECTOR(level) levels;
} walk;

static void indent(walk *t) { vyre_write_repeat(t->w, ' ', (size_t)INDENT * t->levels.count); }

static void open_brace(walk *t, uint32_t first) { vyre_write_text(t->w, first != 0 ? "{\n" : "{"); }

/* Prints a statement; if it has blocks, its first one is the innermost level now. False without memory. */
static bool print_statement(walk *t, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(t->p, stmt);
  indent(t);
  bool block = s->op == VYRE_STMT_IF || s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_LOOP || s->op == VYRE_STMT_BLOCK ||
               s->op == VYRE_STMT_REGION;
  if (!block) {
    print_simple(t->w, t->p, s);
    vyre_write_text(t->w, ";\n");
    return true;
  }
  print_opening(t->w, t->p, s);
  open_brace(t, s->body);
  return vyre_vector_push(&t->levels, ((level){ stmt, s->body, false }));
}

/* Prints the end of the innermost level, or goes on with its else. */
static void close_level(walk *t) {
  level *top = &t->levels.data[t->levels.count - 1];
  const ir_stmt *s = ir_stmt_at(t->p, top->stmt);
  bool empty = (top->in_else ? s->orelse : s->body) == 0;
  if (!empty) vyre_write_repeat(t->w, ' ', (size_t)INDENT * (t->levels.count - 1));
  vyre_write_text(t->w, "}");
  if (s->op != VYRE_STMT_IF || top->in_else || s->orelse == 0) {
    vyre_write_text(t->w, "\n");
    t->levels.count--;
    return;
  }
  const ir_stmt *other = ir_stmt_at(t->p, s->orelse);
  bool chain = other->op == VYRE_STMT_IF && other->next == 0;
  vyre_write_text(t->w, " else ");
  if (chain) {
    print_opening(t->w, t->p, other);
    top->stmt = s->orelse;
  }
  top->in_else = !chain;
  top->at = chain ? other->body : s->orelse;
  open_brace(t, top->at);
}

/* The program itself is the outermost level, around its statements. */
static bool print_body(walk *t) {
  if (!vyre_vector_push(&t->levels, ((level){ 0, ir_entry(t->p), false }))) return false;
  while (t->levels.count > 0) {
    level *top = &t->levels.data[t->levels.count - 1];
    if (top->at != 0) {
      uint32_t stmt = top->at;
      top->at = ir_stmt_at(t->p, stmt)->next;
      if (!print_statement(t, stmt)) return false;
    } else if (t->levels.count == 1) {
      t->levels.count = 0;
    } else {
      close_level(t);
    }
    if (t->w->failed) return false;
  }
  return true;
}

vyre_status vyre_text_print(const vyre_program *program, char **out, size_t *length) {
  vyre_writer w = { 0 };
  walk t = { .w = &w, .p = program };
  *out = NULL;
  print_header(&w, program);
  print_declarations(&w, program);
  bool good = print_body(&t);
  vyre_vector_free(&t.levels);
  vyre_write_text(&w, "}\n");
  if (!good) w.failed = true;
  size_t count = w.count;
  *out = vyre_writer_take(&w);
  if (*out == NULL) return VYRE_ERR_NO_MEMORY;
  if (length != NULL) *length = count;
  return VYRE_OK;
}
