#include "twin.h"

#include <stdio.h>

#include "runs.h"

static void compare(const vyre_program *p, const twin_options *o, const outcome *oracle, const outcome *engine,
                    twin_result *r) {
  compare_options strict = { .masked = o->masked, .words = true, .expiry = true };
  const outcome *silent = oracle->text[0] != 0 ? oracle : engine;
  r->refused = oracle->refused || engine->refused;
  r->trapped = oracle->traps > 0;
  if (silent->text[0] != 0) snprintf(r->text, sizeof r->text, "%s", silent->text);
  else outcome_differs(p, oracle, engine, &strict, r->text, sizeof r->text);
}

twin_result twin_run(vyre_program *program, const twin_options *options) {
  twin_result r = { .text = "" };
  outcome *oracle = outcome_create(), *engine = outcome_create();
  if (oracle == NULL || engine == NULL) {
    snprintf(r.text, sizeof r.text, "no memory");
  } else {
    run_oracle(program, &options->input, false, oracle);
    if (oracle->text[0] == 0) run_engine(program, &options->input, options->target, options->reverse, engine);
    compare(program, options, oracle, engine, &r);
  }
  outcome_destroy(oracle);
  outcome_destroy(engine);
  return r;
}
