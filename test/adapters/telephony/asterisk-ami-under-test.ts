import { type AsteriskAmiOptions, accountFromAccountCode, asteriskAmi } from 'hookswitch/asterisk'
import { onTestFinished } from 'vitest'
import { startAmiServer } from './asterisk-ami-server.js'
import { observeSource } from './asterisk-listening.js'

/** Starts a source and the fake switch that it connects to, until the test is over. */
export async function startAmiSource(
  over: Partial<AsteriskAmiOptions> = {},
  publish?: Parameters<typeof observeSource>[1],
) {
  const server = await startAmiServer()
  const observed = observeSource(
    (deps) =>
      asteriskAmi({
        ...deps,
        port: server.port,
        username: 'hookswitch',
        secret: 'secret',
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
