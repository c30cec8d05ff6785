/* The tables of docs/ir.md are those of types.def, ops.def and stmts.def. `test_ir_docs print` prints them as they
 * have to stand there. */
#include <stdio.h>

#include "base/writer.h"
#include "kit.h"

enum { READS = VYRE_EFFECT_READS, EFFECT = VYRE_EFFECT_EFFECT, CONVERGENT = VYRE_EFFECT_CONVERGENT,
       ULP = VYRE_EFFECT_ULP };

/* Text for one cell of a table. */
static void write_cell(vyre_writer *w, const char *text) {
  for (; *text != 0; text++) vyre_write(w, *text == '|' ? "\\%c" : "%c", *text);
}

static void write_type(vyre_writer *w, vyre_type type, vyre_type component, vyre_type value, unsigned tag) {
  const vyre_type_info *info = vyre_type_describe(type);
  const char *taken = vyre_type_describe(value)->spelling;
  vyre_write(w, "| `%s` | %u | %u | `%s` | 0x%02X", info->spelling, info->bytes, info->lanes, taken, tag);
  if (tag == 0x14) vyre_write(w, ", tag of `%s`, %u", vyre_type_describe(component)->spelling, info->lanes);
  vyre_write_text(w, " |\n");
}

static void write_types(vyre_writer *w) {
  vyre_write_text(w, "| type | bytes | lanes | load gives, store takes | tag |\n|---|---:|---:|---|---|\n");
#define X(name, text, size, count, component, taken, wire) \
  write_type(w, VYRE_TYPE_##name, VYRE_TYPE_##component, VYRE_TYPE_##taken, wire);
#include <vyre/types.def>
#undef X
}

static void write_effects(vyre_writer *w, unsigned effects) {
  static const char *const names[] = { "reads", "effect", "convergent", "ulp" };
  const char *separator = "";
  for (unsigned i = 0; i < 4; i++) {
    if ((effects & 1u << i) == 0) continue;
    vyre_write(w, "%s%s", separator, names[i]);
    separator = ", ";
  }
}

static void write_operator(vyre_writer *w, const char *name, const char *spelling, unsigned arity, unsigned tag,
                           unsigned sub, unsigned effects, const char *doc) {
  vyre_write(w, "| %s | ", name);
  if (*spelling != 0) {
    vyre_write_text(w, "`");
    write_cell(w, spelling);
    vyre_write_text(w, "`");
  }
  vyre_write(w, " | %u | 0x%02X", arity, tag);
  if (sub != 0) vyre_write(w, " 0x%02X", sub);
  vyre_write_text(w, " | ");
  write_effects(w, effects);
  vyre_write_text(w, " | ");
  write_cell(w, doc);
  vyre_write_text(w, " |\n");
}

static void write_operators(vyre_writer *w) {
  vyre_write_text(w, "| operator | text | operands | tag | effects | meaning |\n|---|---|---:|---|---|---|\n");
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) \
  write_operator(w, #name, spelling, arity, tag, sub, effects, doc);
#include <vyre/ops.def>
#undef X
}

static void write_statements(vyre_writer *w) {
  vyre_write_text(w, "| statement | text | operands | blocks | tag | meaning |\n|---|---|---:|---:|---|---|\n");
#define X(name, spelling, arity, blocks, tag, doc) \
  vyre_write(w, "| %s | `%s` | %d | %d | 0x%02X | %s |\n", #name, spelling, arity, blocks, tag, doc);
#include <vyre/stmts.def>
#undef X
}

static char *read_docs(void) {
  char path[4096];
  const char *top = getenv("top_srcdir");
  snprintf(path, sizeof path, "%s/docs/ir.md", top != NULL ? top : ".");
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s can not be read", path);
  vyre_writer w = { 0 };
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) vyre_write_bytes(&w, part, n);
  fclose(file);
  return vyre_writer_take(&w);
}

static void check_table(void (*write)(vyre_writer *)) {
  vyre_writer w = { 0 };
  write(&w);
  char *table = vyre_writer_take(&w), *docs = read_docs();
  for (char *line = strtok(table, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    const char *at = strstr(docs, line);
    ck_assert_msg(at != NULL && at[strlen(line)] == '\n', "docs/ir.md lacks this line; paste what `test_ir_docs print` gives:\n%s", line);
  }
  free(table);
  free(docs);
}

START_TEST(types) { check_table(write_types); }
END_TEST
START_TEST(operators) { check_table(write_operators); }
END_TEST
START_TEST(statements) { check_table(write_statements); }
END_TEST

/* No row is left over from an operator that is gone. */
START_TEST(no_stale_rows) {
  char *docs = read_docs();
  uint32_t rows = 0;
  for (const char *at = docs; (at = strstr(at, " | 0x")) != NULL; at++) rows++;
  ck_assert_uint_eq(rows, VYRE_TYPE_COUNT - 1 + VYRE_OP_COUNT - 1 + VYRE_STMT_COUNT - 1);
  free(docs);
}
END_TEST

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "print") == 0) {
    vyre_writer w = { 0 };
    write_types(&w);
    vyre_write_text(&w, "\n");
    write_operators(&w);
    vyre_write_text(&w, "\n");
    write_statements(&w);
    char *text = vyre_writer_take(&w);
    if (text != NULL) fputs(text, stdout);
    free(text);
    return 0;
  }
  const TTest *tests[] = { types, operators, statements, no_stale_rows, NULL };
  return run_suite("docs/ir.md", 10, tests);
}
