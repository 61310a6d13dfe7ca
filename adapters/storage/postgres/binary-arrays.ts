/**
 * Encodes arrays in PostgreSQL's binary format (`array_recv` in its `arrayfuncs.c`). A statement that writes a hundred
 * rows takes about twenty arrays, and quoting and parsing a hundred documents as text cost as much as writing them.
 */

/** OIDs of the element types, from `pg_type`. */
const TEXT = 25
const INT2 = 21
const INT4 = 23
const INT8 = 20
const FLOAT8 = 701
const BYTEA = 17

const HEADER_BYTES = 20
const NULL = -1

/**
 * Number of dimensions, flag for nulls (not read by the server), element type; length and lower bound of the dimension.
 */
function header(bytes: number, oid: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes)
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(0, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

/** An array of elements of `size` bytes each. */
function fixed<Value>(
  values: readonly (Value | null)[],
  oid: number,
  size: number,
  write: (buffer: Buffer, value: Value, at: number) => void,
): Buffer {
  let nulls = 0
  for (const value of values) if (value === null) nulls += 1
  const buffer = header(values.length * (4 + size) - nulls * size, oid, values.length)
  let at = HEADER_BYTES
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
  fixed(values, INT8, 8, (buffer, value, at) => {
    buffer.writeInt32BE(Math.floor(value / 2 ** 32), at)
    buffer.writeUInt32BE((value % 2 ** 32) >>> 0, at + 4)
  })

export const float8Array = (values: readonly (number | null)[]): Buffer =>
  fixed(values, FLOAT8, 8, (buffer, value, at) => buffer.writeDoubleBE(value, at))

/** Elements of any size. */
function variable<Value>(
  values: readonly (Value | null)[],
  oid: number,
  bytesOf: (value: Value) => number,
  write: (buffer: Buffer, value: Value, at: number) => number,
): Buffer {
  let bytes = 0
  for (const value of values) bytes += 4 + (value === null ? 0 : bytesOf(value))
  const buffer = header(bytes, oid, values.length)
  let at = HEADER_BYTES
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(NULL, at)
      continue
    }
    const written = write(buffer, value, at + 4)
    buffer.writeInt32BE(written, at)
    at += 4 + written
  }
  return buffer
}

export const textArray = (values: readonly (string | null)[]): Buffer =>
  variable(values, TEXT, Buffer.byteLength, (buffer, value, at) => buffer.write(value, at))

export const byteaArray = (values: readonly Buffer[]): Buffer =>
  variable(
    values,
    BYTEA,
    ({ length }) => length,
    (buffer, value, at) => value.copy(buffer, at),
  )
