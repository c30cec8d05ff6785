/* Every rule of the table, one by one: its pattern is met, with operands in any type that the row names, and what it
 * makes of it gives the same on the oracle. That it holds for all inputs is what check-proofs shows; here it is the C of
 * the matcher that is looked at. And the forms of strength_reduce, run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../../plugins/cpu_ref/ops.h"
#include "../cpu_ref/trial.h"
#include "../gen/random_program.h"
#include "../suite.h"
#include "ir/check.h"
#include "opt/pass.h"
#include "opt/rules.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static random_source source = { 6 };

/* ---- Expressions for patterns ---------------------------------------------------------------- */

enum { NAMES = 7 };
static const char *const names[NAMES] = { "x", "y", "z", "c", "k", "k1", "k2" };

typedef struct instance {
  opt_unit *u;
  const char *at;          /* in the pattern */
  vyre_type main;          /* of the row's class */
  uint32_t named[3];       /* types A, B, C */
  uint32_t stands_for[NAMES];
  bool failed;
} instance;

static void skip_blanks(instance *i) { while (*i->at == ' ') i->at++; }

static void take_word(instance *i, char word[32]) {
  size_t n = strcspn(i->at, " ()");
  ck_assert_uint_lt(n, 32);
  memcpy(word, i->at, n);
  word[n] = 0;
  i->at += n;
  skip_blanks(i);
}

static vyre_type type_named(const instance *i, const char *word) {
  if (word[1] == 0 && word[0] >= 'A' && word[0] <= 'C') return (vyre_type)i->named[word[0] - 'A'];
  return ir_type_named(word, strlen(word));
}

static uint64_t random_literal(vyre_type type) {
  static const int64_t edges[] = { 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 63, 255, 65535, -1, -2, -8, INT32_MIN, INT32_MAX };
  uint64_t bits = random_bits(&source);
  if (type == VYRE_TYPE_BOOL) return bits & 1;
  if (ir_is_float(type)) {
    static const double floats[] = { 0, -0.0, 1, -1, 2, 0.5, 3, 1e30, -7.25, 0.1 };
    if (random_chance(&source, 60)) return opt_float_bits(type, floats[random_below(&source, COUNT(floats))]);
  } else if (random_chance(&source, 70)) {
    return opt_integer_bits(type, edges[random_below(&source, COUNT(edges))]);
  } else if (random_chance(&source, 50)) {
    return opt_integer_bits(type, (int64_t)(1ull << random_below(&source, 64)));
  }
  if (vyre_type_describe(type)->bytes == 4) bits &= UINT32_MAX;
  return ir_check_literal(type, bits) ? bits : 0;
}

static uint32_t variable(opt_unit *u, vyre_type type) {
  uint32_t var = opt_new_named_var(u, "v", type, VYRE_STMT_LET);
  return opt_var_value(u, var);
}

static uint32_t build(instance *i, vyre_type wanted);

static uint32_t build_leaf(instance *i, vyre_type wanted) {
  char word[32], *pinned;
  take_word(i, word);
  if ((pinned = strchr(word, ':')) != NULL) {
    *pinned = 0;
    wanted = type_named(i, pinned + 1);
  }
  for (uint32_t n = 0; n < NAMES; n++) {
    if (strcmp(word, names[n]) != 0) continue;
    bool literal = n >= 4;
    if (i->stands_for[n] == 0)
      i->stands_for[n] = literal ? opt_constant(i->u, wanted, random_literal(ir_component(wanted))) : variable(i->u, wanted);
    return i->stands_for[n];
  }
  vyre_type of = ir_component(wanted);
  uint64_t bits;
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) bits = word[0] == 't';
  else if (strcmp(word, "MIN") == 0) bits = opt_smallest(of);
  else if (strcmp(word, "MAX") == 0) bits = opt_largest(of);
  else if (strchr(word, '.') != NULL) bits = opt_float_bits(of, strtod(word, NULL));
  else bits = opt_integer_bits(of, strtoll(word, NULL, 10));
  return opt_constant(i->u, wanted, bits);
}

