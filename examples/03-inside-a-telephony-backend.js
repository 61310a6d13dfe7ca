// @ts-check
/** Inside a telephony backend: its own customers are the accounts, its own call objects make the events. */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'

// 1. The tables that the backend has already.
/** @typedef {{ id: string, reseller?: string, company: string, sipDomain: string, apiKey: string, open: boolean }} Customer */
/** @typedef {{ id: string, customer: string, login: string, digest: string }} Operator */
/** @type {Customer[]} */
const customers = [
  { id: 'r1', company: 'Reseller One', sipDomain: 'one.example', apiKey: 'key-of-reseller-one', open: true },
  { id: 'c7', reseller: 'r1', company: 'Acme', sipDomain: 'acme.example', apiKey: 'key-of-acme', open: true },
]
// Clients of this API log in with md5(login:password), so the digest is as good as the password: keep a keyed hash.
const keyed = (/** @type {string} */ md5) =>
  createHmac('sha256', 'the pepper of the backend').update(md5).digest('hex')
const md5 = (/** @type {string} */ text) => createHash('md5').update(text).digest('hex')
/** @type {Operator[]} */
const operators = [{ id: 'u1', customer: 'c7', login: 'alice', digest: keyed(md5('alice:wonderland')) }]

// 2. The door to them: nine questions, each a query or two.
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
    const wanted = keyed(digest)
    const found = operators.find(
      (one) => ids.includes(one.customer) && one.digest === wanted && method === 'md5',
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

// 3. The events that it has already, said in hookswitch's words.
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

/** Publishing must never stop a call. @param {import('hookswitch').ChannelEvent} event */
function publish(event) {
  hs.publish(event).catch((thrown) => console.error(`not published: ${errorCode(thrown)} ${thrown.message}`))
}

// Both customers log in and want calls; the reseller those of its customers too.
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

// A password changes in the backend's own table: the tokens that it issued are dead.
operators[0] = { id: 'u1', customer: 'c7', login: 'alice', digest: keyed(md5('alice:through the glass')) }
hs.accounts.changed('c7')
await assert.rejects(hs.auth.authenticate(alice.token), { code: 'InvalidCredentials' })
await hs.auth.authenticate(reseller.token)
console.log("after alice's new password her token is refused, the reseller's is not")

await hs.close()
await receiver.close()

const hooksAt = (/** @type {string} */ path) =>
  requests.filter((request) => request.path === path).map(({ body }) => JSON.parse(body).hook_event)
assert.deepEqual(hooksAt('/acme'), ['channel_create', 'channel_answer', 'channel_destroy'])
assert.deepEqual(hooksAt('/reseller'), ['channel_destroy'])
