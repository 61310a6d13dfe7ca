import Fastify from 'fastify'
import { hookswitch } from './hookswitch.js'

const app = Fastify()
await app.register(hookswitch)

// In place of the code that learns of your calls.
app.post<{ Body: { callId: string; from: string; to: string } }>('/calls', async (request, reply) => {
  const { callId, from, to } = request.body
  const call = { accountId: 'acme', callId, direction: 'inbound', from, to } as const
  const { eventId } = await app.hookswitch.publish({ hook: 'channel_create', ...call })
  return reply.code(202).send({ eventId })
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })

process.once('SIGTERM', () => void app.close())
