/** After a full run, nothing that is stored, logged, recorded or emitted contains a usable secret. */
import { createHash } from 'node:crypto'
import { memoryStore } from 'hookswitch'
import { redirect, reset, status } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

type Store = ReturnType<typeof memoryStore>

/** All strings and numbers of a value as text; bytes as hex and base64. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Uint8Array)
      return `${Buffer.from(part).toString('latin1')} ${Buffer.from(part).toString('hex')} ${Buffer.from(part).toString('base64')}`
    if (part instanceof Map || part instanceof Set) return [...part]
    return part instanceof Error ? `${part.stack} ${JSON.stringify({ ...part })} ${part.cause}` : part
  })
}

/** A store that records all arguments. */
function recordingStore(store: Store, recorded: string[]): Store {
  const record = <Methods extends object>(methods: Methods): Methods =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          recorded.push(`${name} ${textOf(args)}`)
          return (method as (...args: unknown[]) => unknown)(...args)
        },
      ]),
    ) as Methods
  const { accounts, tokens, webhooks, deliveries } = store
  return {
    ...store,
    accounts: record(accounts),
    tokens: record(tokens),
    webhooks: record(webhooks),
    deliveries: record(deliveries),
  }
}

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** Encodings in which a secret is still usable. */
const usable = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
]

