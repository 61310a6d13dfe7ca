// @ts-check
/**
 * The basics: an account, a token, a webhook, a published event, and a receiver that verifies the signature.
 * After `npm run build`: `node examples/01-five-minutes.js`
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { createHookswitch, memoryStore, verify } from 'hookswitch'
import { createServer } from 'hookswitch/node'

// The service in your own process. `allowLocal` permits webhooks to this machine, for development only.
const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
await hs.start()
const account = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
const server = createServer(hs)
const api = `${await listen(server)}/v1`

// The customer's server. A response with a 2xx status ends the delivery.
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

// The customer logs in with the API key, registers a webhook and reads its signing secret.
const { auth_token: token } = await call('PUT', '/api_auth', { data: { api_key: account.apiKey } })
const webhook = { name: 'Calls', uri, http_verb: 'post', hook: 'channel_create', retries: 3 }
const created = await call('PUT', '/accounts/acme/webhooks', { token, data: webhook })
const path = `/accounts/acme/webhooks/${created.data.id}`
secret = (await call('GET', `${path}/secret`, { token })).data.secret

// A call starts: your code publishes an event and continues, hookswitch delivers it.
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

// The customer can list every attempt.
const { data: attempts } = await call('GET', `${path}/attempts`, { token })
await hs.close()
server.close()
receiver.close()

assert.equal(received.length, 1)
assert.equal(received[0].from, '+12025550123@carrier.example')
assert.deepEqual([attempts.length, attempts[0].result, attempts[0].resp_status_code], [1, 'success', '204'])
console.log(`received with a valid signature: ${received[0].hook_event} from ${received[0].from}`)
const { attempt, delivery_id: deliveryId, call_id: callId, result, resp_status_code: status } = attempts[0]
console.log(`attempt ${attempt} of delivery ${deliveryId} (call ${callId}): ${result}, status ${status}`)

/**
 * Sends one request to the API.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ token?: string, data?: object }} options
 * @returns {Promise<any>} the response body
 */
async function call(method, path, { token, data }) {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { 'x-auth-token': token }) },
    ...(data && { body: JSON.stringify({ data }) }),
  })
  const result = /** @type {any} */ (await response.json())
  assert.equal(result.status, 'success', JSON.stringify(result))
  return result
}

/**
 * @param {http.Server} server
 * @returns {Promise<string>} its URL
 */
async function listen(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}
