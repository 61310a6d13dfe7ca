/**
 * Parses the `traceparent` header of W3C Trace Context, which identifies a request's trace and parent span.
 *
 * `00-<trace id, 32 hex>-<span id, 16 hex>-<flags, 2 hex>`, all in lower case.
 */
const SYNTAX = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/
/** The only flag that is kept from later versions: `sampled`. */
const SAMPLED = 0x01

/**
 * Returns the `traceparent` to propagate, or `undefined` for an invalid one: wrong syntax, upper case, version `ff`,
 * all-zero ids, or version 00 with trailing data (Trace Context, 3.2.2).
 *
 * Version 00 is returned unchanged; a later version is reduced to the fields of version 00 (3.2.4).
 */
export function parseTraceparent(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = SYNTAX.exec(text) ?? []
  if (version === undefined || version === 'ff' || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  if (version === '00') return more === undefined ? text : undefined
  return `00-${traceId}-${spanId}-${Number.parseInt(flags, 16) & SAMPLED ? '01' : '00'}`
}