static vyre_op op_named(const char *word) {
  for (vyre_op op = VYRE_OP_ADD; op < VYRE_OP_COUNT; op++) {
    const char *name = vyre_op_describe(op)->name;
    size_t k = 0;
    while (name[k] != 0 && (name[k] | (name[k] >= 'A' && name[k] <= 'Z' ? 32 : 0)) == word[k]) k++;
    if (name[k] == 0 && word[k] == 0) return op;
  }
  ck_abort_msg("no operator %s", word);
}

/* What an operand must be so that the operator gives |wanted|. */
static vyre_type operand_type(const instance *i, vyre_op op, uint32_t index, vyre_type wanted) {
  uint32_t lanes = ir_type_at(wanted)->lanes;
  if (op == VYRE_OP_SELECT && index == 0) return VYRE_TYPE_BOOL;
  bool shifts = op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR;
  if (shifts && index == 1) return lanes > 1 ? ir_vector_of(VYRE_TYPE_U32, lanes) : VYRE_TYPE_U32;
  bool logic = op == VYRE_OP_LAND || op == VYRE_OP_LOR || op == VYRE_OP_LNOT;
  bool tests = (op >= VYRE_OP_EQ && op <= VYRE_OP_GE) || (op >= VYRE_OP_IS_NAN && op <= VYRE_OP_IS_FINITE);
  return logic ? VYRE_TYPE_BOOL : tests ? i->main : wanted;
}

static uint32_t build(instance *i, vyre_type wanted) {
  char word[32];
  if (*i->at != '(') return build_leaf(i, wanted);
  i->at++;
  take_word(i, word);
  uint32_t x[3] = { 0 }, result;
  if (strcmp(word, "cast") == 0) {
    take_word(i, word);
    vyre_type to = type_named(i, word);
    x[0] = build(i, (vyre_type)ir_type_at(to)->value);
    if (!ir_check_cast(opt_type(i->u, x[0]), to)) i->failed = true;
    result = i->failed ? opt_literal(i->u, VYRE_TYPE_U32, 0) : opt_cast(i->u, to, x[0]);
  } else {
    vyre_op op = op_named(word);
    for (uint32_t k = 0; k < ir_op_arity[op]; k++) x[k] = build(i, operand_type(i, op, k, wanted));
    vyre_code code;
    vyre_type type = ir_check_op(op, opt_type(i->u, x[0]), x[1] ? opt_type(i->u, x[1]) : VYRE_TYPE_NONE,
                                 x[2] ? opt_type(i->u, x[2]) : VYRE_TYPE_NONE, &code);
    if (type == VYRE_TYPE_NONE) i->failed = true;
    result = i->failed ? opt_literal(i->u, VYRE_TYPE_U32, 0)
                       : opt_expr(i->u, (ir_expr){ .op = (uint8_t)op, .type = (uint8_t)type, .arg = { x[0], x[1], x[2] } });
  }
  ck_assert_int_eq(*i->at, ')');
  i->at++;
  skip_blanks(i);
  return result;
}

/* ---- Values on the oracle -------------------------------------------------------------------- */

typedef struct values {
  uint64_t lane[4];
} values;

static values evaluate(const opt_unit *u, uint32_t e, const values *vars) {
  const ir_expr *n = opt_at(u, e);
  values v = { { 0 } }, x[4] = { { { 0 } } };
  vyre_type type = (vyre_type)n->type;
  if (n->op == VYRE_OP_VAR) return vars[n->arg[3]];
  for (uint32_t i = 0; i < ir_op_arity[n->op]; i++) x[i] = evaluate(u, n->arg[i], vars);
  for (uint32_t l = 0; l < ir_type_at(type)->lanes; l++) {
    vyre_type of = ir_op_arity[n->op] > 0 ? ir_component(opt_type(u, n->arg[n->op == VYRE_OP_SELECT ? 1 : 0])) : type;
    switch (n->op) {
      case VYRE_OP_LIT: v.lane[l] = ir_literal_bits(n); break;
      case VYRE_OP_SPLAT: v.lane[l] = x[0].lane[0]; break;
      case VYRE_OP_SELECT: v.lane[l] = x[0].lane[0] ? x[1].lane[l] : x[2].lane[l]; break;
      case VYRE_OP_CAST: v.lane[l] = cpu_cast_find(of, (vyre_type)n->aux)(x[0].lane[l], 0, 0); break;
      default: v.lane[l] = cpu_op_find(n->op, of)(x[0].lane[l], x[1].lane[l], x[2].lane[l]);
    }
  }
  return v;
}

