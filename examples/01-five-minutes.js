// @ts-check
/** Five minutes: an account, a token, a webhook, a call, and a receiver that checks the signature. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { createHookswitch, memoryStore, verify } from 'hookswitch'
import { createServer } from 'hookswitch/node'

// The service, inside your own process. `allowLocal` lets webhooks call this machine: for development only.
const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
await hs.start()
const account = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
const server = createServer(hs)
const api = `${await listen(server)}/v1`

// What your customer runs: a server that is called. It answers with a 2xx status, and the delivery is done.
let secret = ''
/** @type {any[]} */
const received = []
const receiver = http.createServer(async (request, response) => {
  const body = await text(request)
  const { ok } = verify({ headers: request.headers, body }, secret)
  if (ok) received.push(JSON.parse(body))
  response.writeHead(ok ? 204 : 401).end()
})
const uri = `${await listen(receiver)}/calls`

// Your customer logs in with the API key, registers a webhook and reads its signing secret.
const { auth_token: token } = await call('PUT', '/api_auth', { data: { api_key: account.apiKey } })
const webhook = { name: 'Calls', uri, http_verb: 'post', hook: 'channel_create', retries: 3 }
const created = await call('PUT', '/accounts/acme/webhooks', { token, data: webhook })
const path = `/accounts/acme/webhooks/${created.data.id}`
secret = (await call('GET', `${path}/secret`, { token })).data.secret

// A call starts: your code says so and goes on, hookswitch delivers.
const delivered = new Promise((resolve) => hs.events.once('delivered', resolve))
await hs.publish({
  hook: 'channel_create',
  accountId: 'acme',
  callId: '1f9c7f7e@192.0.2.10',
  direction: 'inbound',
  from: '+12025550123@carrier.example',
  to: '1001@acme.example',
})
await delivered

// Every attempt can be read back.
const { data: attempts } = await call('GET', `${path}/attempts`, { token })
await hs.close()
server.close()
receiver.close()

assert.equal(received.length, 1)
assert.equal(received[0].from, '+12025550123@carrier.example')
assert.deepEqual([attempts.length, attempts[0].result, attempts[0].resp_status_code], [1, 'success', '204'])
console.log(`received, and the signature fits: ${received[0].hook_event} from ${received[0].from}`)
console.log(`attempt ${attempts[0].attempt}: ${attempts[0].result}, status ${attempts[0].resp_status_code}`)

/**
 * One request to the API, as curl would send it.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ token?: string, data?: object }} options
 * @returns {Promise<any>} the whole answer
 */
async function call(method, path, { token, data }) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { 'x-auth-token': token }) },
    ...(data && { body: JSON.stringify({ data }) }),
  })
  const answer = /** @type {any} */ (await response.json())
  assert.equal(answer.status, 'success', JSON.stringify(answer))
  return answer
}

/**
 * @param {http.Server} server
 * @returns {Promise<string>} its address
 */
async function listen(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}
