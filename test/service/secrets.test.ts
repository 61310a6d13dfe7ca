/** No usable secret in anything that is kept, logged, recorded or told, after a day in the life of the service. */
import { createHash } from 'node:crypto'
import { memoryStore } from 'hookswitch'
import { redirect, reset, status } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { created, services, told } from './running.js'

const running = services()

type Store = ReturnType<typeof memoryStore>

/** Every text and number in a value, bytes as hex and base64. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (one instanceof Uint8Array)
      return `${Buffer.from(one).toString('latin1')} ${Buffer.from(one).toString('hex')} ${Buffer.from(one).toString('base64')}`
    if (one instanceof Map || one instanceof Set) return [...one]
    return one instanceof Error ? `${one.stack} ${JSON.stringify({ ...one })} ${one.cause}` : one
  })
}

/** A store that notes all that it is given. */
function recording(store: Store, given: string[]): Store {
  const door = <Door extends object>(methods: Door): Door =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          given.push(`${name} ${textOf(args)}`)
          return (method as (...args: unknown[]) => unknown)(...args)
        },
      ]),
    ) as Door
  const { accounts, tokens, webhooks, deliveries } = store
  return {
    ...store,
    accounts: door(accounts),
    tokens: door(tokens),
    webhooks: door(webhooks),
    deliveries: door(deliveries),
  }
}

const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

/** The forms in which a secret would be as good as itself. */
const usable = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
]

it('a full run leaves no key, password, digest of one, token, signing secret or credential of a receiver anywhere', async () => {
  const given: string[] = []
  const logged: string[] = []
  const said: string[] = []
  const level = (name: string) => (fields: object, message: string) =>
    void logged.push(`${name} ${textOf(fields)} ${message}`)
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const store = recording(memoryStore(), given)
  const secret = 'the secret of the whole service'
  const service = await running({ store, log, secret })
  const { hs, receiver, ask } = service
  for (const name of ['event', 'attempt', 'delivered', 'exhausted', 'cancelled', 'webhook_disabled'] as const)
    hs.events.on(name, (payload) => void said.push(`${name} ${textOf(payload)}`))
  const note = (thrown: unknown) => void said.push(`thrown ${textOf(thrown)}`)

  // Accounts, users, keys, logins of every kind, right and wrong.
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
    ask('PUT', '/v1/user_auth', { data: { credentials, method, account_realm: 'canary.example.com' } })
  const byKey = await ask('PUT', '/v1/api_auth', { data: { api_key: account.apiKey } })
  const byMd5 = await login(digest('md5', 'Eve:correct horse battery'), 'md5')
  const bySha = await login(digest('sha1', 'eve:correct horse battery'), 'sha')
  const tokens = [byKey, byMd5, bySha].map(({ json }) => json.auth_token as string)
  expect(tokens.every((token) => typeof token === 'string')).toBe(true)
  const wrong = [
    await login(digest('md5', 'Eve:Tr0ub4dor&3'), 'md5'),
    await ask('PUT', '/v1/api_auth', { data: { api_key: 'z'.repeat(64) } }),
  ]
  await hs.auth.signIn({ apiKey: 7 as never }).catch(note)
  await hs.accounts.create({ name: 'x', realm: 'canary.example.com', apiKey: account.apiKey }).catch(note)
  await hs.accounts.addUser(id, { username: 'a:b', password: 'hunter2-hunter2' }).catch(note)

  // A webhook with credentials of its receiver, answers that carry some, failures of every kind.
  const token = tokens[0]!
  const headers = { Authorization: 'Bearer receivers-own-credential', 'X-Api-Key': 'receivers-own-key' }
  const base = `/v1/accounts/${id}/webhooks`
  receiver.on('/hook', [
    status(500, { headers: { 'set-cookie': 'sid=receivers-own-cookie', 'x-token': 'receivers-own-token' } }),
    redirect('/elsewhere'),
    reset(),
    status(200),
  ])
  const made = await ask('PUT', base, {
    token,
    data: { name: 'w', uri: receiver.url('/hook'), hook: 'all', retries: 5, custom_request_headers: headers },
  })
  const webhook = made.json.data.id
  const first = (await ask('GET', `${base}/${webhook}/secret`, { token })).json.data.secret
  const delivered = told(hs, 'delivered')
  await hs.publish({ ...created('call'), accountId: id })
  await delivered
  const second = (await ask('PUT', `${base}/${webhook}/secret`, { token, data: {} })).json.data.secret
  const refusals = [
    await ask('PATCH', `${base}/${webhook}`, {
      token,
      data: { custom_request_headers: { Host: 'receivers-own-credential' } },
    }),
    await ask('PATCH', `${base}/${webhook}`, {
      token,
      data: { custom_request_headers: { 'X-Api-Key': ['receivers-own-key'] } },
    }),
    await ask('PUT', '/v1/api_auth', { data: { api_key: [account.apiKey] } }),
    await ask('PUT', '/v1/user_auth', {
      data: { credentials: { eve: digest('md5', 'Eve:correct horse battery') }, account_realm: 'x' },
    }),
    ...wrong,
  ]
  const attempts = await ask('GET', `${base}/attempts`, { token })
  expect(attempts.json.data).toHaveLength(4)
  const rotated = (await ask('PUT', `/v1/accounts/${id}/api_key`, { token, data: {} })).json.data.api_key
  await ask('DELETE', '/v1/token_auth', { token: tokens[1]! })
  await service.close()

  const names = ['Eve', 'eve', 'Mallory', 'mallory']
  const digests = passwords.flatMap((password) =>
    names.flatMap((name) => [digest('md5', `${name}:${password}`), digest('sha1', `${name}:${password}`)]),
  )
  const ofService = [account.apiKey, rotated, ...passwords, ...digests, ...tokens, first, second, secret]
  const bare = [first, second].map((one) => one.slice('whsec_'.length))
  const ofReceivers = ['receivers-own-credential', 'receivers-own-key']
  const places = {
    'the store': given.join('\n'),
    'the log': logged.join('\n'),
    'events and errors': said.join('\n'),
    // A refusal shows its own caller the token that was used.
    refusals: refusals.map(({ json: { auth_token: _, ...rest } }) => JSON.stringify(rest)).join('\n'),
  }
  expect(given.length).toBeGreaterThan(50)
  expect(said.length).toBeGreaterThan(5)
  for (const [place, text] of Object.entries(places))
    for (const found of [...ofService, ...bare, ...ofReceivers].flatMap(usable))
      expect(text.includes(found), `${found} in ${place}`).toBe(false)
  for (const found of [
    ...ofService.filter((one) => one !== token),
    ...bare,
    ...ofReceivers,
    'receivers-own-cookie',
    'receivers-own-token',
  ].flatMap(usable))
    expect(attempts.text.includes(found), `${found} in the attempts`).toBe(false)
  expect(JSON.stringify(attempts.json.data)).not.toContain(token)
  for (const found of ['receivers-own-cookie', 'receivers-own-token'])
    expect(places['the store'].includes(found), `${found} in the store`).toBe(false)
})
