/** Live answers of every operation, and what receivers get, judged by the OpenAPI document that the service itself shows. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { status } from 'hookswitch/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Ask } from './client.js'
import { API_KEY, created, type Running, services, told } from './running.js'

// biome-ignore lint/suspicious/noExplicitAny: the document is read as plain data here.
type Any = any

const running = services()

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly doc: Any
}

let document: Any
let operations: readonly Operation[]

beforeAll(async () => {
  const { createHookswitch, memoryStore } = await import('hookswitch')
  const hs = createHookswitch({ store: memoryStore(), ingest: true })
  document = JSON.parse((await hs.handle({ method: 'GET', url: '/v1/openapi.json', headers: {} })).body)
  ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'openapi', ...document })
  operations = Object.entries<Any>(document.paths).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'patch', 'delete']
      .filter((method) => item[method])
      .map((method) => ({
        id: item[method].operationId,
        method: method.toUpperCase(),
        path,
        doc: item[method],
      })),
  )
})

const resolved = (part: Any): Any =>
  typeof part?.$ref === 'string'
    ? part.$ref
        .slice(2)
        .split('/')
        .reduce((node: Any, key: string) => node[key], document)
    : part

/** Compiled once for each schema of the document. */
const checks = new Map<string, ReturnType<Ajv2020['compile']>>()
let ajv: Ajv2020

