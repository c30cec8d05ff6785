#!/bin/sh
# Help, version, and every way to misspell a command line.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre
args="--set a=2 --in x=1,2,3,4 --in y=10,20,30,40"

expect 2 "$VYRE"; out_is_empty; err_has 'Usage: vyre'
expect 0 "$VYRE" --help; out_has 'Usage: vyre'; err_is_empty
expect 0 "$VYRE" -h; out_has 'Commands:'
expect 0 "$VYRE" help; out_has 'Commands:'
expect 0 "$VYRE" --version; out_has 'vyre '; err_is_empty
expect 2 "$VYRE" help frobnicate; err_has "there is no command 'frobnicate'"
expect 2 "$VYRE" rnu x; err_has 'did you mean `vyre run`'
expect 2 "$VYRE" chekc x; err_has 'did you mean `vyre check`'
expect 2 "$VYRE" zzz; err_has 'Fix: '
expect 2 "$VYRE" CHECK x; err_has 'did you mean `vyre check`'
expect 2 "$VYRE" --verson; err_has 'did you mean `vyre --version`'
expect 2 "$VYRE" -x; err_has 'there is no option -x before a command'; err_lacks 'did you mean'

# Every option of every command has its help, and every command refuses an unknown option with a suggestion.
for command in run check fmt pack unpack fuse backends bench help; do
  expect 0 "$VYRE" help $command; out_has "Usage: vyre $command"; out_has '--help'; err_is_empty
  cp out by_help
  expect 0 "$VYRE" $command --help; same out by_help
  expect 0 "$VYRE" $command -h; same out by_help
  expect 2 "$VYRE" $command --hlep; err_has 'did you mean --help'
  expect 2 "$VYRE" $command -Z; err_has 'there is no option -Z'
  expect 2 "$VYRE" $command --help=yes; err_has 'takes no argument'
done
for option in backend set define in out len grid threads verify time report ulp steps timeout subgroup lanes \
  backend-path config json quiet; do
  expect 0 "$VYRE" run --help; out_has "--$option"
done
expect 0 "$VYRE" run --help
awk 'length > 100' out >long; [ -s long ] && fail 'a line of the help is longer than 100 columns'
for form in @FILE.npy @FILE 1,2,3 zeros:N iota:N rand:N:SEED; do out_has "$form"; done

# Operands.
for command in run check fmt pack unpack; do
  expect 2 "$VYRE" $command; err_has 'is missing'
done
expect 2 "$VYRE" run "$saxpy" more; err_has "'more' is one operand too many"
expect 2 "$VYRE" unpack a b; err_has 'one operand too many'
expect 2 "$VYRE" pack a b; err_has 'one operand too many'
expect 2 "$VYRE" backends here; err_has "one operand too many. Fix: write \`vyre backends\`."
expect 2 "$VYRE" help a b; err_has 'one operand too many'
expect 2 "$VYRE" run -- --no-such-file; err_has '--no-such-file: No such file'

# Arguments.
for option in backend set define in out len grid threads time ulp steps timeout subgroup lanes backend-path config; do
  expect 2 "$VYRE" run "$saxpy" --$option; err_has "--$option wants an argument"
done
expect 2 "$VYRE" run "$saxpy" --verify=1; err_has 'takes no argument'
for option in set define in out len; do
  expect 2 "$VYRE" run "$saxpy" --$option x; err_has 'wants'
  expect 2 "$VYRE" run "$saxpy" --$option =1; err_has 'wants'
  expect 2 "$VYRE" run "$saxpy" --$option x=1 --$option x=1; err_has "--$option is given twice for x"
done
for option in backend grid threads time ulp steps timeout subgroup lanes config; do
  expect 2 "$VYRE" run "$saxpy" --$option 1 --$option 1; err_has "--$option is given twice"
done
expect 2 "$VYRE" run "$saxpy" --verify --verify; err_has 'given twice'
expect 2 "$VYRE" run "$saxpy" --grid 1 --threads 1 $args; err_has 'exclude each other'
for bad in '' x -1 1,2,3,4 1,,2 ,1 1.5 '1 2' 99999999999999999999999999; do
  expect 2 "$VYRE" run "$saxpy" $args --grid "$bad"; err_has '--grid'
  expect 2 "$VYRE" run "$saxpy" $args --threads "$bad"; err_has '--threads'
