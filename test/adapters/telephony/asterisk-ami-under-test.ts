import { type AsteriskAmiOptions, accountFromAccountCode, asteriskAmi } from 'hookswitch/asterisk'
import { onTestFinished } from 'vitest'
import { amiServer } from './asterisk-ami-server.js'
import { listening } from './asterisk-listening.js'

/** A source and the switch that it connects to, until the test is over. */
export async function underTest(
  over: Partial<AsteriskAmiOptions> = {},
  publish?: Parameters<typeof listening>[1],
) {
  const server = await amiServer()
  const heard = listening(
    (doors) =>
      asteriskAmi({
        ...doors,
        port: server.port,
        username: 'hookswitch',
        secret: 'secret',
        accountOf: accountFromAccountCode(),
        ...over,
      }),
    publish,
  )
  // The last named is ended first.
  onTestFinished(() => server.close())
  onTestFinished(() => heard.source.close({ drainMs: 0 }))
  heard.source.start()
  return { server, ...heard }
}
