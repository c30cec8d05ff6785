/* Statements. Blocks that are open wait on a stack, so that their nesting costs no C stack. */
#include <string.h>

#include "ir/text_parser.h"

static bool end_statement(text_parser *p) { return text_expect(p, TEXT_SEMICOLON, ";"); }

/* ---- Blocks -------------------------------------------------------------------------------- */

static text_block *top_block(text_parser *p) { return &p->blocks.data[p->blocks.count - 1]; }
static bool is_conditional(uint8_t kind) { return kind == BLOCK_IF || kind == BLOCK_ELSE || kind == BLOCK_LOOP; }

bool text_push_block(text_parser *p, block_kind kind, uint32_t pos) {
  text_block block = {.kind = (uint8_t)kind, .pos = pos, .undo = p->undo.count, .flow = p->flow, .commits = p->commits};
  if (!vyre_vector_push(&p->blocks, block)) return text_no_memory(p), false;
  if (is_conditional((uint8_t)kind)) p->flow = ++p->flows;
  return true;
}

static void restore_names(text_parser *p, uint32_t undo) {
  while (p->undo.count > undo) {
    text_undo old = p->undo.data[--p->undo.count];
    text_name *entry = text_name_at(p, old.name);
    entry->frame = old.frame;
    entry->level = old.level;
    entry->var = old.var;
  }
}

/* Leaves the innermost block. What it opened in the builder is closed, but for a call's region. */
static void pop_block(text_parser *p) {
  text_block block = *top_block(p);
  restore_names(p, block.undo);
  if (block.kind != BLOCK_BODY && block.kind != BLOCK_FUNCTION)
    for (uint32_t i = 0; i <= block.chain; i++) vyre_build_end(p->b);
  if (is_conditional(block.kind)) p->flow = p->commits == block.commits ? block.flow : ++p->flows;
  p->blocks.count--;
}

static bool open_brace(text_parser *p) { return text_expect(p, TEXT_OPEN_BRACE, "{"); }

static bool read_condition(text_parser *p, vyre_expr *condition) {
  operand x;
  if (!text_expect(p, TEXT_OPEN, "(") || !text_expression(p, &x) || !text_expect(p, TEXT_CLOSE, ")")) return false;
  *condition = text_resolve_to(p, &x, VYRE_TYPE_BOOL, VYRE_V123, "a condition");
  vyre_build_position(p->b, x.pos);
  return true;
}

/* `else {` or `else if (condition) {` behind the } of an if. */
static bool read_else(text_parser *p) {
  vyre_expr condition;
  text_block *block = top_block(p);
  restore_names(p, block->undo);
  vyre_build_position(p->b, p->token.start);
  vyre_build_else(p->b);
  p->flow = ++p->flows;
  text_advance(p);
  if (!text_at_word(p, WORD_if)) {
    block->kind = BLOCK_ELSE;
    return text_expect(p, TEXT_OPEN_BRACE, "{ or if after else");
  }
  text_advance(p);
  if (!read_condition(p, &condition)) return false;
  vyre_build_if(p->b, condition);
  top_block(p)->chain++;
  return open_brace(p);
}

/* At the } of the innermost block. */
static void close_block(text_parser *p) {
  text_block *block = top_block(p);
  uint32_t pos = p->token.start;
  if (block->kind == BLOCK_FUNCTION) {
    bool wants = p->functions.data[p->function].result != VYRE_TYPE_NONE;
    if (wants && !block->returned) text_report(p, VYRE_S9, pos, "the function ends without return");
    pop_block(p);
    return;
  }
  text_advance(p);
  if (block->kind == BLOCK_IF && text_at_word(p, WORD_else)) {
    if (read_else(p)) return;
    pop_block(p);
    text_recover(p, pos);
    return;
  }
  pop_block(p);
}

/* ---- Variables ----------------------------------------------------------------------------- */

