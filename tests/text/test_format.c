/* The formatter: what it changes, what it keeps, and that it does so once. */
#include "kit.h"

static char *format(const char *text) {
  char *once, *twice;
  size_t length;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_text_format(text, strlen(text), NULL, &once, &length, &error) == VYRE_OK, "%s: %s", text,
                error.text);
  ck_assert_uint_eq(strlen(once), length);
  ck_assert_int_eq(vyre_text_format(once, length, NULL, &twice, NULL, &error), VYRE_OK);
  ck_assert_str_eq(once, twice);
  free(twice);
  return once;
}

static void check(const char *text, const char *wanted) {
  char *formatted = format(text);
  ck_assert_str_eq(formatted, wanted);
  free(formatted);
}

/* |text| inside of a program. */
static void check_lines(const char *text, const char *wanted) {
  char *whole = kit_text("program p {\n%s\n}", text), *result = kit_text("program p {\n%s}\n", wanted);
  check(whole, result);
  free(whole);
  free(result);
}

START_TEST(spacing) {
  check("program   p workgroup( 1,2 )contract{}", "program p workgroup(1, 2) contract {}\n");
  check_lines("param a:f32;read b:u8 [ 4 ];", "  param a: f32;\n  read b: u8[4];\n");
  check_lines("const N=-4;const T:i8[2]={ -1,2 };", "  const N = -4;\n  const T: i8[2] = {-1, 2};\n");
  check_lines("let r=a+b*-c- -d/(e-1)<<2;", "  let r = a + b * -c - -d / (e - 1) << 2;\n");
  check_lines("let r=!a&&~b==c||d<=e;", "  let r = !a && ~b == c || d <= e;\n");
  check_lines("let r = - ( x ) ; let q = ! ( c ) ;", "  let r = -(x);\n  let q = !(c);\n");
  check_lines("let r=a?b:c?d:e;", "  let r = a ? b : c ? d : e;\n");
  check_lines("let r : u32=x [ i ] . y+f ( a ,b ) ;", "  let r: u32 = x[i].y + f(a, b);\n");
  check_lines("let r=bitcast < u32 > ( x )<y;", "  let r = bitcast<u32>(x) < y;\n");
  check_lines("let r=f32x4 ( 1 ) ; let q = call \"a.b\" (x);", "  let r = f32x4(1);\n  let q = call \"a.b\"(x);\n");
  check_lines("x[ i ]+=1;y<<=2;", "  x[i] += 1;\n  y <<= 2;\n");
  check_lines("for(i in 0 .. - 1 step- 2){}", "  for (i in 0..-1 step -2) {}\n");
  check_lines("for(i in(a)..b step(c)){}", "  for (i in (a)..b step (c)) {}\n");
  check_lines("copy_async t:a[0],b[0],1;wait t;", "  copy_async t: a[0], b[0], 1;\n  wait t;\n");
  check_lines("print( \"{}\" ,x );trap (7);fence( acquire,device );",
              "  print(\"{}\", x);\n  trap(7);\n  fence(acquire, device);\n");
  check_lines("fn f(a:u32 , b:f32)->f32{return-b;}", "  fn f(a: u32, b: f32) -> f32 {\n    return -b;\n  }\n");
  check_lines("return(a);", "  return (a);\n");
}
END_TEST

START_TEST(blocks_and_lines) {
  check_lines("if(a){x=1;}else if(b){}else{y=2;}",
              "  if (a) {\n    x = 1;\n  } else if (b) {} else {\n    y = 2;\n  }\n");
  check_lines("if (a)\n{\nx = 1;\n}\nelse\n{\n}", "  if (a) {\n    x = 1;\n  } else {}\n");
  check_lines("loop{{region\"r\"{break;}}}",
              "  loop {\n    {\n      region \"r\" {\n        break;\n      }\n    }\n  }\n");
  check_lines("a = 1; b = 2;\n\n\n\nc = 3;", "  a = 1;\n  b = 2;\n\n  c = 3;\n");
  check_lines("{\n\na = 1;\n\n}", "  {\n    a = 1;\n  }\n");
  check_lines("let r = a +\nb *\n        c;", "  let r = a +\n      b *\n      c;\n");
  check_lines("let r = f(a,\nb\n);", "  let r = f(a,\n      b\n      );\n");
  check_lines("const T: u32[4] = {\n1, 2,\n3, 4,\n};", "  const T: u32[4] = {\n    1, 2,\n    3, 4,\n  };\n");
}
END_TEST

