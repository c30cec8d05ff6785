/* Calls. A function's body is read again at each call, into a region of its own, with names of its own:
 *
 *   var __r0 = 0.0;
 *   region "call f" {
 *     let __f_a_1 = x;        // parameters
 *     __r0 = __f_a_1 * 2.0;   // return
 *   }
 *   ... __r0 ...
 *
 * What was evaluated before the call, and could change in it, is bound to names first. After the first error nothing
 * is inlined any more; bodies that no call has read are read at the end, once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text_parser.h"

/* ---- Names of a body ----------------------------------------------------------------------- */

static uint32_t mangle(text_parser *p, uint32_t name) {
  char text[2 * VYRE_MAX_NAME_BYTES + 32];
  const char *function = text_of(p, p->functions.data[p->function].name);
  int bytes = snprintf(text, sizeof text, "__%s_%s_%u", function, text_of(p, name), p->frame);
  if (bytes > (int)VYRE_MAX_NAME_BYTES) return text_fresh_name(p, 'v');
  uint32_t mangled = ir_builder_intern(p->b, text, (uint32_t)bytes);
  return ir_builder_find(p->b, mangled).kind == IR_SYMBOL_NONE ? mangled : text_fresh_name(p, 'v');
}

/* Whether a name can be declared in the body that is being read; says why not. */
static bool is_free(text_parser *p, uint32_t name, uint32_t pos) {
  ir_symbol symbol = text_find(p, name);
  bool own = p->functions.data[p->function].name == name;
  if (symbol.kind == IR_SYMBOL_NONE && !own) return true;
  bool same_block = symbol.kind == IR_SYMBOL_VAR && text_name_at(p, name)->level == p->blocks.count;
  text_report(p, same_block ? VYRE_V32 : VYRE_V8, pos, "\"%s\"", text_of(p, name));
  return false;
}

static void bind_name(text_parser *p, uint32_t name, vyre_var var) {
  text_name *entry = text_name_at(p, name);
  if (!vyre_vector_push(&p->undo, ((text_undo){ name, entry->frame, entry->level, entry->var }))) {
    text_no_memory(p);
    return;
  }
  entry->frame = p->frame;
  entry->level = p->blocks.count;
  entry->var = var;
}

/* A name that was declared, or whose declaration failed. */
static vyre_var declared(text_parser *p, uint32_t name, vyre_var var) {
  if (var == VYRE_NO_VAR) {
    if (text_find(p, name).kind == IR_SYMBOL_NONE) text_poison(p, name);
  } else if (p->function != UINT32_MAX) {
    bind_name(p, name, var);
  }
  return var;
}

vyre_var text_declare(text_parser *p, vyre_stmt_op op, uint32_t name, uint32_t pos, vyre_expr value) {
  bool inside = p->function != UINT32_MAX;
  if (inside && !is_free(p, name, pos)) return VYRE_NO_VAR;
  vyre_build_position(p->b, pos);
  return declared(p, name, ir_build_declare(p->b, op, inside ? mangle(p, name) : name, value));
}

vyre_var text_declare_for(text_parser *p, uint32_t name, uint32_t pos, const vyre_expr bounds[3]) {
  bool inside = p->function != UINT32_MAX, free = !inside || is_free(p, name, pos);
  vyre_build_position(p->b, pos);
  vyre_var var = ir_build_for(p->b, inside ? mangle(p, name) : name, bounds[0], bounds[1], bounds[2]);
  return free ? declared(p, name, var) : VYRE_NO_VAR;
}

/* ---- Frames -------------------------------------------------------------------------------- */

/* Where the parser was when a body began. */
typedef struct text_frame {
  text_lexer lex;
  text_token token;
  uint32_t name, frame, function;
  uint16_t word;
  vyre_var result;
} text_frame;

