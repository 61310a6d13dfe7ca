/** Servers that answer a webhook document: ours, and those that answer the same bytes without any work. */
import { createServer } from 'node:http'
import express from 'express'
import { createHookswitch, memoryStore } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'
import { createServer as createOurServer } from 'hookswitch/node'
import { answerParent } from '../processes.js'

const WEBHOOKS = 20

async function instance() {
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

/** Makes a server of each kind; `path` and `token` only where there is somebody to ask for them. */
const KINDS = {
  async hookswitch() {
    const { hs, ...rest } = await instance()
    return { server: createOurServer(hs), ...rest }
  },
  async express() {
    const { hs, ...rest } = await instance()
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

answerParent({
  async listen({ kind, answer }) {
    const { server, ...rest } = await KINDS[kind](answer)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: server.address().port, ...rest }
  },
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
})