static bool read_declaration(text_parser *p, vyre_stmt_op op) {
  uint32_t name, pos;
  vyre_type type = VYRE_TYPE_NONE;
  operand x;
  text_advance(p);
  if (!text_read_new_name(p, &name, &pos)) return false;
  bool good = !text_accept(p, TEXT_COLON) || text_read_type(p, &type);
  good = good && text_expect(p, TEXT_ASSIGN, "= and a value") && text_expression(p, &x);
  if (!good) {
    text_poison(p, name);
    return false;
  }
  vyre_expr value = 0;
  if (ir_is_narrow(type))
    text_report(p, VYRE_V136, pos, "%s is stored only, it is no type of values", vyre_type_describe(type)->spelling);
  else if (type != VYRE_TYPE_NONE) value = text_resolve_to(p, &x, type, VYRE_V45, "the declared type");
  else value = text_resolve(p, &x, VYRE_TYPE_NONE);
  text_declare(p, op, name, pos, value);
  return end_statement(p);
}

static bool is_assignment(uint8_t kind) { return kind >= TEXT_ASSIGN && kind <= TEXT_ASSIGN_RIGHT; }

static vyre_op compound_operator(uint8_t kind) {
  return text_infix_operator((text_kind)(kind - TEXT_ASSIGN_PLUS + TEXT_PLUS));
}

/* Reads `= e` or `op= e`; |old| is what a compound one starts from. */
static bool read_assigned(text_parser *p, operand old, operand *value) {
  uint8_t kind = p->token.kind;
  uint32_t pos = p->token.start;
  if (!is_assignment(kind)) return text_unexpected(p, "an assignment");
  text_advance(p);
  if (kind == TEXT_ASSIGN) return text_expression(p, value);
  if (!text_push(p, old) || !text_expression(p, value)) return false;
  operand both[2] = { text_pop(p), *value };
  *value = text_apply(p, compound_operator(kind), both, pos);
  return true;
}

/* The vector in |var| with one component replaced. */
static vyre_expr replace_component(text_parser *p, vyre_var var, uint32_t component, operand value) {
  vyre_type type = vyre_build_var_type(p->b, var);
  vyre_expr parts[4] = { 0 }, vector = vyre_build_var_value(p->b, var);
  uint32_t lanes = vyre_type_describe(type)->lanes;
  vyre_expr part = text_resolve_to(p, &value, ir_component(type), VYRE_V45, "the component");
  if (part == 0) return 0;
  for (uint32_t i = 0; i < lanes; i++) parts[i] = i == component ? part : vyre_build_extract(p->b, vector, i);
  return vyre_build_vector(p->b, type, parts, lanes);
}

static bool read_component_assignment(text_parser *p, vyre_var var, uint32_t pos) {
  operand value, old = operand_failed(pos);
  uint32_t dot = p->token.start;
  text_advance(p);
  if (!text_at(p, TEXT_NAME)) return text_unexpected(p, "x, y, z or w");
  uint32_t component = text_read_component(p);
  bool known = var != VYRE_NO_VAR && component != UINT32_MAX;
  if (known) {
    vyre_build_position(p->b, dot);
    old = operand_expr(vyre_build_extract(p->b, vyre_build_var_value(p->b, var), component), pos);
  }
  if (!read_assigned(p, old, &value)) return false;
  if (known && old.kind != OPERAND_FAILED) {
    vyre_expr vector = replace_component(p, var, component, value);
    vyre_build_position(p->b, pos);
    if (vector != 0) vyre_build_assign(p->b, var, vector);
  }
  return end_statement(p);
}

static vyre_var find_var(text_parser *p, uint32_t name, uint32_t pos) {
  ir_symbol symbol = text_find(p, name);
  if (symbol.kind == IR_SYMBOL_VAR) return symbol.index;
  if (!text_name_at(p, name)->poisoned)
    text_report_near(p, VYRE_V120, pos, name, symbol.kind == IR_SYMBOL_NONE ? TEXT_NEAR_VAR : 0,
                     symbol.kind == IR_SYMBOL_NONE ? "is not declared" : "is no variable");
  if (symbol.kind == IR_SYMBOL_NONE) text_poison(p, name);
  return VYRE_NO_VAR;
}

