# Macros of configure.ac: optional dependencies that never degrade an explicit request, and build variants.

# VYRE_WITH_MODULE(name, VARIABLE, pkg-config module, what it is for)
# --with-name=auto (default), yes or no. Sets VARIABLE_CFLAGS, VARIABLE_LIBS, HAVE_VARIABLE (config.h and
# automake conditional) and vyre_with_name.
AC_DEFUN([VYRE_WITH_MODULE], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$4 @<:@auto@:>@])], [], [with_$1=auto])
  vyre_with_$1=no
  AS_CASE([$with_$1],
    [no], [],
    [yes|auto], [PKG_CHECK_MODULES([$2], [$3], [vyre_with_$1=yes], [AS_IF([test "x$with_$1" = xyes],
      [AC_MSG_ERROR([--with-$1 was asked for, but pkg-config finds no $3. Fix: install its development package, or leave the option out.])])])],
    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1". Fix: name a place through PKG_CONFIG_PATH instead.])])
  AS_IF([test $vyre_with_$1 = yes], [AC_DEFINE([HAVE_$2], [1], [Define to 1 if $1 is used.])])
  AM_CONDITIONAL([HAVE_$2], [test $vyre_with_$1 = yes])
])

# VYRE_WITH_HEADERS(name, VARIABLE, headers, packages that have them, what it is for)
# --with-name=auto (default), yes or no. Sets HAVE_VARIABLE (automake conditional) and vyre_with_name.
AC_DEFUN([VYRE_WITH_HEADERS], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$5 @<:@auto@:>@])], [], [with_$1=auto])
  vyre_with_$1=no
  AS_CASE([$with_$1],
    [no], [],
    [yes|auto], [vyre_with_$1=yes
      AC_CHECK_HEADERS([$3], [], [vyre_with_$1=no
        AS_IF([test "x$with_$1" = xyes],
          [AC_MSG_ERROR([--with-$1 was asked for, but the header $ac_header is missing. Fix: install $4, or leave the option out.])])])],
    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1". Fix: name a place through CPPFLAGS instead.])])
  AM_CONDITIONAL([HAVE_$2], [test $vyre_with_$1 = yes])
])

# VYRE_WITH_PROGRAM(name, VARIABLE, what it is for)
# Sets VARIABLE to the path of the program, HAVE_VARIABLE (automake conditional) and vyre_with_name.
AC_DEFUN([VYRE_WITH_PROGRAM], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$3 @<:@auto@:>@])], [], [with_$1=auto])
  vyre_with_$1=no
  AS_CASE([$with_$1],
    [no], [],
    [yes|auto], [AC_PATH_PROG([$2], [$1])
      AS_IF([test -n "$$2"], [vyre_with_$1=yes],
            [test "x$with_$1" = xyes],
            [AC_MSG_ERROR([--with-$1 was asked for, but PATH has no $1. Fix: install it, or leave the option out.])])],
    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1". Fix: put its directory into PATH instead.])])
  AM_CONDITIONAL([HAVE_$2], [test $vyre_with_$1 = yes])
])

# VYRE_SANITIZERS
# --enable-sanitizers (address and undefined) or --enable-tsan. The flags go into CFLAGS and CXXFLAGS, so that
# every object and every link has them; VYRE_DEFS_LDFLAGS is the check for undefined symbols, which no sanitizer
# build can pass, because its runtime belongs to the program.
AC_DEFUN([VYRE_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers], [build with the address and undefined behaviour sanitizers])],
    [], [enable_sanitizers=no])
  AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [build with the thread sanitizer])], [], [enable_tsan=no])
  vyre_sanitizers=no
  vyre_sanitizer_flags=
  AS_IF([test "x$enable_sanitizers" != xno && test "x$enable_tsan" != xno],
    [AC_MSG_ERROR([--enable-sanitizers and --enable-tsan exclude each other. Fix: build twice.])])
  AS_IF([test "x$enable_sanitizers" != xno], [
    vyre_sanitizers=address,undefined
    vyre_sanitizer_flags="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"])
  AS_IF([test "x$enable_tsan" != xno], [
    vyre_sanitizers=thread
    vyre_sanitizer_flags="-fsanitize=thread -fno-omit-frame-pointer"])
  VYRE_DEFS_LDFLAGS="-Wl,-z,defs"
  AS_IF([test -n "$vyre_sanitizer_flags"], [
    CFLAGS="$CFLAGS $vyre_sanitizer_flags"
    CXXFLAGS="$CXXFLAGS $vyre_sanitizer_flags"
    VYRE_DEFS_LDFLAGS=
    AC_MSG_CHECKING([whether programs link with -fsanitize=$vyre_sanitizers])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])
      AC_MSG_ERROR([$CC has no runtime for -fsanitize=$vyre_sanitizers. Fix: install it (for clang 14: libclang-rt-14-dev).])])])
  AC_SUBST([VYRE_DEFS_LDFLAGS])
  AC_SUBST([vyre_sanitizers])
  AM_CONDITIONAL([SANITIZERS], [test $vyre_sanitizers != no])
])

# VYRE_WARNINGS
# The warnings that every file must compile without. They are errors unless --disable-werror is given.
AC_DEFUN([VYRE_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--disable-werror], [let warnings be warnings (for untested compilers)])],
    [], [enable_werror=yes])
  vyre_warnings="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef"
  vyre_warnings="$vyre_warnings -Wwrite-strings -Wformat=2 -Wconversion -Wno-sign-conversion"
  AS_IF([test "x$enable_werror" != xno], [vyre_warnings="$vyre_warnings -Werror"])
])

# VYRE_PLUGIN_FLAGS
# Link flags, used as `-module $(PLUGIN_LDFLAGS)`, since Automake wants to see -module at the target.
# PLUGIN_LDFLAGS makes a shared object that exports one symbol and hides what it links statically.
# TEST_PLUGIN_LDFLAGS is the same for a plugin that is never installed (Libtool needs -rpath to make it shared).
AC_DEFUN([VYRE_PLUGIN_FLAGS], [
  PLUGIN_LDFLAGS="-avoid-version -no-undefined $VYRE_DEFS_LDFLAGS"
  PLUGIN_LDFLAGS="$PLUGIN_LDFLAGS -export-symbols-regex '^vyre_backend_query\$\$' -Wl,--exclude-libs,ALL"
  AC_SUBST([PLUGIN_LDFLAGS])
  AC_SUBST([TEST_PLUGIN_LDFLAGS], ['$(PLUGIN_LDFLAGS) -rpath $(abs_top_builddir)/never-installed'])
])

# VYRE_RELOCATABLE
# RELOCATABLE_LDFLAGS lets an installed program find libvyre from its own place, so that a moved prefix works.
AC_DEFUN([VYRE_RELOCATABLE], [
  RELOCATABLE_LDFLAGS=
  AS_CASE([$bindir:$libdir], ['${exec_prefix}/bin:${exec_prefix}/'*], [
    vyre_lib=`AS_ECHO(["$libdir"]) | sed 's:^.*exec_prefix}/::'`
    RELOCATABLE_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/../$vyre_lib'"])
  AC_SUBST([RELOCATABLE_LDFLAGS])
])
