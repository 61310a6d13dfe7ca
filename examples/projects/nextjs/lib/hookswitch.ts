import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'

const shared = globalThis as typeof globalThis & { hookswitch?: Hookswitch }

/**
 * One instance per process: Next.js loads this file once per bundle, and again after each change in development.
 * `memoryStore()` loses everything with the process: `sqliteStore` and `postgresStore` do not.
 */
shared.hookswitch ??= createHookswitch({
  store: memoryStore(),
  // Lets webhooks call this machine: for development only.
  allowLocal: process.env.ALLOW_LOCAL === '1',
})

export const hs = shared.hookswitch

/** Called by instrumentation.ts. */
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
  // NEXT_MANUAL_SIG_HANDLE leaves the signal to this.
  process.once('SIGTERM', async () => {
    await hs.close() // requests to receivers finish
    process.exit(0)
  })
}