/* Behind a name at the start of a statement. */
static bool read_assignment(text_parser *p, uint32_t name, uint32_t pos) {
  operand value, old = operand_failed(pos);
  if (!is_assignment(p->token.kind) && !text_at(p, TEXT_DOT)) {
    if (text_at(p, TEXT_ERROR) || text_at(p, TEXT_END)) return text_unexpected(p, "an assignment");
    text_report_near(p, VYRE_V147, pos, name, TEXT_NEAR_STATEMENT, "begins neither an assignment nor a call");
    return false;
  }
  vyre_var var = find_var(p, name, pos);
  if (text_at(p, TEXT_DOT)) return read_component_assignment(p, var, pos);
  vyre_build_position(p->b, pos);
  if (var != VYRE_NO_VAR) old = operand_expr(vyre_build_var_value(p->b, var), pos);
  if (!read_assigned(p, old, &value)) return false;
  if (var != VYRE_NO_VAR) {
    vyre_expr e = text_resolve_to(p, &value, vyre_build_var_type(p->b, var), VYRE_V45, "the variable");
    vyre_build_position(p->b, pos);
    if (e != 0) vyre_build_assign(p->b, var, e);
  }
  return end_statement(p);
}

/* ---- Elements ------------------------------------------------------------------------------ */

/* The element that a compound assignment starts from. Its index is evaluated once, so one with an effect is bound. */
static operand load_element(text_parser *p, vyre_binding binding, uint32_t pos) {
  operand *index = &p->operands.data[p->operands.count - 1];
  if (binding == VYRE_NO_BINDING || index->kind != OPERAND_EXPR) return operand_failed(pos);
  vyre_build_position(p->b, pos);
  uint16_t once = VYRE_EFFECT_EFFECT | VYRE_EFFECT_CONVERGENT;
  if ((ir_builder_meta(p->b, index->expr)->flags & once) != 0)
    *index = operand_expr(text_bind(p, index->expr), index->pos);
  if (index->kind != OPERAND_EXPR) return operand_failed(pos);
  return operand_expr(vyre_build_load(p->b, VYRE_OP_LOAD, binding, index->expr), pos);
}

static void build_store(text_parser *p, vyre_binding binding, operand index, operand value, uint32_t pos) {
  const ir_buffer *buffer = ir_builder_buffer(p->b, binding);
  if (buffer == NULL || index.kind != OPERAND_EXPR) {
    text_resolve(p, &value, VYRE_TYPE_NONE);
    return;
  }
  vyre_type wanted = vyre_type_describe((vyre_type)buffer->element)->value;
  bool storable = buffer->access != VYRE_ACCESS_READ && buffer->access != VYRE_ACCESS_TABLE;
  vyre_expr e = storable ? text_resolve_to(p, &value, wanted, VYRE_V121, "the value of an element")
                         : text_resolve(p, &value, wanted);
  vyre_type type = vyre_build_type_of(p->b, index.expr);
  bool good = type == VYRE_TYPE_U32 || type == VYRE_TYPE_U64;
  vyre_build_position(p->b, good || !storable ? pos : index.pos);
  if (e != 0) vyre_build_store(p->b, binding, index.expr, e);
  p->effects++;
}

static bool read_store(text_parser *p) {
  uint32_t pos = p->token.start;
  vyre_binding binding;
  operand value, old = operand_failed(pos);
  if (!text_element(p, VYRE_V64, &binding)) return false;
  if (text_at(p, TEXT_SEMICOLON)) {
    text_report(p, VYRE_V147, pos, "a load alone does nothing");
    return false;
  }
  if (p->token.kind > TEXT_ASSIGN && is_assignment(p->token.kind)) old = load_element(p, binding, pos);
  if (!read_assigned(p, old, &value)) return false;
  build_store(p, binding, text_pop(p), value, pos);
  return end_statement(p);
}

