/* The script, its counts and its trace. Everything is under one lock; scripts are short and so are the lists. */
#include "script.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RULES = 64, MOST_NAMES = 256, MOST_WORDS = 8, NAME_BYTES = 64, TEXT_BYTES = 256, SCRIPT_BYTES = 65536 };

typedef enum rule_kind { RULE_ABSENT, RULE_FAIL, RULE_LOSE, RULE_SET, RULE_KERNEL } rule_kind;

typedef struct rule {
  rule_kind kind;
  char name[NAME_BYTES];  /* entry point, key or kernel */
  char text[TEXT_BYTES];  /* value */
  bool has_code;
  int64_t code;
  uint64_t first, last;   /* calls that it is about, from 1 */
  fake_kernel_fn kernel;
} rule;

typedef struct count {
  char name[NAME_BYTES];
  uint64_t calls;
  int64_t live;
} count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *script_variable;
static const fake_code *script_codes;
static rule rules[MOST_RULES];
static unsigned rule_count;
static count counts[MOST_NAMES];
static uint64_t submissions;
static char trace_path[TEXT_BYTES];

/* ---- Kernels that every script knows --------------------------------------------------------- */

static uint64_t elements(const fake_launch *l, uint32_t argument, uint64_t size) {
  return l->sizes[argument] / size;
}

/* (f32 a, x, y): y = a x + y over as many as the shorter one has; memory by address or by binding. */
static void run_saxpy(const fake_launch *l) {
  float a;
  if (l->argument_count < 3) abort();
  memcpy(&a, l->arguments[0], sizeof a);
  const float *x = l->arguments[1];
  float *y = (float *)(uintptr_t)l->arguments[2];
  uint64_t n = elements(l, 1, sizeof *x), m = elements(l, 2, sizeof *y);
  for (uint64_t i = 0; i < n && i < m; i++) y[i] = __builtin_fmaf(a, x[i], y[i]);
}

/* (words...): adds 1 to each word of every argument that is memory. */
static void run_increment(const fake_launch *l) {
  for (uint32_t a = 0; a < l->argument_count; a++)
    for (uint64_t i = 0; i < elements(l, a, 4); i++) ++((uint32_t *)(uintptr_t)l->arguments[a])[i];
}

static void run_nothing(const fake_launch *l) { (void)l; }

static const struct {
  const char *name;
  fake_kernel_fn fn;
} known_kernels[] = { { "saxpy", run_saxpy }, { "increment", run_increment }, { "nothing", run_nothing } };

/* ---- Reading --------------------------------------------------------------------------------- */

/* The next statement as words; its end in *at. False behind the last one. |error| is set for one without sense. */
static bool next_statement(const char **at, char words[MOST_WORDS][TEXT_BYTES], unsigned *word_count,
                           const char **error) {
  *word_count = 0;
  while (**at != 0) {
    char c = **at;
    if (c == '#') *at += strcspn(*at, "\n");
    else if (c == '\n' || c == ';') {
      ++*at;
      if (*word_count > 0) return true;
    } else if (c == ' ' || c == '\t') ++*at;
    else {
      bool is_quoted = c == '"';
      const char *word = *at + is_quoted;
      size_t bytes = strcspn(word, is_quoted ? "\"" : " \t\n;#");
      if (*word_count == MOST_WORDS || bytes >= TEXT_BYTES || (is_quoted && word[bytes] == 0)) {
        *error = "a statement is too long, or a quotation has no end";
        return false;
      }
      memcpy(words[*word_count], word, bytes);
      words[(*word_count)++][bytes] = 0;
      *at = word + bytes + is_quoted;
    }
  }
  return *word_count > 0;
}

static bool read_number(const char *word, uint64_t *out) {
  char *end;
  *out = strtoull(word, &end, 0);
  return word[0] >= '0' && word[0] <= '9' && *end == 0;
}

static bool read_code(const char *word, int64_t *out) {
  char *end;
  for (const fake_code *c = script_codes; c->name != NULL; c++)
    if (strcmp(c->name, word) == 0) return *out = c->number, true;
  *out = strtoll(word, &end, 0);
  return word[0] != 0 && *end == 0;
}

