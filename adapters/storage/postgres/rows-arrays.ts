/**
 * Arrays as PostgreSQL sends and takes them in binary (`array_recv` in its `arrayfuncs.c`): a statement that writes a
 * hundred rows takes some twenty of them, and quoting and reading back a hundred documents as text cost as much as
 * writing them.
 */

/** OIDs of the elements, from `pg_type`. */
const TEXT = 25
const INT2 = 21
const INT4 = 23
const INT8 = 20
const FLOAT8 = 701
const BOOL = 16
const TID = 27

const HEAD_BYTES = 20
const NULL = -1

/** Dimensions, whether there are nulls (not looked at), the type; of the one dimension length and lower bound. */
function head(bytes: number, oid: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEAD_BYTES + bytes)
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(0, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

/** Elements that all take so many bytes. */
function fixed<Value>(
  values: readonly (Value | null)[],
  oid: number,
  size: number,
  write: (buffer: Buffer, value: Value, at: number) => void,
): Buffer {
  let nulls = 0
  for (const value of values) if (value === null) nulls += 1
  const buffer = head(values.length * (4 + size) - nulls * size, oid, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(NULL, at)
      continue
    }
    buffer.writeInt32BE(size, at)
    write(buffer, value, at + 4)
    at += 4 + size
  }
  return buffer
}

export const int2Array = (values: readonly number[]): Buffer =>
  fixed(values, INT2, 2, (buffer, value, at) => buffer.writeInt16BE(value, at))

export const int4Array = (values: readonly (number | null)[]): Buffer =>
  fixed(values, INT4, 4, (buffer, value, at) => buffer.writeInt32BE(value, at))

export const int8Array = (values: readonly (number | null)[]): Buffer =>
  fixed(values, INT8, 8, (buffer, value, at) => buffer.writeBigInt64BE(BigInt(value), at))

export const float8Array = (values: readonly (number | null)[]): Buffer =>
  fixed(values, FLOAT8, 8, (buffer, value, at) => buffer.writeDoubleBE(value, at))

export const boolArray = (values: readonly boolean[]): Buffer =>
  fixed(values, BOOL, 1, (buffer, value, at) => buffer.writeUInt8(value ? 1 : 0, at))

/** Places of rows as PostgreSQL writes them, `(block,offset)`. */
export const tidArray = (values: readonly string[]): Buffer =>
  fixed(values, TID, 6, (buffer, value, at) => {
    const comma = value.indexOf(',')
    buffer.writeUInt32BE(Number(value.slice(1, comma)), at)
    buffer.writeUInt16BE(Number(value.slice(comma + 1, -1)), at + 4)
  })

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = 0
  for (const value of values) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const buffer = head(bytes, TEXT, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(NULL, at)
      continue
    }
    const written = buffer.write(value, at + 4)
    buffer.writeInt32BE(written, at)
    at += 4 + written
  }
  return buffer
}
