import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { openapiDocument } from '../../src/wire/openapi.js'
import { ROUTES } from '../../src/wire/routes.js'

// biome-ignore lint/suspicious/noExplicitAny: the document is parsed as plain data here.
type Any = any

const hooks = catalogueOf([{ id: 'queue_joined', description: 'A caller waits.' }])
const document: Any = openapiDocument({ version: '1.2.3', hooks, ingest: true })
/** The document as a client reads it. */
const parsed: Any = JSON.parse(JSON.stringify(document))

const METHODS = ['get', 'put', 'post', 'patch', 'delete']
const operations = Object.entries<Any>(parsed.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })),
)

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'openapi', ...parsed })

/** Validates an example by a schema of the document and returns the errors. */
function schemaErrors(schema: object, example: unknown): unknown {
  const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'))
  const check = ajv.compile(local)
  return check(example) ? [] : check.errors
}

function resolve(part: Any): Any {
  if (typeof part?.$ref !== 'string') return part
  return part.$ref
    .slice(2)
    .split('/')
    .reduce((node: Any, key: string) => node[key], parsed)
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(parsed))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  it('contains only JSON values', () => {
    expect(parsed).toEqual(document)
  })

  it('contains exactly the routes of the table', () => {
    const documented = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    const routes = ROUTES.map(({ path, method }) => `${method} ${path}`)
    expect(documented.sort()).toEqual(routes.sort())
  })

  it('documents id, success status, security, body and errors of every operation', () => {
    for (const { path, method, operation } of operations) {
      const route = ROUTES.find((row) => row.path === path && row.method === method.toUpperCase())!
      expect(operation.operationId).toBe(route.operation)
      expect(operation.security).toEqual(route.requiresToken ? undefined : [])
      expect(operation.requestBody !== undefined).toBe(route.bodyKind !== 'none')
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining([
          `${route.status}`,
          'default',
          ...(route.requiresToken ? ['401', '503'] : []),
        ]),
      )
    }
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length)
  })

  it('declares exactly the parameters of each path', () => {
    for (const [path, item] of Object.entries<Any>(parsed.paths)) {
      const names = (item.parameters ?? []).map((part: Any) => resolve(part).name)
      expect(names).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  it('has no dangling references and no unused components', () => {
    const refs = new Set(
      [...JSON.stringify(parsed).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, name]) => name!),
    )
    for (const name of refs) expect(resolve({ $ref: `#/${name}` }), name).toBeDefined()
    for (const kind of ['schemas', 'parameters', 'headers', 'responses']) {
      for (const name of Object.keys(parsed.components[kind]))
        expect([...refs]).toContain(`components/${kind}/${name}`)
    }
  })

  it('omits the events route if ingest is disabled', () => {
    const withoutIngest: Any = openapiDocument({ version: '1.2.3', hooks, ingest: false })
    expect(Object.keys(parsed.paths).filter((path) => !(path in withoutIngest.paths))).toEqual([
      '/accounts/{account_id}/events',
    ])
    expect(withoutIngest.tags.map(({ name }: Any) => name)).not.toContain('Events')
  })

  it('has wire names for the fields of a webhook', () => {
    expect(Object.keys(parsed.components.schemas.WebhookSettings.properties)).toEqual([
      'name',
      'uri',
      'hook',
      'only',
      'filter',
      'http_verb',
      'retries',
      'format',
      'enabled',
      'include_subaccounts',
      'include_internal_legs',
      'custom_data',
      'custom_request_headers',
      'group',
      'max_age_seconds',
      'rate_limit',
      'ordering',
    ])
    expect(parsed.components.schemas.WebhookSettings.required).toEqual(['name', 'uri', 'hook'])
  })

  it('has no camelCase field names', () => {
    const names: string[] = []
    JSON.stringify(parsed.components.schemas, (key, value) => {
      if (key === 'properties') names.push(...Object.keys(value))
      return value
    })
    expect(names.filter((name) => /[A-Z]/.test(name))).toEqual([])
    expect(names).toContain('call_direction')
  })

  it("documents the payload of every event type, including the host's own", () => {
    expect(Object.keys(parsed.webhooks)).toEqual(hooks.map(({ id }) => id))
    for (const { id, sample } of hooks) {
      const { requestBody, parameters } = parsed.webhooks[id].post
      const { schema, examples } = requestBody.content['application/json']
      const payloads = Object.values<Any>(examples).map(({ value }) => value)
      expect(payloads).toHaveLength(sample.length)
      for (const payload of payloads) {
        expect(payload.hook_event).toBe(id)
        expect(schemaErrors(schema, payload)).toEqual([])
      }
      expect(parameters.map((part: Any) => resolve(part).name)).toContain('webhook-signature')
    }
  })

  it('has a valid example of every body', () => {
    for (const { operation } of operations) {
      const request = operation.requestBody?.content['application/json']
      if (request) expect(schemaErrors(request.schema, request.example), operation.operationId).toEqual([])
      for (const response of Object.values<Any>(operation.responses).map(resolve)) {
        const content = response.content?.['application/json']
        if (!content || operation.operationId === 'readOpenapi') continue
        expect(content.example, operation.operationId).toBeDefined()
        expect(schemaErrors(content.schema, content.example), operation.operationId).toEqual([])
      }
    }
  })

  it('accepts a received payload as an event, without the fields that only the service sets', () => {
    const {
      event_id: _,
      sequence: __,
      ...payload
    } = parsed.webhooks.channel_destroy.post.requestBody.content['application/json'].examples.sample1.value
    expect(schemaErrors({ $ref: '#/components/schemas/Event' }, payload)).toEqual([])
    expect(
      schemaErrors({ $ref: '#/components/schemas/Event' }, { ...payload, call_direction: 'up' }),
    ).not.toEqual([])
  })

  it('has schemas that reject a wrong field in an example', () => {
    const { schema, example } =
      parsed.paths['/accounts/{account_id}/webhooks'].put.responses['201'].content['application/json']
    expect(schemaErrors(schema, { ...example, data: { ...example.data, retries: 31 } })).not.toEqual([])
    expect(schemaErrors(schema, { ...example, status: 'error' })).not.toEqual([])
  })

  it('has an example of each error with its status', () => {
    for (const [status, response] of Object.entries<Any>(parsed.components.responses)) {
      const { error } = response.content['application/json'].example
      expect(error).toBe(status === 'default' ? '500' : status)
    }
  })
})