it('a full run leaves no key, password, password digest, token, signing secret or receiver credential anywhere', async () => {
  const stored: string[] = []
  const logged: string[] = []
  const emitted: string[] = []
  const level = (name: string) => (fields: object, message: string) =>
    void logged.push(`${name} ${textOf(fields)} ${message}`)
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const store = recordingStore(memoryStore(), stored)
  const secret = 'the secret of the whole service'
  const service = await startService({ store, log, secret })
  const { hs, receiver, callApi } = service
  for (const name of ['event', 'attempt', 'delivered', 'exhausted', 'cancelled', 'webhook_disabled'] as const)
    hs.events.on(name, (payload) => void emitted.push(`${name} ${textOf(payload)}`))
  const recordError = (thrown: unknown) => void emitted.push(`thrown ${textOf(thrown)}`)

  // Accounts, users, keys, and logins of every kind, valid and invalid.
  const account = await hs.accounts.create({
    name: 'Canary',
    realm: 'canary.example.com',
    users: [{ username: 'Eve', password: 'Tr0ub4dor&3' }],
  })
  const { id } = account
  await hs.accounts.setPassword(id, 'eve', 'correct horse battery')
  await hs.accounts.addUser(id, { username: 'Mallory', password: 'hunter2-hunter2' })
  const passwords = ['Tr0ub4dor&3', 'correct horse battery', 'hunter2-hunter2']
  const login = (credentials: string, method: string) =>
    callApi('PUT', '/v1/user_auth', { data: { credentials, method, account_realm: 'canary.example.com' } })
  const byKey = await callApi('PUT', '/v1/api_auth', { data: { api_key: account.apiKey } })
  const byMd5 = await login(digest('md5', 'Eve:correct horse battery'), 'md5')
  const bySha = await login(digest('sha1', 'eve:correct horse battery'), 'sha')
  const tokens = [byKey, byMd5, bySha].map(({ json }) => json.auth_token as string)
  expect(tokens.every((token) => typeof token === 'string')).toBe(true)
  const wrong = [
    await login(digest('md5', 'Eve:Tr0ub4dor&3'), 'md5'),
    await callApi('PUT', '/v1/api_auth', { data: { api_key: 'z'.repeat(64) } }),
  ]
  await hs.auth.signIn({ apiKey: 7 as never }).catch(recordError)
  await hs.accounts
    .create({ name: 'x', realm: 'canary.example.com', apiKey: account.apiKey })
    .catch(recordError)
  await hs.accounts.addUser(id, { username: 'a:b', password: 'hunter2-hunter2' }).catch(recordError)

  // A webhook with receiver credentials, responses with credentials, and failures of every kind.
  const token = tokens[0]!
  const headers = { Authorization: 'Bearer receivers-own-credential', 'X-Api-Key': 'receivers-own-key' }
  const base = `/v1/accounts/${id}/webhooks`
  receiver.on('/hook', [
    reset(),
    status(500, { headers: { 'set-cookie': 'sid=receivers-own-cookie', 'x-token': 'receivers-own-token' } }),
    redirect('/elsewhere'),
    status(200),
  ])
  const created = await callApi('PUT', base, {
    token,
    data: { name: 'w', uri: receiver.url('/hook'), hook: 'all', retries: 5, custom_request_headers: headers },
  })
  const webhook = created.json.data.id
  const first = (await callApi('GET', `${base}/${webhook}/secret`, { token })).json.data.secret
  const delivered = nextEvents(hs, 'delivered')
  await hs.publish({ ...channelCreate('call'), accountId: id })
  await delivered
  const second = (await callApi('PUT', `${base}/${webhook}/secret`, { token, data: {} })).json.data.secret
  const rejections = [
    await callApi('PATCH', `${base}/${webhook}`, {
      token,
      data: { custom_request_headers: { Host: 'receivers-own-credential' } },
    }),
    await callApi('PATCH', `${base}/${webhook}`, {
      token,
      data: { custom_request_headers: { 'X-Api-Key': ['receivers-own-key'] } },
    }),
    await callApi('PUT', '/v1/api_auth', { data: { api_key: [account.apiKey] } }),
    await callApi('PUT', '/v1/user_auth', {
      data: { credentials: { eve: digest('md5', 'Eve:correct horse battery') }, account_realm: 'x' },
    }),
    ...wrong,
  ]
  const attempts = await callApi('GET', `${base}/attempts`, { token })
  expect(attempts.json.data).toHaveLength(4)
  const rotated = (await callApi('PUT', `/v1/accounts/${id}/api_key`, { token, data: {} })).json.data.api_key
  await callApi('DELETE', '/v1/token_auth', { token: tokens[1]! })
  await service.close()

  const names = ['Eve', 'eve', 'Mallory', 'mallory']
  const digests = passwords.flatMap((password) =>
    names.flatMap((name) => [digest('md5', `${name}:${password}`), digest('sha1', `${name}:${password}`)]),
  )
  const serviceSecrets = [account.apiKey, rotated, ...passwords, ...digests, ...tokens, first, second, secret]
  const withoutPrefix = [first, second].map((text) => text.slice('whsec_'.length))
  const receiverSecrets = ['receivers-own-credential', 'receivers-own-key']
  const places = {
    'the store': stored.join('\n'),
    'the log': logged.join('\n'),
    'events and errors': emitted.join('\n'),
    // An error response contains the caller's own token.
    rejections: rejections.map(({ json: { auth_token: _, ...rest } }) => JSON.stringify(rest)).join('\n'),
  }
  expect(stored.length).toBeGreaterThan(50)
  expect(emitted.length).toBeGreaterThan(5)
  for (const [place, text] of Object.entries(places))
    for (const secret of [...serviceSecrets, ...withoutPrefix, ...receiverSecrets].flatMap(usable))
      expect(text.includes(secret), `${secret} in ${place}`).toBe(false)
  for (const secret of [
    ...serviceSecrets.filter((text) => text !== token),
    ...withoutPrefix,
    ...receiverSecrets,
    'receivers-own-cookie',
    'receivers-own-token',
  ].flatMap(usable))
    expect(attempts.text.includes(secret), `${secret} in the attempts`).toBe(false)
  expect(JSON.stringify(attempts.json.data)).not.toContain(token)
  for (const secret of ['receivers-own-cookie', 'receivers-own-token'])
    expect(places['the store'].includes(secret), `${secret} in the store`).toBe(false)
})
