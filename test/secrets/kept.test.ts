/** Every byte that a service keeps, logs, measures, throws or shows after a full run, and no usable secret in any. */
import { createHash } from 'node:crypto'
import { format } from 'node:util'
import type { HookswitchError } from 'hookswitch'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { created, services, told } from '../service/running.js'
import { KEPT_STORES, type KeptStore } from './kept-stores.js'
import { formsOf, found } from './scan.js'

const running = services()
const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** Chosen by us, long enough that chance does not make them. */
const CHOSEN = {
  'the secret of the service': 'Zx-the-secret-of-the-service-9f3',
  'a password': 'Qk-correct+horse/battery=staple',
  'a former password': 'Qk-troubadour&3-and-more',
  'an API key': digest('sha256', 'an API key of ours'),
  'a header of a receiver': 'Vb-credential-of-a-receiver',
  'a cookie of a receiver': 'Vb-cookie-of-a-receiver',
  'a token of a receiver': 'Vb-token-of-a-receiver',
} as const

/** A day in the life of the service: what came out of it, and the secrets that it made. */
async function day(kept: KeptStore) {
  const said: string[] = []
  const note = (...what: unknown[]) => void said.push(format(...what))
  const metrics = prometheusMetrics()
  const service = await running({
    store: kept.store,
    secret: CHOSEN['the secret of the service'],
    log: { debug: note, info: note, warn: note, error: note },
    metrics,
  })
  const { hs, receiver, ask } = service
  for (const name of ['event', 'attempt', 'delivered', 'exhausted', 'webhook_disabled'] as const)
    hs.events.on(name, (payload) => note('%j', payload))
  const thrown: string[] = []
  const fails = (work: Promise<unknown>) =>
    work.then(
      () => expect.unreachable('it did not fail'),
      (error: HookswitchError) =>
        void thrown.push(format('%s %j %s', error.stack, { ...error }, error.cause)),
    )

  const { id } = await hs.accounts.create({
    name: 'Canary',
    realm: 'canary.example.com',
    apiKey: CHOSEN['an API key'],
    users: [{ username: 'Eve', password: CHOSEN['a former password'] }],
  })
  await hs.accounts.setPassword(id, 'eve', CHOSEN['a password'])
  const byKey = await ask('PUT', '/v1/api_auth', { data: { api_key: CHOSEN['an API key'] } })
  const credentials = digest('md5', `Eve:${CHOSEN['a password']}`)
  const byUser = await ask('PUT', '/v1/user_auth', {
    data: { credentials, account_realm: 'canary.example.com' },
  })
  const token = byKey.json.auth_token as string
  await fails(hs.auth.signIn({ apiKey: `${CHOSEN['an API key']}x` }))
  await fails(hs.accounts.create({ name: 'x', realm: 'canary.example.com', apiKey: CHOSEN['an API key'] }))
  await fails(hs.accounts.setPassword(id, 'nobody', CHOSEN['a password']))

  const base = `/v1/accounts/${id}/webhooks`
  const made = await ask('PUT', base, {
    token,
    data: {
      name: 'w',
      uri: receiver.url('/hook'),
      hook: 'all',
      retries: 1,
      custom_request_headers: { Authorization: `Bearer ${CHOSEN['a header of a receiver']}` },
    },
  })
  const path = `${base}/${made.json.data.id}`
  await fails(
    hs.webhooks.patch(id, made.json.data.id, {
      requestHeaders: { Host: CHOSEN['a header of a receiver'] },
    } as never),
  )
  receiver.on('/hook', [
    status(500, {
      headers: {
        'set-cookie': CHOSEN['a cookie of a receiver'],
        'x-auth-token': CHOSEN['a token of a receiver'],
      },
    }),
    status(200),
  ])
  const first = (await ask('GET', `${path}/secret`, { token })).json.data.secret
  const delivered = told(hs, 'delivered')
  await hs.publish({ ...created('call'), accountId: id })
  await delivered
  const second = (await ask('PUT', `${path}/secret`, { token, data: {} })).json.data.secret
  const attempts = await ask('GET', `${path}/attempts`, { token })
  expect(attempts.json.data).toHaveLength(2)
  const open = await kept.bytes()
  const rotated = (await ask('PUT', `/v1/accounts/${id}/api_key`, { token, data: {} })).json.data.api_key
  const measured = await metrics.text()
  await service.close()

  const { auth_token: _, ...shown } = attempts.json
  const places: Record<string, Buffer> = {
    'the log and events': Buffer.from(said.join('\n')),
    'thrown errors': Buffer.from(thrown.join('\n')),
    metrics: Buffer.from(measured),
    attempts: Buffer.from(JSON.stringify(shown)),
  }
  for (const [name, bytes] of Object.entries(open)) places[`${name}, open`] = bytes
  for (const [name, bytes] of Object.entries(await kept.bytes())) places[name] = bytes
  const secrets: Record<string, string> = {
    ...CHOSEN,
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
        secrets[`${algorithm} of ${kind} of ${name}`] = digest(algorithm, `${name}:${CHOSEN[kind]}`)
  return { secrets, places, id }
}

describe.each(KEPT_STORES)('after a full run on %s', (_name, make) => {
  it('no byte that is kept, logged, measured, thrown or shown gives a secret away', async () => {
    const kept = await make()
    try {
      const { secrets, places, id } = await day(kept)
      expect(Object.values(secrets).every((secret) => secret.length >= 16)).toBe(true)
      expect(found(secrets, places)).toEqual([])
      // The scan has seen what there is: what is no secret is in the store, in the log and in the attempts.
      const known = found({ account: id, realm: 'canary.example.com', event: 'channel_create' }, places)
      expect(known.some((sentence) => /^account in (data\.db|table )/.test(sentence))).toBe(true)
      expect(known.some((sentence) => /^realm in (data\.db|table )/.test(sentence))).toBe(true)
      expect(known).toEqual(expect.arrayContaining(['account in the log and events', 'event in attempts']))
      expect(places.metrics!.length).toBeGreaterThan(1_000)
      expect(places['thrown errors']!.length).toBeGreaterThan(500)
    } finally {
      await kept.dispose()
    }
  })
})

describe('the scan', () => {
  const secret = 'Qk-correct+horse/battery=staple'
  const bytes = Buffer.from(secret)

  it.each([
    ['as it is', secret],
    ['in a URL', encodeURIComponent(secret)],
    ['in hex', bytes.toString('hex')],
    ['in hex of capitals', bytes.toString('hex').toUpperCase()],
    ['in base64', bytes.toString('base64')],
    ['in base64 behind one byte', Buffer.concat([Buffer.from(':'), bytes]).toString('base64')],
    ['in base64 behind a user name', Buffer.from(`Eve:x${secret}:y`).toString('base64')],
    ['in base64url', Buffer.from(`ab${secret}`).toString('base64url')],
    ['in UTF-16', Buffer.from(secret, 'utf16le').toString('latin1')],
    ['as a column of bytes', `\\x00${bytes.toString('hex')}00`],
  ])('finds a secret %s', (_how, text) => {
    const places = { here: Buffer.from(`before ${text} after`, 'latin1') }
    expect(found({ password: secret }, places)).toEqual(['password in here'])
  })

  it('finds nothing where there is a part of it', () => {
    expect(found({ password: secret }, { here: Buffer.from(secret.slice(0, -2)) })).toEqual([])
    expect(formsOf(secret).every((form) => form.length > 20)).toBe(true)
  })
})
