import { type AsteriskAriOptions, accountFromAccountCode, asteriskAri } from 'hookswitch/asterisk'
import { onTestFinished } from 'vitest'
import { ariServer } from './asterisk-ari-server.js'
import { listening } from './asterisk-listening.js'

/** A source and the switch that it connects to, until the test is over. */
export async function underTest(
  over: Partial<AsteriskAriOptions> = {},
  publish?: Parameters<typeof listening>[1],
) {
  const server = await ariServer()
  const heard = listening(
    (doors) =>
      asteriskAri({
        ...doors,
        url: server.url,
        username: 'hookswitch',
        password: 'secret',
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
