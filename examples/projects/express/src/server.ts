import express from 'express'
import { expressMiddleware } from 'hookswitch/express'
import { hs, startHookswitch } from './hookswitch.js'

await startHookswitch()

const app = express()
app.use('/telephony', expressMiddleware(hs)) // the API is at /telephony/v1
app.use(express.json()) // body parsers come after it

// In place of the code that learns of your calls.
app.post('/calls', async (request, response) => {
  const { callId, from, to } = request.body
  const call = { accountId: 'acme', callId, direction: 'inbound', from, to } as const
  const { eventId } = await hs.publish({ hook: 'channel_create', ...call })
  response.status(202).json({ eventId })
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')

process.once('SIGTERM', async () => {
  hs.endStreams() // open streams would keep their connections
  server.close() // no new requests
  await hs.close() // requests to receivers finish
})