/* Opens the region of a call. Its parameters are declared next. */
static bool open_frame(text_parser *p, uint32_t function, uint32_t pos, text_frame *frame) {
  char text[VYRE_MAX_NAME_BYTES + 16];
  const text_function *f = &p->functions.data[function];
  *frame = (text_frame){ p->lex, p->token, p->name, p->frame, p->function, p->word, p->result };
  vyre_build_position(p->b, pos);
  vyre_var result = VYRE_NO_VAR;
  if (f->result != VYRE_TYPE_NONE)
    result = ir_build_declare(p->b, VYRE_STMT_VAR, text_fresh_name(p, 'r'), text_zero(p, (vyre_type)f->result));
  int bytes = snprintf(text, sizeof text, VYRE_CALL_REGION_PREFIX "%s", text_of(p, f->name));
  ir_build_region(p->b, ir_builder_intern(p->b, text, (uint32_t)bytes));
  p->frame = ++p->frames;
  p->function = function;
  p->result = result;
  p->depth++;
  return text_push_block(p, BLOCK_FUNCTION, pos);
}

static void close_frame(text_parser *p, const text_frame *frame) {
  vyre_build_end(p->b);
  p->depth--;
  p->frame = frame->frame;
  p->function = frame->function;
  p->result = frame->result;
  if (p->stop) return;
  p->lex = frame->lex;
  p->token = frame->token;
  p->name = frame->name;
  p->word = frame->word;
}

/* ---- Calls of functions -------------------------------------------------------------------- */

static void drop(text_parser *p, uint32_t count, operand result) {
  text_drop(p, count);
  text_push(p, result);
}

/* Gives the arguments the types of the parameters; false and said if they have others. */
static bool check_arguments(text_parser *p, const text_function *f, uint32_t count, uint32_t pos) {
  if (count != f->count) {
    text_report(p, VYRE_V20, pos, "%s takes %u, found %u", text_of(p, f->name), f->count, count);
    return false;
  }
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    operand *x = &p->operands.data[p->operands.count - count + i];
    vyre_type type = (vyre_type)p->parameters.data[f->first + i].type;
    vyre_expr e = text_resolve_to(p, x, type, VYRE_V139, "the parameter");
    *x = operand_expr(e, x->pos);
    good &= e != 0;
  }
  return good;
}

/* The value of a call. Only its own region assigns to the var, so it needs no name besides. */
static operand result_of(text_parser *p, vyre_type type, vyre_var var, uint32_t pos) {
  vyre_build_position(p->b, pos);
  if (type == VYRE_TYPE_NONE) return (operand){ .kind = OPERAND_VOID, .pos = pos };
  return operand_expr(var != VYRE_NO_VAR ? vyre_build_var_value(p->b, var) : 0, pos);
}

/* A call whose body is not read here: only its type counts. */
static operand stand_in(text_parser *p, vyre_type type, uint32_t pos) {
  vyre_build_position(p->b, pos);
  if (type == VYRE_TYPE_NONE) return (operand){ .kind = OPERAND_VOID, .pos = pos };
  return operand_expr(text_bind(p, text_zero(p, type)), pos);
}

void text_call_function(text_parser *p, uint32_t function, uint32_t count, uint32_t pos) {
  operand failed = operand_failed(pos);
  if (function == UINT32_MAX || p->stop) {
    drop(p, count, failed);
    return;
  }
  text_function f = p->functions.data[function];
  if (!check_arguments(p, &f, count, pos)) {
    drop(p, count, failed);
    return;
  }
  if (p->check || ir_builder_failed(p->b)) {
    drop(p, count, stand_in(p, (vyre_type)f.result, pos));
    return;
  }
  if (p->depth == VYRE_MAX_CALL_DEPTH) {
    text_report(p, VYRE_V140, pos, "\"%s\" would be call %u", text_of(p, f.name), p->depth + 1);
    drop(p, count, failed);
    return;
  }
  text_settle(p, p->operands.count - count);
  text_frame frame;
  if (open_frame(p, function, pos, &frame)) {
    for (uint32_t i = 0; i < count; i++) {
      const text_parameter *parameter = &p->parameters.data[f.first + i];
      text_declare(p, VYRE_STMT_LET, parameter->name, parameter->pos,
                   p->operands.data[p->operands.count - count + i].expr);
    }
    text_drop(p, count);
    count = 0;
    text_seek(p, f.body);
    text_block_body(p);
  }
  vyre_var result = p->result;
  close_frame(p, &frame);
  p->functions.data[function].read = true;
  drop(p, count, p->stop ? failed : result_of(p, (vyre_type)f.result, result, pos));
}

