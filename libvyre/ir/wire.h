/* What the encoder and the decoder of the wire form agree on beyond the tags of the .def tables. docs/ir.md has
 * the layout byte by byte. */
#ifndef VYRE_IR_WIRE_H
#define VYRE_IR_WIRE_H

#include <vyre/wire.h>

enum {
  WIRE_DIGEST_AT = 8,      /* after magic, version and flags */
  WIRE_FLAGS = 1 << 2,     /* the one set of flags that exists: byte order of all payloads is fixed */
  WIRE_VECTOR_TYPE = 0x14, /* type tag that a component tag and a lane count follow */
  WIRE_TAGS = 64,          /* operator and statement tags are below this */
  WIRE_STATEMENT = 0x80,   /* added to the tag of a statement; an expression's first byte has the bit clear */
  WIRE_ELSE = 0xFE,        /* in the place of a statement: ends the first block of an if and opens the second */
  WIRE_END = 0xFF          /* ends the innermost open block */
};

#endif
