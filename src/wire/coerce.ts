/** Converts form values (strings) to the types that a schema expects. */
import type { JsonSchema } from '../values/json-schema.js'

const INTEGER = /^-?(0|[1-9][0-9]*)$/
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/** Parses an integer: no sign but `-`, no leading zeros, spaces or exponent. Returns `undefined` for other text. */
export function parseInteger(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined
  const value = Number(text)
  // `+ 0` turns -0 into 0.
  return Number.isSafeInteger(value) ? value + 0 : undefined
}

function parseNumber(text: string): number | undefined {
  if (INTEGER.test(text)) return parseInteger(text)
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value + 0 : undefined
}

/**
 * Converts strings that spell an integer, number or boolean where the schema expects one and does not allow a string,
 * because form fields arrive as text. Leaves every other value for the schema to validate. Does not modify its argument.
 *
 * @example coerce({ type: 'integer' }, '3') // 3
 */
export function coerce(schema: JsonSchema | boolean | undefined, value: unknown): unknown {
  if (typeof schema !== 'object') return value
  if (typeof value === 'string') return coerceText(schema, value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return schema.items ? value.map((item) => coerce(schema.items, item)) : value
  return coerceMembers(schema, value as Readonly<Record<string, unknown>>)
}

/** Schemas of scalars declare a `type`; without one, the text stays as it is. */
function coerceText({ type }: JsonSchema, text: string): unknown {
  const types = typeof type === 'string' ? [type] : (type ?? [])
  if (types.includes('string')) return text
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.includes('number')) return parseNumber(text) ?? text
  return (types.includes('integer') ? parseInteger(text) : undefined) ?? text
}

function coerceMembers(schema: JsonSchema, object: Readonly<Record<string, unknown>>): unknown {
  const { properties, additionalProperties } = schema
  if (!properties && typeof additionalProperties !== 'object') return object
  // Text stays text: the custom headers of a webhook are not copied before their number is checked.
  if (!properties && (additionalProperties as JsonSchema).type === 'string') return object
  // `fromEntries` defines properties; an assignment would call the setter of `__proto__`.
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => {
      const rule = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      return [name, coerce(rule, member)]
    }),
  )
}
