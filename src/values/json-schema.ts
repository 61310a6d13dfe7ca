/** A JSON Schema as plain data: the subset of 2020-12 that this package uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly patternProperties?: Readonly<Record<string, JsonSchema | boolean>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly if?: JsonSchema
  readonly then?: JsonSchema
  readonly $ref?: string
}

/**
 * Renames the top-level properties of a schema. Nested schemas keep their names: the content of a property (custom
 * data, channel variables) belongs to the caller.
 */
export function renameProperties(schema: JsonSchema, nameOf: (property: string) => string): JsonSchema {
  const { properties, required } = schema
  return {
    ...schema,
    ...(required && { required: required.map(nameOf) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, rule]) => [nameOf(name), rule])),
    }),
  }
}