static bool is_nan(vyre_type t, uint64_t bits) {
  return (t == VYRE_TYPE_F32 && (bits & INT32_MAX) > 0x7F800000) ||
         (t == VYRE_TYPE_F64 && (bits & INT64_MAX) > 0x7FF0000000000000);
}

static void compare(const opt_unit *u, uint32_t before, uint32_t after, const char *rule) {
  values vars[16];
  vyre_type type = opt_type(u, before);
  ck_assert_uint_le(u->program->vars.count, COUNT(vars));
  ck_assert_int_eq(opt_type(u, after), type);
  for (int turn = 0; turn < 40; turn++) {
    for (uint32_t i = 0; i < u->program->vars.count; i++)
      for (int l = 0; l < 4; l++) vars[i].lane[l] = random_literal(ir_component((vyre_type)u->program->vars.data[i].type));
    values a = evaluate(u, before, vars), b = evaluate(u, after, vars);
    for (uint32_t l = 0; l < ir_type_at(type)->lanes; l++) {
      bool nans = is_nan(ir_component(type), a.lane[l]) && is_nan(ir_component(type), b.lane[l]);
      ck_assert_msg(nans || a.lane[l] == b.lane[l], "%s, type %u: %llx became %llx (x = %llx)", rule, type,
                    (unsigned long long)a.lane[l], (unsigned long long)b.lane[l], (unsigned long long)vars[0].lane[l]);
    }
  }
}

/* ---- The rules ------------------------------------------------------------------------------- */

typedef struct taken {
  const char *rule;
  bool found;
} taken;

static bool took(void *context, const char *rule, uint32_t before, uint32_t after) {
  taken *t = context;
  (void)before, (void)after;
  t->found |= strcmp(rule, t->rule) == 0;
  return t->found;
}

static vyre_program *empty_program(void) { return trial_parse("program p {\n}\n"); }

/* One random instance of a rule's pattern; true if the rule itself was applied. */
static bool try_rule(const vyre_program *empty, const opt_rule *rule, vyre_type main, vyre_type wanted,
                     const uint32_t named[3]) {
  opt_unit u;
  ck_assert(opt_unit_create(&u, empty, &opt_default_costs));
  instance i = { .u = &u, .at = rule->pattern, .main = main };
  memcpy(i.named, named, sizeof i.named);
  uint32_t e = build(&i, wanted);
  taken t = { rule->id, false };
  opt_matcher m = { .unit = &u, .groups = rule->group, .bare = true, .took = took, .context = &t };
  uint32_t after = i.failed ? 0 : opt_rule_apply(&m, e);
  if (t.found && rule->exactness != OPT_CONTRACT) compare(&u, e, after, rule->id);
  opt_unit_free(&u);
  return t.found;
}

/* Types that a row of the form "A:u32,i32" allows: one at random. */
static uint32_t pick_type(const char *types, char name) {
  char head[3] = { name, ':', 0 };
  const char *at = strstr(types, head);
  if (at == NULL) return VYRE_TYPE_U32;
  at += 2;
  size_t bytes = strcspn(at, " ");
  uint32_t count = 1;
  for (size_t i = 0; i < bytes; i++) count += at[i] == ',';
  for (uint32_t pick = random_below(&source, count); pick > 0; pick--) at = strchr(at, ',') + 1;
  return ir_type_named(at, strcspn(at, ", "));
}