/* [CODE] [at N | from N] */
static bool read_failure(char words[][TEXT_BYTES], unsigned count_of, rule *r) {
  r->first = 1;
  r->last = UINT64_MAX;
  for (unsigned i = 0; i < count_of; i++) {
    bool is_at = strcmp(words[i], "at") == 0, is_from = strcmp(words[i], "from") == 0;
    if (is_at || is_from) {
      if (++i == count_of || !read_number(words[i], &r->first) || r->first == 0) return false;
      if (is_at) r->last = r->first;
    } else if (r->has_code || !(r->has_code = read_code(words[i], &r->code))) {
      return false;
    }
  }
  return true;
}

static bool read_kernel(const char *name, rule *r) {
  for (size_t i = 0; i < sizeof known_kernels / sizeof *known_kernels; i++)
    if (strcmp(known_kernels[i].name, name) == 0) r->kernel = known_kernels[i].fn;
  return r->kernel != NULL;
}

static const char *read_rule(char words[][TEXT_BYTES], unsigned count_of, rule *r) {
  *r = (rule){ 0 };
  if (count_of > 1) snprintf(r->name, sizeof r->name, "%.63s", words[1]);
  if (count_of > 2) snprintf(r->text, sizeof r->text, "%s", words[2]);
  if (strcmp(words[0], "absent") == 0) {
    r->kind = RULE_ABSENT;
    return count_of == 2 ? NULL : "absent NAME";
  }
  if (strcmp(words[0], "fail") == 0) {
    r->kind = RULE_FAIL;
    return count_of > 2 && read_failure(words + 2, count_of - 2, r) && r->has_code ? NULL
                                                                                   : "fail NAME CODE [at N | from N]";
  }
  if (strcmp(words[0], "lose") == 0) {
    r->kind = RULE_LOSE;
    return count_of > 2 && read_failure(words + 1, count_of - 1, r) ? NULL : "lose at N [CODE]";
  }
  if (strcmp(words[0], "set") == 0) {
    r->kind = RULE_SET;
    return count_of == 3 ? NULL : "set KEY VALUE";
  }
  if (strcmp(words[0], "kernel") == 0) {
    r->kind = RULE_KERNEL;
    return count_of == 3 && read_kernel(words[2], r) ? NULL : "kernel NAME saxpy|increment|nothing";
  }
  return "a statement begins with absent, fail, lose, set, kernel or trace";
}

static const char *read_script(const char *text, rule *out, unsigned *out_count, char *trace) {
  static char words[MOST_WORDS][TEXT_BYTES];
  const char *error = NULL;
  unsigned word_count;
  *out_count = 0;
  trace[0] = 0;
  for (const char *at = text; error == NULL && next_statement(&at, words, &word_count, &error);) {
    if (strcmp(words[0], "trace") == 0 && word_count == 2) {
      snprintf(trace, TEXT_BYTES, "%s", words[1]);
      continue;
    }
    if (*out_count == MOST_RULES) return "too many statements";
    error = read_rule(words, word_count, &out[(*out_count)++]);
  }
  return error;
}

static const char *take_script(const char *text) {
  static rule fresh[MOST_RULES];
  char trace[TEXT_BYTES];
  unsigned fresh_count;
  const char *error = read_script(text, fresh, &fresh_count, trace);
  if (error != NULL) return error;
  memcpy(rules, fresh, sizeof rules);
  memcpy(trace_path, trace, sizeof trace_path);
  rule_count = fresh_count;
  submissions = 0;
  for (unsigned i = 0; i < MOST_NAMES; i++) counts[i].calls = 0;
  return NULL;
}

/* The variable holds the script, or behind an @ the name of a file that does. */
static void take_variable(void) {
  const char *text = getenv(script_variable), *error;
  static char file_text[SCRIPT_BYTES];
  if (text == NULL) return;
  if (text[0] == '@') {
    FILE *file = fopen(text + 1, "rb");
    size_t bytes = file != NULL ? fread(file_text, 1, sizeof file_text - 1, file) : 0;
    if (file == NULL || bytes == sizeof file_text - 1) {
      fprintf(stderr, "%s: %s can't be read whole\n", script_variable, text + 1);
      abort();
    }
    fclose(file);
    text = file_text;
  }
  error = take_script(text);
  if (error == NULL) return;
  fprintf(stderr, "%s: %s\n", script_variable, error); /* a test with a wrong script must not pass */
  abort();
}

void fake_begin(const char *variable, const fake_code *codes) {
  pthread_mutex_lock(&lock);
  if (script_variable == NULL) {
    script_variable = variable;
    script_codes = codes;
    take_variable();
  }
  pthread_mutex_unlock(&lock);
}

