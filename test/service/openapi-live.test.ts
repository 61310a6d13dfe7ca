/** Responses of every operation, and requests to receivers, validated against the OpenAPI document that the service publishes. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { memoryStore } from 'hookswitch'
import { status } from 'hookswitch/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { newReplayJob, toStoredReplay } from '../../src/delivery/replay-job.js'
import type { ApiRequest, ApiResponse } from './api-client.js'
import { API_KEY, channelCreate, nextEvents, type RunningService, serviceFixture } from './service-fixture.js'

// biome-ignore lint/suspicious/noExplicitAny: the document is read as plain data here.
type Any = any

const startService = serviceFixture()

const META_HOOKS = [
  'webhook_paused',
  'webhook_failing',
  'webhook_disabled',
  'delivery_exhausted',
  'webhook_backlog_full',
]

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
  const { bytes } = await hs.handle({ method: 'GET', url: '/v1/openapi.json', headers: {} })
  document = JSON.parse(Buffer.from(bytes!).toString())
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

const dereference = (part: Any): Any =>
  typeof part?.$ref === 'string'
    ? part.$ref
        .slice(2)
        .split('/')
        .reduce((node: Any, key: string) => node[key], document)
    : part

/** Compiled validators by schema text. */
const validators = new Map<string, ReturnType<Ajv2020['compile']>>()
let ajv: Ajv2020