START_TEST(every_rule_is_met_and_keeps_the_value) {
  vyre_program *empty = empty_program();
  for (uint32_t r = 0; r < opt_rule_count; r++) {
    const opt_rule *rule = &opt_rules[r];
    uint32_t found = 0;
    for (int turn = 0; turn < 400 && found < 20; turn++) {
      vyre_type main = (vyre_type)(VYRE_TYPE_BOOL + random_below(&source, VYRE_TYPE_F32X4));
      const uint32_t named[3] = { pick_type(rule->types, 'A'), pick_type(rule->types, 'B'), pick_type(rule->types, 'C') };
      found += try_rule(empty, rule, main, strchr(rule->types, ':') != NULL ? (vyre_type)named[0] : main, named);
    }
    ck_assert_msg(found > 0, "%s is never applied: %s", rule->id, rule->pattern);
  }
  vyre_program_release(empty);
}
END_TEST

START_TEST(no_rule_is_left_in_what_was_simplified) {
  vyre_program *empty = empty_program();
  for (uint32_t r = 0; r < opt_rule_count; r++) {
    if (opt_rules[r].group != OPT_RULES_FOLD) continue;
    for (int turn = 0; turn < 40; turn++) {
      opt_unit u;
      ck_assert(opt_unit_create(&u, empty, &opt_default_costs));
      vyre_type main = (vyre_type)(VYRE_TYPE_BOOL + random_below(&source, VYRE_TYPE_F32X4));
      instance i = { .u = &u, .at = opt_rules[r].pattern, .main = main };
      for (int k = 0; k < 3; k++) i.named[k] = pick_type(opt_rules[r].types, (char)('A' + k));
      uint32_t e = build(&i, main);
      opt_matcher m = { .unit = &u, .groups = OPT_RULES_FOLD };
      if (!i.failed) {
        uint32_t once = opt_simplify(&m, e);
        ck_assert_msg(opt_simplify(&m, once) == once, "%s is not idempotent", opt_rules[r].id);
        ck_assert_msg(opt_meta_of(&u, once)->cost <= opt_meta_of(&u, e)->cost, "%s raises the cost", opt_rules[r].id);
        compare(&u, e, once, opt_rules[r].id);
      }
      opt_unit_free(&u);
    }
  }
  vyre_program_release(empty);
}
END_TEST

/* ---- strength_reduce, run -------------------------------------------------------------------- */

static char *optimized(const char *text, const char *passes) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p = trial_parse(text), *out;
  char *result;
  options.passes = passes;
  options.flags = VYRE_OPT_VERIFY;
  ck_assert_msg(vyre_optimize(p, &options, &out, NULL, &error) == VYRE_OK, "%s", error.text);
  ck_assert_int_eq(vyre_text_print(out, &result, NULL), VYRE_OK);
  vyre_program_release(p);
  vyre_program_release(out);
  return result;
}

static const char *const type_names[] = { "u32", "i32", "u64", "i64" };

static uint64_t number_for(unsigned type, uint32_t i) {
  unsigned width = type < 2 ? 32 : 64;
  uint64_t bits = i < 40 ? i : i < 40 + 8 * width ? (1ull << (i - 40) / 8) + (i - 40) % 8 - 4 : random_bits(&source);
  return width == 32 ? (uint32_t)bits : bits;
}

enum { OPERANDS = 96, FORMS = 5 };

