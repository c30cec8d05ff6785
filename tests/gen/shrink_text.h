/* Canonical text taken apart for the shrinker: tokens, blocks with their statements, expressions. Everything is a range
 * of tokens, and an edit is a range with what stands there instead. */
#ifndef VYRE_TESTS_SHRINK_TEXT_H
#define VYRE_TESTS_SHRINK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum shrink_kind { SHRINK_NAME, SHRINK_NUMBER, SHRINK_STRING, SHRINK_SIGN } shrink_kind;

typedef struct shrink_token {
  const char *at;
  uint32_t bytes;
  uint32_t match; /* of a bracket: its partner */
  shrink_kind kind;
} shrink_token;

/* Tokens [begin, end). */
typedef struct shrink_range {
  uint32_t begin, end;
} shrink_range;

/* A declaration or statement, with all its blocks. */
typedef struct shrink_item {
  shrink_range range;
  uint32_t list;        /* that it stands in */
  uint32_t first, count; /* lists that are its blocks */
} shrink_item;

/* What stands between the braces of a block; list 0 is the program. */
typedef struct shrink_list {
  shrink_range range;
  uint32_t first, count; /* items */
} shrink_list;

typedef struct shrink_text {
  const char *text; /* borrowed */
  shrink_token *tokens;
  shrink_item *items;
  shrink_list *lists;
  shrink_range *nodes; /* expressions: by begin, outer before inner */
  uint32_t token_count, item_count, list_count, node_count;
} shrink_text;

/* Takes canonical text apart. False without memory. */
bool shrink_text_read(shrink_text *t, const char *text);
void shrink_text_free(shrink_text *t);

bool shrink_token_is(const shrink_text *t, uint32_t token, const char *text);
/* Whether an item declares something outside of statements: a parameter, a buffer, a table. */
bool shrink_is_declaration(const shrink_text *t, const shrink_item *item);
/* How much a reader has to take in. */
uint64_t shrink_text_cost(const shrink_text *t);

/* Text that grows. */
typedef struct shrink_writer {
  char *data;
  size_t count, room;
  bool failed;
} shrink_writer;
void shrink_write(shrink_writer *w, const char *data, size_t bytes);
void shrink_write_text(shrink_writer *w, const char *text);
/* The text of a range, without the space around it. */
void shrink_write_range(shrink_writer *w, const shrink_text *t, shrink_range range);
/* The text with the tokens of |range| replaced. The caller frees it; NULL without memory. */
char *shrink_replaced(const shrink_text *t, shrink_range range, const char *with);

#endif