/* A call or an atomic that stands alone. */
static bool read_effect(text_parser *p) {
  uint32_t pos = p->token.start;
  operand x;
  if (!text_expression(p, &x)) return false;
  if (x.kind != OPERAND_VOID && x.kind != OPERAND_FAILED) {
    bool atomic = x.kind == OPERAND_EXPR && ir_builder_expr(p->b, x.expr)->op >= VYRE_OP_ATOMIC_ADD &&
                  ir_builder_expr(p->b, x.expr)->op <= VYRE_OP_ATOMIC_STORE;
    vyre_build_position(p->b, pos);
    if (atomic) vyre_build_eval(p->b, x.expr);
    else text_report(p, VYRE_V147, pos, "its value is not used");
    p->effects++;
  }
  return end_statement(p);
}

static bool read_name_statement(text_parser *p) {
  uint32_t name = p->name, pos = p->token.start;
  char next = text_lex_peek(&p->lex);
  if (next == '(') return read_effect(p);
  if (next == '[') return read_store(p);
  text_advance(p);
  return read_assignment(p, name, pos);
}

/* ---- Control flow -------------------------------------------------------------------------- */

static bool read_if(text_parser *p) {
  uint32_t pos = p->token.start;
  vyre_expr condition;
  text_advance(p);
  if (!read_condition(p, &condition)) return false;
  if (!text_at(p, TEXT_OPEN_BRACE)) return text_unexpected(p, "{");
  vyre_build_if(p->b, condition);
  if (!text_push_block(p, BLOCK_IF, pos)) return false;
  return open_brace(p);
}

/* Where the builder's message about the bounds of a loop belongs. */
static uint32_t bounds_position(const text_parser *p, const operand *x, const vyre_expr *bounds, uint32_t count) {
  vyre_type type = vyre_build_type_of(p->b, bounds[0]);
  if (!ir_is_integer(type) || ir_is_vector(type)) return x[0].pos;
  for (uint32_t i = 1; i < count; i++)
    if (vyre_build_type_of(p->b, bounds[i]) != type) return x[i].pos;
  return VYRE_NO_POSITION;
}

static bool read_for(text_parser *p) {
  uint32_t pos = p->token.start, name, name_pos, count = 2;
  operand x[3];
  vyre_expr bounds[3] = { 0 };
  text_advance(p);
  if (!text_expect(p, TEXT_OPEN, "(") || !text_read_new_name(p, &name, &name_pos)) return false;
  text_name_at(p, name); /* room for it, whatever follows */
  bool good = text_expect_word(p, WORD_in, "in") && text_expression(p, &x[0]) && text_push(p, x[0]) &&
              text_expect(p, TEXT_RANGE, "..") && text_expression(p, &x[1]) && text_push(p, x[1]);
  if (good && text_at_word(p, WORD_step)) {
    text_advance(p);
    good = text_expression(p, &x[2]) && text_push(p, x[2]);
    count = 3;
  }
  if (!good || !text_expect(p, TEXT_CLOSE, ")") || !text_at(p, TEXT_OPEN_BRACE)) {
    text_poison(p, name);
    return good && !text_at(p, TEXT_OPEN_BRACE) ? text_unexpected(p, "{") : false;
  }
  for (uint32_t i = count; i > 0; i--) x[i - 1] = text_pop(p);
  text_resolve_together(p, x, count, bounds);
  bool known = bounds[0] != 0 && bounds[1] != 0 && (count == 2 || bounds[2] != 0);
  uint32_t fault = known ? bounds_position(p, x, bounds, count) : VYRE_NO_POSITION;
  if (!known) memset(bounds, 0, sizeof bounds);
  if (!text_push_block(p, BLOCK_LOOP, pos)) return false;
  text_declare_for(p, name, fault != VYRE_NO_POSITION ? fault : name_pos, bounds);
  return open_brace(p);
}

static bool read_block(text_parser *p, block_kind kind, void (*build)(vyre_builder *b)) {
  uint32_t pos = p->token.start;
  if (kind == BLOCK_LOOP) text_advance(p);
  if (!text_at(p, TEXT_OPEN_BRACE)) return text_unexpected(p, "{");
  vyre_build_position(p->b, pos);
  build(p->b);
  return text_push_block(p, kind, pos) && open_brace(p);
}