/* A program that does all to x[gid.x] with one literal after another, and what it gives. */
static char *text_of_forms(unsigned type, const uint64_t *d, uint32_t count) {
  char *text = malloc(1 << 20);
  const char *name = type_names[type];
  int n = sprintf(text, "program p {\n  read x: %s[];\n  write y: %s[];\n  let v = x[gid.x];\n  let base = gid.x * %u;\n",
                  name, name, FORMS * count);
  for (uint32_t i = 0; i < count; i++) {
    char literal[32];
    if (type == 1) sprintf(literal, "%d", (int32_t)(uint32_t)d[i]);
    else if (type == 3) sprintf(literal, "%lld", (long long)d[i]);
    else sprintf(literal, "%llu", (unsigned long long)d[i]);
    static const char *const before[FORMS] = { "v / ", "v % ", "v * ", "v % ", "(v + 1) % " };
    static const char *const after[FORMS] = { "", "", "", " == 0 ? 3 : v", " != 0 ? (v + 1) / 3 : v" };
    for (unsigned f = 0; f < FORMS; f++)
      n += sprintf(text + n, "  y[base + %u] = %s%s%s;\n", FORMS * i + f, before[f], literal, after[f]);
  }
  sprintf(text + n, "}\n");
  return text;
}

static void run_forms(const char *text, unsigned type, const uint64_t *x, uint32_t xs, uint32_t outputs, uint64_t *out) {
  trial t;
  uint32_t bytes = type < 2 ? 4 : 8;
  trial_begin(&t, text);
  uint8_t *in = trial_bind(&t, "x", xs), *to = trial_bind(&t, "y", (uint64_t)xs * outputs);
  for (uint32_t i = 0; i < xs; i++) memcpy(in + i * bytes, &x[i], bytes);
  ck_assert_int_eq(trial_try(&t, xs, 1, 1), VYRE_OK);
  memset(out, 0, sizeof *out * xs * outputs);
  for (uint32_t i = 0; i < xs * outputs; i++) memcpy(&out[i], to + i * bytes, bytes);
  trial_end(&t);
}

START_TEST(what_operations_with_literals_become_gives_the_same) {
  enum { LITERALS = 24 };
  uint64_t *before = malloc(sizeof *before * OPERANDS * FORMS * LITERALS), *after = malloc(sizeof *after * OPERANDS * FORMS * LITERALS);
  for (unsigned type = 0; type < 4; type++)
    for (uint32_t round = 0; round < 30; round++) {
      uint64_t d[LITERALS], x[OPERANDS];
      unsigned width = type < 2 ? 32 : 64;
      for (uint32_t i = 0; i < LITERALS; i++) {
        d[i] = number_for(type, round * LITERALS + i);
        if (d[i] == 0) d[i] = 7;
      }
      if (round == 29) d[0] = 1ull << (width - 1), d[1] = 0xC0000001, d[2] = UINT64_MAX >> (64 - width);
      for (uint32_t i = 0; i < OPERANDS; i++) {
        uint64_t near = d[i % LITERALS] * (i % 3 + 1) + i % 5 - 2;
        x[i] = i < 8 ? (1ull << (width - 1)) + i - 4 : i < 16 ? i - 12 : i < 60 ? near : random_bits(&source) >> random_below(&source, width);
        if (width == 32) x[i] = (uint32_t)x[i];
      }
      char *text = text_of_forms(type, d, LITERALS), *reduced = optimized(text, "strength_reduce");
      ck_assert_ptr_null(strstr(reduced, " / "));
      run_forms(text, type, x, OPERANDS, FORMS * LITERALS, before);
      run_forms(reduced, type, x, OPERANDS, FORMS * LITERALS, after);
      for (uint32_t i = 0; i < OPERANDS * FORMS * LITERALS; i++)
        ck_assert_msg(before[i] == after[i], "form %u of literal %llx in %s on %llx: %llx became %llx", i % FORMS,
                      (unsigned long long)d[i / FORMS % LITERALS], type_names[type],
                      (unsigned long long)x[i / (FORMS * LITERALS)], (unsigned long long)before[i], (unsigned long long)after[i]);
      free(text);
      free(reduced);
    }
  free(before);
  free(after);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_rule_is_met_and_keeps_the_value,
                                 no_rule_is_left_in_what_was_simplified,
                                 what_operations_with_literals_become_gives_the_same,
                                 NULL };
  return run_suite("opt/rules", 60, tests);
}