function flaws(schema: object, value: unknown): readonly string[] {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')
  const check = checks.get(text) ?? ajv.compile(JSON.parse(text))
  checks.set(text, check)
  return check(value) ? [] : check.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Calls an operation by its id; its answer must be one that the document describes. */
function caller(service: Running) {
  const called = new Map<string, number>()
  const call = async (id: string, params: Record<string, string> = {}, what: Ask = {}): Promise<Answer> => {
    const { method, path, doc } = operations.find((one) => one.id === id)!
    const url = path.replace(/\{([a-z_]+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? 'unknown'),
    )
    const answer = await service.ask(method, `${document.servers[0].url}${url}${params.query ?? ''}`, what)
    const described = resolved(doc.responses[String(answer.status)] ?? doc.responses.default)
    expect(
      answer.status >= 400 || String(answer.status) in doc.responses,
      `${id} answers ${answer.status}`,
    ).toBe(true)
    if (answer.text !== '') {
      const { schema } = described.content['application/json']
      expect(flaws(schema, answer.json), `${id} ${answer.status}: ${answer.text}`).toEqual([])
    }
    for (const [name, header] of Object.entries<Any>(described.headers ?? {}))
      if (resolved(header).required)
        expect(answer.headers[name.toLowerCase()], `${id}: ${name}`).toBeDefined()
    if (answer.status < 400) called.set(id, (called.get(id) ?? 0) + 1)
    return answer
  }
  return { call, called }
}

describe('the OpenAPI document', () => {
  it('describes the answer of every operation, and the refusals', async () => {
    const service = await running({ ingest: true })
    const { call, called } = caller(service)
    const { hs, receiver } = service
    receiver.on('/hook', [status(500, { headers: { 'set-cookie': 'a=b' } }), status(200, { body: 'ok' })])
    const account_id = 'parent'
    const account = { account_id }

    const login = await call('signInByApiKey', {}, { data: { api_key: API_KEY } })
    await call(
      'signInByCredentials',
      {},
      { data: { credentials: '2c40231313a3228af84e6dc42a6d0537', account_realm: 'parent.example.com' } },
    )
    await call('readOpenapi')
    await call('listHooks')
    const samples = await call('listSamples')
    for (const sample_id of samples.json.data) await call('readSample', { sample_id })
    const made = await call('createWebhook', account, {
      data: {
        name: 'a',
        uri: receiver.url('/hook'),
        hook: 'all',
        group: 'g',
        max_age_seconds: 60,
        custom_data: { a: '1' },
        color: 'red',
      },
    })
    const hook = { ...account, webhook_id: made.json.data.id }
    const delivered = told(hs, 'delivered')
    await call('publishEvents', account, { data: { hook_event: 'channel_create', call_id: 'call 1' } })
    await delivered
    await call('listWebhooks', account)
    await call('readWebhook', hook)
    expect((await call('readWebhook', hook, { headers: { 'if-none-match': '"1"' } })).status).toBe(304)
    await call('replaceWebhook', hook, { data: { name: 'b', uri: receiver.url('/hook'), hook: 'all' } })
    await call('patchWebhook', hook, { data: { retries: 3 } })
    await call('listAttempts', { ...account, query: '?page_size=1' })
    await call('listWebhookAttempts', hook)
    await call('listCallAttempts', { ...account, call_id: 'call 1' })
    const deliveries = await call('listDeliveries', hook)
    const delivery_id = deliveries.json.data[0].id
    await call('readDelivery', { ...account, delivery_id })
    await call('replayWebhook', hook, { data: { delivery_id } })
    await call('testWebhook', hook)
    await call('readSecret', hook)
    await call('rotateSecret', hook)
    await call('reenableWebhooks', account, { data: { 're-enable': true } })
    await call('reenableDescendantWebhooks', account, { data: { 're-enable': true } })
    await call('readApiKey', account)

    for (const { id, doc, method } of operations) {
      const token = doc.security === undefined
      if (token) expect((await call(id, hook, { token: 'bad', data: {} })).status, id).toBe(401)
      if (token && doc.parameters && operations.find((one) => one.id === id)!.path.includes('{account_id}'))
        expect((await call(id, { ...hook, account_id: 'other' }, { data: {} })).status, id).toBe(403)
      if (doc.requestBody && method !== 'GET')
        expect((await call(id, hook, { body: '{"data":' })).status, id).toBe(400)
      if (doc.requestBody) expect((await call(id, hook, { data: 'text' })).status, id).toBe(400)
    }
    expect(
      (await call('createWebhook', account, { data: { name: '', uri: 'x', hook: 'y', retries: 99 } })).status,
    ).toBe(400)
    expect((await call('signInByApiKey', {}, { data: { api_key: 'wrong' } })).status).toBe(401)
    expect((await call('patchWebhook', hook, { data: {}, headers: { 'if-match': '"99"' } })).status).toBe(412)
    expect((await call('readWebhook', account)).status).toBe(404)
    expect((await call('readDelivery', account)).status).toBe(404)

    await call('deleteWebhook', hook)
    await call('rotateApiKey', account, { token: login.json.auth_token })
    const again = await hs.auth.signIn({ apiKey: await hs.accounts.readApiKey('parent') })
    await call('signOut', {}, { token: again.token })
    expect(operations.map(({ id }) => id).filter((id) => !called.has(id))).toEqual([])
  })

  it('does not describe just anything', async () => {
    const service = await running()
    const answers = new Map<string, Answer>()
    const { call } = caller(service)
    for (const id of ['listHooks', 'listSamples', 'readApiKey', 'listWebhooks'])
      answers.set(id, await call(id, { account_id: 'parent' }))
    const schemaOf = (id: string) =>
      resolved(operations.find((one) => one.id === id)!.doc.responses['200']).content['application/json']
        .schema
    const { json } = answers.get('listHooks')!
    expect(flaws(schemaOf('readApiKey'), json)).not.toEqual([])
    expect(flaws(schemaOf('listSamples'), json)).not.toEqual([])
    expect(flaws(schemaOf('listHooks'), answers.get('readApiKey')!.json)).not.toEqual([])
    for (const key of ['data', 'status', 'request_id', 'timestamp', 'node']) {
      const { [key]: _, ...rest } = json
      expect(flaws(schemaOf('listHooks'), rest), `without ${key}`).not.toEqual([])
    }
  })

  it('describes what a receiver gets', async () => {
    const { hs, receiver, webhook } = await running()
    await webhook('/hook', { hook: 'all', customData: { tenant: '7' } })
    const kinds = Object.keys(document.webhooks)
    expect(kinds).toHaveLength(6)
    for (const hook of kinds) {
      await hs.publish(created('call', { hook, direction: 'inbound', customChannelVars: { a: 1 } }))
      const { body, headers } = await receiver.next()
      const { requestBody, parameters } = document.webhooks[hook].post
      expect(flaws(requestBody.content['application/json'].schema, JSON.parse(body)), hook).toEqual([])
      for (const { name, required } of parameters.map(resolved))
        if (required) expect(headers).toHaveProperty([name.toLowerCase()])
    }
  })
})