done
expect 2 "$VYRE" run "$saxpy" $args --grid 4294967296; err_has 'below 2^32'
for bad in '' x -1 0 1000001 1.5; do expect 2 "$VYRE" run "$saxpy" $args --time "$bad"; err_has '--time'; done
for bad in '' x -1 4294967295 1.5 99999999999999999999; do
  expect 2 "$VYRE" run "$saxpy" $args --ulp "$bad"; err_has '--ulp'
done
for bad in '' x 0 -1 18446744073709551616; do expect 2 "$VYRE" run "$saxpy" $args --steps "$bad"; err_has '--steps'; done
for bad in '' x -1 0; do expect 2 "$VYRE" run "$saxpy" $args --timeout "$bad"; err_has '--timeout'; done
for bad in '' x 0 3 64; do expect 2 "$VYRE" run "$saxpy" $args --subgroup "$bad"; err_has '--subgroup'; done
for bad in '' x; do expect 2 "$VYRE" run "$saxpy" $args --lanes "$bad"; err_has '--lanes'; done
expect 2 "$VYRE" run "$saxpy" $args --lanes reversed --backend cuda; err_has '--lanes is for cpu_ref'
expect 2 "$VYRE" run "$saxpy" $args --backend-path no/such/place; err_has '--backend-path'
expect 2 "$VYRE" fmt -w --check "$saxpy"; err_has 'exclude each other'
expect 2 "$VYRE" fmt -w -; err_has 'standard input'
expect 2 "$VYRE" pack "$saxpy"; err_has '-o FILE'
expect 2 "$VYRE" pack "$saxpy" -o ''; err_has '-o FILE'
expect 2 "$VYRE" pack "$saxpy" --output=; err_has '-o FILE'
expect 0 "$VYRE" pack "$saxpy" -o saxpy.wire
expect 2 "$VYRE" unpack saxpy.wire -o ''; err_has '-o FILE'; out_is_empty

# Slips that are common: a capital, a forgotten @, text to unpack, a NumPy file by another name.
expect 2 "$VYRE" run "$saxpy" $args --set A=2; err_has 'did you mean a?'
expect 2 "$VYRE" run "$saxpy" $args --OUT y=-; err_has 'did you mean --out?'
echo 1 >data
expect 2 "$VYRE" run "$saxpy" --set a=2 --in x=data --in y=1; err_has 'Fix: write --in x=@data.'
expect 2 "$VYRE" run "$saxpy" --set a=2 --in x=nodata --in y=1; err_has 'lists the other forms of SRC'
expect 2 "$VYRE" unpack "$saxpy"; err_has 'is not in wire form'; err_has '`vyre pack`'; out_is_empty
expect 1 "$VYRE" run "$saxpy" $args --backend cpu; err_has 'found: cpu_ref'
printf '\223NUMPY..' >numbers
expect 0 "$VYRE" run "$saxpy" --set a=2 --in x=@numbers --in y=1 --out y=-; err_has 'numbers begins as a NumPy file does'

# Settings.
expect 2 "$VYRE" run "$saxpy" $args --config no.ini; err_has 'no.ini'
printf '[run]\nulp = many\n' >bad.ini
expect 2 "$VYRE" run "$saxpy" $args --config bad.ini; err_has 'bad.ini'
expect 2 "$VYRE" backends --config bad.ini; err_has 'vyre: bad.ini:2: '
printf '[run]\n= 1\n' >keyless.ini
expect 0 "$VYRE" backends --config keyless.ini; err_has 'keyless.ini:2: there is no key before the value. Fix: '
printf '[run]\nupl = 1\n' >odd.ini
expect 0 "$VYRE" run "$saxpy" $args --config odd.ini --out y=-; err_has 'upl'; out_is '12 24 36 48'
expect 0 "$VYRE" run "$saxpy" $args --config odd.ini --out y=- --quiet; err_is_empty
finish
