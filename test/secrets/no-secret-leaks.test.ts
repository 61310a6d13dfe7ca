/** After a full run, no byte that a service stores, logs, measures, throws or returns contains a usable secret. */
import { createHash } from 'node:crypto'
import { format } from 'node:util'
import type { HookswitchError } from 'hookswitch'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'
import { DURABLE_STORES, type DurableStore } from './durable-stores.js'
import { encodedForms, findSecrets } from './secret-scan.js'

const startService = serviceFixture()
const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** Secrets with fixed values, long enough not to occur by chance. */
const SECRETS = {
  'the secret of the service': 'Zx-the-secret-of-the-service-9f3',
  'a password': 'Qk-correct+horse/battery=staple',
  'a former password': 'Qk-troubadour&3-and-more',
  'an API key': digest('sha256', 'an API key of the service'),
  'a header of a receiver': 'Vb-credential-of-a-receiver',
  'a cookie of a receiver': 'Vb-cookie-of-a-receiver',
  'a token of a receiver': 'Vb-token-of-a-receiver',
} as const

/** Uses every feature that handles secrets; returns all output by place, and all secrets. */
async function fullRun(durable: DurableStore) {
  const output: string[] = []
  const record = (...args: unknown[]) => void output.push(format(...args))
  const metrics = prometheusMetrics()
  const service = await startService({
    store: durable.store,
    secret: SECRETS['the secret of the service'],
    log: { debug: record, info: record, warn: record, error: record },
    metrics,
  })
  const { hs, receiver, callApi } = service
  for (const name of ['event', 'attempt', 'delivered', 'exhausted', 'webhook_disabled'] as const)
    hs.events.on(name, (payload) => record('%j', payload))
  const thrown: string[] = []
  const expectFailure = (work: Promise<unknown>) =>
    work.then(
      () => expect.unreachable('it succeeded'),
      (error: HookswitchError) =>
        void thrown.push(format('%s %j %s', error.stack, { ...error }, error.cause)),
    )

  const { id } = await hs.accounts.create({
    name: 'Canary',
    realm: 'canary.example.com',
    apiKey: SECRETS['an API key'],
    users: [{ username: 'Eve', password: SECRETS['a former password'] }],
  })
  await hs.accounts.setPassword(id, 'eve', SECRETS['a password'])
  const byKey = await callApi('PUT', '/v1/api_auth', { data: { api_key: SECRETS['an API key'] } })
  const credentials = digest('md5', `Eve:${SECRETS['a password']}`)
  const byUser = await callApi('PUT', '/v1/user_auth', {
    data: { credentials, account_realm: 'canary.example.com' },
  })
  const token = byKey.json.auth_token as string
  await expectFailure(hs.auth.signIn({ apiKey: `${SECRETS['an API key']}x` }))
  await expectFailure(
    hs.accounts.create({ name: 'x', realm: 'canary.example.com', apiKey: SECRETS['an API key'] }),
  )
  await expectFailure(hs.accounts.setPassword(id, 'unknown', SECRETS['a password']))

  const base = `/v1/accounts/${id}/webhooks`
  const created = await callApi('PUT', base, {
    token,
    data: {
      name: 'w',
      uri: receiver.url('/hook'),
      hook: 'all',
      retries: 1,
      custom_request_headers: { Authorization: `Bearer ${SECRETS['a header of a receiver']}` },
    },
  })
  const path = `${base}/${created.json.data.id}`
  await expectFailure(
    hs.webhooks.patch(id, created.json.data.id, {
      requestHeaders: { Host: SECRETS['a header of a receiver'] },
    } as never),
  )
  receiver.on('/hook', [
    status(500, {
      headers: {
        'set-cookie': SECRETS['a cookie of a receiver'],
        'x-auth-token': SECRETS['a token of a receiver'],
      },
    }),
    status(200),
  ])
  const first = (await callApi('GET', `${path}/secret`, { token })).json.data.secret
  const delivered = nextEvents(hs, 'delivered')
  await hs.publish({ ...channelCreate('call'), accountId: id })
  await delivered
  const second = (await callApi('PUT', `${path}/secret`, { token, data: {} })).json.data.secret
  const attempts = await callApi('GET', `${path}/attempts`, { token })
  expect(attempts.json.data).toHaveLength(2)
  const whileOpen = await durable.readBytes()
  const rotated = (await callApi('PUT', `/v1/accounts/${id}/api_key`, { token, data: {} })).json.data.api_key
  const exposition = await metrics.text()
  await service.close()

  const { auth_token: _, ...response } = attempts.json
  const places: Record<string, Buffer> = {
    'the log and events': Buffer.from(output.join('\n')),
    'thrown errors': Buffer.from(thrown.join('\n')),
    metrics: Buffer.from(exposition),
    attempts: Buffer.from(JSON.stringify(response)),
  }
  for (const [name, bytes] of Object.entries(whileOpen)) places[`${name}, open`] = bytes
  for (const [name, bytes] of Object.entries(await durable.readBytes())) places[name] = bytes
  const secrets: Record<string, string> = {
    ...SECRETS,
    'a token by key': token,
    'a token by password': byUser.json.auth_token,
    'a new API key': rotated,
    'a signing secret': first.slice('whsec_'.length),
    'a new signing secret': second.slice('whsec_'.length),
    'the bytes of a signing secret': Buffer.from(first.slice('whsec_'.length), 'base64').toString('latin1'),
  }
  for (const name of ['Eve', 'eve'])
    for (const kind of ['a password', 'a former password'] as const)
      for (const algorithm of ['md5', 'sha1'])
        secrets[`${algorithm} of ${kind} of ${name}`] = digest(algorithm, `${name}:${SECRETS[kind]}`)
  return { secrets, places, id }
}

