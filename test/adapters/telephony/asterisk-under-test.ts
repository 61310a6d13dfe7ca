import {
  type AsteriskAmiOptions,
  type AsteriskAriOptions,
  accountFromAccountCode,
  asteriskAmi,
  asteriskAri,
  type SwitchSource,
} from 'hookswitch/asterisk'
import { onTestFinished } from 'vitest'
import { startAmiServer } from './asterisk-ami-server.js'
import { startAriServer } from './asterisk-ari-server.js'
import { observeSource, type SharedOptions } from './observe-source.js'

type Publish = Parameters<typeof observeSource>[1]
const LOGIN = { username: 'hookswitch', accountOf: accountFromAccountCode() }

/** Starts a source of AMI and the fake switch that it connects to, until the test is over. */
export function startAmiSource(over: Partial<AsteriskAmiOptions> = {}, publish?: Publish) {
  return startSource(
    startAmiServer,
    ({ port }, deps) => asteriskAmi({ ...deps, ...LOGIN, port, secret: 'secret', ...over }),
    publish,
  )
}

/** Starts a source of ARI and the fake switch that it connects to, until the test is over. */
export function startAriSource(over: Partial<AsteriskAriOptions> = {}, publish?: Publish) {
  return startSource(
    startAriServer,
    ({ url }, deps) => asteriskAri({ ...deps, ...LOGIN, url, password: 'secret', ...over }),
    publish,
  )
}

async function startSource<Server extends { close(): void }>(
  startServer: () => Promise<Server>,
  create: (server: Server, deps: SharedOptions) => SwitchSource,
  publish?: Publish,
) {
  const server = await startServer()
  // Callbacks run in reverse order.
  onTestFinished(() => server.close())
  const observed = observeSource((deps) => create(server, deps), publish)
  observed.source.start()
  return { server, ...observed }
}
