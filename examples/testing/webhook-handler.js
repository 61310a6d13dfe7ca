// @ts-check
/** Tests a webhook handler: whole calls with duplicates, overlapping attempts and forged requests. Run by node-test.js. */
import { createServer } from 'node:http'
import { verify } from 'hookswitch'
import { scriptedDeliveries } from 'hookswitch/testkit'

/**
 * The handler under test: it stores the events of each call. The map stands for a database table with a unique index.
 *
 * @param {readonly string[]} secrets
 */
export function callLog(secrets) {
  /** @type {Map<string, { event_id: string, call_id: string, hook_event: string }>} */
  const rows = new Map()
  return {
    rows,
    /** @param {{ headers: Readonly<Record<string, any>>, body: string }} request */
    handle({ headers, body }) {
      const checked = verify({ headers, body }, secrets)
      if (!checked.ok) return 401
      const event = JSON.parse(body)
      // The same for every attempt and every replay; a replay has another webhook-id.
      const key = `${headers['x-hook-id']} ${event.event_id}`
      // What comes again is already stored, which is a success.
      if (!rows.has(key)) rows.set(key, event)
      return 204
    },
  }
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, assert }) {
  describe('the handler of a webhook', () => {
    it('processes each event once, in the order of its call, and no forged request', async () => {
      const options = { seed: 7, calls: 20, duplicates: 0.3, overlaps: 0.2, defective: 0.3 }
      const script = scriptedDeliveries(options)
      const log = callLog(script.secrets)

      const report = await script.deliverTo(log.handle, {
        stored: () => [...log.rows.values()].map((event) => event.event_id),
        concurrency: 5,
      })
      assert.deepEqual(report.problems, [], `seed ${report.seed}`)
    })

    for (const defect of /** @type {const} */ (['no signature', 'wrong secret', 'altered body', 'too old'])) {
      it(`rejects a request with the defect "${defect}"`, () => {
        const script = scriptedDeliveries({ webhook: { hook: 'channel_destroy' } })
        const log = callLog(script.secrets)
        assert.equal(log.handle(script.request({ defect })), 401)
        assert.equal(log.handle(script.request()), 204)
      })
    }

    it('does the same behind a server', async () => {
      const secret = `whsec_${'A'.repeat(32)}`
      const log = callLog([secret])
      const server = createServer(async (request, response) => {
        let body = ''
        for await (const part of request.setEncoding('utf8')) body += part
        response.writeHead(log.handle({ headers: request.headers, body })).end()
      })
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())

      const script = scriptedDeliveries({ secret, webhook: { uri: `http://127.0.0.1:${port}/calls` } })
      const stored = () => [...log.rows.values()].map((event) => event.event_id)
      const report = await script.deliverTo({ fetch }, { stored })
      server.closeAllConnections()
      server.close()
      assert.deepEqual(report.problems, [], `seed ${report.seed}`)
    })

    it('fails the test if it does not verify requests', async () => {
      /** @type {string[]} */
      const ids = []
      const script = scriptedDeliveries({ seed: 7, calls: 1 })
      const report = await script.deliverTo(
        ({ headers }) => {
          ids.push(headers['webhook-id'] ?? '')
          return 200
        },
        { stored: () => ids },
      )
      const kinds = new Set(report.problems.map(({ kind }) => kind))
      assert.deepEqual([...kinds].sort(), ['defect accepted', 'defect processed', 'processed twice'])
    })
  })
}
