// @ts-check
/**
 * Metrics and traces: the metrics that Prometheus scrapes, and a trace that continues from a call to its receiver.
 * After `npm run build`: `node examples/08-metrics.js`
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import { prometheusMetrics } from 'hookswitch/prometheus'

const metrics = prometheusMetrics()
const retryPolicy = constant(10)
const hs = createHookswitch({ store: memoryStore(), allowLocal: true, retryPolicy, metrics })
await hs.start()
await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

// A separate port for operators, which customers cannot reach.
const admin = http.createServer(async (_, response) => {
  response.setHeader('content-type', metrics.contentType).end(await metrics.text())
})
const scrapeUrl = `${await listen(admin)}/metrics`

// A customer's server that fails on the first two requests.
/** @type {(string | string[] | undefined)[]} */
const traces = []
const receiver = http.createServer((request, response) => {
  request.resume()
  traces.push(request.headers.traceparent)
  response.writeHead(traces.length <= 2 ? 503 : 204).end()
})
const uri = await listen(receiver)
await hs.webhooks.create('acme', { name: 'Calls', uri, hook: 'all' })

// Five calls, all in one given trace. With `hookswitch/opentelemetry` it would be the trace of the active span.
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
let delivered = 0
const allDelivered = new Promise((resolve) => {
  hs.events.on('delivered', () => {
    delivered += 1
    if (delivered === 5) resolve(undefined)
  })
})
for (const callId of ['leg-1', 'leg-2', 'leg-3', 'leg-4', 'leg-5']) {
  await hs.publish({ hook: 'channel_create', accountId: 'acme', callId }, { traceparent })
}
await allDelivered

const scraped = await (await fetch(scrapeUrl)).text()
const lines = scraped.split('\n').filter((line) => /^hookswitch_(events|deliveries|attempts)/.test(line))
for (const line of lines.filter((one) => !one.endsWith(' 0'))) console.log(line)
assert.ok(lines.includes('hookswitch_attempts_total{outcome="delivered"} 5'))
assert.ok(lines.includes(`hookswitch_attempts_total{outcome="http"} ${traces.length - 5}`))
assert.ok(lines.includes('hookswitch_deliveries_pending 0'))
assert.deepEqual(new Set(traces), new Set([traceparent]))
console.log(`the receiver got ${traces.length} requests, all in the trace`, traceparent.split('-')[1])

await hs.close()
for (const server of [admin, receiver]) {
  server.close()
  server.closeAllConnections()
}

/** @param {http.Server} server */
async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
}
