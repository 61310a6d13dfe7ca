import { createHookswitch, memoryStore } from 'hookswitch'

/** One instance per process. `memoryStore()` loses everything with the process: `sqliteStore` and `postgresStore` do not. */
export const hs = createHookswitch({
  store: memoryStore(),
  // Lets webhooks call this machine: for development only.
  allowLocal: process.env.ALLOW_LOCAL === '1',
})

export async function startHookswitch(): Promise<void> {
  await hs.start()
  // In place of your sign-up.
  await hs.accounts.ensure([
    {
      id: 'acme',
      name: 'Acme',
      realm: 'acme.example',
      users: [{ username: 'alice', password: 'wonderland' }],
    },
  ])
}
