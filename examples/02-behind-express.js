// @ts-check
/**
 * hookswitch in an existing Express app: under a prefix, after the body parser, beside the app's own routes.
 * After `npm run build`: `node examples/02-behind-express.js`
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import express from 'express'
import { createHookswitch, memoryStore } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'

const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
await hs.start()
const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

// The existing app.
const app = express()
app.use(express.json())
app.get('/health', (_request, response) => void response.json({ ok: true }))
app.post('/orders', (request, response) => void response.status(201).json({ ordered: request.body.item }))
// The only new line. Other paths below the prefix still reach the app.
app.use('/telephony', expressMiddleware(hs))
app.get('/telephony/prices', (_request, response) => void response.json({ minute: 2 }))
app.use((_request, response) => void response.status(404).json({ error: 'no such page' }))

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())

const login = await send('PUT', '/telephony/v1/api_auth', { data: { api_key: apiKey } })
const webhook = { name: 'Calls', uri: 'https://example.com/calls', hook: 'all' }
const webhooks = '/telephony/v1/accounts/acme/webhooks'
const created = await send('PUT', webhooks, { data: webhook }, { 'x-auth-token': login.body.auth_token })
const location = created.headers.get('location')
const unauthorized = await send('GET', webhooks)
console.log(`webhook created at ${location}`)
console.log(`without a token: ${unauthorized.status} ${unauthorized.body.message}`)

const own = [
  await send('GET', '/health'),
  await send('POST', '/orders', { item: 'handset' }),
  await send('GET', '/telephony/prices'),
  await send('GET', '/elsewhere'),
]
console.log(`the app's own routes: ${own.map(({ status }) => status).join(' ')}`)

await hs.close()
server.close()

assert.deepEqual([login.status, created.status, unauthorized.status], [201, 201, 401])
assert.equal(location, `${webhooks}/${created.body.data.id}`)
assert.deepEqual(
  own.map(({ status, body }) => [status, body]),
  [
    [200, { ok: true }],
    [201, { ordered: 'handset' }],
    [200, { minute: 2 }],
    [404, { error: 'no such page' }],
  ],
)

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 */
async function send(method, path, body, headers) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: /** @type {any} */ (await response.json()),
  }
}
