import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { openapiDocument } from '../../src/wire/openapi.js'
import { ROUTES } from '../../src/wire/route.js'

// biome-ignore lint/suspicious/noExplicitAny: the document is read as plain data here.
type Any = any

const hooks = catalogueOf([{ id: 'queue_joined', description: 'A caller waits.' }])
const document: Any = openapiDocument({ version: '1.2.3', hooks, ingest: true })
/** As a client reads it: nothing but JSON. */
const read: Any = JSON.parse(JSON.stringify(document))

const METHODS = ['get', 'put', 'post', 'patch', 'delete']
const operations = Object.entries<Any>(read.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })),
)

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'openapi', ...read })

/** What is wrong with an example, judged by a schema of the document. */
function flaws(schema: object, example: unknown): unknown {
  const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'))
  const check = ajv.compile(local)
  return check(example) ? [] : check.errors
}

function resolve(part: Any): Any {
  if (typeof part?.$ref !== 'string') return part
  return part.$ref
    .slice(2)
    .split('/')
    .reduce((node: Any, key: string) => node[key], read)
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(read))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  it('is nothing but JSON', () => {
    expect(read).toEqual(document)
  })

  it('has every route of the table and no other', () => {
    const documented = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    const routed = ROUTES.map(({ path, method }) => `${method} ${path}`)
    expect(documented.sort()).toEqual(routed.sort())
  })

  it('says of every operation its id, its success, whether it needs a token, and what may fail', () => {
    for (const { path, method, operation } of operations) {
      const route = ROUTES.find((row) => row.path === path && row.method === method.toUpperCase())!
      expect(operation.operationId).toBe(route.operation)
      expect(operation.security).toEqual(route.token ? undefined : [])
      expect(operation.requestBody !== undefined).toBe(route.body !== 'none')
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining([`${route.status}`, 'default', ...(route.token ? ['401', '503'] : [])]),
      )
    }
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length)
  })

  it('names exactly the parameters of each path', () => {
    for (const [path, item] of Object.entries<Any>(read.paths)) {
      const named = (item.parameters ?? []).map((part: Any) => resolve(part).name)
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  it('refers only to what it contains, and contains nothing that nobody refers to', () => {
    const refs = new Set([...JSON.stringify(read).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, name]) => name!))
    for (const name of refs) expect(resolve({ $ref: `#/${name}` }), name).toBeDefined()
    for (const kind of ['schemas', 'parameters', 'headers', 'responses']) {
      for (const name of Object.keys(read.components[kind]))
        expect([...refs]).toContain(`components/${kind}/${name}`)
    }
  })

  it('leaves the events route out where events are not taken over HTTP', () => {
    const closed: Any = openapiDocument({ version: '1.2.3', hooks, ingest: false })
    expect(Object.keys(read.paths).filter((path) => !(path in closed.paths))).toEqual([
      '/accounts/{account_id}/events',
    ])
    expect(closed.tags.map(({ name }: Any) => name)).not.toContain('Events')
  })

  it('spells the fields of a webhook as the wire does', () => {
    expect(Object.keys(read.components.schemas.WebhookSettings.properties)).toEqual([
      'name',
      'uri',
      'hook',
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
      'ordering',
    ])
    expect(read.components.schemas.WebhookSettings.required).toEqual(['name', 'uri', 'hook'])
  })

  it('has no name of a field in camel case', () => {
    const names: string[] = []
    JSON.stringify(read.components.schemas, (key, value) => {
      if (key === 'properties') names.push(...Object.keys(value))
      return value
    })
    expect(names.filter((name) => /[A-Z]/.test(name))).toEqual([])
    expect(names).toContain('call_direction')
  })

  it('tells receivers what they get for every kind of event, those of the host included', () => {
    expect(Object.keys(read.webhooks)).toEqual(hooks.map(({ id }) => id))
    for (const { id, sample } of hooks) {
      const { requestBody, parameters } = read.webhooks[id].post
      const { schema, examples } = requestBody.content['application/json']
      const payloads = Object.values<Any>(examples).map(({ value }) => value)
      expect(payloads).toHaveLength(sample.length)
      for (const payload of payloads) {
        expect(payload.hook_event).toBe(id)
        expect(flaws(schema, payload)).toEqual([])
      }
      expect(parameters.map((part: Any) => resolve(part).name)).toContain('webhook-signature')
    }
  })

  it('has examples of every body, which fit their schemas', () => {
    for (const { operation } of operations) {
      const request = operation.requestBody?.content['application/json']
      if (request) expect(flaws(request.schema, request.example), operation.operationId).toEqual([])
      for (const response of Object.values<Any>(operation.responses).map(resolve)) {
        const content = response.content?.['application/json']
        if (!content || operation.operationId === 'readOpenapi') continue
        expect(content.example, operation.operationId).toBeDefined()
        expect(flaws(content.schema, content.example), operation.operationId).toEqual([])
      }
    }
  })

  it('takes an event as a receiver got it, but for what only we write', () => {
    const {
      event_id: _,
      sequence: __,
      ...payload
    } = read.webhooks.channel_destroy.post.requestBody.content['application/json'].examples.sample1.value
    expect(flaws({ $ref: '#/components/schemas/Event' }, payload)).toEqual([])
    expect(flaws({ $ref: '#/components/schemas/Event' }, { ...payload, call_direction: 'up' })).not.toEqual(
      [],
    )
  })

  it('has examples that a wrong field would spoil', () => {
    const { schema, example } =
      read.paths['/accounts/{account_id}/webhooks'].put.responses['201'].content['application/json']
    expect(flaws(schema, { ...example, data: { ...example.data, retries: 11 } })).not.toEqual([])
    expect(flaws(schema, { ...example, status: 'error' })).not.toEqual([])
  })

  it('has an example of each error whose code is its status', () => {
    for (const [status, answer] of Object.entries<Any>(read.components.responses)) {
      const { error } = answer.content['application/json'].example
      expect(error).toBe(status === 'default' ? '500' : status)
    }
  })
})