static bool read_region(text_parser *p) {
  uint32_t pos = p->token.start, name;
  text_advance(p);
  if (!text_read_string(p, &name)) return false;
  if (!text_at(p, TEXT_OPEN_BRACE)) return text_unexpected(p, "{");
  vyre_build_position(p->b, pos);
  ir_build_region(p->b, name);
  return text_push_block(p, BLOCK_PLAIN, pos) && open_brace(p);
}

static bool read_simple(text_parser *p, vyre_stmt_op op) {
  vyre_build_position(p->b, p->token.start);
  vyre_build_simple(p->b, op);
  if (op == VYRE_STMT_COMMIT) p->commits++;
  p->effects++;
  text_advance(p);
  return end_statement(p);
}

/* `return` in a function: the value goes to the var of the call, and there is no jump, as nothing follows. */
static bool read_function_return(text_parser *p) {
  uint32_t pos = p->token.start;
  vyre_type result = (vyre_type)p->functions.data[p->function].result;
  bool last = top_block(p)->kind == BLOCK_FUNCTION;
  operand x;
  text_advance(p);
  if (last) top_block(p)->returned = true;
  else text_report(p, VYRE_S9, pos, "in a function it stands only at the end of the body");
  if (text_at(p, TEXT_SEMICOLON)) {
    if (result != VYRE_TYPE_NONE && last)
      text_report(p, VYRE_S9, pos, "the function gives %s", vyre_type_describe(result)->spelling);
  } else {
    if (!text_expression(p, &x)) return false;
    if (result == VYRE_TYPE_NONE) text_report(p, VYRE_S9, pos, "the function gives no value");
    vyre_expr e = result != VYRE_TYPE_NONE ? text_resolve_to(p, &x, result, VYRE_V45, "the function's result") : 0;
    vyre_build_position(p->b, pos);
    if (e != 0 && last && p->result != VYRE_NO_VAR) vyre_build_assign(p->b, p->result, e);
  }
  if (!end_statement(p)) return false;
  if (last && !text_at(p, TEXT_CLOSE_BRACE))
    text_report(p, VYRE_V112, p->token.start, "nothing after the return is reached");
  return true;
}

static bool read_return(text_parser *p) {
  uint32_t pos = p->token.start;
  if (p->function != UINT32_MAX) return read_function_return(p);
  vyre_build_position(p->b, pos);
  vyre_build_simple(p->b, VYRE_STMT_RETURN);
  p->effects++;
  text_advance(p);
  if (text_at(p, TEXT_SEMICOLON)) return end_statement(p);
  text_report(p, VYRE_S9, p->token.start, "outside of functions it gives no value");
  return false;
}

/* ---- Ordering, diagnostics, copies --------------------------------------------------------- */

static bool read_fence(text_parser *p) {
  uint32_t pos = p->token.start;
  vyre_order order;
  vyre_scope scope;
  text_advance(p);
  bool good = text_expect(p, TEXT_OPEN, "(") && text_read_order(p, &order) &&
              text_expect(p, TEXT_COMMA, ", and a scope") && text_read_scope(p, &scope);
  if (good) text_accept(p, TEXT_COMMA);
  if (!good || !text_expect(p, TEXT_CLOSE, ")")) return false;
  vyre_build_position(p->b, pos);
  vyre_build_fence(p->b, order, scope);
  p->effects++;
  return end_statement(p);
}

/* `trap(e);` and `pause(e);` */
static bool read_one(text_parser *p, void (*build)(vyre_builder *b, vyre_expr e)) {
  uint32_t pos = p->token.start;
  operand x;
  text_advance(p);
  if (!text_expect(p, TEXT_OPEN, "(") || !text_expression(p, &x) || !text_expect(p, TEXT_CLOSE, ")")) return false;
  vyre_expr e = text_resolve_to(p, &x, VYRE_TYPE_U32, VYRE_V139, "the operand");
  vyre_build_position(p->b, pos);
  if (e != 0) build(p->b, e);
  p->effects++;
  return end_statement(p);
}