describe.each(DURABLE_STORES)('a full run on %s', (_name, create) => {
  it('stores, logs, measures, throws and returns no secret', async () => {
    const durable = await create()
    try {
      const { secrets, places, id } = await fullRun(durable)
      expect(Object.values(secrets).every((secret) => secret.length >= 16)).toBe(true)
      expect(findSecrets(secrets, places)).toEqual([])
      // The scan covers everything: it finds public values in the store, the log and the attempts.
      const publicValues = findSecrets(
        { account: id, realm: 'canary.example.com', event: 'channel_create' },
        places,
      )
      expect(publicValues.some((sentence) => /^account in (data\.db|table )/.test(sentence))).toBe(true)
      expect(publicValues.some((sentence) => /^realm in (data\.db|table )/.test(sentence))).toBe(true)
      expect(publicValues).toEqual(
        expect.arrayContaining(['account in the log and events', 'event in attempts']),
      )
      expect(places.metrics!.length).toBeGreaterThan(1_000)
      expect(places['thrown errors']!.length).toBeGreaterThan(500)
    } finally {
      await durable.dispose()
    }
  })
})

describe('findSecrets', () => {
  const secret = 'Qk-correct+horse/battery=staple'
  const bytes = Buffer.from(secret)

  it.each([
    ['as plain text', secret],
    ['in a URL', encodeURIComponent(secret)],
    ['in hex', bytes.toString('hex')],
    ['in upper-case hex', bytes.toString('hex').toUpperCase()],
    ['in base64', bytes.toString('base64')],
    ['in base64 behind one byte', Buffer.concat([Buffer.from(':'), bytes]).toString('base64')],
    ['in base64 behind a user name', Buffer.from(`Eve:x${secret}:y`).toString('base64')],
    ['in base64url', Buffer.from(`ab${secret}`).toString('base64url')],
    ['in UTF-16', Buffer.from(secret, 'utf16le').toString('latin1')],
    ['in a binary column', `\\x00${bytes.toString('hex')}00`],
  ])('finds a secret %s', (_how, text) => {
    const places = { here: Buffer.from(`before ${text} after`, 'latin1') }
    expect(findSecrets({ password: secret }, places)).toEqual(['password in here'])
  })

  it('does not report a part of a secret', () => {
    expect(findSecrets({ password: secret }, { here: Buffer.from(secret.slice(0, -2)) })).toEqual([])
    expect(encodedForms(secret).every((form) => form.length > 20)).toBe(true)
  })
})