void text_check_functions(text_parser *p) {
  for (uint32_t i = 0; i < p->functions.count && !p->stop; i++) {
    if (i < p->already->functions.count && p->already->functions.data[i].read) continue;
    text_function f = p->functions.data[i];
    text_frame frame;
    if (open_frame(p, i, f.pos, &frame)) {
      for (uint32_t k = 0; k < f.count; k++) {
        const text_parameter *parameter = &p->parameters.data[f.first + k];
        text_declare(p, VYRE_STMT_LET, parameter->name, parameter->pos, text_zero(p, (vyre_type)parameter->type));
      }
      text_seek(p, f.body);
      text_block_body(p);
    }
    close_frame(p, &frame);
  }
}

/* ---- Calls of operations ------------------------------------------------------------------- */

static bool read_arguments(text_parser *p, vyre_call_arg *args, uint32_t count) {
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    operand *x = &p->operands.data[p->operands.count - count + i];
    args[i] = (vyre_call_arg){ x->kind == OPERAND_BUFFER ? x->binding : VYRE_NO_BINDING, 0 };
    if (x->kind == OPERAND_BUFFER) continue;
    *x = operand_expr(text_resolve(p, x, VYRE_TYPE_NONE), x->pos);
    good &= x->kind == OPERAND_EXPR;
  }
  if (!good) return false;
  text_settle(p, p->operands.count);
  for (uint32_t i = 0; i < count; i++) {
    const operand *x = &p->operands.data[p->operands.count - count + i];
    if (x->kind == OPERAND_EXPR) args[i].value = x->expr;
    else if (x->kind == OPERAND_FAILED) good = false;
  }
  return good;
}

static operand expand_operation(text_parser *p, uint32_t id, const vyre_call_arg *args, uint32_t count, uint32_t pos) {
  const vyre_call_resolver *resolver = p->options != NULL ? p->options->resolver : NULL;
  vyre_expr result = 0;
  uint32_t faults = vyre_builder_errors(p->b);
  vyre_build_position(p->b, pos);
  vyre_status status = resolver != NULL ? resolver->expand(resolver->ctx, p->b, text_of(p, id), args, count, &result)
                                        : VYRE_ERR_NOT_FOUND;
  p->effects++;
  if (status == VYRE_ERR_NO_MEMORY) text_no_memory(p);
  else if (status != VYRE_OK && vyre_builder_errors(p->b) == faults)
    text_report(p, VYRE_V16, pos, "\"%.200s\"%s", text_of(p, id),
                status == VYRE_ERR_NOT_FOUND ? "" : " could not be expanded");
  if (status != VYRE_OK) return operand_failed(pos);
  if (result == 0) return (operand){ .kind = OPERAND_VOID, .pos = pos };
  vyre_build_position(p->b, pos);
  return operand_expr(ir_builder_stable(p->b, result) ? result : text_bind(p, result), pos);
}

void text_call_operation(text_parser *p, uint32_t id, uint32_t count, uint32_t pos) {
  operand result = operand_failed(pos);
  vyre_call_arg *args = calloc((size_t)count + 1, sizeof *args);
  if (args == NULL) text_no_memory(p);
  else if (read_arguments(p, args, count)) result = expand_operation(p, id, args, count, pos);
  free(args);
  drop(p, count, result);
}
