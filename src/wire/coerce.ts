import type { JsonSchema } from '../values/json-schema.js'

const INTEGER = /^-?(0|[1-9][0-9]*)$/
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/** The integer that a text spells in the only way we read: no sign but `-`, no leading zero, no space, no exponent. */
export function integerOf(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined
  const value = Number(text)
  // `-0` is 0 to a caller.
  return Number.isSafeInteger(value) ? value + 0 : undefined
}

function numberOf(text: string): number | undefined {
  if (INTEGER.test(text)) return integerOf(text)
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value + 0 : undefined
}

/**
 * Takes a string that spells an integer, number or boolean as that where the schema wants one and no string: form
 * fields arrive as text. Everything else stays as it is, for the schema to judge. Never changes its argument.
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

/** A scalar's schema names its type itself; one without a type wants nothing in particular. */
function coerceText({ type }: JsonSchema, text: string): unknown {
  const wanted = typeof type === 'string' ? [type] : (type ?? [])
  if (wanted.includes('string')) return text
  if (wanted.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (wanted.includes('number')) return numberOf(text) ?? text
  return (wanted.includes('integer') ? integerOf(text) : undefined) ?? text
}

function coerceMembers(schema: JsonSchema, object: Readonly<Record<string, unknown>>): unknown {
  const { properties, additionalProperties } = schema
  if (!properties && typeof additionalProperties !== 'object') return object
  // `fromEntries` defines properties where an assignment would run the setter of `__proto__`.
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => {
      const rule = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      return [name, coerce(rule, member)]
    }),
  )
}