/* Reads `, e` as often as it stands, with a comma more at the end allowed. */
static bool read_print_arguments(text_parser *p, uint32_t *count) {
  for (*count = 0; text_accept(p, TEXT_COMMA) && !text_at(p, TEXT_CLOSE); ++*count) {
    operand x;
    if (!text_expression(p, &x) || !text_push(p, x)) return false;
  }
  return true;
}

static bool read_print(text_parser *p) {
  uint32_t pos = p->token.start, format, count;
  text_advance(p);
  if (!text_expect(p, TEXT_OPEN, "(") || !text_read_string(p, &format) || !read_print_arguments(p, &count))
    return false;
  if (!text_expect(p, TEXT_CLOSE, ")")) return false;
  p->list.count = 0;
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    vyre_expr e = text_resolve(p, &p->operands.data[p->operands.count - count + i], VYRE_TYPE_NONE);
    good &= e != 0;
    if (!vyre_vector_push(&p->list, e)) return text_no_memory(p), false;
  }
  vyre_build_position(p->b, pos);
  if (good) ir_build_print(p->b, format, p->list.data, count);
  text_drop(p, count);
  p->effects++;
  return end_statement(p);
}

static void close_group(text_parser *p, uint32_t tag) {
  vyre_build_simple(p->b, VYRE_STMT_COMMIT);
  p->commits++;
  text_name *entry = text_name_at(p, tag);
  entry->tag_frame = p->frame;
  entry->tag_commits = p->commits;
  entry->tag_flow = p->flow;
}

/* `tag:`, UINT32_MAX if there is none. */
static bool read_tag(text_parser *p, uint32_t *tag) {
  uint32_t pos;
  *tag = UINT32_MAX;
  if (!text_at(p, TEXT_NAME) || text_lex_peek(&p->lex) != ':') return true;
  if (!text_read_new_name(p, tag, &pos)) return false;
  text_name_at(p, *tag);
  return text_expect(p, TEXT_COLON, ":");
}

static bool read_copy_async(text_parser *p) {
  uint32_t pos = p->token.start, tag;
  vyre_binding to, from;
  operand count;
  text_advance(p);
  char next = text_lex_peek(&p->lex);
  bool workgroup = text_at_text(p, "workgroup") && next != '[' && next != ':';
  if (workgroup) text_advance(p);
  if (!read_tag(p, &tag)) return false;
  bool good = text_element(p, VYRE_V137, &to) && text_expect(p, TEXT_COMMA, ", and the source") &&
              text_element(p, VYRE_V137, &from) && text_expect(p, TEXT_COMMA, ", and the number of elements") &&
              text_expression(p, &count);
  if (!good) return false;
  vyre_expr n = text_resolve_to(p, &count, VYRE_TYPE_U32, VYRE_V137, "the number of elements");
  operand source = text_pop(p), destination = text_pop(p);
  bool known = to != VYRE_NO_BINDING && from != VYRE_NO_BINDING && n != 0 && source.kind == OPERAND_EXPR &&
               destination.kind == OPERAND_EXPR;
  vyre_build_position(p->b, pos);
  if (known) vyre_build_copy_async(p->b, workgroup, to, destination.expr, from, source.expr, n);
  if (tag != UINT32_MAX) close_group(p, tag);
  p->effects++;
  return end_statement(p);
}

/* How many groups may stay open so that the tag's is finished. Only a straight run of statements since tells that;
 * otherwise all are waited for. */
static uint32_t groups_since(text_parser *p, uint32_t tag, uint32_t pos) {
  const text_name *entry = text_name_at(p, tag);
  if (entry->tag_flow == 0 || entry->tag_frame != p->frame) {
    text_report(p, VYRE_V66, pos, "no copy_async before has the tag \"%s\"", text_of(p, tag));
    return 0;
  }
  uint32_t since = p->commits - entry->tag_commits;
  return entry->tag_flow != p->flow ? 0 : since > 7 ? 7 : since;
}