const char *fake_script(const char *text) {
  pthread_mutex_lock(&lock);
  const char *error = take_script(text);
  pthread_mutex_unlock(&lock);
  return error;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* The lock is held. NULL once there are too many names. */
static count *find_count(const char *name) {
  for (unsigned i = 0; i < MOST_NAMES; i++) {
    if (strcmp(counts[i].name, name) == 0) return &counts[i];
    if (counts[i].name[0] != 0) continue;
    snprintf(counts[i].name, NAME_BYTES, "%.63s", name);
    return &counts[i];
  }
  abort();
}

/* The last rule wins, so that a script can end with an exception. The lock is held. */
static const rule *find_rule(rule_kind kind, const char *name, uint64_t call) {
  for (unsigned i = rule_count; i-- > 0;) {
    const rule *r = &rules[i];
    if (r->kind != kind || (name != NULL && strcmp(r->name, name) != 0)) continue;
    if (call == 0 || (call >= r->first && call <= r->last)) return r;
  }
  return NULL;
}

bool fake_is_absent(const char *name) {
  pthread_mutex_lock(&lock);
  bool is_absent = find_rule(RULE_ABSENT, name, 0) != NULL;
  pthread_mutex_unlock(&lock);
  return is_absent;
}

/* One write for a line, so that the lines of several threads and processes stay whole. */
static void trace(const char *name) {
  char line[NAME_BYTES + 2];
  if (trace_path[0] == 0) return;
  int fd = open(trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int bytes = snprintf(line, sizeof line, "%s\n", name);
  if (fd < 0 || write(fd, line, (size_t)bytes) != bytes) abort();
  close(fd);
}

bool fake_enter(const char *name, int64_t *code) {
  pthread_mutex_lock(&lock);
  uint64_t call = ++find_count(name)->calls;
  trace(name);
  const rule *r = find_rule(RULE_FAIL, name, call);
  if (r != NULL) *code = r->code;
  pthread_mutex_unlock(&lock);
  return r != NULL;
}

bool fake_loses(int64_t otherwise, int64_t *code) {
  pthread_mutex_lock(&lock);
  const rule *r = find_rule(RULE_LOSE, NULL, ++submissions);
  if (r != NULL) *code = r->has_code ? r->code : otherwise;
  pthread_mutex_unlock(&lock);
  return r != NULL;
}

const char *fake_text(const char *key, const char *otherwise) {
  pthread_mutex_lock(&lock);
  const rule *r = find_rule(RULE_SET, key, 0);
  pthread_mutex_unlock(&lock);
  return r != NULL ? r->text : otherwise;
}

uint64_t fake_number(const char *key, uint64_t otherwise) {
  uint64_t number;
  const char *text = fake_text(key, NULL);
  return text != NULL && read_number(text, &number) ? number : otherwise;
}

uint64_t fake_calls(const char *name) {
  pthread_mutex_lock(&lock);
  uint64_t calls = find_count(name)->calls;
  pthread_mutex_unlock(&lock);
  return calls;
}

static void add_live(const char *kind, int64_t more) {
  pthread_mutex_lock(&lock);
  find_count(kind)->live += more;
  pthread_mutex_unlock(&lock);
}

void fake_born(const char *kind) { add_live(kind, 1); }
void fake_died(const char *kind) { add_live(kind, -1); }

int64_t fake_live(const char *kind) {
  pthread_mutex_lock(&lock);
  int64_t live = find_count(kind)->live;
  pthread_mutex_unlock(&lock);
  return live;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

void fake_kernel(const char *name, fake_kernel_fn fn) {
  pthread_mutex_lock(&lock);
  rule *r = (rule *)(uintptr_t)find_rule(RULE_KERNEL, name, 0);
  if (r == NULL && rule_count < MOST_RULES) {
    r = &rules[rule_count++];
    *r = (rule){ .kind = RULE_KERNEL };
    snprintf(r->name, sizeof r->name, "%.63s", name);
  }
  if (r != NULL) r->kernel = fn;
  pthread_mutex_unlock(&lock);
}

fake_kernel_fn fake_find_kernel(const char *name) {
  pthread_mutex_lock(&lock);
  const rule *r = find_rule(RULE_KERNEL, name, 0);
  fake_kernel_fn fn = r != NULL ? r->kernel : NULL;
  pthread_mutex_unlock(&lock);
  return fn;
}
