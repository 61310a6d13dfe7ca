import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { fetchHandler } from 'hookswitch/fetch'
import { hs, startHookswitch } from './hookswitch.js'

await startHookswitch()

const app = new Hono()
const handle = fetchHandler(hs)
app.all('/telephony/*', (c) =>
  handle(c.req.raw, { mountPrefix: '/telephony', remoteAddress: getConnInfo(c).remote.address }),
)

// In place of the code that learns of your calls.
app.post('/calls', async (c) => {
  const { callId, from, to } = await c.req.json()
  const call = { accountId: 'acme', callId, direction: 'inbound', from, to } as const
  const { eventId } = await hs.publish({ hook: 'channel_create', ...call })
  return c.json({ eventId }, 202)
})

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })

process.once('SIGTERM', async () => {
  hs.endStreams() // open streams would keep their connections
  server.close() // no new requests
  await hs.close() // requests to receivers finish
})
