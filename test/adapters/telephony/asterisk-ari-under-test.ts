import { type AsteriskAriOptions, accountFromAccountCode, asteriskAri } from 'hookswitch/asterisk'
import { onTestFinished } from 'vitest'
import { startAriServer } from './asterisk-ari-server.js'
import { observeSource } from './asterisk-listening.js'

/** Starts a source and the fake switch that it connects to, until the test is over. */
export async function startAriSource(
  over: Partial<AsteriskAriOptions> = {},
  publish?: Parameters<typeof observeSource>[1],
) {
  const server = await startAriServer()
  const observed = observeSource(
    (deps) =>
      asteriskAri({
        ...deps,
        url: server.url,
        username: 'hookswitch',
        password: 'secret',
        accountOf: accountFromAccountCode(),
        ...over,
      }),
    publish,
  )
  // Callbacks run in reverse order.
  onTestFinished(() => server.close())
  onTestFinished(() => observed.source.close({ drainMs: 0 }))
  observed.source.start()
  return { server, ...observed }
}
