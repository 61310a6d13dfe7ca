/** HTTP servers that respond with a webhook document: hookswitch, and baselines that only send the same bytes. */
import { createServer } from 'node:http'
import express from 'express'
import { createHookswitch, memoryStore } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'
import { createServer as createHookswitchServer } from 'hookswitch/node'
import { handleRequests } from '../processes.js'

const WEBHOOKS = 20

async function startHookswitch() {
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  const { id } = await hs.accounts.create({ name: 'Bench', realm: 'bench.example.com' })
  let webhook
  for (let index = 0; index < WEBHOOKS; index += 1) {
    webhook = await hs.webhooks.create(id, {
      name: `Calls ${index}`,
      uri: 'https://hooks.example.com/calls',
      hook: 'channel_answer',
    })
  }
  const { token } = await hs.auth.signIn({ apiKey: await hs.accounts.readApiKey(id) })
  return { hs, path: `/v2/accounts/${id}/webhooks/${webhook.id}`, token }
}

/** Creates a server of each kind. hookswitch's also return the `path` of a webhook and a `token` to read it. */
const KINDS = {
  async hookswitch() {
    const { hs, ...rest } = await startHookswitch()
    return { server: createHookswitchServer(hs), ...rest }
  },
  async express() {
    const { hs, ...rest } = await startHookswitch()
    return { server: createServer(express().use(expressMiddleware(hs))), ...rest }
  },
  bare: ({ headers, body }) => ({
    server: createServer((_, res) => void res.writeHead(200, headers).end(body)),
  }),
  bareExpress: ({ headers, body }) => ({
    server: createServer(
      express().get('/v2/accounts/:account/webhooks/:webhook', (_, res) => res.set(headers).send(body)),
    ),
  }),
}

handleRequests({
  async listen({ kind, response }) {
    const { server, ...rest } = await KINDS[kind](response)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: server.address().port, ...rest }
  },
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
})
