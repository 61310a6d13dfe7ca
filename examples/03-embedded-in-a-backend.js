// @ts-check
/**
 * hookswitch embedded in a telephony backend: the backend's customers are the accounts, its calls become events.
 * After `npm run build`: `node examples/03-embedded-in-a-backend.js`
 */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'

// 1. The backend's existing tables.
/** @typedef {{ id: string, reseller?: string, company: string, sipDomain: string, apiKey: string, open: boolean }} Customer */
/** @typedef {{ id: string, customer: string, login: string, digest: string }} Operator */
/** @type {Customer[]} */
const customers = [
  { id: 'r1', company: 'Reseller One', sipDomain: 'one.example', apiKey: 'key-of-reseller-one', open: true },
  { id: 'c7', reseller: 'r1', company: 'Acme', sipDomain: 'acme.example', apiKey: 'key-of-acme', open: true },
]
// Clients log in with md5(login:password). Whoever has that digest can log in, so the table stores a keyed hash of it.
const keyed = (/** @type {string} */ md5) =>
  createHmac('sha256', 'a secret key of the backend').update(md5).digest('hex')
const md5 = (/** @type {string} */ text) => createHash('md5').update(text).digest('hex')
/** @type {Operator[]} */
const operators = [{ id: 'u1', customer: 'c7', login: 'alice', digest: keyed(md5('alice:wonderland')) }]

// 2. The directory: hookswitch reads accounts and credentials through these methods, each one or two queries.
const customer = (/** @type {string | undefined} */ id) => customers.find((one) => one.id === id)
const version = (/** @type {string} */ secret) => createHash('sha256').update(secret).digest('hex')
/** @returns {import('hookswitch').Account} */
const accountOf = (/** @type {Customer} */ { id, reseller, company, sipDomain, open }) => ({
  id,
  name: company,
  realm: sipDomain,
  ...(reseller && { parentId: reseller, resellerId: reseller }),
  enabled: open,
  language: 'en-us',
  isReseller: !reseller,
  createdMs: 0,
  modifiedMs: 0,
})
/** @type {import('hookswitch').Directory} */
const directory = {
  async lineage(id) {
    const line = []
    for (let one = customer(id); one; one = customer(one.reseller)) line.push(accountOf(one))
    return line
  },
  descendants: async (id) => customers.filter(({ reseller }) => reseller === id).map((one) => one.id),
  accountsByRealm: async (realm) => customers.filter(({ sipDomain }) => sipDomain === realm).map(accountOf),
  accountsByName: async (name) =>
    customers
      .filter(({ company }) => company.toLowerCase().replace(/[^a-z0-9]/g, '') === name)
      .map(accountOf),
  async holderOfApiKey(apiKey) {
    const found = customers.find((one) => one.apiKey === apiKey)
    return found && { accountId: found.id, credentialVersion: version(found.apiKey) }
  },
  async holderOfCredentials(ids, method, digest) {
    const hash = keyed(digest)
    const found = operators.find(
      (one) => ids.includes(one.customer) && one.digest === hash && method === 'md5',
    )
    return found && { accountId: found.customer, userId: found.id, credentialVersion: found.digest }
  },
  async credentialVersion(id, userId) {
    if (userId !== undefined) return operators.find((one) => one.id === userId && one.customer === id)?.digest
    const apiKey = customer(id)?.apiKey
    return apiKey && version(apiKey)
  },
  readApiKey: async (id) => customer(id)?.apiKey,
}

// 3. The backend's call events, converted to events of hookswitch.
/** @typedef {{ uuid: string, tenant: string, caller: string, dialled: string, upAtMs?: number, endedBy?: string }} Call */
/** @type {EventEmitter<{ ringing: [Call], up: [Call], gone: [Call] }>} */
const switchboard = new EventEmitter()
const common = (/** @type {Call} */ { uuid, tenant, caller, dialled }) => ({
  accountId: tenant,
  callId: uuid,
  direction: /** @type {const} */ ('inbound'),
  from: `${caller}@carrier.example`,
  to: `${dialled}@${customer(tenant)?.sipDomain}`,
  callerIdNumber: caller,
})
switchboard.on('ringing', (call) => publish({ hook: 'channel_create', ...common(call) }))
switchboard.on('up', (call) => publish({ hook: 'channel_answer', ...common(call) }))
switchboard.on('gone', (call) => {
  const hangupCause = call.upAtMs === undefined ? 'ORIGINATOR_CANCEL' : 'NORMAL_CLEARING'
  publish({ hook: 'channel_destroy', ...common(call), hangupCause })
})

const hs = createHookswitch({ store: memoryStore(), directory, allowLocal: true })
await hs.start()

/** Publishes an event; an error must not disturb the call. @param {import('hookswitch').ChannelEvent} event */
function publish(event) {
  hs.publish(event).catch((thrown) => console.error(`not published: ${errorCode(thrown)} ${thrown.message}`))
}

// Both customers log in and register webhooks, the reseller also for the calls of its customers.
const receiver = scriptedReceiver()
await receiver.start()
const reseller = await hs.auth.signIn({ apiKey: 'key-of-reseller-one' })
const alice = await hs.auth.signIn({ credentials: md5('alice:wonderland'), realm: 'acme.example' })
console.log(`logged in: ${reseller.account.name}, ${alice.account.name} as ${alice.userId}`)
await hs.webhooks.create('c7', { name: 'All', uri: receiver.url('/acme'), hook: 'all' })
await hs.webhooks.create('r1', {
  name: 'Records',
  uri: receiver.url('/reseller'),
  hook: 'channel_destroy',
  includeSubaccounts: true,
})

const call = { uuid: 'b7a9', tenant: 'c7', caller: '+12025550123', dialled: '1001' }
switchboard.emit('ringing', call)
switchboard.emit('up', call)
switchboard.emit('gone', { ...call, upAtMs: 1 })
const requests = await receiver.next(4)
for (const { path, body } of requests) console.log(`${path}: ${JSON.parse(body).hook_event}`)

// A password changes in the backend's table: tokens issued for the old one become invalid.
operators[0] = { id: 'u1', customer: 'c7', login: 'alice', digest: keyed(md5('alice:through the glass')) }
hs.accounts.changed('c7')
await assert.rejects(hs.auth.authenticate(alice.token), { code: 'InvalidCredentials' })
await hs.auth.authenticate(reseller.token)
console.log("after the change of alice's password her token is rejected, the reseller's is accepted")

await hs.close()
await receiver.close()

const hooksAt = (/** @type {string} */ path) =>
  requests.filter((request) => request.path === path).map(({ body }) => JSON.parse(body).hook_event)
assert.deepEqual(hooksAt('/acme'), ['channel_create', 'channel_answer', 'channel_destroy'])
assert.deepEqual(hooksAt('/reseller'), ['channel_destroy'])