static bool read_wait(text_parser *p) {
  uint32_t pos = p->token.start, groups = 0;
  text_advance(p);
  if (text_at(p, TEXT_INTEGER)) {
    if (!p->token.malformed) groups = p->token.value > 8 ? 8 : (uint32_t)p->token.value;
  } else if (text_at(p, TEXT_NAME) && p->word == WORD_NONE) {
    groups = groups_since(p, p->name, p->token.start);
  } else {
    return text_unexpected(p, "a literal 0 to 7 or a tag");
  }
  vyre_build_position(p->b, text_at(p, TEXT_INTEGER) && groups > 7 ? p->token.start : pos);
  vyre_build_wait(p->b, groups);
  p->effects++;
  text_advance(p);
  return end_statement(p);
}

/* ---- Any statement ------------------------------------------------------------------------- */

/* A declaration among the statements: its name is known, but stands for nothing. */
static bool misplaced_declaration(text_parser *p) {
  text_report(p, VYRE_S8, p->token.start, "\"%s\"", text_of(p, p->name));
  text_advance(p);
  if (text_at(p, TEXT_NAME) && p->word == WORD_NONE && text_find(p, p->name).kind == IR_SYMBOL_NONE)
    text_poison(p, p->name);
  return false;
}

static bool read_word_statement(text_parser *p) {
  switch (p->word) {
    case WORD_let: return read_declaration(p, VYRE_STMT_LET);
    case WORD_var: return read_declaration(p, VYRE_STMT_VAR);
    case WORD_if: return read_if(p);
    case WORD_for: return read_for(p);
    case WORD_loop: return read_block(p, BLOCK_LOOP, vyre_build_loop);
    case WORD_break: return read_simple(p, VYRE_STMT_BREAK);
    case WORD_continue: return read_simple(p, VYRE_STMT_CONTINUE);
    case WORD_return: return read_return(p);
    case WORD_barrier: return read_simple(p, VYRE_STMT_BARRIER);
    case WORD_grid_barrier: return read_simple(p, VYRE_STMT_GRID_BARRIER);
    case WORD_commit: return read_simple(p, VYRE_STMT_COMMIT);
    case WORD_fence: return read_fence(p);
    case WORD_region: return read_region(p);
    case WORD_trap: return read_one(p, vyre_build_trap);
    case WORD_pause: return read_one(p, vyre_build_pause);
    case WORD_print: return read_print(p);
    case WORD_copy_async: return read_copy_async(p);
    case WORD_wait: return read_wait(p);
    case WORD_else: return text_unexpected(p, "a statement");
    default: break;
  }
  return text_at_declaration(p) ? misplaced_declaration(p) : read_effect(p);
}

static bool read_statement(text_parser *p) {
  uint32_t operands = p->operands.count;
  bool good;
  switch (p->token.kind) {
    case TEXT_NAME: good = p->word != WORD_NONE ? read_word_statement(p) : read_name_statement(p); break;
    case TEXT_OPEN_BRACE: good = read_block(p, BLOCK_PLAIN, vyre_build_block); break;
    case TEXT_SEMICOLON: good = text_unexpected(p, "a statement"); break;
    case TEXT_ERROR: good = false; break;
    default: good = read_effect(p); break;
  }
  text_drop(p, p->operands.count - operands);
  return good;
}

void text_block_body(text_parser *p) {
  uint32_t base = p->blocks.count;
  while (p->blocks.count >= base && !p->stop) {
    uint32_t start = p->token.start;
    if (text_at(p, TEXT_CLOSE_BRACE)) {
      close_block(p);
    } else if (text_at(p, TEXT_END)) {
      text_unexpected(p, "} at the end of the block");
      break;
    } else if (!read_statement(p)) {
      text_recover(p, start);
    }
  }
  if (p->blocks.count >= base) p->blocks.count = base - 1;
}
