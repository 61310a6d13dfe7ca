import fp from 'fastify-plugin'
import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { fastifyPlugin } from 'hookswitch/fastify'

declare module 'fastify' {
  interface FastifyInstance {
    readonly hookswitch: Hookswitch
  }
}

/** `app.hookswitch`, started with the app and closed with it; the API is at /telephony/v1. */
export const hookswitch = fp(async (app) => {
  // `memoryStore()` loses everything with the process: `sqliteStore` and `postgresStore` do not.
  const hs = createHookswitch({
    store: memoryStore(),
    // Lets webhooks call this machine: for development only.
    allowLocal: process.env.ALLOW_LOCAL === '1',
  })
  await hs.start()
  app.decorate('hookswitch', hs)
  await app.register(fastifyPlugin(hs), { prefix: '/telephony' })
  app.addHook('preClose', async () => hs.endStreams()) // open streams would keep their connections
  app.addHook('onClose', () => hs.close()) // requests to receivers finish

  // In place of your sign-up.
  await hs.accounts.ensure([
    {
      id: 'acme',
      name: 'Acme',
      realm: 'acme.example',
      users: [{ username: 'alice', password: 'wonderland' }],
    },
  ])
})
