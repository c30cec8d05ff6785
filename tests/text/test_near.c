/* Fixes that name what was meant: the nearest name that could stand there, and the conversion that is missing. */
#include "kit.h"

/* Asserts that the |index|th error of |text| has this fix. */
static void check_fix(const char *text, uint32_t index, const char *fix) {
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_diagnostic found = { 0 };
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_diagnostics_create("t.vyre", text, strlen(text), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, d, &program, &error), VYRE_ERR_INVALID_PROGRAM);
  char *rendered = vyre_diagnostics_render(d), *line = kit_text("\n  Fix: %s\n", fix);
  ck_assert_msg(vyre_diagnostics_get(d, index, &found), "%s\n%s", text, rendered);
  size_t bytes = strlen(found.fix);
  ck_assert_msg(strncmp(found.fix, fix, bytes) == 0 && (fix[bytes] == 0 || strcmp(fix + bytes, ".") == 0),
                "wanted %s in %s\n%s", fix, text, rendered);
  ck_assert_msg(strstr(rendered, line) != NULL, "%s", rendered);
  size_t end = strlen(error.text) - strlen(fix);
  if (index == 0) ck_assert_msg(strcmp(error.text + end, fix) == 0, "%s", error.text);
  free(line);
  free(rendered);
  vyre_diagnostics_destroy(d);
}

static void check_first(const char *statements, const char *fix) {
  char *text = kit_text("program p { param alpha: f32; read xs: f32[]; rw ys: f32[]; const SIZE = 4;\n"
                        "fn square(x: f32) -> f32 { return x * x; }\nvar total = 0.0; let index = gid.x;\n%s }",
                        statements);
  check_fix(text, 0, fix);
  free(text);
}

START_TEST(names_that_could_stand_there) {
  check_first("total = alhpa;", "did you mean alpha?");
  check_first("total = SIZ;", "did you mean SIZE?");
  check_first("total = f32(indx);", "did you mean index?");
  check_first("total = f32(giid.x);", "did you mean gid?");
  check_first("totl = 1.0;", "did you mean total?");
  check_first("total = xz[0];", "did you mean xs?");
  check_first("yz[0] = 1.0;", "did you mean ys?");
  check_first("total = f32(len(yss));", "did you mean ys?");
  check_first("atomic_add(yss[0], 1.0);", "did you mean ys?");
  check_first("total = squaer(1.0);", "did you mean square?");
  check_first("total = sqr(1.0);", "did you mean sqrt?");
  check_first("atomic_ad(ys[0], 1.0);", "did you mean atomic_add?");
  check_first("lett a = 1;", "did you mean let?");
  check_first("iff (true) {}", "did you mean if?");
  check_first("let a: f33 = 1.0;", "did you mean f32?");
}
END_TEST

/* What can not stand there is not meant, however near it is. */
START_TEST(names_that_could_not) {
  check_first("total = squaer;", "declare it before its use, in this block or one around it.");
  check_first("total = alhpa[0];", "declare the buffer read or rw before the statements.");
  check_first("total = alhpa(1.0);", "declare it before its use, in this block or one around it.");
  check_first("alhpa = 1.0;", "declare it with var.");
  check_first("total = velocity; { let velocty = 1.0; }", "declare it before its use, in this block or one around it.");
  check_first("{ let velocty = 1.0; } total = velocity;", "declare it before its use, in this block or one around it.");
  check_first("i = 1.0;", "declare it with var.");
  check_first("total = q;", "declare it before its use, in this block or one around it.");
}
END_TEST

/* A function's body sees its own names and what was declared before it. */
START_TEST(names_of_a_body) {
  check_fix("program p { fn f(first: f32) -> f32 { return frist; } let frost = f(1.0); }", 0, "did you mean first?");
  check_fix("program p { fn f(x: f32) -> f32 { return frist; } let first = f(1.0); }", 0,
            "declare it before its use, in this block or one around it.");
}
END_TEST

/* Capitals are a slip even where nothing else is near. */
START_TEST(names_with_other_capitals) {
  check_first("total = ALPHA;", "did you mean alpha?");
  check_first("Total = 1.0;", "did you mean total?");
  check_first("XS[0] = 1.0;", "did you mean xs?");
  check_first("total = Square(1.0);", "did you mean square?");
  check_fix("program p { let N = 1; let m = n; }", 0, "did you mean N?");
}
END_TEST

START_TEST(words_of_other_languages) {
  static const struct { const char *word, *kind, *fix; } rows[] = {
#define X(word, kind, fix) { word, #kind, fix },
#include "ir/foreign.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *fix = kit_text("%s.", rows[i].fix), *text;
    if (strcmp(rows[i].kind, "TYPE") == 0) text = kit_text("let a: %s = 1;", rows[i].word);
    else if (strcmp(rows[i].kind, "STATEMENT") == 0) text = kit_text("%s a = 1;", rows[i].word);
    else text = kit_text("let a = %s;", rows[i].word);
    check_first(text, fix);
    free(text);
    free(fix);
  }
  check_first("while (true) {}", "write `loop { if (!condition) { break; } }`, or `for (i in 0..n) {}`.");
  check_first("printf(1);", "write `print(\"x = {}\", x);`.");
}
END_TEST

START_TEST(conversions_that_are_missing) {
  check_first("ys[0] = index;", "write f32(...) around it; nothing is converted silently.");
  check_first("let a: u32 = alpha;", "write u32(...) around it; nothing is converted silently.");
  check_first("total = index;", "write f32(...) around it; nothing is converted silently.");
  check_first("let a = square(index);", "write f32(...) around it; nothing is converted silently.");
  check_first("if (index) {}", "compare with 0.");
  check_first("ys[0] = f32x2(1.0, 2.0);", "convert the value; u8 u16 take u32, i8 i16 take i32, f16 bf16 take f32.");
  const char *both = "write f32(...) around the u32, or u32(...) around the f32; nothing is converted silently.";
  check_first("let a = alpha * index;", both);
  check_first("let a = alpha < index;", both);
  check_first("let a = u64(1) % index;",
              "write u64(...) around the u32, or u32(...) around the u64; nothing is converted silently.");
  check_first("let a = i32(1) & index;",
              "write i32(...) around the u32, or u32(...) around the i32; nothing is converted silently.");
  check_first("let a = alpha % index;", "convert to an integer type.");
  check_first("let a = index << i32(1);", "convert the count with u32(...).");
  check_first("let a = f32x2(1.0) * f32x4(1.0);", "convert one operand; nothing is converted silently.");
}
END_TEST

/* However many names there are, and however long, the text is refused as any other. */
START_TEST(very_many_names) {
  enum { NAMES = 70000 };
  char *text = malloc(NAMES * 32), *at = text;
  at += sprintf(at, "program p {");
  for (int i = 0; i < NAMES; i++) at += sprintf(at, "let name_%05d = 1;", i);
  sprintf(at, "let a = nmae_00001; let b = name_6999; }");
  check_fix(text, 0, "did you mean name_00001?");
  free(text);
  char name[256];
  memset(name, 'n', 255);
  name[255] = 0;
  text = kit_text("program p { let %s = 1; let b = %.254s; }", name, name);
  check_fix(text, 0, "declare it before its use, in this block or one around it.");
  free(text);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { names_that_could_stand_there, names_that_could_not, names_of_a_body,
                                 names_with_other_capitals,   words_of_other_languages,
                                 conversions_that_are_missing, very_many_names, NULL };
  return run_suite("near", 60, tests);
}
