/** Mistakes that the compiler finds in programs in TypeScript. Nothing here runs: `tsc` fails where one of them compiles. */
import { createHookswitch, exponential, memoryStore, verify } from 'hookswitch'
import { createClient } from 'hookswitch/client'
import { freeswitchSource } from 'hookswitch/freeswitch'
import { createServer, nodeHandler } from 'hookswitch/node'
import { portal } from 'hookswitch/portal'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'

/** @internal */
export async function mistakes(): Promise<void> {
  const hs = createHookswitch({ store: memoryStore() })
  const event = { hook: 'channel_create', accountId: 'acme', callId: 'c' } as const
  const webhook = { name: 'w', uri: 'https://example.com/', hook: 'all' }

  // Options of an instance.
  // @ts-expect-error no store
  createHookswitch({})
  // @ts-expect-error a store that was not called
  createHookswitch({ store: memoryStore })
  // @ts-expect-error a misspelt option
  createHookswitch({ store: memoryStore(), retrypolicy: 'kazoo' })
  // @ts-expect-error a policy that does not exist
  createHookswitch({ store: memoryStore(), retryPolicy: 'exponential' })
  // @ts-expect-error seconds as a text
  createHookswitch({ store: memoryStore(), tokenTtlSeconds: '3600' })
  // @ts-expect-error a secret in an object
  createHookswitch({ store: memoryStore(), secret: { key: 'x' } })
  // @ts-expect-error a kind of event without an id
  createHookswitch({ store: memoryStore(), hooks: [{ name: 'Order paid' }] })
  // @ts-expect-error a delay as a text
  exponential({ baseMs: '2s' })

  // Calls.
  // @ts-expect-error a misspelt option
  await hs.close({ drainMS: 5 })
  // @ts-expect-error a number without its name
  await hs.close(5_000)
  // @ts-expect-error no account
  await hs.publish({ hook: 'channel_create', callId: 'c' })
  // @ts-expect-error a misspelt option
  await hs.publish(event, { idempotencykey: 'k' })
  // @ts-expect-error a time as a Date
  await hs.publish({ ...event, timestampMs: new Date() })
  // @ts-expect-error a value that is not in the list
  await hs.publish({ ...event, direction: 'in' })
  // @ts-expect-error no account
  await hs.webhooks.create(webhook)
  // @ts-expect-error a method in capitals
  await hs.webhooks.create('acme', { ...webhook, httpVerb: 'POST' })
  // @ts-expect-error retries as a text
  await hs.webhooks.create('acme', { ...webhook, retries: '3' })
  // @ts-expect-error a misspelt field
  await hs.webhooks.create('acme', { ...webhook, retires: 3 })
  // @ts-expect-error a state that does not exist
  await hs.webhooks.deliveries('acme', 'w', { states: ['failed'] })
  // @ts-expect-error a time as a Date
  await hs.webhooks.attempts('acme', 'w', { fromMs: new Date() })
  // @ts-expect-error a step that does not exist
  await hs.webhooks.stats('acme', 'w', { step: 1 })
  // @ts-expect-error an account that is no list
  await hs.webhooks.reenable('acme')
  // @ts-expect-error a list that was not awaited
  hs.webhooks.list('acme').map(({ id }) => id)
  // @ts-expect-error a name and a password
  await hs.auth.signIn({ username: 'ada', password: 'x' })
  // @ts-expect-error the answer of signIn as the token
  await hs.auth.authenticate(await hs.auth.signIn({ apiKey: 'k' }))
  // @ts-expect-error a role that does not exist
  await hs.auth.issue({ accountId: 'acme', role: 'user', ttlSeconds: 60 })
  // @ts-expect-error an account without a realm
  await hs.accounts.create({ name: 'Acme' })
  // @ts-expect-error a stream without an account
  hs.stream({})
  // @ts-expect-error a misspelt event of the instance
  hs.events.on('delivred', () => {})
  // @ts-expect-error a parsed body
  verify({ headers: {}, body: { a: 1 } }, 'whsec_x')
  // @ts-expect-error a secret in an object
  verify({ headers: {}, body: '' }, { secret: 'whsec_x' })

  // Servers, stores, sources and the client.
  // @ts-expect-error a promise of an instance
  createServer(Promise.resolve(hs))
  // @ts-expect-error a store
  nodeHandler(memoryStore())
  // @ts-expect-error a port as an option
  createServer(hs, { port: 8_000 })
  // @ts-expect-error a misspelt option
  portal({ tittle: 'x' })
  // @ts-expect-error a path without its name
  sqliteStore('hookswitch.db')
  // @ts-expect-error an environment variable that may not be set
  postgresStore({ connectionString: process.env.DATABASE_URL })
  // @ts-expect-error no account
  freeswitchSource({ publish: hs.publish })
  // @ts-expect-error a misspelt option
  createClient({ url: 'https://hooks.example.com', timeout: 5 })
}
