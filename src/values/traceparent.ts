/**
 * The `traceparent` of W3C Trace Context: which trace a request belongs to, and under which span.
 *
 * `00-<trace id, 32 hex>-<span id, 16 hex>-<flags, 2 hex>`, all in lower case.
 */
const SYNTAX = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/
/** Of the flags of later versions we know `sampled` alone. */
const SAMPLED = 0x01

/**
 * A `traceparent` as it goes on, or `undefined` for what is none: another syntax, upper case, version `ff`, ids of
 * zeros alone, version 00 with more behind it (Trace Context, 3.2.2).
 *
 * One of version 00 stays as it is; of a later version the parts that we know go on as version 00 (the same, 3.2.4).
 */
export function readTraceparent(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = SYNTAX.exec(text) ?? []
  if (version === undefined || version === 'ff' || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  if (version === '00') return more === undefined ? text : undefined
  return `00-${traceId}-${spanId}-${Number.parseInt(flags, 16) & SAMPLED ? '01' : '00'}`
}
