/* Writes docs/optimization/PASSES.md from the tables of passes and rules. `make opt-docs` runs it; a test says when the
 * page is stale. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "opt/pass.h"

typedef struct rule_row {
  const char *group, *id, *pattern, *result, *types, *when, *exactness, *doc;
} rule_row;

static const rule_row rules[] = {
#define COMMUTATIVE(op)
#define MIRRORED(op, other)
#define RULE(group, id, pattern, result, types, when, exactness, doc) \
  { #group, #id, pattern, result, types, when, #exactness, doc },
#include "opt/rules.def"
#undef COMMUTATIVE
#undef MIRRORED
#undef RULE
};

/* A cell of a table, where a | would end it. */
static void write_cell(const char *text) {
  for (; *text != 0; text++) {
    if (*text == '|') putchar('\\');
    putchar(*text);
  }
  fputs(" |", stdout);
}

static void write_code(const char *text) {
  fputs(text[0] != 0 ? " `" : " ", stdout);
  for (const char *at = text; *at != 0; at++) {
    if (*at == '|') putchar('\\');
    putchar(*at);
  }
  fputs(text[0] != 0 ? "` |" : "|", stdout);
}

static void write_passes(void) {
  puts("| pass | level | phase | class | requires | makes work for | does |\n|---|---|---|---|---|---|---|");
  for (uint32_t i = 0; i < opt_pass_count; i++) {
    const opt_pass_row *p = &opt_passes[i];
    char level[16] = "by name";
    if (p->level != UINT32_MAX) snprintf(level, sizeof level, "%u", p->level);
    printf("| `%s` | %s | %s | %s%s | ", p->name, level, p->phase, p->class_name, p->enables ? ", enabler" : "");
    write_cell(p->requires);
    putchar(' ');
    write_cell(p->invalidates);
    putchar(' ');
    write_cell(p->doc);
    putchar('\n');
  }
}

/* As opt_pass_order puts them. */
static void write_order(uint32_t level) {
  bool chosen[OPT_MAX_PASSES] = { false };
  uint32_t order[OPT_MAX_PASSES], count, bad;
  for (uint32_t i = 0; i < opt_pass_count; i++) chosen[i] = opt_passes[i].level <= level;
  opt_pass_order(opt_passes, opt_pass_count, chosen, order, &count, &bad);
  printf("Level %u:", level);
  for (uint32_t i = 0; i < count; i++) printf("%s%s", i == 0 ? " " : ",\n", opt_passes[order[i]].name);
  puts(".\n");
}

static void write_rules(const char *group, const char *heading, const char *about) {
  printf("\n### %s\n\n%s\n\n| rule | pattern | result | of | where | exact | why |\n|---|---|---|---|---|---|---|\n",
         heading, about);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const rule_row *r = &rules[i];
    if (strcmp(r->group, group) != 0) continue;
    printf("| `%s` |", r->id);
    write_code(r->pattern);
    write_code(r->result);
    putchar(' ');
    write_cell(r->types);
    write_code(r->when);
    printf(" %s | ", r->exactness);
    write_cell(r->doc);
    putchar('\n');
  }
}

int main(void) {
  puts("# Passes and rules\n\n"
       "<!-- Generated from libvyre/opt/passes.def and libvyre/opt/rules.def by `make opt-docs`. -->\n\n"
       "[TAXONOMY.md](TAXONOMY.md) says what the columns mean, [OWNERSHIP.md](OWNERSHIP.md) which file owns what.\n"
       "`vyre opt --list` prints the first table.\n\n## Passes\n");
  write_passes();
  puts("\nThe order of a round:\n");
  for (uint32_t level = 0; level <= 2; level++) write_order(level);
  puts("## Rules\n\n"
       "`x` `y` `z` `c` are expressions, `k` `k1` `k2` literals, `W` the width in bits. `[a b]` stands for one of\n"
       "these. BITS: equal bits. EXACT: equal values, every NaN being equal. CONTRACT: another rounding.\n"
       "`make check-proofs` proves each.");
  write_rules("FOLD", "Never dearer", "Applied by `const_fold` to every expression, from the leaves up.");
  write_rules("STRENGTH", "Cheaper operators", "Applied by `strength_reduce`.");
  write_rules("CONTRACT", "One rounding less",
              "Applied by `fma_synthesize`, only where the program says `contract`.");
  write_rules("EXPLORE", "Neither better nor worse",
              "Steps on the way to something cheaper, applied by `saturate` together with the others.");
  return fflush(stdout) != 0;
}