function violations(schema: object, value: unknown): readonly string[] {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  return validate(value)
    ? []
    : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Operations that leave no audit record although they are no GET: they change nothing, or are events. */
const NOT_AUDITED = ['previewWebhook', 'checkAddress', 'matchEvent', 'publishEvents', 'why', 'whyAnywhere']

/** Calls operations by id and checks that the document describes the response, and that each change leaves one audit record. */
function caller(service: RunningService) {
  const called = new Map<string, number>()
  const audited: string[] = []
  service.hs.events.on('audit', ({ action, by }) => {
    if (by !== 'host') audited.push(action)
  })
  const call = async (
    id: string,
    params: Record<string, string> = {},
    request: ApiRequest = {},
  ): Promise<ApiResponse> => {
    const { method, path, doc } = operations.find((operation) => operation.id === id)!
    const url = path.replace(/\{([a-z_]+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? 'unknown'),
    )
    const response = await service.callApi(
      method,
      `${document.servers[0].url}${url}${params.query ?? ''}`,
      request,
    )
    const documented = dereference(doc.responses[String(response.status)] ?? doc.responses.default)
    expect(
      response.status >= 400 || String(response.status) in doc.responses,
      `${id} answers ${response.status}`,
    ).toBe(true)
    if (response.text !== '') {
      const { schema } = documented.content['application/json']
      expect(violations(schema, response.json), `${id} ${response.status}: ${response.text}`).toEqual([])
    }
    for (const [name, header] of Object.entries<Any>(documented.headers ?? {}))
      if (dereference(header).required)
        expect(response.headers[name.toLowerCase()], `${id}: ${name}`).toBeDefined()
    if (response.status < 400) called.set(id, (called.get(id) ?? 0) + 1)
    const isDryRun = (request.data as Any)?.dry_run === true
    const isChange = method !== 'GET' && !NOT_AUDITED.includes(id) && !isDryRun && response.status < 400
    const isRefusedLogin = id.startsWith('signIn') && response.status === 401
    expect(audited.splice(0), `${id} ${response.status}`).toEqual(isChange || isRefusedLogin ? [id] : [])
    return response
  }
  return { call, called }
}

/** Reads a stream of all kinds of items, and checks each by the schema of its kind. */
async function checkStream({ hs, token, createWebhook, receiver }: RunningService): Promise<void> {
  receiver.on('/followed', [status(200)])
  const { schema } = operations.find(({ id }) => id === 'streamItems')!.doc.responses['200'].content[
    'text/event-stream'
  ]
  const url = '/v1/accounts/parent/stream?types=attempt,webhook,event'
  const { stream } = await hs.handle({ method: 'GET', url, headers: { 'x-auth-token': token } })
  await createWebhook('/followed')
  await hs.publish(channelCreate('followed'))
  const found = new Map<string, unknown>()
  while (found.size < 3) {
    const part = await stream!.next()
    for (const [, type, json] of part!.matchAll(/^event: (.*)\ndata: (.*)$/gm))
      found.set(type!, JSON.parse(json!))
  }
  stream!.close()
  const names = { attempt: 'StreamAttempt', webhook: 'StreamWebhook', event: 'Payload' }
  for (const [type, name] of Object.entries(names)) {
    expect(JSON.stringify(schema)).toContain(name)
    expect(violations({ $ref: `#/components/schemas/${name}` }, found.get(type)), type).toEqual([])
    const others = Object.keys(found).filter((other) => other !== type)
    for (const other of others)
      expect(violations({ $ref: `#/components/schemas/${name}` }, found.get(other))).not.toEqual([])
  }
}

describe('the OpenAPI document', () => {
  it('describes the response of every operation, and the errors', async () => {
    const store = memoryStore()
    const service = await startService({ ingest: true, operators: ['other'], store })
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
    await call('listBindings')
    const created = await call('createWebhook', account, {
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
    const hook = { ...account, webhook_id: created.json.data.id }
    const delivered = nextEvents(hs, 'delivered')
    await call('publishEvents', account, { data: { hook_event: 'channel_create', call_id: 'call 1' } })
    await delivered
    await call('listWebhooks', account)
    await call('readWebhook', hook)
    expect((await call('readWebhook', hook, { headers: { 'if-none-match': '"1"' } })).status).toBe(304)
    await call('replaceWebhook', hook, { data: { name: 'b', uri: receiver.url('/hook'), hook: 'all' } })
    await call('patchWebhook', hook, { data: { retries: 3 } })
    await call('listAttempts', { ...account, query: '?page_size=1' })
    await call('listWebhookAttempts', hook)
    for (const id of ['readAccountStats', 'listEndpoints']) await call(id, account)
    await call('readWebhookStats', { ...hook, query: '?step=60' })
    await call('readWebhookHealth', hook)
    await call('listCallAttempts', { ...account, call_id: 'call 1' })
    const deliveries = await call('listDeliveries', hook)
    const delivery_id = deliveries.json.data[0].id
    await call('readDelivery', { ...account, delivery_id })
    await call('listDeliveryAttempts', { ...account, delivery_id, query: '?slim=true' })
    await call('readCall', { ...account, call_id: 'call 1' })
    await call('lookUp', { ...account, query: '?q=call%201' })
    await hs.publish({ hook: 'channel_dtmf', accountId: 'parent', callId: 'call 1' })
    for (const q of ['call 1', delivery_id, hook.webhook_id, 'unknown'])
      await call('why', account, { data: { q } })
    await call('previewWebhook', account, {
      data: { webhook: { name: 'p', uri: receiver.url('/hook'), hook: 'all', http_verb: 'get' } },
    })
    await call('matchEvent', account, { data: { hook: 'channel_create', account_id: 'child' } })
    await call('resumeWebhook', hook)
    await call('replayWebhook', hook, { data: { delivery_id } })
    expect((await call('replayWebhook', hook, { data: { dry_run: true } })).status).toBe(200)
    await call('replayWebhook', hook, { data: { hook: 'channel_create', reason: 'refused' } })
    const job = { ...account, replay_id: (await call('replayAccount', account, {})).json.data.id }
    await call('listReplays', account)
    await call('readReplay', job)
    expect((await call('setReplay', job, { data: { state: 'paused' } })).status).toBe(409)
    const paused = { ...account, replay_id: 'a'.repeat(32) }
    const stored = newReplayJob(paused.replay_id, { accountId: account_id }, Date.now(), 1)
    await store.replays.create(toStoredReplay({ ...stored, state: 'paused' }))
    expect((await call('setReplay', paused, { data: { state: 'paused' } })).json.data.count).toBe(1)
    await call('testWebhook', hook)
    await call('readSecret', hook)
    await call('rotateSecret', hook)
    await call('reenableWebhooks', account, { data: { 're-enable': true } })
    await call('reenableDescendantWebhooks', account, { data: { 're-enable': true } })
    await call('readApiKey', account)

    const { token: operator } = await hs.auth.signIn({ apiKey: 'o'.repeat(64) })
    const childId = (await call('createAccount', {}, { data: { name: 'New', flags: ['f'], group: 'g' } }))
      .json.data.id as string
    const child = { account_id: childId }
    await call(
      'createChildAccount',
      { account_id: childId, query: '?include_api_key=true' },
      { data: { name: 'Below' } },
    )
    const read = await call('readAccount', child)
    await call('readAccount', { ...child, query: '?include_api_key=true' })
    await call('replaceAccount', child, { data: { ...read.json.data, enabled: 'false' } })
    await call('patchAccount', child, { data: { enabled: true, timezone: null } })
    await call('listAccounts', {}, { token: operator })
    await call('readOverview', {}, { token: operator })
    await call('setHold', {}, { token: operator, data: { held: true, account_id } })
    await call('readHolds', {}, { token: operator })
    await call('setHold', {}, { token: operator, data: { held: false, account_id } })
    await call('setHold', {}, { token: operator, data: { held: true, dry_run: true } })
    await call('startJob', {}, { token: operator, data: { action: 'resume', account_id, dry_run: true } })
    const started = await call('startJob', {}, { token: operator, data: { action: 'resume', cause: '503' } })
    const bulk = { job_id: started.json.data.id as string }
    await call('listJobs', {}, { token: operator })
    await call('readJob', bulk, { token: operator })
    // It had nothing to do, so it has ended.
    expect((await call('setJob', bulk, { token: operator, data: { state: 'cancelled' } })).status).toBe(409)
    await call('lookUpAnywhere', { query: '?q=call%201' }, { token: operator })
    await call('whyAnywhere', {}, { token: operator, data: { q: 'call 1' } })
    await call('replayAllAccounts', {}, { data: { dry_run: true }, token: operator })
    await call('replayAllAccounts', {}, { data: {}, token: operator })
    await call('listAllReplays', {}, { token: operator })
    await call('readAnyReplay', job, { token: operator })
    await call('setAnyReplay', paused, { data: { state: 'cancelled' }, token: operator })
    for (const id of ['listChildren', 'listDescendants', 'listApps', 'listUsers']) await call(id, account)
    for (const id of ['listSiblings', 'listTree', 'listParents', 'listAncestors']) await call(id, child)
    await call('search', { query: '?t=account&q=name&v=n' })
    await call('searchAccount', { ...account, query: '?t=account&q=name&v=n' })
    await call('searchMany', { query: '?t=account&by_name=n&by_id=x' })
    const ada = {
      first_name: 'Ada',
      last_name: 'Birch',
      username: 'a@b.example',
      password: 'p',
      features: ['f'],
    }
    const made = await call('createUser', child, { data: ada })
    const user = { ...child, user_id: made.json.data.id as string }
    await call('readUser', user)
    await call('listUsers', child)
    await call('replaceUser', user, { data: made.json.data })
    await call('patchUser', user, { data: { email: 'a@b.example', username: null } })
    await call('deleteUser', user)
    const sub = (await call('listChildren', child)).json.data[0].id as string
    await call('moveAccount', { account_id: sub }, { token: operator, data: { to: 'other' } })
    await call('deleteAccount', child)
    await call('eraseRecords', { account_id: childId }, { token: operator, data: { number: '+15550100' } })

    await call('issueToken', {}, { token: operator, data: { account_id, role: 'read', ttl_seconds: 60 } })
    await call('checkAddress', account, { data: { uri: receiver.url('/hook') } })
    expect((await call('checkAddress', account, { data: { uri: 'ftp://a' } })).status).toBe(200)
    const ofOperators = new Set([
      'issueToken',
      'listAccounts',
      'moveAccount',
      'replayAllAccounts',
      'setAnyReplay',
      'setHold',
      'whyAnywhere',
      'setJob',
      'startJob',
    ])
    for (const { id, doc, method } of operations) {
      const by = ofOperators.has(id) ? { token: operator } : {}
      const token = doc.security === undefined
      if (token) expect((await call(id, hook, { token: 'bad', data: {} })).status, id).toBe(401)
      if (
        token &&
        doc.parameters &&
        operations.find((operation) => operation.id === id)!.path.includes('{account_id}')
      )
        expect((await call(id, { ...hook, account_id: 'other' }, { data: {} })).status, id).toBe(403)
      if (doc.requestBody && method !== 'GET')
        expect((await call(id, hook, { ...by, body: '{"data":' })).status, id).toBe(400)
      if (doc.requestBody) expect((await call(id, hook, { ...by, data: 'text' })).status, id).toBe(400)
    }
    expect(
      (await call('createWebhook', account, { data: { name: '', uri: 'x', hook: 'y', retries: 99 } })).status,
    ).toBe(400)
    expect((await call('signInByApiKey', {}, { data: { api_key: 'wrong' } })).status).toBe(401)
    expect((await call('patchWebhook', hook, { data: {}, headers: { 'if-match': '"99"' } })).status).toBe(412)
    expect((await call('readWebhook', account)).status).toBe(404)
    expect((await call('readDelivery', account)).status).toBe(404)

    for (const id of [
      'readOverview',
      'readHolds',
      'listUnhealthyWebhooks',
      'lookUpAnywhere',
      'searchDeliveries',
      'listAllReplays',
      'listJobs',
    ])
      expect((await call(id)).status).toBe(403)

    await checkStream(service)
    called.set('streamItems', 1)

    await call('deleteWebhook', hook)
    await call('rotateApiKey', account, { token: login.json.auth_token })
    const renewed = await hs.auth.signIn({ apiKey: await hs.accounts.readApiKey('parent') })
    await call('readToken', {}, { token: renewed.token })
    await call('signOut', {}, { token: renewed.token })
    const isOperators = (id: string) => ['listUnhealthyWebhooks', 'searchDeliveries', 'setJob'].includes(id)
    const missing = operations.map(({ id }) => id).filter((id) => !called.has(id) && !isOperators(id))
    expect(missing).toEqual([])
  })

  it('has schemas strict enough to reject other responses', async () => {
    const service = await startService()
    const responses = new Map<string, ApiResponse>()
    const { call } = caller(service)
    for (const id of ['listHooks', 'listSamples', 'readApiKey', 'listWebhooks'])
      responses.set(id, await call(id, { account_id: 'parent' }))
    const schemaOf = (id: string) =>
      dereference(operations.find((operation) => operation.id === id)!.doc.responses['200']).content[
        'application/json'
      ].schema
    const { json } = responses.get('listHooks')!
    expect(violations(schemaOf('readApiKey'), json)).not.toEqual([])
    expect(violations(schemaOf('listSamples'), json)).not.toEqual([])
    expect(violations(schemaOf('listHooks'), responses.get('readApiKey')!.json)).not.toEqual([])
    for (const key of ['data', 'status', 'request_id', 'timestamp', 'node']) {
      const { [key]: _, ...rest } = json
      expect(violations(schemaOf('listHooks'), rest), `without ${key}`).not.toEqual([])
    }
  })

  it('describes the requests to receivers', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/hook', { hook: 'all', customData: { tenant: '7' } })
    const hooks = Object.keys(document.webhooks)
    expect(hooks).toHaveLength(35)
    for (const hook of hooks) {
      if (META_HOOKS.includes(hook)) {
        // Only the service publishes these: a test of a webhook sends the same payload.
        await hs.webhooks.test('parent', await createWebhook('/hook', { hook }))
      } else {
        const changed =
          hook === 'object' ? { documentId: 'd', documentType: 'user', documentAction: 'doc_created' } : {}
        const fields = { hook, direction: 'inbound', customChannelVars: { a: 1 }, ...changed } as const
        await hs.publish(channelCreate('call', fields))
      }
      const { body, headers } = await receiver.next()
      const { requestBody, parameters } = document.webhooks[hook].post
      expect(violations(requestBody.content['application/json'].schema, JSON.parse(body)), hook).toEqual([])
      for (const { name, required } of parameters.map(dereference))
        if (required) expect(headers).toHaveProperty([name.toLowerCase()])
    }
  })
})
