/** Renders the OpenAPI document as TypeScript: the operations and documents of `hookswitch/client`. Pure. */

import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { openapiDocument } from '../../src/wire/openapi.js'
import type { Schema } from './http-reference.js'

/** The generated module, relative to the root. */
export const OPERATIONS_FILE = 'adapters/client/operations.generated.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: Schema
}

interface Content {
  readonly 'application/json'?: { readonly schema: Schema }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly { readonly $ref: string }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface Spec {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** One operation as the client offers it. */
interface Method {
  readonly operation: Operation
  readonly verb: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** `data` of the request. */
  readonly body?: Schema
  /** `data` of the response, or the whole body of a response without an envelope. */
  readonly result: Schema
  readonly hasEnvelope: boolean
  readonly isList: boolean
  readonly isOpen: boolean
}

const VERBS = ['get', 'put', 'post', 'patch', 'delete']
/** Set by the client, or options of every call. */
const LEFT_OUT = ['pretty_print', 'X-Request-ID']
/** A list has this parameter. */
const START_KEY = 'start_key'
/** Schemas of envelopes, which the client unwraps. */
const ENVELOPES = ['Success', 'Error']

/** Returns the module for a service with `ingest`. */
export function clientOperations(): string {
  const document = openapiDocument({ version: '0', hooks: catalogueOf(), ingest: true })
  return renderOperations(document as unknown as Spec)
}

/** Returns the module for an OpenAPI document. Operations whose response is not JSON are left out. */
export function renderOperations(spec: Spec): string {
  const methods = methodsOf(spec)
  const common = commonListParameters(methods)
  return [
    '// Made by "npm run generate" from the OpenAPI document in src/wire/openapi.ts. Do not edit.\n',
    "import type { ApiResponse, CallOptions, Endpoint } from './call.js'\n",
    "import type { List } from './list.js'\n\n",
    ...Object.entries(spec.components.schemas)
      .filter(([name]) => !ENVELOPES.includes(name))
      .map(([name, schema]) => documentType(name, schema)),
    parametersType('ListParameters', 'Parameters of every list.', common, []),
    ...methods.map((method) => methodParameters(method, common)),
    '/** Every operation of the HTTP API, with the names of its OpenAPI document. */\n',
    `export interface Operations {\n${methods.map(methodSignature).join('\n')}\n}\n\n`,
    '/** How each operation is requested. */\n',
    `export const ENDPOINTS = {\n${methods.map(endpoint).join('\n')}\n}`,
    ' as const satisfies Readonly<Record<keyof Operations, Endpoint>>\n',
  ].join('')
}

function methodsOf(spec: Spec): readonly Method[] {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    VERBS.filter((verb) => item[verb]).flatMap((verb) => {
      const method = methodOf(spec, path, verb, item)
      return method ? [method] : []
    }),
  )
}

function methodOf(
  spec: Spec,
  path: string,
  verb: string,
  item: Readonly<Record<string, unknown>>,
): Method | undefined {
  const operation = item[verb] as Operation
  const refs = [...((item.parameters ?? []) as { $ref: string }[]), ...(operation.parameters ?? [])]
  const parameters = refs
    .map(({ $ref }) => spec.components.parameters[$ref.split('/').at(-1)!]!)
    .filter(({ name }) => !LEFT_OUT.includes(name))
  const successes = Object.entries(operation.responses).flatMap(([status, { content }]) => {
    const schema = status.startsWith('2') ? content?.['application/json']?.schema : undefined
    return schema ? [schema] : []
  })
  const [response] = successes
  if (!response) return undefined
  const [envelope] = response.allOf ?? []
  const hasEnvelope = envelope?.$ref?.endsWith('/Success') ?? false
  const results = successes.map(({ allOf }) => allOf?.[1]?.properties?.data ?? {})
  const isList = parameters.some(({ name }) => name === START_KEY)
  const body = operation.requestBody?.content['application/json']?.schema.properties?.data
  return {
    operation,
    verb: verb.toUpperCase(),
    path,
    parameters,
    ...(body && { body }),
    result: !hasEnvelope ? response : results.length === 1 ? results[0]! : { anyOf: results },
    hasEnvelope,
    isList,
    isOpen: operation.security?.length === 0,
  }
}

/** The query parameters that every list has. */
function commonListParameters(methods: readonly Method[]): readonly Parameter[] {
  const lists = methods.filter(({ isList }) => isList)
  const [first] = lists
  const isEverywhere = (parameter: Parameter) =>
    parameter.in === 'query' && lists.every(({ parameters }) => parameters.includes(parameter))
  return first?.parameters.filter(isEverywhere) ?? []
}

/** Schemas whose name would hide a type of the browser. */
const RENAMED: Readonly<Record<string, string>> = { Event: 'EventInput' }
const nameOf = (schema: string) => RENAMED[schema] ?? schema

/** Descriptions that differ in the client. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'If-Match': '`revision` of the response that was changed; if the document has another by now: status 412.',
}

const pascal = (name: string) => `${name[0]!.toUpperCase()}${name.slice(1)}`
const typeNameOf = ({ operation }: Method) => `${pascal(operation.operationId)}Parameters`

/** `page_size` → `pageSize`, `If-Match` → `ifMatch`. The client converts query names back. */
function camel({ name, in: where }: Parameter): string {
  const result = name.toLowerCase().replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const back = result.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (where !== 'header' && back !== name) throw new Error(`the client cannot write the parameter ${name}`)
  return result
}

function documentType(name: string, schema: Schema): string {
  const head = comment(schema.description ?? `The schema \`${name}\` of the API.`, '')
  const isPatch = name.endsWith('Patch')
  return schema.properties
    ? `${head}export interface ${nameOf(name)} ${objectType(schema, '', isPatch)}\n\n`
    : `${head}export type ${nameOf(name)} = ${typeOf(schema, '')}\n\n`
}

function methodParameters(method: Method, common: readonly Parameter[]): string {
  const { operation, parameters, body, isList } = method
  const own = parameters.filter(
    (parameter) => !(isList && common.includes(parameter)) && camel(parameter) !== 'ifNoneMatch',
  )
  const fields = body ? [`  /** \`data\` of the request. */\n  readonly data: ${typeOf(body, '  ')}`] : []
  const text = `Parameters of \`${operation.operationId}\`.`
  if (isList && own.length === 0)
    return `/** ${text} */\nexport type ${typeNameOf(method)} = ListParameters\n\n`
  if (own.length + fields.length === 0) return ''
  return parametersType(typeNameOf(method), text, own, fields, isList ? 'ListParameters' : undefined)
}

function parametersType(
  name: string,
  text: string,
  parameters: readonly Parameter[],
  fields: readonly string[],
  base?: string,
): string {
  const lines = parameters.map((parameter) => {
    const isAccount = parameter.name === 'account_id' && parameter.in === 'path'
    const described = DESCRIPTIONS[parameter.name] ?? parameter.description
    const description = isAccount ? `${described} Default: the account of the token.` : described
    const isRequired = parameter.in === 'path' && !isAccount
    const type = typeOf(parameter.schema, '  ')
    return `${comment(description, '  ')}  readonly ${camel(parameter)}${isRequired ? `: ${type}` : `?: ${type} | undefined`}`
  })
  const head = `/** ${text} */\nexport interface ${name}${base ? ` extends ${base}` : ''}`
  return `${head} {\n${[...lines, ...fields].join('\n')}\n}\n\n`
}

function methodSignature(method: Method): string {
  const { operation, verb, path, parameters, body, result, isList } = method
  const { operationId, summary, description } = operation
  const text = [`${summary}: \`${verb} ${path}\`.`, ...(description ? [description] : [])].join(' ')
  const hasParameters =
    body !== undefined || parameters.some((parameter) => camel(parameter) !== 'ifNoneMatch')
  const isOptional =
    !body && parameters.every((parameter) => parameter.in !== 'path' || parameter.name === 'account_id')
  const given = hasParameters ? `parameters${isOptional ? '?' : ''}: ${typeNameOf(method)}, ` : ''
  const lines: string[] = []
  if (isList) {
    const item = typeOf(result.items ?? {}, '  ')
    lines.push(`  ${operationId}(${given}options?: CallOptions): List<${item}>`)
  } else {
    const data = typeOf(result, '  ')
    if (parameters.some((parameter) => camel(parameter) === 'ifNoneMatch')) {
      const conditional = `${given.slice(0, -2).replace('?:', ':')} & { readonly ifNoneMatch: string }`
      const note = '`data` is `undefined` with status 304: the revision is still current.'
      lines.push(
        `${comment(`${text} ${note}`, '  ')}  ${operationId}(${conditional}, options?: CallOptions): Promise<ApiResponse<${data} | undefined>>`,
      )
    }
    lines.push(`  ${operationId}(${given}options?: CallOptions): Promise<ApiResponse<${data}>>`)
  }
  const last = lines.pop()!
  return [...lines, `${comment(text, '  ')}${last}`].join('\n')
}

function endpoint(method: Method): string {
  const { operation, verb, path, parameters, body, isOpen, isList, hasEnvelope } = method
  const headers = parameters
    .filter((parameter) => parameter.in === 'header')
    .map((parameter) => `${camel(parameter)}: '${parameter.name}'`)
  const hasParameters = body !== undefined || parameters.length > 0
  const fields = [
    `method: '${verb}'`,
    `path: '${path}'`,
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(hasParameters ? [] : ['hasNoParameters: true']),
    ...(isOpen ? ['isOpen: true'] : []),
    ...(isList ? ['isList: true'] : []),
    ...(hasEnvelope ? [] : ['isRaw: true']),
  ]
  return `  ${operation.operationId}: { ${fields.join(', ')} },`
}

function objectType(schema: Schema, indent: string, isPatch = false): string {
  const fields = Object.entries(schema.properties ?? {}).map(([name, rule]) => {
    const key = /^[\w$]+$/.test(name) ? name : `'${name}'`
    const optional = schema.required?.includes(name) ? '' : '?'
    const inner = `${indent}  `
    const fallback = isPatch ? `New value of \`${name}\`; null removes it.` : `Value of \`${name}\`.`
    return `${comment(rule.description ?? fallback, inner)}${inner}readonly ${key}${optional}: ${typeOf(rule, inner)}`
  })
  if (typeof schema.additionalProperties === 'object' || schema.additionalProperties === true)
    fields.push(`${indent}  readonly [key: string]: unknown`)
  return `{\n${fields.join('\n')}\n${indent}}`
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, items, additionalProperties } = schema
  if ($ref) return nameOf($ref.split('/').at(-1)!)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf
  if (parts && !schema.properties) return [...new Set(parts.map((part) => typeOf(part, indent)))].join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => typeOf(part, indent)).join(' & ')
  if (Array.isArray(type)) {
    return type.map((item: string) => typeOf({ ...schema, type: item }, indent)).join(' | ')
  }
  if (type === 'array') {
    const item = typeOf(items ?? {}, indent)
    return /[|&{]/.test(item) ? `ReadonlyArray<${item}>` : `readonly ${item}[]`
  }
  if (schema.properties) return objectType(schema, indent)
  if (type === 'object') {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
    return `Readonly<Record<string, ${value}>>`
  }
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  return 'unknown'
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : JSON.stringify(value)

function comment(text: string | undefined, indent: string): string {
  return text ? `${indent}/** ${text.replaceAll('*/', '*∕').replaceAll('\n', ' ')} */\n` : ''
}
