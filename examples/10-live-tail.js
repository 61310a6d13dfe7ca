// @ts-check
/**
 * What happens, as it happens: the attempts of an account in the process, and over HTTP with the client.
 * After `npm run build`: `node examples/10-live-tail.js`
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import { createClient } from 'hookswitch/client'
import { createServer } from 'hookswitch/node'

const hs = createHookswitch({ store: memoryStore(), allowLocal: true, retryPolicy: constant(10) })
await hs.start()
const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

// A customer's server that fails on the first request.
let requests = 0
const receiver = http.createServer((request, response) => {
  request.resume()
  requests += 1
  response.writeHead(requests === 1 ? 503 : 204).end()
})
await hs.webhooks.create('acme', { name: 'Calls', uri: await listen(receiver), hook: 'all' })

// In this process. A stream begins when its first item is read.
const inProcess = follow(hs.stream({ accountId: 'acme', types: ['attempt'] }))

// The same items in another process: a client that follows the account over HTTP.
const server = createServer(hs)
const client = createClient({ url: await listen(server), apiKey })
/** @type {Promise<string[]> | undefined} */
let overHttp
await new Promise((resolve) => {
  overHttp = follow(client.stream({ types: ['attempt'] }, { onState: resolve }))
})

await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call-1' })

const expected = ['attempt 1: failure 503', 'attempt 2: success 204']
assert.deepEqual(await overHttp, expected)
assert.deepEqual(await inProcess, expected)
for (const line of expected) console.log(line)

await client.close()
server.close()
receiver.close()
await hs.close()

/**
 * Reads the first two items of a stream.
 * @param {AsyncIterable<{ type: string, data: any }>} stream
 */
async function follow(stream) {
  const lines = []
  for await (const { data } of stream) {
    lines.push(`attempt ${data.attempt}: ${data.result} ${data.resp_status_code}`)
    if (lines.length === 2) break
  }
  return lines
}

/** @param {http.Server} server */
async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}