START_TEST(comments_stay) {
  check("// a\n\n\n/* b\n   c */\nprogram p {} // end", "// a\n\n/* b\n   c */\nprogram p {}  // end\n");
  check_lines("a = 1; // one\n// two\nb = 2; /* three */ c = 3;",
              "  a = 1;  // one\n  // two\n  b = 2; /* three */\n  c = 3;\n");
  check_lines("{ // open\na = 1;\n// last\n}", "  {  // open\n    a = 1;\n    // last\n  }\n");
  check_lines("if (a) { }\n// why\nelse { }", "  if (a) {}\n  // why\n  else {}\n");
  check_lines("let r = a + // first\nb /* second */ - c;", "  let r = a +  // first\n      b /* second */ - c;\n");
  check_lines("/* x */ a = 1;\n\n/* y */\nb = 2;", "  /* x */ a = 1;\n\n  /* y */\n  b = 2;\n");
  check_lines("f(/* none */);", "  f( /* none */ );\n");
  check_lines("const T: u32[2] = {\n  1, // one\n  2, // two\n};",
              "  const T: u32[2] = {\n    1,  // one\n    2,  // two\n  };\n");
  check("// trailing blanks \t \n", "// trailing blanks\n");
  check("", "");
}
END_TEST

START_TEST(line_ends_and_a_mark_are_made_plain) {
  check("\xEF\xBB\xBFprogram p {\r\n  // c \r\n  /* d \r\n e */\r\n}\r\n", "program p {\n  // c\n  /* d\n e */\n}\n");
}
END_TEST

START_TEST(spellings_of_literals_and_constants_stay) {
  check_lines("const N=0x1F;let a=1.50e+3f64;let b=007.5;let c=N*2;",
              "  const N = 0x1F;\n  let a = 1.50e+3f64;\n  let b = 007.5;\n  let c = N * 2;\n");
}
END_TEST

START_TEST(tokens_that_would_join_are_kept_apart) {
  check("- > < = . . ! =", "- > < = . .! =\n");
  check("a.b . c", "a.b.c\n");
}
END_TEST

START_TEST(what_is_no_token_is_refused) {
  static const struct { const char *text; vyre_code code; uint32_t line;
  } rows[] = {
      {"program p {\n @ }", VYRE_S1, 2},
      {"/* open", VYRE_S3, 1},
      {"let a = 5.;", VYRE_S4, 1},
      {"\n\n\xFF", VYRE_S2, 3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vyre_diagnostics *d;
    vyre_diagnostic found;
    char *out;
    vyre_error error = VYRE_ERROR_INIT;
    ck_assert_int_eq(vyre_diagnostics_create(NULL, rows[i].text, strlen(rows[i].text), &d), VYRE_OK);
    ck_assert_int_eq(vyre_text_format(rows[i].text, strlen(rows[i].text), d, &out, NULL, &error),
                     VYRE_ERR_INVALID_PROGRAM);
    ck_assert_ptr_null(out);
    ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
    ck_assert(vyre_diagnostics_get(d, 0, &found));
    ck_assert_int_eq(found.code, rows[i].code);
    ck_assert_uint_eq(found.line, rows[i].line);
    vyre_diagnostics_destroy(d);
  }
}
END_TEST

/* ---- Files ---------------------------------------------------------------------------------- */

static char *read_file(const char *path) {
  char *full = kit_text("%s/%s", getenv("top_srcdir") != NULL ? getenv("top_srcdir") : ".", path);
  FILE *file = fopen(full, "rb");
  ck_assert_msg(file != NULL, "%s", full);
  char *text = NULL;
  size_t bytes = 0;
  ck_assert_int_ne(getdelim(&text, &bytes, 0, file), -1);
  fclose(file);
  free(full);
  return text;
}

/* Formatting keeps the program, and the examples are as the formatter writes them. */
START_TEST(formatting_keeps_the_program) {
  static const struct { const char *path; bool canonical; } files[] = {
    { "examples/saxpy.vyre", true },
    { "examples/mandelbrot/mandelbrot.vyre", true },
    { "examples/prefix_sum/prefix_sum.vyre", true },
    { "examples/string_hash/string_hash.vyre", true },
    { "examples/text_stats/text_stats.vyre", true },
    { "tests/corpus/text/everything.vyre", false },
    { "tests/corpus/text/numbers.vyre", false },
    { "tests/corpus/text/calls.vyre", false },
    { "tests/corpus/text/crlf.vyre", false },
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char *text = read_file(files[i].path), *formatted = format(text);
    vyre_program *before = kit_parse(text), *after = kit_parse(formatted);
    ck_assert_msg(vyre_program_equal(before, after), "%s", files[i].path);
    if (files[i].canonical) ck_assert_str_eq(text, formatted);
    vyre_program_release(before);
    vyre_program_release(after);
    free(text);
    free(formatted);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { spacing,
                                 blocks_and_lines,
                                 comments_stay,
                                 line_ends_and_a_mark_are_made_plain,
                                 spellings_of_literals_and_constants_stay,
                                 tokens_that_would_join_are_kept_apart,
                                 what_is_no_token_is_refused,
                                 formatting_keeps_the_program,
                                 NULL };
  return run_suite("format", 60, tests);
}
