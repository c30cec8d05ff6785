#!/bin/sh
# Every dtype, version and byte order through the command; what it writes is read by an independent reader.
. "$top_srcdir/tests/tools/lib.sh"
command -v python3 >/dev/null || { echo 'skipped: there is no python3'; exit 77; }
cat >make.py <<'END'
import struct
types = {'bool': ('b1', '?'), 'u8': ('u1', 'B'), 'i8': ('i1', 'b'), 'u16': ('u2', 'H'), 'i16': ('i2', 'h'), 'u32': ('u4', 'I'),
         'i32': ('i4', 'i'), 'u64': ('u8', 'Q'), 'i64': ('i8', 'q'), 'f16': ('f2', 'e'), 'f32': ('f4', 'f'), 'f64': ('f8', 'd')}
with open('list', 'w') as listing:
    for name, (dtype, code) in types.items():
        for version in (1, 2, 3):
            for order in '<>':
                header = "{'descr': '%s', 'fortran_order': False, 'shape': (2, 2), }" % ((order if dtype[1] != '1' else '|') + dtype)
                prefix = 10 if version == 1 else 12
                header += ' ' * (-(len(header) + prefix + 1) % 64) + '\n'
                length = struct.pack('<H' if version == 1 else '<I', len(header))
                values = [1, 0, 1, 1] if name == 'bool' else [1, 2, 3, 100]
                file = '%s_%d_%s.npy' % (name, version, 'little' if order == '<' else 'big')
                with open(file, 'wb') as out:
                    out.write(b'\x93NUMPY' + bytes([version, 0]) + length + header.encode() + struct.pack(order + '4' + code, *values))
                listing.write('%s %s %s\n' % (name, file, ','.join(map(str, values))))
END
python3 make.py || exit 99
cat >read.py <<'END'
import ast, struct, sys
codes = {'b1': '?', 'u1': 'B', 'i1': 'b', 'u2': 'H', 'i2': 'h', 'u4': 'I', 'i4': 'i', 'u8': 'Q', 'i8': 'q', 'f2': 'e', 'f4': 'f', 'f8': 'd'}
for line in open(sys.argv[1]):
    file, wanted = line.split()
    data = open(file, 'rb').read()
    assert data[:8] == b'\x93NUMPY\x01\x00', file
    size, = struct.unpack('<H', data[8:10])
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b'\n', file
    header = ast.literal_eval(data[10:10 + size].decode().strip())
    assert set(header) == {'descr', 'fortran_order', 'shape'} and header['fortran_order'] is False, header
    assert len(header['shape']) == 1 and header['descr'][0] == ('|' if header['descr'][2] == '1' else '<'), header
    values = struct.unpack('<%d%s' % (header['shape'][0], codes[header['descr'][1:]]), data[10 + size:])
    assert ','.join(str(int(v)) for v in values) == wanted, (file, values)
END
for type in bool u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64 f32x4; do
  printf 'program copy { read a: %s[]; write b: %s[]; b[gid.x] = a[gid.x]; }\n' $type $type >$type.vyre
done
while read -r type file values; do
  expect 0 "$VYRE" run --backend cpu_ref $type.vyre --in a=@"$file" --len b=4 --out b=@back_"$file"
  echo "back_$file $values" >>written
done <list
expect 0 "$VYRE" run --backend cpu_ref f32x4.vyre --in a=1,2,3,4,5,6,7,8 --len b=2 --out b=@rows.npy
echo 'rows.npy 1,2,3,4,5,6,7,8' >>written
expect 0 python3 read.py written
expect 2 "$VYRE" run --backend cpu_ref f32x4.vyre --in a=@f32_1_little.npy --len b=1
expect 2 "$VYRE" run --backend cpu_ref f32x4.vyre --in a=@u32_1_little.npy --len b=1
err_has "dtype '<u4'"
for file in "$top_srcdir"/tests/corpus/npy/*overflow "$top_srcdir"/tests/corpus/npy/trailing "$top_srcdir"/tests/corpus/npy/fortran; do
  cp "$file" hostile.npy
  expect 2 "$VYRE" run --backend cpu_ref u32.vyre --in a=@hostile.npy --len b=1; err_has 'hostile.npy'; err_has 'Fix: '
done
finish
